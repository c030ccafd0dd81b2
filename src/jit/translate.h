/**
 * @fileoverview From a client address to a block in the code cache.
 */
#ifndef SONDE_JIT_TRANSLATE_H
#define SONDE_JIT_TRANSLATE_H

#include <stdint.h>

#include "jit/insert.h"

/** The tool whose instrument callback is asked; once, before the first translation. */
void sn_translate_init(const sn_tool *tool);

/** Let the tool see only blocks of code of which `selected` says yes; a block ends where its answer changes. */
void sn_translate_select(bool (*selected)(uint64_t address));

/** What is asked for every block after the tool, whether that instruments it or not; once, before the first translation. */
void sn_translate_insert(void (*insert)(sn_block *block));

/** Whoever follows the client's calls: `before` and `after` the tool, every block is shown to it, selected or not, unless
    instrumentation is off. `again` is called, with all threads stopped, when it has been switched on again. */
typedef struct sn_call_follower {
    void (*before)(sn_block *block);
    void (*after)(sn_block *block);
    void (*again)(void);
} sn_call_follower;
/** Once, before the first translation. */
void sn_translate_follow(const sn_call_follower *follower);

/**
 * The block for `client` in a version of the code, made if there is none. Under sn_jit_lock. 0 when nothing executable is there; *fault is then the
 * first address that could not be fetched.
 */
uint32_t sn_translate(unsigned version, uint64_t client, uint64_t *fault);

/** The block of the full variant of a valid block of which there is only the clean one: entered by exits of that. 0 if there can be none: then
    the block is no longer valid. */
uint32_t sn_translate_full(uint32_t clean);

/** Discard such a block; when its code is translated again, both variants are in one block. */
void sn_translate_together(uint32_t clean);

/** A block of the one instruction at `client`, without analysis code, that nothing else leads to; behind it that version goes on. */
uint32_t sn_translate_bare(unsigned version, uint64_t client, uint64_t *fault);

/** How many blocks, instructions and bytes were translated. */
typedef struct sn_translate_statistics {
    uint64_t blocks, instructions, client_bytes;
} sn_translate_statistics;
extern sn_translate_statistics sn_translate_statistics_current;

/** The per-architecture emitter: writes the block's code, adds its exits, places and analysis record, and sets the
    record's addresses. False if the cache has no room. (jit/x86_64/emit_block.c) */
bool sn_emit_block(sn_block *block, uint32_t number);

/** Whether calls and returns are emitted so that the processor predicts the returns. It changes only when the cache is
    emptied. */
bool sn_returns_are_predicted(void);
/** Whether the cache should be emptied before the next translation: it is full, or another way of emitting fits the
    program better. */
bool sn_translate_wants_afresh(void);
/** Forget all translations. No thread may be in the cache or come back to it. */
void sn_translate_afresh(void);

/** Whether an instruction begins and ends a block of its own: calls, each of which is to be in the cache once, since
    what the processor predicts of a return is the place of its call. */
bool sn_translates_alone(const sn_insn *insn);

/** The arithmetic flags that the code at `client` may look at before it overwrites them; all, if all are kept. */
unsigned sn_flags_live_at(uint64_t client);

/** From here on no arithmetic flag is taken to be free where the client overwrites it next: the tool looks at them. Before the first
    translation. */
void sn_flags_keep_all(void);
bool sn_flags_are_kept(void);

/** For --debug-dump-block: the emitted code of a block, one line an instruction, to the log. (jit/dump.c) */
void sn_dump_block(const sn_block *block, uint32_t number);

#endif
