/**
 * @fileoverview The table of calls. See arcs.h.
 */
#include "arcs.h"

#include <string.h>

#define MOST_ARCS (UINT64_C(1) << 20)

bool calls_arcs_init(calls_arcs *arcs) {
    return sn_table_reserve(arcs, MOST_ARCS);
}

void calls_arcs_release(calls_arcs *arcs) {
    sn_table_release(arcs);
}

/** Some arc, when there are a million and more: what does not fit is counted there. */
SN_FAST static calls_arc *any(calls_arcs *arcs) {
    return sn_table_next(&arcs->core, NULL, SN_TABLE_SHAPE(arcs));
}

SN_FAST calls_arc *calls_arcs_find(calls_arcs *arcs, const calls_way *way) {
    calls_arc *arc = sn_table_insert_fast(arcs, *way, NULL);
    return arc != NULL ? arc : any(arcs);
}

void calls_arcs_clear(calls_arcs *arcs) {
    sn_table_each(arcs, arc) {
        arc->count = arc->inclusive = 0;
        memset(arc->system, 0, sizeof arc->system);
    }
}

void calls_arcs_add(calls_arcs *to, const calls_arcs *from) {
    calls_arcs seen = sn_table_view(from);
    sn_table_prepare(to, sn_table_count(&seen));
    sn_table_each(&seen, arc) {
        if (!calls_arc_is_empty(arc)) {
            calls_arc *sum = calls_arcs_find(to, &arc->key);
            sum->count += arc->count;
            sum->inclusive += arc->inclusive;
            for (unsigned event = 0; event < CALLS_SYSTEM_EVENTS; event++) {
                sum->system[event] += arc->system[event];
            }
        }
    }
}
