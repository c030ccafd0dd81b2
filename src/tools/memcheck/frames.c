/**
 * @fileoverview What the stack pointer leaves behind has no value any more; and what it takes anew has none yet. See frames.h.
 *
 * Where the stack shrinks, all that it gives up becomes undefined at once: the frame that is taken away, what pops and returns have
 * read. So the memory below the stack pointer is undefined already when the next frame is made of it, and code that reads there, which is
 * an error, is found by the shadow of what it reads. How far down that holds, each thread has in a slot: a frame that reaches below is
 * made undefined as a whole.
 *
 * Where the stack pointer is set to what a register holds, it may have gone to another stack: then nothing is given up, and only what is
 * below it counts as unknown.
 *
 * With --track-origins=yes each frame is given its origin where it is made, too.
 */
#include "frames.h"

#include <stdlib.h>

#include "memcheck.h"
#include "origins.h"

#define ALL_BITS 0xff
#define RED_ZONE 128 /* System V ABI for x86-64, 3.2.2 */
/** The stack pointer does not move by more at once, but to another stack. */
#define LARGEST_FRAME (UINT64_C(8) << 20)
/** The first thread's stack is its own as far as it is mapped: so much of it is made undefined at once. */
#define AHEAD (UINT64_C(16) << 10)

enum { WORD = 8, MOST_WORDS = 16 /* that are written one by one in the code */ };

static const sn_shadow_memory *shadow; /* NULL: nothing is followed */
static const sn_shadow_memory *made_where; /* the origins; NULL: they are not kept */
static sn_slot low_slot;               /* from there up to the stack pointer, all that is not in use is undefined */
static sn_slot floor_slot;             /* where the first thread's stack begins; of other threads UINT64_MAX */

/* ------------------------------------------------------------------------------------------------ called functions */

static SN_FAST void fill(uint64_t start, uint64_t end) {
    if (start < end && end - start <= LARGEST_FRAME && sn_shadow_covers(start, end - start)) {
        sn_shadow_fill(shadow, start, end - start, ALL_BITS);
    }
}

/** A frame is about to be made that reaches below what is known. */
static SN_FAST void reached_down(sn_thread *thread, uint64_t data, uint64_t to, uint64_t low, uint64_t stack_pointer) {
    uint64_t bottom = *sn_slot_of(thread, floor_slot), start = to;
    (void)data;
    if (bottom <= to) {
        start = to - bottom > AHEAD ? to - AHEAD : bottom;
    }
    fill(start, low < stack_pointer ? low : stack_pointer);
    *sn_slot_of(thread, low_slot) = start;
}

/** The same, where it is known what made it. */
static SN_FAST void made(sn_thread *thread, uint64_t origin, uint64_t to, uint64_t before, uint64_t stack_pointer) {
    (void)thread, (void)stack_pointer;
    if (before - to <= LARGEST_FRAME && sn_shadow_covers(to, before - to)) {
        sn_shadow_fill_origin(to, before - to, (mc_origin)origin);
        sn_shadow_fill(shadow, to, before - to, ALL_BITS);
    }
}

/** The same of a function that goes on to use what lies below the stack pointer. */
static SN_FAST void made_and_below(sn_thread *thread, uint64_t origin, uint64_t to, uint64_t before, uint64_t stack_pointer) {
    made(thread, origin, to - RED_ZONE, before, stack_pointer);
}

/** A frame is made that is too large to be given its origin in the code. */
static SN_FAST void made_large(uint64_t origin, uint64_t to, uint64_t size) {
    if (sn_shadow_covers(to, size)) {
        sn_shadow_fill_origin(to, size, (mc_origin)origin);
    }
}

/** The stack pointer has gone up, behind a frame. */
static SN_FAST void went_up(sn_thread *thread, uint64_t data, uint64_t to, uint64_t before, uint64_t stack_pointer) {
    (void)thread, (void)data, (void)stack_pointer;
    fill(before, to);
}

/** It was set. */
static SN_FAST void was_set(sn_thread *thread, uint64_t origin, uint64_t to, uint64_t before, uint64_t stack_pointer) {
    if (to < before) {
        made(thread, origin, to, before, stack_pointer);
    }
    *sn_slot_of(thread, low_slot) = to;
}

/* ------------------------------------------------------------------------------------- what becomes of the pointer */

typedef enum move_kind {
    STAYS,
    GROWS,    /* by a constant */
    SHRINKS,  /* by a constant */
    POPS,     /* a word is read, and given up */
    RETURNS,  /* the same, to the caller */
    LEAVES,   /* goes up behind the frame, by a register that points to it */
    IS_SET,
} move_kind;

typedef struct move {
    move_kind kind;
    uint64_t amount;
} move;

static bool is_pointer(const sn_operand *operand) {
    return operand->place == SN_PLACE_GENERAL && operand->reg == sn_shadow_stack_register();
}

/** Of an instruction that names the stack pointer as its result. */
static move explicit_move(sn_block *block, unsigned index, const sn_operand *operands) {
    unsigned count;
    const sn_flow *flows = sn_block_flows(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        const sn_flow *flow = &flows[i];
        bool is_sum = (flow->kind == SN_FLOW_ADD || flow->kind == SN_FLOW_SUBTRACT) && flow->source_count == 2 && flow->destination.flags == 0;
        if (!is_sum || flow->destination.operand == SN_FLOW_NO_OPERAND || flow->sources[0].operand == SN_FLOW_NO_OPERAND ||
            flow->sources[1].operand == SN_FLOW_NO_OPERAND) {
            continue;
        }
        const sn_operand *to = &operands[flow->destination.operand], *by = &operands[flow->sources[1].operand];
        if (is_pointer(to) && to->size == WORD && is_pointer(&operands[flow->sources[0].operand]) && by->place == SN_PLACE_IMMEDIATE) {
            int64_t up = flow->kind == SN_FLOW_ADD ? by->immediate : -by->immediate;
            return up < 0 ? (move){GROWS, (uint64_t)-up} : (move){SHRINKS, (uint64_t)up};
        }
    }
    return (move){IS_SET, 0};
}

/** Pushes and calls fill what they take. */
static move move_of(sn_block *block, unsigned index) {
    unsigned count, kind = sn_block_instruction(block, index)->kind;
    sn_operand operands[16];
    const sn_operand *found = sn_block_operands(block, index, &count);
    bool is_written = false, is_named = false, pops = false, leaves = false;
    if (kind == SN_KIND_RETURN) {
        return (move){RETURNS, WORD};
    }
    for (unsigned i = 0; i < count && i < sizeof operands / sizeof operands[0]; i++) {
        const sn_operand *operand = &operands[i];
        operands[i] = found[i];
        bool is_result = is_pointer(operand) && (operand->role & SN_ROLE_WRITTEN) != 0;
        bool is_word = operand->place == SN_PLACE_MEMORY && !operand->is_explicit && operand->role == SN_ROLE_READ && operand->size == WORD;
        is_written |= is_result;
        is_named |= is_result && operand->is_explicit;
        pops |= is_word && operand->base == sn_shadow_stack_register();
        leaves |= is_word && operand->base != sn_shadow_stack_register();
    }
    if (kind != SN_KIND_OTHER || !is_written) {
        return (move){STAYS, 0};
    }
    if (is_named && !pops) {
        return explicit_move(block, index, operands);
    }
    return is_named ? (move){IS_SET, 0} : (move){pops ? POPS : leaves ? LEAVES : STAYS, WORD};
}

/* ------------------------------------------------------------------------------------------------------ inserting */

/** At the chosen place: `words` words from `offset` bytes above the stack pointer on become undefined. */
static void give_up(sn_block *block, int32_t offset, unsigned words) {
    sn_value place = sn_shadow_address(block, shadow, sn_stack_pointer(block));
    for (unsigned i = 0; i < words; i++) {
        sn_store(block, place, offset + (int32_t)(WORD * i), sn_constant(block, UINT64_MAX), WORD);
    }
}

/** At the chosen place: so many bytes below the stack pointer were made by `origin`. */
static void give_origin(sn_block *block, uint64_t size, mc_origin origin) {
    if (size % WORD != 0 || size > MOST_WORDS * WORD) {
        sn_value to = sn_compute(block, SN_ADD, sn_stack_pointer(block), sn_constant(block, -size));
        sn_call_fast(block, (void *)made_large, 3, (sn_value[]){sn_constant(block, origin), to, sn_constant(block, size)});
        return;
    }
    sn_value granule = sn_compute(block, SN_AND, sn_stack_pointer(block), sn_constant(block, -(uint64_t)WORD));
    sn_value place = sn_shadow_address(block, made_where, granule), both = sn_constant(block, (uint64_t)origin << 32 | origin);
    for (uint64_t at = WORD; at <= size; at += WORD) {
        sn_store(block, place, -(int32_t)at, both, WORD);
    }
}

/** In front of the instruction: nobody needs the flags there. */
static void insert_growth(sn_block *block, unsigned index, uint64_t amount, mc_origin origin) {
    sn_insert_before(block, index);
    sn_value to = sn_compute(block, SN_ADD, sn_stack_pointer(block), sn_constant(block, -amount));
    sn_call_fast_if(block, SN_BELOW, to, sn_slot_load(block, low_slot), (void *)reached_down, 0);
    if (made_where != NULL) {
        give_origin(block, amount, origin);
    }
}

static void insert_call(sn_block *block, unsigned index, sn_condition condition, void *function, uint64_t data) {
    sn_insert_before(block, index);
    sn_value before = sn_stack_pointer(block);
    sn_insert_after(block, index);
    sn_call_fast_if(block, condition, sn_stack_pointer(block), before, function, data);
}

static void insert_shrinking(sn_block *block, unsigned index, uint64_t amount) {
    if (amount % WORD == 0 && amount <= MOST_WORDS * WORD) {
        sn_insert_before(block, index);
        give_up(block, 0, (unsigned)(amount / WORD));
    } else {
        insert_call(block, index, SN_NOT_EQUAL, (void *)went_up, 0);
    }
}

/** Several pops in a row, and the return behind them, are one. */
static void insert_pop(sn_block *block, unsigned index, bool returns, unsigned *pops) {
    bool is_last = index + 1 == sn_block_size(block);
    move_kind next = is_last ? STAYS : move_of(block, index + 1).kind;
    if (returns) {
        sn_insert_before(block, index);
        give_up(block, -(int32_t)(WORD * *pops), *pops + 1);
        *pops = 0;
    } else if (++*pops == MOST_WORDS || (next != POPS && next != RETURNS)) {
        sn_insert_after(block, index);
        give_up(block, -(int32_t)(WORD * *pops), *pops);
        *pops = 0;
    }
}

/** Whether the function that the block has come to keeps data below the stack pointer; blocks are made one at a time. */
static bool is_below_stack;

/** Nothing is in it yet, whatever other functions had there. */
static void look_at_beginning(sn_block *block, unsigned index) {
    bool begins = sn_block_begins_function(block, index);
    if (index == 0 || begins) {
        is_below_stack = begins && sn_block_uses_below_stack(block, index);
    }
    if (!begins || !is_below_stack) {
        return;
    }
    sn_insert_before(block, index);
    give_up(block, -RED_ZONE, RED_ZONE / WORD);
    if (made_where != NULL) {
        give_origin(block, RED_ZONE, mc_origin_of_stack(sn_block_instruction(block, index)->address));
    }
}

static void insert(sn_block *block, unsigned index, unsigned *pops) {
    move of = move_of(block, index);
    mc_origin origin = made_where != NULL && (of.kind == GROWS || of.kind == IS_SET) ?
        mc_origin_of_stack(sn_block_instruction(block, index)->address) : 0;
    look_at_beginning(block, index);
    switch (of.kind) {
    case STAYS: break;
    case GROWS:
        if (is_below_stack) {
            insert_call(block, index, SN_BELOW, (void *)made_and_below, origin);
        } else {
            insert_growth(block, index, of.amount, origin);
        }
        break;
    case SHRINKS: insert_shrinking(block, index, of.amount); break;
    case POPS: insert_pop(block, index, false, pops); break;
    case RETURNS: insert_pop(block, index, true, pops); break;
    case LEAVES: insert_call(block, index, SN_NOT_EQUAL, (void *)went_up, 0); break;
    case IS_SET: insert_call(block, index, SN_NOT_EQUAL, (void *)was_set, origin); break;
    }
}

void mc_frames_insert(sn_block *block) {
    unsigned pops = 0;
    if (shadow == NULL || !sn_shadow_covers(sn_block_address(block), 1)) {
        return;
    }
    for (unsigned index = 0; index < sn_block_size(block); index++) {
        insert(block, index, &pops);
    }
}

/* -------------------------------------------------------------------------------------------------------- threads */

static void note_start(const sn_memory_range *range, void *data) {
    if (range->path == NULL) {
        *(uint64_t *)data = range->start;
    }
}

void mc_frames_thread_start(sn_thread *thread) {
    static bool has_first;
    if (shadow == NULL) {
        return;
    }
    uint64_t pointer = sn_thread_stack_pointer(thread), start = UINT64_MAX;
    if (!has_first) { /* that of another may be a part of a mapping with other things in it */
        sn_memory_visit_within(pointer - 1, pointer, note_start, &start);
    }
    has_first = true;
    *sn_slot_of(thread, low_slot) = pointer;
    *sn_slot_of(thread, floor_slot) = start;
}

void mc_frames_init(const sn_shadow_memory *definedness, const sn_shadow_memory *origins) {
    shadow = definedness;
    made_where = origins;
    low_slot = sn_slot_new();
    floor_slot = sn_slot_new();
}
