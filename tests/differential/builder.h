/**
 * @fileoverview A block while it grows: its code, and the state that running it so far leaves.
 *
 * Every piece that is added is run at once, from the block's start: the next piece is built for the registers' real
 * values, and a piece that faults is taken back. Owns the code of the block and the forward branches whose target is not
 * placed yet. Used by instruction.c, control.c and generate.c.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_BUILDER_H
#define SONDE_TESTS_DIFFERENTIAL_BUILDER_H

#include "corpus.h"
#include "forms.h"
#include "random.h"

enum { SN_OPEN_BRANCHES = 8, SN_BUILD_BYTES = 3072, SN_BUILD_GROUPS = 400 };

/** A branch whose displacement is filled in later. */
typedef struct sn_open_branch {
    uint16_t displacement_at; /**< offset of the displacement, or of the absolute address */
    uint8_t size;             /**< 1 or 4: relative to the displacement's end; 8: absolute */
} sn_open_branch;

typedef struct sn_builder {
    sn_random random;
    sn_test_block block;
    uint8_t *writable; /**< another mapping of the memory at the block's address, which itself can't be written */
    bool high;         /**< the code lies in the high window */
    sn_open_branch open[SN_OPEN_BRANCHES];
    unsigned open_count;
    uint32_t forbidden; /**< general registers that instructions may not write just now */
    unsigned depth;     /**< of control structures around the current place */
    unsigned counters;      /**< counter slots handed out */
    uint64_t registers[16]; /**< after the code so far */
} sn_builder;

/** Where a builder stood, to take pieces back. */
typedef struct sn_mark {
    unsigned length, groups, open_count;
} sn_mark;

sn_mark sn_builder_mark(const sn_builder *builder);
void sn_builder_back(sn_builder *builder, sn_mark mark);

/** Begin an instruction or a datum of `size` bytes. */
void sn_builder_add(sn_builder *builder, const void *bytes, unsigned size);
void sn_builder_data(sn_builder *builder, const void *bytes, unsigned size);

/** Address of the next byte. */
uint64_t sn_builder_here(const sn_builder *builder);

/** mov register, value, in one of its forms. */
void sn_builder_load(sn_builder *builder, unsigned reg, uint64_t value);

/** Store `size` bytes (2, 4 or 8: sign-extended) of value at an address below 2 GB. */
void sn_builder_store(sn_builder *builder, uint64_t address, unsigned size, uint32_t value);

bool sn_builder_full(const sn_builder *builder);

/** Remember a branch whose target is not known; false when too many are open. */
bool sn_builder_open(sn_builder *builder, unsigned displacement_at, unsigned size);

/** Give open branch `index` (an offset from open[0]) its target; false when a short one can't reach. */
bool sn_builder_close(sn_builder *builder, unsigned index, unsigned target);

/**
 * Run the code so far: all open branches lead to its end. Returns the signal, 0 for none; registers are updated when
 * there was none.
 */
int sn_builder_run(sn_builder *builder);

/** Add the jump to the gate: the block is finished. */
void sn_builder_finish(sn_builder *builder);

#endif
