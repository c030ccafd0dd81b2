/**
 * @fileoverview What a trace file says of one process besides its events: arguments, sites, blocks of code.
 */
#ifndef SONDE_REPORT_MEMTRACE_CODE_H
#define SONDE_REPORT_MEMTRACE_CODE_H

#include "report/memtrace_reader.h"

/** A site at its place within a block. */
typedef struct sn_memtrace_step {
    uint32_t site;
    uint8_t instruction;
} sn_memtrace_step;

/** Positions, varying sites and fetches are consecutive entries of the program's lists. */
typedef struct sn_memtrace_block {
    uint32_t first_position, first_varying, first_fetch;
    uint16_t position_count, varying_count, instruction_count;
} sn_memtrace_block;

/** All zero is a valid, empty one. */
typedef struct sn_memtrace_program {
    sn_memtrace_process process;
    SN_VECTOR(const char *) names;
    SN_VECTOR(sn_memtrace_site *) sites;
    SN_VECTOR(sn_memtrace_block) blocks;
    SN_VECTOR(sn_memtrace_step) positions, varying;
    SN_VECTOR(uint32_t) fetches;
} sn_memtrace_program;

/** Take in the payload of a process or a code block; false if it is damaged. Sites get numbers from *site_total on. */
bool sn_memtrace_take_process(sn_memtrace_program *program, const uint8_t *payload, size_t size);
bool sn_memtrace_take_code(sn_memtrace_program *program, const uint8_t *payload, size_t size, sn_arena *arena,
                           uint32_t *site_total);

void sn_memtrace_program_release(sn_memtrace_program *program);

#endif
