/**
 * @fileoverview Shadow values inside the engine: the map of their files.
 *
 *   shadow_memory.c   reserves shadow memories, and follows the client's mappings
 *   shadow_ranges.c   fills, copies and searches ranges of them; also called from the code cache
 *   shadow_large.c    gives large ranges of one value no memory of their own
 *   shadow_inline.c   the code that loads and stores shadow in blocks
 *
 *   shadow_compile.c    from the flows of instructions to inserted code and plans (shadow_plan.h)
 *   shadow_clean.c      the variant of a block that is run while all is clean
 *   shadow_run.c        works plans off, in the code cache; shadow_rules.c: the rules of each class
 *   shadow_origins.c    where shadowed data came from
 *   shadow_varying.c    instructions whose accesses are known only when they run
 *   shadow_registers.c  registers in signal frames, what the kernel writes
 *   x86_64/shadow_values.c  where registers are
 *
 * What tools see is <sonde/shadow.h>.
 */
#ifndef SONDE_SERVICE_SHADOW_H
#define SONDE_SERVICE_SHADOW_H

#include "sonde/shadow.h"

enum { SN_MOST_SHADOW_MEMORIES = 4 };

typedef struct sn_shadow_memories {
    sn_shadow_memory items[SN_MOST_SHADOW_MEMORIES];
    unsigned count;
} sn_shadow_memories;

extern sn_shadow_memories sn_shadow_all;

/** In the code cache: the shadow of `size` bytes where the client's code may look at memory that has none: 0 then. */
uint64_t sn_shadow_load_anywhere(const sn_shadow_memory *memory, uint64_t address, uint64_t size);
/** In the code cache: the same as sn_shadow_store(), for fewer than 8 bits. */
void sn_shadow_store_bits(const sn_shadow_memory *memory, uint64_t address, uint64_t size, uint64_t value);

/** SN_FAST, as the two below: the value of one byte's shadow, repeated to fill a word. */
uint64_t sn_shadow_repeated(const sn_shadow_memory *memory, uint64_t value);
/** Write shadow from `at` to before `end`; at multiples of 8, `pattern` begins anew. */
void sn_shadow_write_pattern(uint8_t *at, uint8_t *end, uint64_t pattern);
/** Bytes of shadow from which on it may be better not to write a range. */
#define SN_SHADOW_LARGE (256 << 10)
/** The same for so many, if their pages need not be written: returns whether it was done. */
bool sn_shadow_fill_large(const sn_shadow_memory *memory, uint8_t *at, uint8_t *end, uint64_t pattern);

#endif
