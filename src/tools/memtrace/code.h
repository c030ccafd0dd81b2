/**
 * @fileoverview The static side of a trace: sites, which are the places in the code that access memory, and blocks, which
 * are the sites that one pass through a translated block of code goes by.
 *
 * Sites and blocks get numbers in the order of their making and live until the end of the run. They are made one at a time
 * (the engine calls `instrument` so; system calls take the same lock), and read without a lock by their numbers.
 */
#ifndef SONDE_TOOLS_MEMTRACE_CODE_H
#define SONDE_TOOLS_MEMTRACE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

typedef struct memtrace_site {
    uint64_t address;       /**< of the instruction */
    uint32_t size;          /**< bytes; 0 if it varies; of a fetch the instruction's length */
    uint8_t kind;           /**< MEMTRACE_LOAD, ... */
    uint8_t operand;
    const char *system_call; /**< MEMTRACE_SYSTEM: its name, or NULL */
    uint64_t system_number;
} memtrace_site;

/** A site at its place within a block. */
typedef struct memtrace_step {
    uint32_t site;
    uint8_t instruction; /**< number within the block, from 0 */
} memtrace_step;

typedef struct memtrace_block {
    uint32_t number;
    uint32_t highest_site;         /**< of the positions */
    uint16_t position_count;
    uint8_t varying_count;
    uint8_t instruction_count;     /**< 0 unless instructions are traced */
    const memtrace_step *positions; /**< sites that access once, in order */
    const memtrace_step *varying;   /**< sites of which each execution tells its accesses */
    const uint32_t *fetches;        /**< site of each instruction; NULL unless instructions are traced */
} memtrace_block;

/** The number of the site; an equal one is reused. */
uint32_t memtrace_site_number(const memtrace_site *site);
const memtrace_site *memtrace_site_at(uint32_t number);
uint32_t memtrace_site_count(void);

/** Make a block of copies of the lists; its number is set. */
const memtrace_block *memtrace_block_new(const memtrace_block *like);
/** NULL if there is none of this number. */
const memtrace_block *memtrace_block_at(uint32_t number);
uint32_t memtrace_block_count(void);

/** The block that stands for a system call of an instruction: no positions, one varying site. Any thread. */
const memtrace_block *memtrace_system_block(uint64_t address, uint64_t number, const char *name);

void memtrace_code_lock(void);
void memtrace_code_unlock(void);
/** In a forked child, where nobody else is. */
void memtrace_code_after_fork(void);

#endif
