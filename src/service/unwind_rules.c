/**
 * @fileoverview Steps of unwinding, made when they are first needed, and the memory of threads: see unwind.h. In the engine.
 */
#include <string.h>
#include <sys/mman.h>

#include "sonde/arena.h"
#include "sonde/hash.h"
#include "base/log.h"
#include "sonde/vector.h"
#include "guest/space.h"
#include "jit/runtime.h"
#include "service/contexts.h"
#include "service/hooks.h"
#include "service/locate.h"
#include "service/unwind.h"

static sn_arena arena;
static SN_VECTOR(sn_unwind_step *) steps;
static sn_hash calls;   /**< return address -> address of the call */
static sn_hash watched; /**< return addresses */

/* ------------------------------------------------------------------------------------------------- the table */

static uint64_t *new_table(uint64_t mask) {
    uint64_t *table = sn_pages_allocate((mask + 2) * sizeof *table);
    table[0] = mask;
    return table;
}

static void enter(uint64_t *table, const sn_unwind_step *step) {
    uint64_t at = sn_unwind_place_of(step->key);
    while (table[1 + (at & table[0])]) at++;
    __atomic_store_n(&table[1 + (at & table[0])], (uint64_t)step, __ATOMIC_RELEASE);
}

/** The old table stays: a thread may be looking at it. All of them together are smaller than the last one. */
static void grow(void) {
    uint64_t *table = new_table(2 * sn_unwind_steps[0] + 1);
    for (size_t i = 0; i < steps.count; i++)
        if (steps.items[i]->key) enter(table, steps.items[i]);
    __atomic_store_n(&sn_unwind_steps, table, __ATOMIC_RELEASE);
}

/* ----------------------------------------------------------------------------------------------------- steps */

static sn_unwind_rule rule_of(uint64_t address, bool is_exact) {
    sn_unwind_rule rule;
    sn_region region;
    /* A call may be the last instruction of its function: what follows belongs to another one (DWARF 5, 6.4.4). */
    if (sn_locate_unwinding(is_exact ? address : address - 1, &sn_unwind_registers_here, &rule)) return rule;
    bool is_code = sn_space_find(address, &region) && region.protection & PROT_EXEC;
    return is_code ? sn_unwind_by_frame_pointer : (sn_unwind_rule){.is_outermost = true};
}

static void find_function(sn_unwind_step *step, uint64_t address) {
    sn_function_range function;
    if (!sn_locate_function(address, &function)) return;
    step->function = function.start;
    step->is_a_piece = function.is_a_piece;
}

/** Whether the step is plain, and then its distances: within the frame, so that what is read lies between two stack pointers. */
static void simplify(sn_unwind_step *step) {
    const sn_unwind_rule *rule = &step->rule;
    bool saves_frame = rule->frame_place == SN_UNWIND_AT_FRAME;
    int64_t returns = (int64_t)rule->offset + rule->return_offset, frame = (int64_t)rule->offset + rule->frame_offset;
    if (rule->by_frame_pointer || rule->is_loaded || rule->is_signal || rule->is_outermost) return;
    if (rule->return_place != SN_UNWIND_AT_FRAME || rule->frame_place == SN_UNWIND_AT_STACK) return;
    if (returns < 0 || returns >= rule->offset || returns % 8) return;
    if (saves_frame && (frame < 0 || frame >= returns || frame % 8)) return;
    step->is_plain = true;
    step->return_offset = (int32_t)returns;
    step->frame_offset = saves_frame ? (int32_t)frame : -1;
}

/** Under sn_jit_lock. */
static sn_unwind_step *make_step(uint64_t key) {
    sn_unwind_step *known = sn_unwind_find(key);
    if (known) return known;
    uint64_t address = key >> 1;
    bool is_exact = key & 1;
    sn_unwind_step *step = sn_arena_allocate(&arena, sizeof *step);
    *step = (sn_unwind_step){.key = key, .rule = rule_of(address, is_exact)};
    find_function(step, address - !is_exact);
    simplify(step);
    if (!is_exact) step->site = sn_context_site(sn_hash_get(&calls, address, address - 1), address);
    *sn_vector_add(&steps) = step;
    if (steps.count > sn_unwind_steps[0] / 2) grow();
    else enter((uint64_t *)sn_unwind_steps, step);
    return step;
}

void sn_unwind_note_call(uint64_t address, uint64_t return_address) { sn_hash_set(&calls, return_address, address); }

bool sn_unwind_is_watched(uint64_t address) { return sn_hash_find(&watched, address) != NULL; }

void sn_unwind_watch(uint64_t return_address) {
    sn_lock_acquire(&sn_jit_lock);
    sn_unwind_step *step = make_step(sn_unwind_key(return_address, false));
    bool was_watched = sn_unwind_is_watched(return_address);
    sn_hash_set(&watched, return_address, 1);
    sn_lock_release(&sn_jit_lock);
    if (!was_watched) sn_code_discard(return_address, return_address + 1);
    __atomic_store_n(&step->is_watched, true, __ATOMIC_RELEASE);
}

void sn_unwind_forget(uint64_t start, uint64_t end) {
    bool has_forgotten = false;
    for (size_t i = 0; i < steps.count; i++) {
        sn_unwind_step *step = steps.items[i];
        if ((step->key >> 1) - start >= end - start) continue;
        __atomic_store_n(&step->key, 0, __ATOMIC_RELAXED);
        has_forgotten = true;
    }
    if (has_forgotten) __atomic_fetch_add(&sn_unwind_forgotten, 1, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------------------------------------- unwinding */

/** Find the part of memory that the stack is in now; false if it is known. */
static bool look_for_stack(sn_unwind_chain *chain) {
    sn_region region;
    uint64_t losses = __atomic_load_n(sn_space_losses, __ATOMIC_ACQUIRE);
    bool has_lost = chain->losses != losses;
    if (has_lost) {
        memset(chain->parts, 0, sizeof chain->parts);
        chain->count = 0; /* what its checks look at may be gone */
    }
    chain->losses = losses;
    if (!sn_space_find(chain->missing_stack, &region) || !(region.protection & PROT_READ)) return has_lost;
    if (region.start == chain->parts[0].low && region.end == chain->parts[0].high) return has_lost;
    chain->parts[1] = chain->parts[0];
    chain->parts[0].low = region.start;
    chain->parts[0].high = region.end;
    return true;
}

uint32_t sn_unwind_slowly(sn_thread *thread, const sn_unwind_start *start) {
    /* Each turn finds a step, or another part; more of these than there may be in one chain do not fit. */
    enum { MOST_TURNS = SN_UNWIND_MOST_FRAMES + 16 };
    sn_unwind_chain *chain = sn_unwind_chain_of(thread);
    uint32_t context = 0;
    chain->missing_stack = start->stack;
    for (unsigned turn = 0; turn < MOST_TURNS && !sn_unwind(thread, start, &context); turn++) {
        if (chain->missing) {
            sn_lock_acquire(&sn_jit_lock);
            make_step(chain->missing);
            sn_lock_release(&sn_jit_lock);
        } else if (!look_for_stack(chain)) {
            if (chain->stack_end == chain->missing_stack) break;
            chain->stack_end = chain->missing_stack;
        }
    }
    return context;
}

uint32_t sn_unwind_here(sn_thread *thread) {
    sn_unwind_start start = sn_unwind_start_of(thread);
    return sn_unwind_slowly(thread, &start);
}

/* ------------------------------------------------------------------------------------------------- beginning */

void sn_unwind_init(void) {
    enum { FIRST_MASK = 1023 };
    sn_unwind_slot = sn_slot_new();
    sn_hook_unwound_stack_slot = sn_slot_new();
    sn_hook_unwound_frame_slot = sn_slot_new();
    sn_unwind_steps = new_table(FIRST_MASK);
}

void sn_unwind_thread_begins(sn_thread *thread) {
    thread->slots[sn_unwind_slot] = (uint64_t)sn_contexts_reserve(sizeof(sn_unwind_chain));
}

void sn_unwind_thread_ends(sn_thread *thread) {
    munmap((void *)thread->slots[sn_unwind_slot], sizeof(sn_unwind_chain));
    thread->slots[sn_unwind_slot] = 0;
}
