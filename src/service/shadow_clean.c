/**
 * @fileoverview The clean variant of blocks with shadows: what is run as long as no register that the block has to do with, and no
 * memory that it reads, has a shadow.
 *
 * One look at the word of dirty registers in front of the block says whether it can be run. Then all that instructions do between
 * registers is clean and stays so: nothing is inserted for it. What is left is to look at the shadow of memory that is read, before the
 * instruction: where it is not zero, the block goes on at the same place in its full variant (shadow_compile.c). Memory that is
 * written becomes clean. Which of the tool's checks would find something is clear as well: none.
 *
 * An access that faults is made again, once, in the full variant: there the tool's checks see it first.
 *
 * Where a hook may have given registers shadows, at functions' beginnings, it is looked again. Blocks whose accesses are known only
 * when they happen have no clean variant, unless they are elements of one piece of memory, or a string
 * instruction's: a function looks at the whole range then.
 */
#include "service/shadow_clean.h"

#include "sonde/arena.h"
#include "jit/insert.h"
#include "jit/layout.h"
#include "jit/thread.h"
#include "jit/translate.h"
#include "service/shadow_dead.h"
#include "service/shadow_plan.h"

enum { MOST_BYTES = 64 /* of a memory operand */ };

static sn_arena kept;
static sn_label labels[SN_MOST_INSTRUCTIONS];
static bool begun;

/* ----------------------------------------------------------------------------------------------- what is concerned */

/** Bits of the word of dirty registers. */
static uint64_t bits_of(const sn_operand *operand, bool flags_live) {
    switch (operand->place) {
    case SN_PLACE_GENERAL: return sn_dirty_general(operand->reg);
    case SN_PLACE_VECTOR: return UINT64_C(1) << (SN_DIRTY_VECTOR + operand->reg);
    case SN_PLACE_MASK: return UINT64_C(1) << (SN_DIRTY_MASK + operand->reg);
    case SN_PLACE_X87: return UINT64_C(1) << SN_DIRTY_X87;
    case SN_PLACE_MEMORY: return sn_dirty_general(operand->base) | sn_dirty_general(operand->index);
    case SN_PLACE_FLAGS: return operand->role & SN_ROLE_READ || flags_live ? UINT64_C(1) << SN_DIRTY_FLAGS : 0;
    default: return 0;
    }
}

static uint64_t bits_from(sn_block *block, unsigned index, const uint8_t *live) {
    uint64_t bits = 0;
    for (; index < block->count; index++) {
        unsigned count;
        const sn_operand *operands = sn_block_operands(block, index, &count);
        bool other_flags = !block->insns[index].flags_written; /* than those that `live` is about */
        for (unsigned i = 0; i < count; i++) bits |= bits_of(&operands[i], other_flags || live[index] & SN_FLAGS_ARITHMETIC);
        if (sn_block_flags_read(block, index)) bits |= UINT64_C(1) << SN_DIRTY_FLAGS;
        if (sn_x87_stack_change(&block->insns[index])) bits |= UINT64_C(1) << SN_DIRTY_X87;
        if (sn_block_instruction(block, index)->kind == SN_KIND_SYSCALL) bits |= sn_shadow_system_call_results;
    }
    return bits | UINT64_C(1) << SN_DIRTY_ASKED;
}

static bool is_access(const sn_operand *operand) {
    return operand->place == SN_PLACE_MEMORY && operand->role & SN_ROLE_BOTH && operand->size;
}

/** Of an instruction whose accesses vary: whether they are elements, by a mask, of one piece of memory; if all of that is clean, it does
    not matter which. */
static bool is_masked(const sn_operand *operand) {
    bool is_gathered = operand->index != SN_NO_REGISTER && !operand->scale;
    return operand->is_conditional && operand->is_explicit && !is_gathered;
}

/** Repeated instructions that go over memory to the end of their count. */
static bool is_plain_repeated(sn_block *block, unsigned index, sn_access_shape *shape) {
    sn_operand inputs[3];
    if (!block->insns[index].repeated) return false;
    sn_access_shape_of(&block->insns[index], shape, inputs);
    return shape->kind == SN_SHAPE_REPEATED && (shape->other_operand == SN_SHAPE_NO_OPERAND || shape->other_role == SN_ROLE_WRITTEN);
}

static bool is_fit(sn_block *block, unsigned index) {
    unsigned count, accesses = 0;
    sn_access_shape shape;
    if (is_plain_repeated(block, index, &shape)) return true;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    const sn_instruction *instruction = sn_block_instruction(block, index);
    for (unsigned i = 0; i < count; i++) {
        if (!is_access(&operands[i])) continue;
        accesses++;
        bool must_be_masked = instruction->accesses_vary || (operands[i].is_conditional && operands[i].role & SN_ROLE_WRITTEN);
        if (operands[i].size > MOST_BYTES || (must_be_masked && !is_masked(&operands[i]))) return false;
    }
    return !instruction->accesses_vary || (accesses && !instruction->repeated);
}

bool sn_shadow_clean_begin(sn_block *block) {
    begun = sn_shadow_ruling->clean && sn_in_window(sn_block_address(block));
    for (unsigned index = 0; begun && index < block->count; index++) begun = is_fit(block, index);
    for (unsigned index = 0; begun && index < block->count; index++) {
        sn_insert_before(block, index);
        labels[index] = sn_label_entered(block);
    }
    sn_insert_in(block, begun ? SN_VARIANT_FULL : SN_VARIANT_BOTH);
    return begun;
}

/* ---------------------------------------------------------------------------------------------------------- stores */

static bool writes_register(const sn_operand *operands, unsigned count, uint8_t reg) {
    for (unsigned i = 0; i < count && reg != SN_NO_REGISTER; i++)
        if (operands[i].place == SN_PLACE_GENERAL && operands[i].reg == reg && operands[i].role & SN_ROLE_WRITTEN) return true;
    return false;
}

/** The address of what is written: behind the instruction if possible, which has not faulted then. */
static sn_value written_address(sn_block *block, unsigned index, unsigned number) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count), *to = &operands[number];
    bool changed = writes_register(operands, count, to->base) || writes_register(operands, count, to->index);
    bool is_push = changed && !to->is_explicit && to->base == sn_stack_pointer_register && to->index == SN_NO_REGISTER;
    if (sn_falls_through(&block->insns[index]) && (!changed || is_push)) {
        sn_insert_after(block, index);
        if (is_push) return sn_stack_pointer(block);
    } else {
        sn_insert_before(block, index);
    }
    return sn_operand_address(block, number);
}

static void add_store(sn_block *block, unsigned index, unsigned number, unsigned size) {
    sn_value place = sn_shadow_address(block, sn_shadow_ruling->memory, written_address(block, index, number));
    for (unsigned done = 0; done < size;) {
        unsigned left = size - done, piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        sn_store_bravely(block, place, (int32_t)done, sn_constant(block, 0), piece);
        done += piece;
    }
}

/* ----------------------------------------------------------------------------------------------------- instructions */

static void add_written(sn_block *block, unsigned index, unsigned number, unsigned size) {
    const sn_shadow_write *write = sn_shadow_ruling->written ? sn_shadow_ruling->written(block, index, number) : NULL;
    if (!write) {
        add_store(block, index, number, size);
        return;
    }
    sn_insert_before(block, index);
    sn_call_if_shadow(block, number, sn_shadow_ruling->memory->base, size, (void *)write->function, write->data);
}

/** What a repeated instruction does, for ever. */
typedef struct repeated {
    struct repeated *next;
    uint8_t size_log;
    bool reads, writes;
} repeated;

static repeated *all_repeated;

static const repeated *repeated_of(const sn_access_shape *shape) {
    bool reads = shape->read_operand != SN_SHAPE_NO_OPERAND, writes = shape->other_operand != SN_SHAPE_NO_OPERAND;
    repeated *found = all_repeated;
    while (found && (found->size_log != shape->size_log || found->reads != reads || found->writes != writes)) found = found->next;
    if (found) return found;
    found = sn_arena_allocate(&kept, sizeof *found);
    *found = (repeated){all_repeated, shape->size_log, reads, writes};
    return all_repeated = found;
}

/** Called in front of a repeated instruction: whether it has to be left to the full variant. What it writes becomes clean. */
static SN_FAST uint64_t needs_full_variant(sn_thread *thread, const repeated *of, uint64_t repetitions, uint64_t source, uint64_t destination,
                                           uint64_t stack_pointer) {
    enum { MOST_BITS = 40 };
    const sn_shadow_memory *memory = sn_shadow_ruling->memory;
    uint64_t size = repetitions << of->size_log;
    if (!repetitions) return false;
    if (repetitions >> MOST_BITS || sn_flags_backwards(sn_flags_current())) return true;
    if (of->reads && (!sn_shadow_covers(source, size) || sn_shadow_find_other(memory, source, source + size, 0) != source + size)) return true;
    if (!of->writes) return false;
    if (!sn_shadow_covers(destination, size)) return true;
    if (sn_shadow_ruling->may_write && !sn_shadow_ruling->may_write(thread, destination, size, stack_pointer)) return true;
    sn_shadow_fill(memory, destination, size, 0);
    return false;
}

static void add_repeated(sn_block *block, unsigned index, const sn_access_shape *shape) {
    sn_insert_before(block, index);
    const repeated *of = repeated_of(shape);
    sn_value arguments[] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)of),
                            sn_register_value(block, shape->input_registers[0]), sn_register_value(block, shape->input_registers[1]),
                            sn_register_value(block, shape->input_registers[2]), sn_stack_pointer(block)};
    sn_value result = sn_call_fast(block, (void *)needs_full_variant, 6, arguments);
    sn_leave_if(block, result, labels[index]);
}

/** Elements of memory that a mask chooses, for ever. */
typedef struct masked {
    struct masked *next;
    sn_access_shape shape;
} masked;

static masked *all_masked;

static const masked *masked_of(const sn_access_shape *shape) {
    masked *found = all_masked;
    while (found && (found->shape.size_log != shape->size_log || found->shape.rule != shape->rule || found->shape.lanes_log != shape->lanes_log ||
                     found->shape.elements_log != shape->elements_log))
        found = found->next;
    if (found) return found;
    found = sn_arena_allocate(&kept, sizeof *found);
    *found = (masked){all_masked, *shape};
    return all_masked = found;
}

static SN_FAST uint64_t ones(unsigned count) { return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

/** The elements that are accessed, each a bit. */
static SN_FAST uint64_t elements_of(const sn_access_shape *shape, uint64_t mask) {
    uint64_t active = mask & ones(1u << shape->lanes_log), packed = 0;
    if (shape->rule == SN_LANES_TOGETHER) return active ? ones(1u << shape->elements_log) : 0;
    if (shape->rule == SN_LANES_EACH) return active;
    for (; active; active &= active - 1) packed = packed << 1 | 1;
    return packed;
}

/** Called in front of a masked access: whether not all elements that it concerns are clean. */
static SN_FAST uint64_t has_unclean_elements(sn_thread *thread, const masked *of, uint64_t address, uint64_t mask) {
    const sn_access_shape *shape = &of->shape;
    uint64_t elements = elements_of(shape, mask), size = UINT64_C(1) << shape->size_log;
    (void)thread;
    if (!sn_shadow_covers(address, MOST_BYTES)) return true;
    const uint8_t *shadow = sn_shadow_at(sn_shadow_ruling->memory, address);
    for (; elements; elements >>= 1, shadow += size)
        for (uint64_t i = 0; i < size && elements & 1; i++)
            if (shadow[i]) return true;
    return false;
}

/** Whether it was one. */
static bool add_masked(sn_block *block, unsigned index) {
    sn_access_shape shape;
    sn_operand inputs[3];
    if (!sn_block_instruction(block, index)->accesses_vary) return false;
    sn_access_shape_of(&block->insns[index], &shape, inputs);
    if (shape.kind != SN_SHAPE_LANES || (shape.rule == SN_LANES_EACH && shape.lanes_log != shape.elements_log)) return false;
    sn_insert_before(block, index);
    sn_value arguments[] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)masked_of(&shape)),
                            sn_input_value(block, &inputs[0]), sn_input_value(block, &inputs[1])};
    sn_leave_if(block, sn_call_fast(block, (void *)has_unclean_elements, 4, arguments), labels[index]);
    return true;
}

static void add_accesses(sn_block *block, unsigned index, bool looks) {
    unsigned count;
    sn_access_shape shape;
    if (is_plain_repeated(block, index, &shape)) {
        add_repeated(block, index, &shape);
        return;
    }
    if (add_masked(block, index)) return;
    uint64_t base = sn_shadow_ruling->memory->base;
    sn_operand operands[SN_MOST_OPERANDS];
    const sn_operand *found = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) operands[i] = found[i];
    for (unsigned i = 0; i < count && looks; i++) {
        if (!is_access(&operands[i]) || operands[i].role == SN_ROLE_WRITTEN) continue;
        sn_insert_before(block, index);
        sn_leave_if_shadow(block, i, base, operands[i].size, labels[index]);
    }
    for (unsigned i = 0; i < count; i++) {
        if (!is_access(&operands[i]) || operands[i].role != SN_ROLE_WRITTEN) continue;
        if (!operands[i].is_conditional) {
            add_written(block, index, i, operands[i].size);
            continue;
        }
        sn_insert_before(block, index); /* what is written of it is not known: all of it has to be clean before */
        sn_leave_if_shadow(block, i, base, operands[i].size, labels[index]);
    }
}

void sn_shadow_clean_insert(sn_block *block, const uint8_t *live) {
    if (!begun) return;
    sn_insert_in(block, SN_VARIANT_CLEAN);
    for (unsigned index = 0; index < block->count; index++) {
        if (!index || sn_block_begins_function(block, index)) {
            uint64_t bits = bits_from(block, index, live), dead = sn_shadow_dead_at(block, index);
            sn_insert_before(block, index);
            sn_leave_if_bits(block, SN_THREAD_SHADOW + SN_SHADOW_DIRTY, bits, labels[index], (void *)sn_shadow_clean_low, dead);
        }
        add_accesses(block, index, sn_shadow_ruling->clean(block, index));
    }
    block->analysis.has_clean = true;
    sn_insert_in(block, SN_VARIANT_BOTH);
}
