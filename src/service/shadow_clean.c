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
 * when they happen have no clean variant, unless they are elements of one piece of memory.
 */
#include "service/shadow_clean.h"

#include "jit/insert.h"
#include "jit/layout.h"
#include "jit/translate.h"
#include "service/shadow_plan.h"

enum { MOST_BYTES = 64 /* of a memory operand */ };

static sn_label labels[SN_MOST_INSTRUCTIONS];
static bool begun;

/* ----------------------------------------------------------------------------------------------- what is concerned */

static uint64_t bit_of_general(uint8_t reg) { return reg == SN_NO_REGISTER ? 0 : UINT64_C(1) << reg; }

/** Bits of the word of dirty registers. */
static uint64_t bits_of(const sn_operand *operand, bool flags_live) {
    switch (operand->place) {
    case SN_PLACE_GENERAL: return bit_of_general(operand->reg);
    case SN_PLACE_VECTOR: return UINT64_C(1) << (SN_DIRTY_VECTOR + operand->reg);
    case SN_PLACE_MASK: return UINT64_C(1) << (SN_DIRTY_MASK + operand->reg);
    case SN_PLACE_X87: return UINT64_C(1) << SN_DIRTY_X87;
    case SN_PLACE_MEMORY: return bit_of_general(operand->base) | bit_of_general(operand->index);
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

static bool is_fit(sn_block *block, unsigned index) {
    unsigned count, accesses = 0;
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
        sn_store(block, place, (int32_t)done, sn_constant(block, 0), piece);
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

static void add_accesses(sn_block *block, unsigned index, bool looks) {
    unsigned count;
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
            sn_insert_before(block, index);
            sn_leave_if_bits(block, SN_THREAD_SHADOW + SN_SHADOW_DIRTY, bits_from(block, index, live), labels[index]);
        }
        add_accesses(block, index, sn_shadow_ruling->clean(block, index));
    }
    block->analysis.has_clean = true;
    sn_insert_in(block, SN_VARIANT_BOTH);
}
