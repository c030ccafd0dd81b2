/**
 * @fileoverview From a client address to a block in the code cache.
 */
#ifndef SONDE_JIT_TRANSLATE_H
#define SONDE_JIT_TRANSLATE_H

#include <stdint.h>

#include "jit/insert.h"

/** The tool whose instrument callback is asked; once, before the first translation. */
void sn_translate_init(const sn_tool *tool);

/**
 * The block for `client`, made if there is none. Under sn_jit_lock. 0 when nothing executable is there; *fault is then the
 * first address that could not be fetched.
 */
uint32_t sn_translate(uint64_t client, uint64_t *fault);

/** How many blocks, instructions and bytes were translated. */
typedef struct sn_translate_statistics {
    uint64_t blocks, instructions, client_bytes;
} sn_translate_statistics;
extern sn_translate_statistics sn_translate_statistics_current;

/** The per-architecture emitter: writes the block's code, adds its exits, places and analysis record, and sets the
    record's addresses. False if the cache has no room. (jit/x86_64/emit_block.c) */
bool sn_emit_block(sn_block *block, uint32_t number);

/** Whether no arithmetic flag that `flags` names is looked at by the code at `client` before it is overwritten. */
bool sn_flags_dead_at(uint64_t client, unsigned flags);

/** For --debug-dump-block: the emitted code of a block, one line an instruction, to the log. (jit/dump.c) */
void sn_dump_block(const sn_block *block, uint32_t number);

#endif
