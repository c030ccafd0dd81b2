/**
 * @fileoverview The first pass of lowering: which form each operation takes, what registers it needs, and which it gets.
 * Per-architecture file; called by lower.c.
 */
#include "base/log.h"
#include "isa/x86_64/emit_flagless.h"
#include "isa/x86_64/features.h"
#include "jit/x86_64/lowering.h"

uint8_t sn_lowering_registers[SN_MOST_VALUES];
uint8_t sn_lowering_temporaries[SN_MOST_OPERATIONS][MOST_TEMPORARIES];

static uint16_t last_use[SN_MOST_VALUES];

/* -------------------------------------------------------------- what operations need */

bool sn_operation_uses_operand(const sn_operation *operation) {
    return operation->kind == SN_OPERATION_ADDRESS || operation->kind == SN_OPERATION_PROBE || operation->kind == SN_OPERATION_VALUE ||
           operation->kind == SN_OPERATION_COPY || operation->kind == SN_OPERATION_FIELD_COPY;
}

const sn_operand *sn_lowering_operand(const lowering *l, const sn_operation *operation) {
    return operand_of(l, operation->kind == SN_OPERATION_FIELD_COPY ? operation->what : operation->number);
}

static bool compares(const sn_operation *operation) {
    return operation->kind == SN_OPERATION_BRANCH || operation->kind == SN_OPERATION_CALL_IF;
}

static bool is_equality(const sn_operation *operation) {
    if (operation->kind == SN_OPERATION_CHECK) return true;
    return compares(operation) && (operation->what == SN_EQUAL || operation->what == SN_NOT_EQUAL);
}

bool sn_lowering_is_small_difference(const lowering *l, sn_value value) {
    return is_constant(l, value) && fits(constant_of(l, value)) && fits(-constant_of(l, value));
}

bool sn_lowering_changes_flags(const lowering *l, const sn_operation *operation) {
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_COMPUTE:
        return !(operation->what == SN_ADD || (operation->what == SN_SUBTRACT && sn_lowering_is_small_difference(l, operation->b)));
    case SN_OPERATION_BRANCH:
    case SN_OPERATION_CALL_IF:
    case SN_OPERATION_CHECK:
    case SN_OPERATION_CALL_FAST: return true;
    case SN_OPERATION_ASK: return !l->live_flags;
    case SN_OPERATION_VALUE:
    case SN_OPERATION_COPY:
    case SN_OPERATION_FIELD_COPY: return is_second_byte(sn_lowering_operand(l, operation));
    default: return false;
    }
}

/** Whether there is a form that leaves them alone. */
static bool has_flagless_form(const lowering *l, const sn_operation *operation) {
    if (!sn_lowering_changes_flags(l, operation)) return true;
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_COMPUTE:
        if (operation->what == SN_AND) return is_constant(l, operation->b) && sn_is_flagless_mask(constant_of(l, operation->b));
        return operation->what >= SN_SHIFT_LEFT || operation->what == SN_SUBTRACT;
    case SN_OPERATION_BRANCH:
    case SN_OPERATION_CHECK:
    case SN_OPERATION_CALL_IF: return is_equality(operation) && l->available >> SN_RCX & 1;
    case SN_OPERATION_CALL_FAST: return false;
    default: return true;
    }
}

/** A test without flags is two jumps, one of them taken: beyond so many at one place, saving the flags once is faster. */
enum { MOST_TESTS_APART = 1 };

void sn_lowering_choose_forms(lowering *l) {
    bool changes = false, possible = l->live_flags && sn_features_flagless_shifts();
    unsigned tests = 0;
    l->probes = false;
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        l->probes |= is_probe(at(l, number));
        changes |= sn_lowering_changes_flags(l, at(l, number));
        possible &= has_flagless_form(l, at(l, number));
        tests += is_equality(at(l, number));
    }
    possible &= tests <= MOST_TESTS_APART;
    l->flagless = changes && possible;
    l->saves_flags = changes && !possible && l->live_flags;
    l->tests_apart = l->flagless && tests;
    if (l->tests_apart || l->probes) {
        l->busy |= 1u << SN_RCX;
        l->used |= 1u << SN_RCX;
    }
}

/** a - b as a + ~b + 1: in b's register, or another one than a's */
static bool subtracts_flagless(const lowering *l, const sn_operation *operation) {
    return l->flagless && operation->kind == SN_OPERATION_COMPUTE && operation->what == SN_SUBTRACT && sn_lowering_changes_flags(l, operation);
}

bool sn_lowering_needs_register(const lowering *l, const sn_operation *operation, bool first) {
    sn_value value = first ? operation->a : operation->b;
    if (value == SN_NO_VALUE || !is_constant(l, value)) return false;
    bool small = fits(constant_of(l, value));
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_COMPUTE:
        if (first) return subtracts_flagless(l, operation); /* else it is loaded into the result */
        if (l->flagless && operation->what == SN_AND) return !sn_is_part_mask(constant_of(l, value));
        if (operation->what >= SN_SHIFT_LEFT) return l->flagless;
        return !small || (operation->what == SN_SUBTRACT && !sn_lowering_is_small_difference(l, value)) || operation->what == SN_MULTIPLY;
    case SN_OPERATION_ASK:
    case SN_OPERATION_PROBE:
    case SN_OPERATION_ASSIGN:
    case SN_OPERATION_COUNT: return false;
    case SN_OPERATION_COUNT_INDEXED: return true;
    case SN_OPERATION_STORE: return first || (operation->size == 8 && !small);
    case SN_OPERATION_FIELD: return operation->size == 8 && !small;
    case SN_OPERATION_OWN_STORE: return !small || operation->size != 8;
    case SN_OPERATION_SLOT_STORE:
    case SN_OPERATION_ARGUMENT: return !small;
    case SN_OPERATION_CHECK: return !first && (!small || (l->flagless && !sn_lowering_is_small_difference(l, value)));
    case SN_OPERATION_BRANCH:
    case SN_OPERATION_CALL_IF: return first || !small || (l->flagless && !sn_lowering_is_small_difference(l, value));
    default: return true;
    }
}

bool sn_lowering_is_pinned_for(const lowering *l, const sn_operation *operation) {
    return l->b->pin.on && l->b->pin.trace == operation->number;
}

/** Whether computing the address takes another register. */
static bool needs_second(const sn_operand *operand) {
    bool based = operand->base != SN_NO_REGISTER || operand->index != SN_NO_REGISTER;
    return operand->segment || (based && !fits((uint64_t)operand->displacement));
}

unsigned sn_lowering_plain_address(const lowering *l, const sn_operation *operation) {
    if (operation->kind != SN_OPERATION_ADDRESS || l->analysis->values[operation->result].assigned) return NO_REGISTER;
    const sn_operand *operand = operand_of(l, operation->number);
    bool plain = operand->index == SN_NO_REGISTER && !operand->displacement && !operand->segment &&
                 !sn_has_narrow_addresses(l->insn);
    return plain ? operand->base : NO_REGISTER;
}

bool sn_lowering_counts_in_memory(const lowering *l, const sn_operation *operation) {
    return !l->live_flags && is_constant(l, operation->a) && fits(constant_of(l, operation->a));
}

unsigned sn_lowering_pieces(unsigned size) { return size / 8 + (unsigned)__builtin_popcount(size % 8); }

bool sn_lowering_is_simple_probe(const lowering *l, const sn_operation *operation) {
    const sn_operand *operand = operand_of(l, operation->number);
    return operand->base != SN_NO_REGISTER && operand->base != SN_RCX && operand->index == SN_NO_REGISTER && !operand->segment &&
           fits((uint64_t)operand->displacement + 64) && fits((uint64_t)operand->displacement) && !sn_has_narrow_addresses(l->insn);
}

/** Registers for its own use, besides those of values and of constants. */
static unsigned own_temporaries(const lowering *l, const sn_operation *operation) {
    const sn_operand *operand;
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_ADDRESS: return needs_second(operand_of(l, operation->number));
    case SN_OPERATION_VALUE: return operand_of(l, operation->number)->place == SN_PLACE_MEMORY ? 2 : 0;
    case SN_OPERATION_COPY:
        return operand_of(l, operation->number)->place == SN_PLACE_MEMORY ? 2 : 1;
    case SN_OPERATION_FIELD_COPY:
        operand = operand_of(l, operation->what);
        return (operand->place == SN_PLACE_MEMORY ? 2 : 1) +
               !sn_lowering_is_pinned_for(l, operation);
    case SN_OPERATION_FIELD:
    case SN_OPERATION_APPENDED: return !sn_lowering_is_pinned_for(l, operation);
    case SN_OPERATION_ASK: return l->live_flags != 0;
    case SN_OPERATION_PROBE:
        return !sn_lowering_is_simple_probe(l, operation) ? 2 : sn_lowering_pieces(operation->size) > 1;
    case SN_OPERATION_COUNT: return !sn_lowering_counts_in_memory(l, operation);
    case SN_OPERATION_COUNT_INDEXED: return 1;
    case SN_OPERATION_CHECK: return !l->flagless && operation->number != 0;
    default: return 0;
    }
}

/* ------------------------------------------------------------ giving out registers */

static unsigned take(lowering *l) {
    unsigned candidates = l->available & ~(unsigned)l->busy;
    unsigned preferred = candidates & (l->unsaved | l->used);
    if (!candidates) sn_fail(SN_STATUS_ENGINE, "the tool keeps too many values at once at one place of a block");
    unsigned reg = (unsigned)__builtin_ctz(preferred ? preferred : candidates);
    l->busy |= (uint16_t)(1u << reg);
    l->used |= (uint16_t)(1u << reg);
    return reg;
}

static void release(lowering *l, unsigned reg) { l->busy &= (uint16_t) ~(1u << reg); }

static void note_last_use(sn_value value, unsigned number) {
    last_use[value] = (uint16_t)number;
    sn_lowering_registers[value] = NO_REGISTER;
}

static void note_last_uses(lowering *l) {
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        sn_value used[2];
        unsigned count = sn_operation_uses(at(l, number), used);
        if (sn_operation_sets(at(l, number))) note_last_use(at(l, number)->result, number);
        for (unsigned i = 0; i < count; i++) note_last_use(used[i], number);
    }
}

/** Values from elsewhere are in registers from the sequence's start, so that a branch does not miss their loading. */
static void take_incoming(lowering *l) {
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        sn_value values[3];
        unsigned count = incoming_of(l, at(l, number), values);
        for (unsigned i = 0; i < count; i++)
            if (sn_lowering_registers[values[i]] == NO_REGISTER) sn_lowering_registers[values[i]] = (uint8_t)take(l);
    }
}

/** The register of an operand that is used last by this operation, which can have its result there; NO_REGISTER if there is
    none. One of the client's is never given. */
static unsigned register_to_share(const lowering *l, const sn_operation *operation, unsigned number) {
    if (operation->kind != SN_OPERATION_COMPUTE && operation->kind != SN_OPERATION_LOAD) return NO_REGISTER;
    sn_value value = subtracts_flagless(l, operation) ? operation->b : operation->a;
    if (is_constant(l, value) || operation->a == operation->b || last_use[value] != number) return NO_REGISTER;
    unsigned reg = sn_lowering_registers[value];
    return l->busy >> reg & 1 ? reg : NO_REGISTER;
}

static unsigned register_for_result(lowering *l, const sn_operation *operation, unsigned number) {
    unsigned shared = register_to_share(l, operation, number);
    if (shared != NO_REGISTER) return shared;
    unsigned plain = sn_lowering_plain_address(l, operation);
    return plain == NO_REGISTER ? take(l) : plain;
}

static void release_last_used(lowering *l, const sn_operation *operation, unsigned number) {
    sn_value values[3];
    unsigned used = sn_operation_uses(operation, values);
    bool sets = sn_operation_sets(operation), lives_on = sets && last_use[operation->result] != number;
    if (sets) values[used++] = operation->result;
    for (unsigned i = 0; i < used; i++) {
        if (is_constant(l, values[i]) || last_use[values[i]] != number || sn_lowering_registers[values[i]] == NO_REGISTER) continue;
        if (lives_on && sn_lowering_registers[values[i]] == sn_lowering_registers[operation->result]) continue; /* shared */
        release(l, sn_lowering_registers[values[i]]);
    }
}

void sn_lowering_give_out(lowering *l) {
    note_last_uses(l);
    take_incoming(l);
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        const sn_operation *operation = at(l, number);
        unsigned count = 0;
        uint8_t *own = sn_lowering_temporaries[number];
        unsigned needed = sn_lowering_needs_register(l, operation, true) + sn_lowering_needs_register(l, operation, false) + own_temporaries(l, operation);
        if (l->tests_apart && needed && !is_equality(operation) && !is_probe(operation)) own[count++] = SN_RCX, needed--;
        for (; needed; needed--) own[count++] = (uint8_t)take(l);
        if (sn_operation_sets(operation) && sn_lowering_registers[operation->result] == NO_REGISTER)
            sn_lowering_registers[operation->result] = (uint8_t)register_for_result(l, operation, number);
        for (unsigned i = 0; i < count; i++)
            if (!(l->tests_apart && own[i] == SN_RCX)) release(l, own[i]);
        release_last_used(l, operation, number);
    }
}
