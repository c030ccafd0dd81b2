/**
 * @fileoverview The simulation of caches. See simulate.h; words.h says what the trace is, segments.h what segments are.
 *
 * A piece of the trace goes through passes, each of which does one thing for all of it:
 *   - split: references to data, as numbers of lines, and tags are taken apart (passes.h);
 *   - enter_segments: each segment that was entered is counted. If each line of its code is the one that was used last in
 *     its set of I1, nothing changes there; else the segment is a candidate;
 *   - filter: the same for the references and D1;
 *   - use_candidates: candidates go through D1 (passes.h) and I1;
 *   - tell_misses: what missed goes to the model, in the order of the trace.
 * The first passes look at everything and let nearly nothing through; so they have no branches that depend on the data.
 */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

#include "segments.h"
#include "settings.h"
#include "words.h"

/** A first-level cache. */
typedef struct first_level {
    cache_level level;
    uint64_t *last_used; /**< for each set, the line used last, as far as the first passes have come */
} first_level;

/** A segment's fetch that missed I1. */
typedef struct missed_fetch {
    const cache_segment_fetch *fetch;
    uint32_t before; /**< how many references of the piece come before it */
} missed_fetch;

struct cache_simulation {
    first_level code, data;
    void *core; /**< the model's */
    const cache_passes *passes;
    cache_sites *sites;
    cache_tally *tally;
    const cache_segments *segments; /**< all that are named by what is worked off now */
    uint32_t open_segment;          /**< what the next piece begins in */
    uint32_t open_seen;             /**< words of it that were in earlier pieces */
    uint32_t last_code;             /**< the last segment entered that is code */
    cache_piece piece;
    uint64_t last_lines[CACHE_PIECE_WORDS];        /**< of each reference that may span lines */
    uint32_t spanning_places[CACHE_PIECE_WORDS];   /**< which candidates these are */
    uint32_t candidates[CACHE_PIECE_WORDS + 1];    /**< references */
    uint32_t code_candidates[CACHE_PIECE_WORDS + 2]; /**< tags */
    uint32_t missed[CACHE_PIECE_WORDS + 1];        /**< references */
    missed_fetch missed_fetches[CACHE_SEGMENT_LINES * (CACHE_PIECE_WORDS + 2)];
    uint32_t candidate_count, code_candidate_count, missed_count, missed_fetch_count;
};

static void *allocated(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        sn_fail(125, "cache: out of memory");
    }
    return memory;
}

static void first_level_init(first_level *first, const cache_geometry *geometry) {
    size_t size = cache_geometry_sets(geometry) * sizeof *first->last_used;
    cache_level_init(&first->level, geometry);
    first->last_used = allocated(size);
    memset(first->last_used, 0xff, size); /* no line */
}

static void first_level_release(first_level *first) {
    cache_level_release(&first->level);
    free(first->last_used);
}

cache_simulation *cache_simulation_new(cache_sites *sites, cache_tally *tally, const cache_passes *passes) {
    cache_simulation *simulation = allocated(sizeof *simulation);
    first_level_init(&simulation->code, &cache_current.geometries[CACHE_I1]);
    first_level_init(&simulation->data, &cache_current.geometries[CACHE_D1]);
    if (cache_current.model->core_new != NULL) {
        simulation->core = cache_current.model->core_new();
    }
    simulation->passes = passes != NULL ? passes : cache_passes_best(simulation->data.level.ways);
    simulation->sites = sites;
    simulation->tally = tally;
    return simulation;
}

void cache_simulation_free(cache_simulation *simulation) {
    if (cache_current.model->core_free != NULL) {
        cache_current.model->core_free(simulation->core);
    }
    first_level_release(&simulation->code);
    first_level_release(&simulation->data);
    free(simulation);
}

/* ------------------------------------------------------------------- where things are */

static const cache_segment *segment_of(const cache_simulation *simulation, uint32_t tag) {
    return &simulation->segments->segments[simulation->piece.tags[tag]];
}

/** The number that the first reference behind a tag has, if there is one. */
static int32_t first_reference(const cache_piece *piece, uint32_t tag) {
    return piece->places[tag] + 1 - (int32_t)tag;
}

/** What is known of the reference with that number, which is behind that tag; NULL if the segment has none such. */
static const cache_segment_reference *reference_of(const cache_simulation *simulation, uint32_t number, uint32_t tag) {
    const cache_segment *segment = segment_of(simulation, tag);
    uint32_t place = segment->varies ? 0 : (uint32_t)((int32_t)number - first_reference(&simulation->piece, tag));
    return place < segment->reference_count ? &segment->references[place] : NULL;
}

/** The last tag before a reference. */
static uint32_t tag_before(const cache_piece *piece, uint32_t number) {
    uint32_t low = 0, high = piece->tag_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (first_reference(piece, middle) <= (int32_t)number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/** The reference as it was. `tag` is the one before it. */
static cache_reference whole_reference(const cache_simulation *simulation, const uint64_t *words, uint32_t number,
                                       uint32_t tag) {
    const cache_segment_reference *known = reference_of(simulation, number, tag);
    uint64_t word = words[number + tag];
    cache_reference reference = {.address = cache_word_address(word), .size = cache_word_size(word), .kind = CACHE_KINDS};
    if (known == NULL) {
        return reference;
    }
    reference.site = known->site;
    reference.kind = known->kind;
    if (segment_of(simulation, tag)->varies) {
        reference.kind = word >> CACHE_WORD_WRITE_SHIFT != 0 ? CACHE_WRITE : CACHE_READ;
    } else {
        reference.size = known->size;
    }
    return reference;
}

/* --------------------------------------------------------------------------- segments */

/** References that vary are counted as they happen. */
static void count_varying(cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    const cache_piece *piece = &simulation->piece;
    const cache_segment *segment = segment_of(simulation, tag);
    if (!segment->varies) {
        return;
    }
    uint64_t *counters = cache_site_counters(simulation->sites, segment->references[0].site) + CACHE_SITE_REFERENCES;
    for (int32_t i = piece->places[tag] < 0 ? 0 : piece->places[tag] + 1; i < piece->places[tag + 1]; i++) {
        counters[words[i] >> CACHE_WORD_WRITE_SHIFT != 0 ? CACHE_WRITE : CACHE_READ]++;
    }
}

/** A signal or fault ended a pass. If that was in front of the first instruction of a segment, it may or may not have been
    entered: if not, there is nothing to take back. */
static void cut(cache_simulation *simulation, uint32_t site) {
    uint32_t segment = cache_site_segment(site);
    if (segment != CACHE_NO_SEGMENT && segment == simulation->last_code) {
        cache_site_counters(simulation->sites, site)[CACHE_SITE_CUTS]++;
    }
}

/** What is entered and is no code, or no segment at all: seldom. */
static void enter_other(cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    uint32_t *number = &simulation->piece.tags[tag];
    if (*number < simulation->segments->count) {
        count_varying(simulation, words, tag);
        return;
    }
    if (*number >= CACHE_WORD_NUMBERS) {
        cut(simulation, *number - CACHE_WORD_NUMBERS);
    }
    *number = CACHE_NO_SEGMENT;
}

static void enter_segments(cache_simulation *simulation, const uint64_t *words) {
    const cache_segments *segments = simulation->segments;
    const cache_segment_lines *all_lines = segments->lines;
    const uint32_t known = segments->count, tag_count = simulation->piece.tag_count, *tags = simulation->piece.tags;
    uint64_t *counts = cache_tally_counts(simulation->tally, known), *last_used = simulation->code.last_used;
    const uint64_t mask = simulation->code.level.set_mask;
    uint32_t candidates = 0, last_code = simulation->last_code;
    count_varying(simulation, words, 0);
    for (uint32_t i = 1; i < tag_count; i++) {
        uint32_t number = tags[i];
        if (__builtin_expect(number >= known || all_lines[number].first == CACHE_NO_LINE, false)) {
            simulation->last_code = last_code;
            enter_other(simulation, words, i);
            continue;
        }
        cache_segment_lines lines = all_lines[number];
        uint64_t *first = &last_used[lines.first & mask], *last = &last_used[lines.last & mask];
        bool is_new = (*first != lines.first) | (*last != lines.last);
        counts[number]++;
        *first = lines.first;
        *last = lines.last;
        simulation->code_candidates[candidates] = i;
        candidates += is_new;
        last_code = number;
    }
    simulation->last_code = last_code;
    simulation->code_candidate_count = candidates;
}

static void use_code_candidates(cache_simulation *simulation) {
    uint32_t missed = simulation->missed_fetch_count;
    for (uint32_t i = 0; i < simulation->code_candidate_count; i++) {
        uint32_t tag = simulation->code_candidates[i];
        const cache_segment *segment = segment_of(simulation, tag);
        for (uint32_t k = 0; k < segment->fetch_count; k++) {
            const cache_segment_fetch *fetch = &segment->fetches[k];
            uint32_t before = (uint32_t)first_reference(&simulation->piece, tag) + fetch->before;
            simulation->missed_fetches[missed] = (missed_fetch){fetch, before};
            missed += !cache_level_refer(&simulation->code.level, fetch->address, fetch->length);
        }
    }
    simulation->missed_fetch_count = missed;
}

/* -------------------------------------------------------------------- references to data */

/** Note the references from number `from` to before `to`; each is within a line. */
static void filter(cache_simulation *simulation, uint32_t from, uint32_t to) {
    const uint64_t *lines = simulation->piece.lines, mask = simulation->data.level.set_mask;
    uint64_t *last_used = simulation->data.last_used;
    uint32_t *candidates = simulation->candidates, count = simulation->candidate_count;
    for (uint32_t i = from; i < to; i++) {
        uint64_t line = lines[i], *last = &last_used[line & mask];
        bool is_new = *last != line;
        *last = line;
        candidates[count] = i;
        count += is_new;
    }
    simulation->candidate_count = count;
}

/** Those that span lines are always candidates. */
static void filter_all(cache_simulation *simulation, const uint64_t *words) {
    const cache_piece *piece = &simulation->piece;
    const cache_level *level = &simulation->data.level;
    uint32_t from = 0;
    simulation->candidate_count = 0;
    for (uint32_t i = 0; i < piece->spanning_count; i++) {
        uint32_t number = piece->spanning[i];
        cache_reference reference = whole_reference(simulation, words, number, tag_before(piece, number));
        uint64_t last = (reference.address + reference.size - 1) >> level->line_shift;
        filter(simulation, from, number);
        for (uint64_t line = piece->lines[number]; line <= last; line++) {
            simulation->data.last_used[line & level->set_mask] = line;
        }
        simulation->last_lines[i] = last;
        simulation->spanning_places[i] = simulation->candidate_count;
        simulation->candidates[simulation->candidate_count++] = number;
        from = number + 1;
    }
    filter(simulation, from, piece->reference_count);
}

static void use_data_candidates(cache_simulation *simulation) {
    const cache_piece *piece = &simulation->piece;
    cache_level *level = &simulation->data.level;
    uint32_t from = 0, missed = 0;
    for (uint32_t i = 0; i <= piece->spanning_count; i++) {
        bool is_spanning = i < piece->spanning_count;
        uint32_t to = is_spanning ? simulation->spanning_places[i] : simulation->candidate_count;
        missed += simulation->passes->use(level, piece->lines, simulation->candidates + from, to - from,
                                          simulation->missed + missed);
        from = to + 1;
        if (is_spanning) {
            uint32_t number = piece->spanning[i];
            simulation->missed[missed] = number;
            missed += !cache_level_use_lines(level, piece->lines[number], simulation->last_lines[i]);
        }
    }
    simulation->missed_count = missed;
}

/* ----------------------------------------------------------------------------- misses */

static void tell_miss(cache_simulation *simulation, const cache_reference *reference) {
    if (reference->kind == CACHE_KINDS) {
        return; /* of no segment: it has faulted */
    }
    unsigned missed = cache_current.model->miss(simulation->core, reference);
    uint64_t *counters = cache_site_counters(simulation->sites, reference->site) + CACHE_SITE_MISSES +
                         reference->kind * CACHE_MOST_LEVELS;
    for (unsigned level = 0; level < missed; level++) {
        counters[level]++;
    }
}

/** Those before the reference with that number; the first `told` are done. Returns how many are then. */
static uint32_t tell_missed_fetches(cache_simulation *simulation, uint32_t told, uint32_t number) {
    for (; told < simulation->missed_fetch_count && simulation->missed_fetches[told].before <= number; told++) {
        const cache_segment_fetch *fetch = simulation->missed_fetches[told].fetch;
        const cache_reference reference = {
            .address = fetch->address, .size = fetch->length, .kind = CACHE_FETCH, .site = fetch->site};
        tell_miss(simulation, &reference);
    }
    return told;
}

/** What comes behind references of the next piece waits for it. */
static void keep_missed_fetches(cache_simulation *simulation, uint32_t told) {
    uint32_t kept = simulation->missed_fetch_count - told;
    for (uint32_t i = 0; i < kept; i++) {
        simulation->missed_fetches[i] = simulation->missed_fetches[told + i];
        simulation->missed_fetches[i].before -= simulation->piece.reference_count;
    }
    simulation->missed_fetch_count = kept;
}

static void tell_misses(cache_simulation *simulation, const uint64_t *words) {
    const cache_piece *piece = &simulation->piece;
    uint32_t tag = 0, told = 0;
    for (uint32_t i = 0; i < simulation->missed_count; i++) {
        uint32_t number = simulation->missed[i];
        while (tag + 1 < piece->tag_count && first_reference(piece, tag + 1) <= (int32_t)number) {
            tag++;
        }
        told = tell_missed_fetches(simulation, told, number);
        cache_reference reference = whole_reference(simulation, words, number, tag);
        tell_miss(simulation, &reference);
    }
    keep_missed_fetches(simulation, tell_missed_fetches(simulation, told, piece->reference_count));
}

/* ------------------------------------------------------------------------------- pieces */

static void simulate_piece(cache_simulation *simulation, const uint64_t *words, uint32_t count) {
    cache_piece *piece = &simulation->piece;
    piece->tags[0] = simulation->open_segment;
    piece->places[0] = -1 - (int32_t)simulation->open_seen;
    piece->tag_count = 1;
    simulation->passes->split(piece, words, count, simulation->data.level.line_shift);
    enter_segments(simulation, words);
    filter_all(simulation, words);
    use_code_candidates(simulation);
    use_data_candidates(simulation);
    tell_misses(simulation, words);
    uint32_t last = piece->tag_count - 1;
    uint32_t seen = (uint32_t)((int32_t)count - 1 - piece->places[last]);
    simulation->open_segment = piece->tags[last];
    simulation->open_seen = segment_of(simulation, last)->varies ? 0 : seen;
}

void cache_simulate(cache_simulation *simulation, const uint64_t *words, size_t count) {
    simulation->segments = cache_segments_now();
    if (simulation->segments == NULL) {
        return;
    }
    for (size_t done = 0; done < count; done += CACHE_PIECE_WORDS) {
        size_t left = count - done;
        simulate_piece(simulation, words + done, left < CACHE_PIECE_WORDS ? (uint32_t)left : CACHE_PIECE_WORDS);
    }
}
