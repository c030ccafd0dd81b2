/**
 * @fileoverview The search for free places: see placement.h.
 */
#include "guest/placement.h"

#include "jit/layout.h"

/** Room for the main stack below SN_STACK_END before ordinary mappings begin. */
#define STACK_ROOM (UINT64_C(16) << 30)
/** A JIT's reservation goes to the code range only if so much of it stays free. */
#define CODE_ROOM_KEPT (UINT64_C(512) << 20)
/** The host refused a place: go on this much further. */
#define REFUSED_STEP (UINT64_C(1) << 20)

typedef struct range {
    uint64_t start, end;
    uint64_t gap; /**< left free between neighbours */
    bool top_down;
} range;

static const range code_range = {SN_CODE_START, SN_CODE_END, SN_PAGE_SIZE, false};
static const range low_rest = {SN_LOW_START, SN_CACHE_START, SN_PAGE_SIZE, false};
static const range data_range = {SN_BREAK_END, SN_STACK_END - STACK_ROOM, 0, true};

enum { RANGES_EACH = 2, KEEP_OUT_LIMIT = 4 };

/** Which ranges are tried, in order, for each sn_placement. */
static const range *const ranges_for[][RANGES_EACH] = {
    [SN_PLACE_DATA_WINDOW] = {&data_range, NULL},
    [SN_PLACE_CODE_RANGE] = {&code_range, &data_range},
    [SN_PLACE_CODE_RESERVE] = {&code_range, &data_range},
    [SN_PLACE_LOW_ONLY] = {&code_range, &low_rest},
};

static struct {
    uint64_t start, end;
} keep_out[KEEP_OUT_LIMIT];
static unsigned keep_out_count;

void sn_placement_keep_out(uint64_t start, uint64_t end) {
    if (keep_out_count < KEEP_OUT_LIMIT) {
        keep_out[keep_out_count].start = start;
        keep_out[keep_out_count].end = end;
        keep_out_count++;
    }
}

bool sn_placement_in_window(uint64_t start, uint64_t end) {
    return (start >= SN_LOW_START && end <= SN_CACHE_START) || (start >= SN_DATA_START && end <= SN_DATA_END);
}

/** If [start, end) touches a span that is kept out, the address just behind it (or, downwards, its start); else 0. */
static uint64_t kept_out(uint64_t start, uint64_t end, bool downwards) {
    for (unsigned i = 0; i < keep_out_count; i++) {
        if (start < keep_out[i].end && end > keep_out[i].start) {
            return downwards ? keep_out[i].start : keep_out[i].end;
        }
    }
    return 0;
}

static uint64_t round_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

/** What is in the way that is no region, as kept_out() tells it upwards. */
static uint64_t reserved(const sn_place_request *request, uint64_t start, uint64_t end) {
    uint64_t obstacle = kept_out(start, end, false);
    if (!obstacle && !request->anywhere) {
        obstacle = sn_former_code_obstacle(start, end, request->file);
    }
    return obstacle;
}

/** Lowest place at or above `from`. */
static uint64_t search_up(const sn_regions *regions, const range *in, const sn_place_request *request, uint64_t from) {
    size_t index = sn_regions_lower(regions, from > in->gap ? from - in->gap : 0);
    uint64_t candidate = round_up(from, request->alignment);
    while (candidate + request->length <= in->end) {
        uint64_t end = candidate + request->length;
        uint64_t obstacle = 0;
        if (index < regions->count && regions->items[index].start < end + in->gap) {
            obstacle = regions->items[index++].end;
        } else {
            obstacle = reserved(request, candidate, end + in->gap);
        }
        if (!obstacle) {
            return candidate;
        }
        uint64_t next = round_up(obstacle + in->gap, request->alignment);
        candidate = next > candidate ? next : candidate;
    }
    return 0;
}

/** Highest place that ends at or below `from`. */
static uint64_t search_down(const sn_regions *regions, const range *in, const sn_place_request *request,
                            uint64_t from) {
    size_t index = sn_regions_lower(regions, from - 1);
    if (index < regions->count && regions->items[index].start < from) {
        index++;
    }
    /* items[index - 1] is the highest region that can be in the way. */
    uint64_t ceiling = from;
    while (ceiling >= in->start + request->length) {
        uint64_t candidate = (ceiling - request->length) & ~(request->alignment - 1);
        if (candidate < in->start) {
            return 0;
        }
        uint64_t obstacle = kept_out(candidate, candidate + request->length, true);
        if (!obstacle && index > 0 && regions->items[index - 1].end > candidate) {
            index--;
            obstacle = regions->items[index].start;
            obstacle = obstacle > candidate + request->length ? candidate + request->length : obstacle;
        }
        if (!obstacle) {
            return candidate;
        }
        ceiling = obstacle < ceiling ? obstacle : ceiling;
    }
    return 0;
}

/** Highest place in `in`, without looking again at what an earlier search found to be full: with many mappings, which the
    kernel keeps in a tree for this, a walk from the top at each call would cost more than the mapping. */
static uint64_t search_from_top(sn_regions *regions, const range *in, const sn_place_request *request) {
    bool known = regions->full_length && request->length >= regions->full_length && regions->full_from < in->end;
    uint64_t place = search_down(regions, in, request, known ? regions->full_from : in->end);
    if (place && request->alignment == SN_PAGE_SIZE) {
        regions->full_from = place + request->length;
        regions->full_length = request->length;
    }
    return place;
}

/** Bytes of the code range that no region uses. */
static uint64_t free_code_room(const sn_regions *regions) {
    uint64_t room = SN_CODE_END - SN_CODE_START;
    for (size_t i = sn_regions_lower(regions, SN_CODE_START); i < regions->count; i++) {
        const sn_region *region = &regions->items[i];
        if (region->start >= SN_CODE_END) {
            break;
        }
        uint64_t start = region->start > SN_CODE_START ? region->start : SN_CODE_START;
        uint64_t end = region->end < SN_CODE_END ? region->end : SN_CODE_END;
        room -= end - start;
    }
    return room;
}

static bool worth_trying(const sn_regions *regions, const sn_place_request *request, const range *in) {
    if (request->length > in->end - in->start) {
        return false;
    }
    if (request->placement == SN_PLACE_CODE_RESERVE && in == &code_range) {
        return free_code_room(regions) >= request->length + CODE_ROOM_KEPT;
    }
    return true;
}

/** Lowest place at or above `from`, best where no other code was. */
static uint64_t search_code(const sn_regions *regions, const range *in, sn_place_request *request, uint64_t from) {
    uint64_t place = search_up(regions, in, request, from);
    if (!place && !request->anywhere) {
        request->anywhere = true;
        place = search_up(regions, in, request, in->start);
    }
    return place;
}

/** Where this file's code was before, if that is free and has not been tried; else 0. */
static uint64_t former_place(const sn_regions *regions, sn_place_request *request) {
    if (request->asked_former || request->placement == SN_PLACE_DATA_WINDOW || !request->file.inode) {
        return 0;
    }
    request->asked_former = true;
    uint64_t start = sn_former_code_place(request->length, request->file);
    size_t next = start ? sn_regions_lower(regions, start) : 0;
    bool is_free = start && (next == regions->count || regions->items[next].start >= start + request->length);
    return is_free && start % request->alignment == 0 ? start : 0;
}

uint64_t sn_placement_next(sn_regions *regions, sn_place_request *request) {
    uint64_t former = former_place(regions, request);
    if (former) {
        return former;
    }
    for (; request->range < RANGES_EACH; request->range++, request->resume = 0) {
        const range *in = ranges_for[request->placement][request->range];
        if (!in || !worth_trying(regions, request, in)) {
            continue;
        }
        uint64_t place;
        if (in->top_down) {
            place = request->resume ? search_down(regions, in, request, request->resume)
                                    : search_from_top(regions, in, request);
            request->resume = place > in->start + REFUSED_STEP ? place + request->length - REFUSED_STEP : in->start;
        } else {
            place = search_code(regions, in, request, request->resume ? request->resume : in->start);
            request->resume = place + REFUSED_STEP;
        }
        if (place) {
            return place;
        }
    }
    return 0;
}
