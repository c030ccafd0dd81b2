/**
 * @fileoverview The table of calls. See arcs.h.
 */
#include "arcs.h"

#include <sonde/tool.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_ROOM UINT64_C(1024)
#define LAST_ROOM (UINT64_C(1) << 21)

static size_t reserved_bytes(void) {
    return 2 * LAST_ROOM * sizeof(calls_arc);
}

bool calls_arcs_init(calls_arcs *arcs) {
    void *memory = mmap(NULL, reserved_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    *arcs = (calls_arcs){.table = memory, .reserved = memory, .mask = FIRST_ROOM - 1};
    arcs->next = arcs->table + FIRST_ROOM;
    return true;
}

void calls_arcs_release(calls_arcs *arcs) {
    munmap(arcs->reserved, reserved_bytes());
    *arcs = (calls_arcs){0};
}

SN_FAST static inline uint64_t hash_of(const calls_way *way) {
    uint64_t contexts = way->from_context * UINT64_C(0x9e3779b1) + way->target_context;
    uint64_t hash = (way->from ^ way->target << 21 ^ way->target >> 11 ^ contexts << 7) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

SN_FAST static inline bool is_same(const calls_way *a, const calls_way *b) {
    return a->from == b->from && a->target == b->target && a->how == b->how && a->from_context == b->from_context &&
           a->target_context == b->target_context;
}

/** Where the arc is, or where it can be put. */
SN_FAST static calls_arc *place_of(const calls_arcs *arcs, const calls_way *way) {
    for (uint64_t at = hash_of(way);; at++) {
        calls_arc *arc = &arcs->table[at & arcs->mask];
        if (arc->way.target == 0 || is_same(&arc->way, way)) {
            return arc;
        }
    }
}

/** The old table stays where it is: space is reserved for all of them. */
SN_FAST static void grow(calls_arcs *arcs) {
    const calls_arc *old = arcs->table;
    uint64_t old_room = arcs->mask + 1;
    arcs->table = arcs->next;
    arcs->mask = 2 * old_room - 1;
    arcs->next = 2 * old_room == LAST_ROOM ? NULL : arcs->table + 2 * old_room;
    for (uint64_t i = 0; i < old_room; i++) {
        if (old[i].way.target != 0) {
            *place_of(arcs, &old[i].way) = old[i];
        }
    }
}

SN_FAST calls_arc *calls_arcs_find(calls_arcs *arcs, const calls_way *way) {
    calls_arc *arc = place_of(arcs, way);
    if (arc->way.target != 0) {
        return arc;
    }
    if (arcs->count > arcs->mask / 2 && arcs->next != NULL) {
        grow(arcs);
        arc = place_of(arcs, way);
    } else if (arcs->count > arcs->mask - arcs->mask / 8) {
        return &arcs->table[0]; /* a million and more: what does not fit is counted there */
    }
    arcs->count++;
    arc->way = *way;
    return arc;
}

void calls_arcs_clear(calls_arcs *arcs) {
    for (uint64_t i = 0; i <= arcs->mask; i++) {
        arcs->table[i].count = arcs->table[i].inclusive = 0;
        memset(arcs->table[i].system, 0, sizeof arcs->table[i].system);
    }
}

void calls_arcs_add(calls_arcs *to, const calls_arcs *from) {
    for (uint64_t i = 0; from->table != NULL && i <= from->mask; i++) {
        const calls_arc *arc = &from->table[i];
        if (!calls_arc_is_empty(arc)) {
            calls_arc *sum = calls_arcs_find(to, &arc->way);
            sum->count += arc->count;
            sum->inclusive += arc->inclusive;
            for (unsigned event = 0; event < CALLS_SYSTEM_EVENTS; event++) {
                sum->system[event] += arc->system[event];
            }
        }
    }
}
