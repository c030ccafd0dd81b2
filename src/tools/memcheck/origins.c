/**
 * @fileoverview Where undefined values were made. See origins.h.
 *
 * The number of a block's allocation is that of its calling context, so that nothing has to be looked up when blocks are made. Other
 * places are numbered as stacks, which are kept once each. The sentences are those that users know from Memcheck.
 */
#include "origins.h"

enum { HEAP = 1, STACK, BLOCK_REQUEST, REQUEST, KIND_BITS = 3 };

static SN_FAST mc_origin made_of(uint32_t number, unsigned kind) {
    bool fits = number < UINT32_C(1) << (32 - KIND_BITS);
    return mc_current.track_origins && fits ? number << KIND_BITS | kind : 0;
}

SN_FAST mc_origin mc_origin_of_heap(sn_context allocated) { return made_of(allocated, HEAP); }

mc_origin mc_origin_of_stack(uint64_t instruction) {
    return mc_current.track_origins ? made_of(mc_stack_alone(instruction)->number, STACK) : 0;
}

static mc_origin here(sn_thread *thread, unsigned kind) { return mc_current.track_origins ? made_of(mc_stack_here(thread)->number, kind) : 0; }

mc_origin mc_origin_of_block_request(sn_thread *thread) { return here(thread, BLOCK_REQUEST); }
mc_origin mc_origin_of_request(sn_thread *thread) { return here(thread, REQUEST); }

void mc_origin_tell(mc_origin origin, mc_finding *finding) {
    static const char *const makers[] = {[HEAP] = "heap allocation", [STACK] = "stack allocation", [BLOCK_REQUEST] = "heap allocation",
                                         [REQUEST] = "client request"};
    unsigned kind = origin & ((1u << KIND_BITS) - 1);
    uint32_t number = origin >> KIND_BITS;
    if (kind == 0 || kind > REQUEST || finding->note_count == MC_MOST_NOTES) {
        return;
    }
    finding->notes[finding->note_count++] = (mc_note){
        mc_text("Uninitialised value was created by a %s", makers[kind]),
        kind == HEAP ? mc_stack_of(number, 0) : mc_stack_numbered(number),
    };
}
