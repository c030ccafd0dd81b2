/**
 * @fileoverview A sequence of analysis code while it is lowered: what lower.c, lower_registers.c and lower_operations.c share.
 *
 * One is lowered at a time, under sn_jit_lock. Per-architecture file.
 */
#ifndef SONDE_JIT_X86_64_LOWERING_H
#define SONDE_JIT_X86_64_LOWERING_H

#include "jit/analysis.h"
#include "jit/x86_64/builder.h"

#define MOST_TEMPORARIES 3

/** What is known of the place while one of its sequences is lowered. */
typedef struct lowering {
    builder *b;
    const sn_analysis *analysis;
    const sn_insn *insn;
    unsigned first;          /**< the sequence's first operation */
    unsigned sequence;
    uint16_t available;      /**< registers that may be used at all */
    uint16_t unsaved;        /**< those whose values nobody needs */
    uint16_t busy, used;     /**< while registers are given out: taken now; taken ever */
    unsigned live_flags;
    bool saves_flags;
    bool tests_apart;        /**< equality is tested in a register that no value has: it is free for other operations' own use */
    bool probes;             /**< there are operations that look at memory or the thread's state, and need %rcx themselves */
    bool flagless;           /**< the client needs its flags, and every operation takes its form that leaves them alone */
    uint16_t saved;          /**< registers whose client values have been saved */
} lowering;

/** Of values: the processor's register that each is in. */
extern uint8_t sn_lowering_registers[SN_MOST_VALUES];
/** Of operations: registers that they have for their own use. */
extern uint8_t sn_lowering_temporaries[SN_MOST_OPERATIONS][MOST_TEMPORARIES];

static inline bool fits(uint64_t value) { return (uint64_t)(int64_t)(int32_t)value == value; }

static inline const sn_operation *at(const lowering *l, unsigned number) { return &l->analysis->operations[number]; }

/** The next operation of the place in the variant that is being emitted. */
static inline unsigned next_at_place(const lowering *l, unsigned number) {
    return sn_operation_in(l->analysis, at(l, number)->next, l->b->variant);
}

static inline unsigned next_of(const lowering *l, unsigned number) {
    unsigned next = next_at_place(l, number);
    return next && at(l, next)->sequence == l->sequence ? next : 0;
}

static inline bool is_constant(const lowering *l, sn_value value) { return l->analysis->values[value].is_constant; }
static inline uint64_t constant_of(const lowering *l, sn_value value) { return l->analysis->values[value].constant; }
static inline const sn_operand *operand_of(const lowering *l, unsigned number) { return &l->analysis->operands[number]; }

/** Values that an operation has to do with and that come from elsewhere: at most three, written to `values`; returns how many. */
static inline unsigned incoming_of(const lowering *l, const sn_operation *operation, sn_value values[3]) {
    sn_value all[3];
    unsigned count = sn_operation_uses(operation, all), kept = 0;
    if (operation->kind == SN_OPERATION_ASSIGN) all[count++] = operation->result;
    for (unsigned i = 0; i < count; i++)
        if (!is_constant(l, all[i]) && l->analysis->values[all[i]].sequence != l->sequence) values[kept++] = all[i];
    return kept;
}

static inline bool is_probe(const sn_operation *operation) {
    return operation->kind == SN_OPERATION_PROBE || operation->kind == SN_OPERATION_ASK;
}

static inline bool is_second_byte(const sn_operand *operand) { return operand->place == SN_PLACE_GENERAL && operand->displacement; }

/* ----------------------------------------------------------------- lower_registers.c */

/** Whether the operation works on an operand of the instruction, and which. */
bool sn_operation_uses_operand(const sn_operation *operation);
const sn_operand *sn_lowering_operand(const lowering *l, const sn_operation *operation);
/** Whether a comparison with the value is a subtraction of a small constant. */
bool sn_lowering_is_small_difference(const lowering *l, sn_value value);
/** Whether the usual form changes the flags. */
bool sn_lowering_changes_flags(const lowering *l, const sn_operation *operation);
/** Take the forms that leave the flags alone if the client needs these and that is possible for all. Equality is then tested
    in a register that no value may have. */
void sn_lowering_choose_forms(lowering *l);
/** Whether a constant must go through a register where it is used, as the first or the second value of the operation. */
bool sn_lowering_needs_register(const lowering *l, const sn_operation *operation, bool first);
/** How often a probe looks: at pieces of 8, 4, 2 and 1 bytes. */
unsigned sn_lowering_pieces(unsigned size);
/** Whether the address that a probe looks at is a register of the client and a constant, and that register is not %rcx. */
bool sn_lowering_is_simple_probe(const lowering *l, const sn_operation *operation);
/** Whether the trace that the operation appends to has its pointer in a register here. */
bool sn_lowering_is_pinned_for(const lowering *l, const sn_operation *operation);
/** The address is what a register of the client holds: its number; else NO_REGISTER. */
unsigned sn_lowering_plain_address(const lowering *l, const sn_operation *operation);
/** Whether a counter is added to where it is: by a constant, which changes the flags. */
bool sn_lowering_counts_in_memory(const lowering *l, const sn_operation *operation);
/** Give registers to all values of the sequence, and to operations for their own use. */
void sn_lowering_give_out(lowering *l);

/* --------------------------------------------------------------------------- lower.c */

/** Registers that the client gets back behind the sequence. */
uint16_t sn_lowering_restored(const lowering *l);
/** Give the client its registers and flags back, but for the registers in `kept`. */
void sn_lowering_restore_client(lowering *l, uint16_t kept);

/* ---------------------------------------------------------------- lower_operations.c */

/** The label is here: jumps to it that were emitted before lead here. */
void sn_lower_label(builder *b, unsigned label);
/** Emit an operation. */
void sn_lower_operation(lowering *l, unsigned number);

#endif
