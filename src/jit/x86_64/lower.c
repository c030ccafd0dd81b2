/**
 * @fileoverview From analysis code on virtual registers to instructions: see jit/analysis.h for what sequences are.
 *
 * A sequence is lowered in two passes over its operations: the first gives each virtual register one of the processor's
 * from its first to its last use there, registers that are dead first; the second saves the client's values of those that
 * are not dead, emits, and restores. Flags are saved only if the client needs them and an operation changes them; where
 * all operations of a sequence have a form that leaves the flags alone, those forms are taken.
 * Per-architecture file; called by emit_block.c.
 */
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "isa/x86_64/emit_analysis.h"
#include "isa/x86_64/emit_flagless.h"
#include "isa/x86_64/features.h"
#include "jit/cache.h"
#include "jit/runtime.h"
#include "jit/trace.h"
#include "jit/translate.h"
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
    bool flagless;           /**< the client needs its flags, and every operation takes its form that leaves them alone */
    uint16_t saved;          /**< registers whose client values have been saved */
} lowering;

static uint8_t register_of[SN_MOST_VALUES];
static uint16_t last_use[SN_MOST_VALUES];
static uint8_t temporaries[SN_MOST_OPERATIONS][MOST_TEMPORARIES];
/** Jumps to a label that is not there yet: a chain through the displacements. */
static uint64_t label_chain[SN_MOST_LABELS];

static bool fits(uint64_t value) { return (uint64_t)(int64_t)(int32_t)value == value; }

static const sn_operation *at(const lowering *l, unsigned number) { return &l->analysis->operations[number]; }

static unsigned next_of(const lowering *l, unsigned number) {
    unsigned next = at(l, number)->next;
    return next && at(l, next)->sequence == l->sequence ? next : 0;
}

static bool has_short_addresses(const sn_insn *insn) {
    for (unsigned i = 0; i < insn->prefix_length; i++)
        if (insn->bytes[i] == 0x67) return true;
    return false;
}

static bool is_constant(const lowering *l, sn_value value) { return l->analysis->values[value].is_constant; }
static uint64_t constant_of(const lowering *l, sn_value value) { return l->analysis->values[value].constant; }
static const sn_operand *operand_of(const lowering *l, unsigned number) { return &l->analysis->operands[number]; }

/* -------------------------------------------------------------- what operations need */

static bool uses_operand(const sn_operation *operation) {
    return operation->kind == SN_OPERATION_ADDRESS || operation->kind == SN_OPERATION_VALUE ||
           operation->kind == SN_OPERATION_COPY || operation->kind == SN_OPERATION_FIELD_COPY;
}

static const sn_operand *operation_operand(const lowering *l, const sn_operation *operation) {
    return operand_of(l, operation->kind == SN_OPERATION_FIELD_COPY ? operation->what : operation->number);
}

static bool is_second_byte(const sn_operand *operand) { return operand->place == SN_PLACE_GENERAL && operand->displacement; }

static bool compares(const sn_operation *operation) {
    return operation->kind == SN_OPERATION_BRANCH || operation->kind == SN_OPERATION_CALL_IF;
}

static bool is_equality(const sn_operation *operation) {
    if (operation->kind == SN_OPERATION_CHECK) return true;
    return compares(operation) && (operation->what == SN_EQUAL || operation->what == SN_NOT_EQUAL);
}

static bool is_small_difference(const lowering *l, sn_value value) {
    return is_constant(l, value) && fits(constant_of(l, value)) && fits(-constant_of(l, value));
}

/** Whether the usual form changes the flags. */
static bool changes_flags(const lowering *l, const sn_operation *operation) {
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_COMPUTE:
        return !(operation->what == SN_ADD || (operation->what == SN_SUBTRACT && is_small_difference(l, operation->b)));
    case SN_OPERATION_BRANCH:
    case SN_OPERATION_CALL_IF:
    case SN_OPERATION_CHECK:
    case SN_OPERATION_CALL_FAST: return true;
    case SN_OPERATION_VALUE:
    case SN_OPERATION_COPY:
    case SN_OPERATION_FIELD_COPY: return is_second_byte(operation_operand(l, operation));
    default: return false;
    }
}

/** Whether there is a form that leaves them alone. */
static bool has_flagless_form(const lowering *l, const sn_operation *operation) {
    if (!changes_flags(l, operation)) return true;
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

/** Take the forms that leave the flags alone if the client needs these and that is possible for all. Equality is then tested
    in a register that no value may have. */
static void choose_forms(lowering *l) {
    bool changes = false, possible = l->live_flags && sn_features_flagless_shifts(), tests = false;
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        changes |= changes_flags(l, at(l, number));
        possible &= has_flagless_form(l, at(l, number));
        tests |= is_equality(at(l, number));
    }
    l->flagless = changes && possible;
    l->saves_flags = changes && !possible && l->live_flags;
    l->tests_apart = l->flagless && tests;
    if (l->tests_apart) {
        l->busy |= 1u << SN_RCX;
        l->used |= 1u << SN_RCX;
    }
}

/** a - b as a + ~b + 1: in b's register, or another one than a's */
static bool subtracts_flagless(const lowering *l, const sn_operation *operation) {
    return l->flagless && operation->kind == SN_OPERATION_COMPUTE && operation->what == SN_SUBTRACT && changes_flags(l, operation);
}

/** Whether a constant must go through a register where it is used, as the first or the second value of the operation. */
static bool needs_register(const lowering *l, const sn_operation *operation, bool first) {
    sn_value value = first ? operation->a : operation->b;
    if (value == SN_NO_VALUE || !is_constant(l, value)) return false;
    bool small = fits(constant_of(l, value));
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_COMPUTE:
        if (first) return subtracts_flagless(l, operation); /* else it is loaded into the result */
        if (l->flagless && operation->what == SN_AND) return !sn_is_part_mask(constant_of(l, value));
        if (operation->what >= SN_SHIFT_LEFT) return l->flagless;
        return !small || (operation->what == SN_SUBTRACT && !is_small_difference(l, value)) || operation->what == SN_MULTIPLY;
    case SN_OPERATION_ASSIGN: return false;
    case SN_OPERATION_COUNT: return false;
    case SN_OPERATION_COUNT_INDEXED: return true;
    case SN_OPERATION_STORE: return first || (operation->size == 8 && !small);
    case SN_OPERATION_FIELD: return operation->size == 8 && !small;
    case SN_OPERATION_OWN_STORE: return !small || operation->size != 8;
    case SN_OPERATION_SLOT_STORE:
    case SN_OPERATION_ARGUMENT: return !small;
    case SN_OPERATION_CHECK: return !first && (!small || (l->flagless && !is_small_difference(l, value)));
    case SN_OPERATION_BRANCH:
    case SN_OPERATION_CALL_IF: return first || !small || (l->flagless && !is_small_difference(l, value));
    default: return true;
    }
}

static bool pinned_for(const lowering *l, const sn_operation *operation) {
    return l->b->pin.on && l->b->pin.trace == operation->number;
}

/** Whether computing the address takes another register. */
static bool needs_second(const sn_operand *operand) {
    bool based = operand->base != SN_NO_REGISTER || operand->index != SN_NO_REGISTER;
    return operand->segment || (based && !fits((uint64_t)operand->displacement));
}

/** The address is what a register of the client holds: its number; else NO_REGISTER. */
static unsigned plain_address(const lowering *l, const sn_operation *operation) {
    if (operation->kind != SN_OPERATION_ADDRESS || l->analysis->values[operation->result].assigned) return NO_REGISTER;
    const sn_operand *operand = operand_of(l, operation->number);
    bool plain = operand->index == SN_NO_REGISTER && !operand->displacement && !operand->segment &&
                 !has_short_addresses(l->insn);
    return plain ? operand->base : NO_REGISTER;
}

/** Whether a counter is added to where it is: by a constant, which changes the flags. */
static bool counts_in_memory(const lowering *l, const sn_operation *operation) {
    return !l->live_flags && is_constant(l, operation->a) && fits(constant_of(l, operation->a));
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
               !pinned_for(l, operation);
    case SN_OPERATION_FIELD:
    case SN_OPERATION_APPENDED: return !pinned_for(l, operation);
    case SN_OPERATION_COUNT: return !counts_in_memory(l, operation);
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
    register_of[value] = NO_REGISTER;
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
        const sn_operation *operation = at(l, number);
        sn_value values[3];
        unsigned count = sn_operation_uses(operation, values);
        if (operation->kind == SN_OPERATION_ASSIGN) values[count++] = operation->result;
        for (unsigned i = 0; i < count; i++) {
            const sn_register_record *record = &l->analysis->values[values[i]];
            if (!record->is_constant && record->sequence != l->sequence && register_of[values[i]] == NO_REGISTER)
                register_of[values[i]] = (uint8_t)take(l);
        }
    }
}

/** The register of an operand that is used last by this operation, which can have its result there; NO_REGISTER if there is
    none. One of the client's is never given. */
static unsigned register_to_share(const lowering *l, const sn_operation *operation, unsigned number) {
    if (operation->kind != SN_OPERATION_COMPUTE && operation->kind != SN_OPERATION_LOAD) return NO_REGISTER;
    sn_value value = subtracts_flagless(l, operation) ? operation->b : operation->a;
    if (is_constant(l, value) || operation->a == operation->b || last_use[value] != number) return NO_REGISTER;
    unsigned reg = register_of[value];
    return l->busy >> reg & 1 ? reg : NO_REGISTER;
}

static unsigned register_for_result(lowering *l, const sn_operation *operation, unsigned number) {
    unsigned shared = register_to_share(l, operation, number);
    if (shared != NO_REGISTER) return shared;
    unsigned plain = plain_address(l, operation);
    return plain == NO_REGISTER ? take(l) : plain;
}

static void release_last_used(lowering *l, const sn_operation *operation, unsigned number) {
    sn_value values[3];
    unsigned used = sn_operation_uses(operation, values);
    bool sets = sn_operation_sets(operation), lives_on = sets && last_use[operation->result] != number;
    if (sets) values[used++] = operation->result;
    for (unsigned i = 0; i < used; i++) {
        if (is_constant(l, values[i]) || last_use[values[i]] != number || register_of[values[i]] == NO_REGISTER) continue;
        if (lives_on && register_of[values[i]] == register_of[operation->result]) continue; /* shared */
        release(l, register_of[values[i]]);
    }
}

static void give_out(lowering *l) {
    note_last_uses(l);
    take_incoming(l);
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        const sn_operation *operation = at(l, number);
        unsigned count = 0;
        uint8_t *own = temporaries[number];
        unsigned needed = needs_register(l, operation, true) + needs_register(l, operation, false) + own_temporaries(l, operation);
        if (l->tests_apart && needed && !is_equality(operation)) own[count++] = SN_RCX, needed--;
        for (; needed; needed--) own[count++] = (uint8_t)take(l);
        if (sn_operation_sets(operation) && register_of[operation->result] == NO_REGISTER)
            register_of[operation->result] = (uint8_t)register_for_result(l, operation, number);
        for (unsigned i = 0; i < count; i++)
            if (!(l->tests_apart && own[i] == SN_RCX)) release(l, own[i]);
        release_last_used(l, operation, number);
    }
}

/* -------------------------------------------------------------------- client state */

static bool reaches_tool_memory(const lowering *l) {
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        unsigned kind = at(l, number)->kind;
        if (kind == SN_OPERATION_LOAD || kind == SN_OPERATION_STORE || kind == SN_OPERATION_COPY) return true;
    }
    return false;
}

static void save_client(lowering *l) {
    builder *b = l->b;
    l->saved = l->used & (uint16_t)~l->unsaved;
    bool flags_need_rax = l->saves_flags && !(l->unsaved & 1u << SN_RAX);
    sn_builder_analysis_place(b, 0, false);
    for (unsigned reg = 0; reg < 16; reg++)
        if (l->saved >> reg & 1 || (reg == SN_RAX && flags_need_rax)) sn_emit_store_thread(&b->e, reg, SAVED(reg));
    if (l->saves_flags) {
        uint16_t with_rax = l->saved | (uint16_t)(flags_need_rax ? 1u << SN_RAX : 0);
        sn_builder_analysis_place(b, with_rax, false);
        sn_emit_bytes(&b->e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
        sn_emit_store_thread(&b->e, SN_RAX, SN_THREAD_SAVED_FLAGS);
        if (flags_need_rax && !(l->saved >> SN_RAX & 1)) sn_emit_load_thread(&b->e, SN_RAX, SAVED(SN_RAX));
    }
    /* What the tool's memory faults is its own fault, not that of the client at the boundary here. */
    if (sn_builder_at_boundary(b) && reaches_tool_memory(l)) sn_emit_padding(&b->e, 1);
    sn_builder_analysis_place(b, l->saved, l->saves_flags);
}

static void restore_client(lowering *l, uint16_t kept) {
    builder *b = l->b;
    bool flags_need_rax = l->saves_flags && !(l->unsaved & 1u << SN_RAX);
    if (l->saves_flags) {
        sn_emit_load_thread(&b->e, SN_RAX, SN_THREAD_SAVED_FLAGS);
        sn_emit_bytes(&b->e, "\x04\x7f\x9e", 3); /* add $0x7f, %al sets overflow from bit 0; sahf the others */
    }
    for (unsigned reg = 0; reg < 16; reg++) {
        if (kept >> reg & 1) continue;
        if (l->saved >> reg & 1 || (reg == SN_RAX && flags_need_rax)) sn_emit_load_thread(&b->e, reg, SAVED(reg));
    }
}

/* ------------------------------------------------------------------------ operands */

void sn_lower_address(builder *b, const sn_insn *insn, const sn_operand *operand, unsigned reg, unsigned second) {
    bool has_base = operand->base != SN_NO_REGISTER, has_index = operand->index != SN_NO_REGISTER;
    bool small = fits((uint64_t)operand->displacement);
    int32_t displacement = small ? (int32_t)operand->displacement : 0;
    unsigned base = has_base ? operand->base : 0xff;
    if (has_index) sn_emit_load_indexed(&b->e, reg, base, operand->index, operand->scale, displacement);
    else if (has_base) sn_emit_load_sum(&b->e, reg, operand->base, displacement);
    else sn_emit_load_constant(&b->e, reg, (uint64_t)operand->displacement);
    if (!small && (has_base || has_index)) {
        sn_emit_load_constant(&b->e, second, (uint64_t)operand->displacement);
        sn_emit_load_indexed(&b->e, reg, reg, second, 1, 0);
    }
    if (operand->is_explicit && has_short_addresses(insn)) sn_emit_truncate(&b->e, reg);
    if (!operand->segment) return;
    if (operand->segment == SN_SEGMENT_GS) sn_emit_load_thread(&b->e, second, SN_THREAD_CLIENT_BASE2);
    else if (!sn_features_read_bases()) sn_emit_load_thread(&b->e, second, SN_THREAD_CLIENT_BASE);
    else sn_emit_read_first_base(&b->e, second);
    sn_emit_load_indexed(&b->e, reg, reg, second, 1, 0);
}

/** reg = value of a general or mask register */
static void emit_register_value(lowering *l, const sn_operand *operand, unsigned reg) {
    if (operand->place == SN_PLACE_MASK) {
        sn_emit_read_mask(&l->b->e, reg, operand->reg, sn_features_wide_masks());
        return;
    }
    if (l->flagless && is_second_byte(operand)) sn_emit_flagless_second_byte(&l->b->e, reg, operand->reg);
    else sn_emit_part(&l->b->e, reg, operand->reg, operand->size, operand->displacement);
}

/** Copy `size` bytes from [from] to [to + offset] by way of `temporary`. */
static void emit_copy(builder *b, unsigned from, unsigned to, int32_t offset, unsigned size, unsigned temporary) {
    for (unsigned done = 0; done < size;) {
        unsigned left = size - done, piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        sn_emit_load(&b->e, temporary, from, (int32_t)done, piece);
        sn_emit_store(&b->e, temporary, to, offset + (int32_t)done, piece);
        done += piece;
    }
}

/** The operand's bytes to [to + offset]. */
static void emit_operand_copy(lowering *l, const sn_operand *operand, unsigned to, int32_t offset, const uint8_t *own) {
    builder *b = l->b;
    switch (operand->place) {
    case SN_PLACE_MEMORY:
        sn_lower_address(b, l->insn, operand, own[0], own[1]);
        sn_builder_reading_place(b, l->saved, l->saves_flags);
        emit_copy(b, own[0], to, offset, operand->size, own[1]);
        sn_builder_analysis_place(b, l->saved, l->saves_flags);
        break;
    case SN_PLACE_VECTOR:
        if (operand->size >= 4) {
            sn_emit_store_vector(&b->e, operand->reg, to, offset, operand->size);
            break;
        }
        sn_emit_read_vector(&b->e, own[0], operand->reg);
        sn_emit_store(&b->e, own[0], to, offset, operand->size);
        break;
    case SN_PLACE_IMMEDIATE:
        sn_emit_load_constant(&b->e, own[0], (uint64_t)operand->immediate);
        sn_emit_store(&b->e, own[0], to, offset, operand->size);
        break;
    default:
        emit_register_value(l, operand, own[0]);
        sn_emit_store(&b->e, own[0], to, offset, operand->size);
    }
}

/* ---------------------------------------------------------------------- operations */

/** Register that holds a value; a constant is loaded into the next of the operation's temporaries. */
static unsigned value_in(lowering *l, sn_value value, const uint8_t **own) {
    if (!is_constant(l, value)) return register_of[value];
    sn_emit_load_constant(&l->b->e, **own, constant_of(l, value));
    return *(*own)++;
}

static const uint8_t shift_extensions[] = {[SN_SHIFT_LEFT] = 4, [SN_SHIFT_RIGHT] = 5, [SN_SHIFT_RIGHT_SIGNED] = 7};

static void emit_shift(lowering *l, const sn_operation *operation, unsigned result) {
    unsigned extension = shift_extensions[operation->what];
    sn_emitter *e = &l->b->e;
    if (is_constant(l, operation->b)) {
        sn_emit_shift_constant(e, extension, result, constant_of(l, operation->b) & 63);
        return;
    }
    unsigned count = register_of[operation->b];
    if (count == SN_RCX) {
        sn_emit_shift_by_count(e, extension, result);
        return;
    }
    /* The count has to be in %cl. If the value is there, the exchange moves it to where the count was. */
    sn_emit_exchange(e, SN_RCX, count);
    sn_emit_shift_by_count(e, extension, result == SN_RCX ? count : result);
    sn_emit_exchange(e, SN_RCX, count);
}

/** Operations that have another form where the flags must stay; false for those that have not. */
static bool emit_flagless(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    unsigned result = register_of[operation->result], a = is_constant(l, operation->a) ? result : register_of[operation->a];
    if (!l->flagless || !changes_flags(l, operation)) return false;
    if (operation->what == SN_SUBTRACT) {
        a = value_in(l, operation->a, &own);
        sn_emit_flagless_subtract(e, result, a, value_in(l, operation->b, &own));
        return true;
    }
    if (is_constant(l, operation->a)) sn_emit_load_constant(e, result, constant_of(l, operation->a));
    if (operation->what == SN_AND) {
        sn_emit_flagless_and(e, result, a, constant_of(l, operation->b), own[0]);
    } else {
        unsigned count = value_in(l, operation->b, &own);
        sn_emit_flagless_shift(e, shift_extensions[operation->what], result, a, count);
    }
    return true;
}

static void emit_compute(lowering *l, const sn_operation *operation, const uint8_t *own) {
    static const struct {
        uint8_t opcode, extension;
    } forms[] = {[SN_AND] = {0x21, 4}, [SN_OR] = {0x09, 1}, [SN_XOR] = {0x31, 6}, [SN_SUBTRACT] = {0x29, 5}};
    sn_emitter *e = &l->b->e;
    unsigned result = register_of[operation->result];
    bool constant = is_constant(l, operation->b) && !needs_register(l, operation, false);
    uint64_t value = constant ? constant_of(l, operation->b) : 0;
    if (emit_flagless(l, operation, own)) return;
    if (is_constant(l, operation->a)) sn_emit_load_constant(e, result, constant_of(l, operation->a));
    else if (operation->what == SN_ADD && constant) {
        sn_emit_load_sum(e, result, register_of[operation->a], (int32_t)value);
        return;
    } else sn_emit_move(e, result, register_of[operation->a]);
    switch ((sn_operator)operation->what) {
    case SN_ADD:
        if (constant) sn_emit_load_sum(e, result, result, (int32_t)value);
        else sn_emit_load_indexed(e, result, result, value_in(l, operation->b, &own), 1, 0);
        break;
    case SN_SUBTRACT:
        if (constant && fits(-value)) {
            sn_emit_load_sum(e, result, result, (int32_t)-value);
            break;
        }
        /* fall through */
    case SN_AND:
    case SN_OR:
    case SN_XOR:
        if (constant) sn_emit_binary_constant(e, forms[operation->what].extension, result, (int32_t)value);
        else sn_emit_binary(e, forms[operation->what].opcode, result, value_in(l, operation->b, &own));
        break;
    case SN_MULTIPLY: sn_emit_multiply(e, result, value_in(l, operation->b, &own)); break;
    default: emit_shift(l, operation, result);
    }
}

/** Compare, and jump forwards if the condition, or its opposite, is met; returns the address of the displacement. */
static uint64_t emit_condition(lowering *l, const sn_operation *operation, bool opposite, const uint8_t *own) {
    static const uint8_t conditions[] = {[SN_EQUAL] = 4, [SN_NOT_EQUAL] = 5, [SN_BELOW] = 2,
                                         [SN_AT_LEAST] = 3, [SN_LESS] = 12, [SN_NOT_LESS] = 13};
    sn_emitter *e = &l->b->e;
    unsigned a = value_in(l, operation->a, &own);
    if (l->flagless) {
        if (is_small_difference(l, operation->b)) sn_emit_load_sum(e, SN_RCX, a, (int32_t)-constant_of(l, operation->b));
        else sn_emit_flagless_subtract(e, SN_RCX, a, value_in(l, operation->b, &own));
        return sn_emit_flagless_jump(e, (operation->what == SN_EQUAL) != opposite);
    }
    if (is_constant(l, operation->b) && fits(constant_of(l, operation->b)))
        sn_emit_binary_constant(e, 7, a, (int32_t)constant_of(l, operation->b));
    else sn_emit_binary(e, 0x39, a, value_in(l, operation->b, &own));
    return sn_emit_jump_if(e, conditions[operation->what] ^ opposite);
}

static void emit_branch(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    const sn_label_record *label = &l->analysis->labels[operation->number];
    uint64_t field = emit_condition(l, operation, label->from_elsewhere, own);
    if (label->from_elsewhere) {
        /* The other sequence begins with the client's registers in place. */
        uint64_t over = field;
        restore_client(l, 0);
        sn_emit8(e, 0xe9);
        sn_emit32(e, 0);
        field = sn_emit_address(e) - 4;
        if (e->overflowed) return;
        sn_patch_displacement(over, sn_emit_address(e));
        sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
    }
    if (e->overflowed) return;
    *(uint32_t *)field = (uint32_t)label_chain[operation->number];
    label_chain[operation->number] = field;
}

/** The comparison of SN_OPERATION_CHECK; returns the displacement of the jump that is taken when it fails. */
static uint64_t emit_check_condition(lowering *l, const sn_operation *operation, const uint8_t *own) {
    enum { NOT_EQUAL = 5 };
    sn_emitter *e = &l->b->e;
    unsigned base = register_of[operation->a];
    int32_t more = (int32_t)operation->number;
    bool immediate = is_constant(l, operation->b) && !needs_register(l, operation, false);
    uint64_t constant = immediate ? constant_of(l, operation->b) + (uint64_t)(int64_t)more : 0;
    unsigned expected = immediate ? NO_REGISTER : value_in(l, operation->b, &own);
    if (l->flagless) {
        sn_emit_load(e, SN_RCX, base, operation->offset, 8);
        if (immediate) {
            sn_emit_load_sum(e, SN_RCX, SN_RCX, (int32_t)-constant);
        } else {
            sn_emit_complement(e, SN_RCX);
            sn_emit_load_indexed(e, SN_RCX, expected, SN_RCX, 1, 1 + more);
        }
        return sn_emit_flagless_jump(e, false);
    }
    if (immediate) {
        sn_emit_compare_memory_constant(e, base, operation->offset, (int32_t)constant);
        return sn_emit_jump_if(e, NOT_EQUAL);
    }
    if (more) {
        sn_emit_load_sum(e, *own, expected, more);
        expected = *own;
    }
    sn_emit_compare_memory(e, base, operation->offset, expected);
    return sn_emit_jump_if(e, NOT_EQUAL);
}

static rare_call *new_rare_call(lowering *l, const sn_operation *operation, uint64_t field) {
    builder *b = l->b;
    if (b->e.overflowed) return NULL;
    if (b->rare_count == SN_MOST_RARE_CALLS) { /* as if the block were too large: a shorter one is tried */
        b->e.overflowed = true;
        return NULL;
    }
    rare_call *call = &b->rare[b->rare_count++];
    *call = (rare_call){.field = field, .back = sn_emit_address(&b->e), .function = operation->function,
                        .data = (uint64_t)(uintptr_t)operation->data, .index = b->current, .saved = l->saved,
                        .saved_flags = l->saves_flags, .keeps_flags = l->live_flags && !l->saves_flags, .pin = b->pin};
    return call;
}

static void emit_check(lowering *l, const sn_operation *operation, const uint8_t *own) {
    rare_call *call = new_rare_call(l, operation, emit_check_condition(l, operation, own));
    if (!call) return;
    call->is_check = true;
    call->result = register_of[operation->a];
}

static void note_compared(const lowering *l, sn_value value, uint64_t *constant, uint8_t *reg) {
    *reg = is_constant(l, value) ? NO_REGISTER : register_of[value];
    if (is_constant(l, value)) *constant = constant_of(l, value);
}

/** The comparison; the call comes behind the block's other code. */
static void emit_call_if(lowering *l, const sn_operation *operation, const uint8_t *own) {
    rare_call *call = new_rare_call(l, operation, emit_condition(l, operation, false, own));
    if (!call) return;
    note_compared(l, operation->a, &call->constants[0], &call->registers[0]);
    note_compared(l, operation->b, &call->constants[1], &call->registers[1]);
}

static void emit_label(builder *b, unsigned label) {
    for (uint64_t field = label_chain[label]; field && !b->e.overflowed;) {
        uint32_t next = *(uint32_t *)field;
        sn_patch_displacement(field, sn_emit_address(&b->e));
        field = next;
    }
    label_chain[label] = 0;
}

static void emit_count(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    bool constant = is_constant(l, operation->a);
    uint64_t amount = constant ? constant_of(l, operation->a) : 0;
    if (counts_in_memory(l, operation)) {
        sn_emit_add_thread_constant(e, COUNTER(operation->number), (int32_t)amount);
        return;
    }
    if (constant && !fits(amount)) sn_fail(SN_STATUS_ENGINE, "the tool counts by a constant of more than 31 bits");
    sn_emit_load_thread(e, own[0], COUNTER(operation->number));
    if (constant) sn_emit_load_sum(e, own[0], own[0], (int32_t)amount);
    else sn_emit_load_indexed(e, own[0], own[0], register_of[operation->a], 1, 0);
    sn_emit_store_thread(e, own[0], COUNTER(operation->number));
}

static void emit_count_indexed(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    unsigned amount = value_in(l, operation->a, &own), index = value_in(l, operation->b, &own);
    sn_emit_thread_element(e, 0x8b, own[0], index, COUNTER(operation->number));
    sn_emit_load_indexed(e, own[0], own[0], amount, 1, 0);
    sn_emit_thread_element(e, 0x89, own[0], index, COUNTER(operation->number));
}

static void emit_thread_store(lowering *l, sn_value value, uint32_t offset, const uint8_t *own) {
    if (is_constant(l, value) && fits(constant_of(l, value)))
        sn_emit_store_thread_constant(&l->b->e, offset, (int32_t)constant_of(l, value));
    else sn_emit_store_thread(&l->b->e, value_in(l, value, &own), offset);
}

/** Everything that a leaf function may change and that is in use is kept in the thread's memory meanwhile. */
static void emit_call_fast(lowering *l, const sn_operation *operation) {
    static const uint8_t argument_registers[] = {SN_RDI, SN_RSI, SN_RDX, SN_RCX, SN_R8, SN_R9};
    sn_emitter *e = &l->b->e;
    unsigned result = register_of[operation->result];
    uint16_t kept = (uint16_t)(SN_CALLER_SAVED & ~(unsigned)(l->unsaved & ~l->used));
    kept &= (uint16_t) ~(1u << result);
    for (unsigned reg = 0; reg < 16; reg++)
        if (kept >> reg & 1) sn_emit_store_thread(e, reg, SN_THREAD_KEPT + 8 * reg);
    sn_emit_store_thread(e, SN_RSP, SN_THREAD_KEPT + 8 * SN_RSP);
    sn_emit_store_thread_constant32(e, SN_THREAD_IN_FAST_CALL, 1);
    for (unsigned i = 0; i < operation->what; i++)
        sn_emit_load_thread(e, argument_registers[i], SN_THREAD_ARGUMENTS + 8 * i);
    sn_emit_load_thread(e, SN_RSP, SN_THREAD_ENGINE_STACK);
    sn_emit_load_constant(e, SN_RAX, (uint64_t)(uintptr_t)operation->function);
    sn_emit_bytes(e, "\xff\xd0", 2); /* call *%rax */
    sn_emit_load_thread(e, SN_RSP, SN_THREAD_KEPT + 8 * SN_RSP);
    sn_emit_store_thread_constant32(e, SN_THREAD_IN_FAST_CALL, 0);
    if (result != SN_RAX) sn_emit_move(e, result, SN_RAX);
    for (unsigned reg = 0; reg < 16; reg++)
        if (kept >> reg & 1) sn_emit_load_thread(e, reg, SN_THREAD_KEPT + 8 * reg);
}

/** Register that points to the next record, and how far behind it that begins. */
static unsigned record_pointer(lowering *l, const sn_operation *operation, unsigned own, int32_t *offset) {
    *offset = operation->offset;
    if (pinned_for(l, operation)) {
        *offset += l->b->pin.pending;
        return l->b->pin.pointer;
    }
    sn_emit_load_thread(&l->b->e, own, SN_THREAD_TRACES + 8 * operation->number);
    return own;
}

static void emit_field(lowering *l, const sn_operation *operation, const uint8_t *own) {
    int32_t offset;
    sn_emitter *e = &l->b->e;
    if (operation->kind == SN_OPERATION_FIELD_COPY) {
        const sn_operand *operand = operand_of(l, operation->what);
        unsigned extra = operand->place == SN_PLACE_MEMORY ? 2 : 1;
        unsigned pointer = record_pointer(l, operation, own[extra], &offset);
        emit_operand_copy(l, operand, pointer, offset, own);
        return;
    }
    bool immediate = is_constant(l, operation->a) && !needs_register(l, operation, true);
    unsigned value = immediate ? 0 : value_in(l, operation->a, &own);
    unsigned pointer = record_pointer(l, operation, own[0], &offset);
    if (immediate) sn_emit_store_constant(e, pointer, offset, (int32_t)constant_of(l, operation->a), operation->size);
    else sn_emit_store(e, value, pointer, offset, operation->size);
}

static void emit_appended(lowering *l, const sn_operation *operation, const uint8_t *own) {
    if (pinned_for(l, operation)) {
        l->b->pin.pending = (uint16_t)(l->b->pin.pending + operation->size);
        sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
        return;
    }
    uint32_t slot = SN_THREAD_TRACES + 8 * operation->number;
    sn_emit_load_thread(&l->b->e, own[0], slot);
    sn_emit_load_sum(&l->b->e, own[0], own[0], operation->size);
    sn_emit_store_thread(&l->b->e, own[0], slot);
}

static void emit_store(lowering *l, const sn_operation *operation, const uint8_t *own) {
    unsigned base = value_in(l, operation->a, &own);
    if (is_constant(l, operation->b) && !needs_register(l, operation, false))
        sn_emit_store_constant(&l->b->e, base, operation->offset, (int32_t)constant_of(l, operation->b), operation->size);
    else sn_emit_store(&l->b->e, value_in(l, operation->b, &own), base, operation->offset, operation->size);
}

static void emit_value(lowering *l, const sn_operation *operation, unsigned result, const uint8_t *own) {
    const sn_operand *operand = operand_of(l, operation->number);
    if (operand->place != SN_PLACE_MEMORY) {
        emit_register_value(l, operand, result);
        return;
    }
    sn_lower_address(l->b, l->insn, operand, result, own[0]);
    sn_builder_reading_place(l->b, l->saved, l->saves_flags);
    if (!(operand->size & (operand->size - 1))) {
        sn_emit_load(&l->b->e, result, result, 0, operand->size);
        sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
        return;
    }
    /* 3, 5, 6 or 7 bytes, of which no more may be touched: by way of the thread's memory */
    sn_emit_store_thread_constant(&l->b->e, SN_THREAD_KEPT, 0);
    sn_emit_load_thread(&l->b->e, own[1], SN_THREAD_SELF);
    emit_copy(l->b, result, own[1], SN_THREAD_KEPT, operand->size, own[0]);
    sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
    sn_emit_load_thread(&l->b->e, result, SN_THREAD_KEPT);
}

static void emit_operation(lowering *l, unsigned number) {
    const sn_operation *operation = at(l, number);
    const uint8_t *own = temporaries[number];
    sn_emitter *e = &l->b->e;
    unsigned result = sn_operation_sets(operation) ? register_of[operation->result] : NO_REGISTER;
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_THREAD: sn_emit_load_thread(e, result, SN_THREAD_SELF); break;
    case SN_OPERATION_ADDRESS:
        if (plain_address(l, operation) == NO_REGISTER)
            sn_lower_address(l->b, l->insn, operand_of(l, operation->number), result, own[0]);
        break;
    case SN_OPERATION_VALUE: emit_value(l, operation, result, own); break;
    case SN_OPERATION_COPY: {
        const uint8_t *base = own;
        unsigned to = value_in(l, operation->a, &base);
        emit_operand_copy(l, operand_of(l, operation->number), to, operation->offset, base);
        break;
    }
    case SN_OPERATION_LOAD: {
        unsigned base = value_in(l, operation->a, &own);
        if (operation->what) sn_builder_reading_place(l->b, l->saved, l->saves_flags);
        sn_emit_load(e, result, base, operation->offset, operation->size);
        if (operation->what) sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
        break;
    }
    case SN_OPERATION_STORE: emit_store(l, operation, own); break;
    case SN_OPERATION_COMPUTE: emit_compute(l, operation, own); break;
    case SN_OPERATION_ASSIGN:
        if (is_constant(l, operation->a)) sn_emit_load_constant(e, result, constant_of(l, operation->a));
        else sn_emit_move(e, result, register_of[operation->a]);
        break;
    case SN_OPERATION_BRANCH: emit_branch(l, operation, own); break;
    case SN_OPERATION_CALL_IF: emit_call_if(l, operation, own); break;
    case SN_OPERATION_CHECK: emit_check(l, operation, own); break;
    case SN_OPERATION_LABEL: emit_label(l->b, operation->number); break;
    case SN_OPERATION_SLOT_LOAD: sn_emit_load_thread(e, result, SN_THREAD_SLOTS + 8 * operation->number); break;
    case SN_OPERATION_OWN_LOAD: sn_emit_load_thread_part(e, result, operation->number, operation->size); break;
    case SN_OPERATION_OWN_STORE:
        if (operation->size == 8) emit_thread_store(l, operation->a, operation->number, own);
        else sn_emit_store_thread_part(e, value_in(l, operation->a, &own), operation->number, operation->size);
        break;
    case SN_OPERATION_COUNTER: sn_emit_load_thread(e, result, COUNTER(operation->number)); break;
    case SN_OPERATION_SLOT_STORE: emit_thread_store(l, operation->a, SN_THREAD_SLOTS + 8 * operation->number, own); break;
    case SN_OPERATION_COUNT: emit_count(l, operation, own); break;
    case SN_OPERATION_COUNT_INDEXED: emit_count_indexed(l, operation, own); break;
    case SN_OPERATION_ARGUMENT: emit_thread_store(l, operation->a, SN_THREAD_ARGUMENTS + 8 * operation->number, own); break;
    case SN_OPERATION_CALL_FAST: emit_call_fast(l, operation); break;
    case SN_OPERATION_FIELD:
    case SN_OPERATION_FIELD_COPY: emit_field(l, operation, own); break;
    case SN_OPERATION_APPENDED: emit_appended(l, operation, own); break;
    case SN_OPERATION_CALL:
    case SN_OPERATION_ACCESSES: break; /* behind the sequence */
    }
    if (result != NO_REGISTER && l->analysis->values[operation->result].crosses)
        sn_emit_store_thread(e, result, SN_THREAD_VALUES + 8 * l->analysis->values[operation->result].home);
}

/* ----------------------------------------------------------------------- sequences */

/** Load the values that were set elsewhere. */
static void load_incoming(lowering *l) {
    uint16_t loaded = 0;
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        const sn_operation *operation = at(l, number);
        sn_value values[3];
        unsigned count = sn_operation_uses(operation, values);
        if (operation->kind == SN_OPERATION_ASSIGN) values[count++] = operation->result;
        for (unsigned i = 0; i < count; i++) {
            const sn_register_record *record = &l->analysis->values[values[i]];
            unsigned reg = register_of[values[i]];
            if (record->is_constant || record->sequence == l->sequence || loaded >> reg & 1) continue;
            loaded |= (uint16_t)(1u << reg);
            sn_emit_load_thread(&l->b->e, reg, SN_THREAD_VALUES + 8 * record->home);
        }
    }
}

/** Leave the cache for the dispatcher, which calls the tool's function and comes back. */
static void emit_call(builder *b, const sn_operation *operation) {
    uint32_t call = sn_call_new();
    sn_builder_analysis_place(b, 0, false);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_EXIT, sn_exit_of_call(call));
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_exit));
    const sn_insn *insn = &b->block->insns[operation->index];
    const uint64_t clients[] = {[SN_WHEN_BEFORE] = insn->pc, [SN_WHEN_AFTER] = insn->pc + insn->length,
                                [SN_WHEN_TAKEN] = insn->target};
    *sn_call_record_at(call) = (sn_call_record){
        .function = operation->function, .data = operation->data, .instruction = insn->pc,
        .client = clients[operation->when],
        .resume = (uint32_t)sn_emit_address(&b->e), .block = b->number, .index = operation->index,
        .enumerates = operation->kind == SN_OPERATION_ACCESSES, .after = operation->when == SN_WHEN_AFTER};
}

/** The branch register, if the instruction that comes would save it again: it does not read it. */
static uint16_t handed_over(const lowering *l, const sn_operation *last) {
    uint16_t branch_register = 1u << BRANCH_REGISTER;
    bool stays = last->when == SN_WHEN_BEFORE && last->kind != SN_OPERATION_CALL && last->kind != SN_OPERATION_ACCESSES &&
                 !l->b->pin.on && sn_builder_can_take_branch_register(l->b, l->insn);
    return stays ? l->saved & branch_register : 0;
}

/** Lower the operations from `number` on that belong to its sequence; returns the first one of the next. */
static unsigned lower_sequence(lowering *l, unsigned number) {
    l->first = number;
    l->sequence = at(l, number)->sequence;
    l->busy = l->used = l->saved = 0;
    l->saves_flags = false;
    unsigned last = number;
    for (unsigned i = number; i; i = next_of(l, i)) last = i;
    bool calls = at(l, last)->kind == SN_OPERATION_CALL || at(l, last)->kind == SN_OPERATION_ACCESSES;
    /* A label that is jumped to from elsewhere stands in front of the saving. */
    const sn_operation *head = at(l, number);
    bool outside = head->kind == SN_OPERATION_LABEL && l->analysis->labels[head->number].from_elsewhere;
    choose_forms(l);
    give_out(l);
    if (outside) emit_label(l->b, head->number);
    save_client(l);
    load_incoming(l);
    for (unsigned i = number; i; i = next_of(l, i))
        if (!(outside && i == number)) emit_operation(l, i);
    uint16_t kept = at(l, last)->next ? 0 : handed_over(l, at(l, last));
    restore_client(l, kept);
    l->b->branch_saved = kept != 0;
    if (calls) emit_call(l->b, at(l, last));
    return at(l, last)->next;
}

/** Registers that the operations of a place take operands from. */
static uint16_t operand_registers(const lowering *l, unsigned first) {
    uint32_t registers = 0;
    for (unsigned number = first; number; number = at(l, number)->next) {
        if (!uses_operand(at(l, number))) continue;
        const sn_operand *operand = operation_operand(l, at(l, number));
        if (operand->place == SN_PLACE_GENERAL) registers |= 1u << operand->reg;
        if (operand->place != SN_PLACE_MEMORY) continue;
        if (operand->base != SN_NO_REGISTER) registers |= 1u << operand->base;
        if (operand->index != SN_NO_REGISTER) registers |= 1u << operand->index;
    }
    return (uint16_t)registers;
}

void sn_lower_place(builder *b, unsigned index, sn_when when) {
    static lowering state;
    lowering *l = &state;
    unsigned number = b->block->analysis.places[index][when].first;
    if (!number) return;
    *l = (lowering){.b = b, .analysis = &b->block->analysis, .insn = &b->block->insns[index]};
    unsigned point = when == SN_WHEN_BEFORE || when == SN_WHEN_ENTERED ? index : index + 1;
    l->available = 0xffff & ~(1u << SN_RSP);
    l->available &= (uint16_t)~operand_registers(l, number);
    if (when == SN_WHEN_TAKEN) {
        l->live_flags = sn_flags_live_at(l->insn->target);
    } else {
        l->live_flags = b->live_flags[point];
        /* The engine looks at all of the client's registers when one of the operations leaves the cache. */
        if (!sn_analysis_leaves(l->analysis, &l->analysis->places[index][when])) l->unsaved = (uint16_t) ~(unsigned)b->live_registers[point] & l->available;
    }
    if (b->pin.on) {
        l->available &= (uint16_t) ~(1u << b->pin.pointer);
        l->unsaved &= (uint16_t) ~(1u << b->pin.pointer);
        l->available |= (uint16_t)(1u << b->pin.scratch);
        l->unsaved |= (uint16_t)(1u << b->pin.scratch);
    }
    while (number) number = lower_sequence(l, number);
    sn_builder_analysis_place(b, b->branch_saved ? 1u << BRANCH_REGISTER : 0, false);
}
