/**
 * @fileoverview Which general registers and flags an instruction reads and writes, from its row in the effect table.
 *
 * The last step of sn_decode(), of which this is a part: included by decode.c alone, so that it can be inlined. What the
 * table does not know is conservative: everything is read, nothing is surely written. Registers that form an address
 * are always read.
 */
#ifndef SONDE_ISA_X86_64_EFFECTS_H
#define SONDE_ISA_X86_64_EFFECTS_H

#include "decoding.h"
#include "tables.h"

static inline unsigned choose(const sn_decoding *d) {
    unsigned effect = d->effect;
    if (effect >= BY_REG)
        effect = sn_effect_by_reg[effect - BY_REG][d->reg];
    else if (effect >= BY_PREFIX)
        effect = sn_effect_by_prefix[effect - BY_PREFIX][d->mandatory];
    return effect;
}

/** Number of a general register operand: without REX, byte registers 4 to 7 are the second bytes of 0 to 3. */
static inline unsigned operand_register(const sn_decoding *d, unsigned number, unsigned extension, unsigned use) {
    unsigned second_byte = (use & USE_BYTE) && !d->rex_byte;
    return extension ? number | 8 : second_byte ? number & 3 : number;
}

typedef struct sn_register_sets {
    uint32_t read, written;
} sn_register_sets;

/** Without jumps: `use` changes from one instruction to the next. */
static inline __attribute__((always_inline)) sn_register_sets use_register(sn_register_sets sets, unsigned number,
                                                                           unsigned use, unsigned narrow_uses) {
    uint32_t bit = UINT32_C(1) << number;
    unsigned partial = (use & narrow_uses) != 0;
    unsigned written = ((use & USE_WRITE) != 0) & !partial;
    unsigned read = ((use & USE_READ) != 0) | partial;
    sets.written |= written ? bit : 0;
    sets.read |= read ? bit : 0;
    return sets;
}

static __attribute__((noinline)) void assume_everything(sn_insn *insn) {
    insn->flags_read = SN_FLAGS_ARITHMETIC;
    insn->flags_written = 0;
    insn->registers_read = insn->registers_touched = 0xffff;
    insn->registers_written = 0;
}

static inline __attribute__((always_inline)) void sn_decoding_effects(const sn_decoding *d, sn_insn *insn) {
    unsigned number = choose(d);
    if (number == EFFECT_UNKNOWN) {
        assume_everything(insn);
        return;
    }
    const sn_effect *effect = &sn_effects[number];
    bool narrow = sn_decoding_is_narrow(d);
    unsigned narrow_uses = USE_BYTE | USE_WORD | (narrow ? USE_VARIABLE : 0);
    bool partial = effect->narrow & narrow;
    sn_register_sets sets = {
        .read = effect->read | (partial ? effect->written : 0),
        .written = partial ? 0 : effect->written,
    };
    unsigned rm_use = d->mod == 3 ? effect->rm : USE_NONE;
    sets = use_register(sets, operand_register(d, d->rm, d->rex & REX_B, rm_use), rm_use, narrow_uses);
    sets = use_register(sets, operand_register(d, d->reg, d->rex & REX_R, effect->reg), effect->reg, narrow_uses);
    sets = use_register(sets, d->vvvv, effect->vvvv, USE_NONE);
    uint32_t address = UINT32_C(1) << d->base;
    address |= number != EFFECT_VECTOR_INDEX ? UINT32_C(1) << d->index : 0;
    sets.read = (sets.read | address) & 0xffff;

    insn->registers_read = sets.read;
    insn->registers_written = sets.written;
    insn->registers_touched = sets.read | sets.written;
    insn->flags_read |= effect->flags_read;
    insn->flags_written |= effect->flags_written;
}

#endif
