/**
 * @fileoverview Which general registers and flags an instruction reads and writes, from its row in the effect table.
 *
 * The last step of sn_decode(). What the table does not know is conservative: everything is read, nothing is surely
 * written. Registers that form an address are always read.
 */
#include "decoding.h"
#include "tables.h"

static unsigned choose(const sn_decoding *d) {
    unsigned effect = d->effect;
    if (effect >= BY_REG)
        effect = sn_effect_by_reg[effect - BY_REG][d->reg];
    else if (effect >= BY_PREFIX)
        effect = sn_effect_by_prefix[effect - BY_PREFIX][d->mandatory];
    return effect;
}

/** Number of a general register operand: without REX, byte registers 4 to 7 are the second bytes of 0 to 3. */
static inline unsigned operand_register(const sn_decoding *d, unsigned number, unsigned extension, unsigned use) {
    if (extension)
        return number | 8;
    if ((use & USE_BYTE) && !d->has_rex)
        return number & 3;
    return number;
}

static inline void use_register(sn_insn *insn, unsigned number, unsigned use, bool narrow) {
    uint32_t bit = UINT32_C(1) << number;
    bool partial = (use & (USE_BYTE | USE_WORD)) || ((use & USE_VARIABLE) && narrow);
    if ((use & USE_WRITE) && !partial)
        insn->registers_written |= bit;
    if ((use & USE_READ) || partial)
        insn->registers_read |= bit;
}

void sn_decoding_effects(const sn_decoding *d) {
    sn_insn *insn = d->insn;
    unsigned number = choose(d);
    if (number == EFFECT_UNKNOWN) {
        insn->flags_read = SN_FLAGS_ARITHMETIC;
        insn->flags_written = 0;
        insn->registers_read = insn->registers_touched = 0xffff;
        insn->registers_written = 0;
        return;
    }
    const sn_effect *effect = &sn_effects[number];
    bool narrow = sn_decoding_is_narrow(d);
    insn->flags_read |= effect->flags_read;
    insn->flags_written |= effect->flags_written;
    insn->registers_read = effect->read;
    insn->registers_written = 0;
    if (effect->narrow && narrow)
        insn->registers_read |= effect->written;
    else
        insn->registers_written = effect->written;
    if (effect->rm && d->mod == 3)
        use_register(insn, operand_register(d, d->rm, d->rex & REX_B, effect->rm), effect->rm, narrow);
    if (effect->reg)
        use_register(insn, operand_register(d, d->reg, d->rex & REX_R, effect->reg), effect->reg, narrow);
    if (effect->vvvv)
        use_register(insn, d->vvvv, effect->vvvv, false);
    uint32_t address = UINT32_C(1) << d->base;
    if (number != EFFECT_VECTOR_INDEX)
        address |= UINT32_C(1) << d->index;
    insn->registers_read = (insn->registers_read | address) & 0xffff;
    insn->registers_touched = insn->registers_read | insn->registers_written;
}
