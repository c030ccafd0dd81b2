/**
 * @fileoverview Ledgers. See ledger.h.
 */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

#include "separate.h"
#include "simulator/memory.h"

/** A function that has begun and not ended. */
typedef struct entry {
    uint64_t frame;        /**< its address */
    calls_bill *bill;      /**< NULL: of the first function of a stack, which is no call; or not known yet */
    uint64_t begin[CALLS_DATA_EVENTS]; /**< the totals then */
    calls_bill_key key;    /**< of its bill */
    uint32_t site;
    bool is_first;         /**< of a stack: no call */
} entry;

typedef struct calls_ledger_stack {
    uint64_t first;        /**< sn_call_frame_first() */
    entry *entries;        /**< by frame */
    size_t count, room;
} calls_ledger_stack;

/* ------------------------------------------------------------------------------------ bills */

void calls_bills_free(calls_bills *bills) {
    sn_table_release(bills);
}

static inline bool is_same_key(const calls_bill_key *a, const calls_bill_key *b) {
    return a->from == b->from && a->target == b->target && a->how == b->how && a->contexts == b->contexts;
}

static calls_bill *bill_in_table(calls_ledger *ledger, const calls_bill_key *key) {
    calls_bill_place *place = sn_table_insert(&ledger->bills, *key, NULL);
    if (place->bill == NULL) {
        place->bill = sn_arena_allocate(&ledger->bill_memory, sizeof *place->bill);
        place->bill->key = *key;
    }
    return place->bill;
}

/** The bill of an entry, made if there is none. Mostly, a site calls what it called last. */
static inline calls_bill *bill_of(calls_ledger *ledger, const calls_bill_key *key) {
    calls_bill **recent = &ledger->recent[(key->from ^ key->target >> 4 ^ key->contexts) % CALLS_RECENT_BILLS];
    if (*recent == NULL || !is_same_key(&(*recent)->key, key)) {
        *recent = bill_in_table(ledger, key);
    }
    return *recent;
}

/* ---------------------------------------------------------------------------------- entries */

/** A call begins, and all is known that is in its bill. */
static inline void find_bill(calls_ledger *ledger, entry *entry) {
    entry->bill = entry->is_first ? NULL : bill_of(ledger, &entry->key);
}

/** A total that was written alone a moment ago, and is to be read alone: several at once would have to wait for the memory. */
static inline uint64_t alone(uint64_t total) {
    __asm__("" : "+r"(total));
    return total;
}

/** References are added to all the time, misses seldom. */
enum { REFERENCES = CACHE_TOTAL_MISSES };

static inline unsigned events_of(const calls_ledger *ledger) {
    return ledger->is_of_branches ? CALLS_BRANCH_EVENTS : CALLS_DATA_EVENTS;
}

/** `count`: events_of(ledger), and a constant where it matters. */
static inline __attribute__((always_inline)) void book(const calls_ledger *ledger, uint64_t *restrict costs, const entry *entry,
                                                       const uint64_t *restrict totals, unsigned count) {
    costs += ledger->first;
    for (unsigned event = 0; event < REFERENCES; event++) {
        costs[event] += alone(totals[event]) - entry->begin[event];
    }
    for (unsigned event = REFERENCES; event < count; event++) {
        costs[event] += totals[event] - entry->begin[event];
    }
}

static inline __attribute__((always_inline)) void begin_at(entry *entry, const uint64_t *totals, unsigned count) {
    for (unsigned event = 0; event < REFERENCES; event++) {
        entry->begin[event] = alone(totals[event]);
    }
    for (unsigned event = REFERENCES; event < count; event++) {
        entry->begin[event] = totals[event];
    }
}

static inline __attribute__((always_inline)) void end_entry(calls_ledger *ledger, entry *entry, const uint64_t *totals) {
    if (entry->is_first) {
        return;
    }
    uint64_t *costs = (entry->bill != NULL ? entry->bill : bill_of(ledger, &entry->key))->costs;
    if (ledger->is_of_branches) {
        book(ledger, costs, entry, totals, CALLS_BRANCH_EVENTS);
    } else {
        book(ledger, costs, entry, totals, CALLS_DATA_EVENTS);
    }
}

/** Those from `frame` on have ended, or were given up together with all of their stack. */
static inline void end_entries(calls_ledger *ledger, calls_ledger_stack *stack, uint64_t frame, bool are_given_up,
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
    new->site = frame->site;
    new->key = (calls_bill_key){.from = frame->site, .target = frame->function, .how = CALLS_BY_CALL};
    new->is_first = frame->address == stack->first;
    if (!sn_call_site_is_call(frame->site)) {
        new->key.from = stack->count == 1 ? 0 : new[-1].key.target;
        new->key.how = sn_call_site_is_signal(frame->site) ? CALLS_BY_SIGNAL : CALLS_BY_JUMP;
    }
    if (ledger->is_of_branches) {
        begin_at(new, totals, CALLS_BRANCH_EVENTS);
    } else {
        begin_at(new, totals, CALLS_DATA_EVENTS);
    }
    if (!calls_separates()) {
        find_bill(ledger, new);
    } else {
        new->bill = NULL; /* calls_ledger_contexts() will know */
    }
}

/* ----------------------------------------------------------------------------------- stacks */

/** Addresses of frames that differ in lower bits only are in one stack. */
enum { NEAR = 20 };

static calls_ledger_stack *find_stack(calls_ledger *ledger, uint64_t first) {
    for (size_t i = 0; i < ledger->stack_count; i++) {
        if (ledger->stacks[i].first == first) {
            return &ledger->stacks[i];
        }
    }
    ledger->stacks = cache_memory_resized(ledger->stacks, ledger->stack_count + 1, sizeof *ledger->stacks);
    ledger->stacks[ledger->stack_count] = (calls_ledger_stack){.first = first};
    return &ledger->stacks[ledger->stack_count++];
}

static __attribute__((noinline)) bool go_to_stack(calls_ledger *ledger, uint64_t frame) {
    uint64_t first = sn_call_frame_first(frame);
    bool is_another = ledger->current == NULL || ledger->current->first != first;
    ledger->near = frame >> NEAR;
    if (is_another) {
        ledger->current = find_stack(ledger, first);
    }
    return is_another;
}

/** The stack that a frame is in. *is_back: another one was told of before. */
static inline calls_ledger_stack *stack_of(calls_ledger *ledger, uint64_t frame, bool *is_back) {
    bool is_near = ledger->near == frame >> NEAR && ledger->current != NULL;
    *is_back = !is_near && go_to_stack(ledger, frame);
    return ledger->current;
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
        if (last->key.target == frame->function && !sn_call_site_is_call(frame->site)) {
            return; /* round a loop of tail calls */
        }
        if (is_found(frame, last)) {
            last->key.target = frame->function;
            last->key.contexts = 0;
            find_bill(ledger, last);
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
    calls_ledger_stack *stack = ledger->current;
    entry *last = stack == NULL || stack->count == 0 ? NULL : &stack->entries[stack->count - 1];
    if (last != NULL && calls_bill_target_context(&last->key) == 0) {
        last->key.contexts = (uint64_t)caller << 32 | context;
        find_bill(ledger, last);
    }
}

void calls_ledger_add(calls_bills *to, const calls_ledger *ledger, const uint64_t *totals) {
    sn_table_prepare(to, sn_table_count(&ledger->bills));
    sn_table_each(&ledger->bills, place) {
        calls_bill *sum = sn_table_insert(to, place->key, NULL);
        for (unsigned event = 0; event < CALLS_SIMULATED_EVENTS; event++) {
            sum->costs[event] += place->bill->costs[event];
        }
    }
    const calls_ledger_stack *stack = ledger->current;
    for (size_t i = 0; stack != NULL && i < stack->count; i++) {
        const entry *entry = &stack->entries[i];
        if (!entry->is_first) {
            book(ledger, sn_table_insert(to, entry->key, NULL)->costs, entry, totals, events_of(ledger));
        }
    }
}

void calls_ledger_zero(calls_ledger *ledger, const uint64_t *totals) {
    sn_table_each(&ledger->bills, place) {
        memset(place->bill->costs, 0, sizeof place->bill->costs);
    }
    for (size_t i = 0; i < ledger->stack_count; i++) {
        for (size_t k = 0; k < ledger->stacks[i].count; k++) {
            begin_at(&ledger->stacks[i].entries[k], totals, events_of(ledger));
        }
    }
}

void calls_ledger_free(calls_ledger *ledger) {
    for (size_t i = 0; i < ledger->stack_count; i++) {
        free(ledger->stacks[i].entries);
    }
    free(ledger->stacks);
    sn_table_release(&ledger->bills);
    sn_arena_release(&ledger->bill_memory);
}
