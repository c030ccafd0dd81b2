/**
 * @fileoverview The client's registers as sn_accesses_of() wants them, out of a thread that left the code cache.
 */
#ifndef SONDE_GUEST_X86_64_STATE_H
#define SONDE_GUEST_X86_64_STATE_H

#include "isa/isa.h"
#include "jit/thread.h"

/** Room for what lies elsewhere in the saved image, in pieces. */
typedef struct sn_state_copy {
    uint8_t vector[32][64];
    uint64_t mask[8];
    uint64_t short_vector[8];
    uint8_t tiles[64];
} sn_state_copy;

/**
 * `state` points into `thread` and `copy` afterwards. In the thread itself, after its client state was saved by the exit
 * from the code cache and before anything but the general registers was changed by the engine on the client's behalf.
 */
void sn_state_for_accesses(const sn_thread *thread, sn_state_copy *copy, sn_access_state *state);

#endif
