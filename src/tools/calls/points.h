/**
 * @fileoverview Points in the program at which the user wants something: a dump, a new beginning, collecting switched.
 *
 * Given by functions' names (--dump-before= and its relatives), by a number of blocks (--dump-every-bb=), or by the client's
 * requests (valgrind/callgrind.h).
 */
#ifndef SONDE_TOOLS_CALLS_POINTS_H
#define SONDE_TOOLS_CALLS_POINTS_H

#include <sonde/tool.h>

/** Whether collecting can ever be off. */
bool calls_points_switch(void);

/** Insert what is to happen in a block, where functions begin and regularly: before the counters, for it is about what
    comes. */
void calls_points_insert_entries(sn_block *block);
/** Where they return: behind the counters, for the return belongs to what was. */
void calls_points_insert_returns(sn_block *block);

/** The request callback. */
bool calls_points_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);

#endif
