/**
 * @fileoverview Ledgers. See ledger.h.
 */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

#include "simulator/memory.h"

/** A function that has begun and not ended. */
typedef struct entry {
    uint64_t frame;        /**< its address */
    uint64_t from, target; /**< as in a bill */
    uint32_t from_context, target_context;
    uint32_t site;
    uint8_t how;           /**< calls_how */
    bool is_first;         /**< of a stack: no call */
    calls_bill *bill;      /**< its bill, as long as there are so many; NULL: not known */
    size_t bill_count;
    uint64_t begin[CALLS_DATA_EVENTS]; /**< the totals then */
} entry;

typedef struct calls_ledger_stack {
    uint64_t first;        /**< sn_call_frame_first() */
    entry *entries;        /**< by frame */
    size_t count, room;
} calls_ledger_stack;

/* ------------------------------------------------------------------------------------ bills */

static calls_bill_key key_of(const entry *entry) {
    return (calls_bill_key){.from = entry->from, .target = entry->target, .how = entry->how,
                            .from_context = entry->from_context, .target_context = entry->target_context};
}

void calls_bills_add(calls_bills *to, const calls_bills *from) {
    sn_table_each(from, bill) {
        calls_bill *sum = sn_table_insert(to, bill->key, NULL);
        for (unsigned event = 0; event < CALLS_SIMULATED_EVENTS; event++) {
            sum->costs[event] += bill->costs[event];
        }
    }
}

void calls_bills_free(calls_bills *bills) {
    sn_table_release(bills);
}

/* ---------------------------------------------------------------------------------- entries */

/** A call begins: find its bill, if there is one, and have its memory fetched until the call ends. */
static void find_bill(calls_bills *bills, entry *entry) {
    entry->bill = sn_table_find(bills, key_of(entry));
    entry->bill_count = sn_table_count(bills);
    if (entry->bill != NULL) {
        __builtin_prefetch(&entry->bill->costs[CALLS_DATA_EVENTS - 1], 1);
    }
}

static inline void add_differences(uint64_t *restrict costs, const uint64_t *restrict totals, const uint64_t *restrict begin,
                                   unsigned count) {
    for (unsigned event = 0; event < count; event++) {
        costs[event] += totals[event] - begin[event];
    }
}

/** `bill`: the entry's. */
static void book(const calls_ledger *ledger, calls_bill *bill, const entry *entry, const uint64_t *totals) {
    if (ledger->is_of_branches) {
        add_differences(bill->costs + ledger->first, totals, entry->begin, CALLS_BRANCH_EVENTS);
    } else {
        add_differences(bill->costs + ledger->first, totals, entry->begin, CALLS_DATA_EVENTS);
    }
}

static void begin_at(const calls_ledger *ledger, entry *entry, const uint64_t *totals) {
    if (ledger->is_of_branches) {
        memcpy(entry->begin, totals, CALLS_BRANCH_EVENTS * sizeof *totals);
    } else {
        memcpy(entry->begin, totals, CALLS_DATA_EVENTS * sizeof *totals);
    }
}

static inline void end_entry(calls_ledger *ledger, const entry *entry, const uint64_t *totals) {
    calls_bills *bills = &ledger->bills;
    if (!entry->is_first) {
        bool is_known = entry->bill != NULL && entry->bill_count == sn_table_count(bills);
        book(ledger, is_known ? entry->bill : sn_table_insert(bills, key_of(entry), NULL), entry, totals);
    }
}

/** Those from `frame` on have ended, or were given up together with all of their stack. */
static void end_entries(calls_ledger *ledger, calls_ledger_stack *stack, uint64_t frame, bool are_given_up,
                        const uint64_t *totals) {
    while (stack->count > 0 && stack->entries[stack->count - 1].frame >= frame) {
        stack->count--;
        if (!are_given_up) {
            end_entry(ledger, &stack->entries[stack->count], totals);
        }
    }
}

static void push(calls_ledger *ledger, calls_ledger_stack *stack, const cache_frame *frame, const uint64_t *totals) {
    if (stack->count == stack->room) {
        stack->room = 2 * stack->room + 64;
        stack->entries = cache_memory_resized(stack->entries, stack->room, sizeof *stack->entries);
    }
    entry *new = &stack->entries[stack->count++];
    new->frame = frame->address;
    new->from = new->site = frame->site;
    new->target = frame->function;
    new->how = CALLS_BY_CALL;
    new->from_context = new->target_context = 0;
    new->is_first = frame->address == stack->first;
    if (!sn_call_site_is_call(frame->site)) {
        new->from = stack->count == 1 ? 0 : new[-1].target;
        new->how = sn_call_site_is_signal(frame->site) ? CALLS_BY_SIGNAL : CALLS_BY_JUMP;
    }
    begin_at(ledger, new, totals);
    find_bill(&ledger->bills, new);
}

/* ----------------------------------------------------------------------------------- stacks */

/** Addresses of frames that differ in lower bits only are in one stack. */
enum { NEAR = 20 };

static calls_ledger_stack *find_stack(calls_ledger *ledger, uint64_t first) {
    for (ledger->current = 0; ledger->current < ledger->stack_count; ledger->current++) {
        if (ledger->stacks[ledger->current].first == first) {
            return &ledger->stacks[ledger->current];
        }
    }
    ledger->stacks = cache_memory_resized(ledger->stacks, ledger->stack_count + 1, sizeof *ledger->stacks);
    ledger->stacks[ledger->stack_count++] = (calls_ledger_stack){.first = first};
    return &ledger->stacks[ledger->current];
}

/** The stack that a frame is in. *is_back: another one was told of before. */
static calls_ledger_stack *stack_of(calls_ledger *ledger, uint64_t frame, bool *is_back) {
    *is_back = false;
    if (ledger->near == frame >> NEAR && ledger->stack_count > 0) {
        return &ledger->stacks[ledger->current];
    }
    uint64_t first = sn_call_frame_first(frame);
    ledger->near = frame >> NEAR;
    *is_back = ledger->stack_count == 0 || ledger->stacks[ledger->current].first != first;
    return *is_back ? find_stack(ledger, first) : &ledger->stacks[ledger->current];
}

/** Whether what begins in the last entry's frame is what the linker found for it. */
static bool is_found(const cache_frame *frame, const entry *last) {
    return last->frame == frame->address && last->site == frame->site &&
           (sn_call_site_is_call(frame->site) || sn_call_site_is_signal(frame->site));
}

/** What was in the stack from there on, when another one was gone to, did not go on. Handlers, mostly, begin so, on a stack of
    their own, which nobody calls. */
static void begin_anew(calls_ledger *ledger, calls_ledger_stack *stack, const cache_frame *frame, const uint64_t *totals) {
    end_entries(ledger, stack, frame->address, true, totals);
    if (sn_call_site_is_signal(frame->site) && stack->count == 1) {
        stack->count = 0;
    }
}

static void function_begins(calls_ledger *ledger, const cache_frame *frame, const uint64_t *totals) {
    bool is_back;
    calls_ledger_stack *stack = stack_of(ledger, frame->address, &is_back);
    if (is_back) {
        begin_anew(ledger, stack, frame, totals);
    } else {
        end_entries(ledger, stack, frame->address + 1, false, totals);
    }
    entry *last = stack->count == 0 ? NULL : &stack->entries[stack->count - 1];
    if (last != NULL && last->frame == frame->address) {
        if (last->target == frame->function && !sn_call_site_is_call(frame->site)) {
            return; /* round a loop of tail calls */
        }
        if (is_found(frame, last)) {
            last->target = frame->function;
            last->from_context = last->target_context = 0;
            find_bill(&ledger->bills, last);
            return;
        }
        end_entries(ledger, stack, frame->address, false, totals);
    }
    push(ledger, stack, frame, totals);
}

void calls_ledger_frame(calls_ledger *ledger, const cache_frame *frame, const uint64_t *totals) {
    bool is_back;
    if (frame->kind == SN_FRAME_FUNCTION) {
        function_begins(ledger, frame, totals);
    } else {
        calls_ledger_stack *stack = stack_of(ledger, frame->address, &is_back);
        end_entries(ledger, stack, frame->address, frame->kind == SN_FRAME_NEW_STACK, totals);
    }
}

/** Functions that are not told of are executed too: what is known of an entry stays. */
void calls_ledger_contexts(calls_ledger *ledger, uint32_t context, uint32_t caller) {
    calls_ledger_stack *stack = ledger->stack_count == 0 ? NULL : &ledger->stacks[ledger->current];
    entry *last = stack == NULL || stack->count == 0 ? NULL : &stack->entries[stack->count - 1];
    if (last != NULL && last->target_context == 0) {
        last->from_context = caller;
        last->target_context = context;
        find_bill(&ledger->bills, last);
    }
}

void calls_ledger_add(calls_bills *to, const calls_ledger *ledger, const uint64_t *totals) {
    calls_bills_add(to, &ledger->bills);
    if (ledger->stack_count == 0) {
        return;
    }
    const calls_ledger_stack *stack = &ledger->stacks[ledger->current];
    for (size_t i = 0; i < stack->count; i++) {
        const entry *entry = &stack->entries[i];
        if (!entry->is_first) {
            book(ledger, sn_table_insert(to, key_of(entry), NULL), entry, totals);
        }
    }
}

void calls_ledger_zero(calls_ledger *ledger, const uint64_t *totals) {
    calls_bills_free(&ledger->bills);
    for (size_t i = 0; i < ledger->stack_count; i++) {
        for (size_t k = 0; k < ledger->stacks[i].count; k++) {
            ledger->stacks[i].entries[k].bill = NULL;
            begin_at(ledger, &ledger->stacks[i].entries[k], totals);
        }
    }
}

void calls_ledger_free(calls_ledger *ledger) {
    for (size_t i = 0; i < ledger->stack_count; i++) {
        free(ledger->stacks[i].entries);
    }
    free(ledger->stacks);
    calls_bills_free(&ledger->bills);
}
