/**
 * @fileoverview Rules of the quick decoder for what is rare: classes of instructions, and effects that depend on more than the
 * opcode. Called by decode.c with a copy of its state, for the rule that the opcode's row names.
 */
#include <string.h>

#include "decoding.h"
#include "tables.h"

/** Manuals differ on whether REX.W widens the count of a byte shift: a flag is written only if both say so. */
static void rule_shift_immediate(sn_decoding *d) {
    bool wide = (d->opcode & 1) && (d->rex & REX_W);
    unsigned count = d->bytes[d->position - 1] & (wide ? 63 : 31);
    if (count == 0 && d->reg != 2 && d->reg != 3) /* those through carry read flags and claim nothing anyway */
        d->effect = d->opcode & 1 ? EFFECT_NOT_V : EFFECT_NOT_B;
}

static void rule_double_shift(sn_decoding *d) {
    unsigned count = d->bytes[d->position - 1] & (d->rex & REX_W ? 63 : 31);
    unsigned width = d->rex & REX_W ? 64 : d->prefixes & PREFIX_OPERAND_SIZE ? 16 : 32;
    if (count == 0 || count > width)
        d->effect = EFFECT_DOUBLE_SHIFT_VARIABLE;
}

static void rule_move_immediate(sn_decoding *d) {
    if (d->opcode == 0xc7 && d->mod == 3 && d->reg == 7 && d->rm == 0)
        branch_to(d, SN_INSN_TRANSACTION_BEGIN);
}

static void rule_branch_group(sn_decoding *d) {
    static const uint8_t classes[8] = {
        SN_INSN_PLAIN, SN_INSN_PLAIN, SN_INSN_CALL_INDIRECT, SN_INSN_FAR_BRANCH,
        SN_INSN_JUMP_INDIRECT, SN_INSN_FAR_BRANCH, SN_INSN_PLAIN, SN_INSN_UNDEFINED,
    };
    d->insn->class = classes[d->reg];
    if (d->insn->class == SN_INSN_FAR_BRANCH && d->mod == 3)
        d->insn->class = SN_INSN_UNDEFINED;
}

/** fcmovcc read the flags; fcomi and its kin may leave them alone when an exception is pending; fnstsw writes ax. */
static void rule_x87(sn_decoding *d) {
    if (d->mod != 3)
        return;
    if ((d->opcode == 0xda || d->opcode == 0xdb) && d->reg < 4)
        d->effect = EFFECT_CONDITIONAL_X87;
    else if (d->opcode == 0xdf && d->reg == 4)
        d->effect = EFFECT_ACCUMULATOR_READ;
}

/** 0F 01: what has no memory operand is named by the whole ModRM byte. */
static void rule_system(sn_decoding *d) {
    if (d->mod != 3) {
        if (d->reg != 5)
            d->effect = EFFECT_NONE;
        return;
    }
    switch (d->reg << 3 | d->rm) {
    case 020: d->effect = EFFECT_READ_BY_COUNT; break; /* xgetbv */
    case 025: d->effect = EFFECT_NONE; break;          /* xend */
    case 026: d->effect = EFFECT_FLAGS_WRITTEN; break; /* xtest */
    case 054:                                          /* uiret */
        if (d->mandatory == MANDATORY_F3)
            d->insn->class = SN_INSN_FAR_BRANCH;
        break;
    case 070: d->insn->class = SN_INSN_WRITE_SEGMENT; break; /* swapgs */
    case 071: d->effect = EFFECT_TIME_STAMP_CPU; break;      /* rdtscp */
    default: break;
    }
}

static void rule_state_register(sn_decoding *d) {
    if (d->mandatory == MANDATORY_F3 && d->reg < 4) {
        d->insn->class = d->reg < 2 ? SN_INSN_READ_SEGMENT_BASE : SN_INSN_WRITE_SEGMENT_BASE;
        d->effect = d->reg < 2 ? EFFECT_RM_WRITE : EFFECT_RM_READ;
    } else if (d->mandatory != MANDATORY_NONE || d->reg < 5) {
        d->effect = EFFECT_UNKNOWN; /* the waiting, shadow-stack and tracing instructions */
    }
}

/** 0F AE: state saving (xsave, xrstor, xsaveopt take a mask in rdx:rax), fences, segment bases. */
static void rule_state(sn_decoding *d) {
    if (d->mod == 3)
        rule_state_register(d);
    else if (d->mandatory == MANDATORY_F3)
        d->effect = EFFECT_UNKNOWN; /* ptwrite, clrssbsy */
    else if (d->reg >= 4 && d->reg <= 6)
        d->effect = EFFECT_STATE_MASK;
}

/** 0F C7: cmpxchg8b, xrstors, xsavec, xsaves; random numbers and the processor's number in register form. */
static void rule_compare_exchange(sn_decoding *d) {
    if (d->mod != 3) {
        if (d->reg == 1)
            d->effect = EFFECT_COMPARE_EXCHANGE_WIDE;
        else if (d->reg >= 3 && d->reg <= 5)
            d->effect = EFFECT_STATE_MASK;
    } else if (d->reg >= 6 && d->mandatory <= MANDATORY_66) {
        d->effect = EFFECT_RANDOM;
    } else if (d->reg == 7 && d->mandatory == MANDATORY_F3) {
        d->effect = EFFECT_RM_WRITE;
    }
}

/** 0F 1E: no-operations, except that rdssp writes its register when shadow stacks are on. */
static void rule_hint(sn_decoding *d) {
    if (d->mod != 3 || d->mandatory != MANDATORY_F3 || d->reg == 7)
        d->effect = EFFECT_NONE;
    else if (d->reg == 1)
        d->effect = EFFECT_RM_READ;
}

static void rule_string(sn_decoding *d) {
    d->insn->repeated = (d->prefixes & (PREFIX_REP | PREFIX_REPNE)) != 0;
}

static void rule_nop(sn_decoding *d) {
    if (d->rex & REX_B) /* pause with REX.B: processors may differ */
        d->effect = d->mandatory == MANDATORY_F3 ? EFFECT_UNKNOWN : EFFECT_EXCHANGE_ACCUMULATOR;
}

static void rule_loop(sn_decoding *d) {
    branch_to(d, SN_INSN_LOOP);
    if (d->opcode < 0xe2)
        d->insn->flags_read = SN_FLAG_ZERO;
}

static void rule_return(sn_decoding *d) {
    d->insn->class = SN_INSN_RETURN;
    d->insn->return_pop_size = d->insn->immediate_size;
    if (d->insn->immediate_size)
        memcpy(&d->insn->return_pop, d->bytes + d->position - 2, 2);
}

static void rule_interrupt(sn_decoding *d, uint8_t number) {
    d->insn->class = SN_INSN_INTERRUPT;
    d->insn->interrupt_number = number;
}

void sn_decoding_apply_rule(sn_decoding *d) {
    sn_insn *insn = d->insn;
    switch (d->rule) {
    case RULE_LOOP: rule_loop(d); break;
    case RULE_RETURN: rule_return(d); break;
    case RULE_FAR: insn->class = SN_INSN_FAR_BRANCH; break;
    case RULE_SYSCALL: insn->class = SN_INSN_SYSCALL; break;
    case RULE_SYSENTER: rule_interrupt(d, 0x80); break;
    case RULE_INTERRUPT: rule_interrupt(d, d->bytes[d->position - 1]); break;
    case RULE_BREAKPOINT: insn->class = SN_INSN_BREAKPOINT; break;
    case RULE_UNDEFINED: insn->class = SN_INSN_UNDEFINED; break;
    case RULE_STRING: rule_string(d); break;
    case RULE_SEGMENT_MOVE:
        if (d->reg == 4 || d->reg == 5)
            insn->class = SN_INSN_WRITE_SEGMENT;
        break;
    case RULE_SEGMENT_WRITE: insn->class = SN_INSN_WRITE_SEGMENT; break;
    case RULE_SHIFT_IMMEDIATE: rule_shift_immediate(d); break;
    case RULE_DOUBLE_SHIFT: rule_double_shift(d); break;
    case RULE_MOVE_IMMEDIATE: rule_move_immediate(d); break;
    case RULE_BRANCH_GROUP: rule_branch_group(d); break;
    case RULE_NOP: rule_nop(d); break;
    case RULE_X87: rule_x87(d); break;
    case RULE_SYSTEM: rule_system(d); break;
    case RULE_STATE: rule_state(d); break;
    case RULE_COMPARE_EXCHANGE: rule_compare_exchange(d); break;
    case RULE_HINT: rule_hint(d); break;
    default: break;
    }
}
