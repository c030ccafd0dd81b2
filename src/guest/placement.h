/**
 * @fileoverview Where a mapping goes that the client did not place itself.
 *
 * Pure search over the list of regions; space.c asks and maps. Code goes to the code range bottom up, everything else to
 * the data window top down, as the kernel does. Where one file's code was, nothing else goes while there is room in the
 * code range (former_code.h).
 */
#ifndef SONDE_GUEST_PLACEMENT_H
#define SONDE_GUEST_PLACEMENT_H

#include "guest/former_code.h"
#include "guest/regions.h"

typedef enum sn_placement {
    SN_PLACE_DATA_WINDOW,  /**< ordinary memory */
    SN_PLACE_CODE_RANGE,   /**< code: near the code cache, else as ordinary memory */
    SN_PLACE_CODE_RESERVE, /**< a JIT's reservation: near the code cache while there is ample room */
    SN_PLACE_LOW_ONLY,     /**< MAP_32BIT: must be low */
} sn_placement;

/** What to place, and how far the search got when the host refused a place. */
typedef struct sn_place_request {
    sn_placement placement;
    uint64_t length;    /**< whole pages */
    uint64_t alignment; /**< a power of two, at least a page */
    sn_file_identity file; /**< whose code it is, if of a file */
    /* private, 0 at first: */
    unsigned range;
    uint64_t resume;
    bool asked_former; /**< where the file was before has been tried */
    bool anywhere;     /**< there is no room but where other code was */
} sn_place_request;

/** The best place for the request, or 0 if there is none. When the host does not accept it, call again with the same
    request: the next place is given. */
uint64_t sn_placement_next(sn_regions *regions, sn_place_request *request);

/** Whether [start, end) lies in what a window leaves to the client. */
bool sn_placement_in_window(uint64_t start, uint64_t end);

/** Keep later automatic placements out of [start, end), holes included: the span of the program or its interpreter. */
void sn_placement_keep_out(uint64_t start, uint64_t end);

#endif
