/**
 * @fileoverview From the flows of a block's instructions to inserted code and plans: see shadow_plan.h, <sonde/shadow.h>.
 *
 * Plain stores copy shadow from register to memory, in place and always. All else is in groups: one comparison finds out whether
 * something is not clean, and then C does the work. A group begins at an instruction that accesses memory, or whose rule looks at
 * values, or that the tool has a check for; it goes on over those behind it that need no more than the shadows of registers, up to
 * a branch.
 */
#include <string.h>

#include "sonde/arena.h"
#include "sonde/hash.h"
#include "base/log.h"
#include "jit/insert.h"
#include "jit/layout.h"
#include "jit/translate.h"
#include "service/shadow_clean.h"
#include "service/shadow_plan.h"
#include "service/shadow_varying.h"

const sn_shadow_rules *sn_shadow_ruling;

enum { MOST_GROUP_BYTES = 1 << 15, MOST_SUMMED = 32 /* bytes of memory operands that are added up */ };

/** The group that is being made; one block is translated at a time. */
static struct {
    bool is_open;
    unsigned start;                  /**< its first instruction */
    unsigned memory[SN_PLAN_MOST_OPERANDS]; /**< numbers of that one's operands */
    uint32_t size;                   /**< bytes of the plan */
    sn_plan_flow *last;
    union {
        sn_plan_group plan;
        uint8_t bytes[MOST_GROUP_BYTES];
    };
} group;

/** What is known to be clean at the place that is looked at, on whatever way it is come to: checked and made clean by the check, or
    made of nothing that is not. There, nothing needs to be tested. */
static struct {
    uint64_t registers;              /**< as in the word of dirty registers; but for flags */
    uint8_t flags;
} known;

/** The instruction that is looked at. */
typedef struct looking {
    sn_block *block;
    unsigned index;
    const sn_flow *flows;
    unsigned flow_count;
    sn_operand operands[SN_MOST_OPERANDS]; /**< a copy: the block's are those of the instruction asked for last */
    unsigned operand_count;
    uint8_t live_flags;              /**< sn_flow_flag of those that somebody may look at behind it */
} looking;

/* ------------------------------------------------------------------------------------------------------ plans kept */

static sn_arena plans;
static sn_hash known_plans; /**< hash of the bytes -> plan */

static const sn_plan_group *keep(void) {
    uint64_t key = sn_hash_bytes(group.bytes, group.size);
    uint64_t *known = sn_hash_insert(&known_plans, key, NULL);
    const sn_plan_group *plan = (const sn_plan_group *)*known;
    if (plan && plan->size == group.size && !memcmp(plan, group.bytes, group.size)) return plan;
    plan = sn_arena_copy(&plans, group.bytes, group.size);
    *known = (uint64_t)plan;
    return plan;
}

/* ------------------------------------------------------------------------------------------------- inserted code */

/* What accesses memory may fault, so that the client's flags matter in front of it: saving them takes longer than all else. So
   what is looked at together is added up, which leaves flags alone: pieces of at most 4 bytes, whose sum fits. */

/** The shadow of a memory operand, or a sum of its parts that is zero only if all of it is. */
static sn_value memory_shadow(sn_block *block, unsigned operand, unsigned size, unsigned widest, sn_value found) {
    sn_value address = sn_operand_address(block, operand);
    bool by_kernel = !sn_in_window(sn_block_address(block));
    sn_value place = by_kernel ? address : sn_shadow_address(block, sn_shadow_ruling->memory, address);
    for (unsigned done = 0; done < size;) {
        unsigned left = size - done, piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        piece = piece > widest ? widest : piece;
        sn_value part;
        if (by_kernel) {
            sn_value at = sn_compute(block, SN_ADD, address, sn_constant(block, done));
            part = sn_shadow_load(block, sn_shadow_ruling->memory, at, piece);
        } else {
            part = sn_shadow_load_at(block, place, (int32_t)done, piece);
        }
        found = found == SN_NO_VALUE ? part : sn_compute(block, widest > 4 ? SN_OR : SN_ADD, found, part);
        done += piece;
    }
    return found;
}

enum { MOST_MARKS = 4 };

/** Not zero if one of the registers is dirty, or `found` is not: in sums, that is less than 2^37. */
static sn_value dirty_registers(sn_block *block, uint64_t registers, bool sums, sn_value found) {
    if (sums && __builtin_popcountll(registers) <= MOST_MARKS) {
        for (; registers; registers &= registers - 1) {
            sn_value mark = sn_own_load(block, SN_THREAD_SHADOW + SN_SHADOW_MARKS + (uint32_t)__builtin_ctzll(registers), 1);
            found = found == SN_NO_VALUE ? mark : sn_compute(block, SN_ADD, found, mark);
        }
        return found;
    }
    sn_value dirty = sn_own_load(block, SN_THREAD_SHADOW + SN_SHADOW_DIRTY, 8);
    dirty = sn_compute(block, SN_AND, dirty, sn_constant(block, registers));
    bool fits = registers < UINT64_MAX << 37;
    return found == SN_NO_VALUE ? dirty : sn_compute(block, sums && fits ? SN_ADD : SN_OR, found, dirty);
}

static void enter_if(sn_block *block, sn_value found, const sn_plan_group *plan) {
    sn_call_fast_if(block, SN_NOT_EQUAL, found, sn_constant(block, 0), (void *)sn_shadow_enter, (uint64_t)(uintptr_t)plan);
}

static void close_group(sn_block *block) {
    if (!group.is_open) return;
    group.is_open = false;
    if (!group.plan.flow_count) return;
    group.last->is_last = true;
    group.plan.size = group.size;
    sn_insert_before(block, group.start);
    uint32_t bytes = 0, sizes[SN_PLAN_MOST_OPERANDS];
    for (unsigned i = 0; i < group.plan.operand_count; i++) {
        unsigned count;
        bytes += sizes[i] = sn_block_operands(block, group.start, &count)[group.memory[i]].size;
    }
    bool sums = bytes <= MOST_SUMMED;
    sn_value found = SN_NO_VALUE;
    for (unsigned i = 0; i < group.plan.operand_count; i++)
        found = memory_shadow(block, group.memory[i], sizes[i], sums ? 4 : 8, found);
    if (group.plan.dirty) found = dirty_registers(block, group.plan.dirty, sums, found);
    if (found != SN_NO_VALUE) enter_if(block, found, keep());
}

static void open_group(unsigned index) {
    group.is_open = true;
    group.start = index;
    group.size = sizeof(sn_plan_group);
    memset(&group.plan, 0, sizeof group.plan);
}

/* --------------------------------------------------------------------------------------------------------- pieces */

/** The number of a memory operand among the group's; -1 if there is no room. */
static int memory_operand(const looking *at, unsigned number) {
    for (unsigned i = 0; i < group.plan.operand_count; i++)
        if (group.memory[i] == number) return (int)i;
    if (group.plan.operand_count == SN_PLAN_MOST_OPERANDS) return -1;
    const sn_operand *operand = &at->operands[number];
    group.memory[group.plan.operand_count] = number;
    group.plan.operands[group.plan.operand_count] = (sn_plan_operand){
        .displacement = operand->displacement, .base = operand->base, .index = operand->index, .scale = operand->scale,
        .segment = operand->segment, .is_short = operand->is_explicit && sn_has_narrow_addresses(&at->block->insns[at->index])};
    return (int)group.plan.operand_count++;
}

typedef struct register_form {
    uint16_t start, size;
    uint8_t dirty;
} register_form;

static bool register_of(const sn_operand *operand, register_form *form) {
    switch (operand->place) {
    case SN_PLACE_GENERAL: *form = (register_form){(uint16_t)(SN_SHADOW_GENERAL + 8 * operand->reg), 8, operand->reg}; return true;
    case SN_PLACE_VECTOR:
        *form = (register_form){(uint16_t)(SN_SHADOW_VECTOR + 64 * operand->reg), 64, (uint8_t)(SN_DIRTY_VECTOR + operand->reg)};
        return true;
    case SN_PLACE_MASK:
        *form = (register_form){(uint16_t)(SN_SHADOW_MASK + 8 * operand->reg), 8, (uint8_t)(SN_DIRTY_MASK + operand->reg)};
        return true;
    case SN_PLACE_X87: *form = (register_form){(uint16_t)(SN_SHADOW_X87 + 16 * (operand->reg & 7)), 16, SN_DIRTY_X87}; return true;
    default: return false;
    }
}

static void use_register(sn_plan_piece *piece, const register_form *form, unsigned offset) {
    if (offset >= form->size) return;
    if (offset + piece->size > form->size) piece->size = (uint16_t)(form->size - offset);
    piece->place = SN_PLAN_REGISTER;
    piece->offset = (uint16_t)(form->start + offset);
    piece->dirty = form->dirty;
    group.plan.dirty |= (UINT64_C(1) << form->dirty) & ~known.registers;
}

static void use_general(sn_plan_piece *piece, uint8_t reg, unsigned offset, bool is_first) {
    use_register(piece, &(register_form){(uint16_t)(SN_SHADOW_GENERAL + 8 * reg), 8, reg}, offset);
    piece->reg = reg;
    piece->shift = (uint8_t)offset;
    if (is_first) piece->value = SN_VALUE_GENERAL;
}

static void use_memory(const looking *at, sn_plan_piece *piece, const sn_flow_piece *from, bool is_first) {
    bool varies = sn_block_instruction(at->block, at->index)->accesses_vary;
    int number = from->size && from->size <= 64 && is_first && !varies ? memory_operand(at, from->operand) : -1;
    if (number < 0) return;
    piece->place = SN_PLAN_MEMORY;
    piece->operand = (uint8_t)number;
    piece->offset = from->offset;
    piece->value = SN_VALUE_MEMORY;
}

/** What a flow says of a piece, as the plan has it. */
static sn_plan_piece piece_of(const looking *at, const sn_flow *flow, const sn_flow_piece *from) {
    sn_plan_piece piece = {.size = from->size, .every_lane = from->every_lane};
    bool is_first = at->index == group.start;
    register_form form;
    if (from->operand == SN_FLOW_NO_OPERAND) {
        piece.value = SN_VALUE_CONSTANT;
        piece.constant = flow->constant;
        return piece;
    }
    const sn_operand *operand = &at->operands[from->operand];
    if (operand->place == SN_PLACE_FLAGS) {
        if (!from->flags) return piece;
        piece.place = SN_PLAN_FLAGS;
        piece.flags = from->flags & 0x7f;
        piece.size = 8;
        piece.dirty = SN_DIRTY_FLAGS;
        if (piece.flags & ~known.flags) group.plan.dirty |= UINT64_C(1) << SN_DIRTY_FLAGS;
    } else if (operand->place == SN_PLACE_IMMEDIATE) {
        piece.value = SN_VALUE_CONSTANT;
        piece.constant = (uint64_t)operand->immediate;
    } else if (operand->place == SN_PLACE_MEMORY && from->part != SN_PART_VALUE) {
        uint8_t reg = from->part == SN_PART_BASE ? operand->base : operand->index;
        if (reg != SN_NO_REGISTER) use_general(&piece, reg, from->offset, is_first);
    } else if (operand->place == SN_PLACE_MEMORY) {
        use_memory(at, &piece, from, is_first);
    } else if (operand->place == SN_PLACE_GENERAL) {
        use_general(&piece, operand->reg, from->offset + (operand->displacement ? 1 : 0), is_first);
    } else if (register_of(operand, &form)) {
        use_register(&piece, &form, from->offset);
        if (operand->place == SN_PLACE_VECTOR && is_first) {
            piece.value = SN_VALUE_VECTOR;
            piece.reg = operand->reg;
            piece.shift = (uint8_t)from->offset;
        }
        if (operand->place == SN_PLACE_MASK && is_first && !from->offset) {
            piece.value = SN_VALUE_MASK;
            piece.reg = operand->reg;
        }
    }
    return piece;
}

/* ------------------------------------------------------------------------------------------- flows that matter */

static bool changes_stack_pointer(const looking *at, const sn_flow *flow) {
    const sn_operand *operand = &at->operands[flow->destination.operand];
    bool is_sum = flow->kind == SN_FLOW_ADD || flow->kind == SN_FLOW_SUBTRACT;
    return is_sum && operand->place == SN_PLACE_GENERAL && operand->reg == sn_stack_pointer_register && !operand->is_explicit;
}

/** Whether anybody can look at what the flow makes. */
static bool matters(const looking *at, const sn_flow *flow) {
    const sn_operand *operand = &at->operands[flow->destination.operand];
    if (operand->place == SN_PLACE_FLAGS) return flow->destination.flags & at->live_flags;
    return operand->place != SN_PLACE_CONTROL && operand->place != SN_PLACE_IMMEDIATE && !changes_stack_pointer(at, flow);
}

/* ------------------------------------------------------------------------------------------- what is known to be clean */

static bool is_known(uint8_t dirty) { return known.registers >> dirty & 1; }

static bool is_clean(const looking *at, const sn_flow_piece *piece) {
    register_form form;
    if (piece->operand == SN_FLOW_NO_OPERAND) return true;
    const sn_operand *operand = &at->operands[piece->operand];
    if (operand->place == SN_PLACE_FLAGS) return !(piece->flags & 0x7f & ~known.flags);
    if (operand->place == SN_PLACE_MEMORY && piece->part != SN_PART_VALUE) {
        uint8_t reg = piece->part == SN_PART_BASE ? operand->base : operand->index;
        return reg == SN_NO_REGISTER || is_known(reg);
    }
    return register_of(operand, &form) ? is_known(form.dirty) : operand->place != SN_PLACE_MEMORY;
}

/** Whether all that a flow reads is: then so is what it makes. */
static bool reads_clean(const looking *at, const sn_flow *flow) {
    for (unsigned i = 0; i < flow->source_count; i++)
        if (!is_clean(at, &flow->sources[i])) return false;
    if (!flow->guard.kind) return true;
    bool to_flags = at->operands[flow->destination.operand].place == SN_PLACE_FLAGS; /* those that were there stay */
    return is_clean(at, &flow->guard.condition) && is_clean(at, &flow->guard.otherwise) && (!to_flags || is_clean(at, &flow->destination));
}

/** Whether there is something to be done for a flow. */
static bool is_needed(const looking *at, const sn_flow *flow) {
    return matters(at, flow) && !(reads_clean(at, flow) && is_clean(at, &flow->destination));
}

/** The bytes of its register that a piece is, each a bit. */
static uint64_t bytes_of(const sn_operand *operand, const sn_flow_piece *piece, const register_form *form) {
    unsigned first = piece->offset + (operand->place == SN_PLACE_GENERAL && operand->displacement), last = first + piece->size;
    if (last > form->size) last = form->size;
    if (first >= last) return 0;
    uint64_t up_to = last >= 64 ? UINT64_MAX : (UINT64_C(1) << last) - 1;
    return up_to & (UINT64_MAX << first);
}

/** What is known behind the instruction. A register becomes clean when all of it is written. */
static void learn(const looking *at) {
    uint64_t written[64], unclean = 0, cleaned = 0;
    uint8_t unclean_flags = 0, clean_flags = 0;
    memset(written, 0, sizeof written);
    for (unsigned i = 0; i < at->flow_count; i++) {
        const sn_flow *flow = &at->flows[i];
        const sn_operand *to = &at->operands[flow->destination.operand];
        bool clean = reads_clean(at, flow);
        register_form form;
        if (!matters(at, flow)) continue;
        if (to->place == SN_PLACE_FLAGS) {
            *(clean ? &clean_flags : &unclean_flags) |= flow->destination.flags & at->live_flags;
        } else if (register_of(to, &form)) {
            uint64_t whole = form.size >= 64 ? UINT64_MAX : (UINT64_C(1) << form.size) - 1, bit = UINT64_C(1) << form.dirty;
            written[form.dirty] |= bytes_of(to, &flow->destination, &form);
            if (!clean) unclean |= bit;
            else if (written[form.dirty] == whole && form.dirty != SN_DIRTY_X87) cleaned |= bit; /* its bit stands for eight */
        }
    }
    known.registers = (known.registers | cleaned) & ~unclean;
    known.flags = (uint8_t)((known.flags | clean_flags) & ~unclean_flags & 0x7f);
}

static void forget(void) {
    known.registers = 0;
    known.flags = 0;
}

/* ------------------------------------------------------------------------------------------------------- groups */

static bool touches_memory(const looking *at, const sn_flow_piece *piece) {
    return piece->operand != SN_FLOW_NO_OPERAND && at->operands[piece->operand].place == SN_PLACE_MEMORY && piece->part == SN_PART_VALUE;
}

static bool flow_touches_memory(const looking *at, const sn_flow *flow) {
    bool touches = touches_memory(at, &flow->destination);
    for (unsigned i = 0; i < flow->source_count; i++) touches |= touches_memory(at, &flow->sources[i]);
    if (flow->guard.kind) touches |= touches_memory(at, &flow->guard.otherwise);
    return touches;
}

/** Whether the rule is sharper where it knows the values that registers have before the instruction. */
static bool wants_values(const sn_flow *flow, const sn_insn *insn) {
    if (flow->guard.kind) return true;
    if (flow->kind == SN_FLOW_PERMUTE || flow->kind == SN_FLOW_KEEP_LOW || flow->kind == SN_FLOW_UPWARD || sn_special_form_of(insn)) return true;
    bool is_sum = flow->kind == SN_FLOW_ADD || flow->kind == SN_FLOW_SUBTRACT;
    bool asks_lanes = flow->kind == SN_FLOW_LANE_BITS && flow->lane_class != SN_FLOW_ANY;
    if (asks_lanes && sn_shadow_ruling->kind == SN_SHADOW_BITS) return true;
    if (is_sum && flow->lane_size && sn_shadow_ruling->kind == SN_SHADOW_BITS) return true;
    bool is_shift = flow->kind >= SN_FLOW_SHIFT_LEFT && flow->kind <= SN_FLOW_ROTATE_RIGHT && flow->amount == SN_FLOW_VARIABLE;
    if (is_shift) return true;
    if (sn_shadow_ruling->kind == SN_SHADOW_LABELS) return false;
    return flow->kind == SN_FLOW_AND || flow->kind == SN_FLOW_OR || flow->kind == SN_FLOW_MINIMUM || flow->kind == SN_FLOW_AND_NOT || flow->truth || flow->destination.flags ||
           flow->kind == SN_FLOW_TRAILING_ZEROS || flow->kind == SN_FLOW_LEADING_ZEROS;
}

static bool begins_group(const looking *at) {
    for (unsigned i = 0; i < at->flow_count; i++)
        if (is_needed(at, &at->flows[i]) && (flow_touches_memory(at, &at->flows[i]) || wants_values(&at->flows[i], &at->block->insns[at->index]))) return true;
    return false;
}

static unsigned table_size(const sn_flow *flow) {
    if (flow->kind == SN_FLOW_SHUFFLE) return flow->destination.size;
    if (flow->kind == SN_FLOW_NARROW && flow->lane_size) return flow->destination.size / flow->lane_size;
    return 0;
}

/** Whether one of the next instructions compares the register that the flow writes with something, and keeps no result but flags. */
static bool is_compared_soon(const looking *at, const sn_flow *flow) {
    enum { SOON = 3 };
    const sn_operand *to = &at->operands[flow->destination.operand];
    if (to->place != SN_PLACE_GENERAL) return false;
    for (unsigned index = at->index + 1; index < at->block->count && index <= at->index + SOON; index++) {
        unsigned count;
        bool reads = false, writes_flags = false, writes_more = false;
        const sn_operand *operands = sn_block_operands(at->block, index, &count);
        for (unsigned i = 0; i < count; i++) {
            bool written = operands[i].role & SN_ROLE_WRITTEN;
            reads |= operands[i].place == SN_PLACE_GENERAL && operands[i].role == SN_ROLE_READ && operands[i].reg == to->reg;
            writes_flags |= written && operands[i].place == SN_PLACE_FLAGS;
            writes_more |= written && operands[i].place != SN_PLACE_FLAGS;
        }
        if (reads && writes_flags && !writes_more && count > 2) return true;
    }
    return false;
}

static uint8_t special_of(const looking *at, const sn_flow *flow) {
    bool is_number = flow->kind == SN_FLOW_TRAILING_ZEROS || flow->kind == SN_FLOW_LEADING_ZEROS;
    if (is_number && is_compared_soon(at, flow)) return SN_SPECIAL_NUMBER_COMPARED;
    return (uint8_t)sn_special_form_of(&at->block->insns[at->index]);
}

static void add_flow(const looking *at, const sn_flow *flow) {
    unsigned table = table_size(flow);
    table = table > sizeof flow->table ? (unsigned)sizeof flow->table : table;
    size_t size = sn_plan_flow_size(flow->source_count, table);
    if (group.size + size > MOST_GROUP_BYTES) sn_fail(SN_STATUS_ENGINE, "a block has too much data flow");
    sn_plan_flow *to = (sn_plan_flow *)(group.bytes + group.size);
    memset(to, 0, size);
    to->kind = flow->kind;
    to->source_count = flow->source_count;
    to->lane_size = flow->lane_size;
    to->source_lane_size = flow->source_lane_size;
    to->scale_shift = flow->scale_shift;
    to->is_least = flow->kind == SN_FLOW_MINIMUM && !flow->is_signed && !flow->is_float && flow->lane_size;
    to->special = special_of(at, flow);
    to->amount = flow->amount;
    to->truth = flow->guard.truth;
    to->bitwise = flow->truth;
    to->lane_class = flow->lane_class;
    to->element_size = flow->element_size;
    to->zeroes = flow->zeroes;
    to->guard = flow->guard.kind;
    to->guard_lane = flow->guard.lane_size;
    to->count_mask = flow->guard.count_mask;
    to->table_size = (uint16_t)table;
    to->destination = piece_of(at, flow, &flow->destination);
    if (to->destination.place == SN_PLAN_FLAGS) to->destination.flags &= at->live_flags;
    if (flow->guard.kind) {
        to->condition = piece_of(at, flow, &flow->guard.condition);
        if (flow->guard.otherwise.size || flow->guard.otherwise.flags) to->otherwise = piece_of(at, flow, &flow->guard.otherwise);
    }
    for (unsigned i = 0; i < flow->source_count; i++) to->sources[i] = piece_of(at, flow, &flow->sources[i]);
    memcpy(&to->sources[flow->source_count], flow->table, table);
    group.size += (uint32_t)size;
    group.last = to;
    group.plan.flow_count++;
}

static void add_instruction(const looking *at) {
    if (!group.is_open || begins_group(at)) {
        close_group(at->block);
        open_group(at->index);
    }
    unsigned before = group.plan.flow_count;
    for (unsigned i = 0; i < at->flow_count; i++)
        if (is_needed(at, &at->flows[i])) add_flow(at, &at->flows[i]);
    if (group.plan.flow_count == before) return;
    group.last->is_last = true;
    group.last->stack_change = (int8_t)sn_x87_stack_change(&at->block->insns[at->index]);
}

/* --------------------------------------------------------------------------------------------------- plain stores */

static bool is_copied(const looking *at, const sn_flow *flow) {
    if (sn_shadow_ruling->functions[flow->kind] || flow->guard.kind || !touches_memory(at, &flow->destination)) return false;
    if (flow->destination.size > 64 || !flow->destination.size) return false;
    if (flow->kind == SN_FLOW_CONSTANT) return true;
    if (flow->kind != SN_FLOW_COPY || flow->source_count != 1 || flow->sources[0].size != flow->destination.size) return false;
    if (flow->sources[0].operand == SN_FLOW_NO_OPERAND) return true;
    const sn_operand *source = &at->operands[flow->sources[0].operand];
    register_form form;
    if (register_of(source, &form)) /* origins go along with what is not clean: that is for the plan */
        return source->place != SN_PLACE_X87 && (!sn_shadow_ruling->origins || is_known(form.dirty));
    return source->place == SN_PLACE_IMMEDIATE;
}

/** Whether all that it does that matters is one such flow. */
static const sn_flow *only_store(const looking *at) {
    const sn_flow *store = NULL;
    for (unsigned i = 0; i < at->flow_count; i++) {
        if (!is_needed(at, &at->flows[i])) continue;
        if (store || !is_copied(at, &at->flows[i])) return NULL;
        store = &at->flows[i];
    }
    return store;
}

static bool writes_register(const looking *at, uint8_t reg) {
    for (unsigned i = 0; i < at->flow_count && reg != SN_NO_REGISTER; i++) {
        const sn_operand *operand = &at->operands[at->flows[i].destination.operand];
        if (operand->place == SN_PLACE_GENERAL && operand->reg == reg) return true;
    }
    return false;
}

/** Behind the instruction if possible: it has not faulted then. */
static sn_value store_address(const looking *at, unsigned operand) {
    const sn_operand *memory = &at->operands[operand];
    bool goes_on = sn_falls_through(&at->block->insns[at->index]);
    bool changed = writes_register(at, memory->base) || writes_register(at, memory->index);
    bool is_push = changed && !memory->is_explicit && memory->base == sn_stack_pointer_register && memory->index == SN_NO_REGISTER;
    if (goes_on && (!changed || is_push)) {
        sn_insert_after(at->block, at->index);
        if (is_push) return sn_stack_pointer(at->block);
    } else {
        sn_insert_before(at->block, at->index);
    }
    return sn_operand_address(at->block, operand);
}

static void add_store(const looking *at, const sn_flow *flow) {
    sn_block *block = at->block;
    sn_flow_piece to = flow->destination, from = flow->kind == SN_FLOW_COPY ? flow->sources[0] : (sn_flow_piece){.operand = SN_FLOW_NO_OPERAND};
    register_form form;
    bool from_register = from.operand != SN_FLOW_NO_OPERAND && register_of(&at->operands[from.operand], &form);
    from_register = from_register && !is_known(form.dirty);
    unsigned second = from_register && at->operands[from.operand].place == SN_PLACE_GENERAL && at->operands[from.operand].displacement;
    sn_value place = sn_shadow_address(block, sn_shadow_ruling->memory, store_address(at, to.operand));
    for (unsigned done = 0; done < to.size;) {
        unsigned left = to.size - done, piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        sn_value shadow = from_register ? sn_own_load(block, SN_THREAD_SHADOW + form.start + from.offset + second + done, piece)
                                        : sn_constant(block, 0);
        sn_store_bravely(block, place, to.offset + (int32_t)done, shadow, piece); /* what the kernel placed has no shadow */
        done += piece;
    }
}

/* --------------------------------------------------------------------------------------------------- instructions */

static void add_system_call(const looking *at) {
    static const sn_plan_group results = {.size = sizeof results, .is_cleared = true};
    sn_insert_before(at->block, at->index);
    enter_if(at->block, dirty_registers(at->block, sn_shadow_system_call_results, true, SN_NO_VALUE), &results);
}

static void look_at(looking *at) {
    unsigned index = at->index;
    const sn_instruction *instruction = sn_block_instruction(at->block, index);
    unsigned before = at->block->analysis.operation_count;
    if (sn_block_begins_function(at->block, index)) forget(); /* who has asked to be told of it may set shadows */
    if (sn_shadow_ruling->check && sn_shadow_ruling->check(at->block, index) && at->block->analysis.operation_count != before)
        close_group(at->block);
    if (instruction->kind == SN_KIND_SYSCALL) {
        close_group(at->block);
        add_system_call(at);
        return;
    }
    at->flows = sn_block_flows(at->block, index, &at->flow_count);
    const sn_operand *operands = sn_block_operands(at->block, index, &at->operand_count);
    memcpy(at->operands, operands ? operands : at->operands, at->operand_count * sizeof *operands);
    if (instruction->accesses_vary) {
        close_group(at->block);
        open_group(index);
        if (!sn_shadow_saves_state(at->block, index)) add_instruction(at); /* registers; its memory is looked at when it runs */
        close_group(at->block);
        sn_shadow_varying_insert(at->block, index);
        forget();
        return;
    }
    if (!at->flow_count) return;
    const sn_flow *store = only_store(at);
    if (store) {
        close_group(at->block);
        add_store(at, store);
    } else {
        add_instruction(at);
    }
    learn(at);
    if (instruction->kind != SN_KIND_OTHER) close_group(at->block);
}

/** Flags whose shadows somebody may look at behind each instruction. */
static void find_live_flags(sn_block *block, uint8_t live[SN_MOST_INSTRUCTIONS]) {
    const sn_insn *last = &block->insns[block->count - 1];
    unsigned flags = SN_FLAGS_ARITHMETIC;
    if (last->class == SN_INSN_JUMP || last->class == SN_INSN_CALL) flags = sn_flags_live_at(last->target);
    else if (sn_falls_through(last)) flags = sn_flags_live_at(last->pc + last->length);
    else if (last->class == SN_INSN_RETURN || last->class == SN_INSN_CALL_INDIRECT) flags = 0; /* System V ABI: not kept by calls */
    for (unsigned i = block->count; i-- > 0;) {
        const sn_insn *insn = &block->insns[i];
        bool branches = sn_block_instruction(block, i)->kind == SN_KIND_CONDITIONAL;
        if (branches) flags |= sn_flags_live_at(insn->target);
        live[i] = (uint8_t)flags;
        flags &= ~(unsigned)insn->flags_written;
        if (!branches || sn_shadow_ruling->watches_branches) flags |= insn->flags_read;
    }
}

void sn_shadow_instrument(sn_block *block) {
    static uint8_t live[SN_MOST_INSTRUCTIONS];
    if (!sn_shadow_ruling) sn_fail(SN_STATUS_ENGINE, "the tool follows shadows without sn_shadow_follow()");
    find_live_flags(block, live);
    group.is_open = false;
    forget();
    block->lacks_full = sn_shadow_clean_begin(block) && block->is_split;
    for (unsigned index = 0; index < block->count && !block->lacks_full; index++) look_at(&(looking){.block = block, .index = index, .live_flags = live[index] | SN_FLOW_FLAG_DIRECTION});
    close_group(block);
    sn_shadow_clean_insert(block, live);
}

/* ----------------------------------------------------------------------------------------------------- for checks */

sn_value sn_shadow_of_operand(sn_block *block, unsigned number) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, block->analysis.index, &count);
    const sn_operand operand = number < count ? operands[number] : (sn_operand){.place = SN_PLACE_IMMEDIATE, .size = 1};
    register_form form;
    if (operand.place == SN_PLACE_MEMORY && operand.size && operand.size <= 8)
        return memory_shadow(block, number, operand.size, 8, SN_NO_VALUE);
    if (operand.size > 8 || !register_of(&operand, &form)) return sn_constant(block, 0);
    return sn_own_load(block, SN_THREAD_SHADOW + form.start + (operand.place == SN_PLACE_GENERAL && operand.displacement), operand.size);
}

sn_value sn_shadow_of_register(sn_block *block, uint8_t general) {
    return sn_own_load(block, SN_THREAD_SHADOW + SN_SHADOW_GENERAL + 8 * general, 8);
}

sn_value sn_shadow_of_flags(sn_block *block, unsigned flags) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++)
        if (flags >> i & 1) mask |= UINT64_C(0xff) << 8 * i;
    return sn_compute(block, SN_AND, sn_own_load(block, SN_THREAD_SHADOW + SN_SHADOW_FLAGS, 8), sn_constant(block, mask));
}

void sn_shadow_check_registers(sn_block *block, uint32_t general, const sn_shadow_check *check) {
    general &= ((1u << SN_DIRTY_MASK) - 1) & ~(uint32_t)known.registers;
    if (general) {
        sn_shadow_registers_check of = {check, general};
        sn_value found = dirty_registers(block, general, true, SN_NO_VALUE);
        sn_call_fast_if(block, SN_NOT_EQUAL, found, sn_constant(block, 0), (void *)sn_shadow_tell_dirty,
                        (uint64_t)(uintptr_t)sn_arena_copy(&plans, &of, sizeof of));
    }
    if (check->cleans) known.registers |= general;
}

/** Side by side, they are loaded without others: no mask is needed, which would cost more where the program's flags must stay. */
void sn_shadow_check_flags(sn_block *block, unsigned flags, const sn_shadow_check *check) {
    flags &= 0x7f & ~(unsigned)known.flags;
    if (!flags) return;
    unsigned first = (unsigned)__builtin_ctz(flags), side_by_side = flags >> first;
    bool is_plain = side_by_side == 1 || side_by_side == 3;
    sn_value shadow = is_plain ? sn_own_load(block, SN_THREAD_SHADOW + SN_SHADOW_FLAGS + first, side_by_side == 1 ? 1 : 2)
                               : sn_shadow_of_flags(block, flags);
    sn_shadow_check_value(block, shadow, check);
    if (check->cleans) known.flags |= (uint8_t)flags;
}

void sn_shadow_check_value(sn_block *block, sn_value shadow, const sn_shadow_check *check) {
    sn_call_fast_if(block, SN_NOT_EQUAL, shadow, sn_constant(block, 0), (void *)sn_shadow_tell_finding, (uint64_t)(uintptr_t)check);
}
