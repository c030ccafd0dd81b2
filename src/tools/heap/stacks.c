/**
 * @fileoverview Sizes of stacks. See stacks.h.
 */
#include "stacks.h"

#include <sonde/shadow.h>

#include "settings.h"
#include "totals.h"

/** The thread's: bytes that its stack had when it was last looked at; the stack pointer below which it is to be looked at again. */
static sn_slot size_slot, limit_slot;
static uint64_t all_sizes; /**< the sum of all threads' */

void heap_stacks_init(void) {
    size_slot = sn_slot_new();
    limit_slot = sn_slot_new();
}

void heap_stacks_begin(sn_thread *thread) {
    *sn_slot_of(thread, size_slot) = 0;
    *sn_slot_of(thread, limit_slot) = UINT64_MAX;
}

void heap_stacks_end(sn_thread *thread) {
    __atomic_fetch_sub(&all_sizes, *sn_slot_of(thread, size_slot), __ATOMIC_RELAXED);
    *sn_slot_of(thread, size_slot) = 0;
    *sn_slot_of(thread, limit_slot) = 0;
}

void heap_stacks_fork_child(sn_thread *thread) {
    all_sizes = *sn_slot_of(thread, size_slot);
}

/* ---------------------------------------------------------------------------------------- in the code cache */

/** A stack pointer above the start: the thread is about to go to another stack, or to return from the first call. */
SN_FAST static uint64_t size_at(sn_thread *thread, uint64_t stack_pointer) {
    uint64_t start = sn_call_stack_start(thread);
    return start > stack_pointer ? start - stack_pointer : 0;
}

SN_FAST uint64_t heap_stacks_note(sn_thread *thread, uint64_t stack_pointer) {
    if (!heap_current.counts_stacks) {
        return 0;
    }
    uint64_t size = size_at(thread, stack_pointer), *before = sn_slot_of(thread, size_slot);
    uint64_t sum = __atomic_add_fetch(&all_sizes, size - *before, __ATOMIC_RELAXED);
    *before = size;
    return sum;
}

SN_FAST void heap_stacks_allow(sn_thread *thread, uint64_t stack_pointer, uint64_t bytes) {
    *sn_slot_of(thread, limit_slot) = stack_pointer > bytes ? stack_pointer - bytes : 0;
}

SN_FAST static void look(sn_thread *thread, uint64_t data, uint64_t now, uint64_t limit, uint64_t stack_pointer) {
    (void)data;
    (void)limit;
    (void)stack_pointer;
    heap_stack_grew(thread, now);
}

/* ---------------------------------------------------------------------------------------- what is inserted */

typedef enum effect { LEAVES_IT, LOWERS, MAY_LOWER, RAISES } effect;

/** What an instruction does to the stack pointer: by name, or as a push or pop does. */
static effect effect_of(sn_block *block, unsigned index) {
    unsigned count, pushes = 0, is_named = 0, is_written = 0;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        bool is_stack = operand->place == SN_PLACE_GENERAL && operand->reg == sn_shadow_stack_register();
        is_written |= is_stack && (operand->role & SN_ROLE_WRITTEN);
        is_named |= is_stack && (operand->role & SN_ROLE_WRITTEN) && operand->is_explicit;
        pushes |= operand->place == SN_PLACE_MEMORY && !operand->is_explicit && (operand->role & SN_ROLE_WRITTEN);
    }
    return is_named ? MAY_LOWER : !is_written ? LEAVES_IT : pushes ? LOWERS : RAISES;
}

/** Here the stack pointer, and `more` bytes below it, are as low as they get before it rises, or before the block may be left. */
static void compare(sn_block *block, uint64_t more) {
    sn_value at = sn_stack_pointer(block);
    if (more != 0) {
        at = sn_compute(block, SN_SUBTRACT, at, sn_constant(block, more));
    }
    sn_call_fast_if(block, SN_BELOW, at, sn_slot_load(block, limit_slot), (void *)look, 0);
}

void heap_stacks_instrument(sn_block *block) {
    enum { RETURN_ADDRESS = 8 };
    unsigned size = sn_block_size(block);
    bool is_lowered = false;
    for (unsigned i = 0; heap_current.counts_stacks && i < size; i++) {
        unsigned kind = sn_block_instruction(block, i)->kind;
        effect effect = effect_of(block, i);
        bool is_call = kind == SN_KIND_CALL || kind == SN_KIND_CALL_INDIRECT;
        bool is_lowest = is_lowered && (kind != SN_KIND_OTHER || effect == RAISES || effect == MAY_LOWER);
        if (is_call || is_lowest) {
            sn_insert_before(block, i);
            compare(block, is_call ? RETURN_ADDRESS : 0);
            is_lowered = false;
        }
        is_lowered |= kind == SN_KIND_OTHER && (effect == LOWERS || effect == MAY_LOWER);
    }
    if (is_lowered) {
        sn_insert_after(block, size - 1);
        compare(block, 0);
    }
}

/* ------------------------------------------------------------------------------------------------ in the engine */

static void add_stack(sn_thread *thread, void *sum) {
    *(uint64_t *)sum += size_at(thread, sn_thread_stack_pointer(thread));
}

static void add_stacks(void *sum) {
    sn_threads_visit(add_stack, sum);
}

uint64_t heap_stacks_size(void) {
    uint64_t sum = 0;
    if (heap_current.counts_stacks) {
        sn_while_still(add_stacks, &sum);
    }
    return sum;
}
