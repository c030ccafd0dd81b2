/**
 * @fileoverview Nodes of the tree, found or made: see context_tree.h.
 */
#include "service/context_tree.h"

#include "sonde/spin.h"
#include "service/shadow_stack.h"

sn_context_nodes sn_contexts;

/* Nodes that are looked for are passed in registers: what is stored in halves and loaded as a whole has to wait. */

static uint64_t hash_of(sn_context_node node) {
    const uint64_t by_caller = UINT64_C(0xbf58476d1ce4e5b9), by_site = UINT64_C(0x94d049bb133111eb), all = UINT64_C(0x9e3779b97f4a7c15);
    return (node.function + node.caller * by_caller + node.site * by_site) * all >> 32;
}

static bool is_same(const sn_context_node *known, sn_context_node node) {
    return known->function == node.function && known->caller == node.caller && known->site == node.site;
}

/** Without the lock: 0 if the node is not there, or not found quickly. The table may be replaced meanwhile, and then it may be
    read with the other's mask: what is found is the node all the same, since nodes are compared and stay. */
static uint32_t find_unlocked(sn_context_node node) {
    enum { MOST_PROBES = 32 };
    const uint32_t *table = __atomic_load_n(&sn_contexts.table, __ATOMIC_ACQUIRE);
    uint64_t mask = __atomic_load_n(&sn_contexts.table_mask, __ATOMIC_RELAXED), at = hash_of(node);
    for (unsigned probes = 0; probes < MOST_PROBES; probes++, at++) {
        uint32_t number = __atomic_load_n(&table[at & mask], __ATOMIC_ACQUIRE);
        if (number == 0 || is_same(&sn_contexts.nodes[number], node)) return number;
    }
    return 0;
}

static uint32_t *place_of(sn_context_node node) {
    for (uint64_t at = hash_of(node) & sn_contexts.table_mask;; at = (at + 1) & sn_contexts.table_mask) {
        uint32_t number = sn_contexts.table[at];
        const sn_context_node *found = &sn_contexts.nodes[number];
        if (number == 0 || is_same(found, node))
            return &sn_contexts.table[at];
    }
}

static void grow(void) {
    uint64_t room = 2 * (sn_contexts.table_mask + 1);
    sn_contexts.table_mask = room - 1;
    __atomic_store_n(&sn_contexts.table, sn_contexts.next_table, __ATOMIC_RELEASE);
    sn_contexts.next_table += room;
    for (uint32_t number = 1; number < sn_contexts.count; number++) *place_of(sn_contexts.nodes[number]) = number;
}

/** The node for which a new one is to be given: the one among its callers with the same function, or itself. */
static uint32_t folded_node(uint32_t number) {
    const sn_context_node *node = &sn_contexts.nodes[number];
    for (uint32_t above = node->caller; node->function && above; above = sn_contexts.nodes[above].caller)
        if (sn_contexts.nodes[above].function == node->function) return above;
    return number;
}

static uint32_t given_for(uint32_t number) { return sn_contexts.folded ? sn_contexts.folded[number] : number; }

/** Its number, whatever is given for it; 0: there is no room. */
static uint32_t number_of(sn_context_node node) {
    uint32_t known = find_unlocked(node);
    if (known) return known;
    sn_spin_acquire(&sn_contexts.lock);
    uint32_t *place = place_of(node), number = *place;
    if (number == 0 && sn_contexts.count < SN_MOST_CONTEXTS) {
        number = sn_contexts.count++;
        sn_contexts.nodes[number] = node;
        if (sn_contexts.folded) sn_contexts.folded[number] = folded_node(number);
        __atomic_store_n(place, number, __ATOMIC_RELEASE);
        if (sn_contexts.count > sn_contexts.table_mask / 2) grow();
    }
    sn_spin_release(&sn_contexts.lock);
    return number;
}

uint32_t sn_context_node_of(uint32_t caller, uint32_t site, uint64_t function) {
    uint32_t number = number_of((sn_context_node){.function = function, .caller = caller, .site = site});
    return number ? given_for(number) : caller;
}

uint32_t sn_context_node_known(uint32_t memos[SN_CONTEXT_MEMOS], uint32_t caller, uint32_t site, uint64_t function) {
    uint32_t *memo = &memos[caller % SN_CONTEXT_MEMOS], number = __atomic_load_n(memo, __ATOMIC_ACQUIRE);
    const sn_context_node *known = &sn_contexts.nodes[number];
    const sn_context_node node = {.function = function, .caller = caller, .site = site};
    if (number && is_same(known, node)) return given_for(number);
    number = number_of(node);
    if (!number) return caller;
    __atomic_store_n(memo, number, __ATOMIC_RELEASE);
    return given_for(number);
}

uint32_t sn_context_resolve(sn_thread *thread) {
    sn_call_frame *end = (sn_call_frame *)thread->slots[sn_shadow.slots.end], *frame = end - 1;
    while (frame->context == SN_NO_CONTEXT && frame->slot != UINT64_MAX) frame--;
    if (frame->context == SN_NO_CONTEXT) { /* the base */
        frame->context = (uint32_t)frame->data;
        if (frame->target) frame->context = sn_context_node_of((uint32_t)frame->data, SN_SITE_NONE, frame->target);
    }
    uint32_t context = frame->context;
    while (++frame < end) context = frame->context = sn_context_node_of(context, frame->site, frame->target);
    return context;
}

uint64_t sn_context_resolve_inserted(sn_thread *thread) { return sn_context_resolve(thread); }

sn_call_frame *sn_call_frame_of(sn_thread *thread) { return (sn_call_frame *)thread->slots[sn_shadow.slots.end] - 1; }

sn_call_frame *sn_call_frame_below(sn_call_frame *frame) { return frame->slot == UINT64_MAX ? 0 : frame - 1; }

uint64_t sn_call_frame_site(const sn_call_frame *frame) {
    return frame->site < SN_SITE_FIRST ? 0 : sn_shadow.sites[frame->site].address;
}

bool sn_call_frame_is_handler(const sn_call_frame *frame) { return frame->site == SN_SITE_SIGNAL; }

uint64_t sn_call_frame_slot(const sn_call_frame *frame) {
    return frame->slot == UINT64_MAX ? 0 : (frame->slot & ~SN_FRAME_MARKS) - SN_RETURN_ADDRESS_SIZE;
}

uint64_t sn_call_stack_start(sn_thread *thread) {
    const sn_shadow_stack *stack = (const sn_shadow_stack *)thread->slots[sn_shadow.slots.current];
    bool has_calls = stack && (const sn_call_frame *)thread->slots[sn_shadow.slots.end] > stack->frames + 1;
    return has_calls ? sn_call_frame_slot(stack->frames + 1) : 0;
}
