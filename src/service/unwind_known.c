/**
 * @fileoverview The chains that a thread has found before, each with the words of the stack that made it what it is: a program
 * that allocates at the same place again, in the same calls, need not be unwound again.
 *
 * Owns a thread's sn_unwind_known, which lie in its chain. Used by hook_unwound.c. Runs in the code cache: calls nothing outside,
 * compiled for general registers only.
 */
#include "guest/space.h"
#include "service/unwind.h"

/** Chains of one place in different calls, which are often made from the same height of the stack, have two places. */
static sn_unwind_known *pair_of(sn_unwind_chain *chain, uint64_t key, uint64_t stack) {
    uint64_t hash = (key ^ stack << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return &chain->known[(hash >> 40) % (SN_UNWIND_KNOWN / 2) * 2];
}

static bool begins_so(const sn_unwind_known *known, const sn_unwind_start *start, uint64_t key) {
    return known->key == key && known->stack == start->stack && (!known->needs_frame || known->frame == start->frame);
}

/** All that is read could be read then, and nothing has been lost. The innermost words, which change most often, are the last. */
static bool is_same(const sn_unwind_known *known) {
    const sn_unwind_check *check = known->checks + known->count;
    for (; check - known->checks >= 4; check -= 4) {
        uint64_t differs = *(const uint64_t *)check[-1].at ^ check[-1].expected;
        differs |= *(const uint64_t *)check[-2].at ^ check[-2].expected;
        differs |= *(const uint64_t *)check[-3].at ^ check[-3].expected;
        differs |= *(const uint64_t *)check[-4].at ^ check[-4].expected;
        if (differs) return false;
    }
    while (check-- > known->checks)
        if (*(const uint64_t *)check->at != check->expected) return false;
    return true;
}

sn_unwind_known *sn_unwind_find_known(sn_thread *thread, const sn_unwind_start *start) {
    sn_unwind_chain *chain = sn_unwind_chain_of(thread);
    uint64_t key = sn_unwind_key(start->address, start->is_exact);
    uint64_t losses = __atomic_load_n(sn_space_losses, __ATOMIC_ACQUIRE);
    uint64_t forgotten = __atomic_load_n(&sn_unwind_forgotten, __ATOMIC_ACQUIRE);
    sn_unwind_known *known = pair_of(chain, key, start->stack);
    for (unsigned i = 0; i < 2; i++, known++)
        if (begins_so(known, start, key) && known->losses == losses && known->forgotten == forgotten && is_same(known))
            return known;
    return 0;
}

sn_unwind_known *sn_unwind_note_known(sn_thread *thread, const sn_unwind_start *start, uint32_t context) {
    sn_unwind_chain *chain = sn_unwind_chain_of(thread);
    const sn_unwind_frame *innermost = &chain->frames[chain->count - 1];
    sn_unwind_known *pair = pair_of(chain, innermost->key, start->stack);
    if (innermost->checks > SN_UNWIND_KNOWN_CHECKS) return 0;
    uint8_t turn = pair->turn ^ 1;
    pair->turn = turn;
    sn_unwind_known *known = pair + turn;
    known->key = innermost->key;
    known->stack = innermost->stack;
    known->frame = innermost->frame;
    known->needs_frame = innermost->needs_frame;
    known->losses = chain->losses;
    known->forgotten = chain->forgotten;
    known->step = innermost->step;
    known->context = context;
    known->target = 0;
    known->count = innermost->checks;
    for (unsigned i = 0; i < innermost->checks; i++) known->checks[i] = chain->checks[i];
    return known;
}
