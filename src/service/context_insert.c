/**
 * @fileoverview The code that keeps shadow stacks: what is inserted at calls, returns, function entries, stubs, and where the
 * stack pointer is replaced.
 *
 * A function's entry compares the last frame's target with itself: one check for tail calls, stubs, thunks that return into
 * functions, and whatever else arrives otherwise than by an ordinary call, so that jumps need no code. Linked direct calls
 * pass over it: they have just pushed the frame. An address is a
 * function's entry if a symbol says so, or if no symbol covers it and it is called.
 * Owns the set of known entries and the numbers of call sites; all under sn_jit_lock.
 */
#include "sonde/arena.h"
#include "sonde/hash.h"
#include "sonde/vector.h"
#include "base/log.h"
#include "guest/loader.h"
#include "jit/insert.h"
#include "jit/trace.h"
#include "jit/versions.h"
#include "service/contexts.h"
#include "service/hooks.h"
#include "service/locate.h"

static sn_call_site *sites;
static uint32_t site_count = SN_SITE_FIRST;
static sn_hash site_numbers; /**< by address */

static sn_hash called;       /**< addresses that are called */
static size_t start_count;

/** Where the function whose code was translated last begins and ends. */
static sn_function_range around;

uint32_t sn_context_site(uint64_t address, uint64_t return_address) {
    bool is_new;
    uint64_t *number = sn_hash_insert(&site_numbers, address, &is_new);
    if (!is_new) return (uint32_t)*number;
    if (site_count < SN_MOST_SITES) site_count++;
    sites[site_count - 1] = (sn_call_site){.address = address, .return_address = return_address};
    return (uint32_t)(*number = site_count - 1);
}

/* ------------------------------------------------------------------------------------------- known entries */

/** A table that threads read while it is filled: see sn_shadow_shared.starts. */
static uint64_t *new_starts(uint64_t mask) {
    uint64_t *table = sn_pages_allocate((mask + 2) * sizeof *table);
    table[0] = mask;
    return table;
}

static bool enter(uint64_t *table, uint64_t address) {
    for (uint64_t at = sn_hash_mix(address) & table[0];; at = (at + 1) & table[0]) {
        if (table[1 + at] == address) return false;
        if (table[1 + at] != 0) continue;
        __atomic_store_n(&table[1 + at], address, __ATOMIC_RELAXED);
        return true;
    }
}

/** The old table stays: a thread may be looking at it. All of them together are smaller than the last one. */
static void grow_starts(void) {
    uint64_t *old = sn_shadow.starts, *table = new_starts(2 * old[0] + 1);
    for (uint64_t at = 0; at <= old[0]; at++)
        if (old[1 + at] != 0) enter(table, old[1 + at]);
    __atomic_store_n(&sn_shadow.starts, table, __ATOMIC_RELEASE);
}

static void note_start(uint64_t address) {
    if (enter(sn_shadow.starts, address)) start_count++;
    if (start_count > sn_shadow.starts[0] / 2) grow_starts();
}

void sn_contexts_insert_init(void) {
    enum { FIRST_MASK = 4095 };
    sites = sn_contexts_reserve(SN_MOST_SITES * sizeof *sites);
    sn_shadow.sites = sites;
    sn_shadow.starts = new_starts(FIRST_MASK);
}

/** Whether the block that is being made is so because a call led there. */
static bool is_arrived_at_by_call(uint64_t address) {
    const sn_call_frame *frame = sn_call_frame_of(sn_thread_current());
    return frame->target == address && frame->slot != UINT64_MAX;
}

/** A block that goes on, behind a jump, in code without a symbol which is not known to be called. */
typedef struct jump_inside {
    uint64_t block;   /**< where that begins */
    uint32_t next;    /**< of those with a jump to the same address; 0: none */
} jump_inside;
static SN_VECTOR(jump_inside) jumps_inside; /**< from 1 */
static sn_hash first_jump_inside;           /**< by where they lead */

static void note_jump_inside(uint64_t block, uint64_t target) {
    if (jumps_inside.count == 0) sn_vector_add(&jumps_inside);
    uint64_t *first = sn_hash_insert(&first_jump_inside, target, NULL);
    if (*first != 0 && jumps_inside.items[*first].block == block) return;
    *sn_vector_add(&jumps_inside) = (jump_inside){.block = block, .next = (uint32_t)*first};
    *first = jumps_inside.count - 1;
}

static void discard_block(uint64_t address) {
    for (unsigned version = 0; version < SN_VERSIONS; version++) {
        uint32_t number = sn_block_find(version, address);
        if (number) sn_block_discard(number);
    }
}

/** The block that was being made when it turned out that it should have been made otherwise; 0: none. */
static uint64_t stale_block;

/** What a jump has led to before, without a symbol, begins a function: blocks that do not know are made anew. Else a later jump
    there would still go on in the function that jumps. */
static void note_called(const sn_block *block, uint64_t target) {
    bool is_new;
    uint64_t *is_called = sn_hash_insert(&called, target, &is_new);
    if (!is_new) return;
    *is_called = 1;
    if (!sn_shadow_is_start(target)) discard_block(target);
    uint64_t *first = sn_hash_find(&first_jump_inside, target);
    for (uint64_t at = first ? *first : 0; at; at = jumps_inside.items[at].next) {
        uint64_t jumps = jumps_inside.items[at].block;
        discard_block(jumps);
        if (jumps == block->address) stale_block = jumps;
    }
    if (first) *first = 0;
}

static void discard_stale(void) {
    if (stale_block) discard_block(stale_block);
    stale_block = 0;
}

static bool is_function_start(const sn_block *block, uint64_t address) {
    bool is_covered = address - around.start < around.end - around.start || sn_locate_function(address, &around);
    if (is_covered) return (around.start == address && !around.is_stub && !around.is_a_piece) || sn_hooks_at(address);
    around = (sn_function_range){0};
    if (sn_hooks_at(address) || address == sn_program_current.program_entry) return true;
    if (sn_hash_find(&called, address)) return true;
    return address == block->address && is_arrived_at_by_call(address);
}

/* ------------------------------------------------------------------------------------------------ insertion */

#define FRAME ((int32_t)sizeof(sn_call_frame))

static sn_value constant(sn_block *block, uint64_t value) { return sn_constant(block, value); }

/** A field of the last frame, `end` being behind it. */
#define LAST(field) ((int32_t)offsetof(sn_call_frame, field) - FRAME)

/** The traces that are told of frames. */
enum { MOST_TOLD = 2 };
static sn_trace *told[MOST_TOLD];
static unsigned told_count;

void sn_contexts_trace(sn_trace *trace) {
    if (told_count == MOST_TOLD || sn_trace_record_size(trace) != sizeof(uint64_t))
        sn_fail(SN_STATUS_ENGINE, "the tool has more than %d traces told of frames, or of other records than words", MOST_TOLD);
    told[told_count++] = trace;
}

void sn_contexts_tell(sn_thread *thread, sn_frame_word kind, uint64_t frame) {
    uint64_t word = (uint64_t)kind << 48 | frame;
    for (unsigned i = 0; i < told_count; i++) sn_trace_write(thread, told[i], &word);
}

static void tell(sn_block *block, sn_value word) {
    for (unsigned i = 0; i < told_count; i++)
        sn_trace_append(block, told[i], 1, &(sn_field){.offset = 0, .size = sizeof(uint64_t), .value = word});
}

static sn_value word_of(sn_block *block, sn_frame_word kind, sn_value value, int64_t more) {
    return sn_compute(block, SN_ADD, value, constant(block, ((uint64_t)kind << 48) + (uint64_t)more));
}

/** Behind the check, which those pass over who call the function: they are told here too. */
static void tell_function(sn_block *block, unsigned index, uint64_t address) {
    if (!told_count) return;
    sn_insert_before(block, index);
    sn_value end = sn_slot_load(block, sn_shadow.slots.end);
    sn_value words[] = {word_of(block, SN_FRAME_BEGAN, end, -FRAME),
                        word_of(block, SN_FRAME_SITE, sn_load(block, end, LAST(site), 4), 0),
                        constant(block, (uint64_t)SN_FRAME_FUNCTION << 48 | address)};
    enum { COUNT = sizeof words / sizeof *words };
    sn_field fields[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        fields[i] = (sn_field){.offset = (uint16_t)(i * sizeof(uint64_t)), .size = sizeof(uint64_t), .value = words[i]};
    for (unsigned i = 0; i < told_count; i++) sn_trace_append_several(block, told[i], COUNT, COUNT, fields);
}

/** Frames may have gone since there were those up to `before`. */
static void tell_if_gone(sn_block *block, sn_value before) {
    if (!told_count) return;
    sn_label is_same = sn_label_new(block);
    sn_value end = sn_slot_load(block, sn_shadow.slots.end);
    sn_branch_if(block, SN_EQUAL, before, end, is_same);
    tell(block, word_of(block, SN_FRAME_GONE, end, 0));
    sn_label_here(block, is_same);
}

static void insert_entry(sn_block *block, unsigned index, uint64_t address) {
    note_start(address);
    block->functions |= UINT64_C(1) << index;
    if (index == 0) sn_insert_at_entry(block);
    else sn_insert_before(block, index);
    sn_value end = sn_slot_load(block, sn_shadow.slots.end);
    sn_insert_check(block, end, LAST(target), constant(block, address), 0, sn_shadow_entered, address);
    sn_hooks_insert_entry(block, index, address);
    tell_function(block, index, address);
}

/** A stub, if it was called: the frame is that of a call to where it leads. */
static void insert_stub(sn_block *block, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    if (!count || !sn_operand_is_readable(&operands[0])) return;
    sn_insert_before(block, index);
    sn_label is_done = sn_label_new(block);
    sn_value end = sn_slot_load(block, sn_shadow.slots.end);
    sn_branch_if(block, SN_NOT_EQUAL, sn_load(block, end, LAST(target), 8), constant(block, block->address), is_done);
    sn_store(block, end, LAST(target), sn_operand_value(block, 0), 8);
    sn_store(block, end, LAST(context), constant(block, SN_NO_CONTEXT), 4);
    sn_label_here(block, is_done);
}

/** The memory operand of a call or return that is the return address; `count` if there is none. */
static unsigned return_address_operand(sn_block *block, unsigned index, unsigned role, unsigned *count) {
    const sn_operand *operands = sn_block_operands(block, index, count);
    unsigned i = 0;
    while (i < *count && !(operands[i].place == SN_PLACE_MEMORY && !operands[i].is_explicit && operands[i].role == role)) i++;
    return i;
}

/** Whether a call is counted at the call site: it calls one function, or one stub, which leads to one. */
static bool has_one_target(const sn_instruction *call, uint32_t site) {
    return call->kind == SN_KIND_CALL && site < SN_MOST_COUNTED_SITES && !sn_shadow.tells_all;
}

static void insert_call(sn_block *block, unsigned index) {
    const sn_instruction *call = &block->views[index];
    uint64_t behind = call->address + call->length;
    if (call->kind == SN_KIND_CALL && call->target == behind) return; /* it only wants to know where it is */
    unsigned count, slot = return_address_operand(block, index, SN_ROLE_WRITTEN, &count);
    if (slot == count) return;
    if (call->kind == SN_KIND_CALL) note_called(block, call->target);
    uint32_t site = sn_context_site(call->address, behind);
    sn_insert_before(block, index);
    sn_value end = sn_slot_load(block, sn_shadow.slots.end);
    /* The operand of an indirect call comes first: reading it may fault, and then nothing has happened. */
    sn_value target = call->kind == SN_KIND_CALL ? constant(block, call->target) : sn_operand_value(block, 0);
    sn_value address = sn_stack_top(block);
    if (sn_shadow.left && !has_one_target(call, site))
        address = sn_compute(block, SN_ADD, address, constant(block, SN_FRAME_OPEN));
    sn_store(block, end, offsetof(sn_call_frame, slot), address, 8);
    sn_store(block, end, offsetof(sn_call_frame, site), constant(block, site), 8); /* and no context */
    sn_store(block, end, offsetof(sn_call_frame, target), target, 8);
    if (sn_shadow.left)
        sn_store(block, end, offsetof(sn_call_frame, data), sn_counter_load(block, sn_shadow.counter), 8);
    sn_slot_store(block, sn_shadow.slots.end, sn_compute(block, SN_ADD, end, constant(block, sizeof(sn_call_frame))));
    block->call_is_noted = call->kind == SN_KIND_CALL;
}

bool sn_call_counter(const sn_block *block, unsigned index, sn_counter *inclusive) {
    const sn_instruction *call = &block->views[index];
    uint64_t behind = call->address + call->length;
    if (!sn_shadow.left || call->kind != SN_KIND_CALL || call->target == behind) return false;
    uint32_t site = sn_context_site(call->address, behind);
    *inclusive = sn_shadow.inclusive + site;
    return has_one_target(call, site);
}

static void insert_return(sn_block *block, unsigned index) {
    unsigned count, slot = return_address_operand(block, index, SN_ROLE_READ, &count);
    if (slot == count) return;
    sn_insert_before(block, index);
    if (sn_hooks_want_returns()) {
        sn_value address = sn_compute(block, SN_ADD, sn_stack_top(block), constant(block, SN_RETURN_ADDRESS_SIZE));
        sn_hooks_insert_return(block, address);
    }
    sn_value end = sn_slot_load(block, sn_shadow.slots.end);
    sn_insert_check(block, end, LAST(slot), sn_stack_top(block), SN_RETURN_ADDRESS_SIZE, sn_shadow_returned_otherwise, 0);
    if (sn_shadow.left) {
        sn_value cost = sn_compute(block, SN_SUBTRACT, sn_counter_load(block, sn_shadow.counter),
                                   sn_load(block, end, LAST(data), 8));
        sn_count_indexed(block, sn_shadow.inclusive, sn_load(block, end, LAST(site), 4), cost);
    }
    if (told_count) tell(block, word_of(block, SN_FRAME_GONE, end, -FRAME));
    sn_slot_store(block, sn_shadow.slots.end, sn_compute(block, SN_ADD, end, constant(block, (uint64_t)-FRAME)));
}

/** What was called at a lower stack pointer is over. */
static void insert_unwinding(sn_block *block) {
    sn_value before = sn_slot_load(block, sn_shadow.slots.end);
    sn_value arguments[] = {sn_current_thread(block), sn_stack_pointer(block)};
    sn_call_fast(block, (void *)sn_shadow_unwind, 2, arguments);
    tell_if_gone(block, before);
}

static void insert_switch(sn_block *block, unsigned index) {
    sn_insert_before(block, index);
    sn_value old = sn_stack_pointer(block);
    sn_insert_after(block, index);
    sn_label is_known = sn_label_new(block);
    sn_value before = sn_slot_load(block, sn_shadow.slots.end);
    sn_value new = sn_stack_pointer(block);
    sn_value arguments[] = {sn_current_thread(block), old, new};
    sn_value is_new = sn_call_fast(block, (void *)sn_shadow_switched, 3, arguments);
    sn_branch_if(block, SN_EQUAL, is_new, constant(block, 0), is_known);
    sn_call(block, (void *)sn_shadow_new_stack, 3, arguments);
    sn_label_here(block, is_known);
    tell_if_gone(block, before);
}

/** Where the jump of a stub is, `count` if the block is none: what has a name of its own is a function that only goes on to
    another one. */
static unsigned stub_jump(const sn_block *block) {
    unsigned stub = sn_stub_jump(block->insns, block->count);
    bool is_named = stub < block->count && sn_locate_function(block->address, &around) &&
                    around.start == block->address && !around.is_stub;
    return is_named ? block->count : stub;
}

void sn_contexts_insert_before(sn_block *block) {
    if (sn_contexts_are_only_in_one()) sn_contexts_note_calls(block);
    if (!sn_contexts_follow_version(block->version)) return;
    discard_stale();
    unsigned stub = stub_jump(block);
    block->reached_in = sn_call_frame_of(sn_thread_current())->target;
    if (stub < block->count) insert_stub(block, stub);
    for (unsigned i = 0; i < block->count; i++) {
        uint64_t address = block->insns[i].pc;
        bool may_be = i == 0 || address == around.start || address - around.start >= around.end - around.start ||
                      sn_hooks_at(address);
        if (may_be && !(stub < block->count && i <= stub) && is_function_start(block, address))
            insert_entry(block, i, address);
        else if (may_be && i > 0 && block->views[i - 1].kind == SN_KIND_JUMP)
            note_jump_inside(block->address, address);
        sn_stack_change change = sn_stack_change_of(block->insns, i);
        if (change == SN_STACK_REPLACED) insert_switch(block, i);
        if (change == SN_STACK_ADJUSTED) {
            sn_insert_after(block, i);
            insert_unwinding(block);
        }
        if (sn_pops_and_jumps(block->insns, i)) {
            sn_insert_before(block, i);
            insert_unwinding(block);
        }
    }
}

void sn_contexts_insert_after(sn_block *block) {
    if (!sn_contexts_follow_version(block->version)) return;
    for (unsigned i = 0; i < block->count; i++) {
        unsigned kind = block->views[i].kind;
        if (kind == SN_KIND_CALL || kind == SN_KIND_CALL_INDIRECT) insert_call(block, i);
        else if (kind == SN_KIND_RETURN) insert_return(block, i);
    }
}

sn_value sn_current_context(sn_block *block) {
    sn_label is_known = sn_label_new(block);
    if (!sn_contexts_are_on() || sn_contexts_are_unwound())
        sn_fail(SN_STATUS_ENGINE, "the tool asks for contexts without sn_contexts_enable()");
    sn_value context = sn_load(block, sn_slot_load(block, sn_shadow.slots.end), LAST(context), 4);
    sn_branch_if(block, SN_NOT_EQUAL, context, constant(block, SN_NO_CONTEXT), is_known);
    sn_value thread = sn_current_thread(block);
    sn_assign(block, context, sn_call_fast(block, (void *)sn_context_resolve_inserted, 1, &thread));
    sn_label_here(block, is_known);
    return context;
}
