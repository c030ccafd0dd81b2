/**
 * @fileoverview The simulation of caches. See simulate.h; words.h says what the trace is, segments.h what segments are.
 *
 * A piece of the trace goes through passes, each of which does one thing for all of it:
 *   - split: references to data, as numbers of lines, and tags are taken apart (passes.h);
 *   - filter: references to the line that was used last in its set of D1 change nothing; the others are candidates;
 *   - use_candidates: candidates go through D1 (passes.h);
 *   - enter_segments: each segment that was entered is counted, and its lines are used in I1 (code_cache.h);
 *   - arrange_misses: what is known of that which missed is put together, in the order of the trace, and the memory that it takes
 *     to count it is fetched;
 *   - tell_misses: what missed goes to the model, and is counted; and words that tell of frames go to who watches.
 * The first passes look at everything and let nearly nothing through; so they have no branches that the processor could not
 * predict. What misses is seldom used, and so is what is known of it: the later passes ask for its memory before they need it.
 */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#include "code_cache.h"
#include "memory.h"
#include "segments.h"
#include "settings.h"
#include "words.h"

/** A segment's fetch that missed I1. */
typedef struct missed_fetch {
    const cache_segment_fetch *fetch;
    uint32_t before; /**< how many references of the piece come before it */
    uint32_t tag;    /**< of the segment; 0: of an earlier piece */
    uint32_t context; /**< in which it is counted: another one may be when it is arranged */
} missed_fetch;

/** A segment that was entered and whose lines are not all in I1. */
typedef struct missing_lines {
    uint32_t segment, tag;
    cache_code_miss which;
} missing_lines;

/** What the piece tells of a frame. */
typedef struct told_frame {
    cache_frame frame;
    uint32_t tag;
    uint64_t references; /**< of the piece until then: cache_segment_packed() */
    uint32_t misses;     /**< how many of the piece come before it */
} told_frame;

struct cache_simulation {
    cache_code_cache code;
    cache_level data;
    uint64_t *data_last_used; /**< for each set of D1, the line used last, as far as `filter` has come */
    void *core;               /**< the model's */
    const cache_passes *passes;
    cache_sites *sites;
    cache_tally *tally;
    const cache_segments *segments; /**< all that are named by what is worked off now, */
    uint64_t *counts;               /**< and how often they were entered */
    uint32_t open_segment;          /**< what the next piece begins in */
    uint32_t open_seen;             /**< words of it that were in earlier pieces */
    uint32_t last_code;             /**< the last segment entered that is code */
    cache_frame_watcher watcher;    /**< .frame NULL: nobody watches, and there are no totals */
    bool counts_totals;
    cache_totals totals;
    cache_piece piece;
    uint64_t last_lines[CACHE_PIECE_WORDS];        /**< of each reference that may span lines */
    uint32_t spanning_places[CACHE_PIECE_WORDS];   /**< which candidates these are */
    uint8_t is_candidate[CACHE_PIECE_WORDS + CACHE_PIECE_SPARE];
    uint32_t candidates[CACHE_PIECE_WORDS + CACHE_PIECE_SPARE]; /**< references */
    uint32_t missed[CACHE_PIECE_WORDS + 1];        /**< references */
    uint32_t missed_tags[CACHE_PIECE_WORDS + 1];   /**< the tags before them */
    missing_lines missing[CACHE_PIECE_WORDS + 2];
    missed_fetch missed_fetches[CACHE_SEGMENT_LINES * (CACHE_PIECE_WORDS + 2)];
    cache_miss misses[CACHE_PIECE_WORDS + 1 + CACHE_SEGMENT_LINES * (CACHE_PIECE_WORDS + 2)]; /**< of both kinds, in order */
    uint8_t levels[CACHE_PIECE_WORDS + 1 + CACHE_SEGMENT_LINES * (CACHE_PIECE_WORDS + 2)];    /**< how many each missed */
    uint32_t candidate_count, missed_count, missing_count, missed_fetch_count, miss_count;
    uint64_t references;            /**< of what was entered in this piece: cache_segment_packed() */
    uint64_t told_references;       /**< how much of it the totals have */
    cache_frame frame;              /**< that words tell of */
    told_frame frames[CACHE_PIECE_WORDS + 1];
    uint32_t frame_count;
};

cache_simulation *cache_simulation_new(cache_sites *sites, cache_tally *tally, const cache_passes *passes) {
    cache_simulation *simulation = cache_memory_new(1, sizeof *simulation);
    const cache_geometry *data = &cache_current.geometries[CACHE_D1];
    size_t sets = cache_geometry_sets(data);
    cache_code_cache_init(&simulation->code, &cache_current.geometries[CACHE_I1]);
    cache_level_init(&simulation->data, data);
    simulation->data_last_used = cache_memory_new(sets, sizeof *simulation->data_last_used);
    memset(simulation->data_last_used, 0xff, sets * sizeof *simulation->data_last_used); /* no line */
    if (cache_current.model->core_new != NULL) {
        simulation->core = cache_current.model->core_new();
    }
    simulation->passes = passes != NULL ? passes : cache_passes_best(&simulation->data);
    simulation->sites = sites;
    simulation->tally = tally;
    return simulation;
}

void cache_simulation_free(cache_simulation *simulation) {
    if (cache_current.model->core_free != NULL) {
        cache_current.model->core_free(simulation->core);
    }
    cache_code_cache_release(&simulation->code);
    cache_level_release(&simulation->data);
    free(simulation->data_last_used);
    free(simulation);
}

void cache_simulation_watch(cache_simulation *simulation, const cache_frame_watcher *watcher) {
    simulation->watcher = *watcher;
    simulation->counts_totals = true;
}

const cache_totals *cache_simulation_totals(const cache_simulation *simulation) {
    return &simulation->totals;
}

void cache_simulation_count(cache_simulation *simulation, cache_sites *sites, bool counts) {
    simulation->sites = sites;
    simulation->counts_totals = counts;
}

/** `packed`: cache_segment_packed(); if more was taken back than there was, of the piece before, as a negative number. */
static void add_references(cache_totals *totals, uint64_t packed) {
    uint64_t reads = (uint64_t)(int64_t)(int32_t)packed;
    totals->counts[CACHE_TOTAL_READS] += reads;
    totals->counts[CACHE_TOTAL_WRITES] += (uint64_t)(int64_t)(int32_t)((packed - reads) >> 32);
}

/* ------------------------------------------------------------------- where things are */

/** The segment that a tag of the piece enters. A cut does not end one that varies: what was done of a repeated instruction is
    told behind it. */
static uint32_t segment_number(const cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    const cache_segments *known = simulation->segments;
    bool was_cut = false;
    for (; tag > 0; tag--) {
        uint64_t number = cache_word_number(words[simulation->piece.places[tag]]);
        if (number < CACHE_WORD_NUMBERS) {
            return number < known->count && (!was_cut || known->segments[number].varies) ? (uint32_t)number : CACHE_NO_SEGMENT;
        }
        was_cut |= number < 2 * CACHE_WORD_NUMBERS;
    }
    return !was_cut || known->segments[simulation->open_segment].varies ? simulation->open_segment : CACHE_NO_SEGMENT;
}

static const cache_segment *segment_of(const cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    return &simulation->segments->segments[segment_number(simulation, words, tag)];
}

/** The last tag from `tag` backwards that ends what was before it: those that tell of frames do not. */
static uint32_t dividing_tag(const cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    while (tag > 0 && cache_word_number(words[simulation->piece.places[tag]]) >= 2 * CACHE_WORD_NUMBERS) {
        tag--;
    }
    return tag;
}

/** The last tag before a reference. Its steps are no branches: nobody could predict them. */
static uint32_t tag_before(const cache_piece *piece, uint32_t number) {
    uint32_t low = 0;
    for (uint32_t left = piece->tag_count; left > 1;) {
        uint32_t half = left / 2;
        low += cache_piece_first_reference(piece, low + half) <= (int32_t)number ? half : 0;
        left -= half;
    }
    return low;
}

/** A traced reference that ends a run has missed: which of its references came to the missing line first. */
static void find_in_run(const cache_simulation *simulation, const cache_segment *segment, const cache_segment_reference *traced,
                        cache_reference *reference) {
    const uint32_t shift = simulation->data.line_shift;
    const cache_segment_reference *others = segment->references + segment->reference_count + traced->first_other;
    uint64_t first = reference->address - (uint64_t)(int64_t)traced->distance;
    uint64_t missing = (traced->distance < 0 ? reference->address : reference->address + traced->size - 1) >> shift;
    for (unsigned i = 0; i < traced->others; i++) {
        uint64_t address = first + (uint64_t)(int64_t)others[i].distance;
        if (address >> shift <= missing && missing <= (address + others[i].size - 1) >> shift) {
            *reference = (cache_reference){
                .address = address, .size = others[i].size, .kind = others[i].kind, .site = others[i].site};
            return;
        }
    }
}

/** Which of its segment's traced references it is; `tag` is the one before it. */
static uint32_t place_of(const cache_simulation *simulation, const uint64_t *words, const cache_segment *segment,
                         uint32_t number, uint32_t tag) {
    uint32_t begin = dividing_tag(simulation, words, tag);
    return segment->varies ? 0 : (uint32_t)((int32_t)number - cache_piece_first_reference(&simulation->piece, begin));
}

/** The reference as it was traced. */
static cache_reference traced_reference(const cache_simulation *simulation, const uint64_t *words, uint32_t number,
                                        uint32_t tag) {
    const cache_segment *segment = segment_of(simulation, words, tag);
    uint64_t word = words[number + tag];
    uint32_t place = place_of(simulation, words, segment, number, tag);
    cache_reference reference = {.address = cache_word_address(word), .size = cache_word_size(word), .kind = CACHE_KINDS};
    if (place < segment->reference_count) {
        const cache_segment_reference *known = &segment->references[place];
        reference.site = known->site;
        reference.kind = segment->varies ? cache_word_kind(word) : known->kind;
        reference.size = segment->varies ? reference.size : known->size;
    }
    return reference;
}

/** The one that missed. */
static cache_reference seldom_reference(const cache_simulation *simulation, const uint64_t *words, uint32_t number,
                                        uint32_t tag) {
    const cache_segment *segment = segment_of(simulation, words, tag);
    uint32_t place = place_of(simulation, words, segment, number, tag);
    cache_reference reference = traced_reference(simulation, words, number, tag);
    if (place < segment->reference_count && segment->references[place].others != 0) {
        find_in_run(simulation, segment, &segment->references[place], &reference);
    }
    return reference;
}

/** What a tag says; that before the piece's first one is none, and says more than all tags. */
static inline uint64_t told_by(const cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    return tag > 0 ? cache_word_number(words[simulation->piece.places[tag]]) : UINT64_MAX;
}

/** Have the memory fetched that tells about a reference. */
static inline void expect_reference(const cache_simulation *simulation, const uint64_t *words, uint32_t number, uint32_t tag) {
    uint64_t told = told_by(simulation, words, tag);
    uint32_t place = (uint32_t)((int32_t)number - cache_piece_first_reference(&simulation->piece, tag));
    if (told < simulation->segments->count) {
        __builtin_prefetch(&simulation->segments->segments[told].references[place]);
    }
}

/** As seldom_reference(); mostly, the tag is that of a segment in which all references are known. */
static inline __attribute__((always_inline)) void get_reference(const cache_simulation *simulation, const uint64_t *words,
                                                                uint32_t number, uint32_t tag, cache_reference *reference) {
    uint64_t told = told_by(simulation, words, tag);
    uint32_t place = (uint32_t)((int32_t)number - cache_piece_first_reference(&simulation->piece, tag));
    if (told < simulation->segments->count) {
        const cache_segment *segment = &simulation->segments->segments[told];
        if (!segment->varies && place < segment->reference_count) {
            /* part by part: what is read back at once must not be put together from parts */
            const cache_segment_reference *known = &segment->references[place];
            reference->address = cache_word_address(words[number + tag]);
            reference->size = known->size;
            reference->kind = known->kind;
            reference->site = known->site;
            if (known->others != 0) {
                find_in_run(simulation, segment, known, reference);
            }
            return;
        }
    }
    *reference = seldom_reference(simulation, words, number, tag);
}

/* --------------------------------------------------------------------------- segments */

/** References that vary are counted as they happen. */
static void count_varying(cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    const cache_piece *piece = &simulation->piece;
    const cache_segment *segment = segment_of(simulation, words, tag);
    if (!segment->varies) {
        return;
    }
    uint64_t *counters = cache_site_counters(simulation->sites, segment->references[0].site) + CACHE_SITE_REFERENCES;
    for (int32_t i = piece->places[tag] < 0 ? 0 : piece->places[tag] + 1; i < piece->places[tag + 1]; i++) {
        bool is_write = cache_word_kind(words[i]) == CACHE_WRITE;
        counters[cache_word_kind(words[i])]++;
        simulation->references += cache_segment_packed((cache_segment_size){.reads = !is_write, .writes = is_write});
    }
}

/** Which code was entered last before a tag. */
static uint32_t last_code_before(const cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    while (tag > 1) {
        uint32_t number = segment_number(simulation, words, --tag);
        if (simulation->segments->lines[number].first != CACHE_NO_CODE_LINE) {
            return number;
        }
    }
    return simulation->last_code;
}

/** A signal or fault ended a pass. If that was in front of the first instruction of a segment, it may or may not have been
    entered: if not, there is nothing to take back. */
static void cut(cache_simulation *simulation, const uint64_t *words, uint32_t tag, uint32_t site) {
    uint32_t segment = cache_site_segment(site);
    if (segment != CACHE_NO_SEGMENT && segment == last_code_before(simulation, words, tag)) {
        cache_site_counters(simulation->sites, site)[CACHE_SITE_CUTS]++;
        simulation->references -= cache_segment_packed(cache_site_rest(site));
    }
}

/** Seldom: what is entered has lines that are not in I1, or is no code, or a cut. */
static void enter_slowly(cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    uint64_t told = cache_word_number(words[simulation->piece.places[tag]]);
    if (told >= 2 * CACHE_WORD_NUMBERS) {
        return; /* a reference that looks like a tag */
    }
    uint32_t number = segment_number(simulation, words, tag);
    cache_code_lines lines = simulation->segments->lines[number];
    if (told >= CACHE_WORD_NUMBERS) {
        cut(simulation, words, tag, (uint32_t)(told - CACHE_WORD_NUMBERS));
    }
    if (lines.first == CACHE_NO_CODE_LINE) {
        count_varying(simulation, words, tag);
        return;
    }
    __builtin_prefetch(&simulation->segments->segments[number]);
    missing_lines *missing = &simulation->missing[simulation->missing_count];
    *missing = (missing_lines){number, tag, cache_code_cache_enter(&simulation->code, number, lines)};
    simulation->missing_count += missing->which.first | missing->which.last;
    if (simulation->tally != NULL) {
        simulation->counts[CACHE_TALLY_LANES * number]++;
    } else {
        simulation->references += simulation->segments->sizes[number];
    }
}

/** The words of a function that begins are side by side, but where pieces meet. */
static inline bool take_function(cache_frame *frame, const uint64_t *words, uint32_t left) {
    if (left < 3 || sn_frame_word_kind(words[0]) != SN_FRAME_BEGAN || sn_frame_word_kind(words[2]) != SN_FRAME_FUNCTION) {
        return false;
    }
    *frame = (cache_frame){.address = sn_frame_word_value(words[0]), .site = (uint32_t)sn_frame_word_value(words[1]),
                           .function = sn_frame_word_value(words[2]), .kind = SN_FRAME_FUNCTION};
    return true;
}

/** Those from `tag` on, up to the first one that needs more. Returns which that is. */
static inline __attribute__((always_inline)) uint32_t enter_some(cache_simulation *simulation, const uint64_t *words,
                                                                 uint32_t tag, bool sums_up, bool by_segments) {
    const cache_code_lines *all_lines = simulation->segments->lines;
    cache_code_entrance entrance = cache_code_cache_entrance(&simulation->code);
    const uint32_t known = simulation->segments->count, tag_count = simulation->piece.tag_count;
    const uint64_t *sizes = simulation->segments->sizes;
    const int32_t *places = simulation->piece.places;
    cache_frame frame = simulation->frame;
    told_frame *frames = simulation->frames;
    uint32_t frame_count = simulation->frame_count;
    uint64_t references = simulation->references;
    uint64_t *counts = simulation->counts;
    for (; tag < tag_count; tag++) {
        uint64_t number = cache_word_number(words[places[tag]]);
        if (sums_up && number >= 2 * CACHE_WORD_NUMBERS && cache_word_is_left(number)) {
            references -= cache_segment_packed(cache_word_left_out(number));
            continue;
        }
        if (sums_up && number >= 2 * CACHE_WORD_NUMBERS) {
            bool is_function = take_function(&frame, &words[places[tag]], tag_count - tag);
            tag += is_function ? 2 : 0;
            if (is_function || cache_frame_take(&frame, words[places[tag]])) {
                frames[frame_count++] = (told_frame){.frame = frame, .tag = tag, .references = references};
            }
            continue;
        }
        if (number >= known || !cache_code_enter_quickly(&entrance, by_segments, (uint32_t)number, &all_lines[number])) {
            break;
        }
        if (sums_up) {
            references += sizes[number];
        } else {
            counts[CACHE_TALLY_LANES * number + tag % CACHE_TALLY_LANES]++;
        }
    }
    simulation->code.now = entrance.now;
    simulation->references = references;
    simulation->frame_count = frame_count;
    simulation->frame = frame;
    return tag;
}

static uint32_t enter_quickly(cache_simulation *simulation, const uint64_t *words, uint32_t tag) {
    if (simulation->watcher.frame != NULL) {
        return simulation->code.by_segments ? enter_some(simulation, words, tag, true, true)
                                            : enter_some(simulation, words, tag, true, false);
    }
    return simulation->code.by_segments ? enter_some(simulation, words, tag, false, true)
                                        : enter_some(simulation, words, tag, false, false);
}

static void enter_segments(cache_simulation *simulation, const uint64_t *words) {
    const uint32_t tag_count = simulation->piece.tag_count;
    simulation->missing_count = 0;
    count_varying(simulation, words, 0);
    for (uint32_t tag = enter_quickly(simulation, words, 1); tag < tag_count;
         tag = enter_quickly(simulation, words, tag + 1)) {
        enter_slowly(simulation, words, tag);
    }
    simulation->last_code = last_code_before(simulation, words, tag_count);
}

/* -------------------------------------------------------------------- references to data */

/** Note the references from number `from` to before `to`; each is within a line. Where something is stored must not depend on
    what is compared: loads behind it would wait. So candidates are marked first, and collected then. */
static void filter(cache_simulation *simulation, size_t from, size_t to) {
    const uint64_t *lines = simulation->piece.lines, mask = simulation->data.set_mask;
    uint64_t *last_used = simulation->data_last_used;
    uint8_t *is_candidate = simulation->is_candidate;
#pragma GCC unroll 4
    for (size_t i = from; i < to; i++) {
        uint64_t line = lines[i], *last = &last_used[line & mask];
        is_candidate[i] = *last != line;
        *last = line;
    }
    simulation->candidate_count += simulation->passes->collect(
        is_candidate, (uint32_t)from, (uint32_t)to, simulation->candidates + simulation->candidate_count);
}

/** Those that span lines are always candidates. */
static void filter_all(cache_simulation *simulation, const uint64_t *words) {
    const cache_piece *piece = &simulation->piece;
    const cache_level *level = &simulation->data;
    uint32_t from = 0;
    simulation->candidate_count = 0;
    for (uint32_t i = 0; i < piece->spanning_count; i++) {
        uint32_t number = piece->spanning[i];
        cache_reference reference = traced_reference(simulation, words, number, tag_before(piece, number));
        uint64_t last = (reference.address + reference.size - 1) >> level->line_shift;
        filter(simulation, from, number);
        for (uint64_t line = piece->lines[number]; line <= last; line++) {
            simulation->data_last_used[line & level->set_mask] = line;
        }
        simulation->last_lines[i] = last;
        simulation->spanning_places[i] = simulation->candidate_count;
        simulation->candidates[simulation->candidate_count++] = number;
        from = number + 1;
    }
    filter(simulation, from, piece->reference_count);
}

static bool use_lines(cache_simulation *simulation, uint64_t first, uint64_t last) {
    bool is_hit = simulation->passes->use_line(&simulation->data, first);
    while (first < last) {
        is_hit &= simulation->passes->use_line(&simulation->data, ++first);
    }
    return is_hit;
}

static void use_candidates(cache_simulation *simulation) {
    const cache_piece *piece = &simulation->piece;
    cache_level *level = &simulation->data;
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
            missed += !use_lines(simulation, piece->lines[number], simulation->last_lines[i]);
        }
    }
    simulation->missed_count = missed;
}

/* ----------------------------------------------------------------------------- misses */

/** Where misses of a kind are counted for an instruction, by level; to be written soon. */
static uint64_t *counters_in(const cache_simulation *simulation, uint32_t context, uint32_t site, uint32_t kind) {
    uint64_t *counters = cache_site_counters_in(simulation->sites, context, site) + CACHE_SITE_MISSES + kind * CACHE_MOST_LEVELS;
    __builtin_prefetch(counters, 1);
    return counters;
}

static uint64_t *counters_of(const cache_simulation *simulation, uint32_t site, uint32_t kind) {
    return counters_in(simulation, simulation->sites->context, site, kind);
}

static void note_missed_fetch(cache_simulation *simulation, const cache_segment_fetch *fetch, uint32_t tag) {
    uint32_t before = (uint32_t)cache_piece_first_reference(&simulation->piece, tag) + fetch->before;
    simulation->missed_fetches[simulation->missed_fetch_count++] =
        (missed_fetch){fetch, before, tag, simulation->sites->context};
    counters_of(simulation, fetch->site, CACHE_FETCH);
}

/** Find the tags of misses, and have the segments fetched that these name. */
static void find_tags(cache_simulation *simulation, const uint64_t *words) {
    if (simulation->missed_count == 0) {
        return;
    }
    simulation->passes->locate(&simulation->piece, simulation->missed, simulation->missed_count, simulation->missed_tags);
    for (uint32_t i = 0; i < simulation->missed_count; i++) {
        uint64_t told = told_by(simulation, words, simulation->missed_tags[i]);
        if (told < simulation->segments->count) {
            __builtin_prefetch(&simulation->segments->segments[told].references);
        }
    }
}

/** Fetches that missed: which they are is in their segments, whose memory was asked for when they were entered. */
static void look_at_missing_lines(cache_simulation *simulation) {
    for (uint32_t i = 0; i < simulation->missing_count; i++) {
        const missing_lines *missing = &simulation->missing[i];
        const cache_segment *segment = &simulation->segments->segments[missing->segment];
        if (missing->which.first || (missing->which.last && segment->fetch_count == 1)) {
            note_missed_fetch(simulation, &segment->fetches[0], missing->tag);
        }
        if (missing->which.last && segment->fetch_count == 2) {
            note_missed_fetch(simulation, &segment->fetches[1], missing->tag);
        }
    }
}

/** How far arranging has come in what is told in the order of tags. */
typedef struct arranging {
    uint32_t fetches, frames;
} arranging;

static void arrange_fetch(cache_simulation *simulation, const missed_fetch *missed) {
    const cache_segment_fetch *fetch = missed->fetch;
    cache_miss *miss = &simulation->misses[simulation->miss_count++];
    miss->reference = (cache_reference){
        .address = fetch->address, .size = fetch->length, .kind = CACHE_FETCH, .site = fetch->site};
    miss->counters = counters_in(simulation, missed->context, fetch->site, CACHE_FETCH);
}

/** Arrange what is before the reference with that number. Returns the number of the first one that something is before, or one
    that is not there. */
static uint32_t arrange_until(cache_simulation *simulation, arranging *at, uint32_t number) {
    for (;;) {
        const missed_fetch *fetch = &simulation->missed_fetches[at->fetches];
        told_frame *frame = &simulation->frames[at->frames];
        uint32_t fetch_before = at->fetches < simulation->missed_fetch_count ? fetch->before : UINT32_MAX;
        uint32_t frame_before = at->frames < simulation->frame_count
                                    ? (uint32_t)cache_piece_first_reference(&simulation->piece, frame->tag)
                                    : UINT32_MAX;
        bool has_fetch = fetch_before <= number;
        if (frame_before <= number && !(has_fetch && fetch->tag < frame->tag)) {
            frame->misses = simulation->miss_count;
            at->frames++;
        } else if (has_fetch) {
            arrange_fetch(simulation, fetch);
            at->fetches++;
        } else {
            return fetch_before < frame_before ? fetch_before : frame_before;
        }
    }
}

/** What comes behind references of the next piece waits for it. */
static void keep_missed_fetches(cache_simulation *simulation, uint32_t arranged) {
    uint32_t kept = simulation->missed_fetch_count - arranged;
    for (uint32_t i = 0; i < kept; i++) {
        simulation->missed_fetches[i] = simulation->missed_fetches[arranged + i];
        simulation->missed_fetches[i].before -= simulation->piece.reference_count;
        simulation->missed_fetches[i].tag = 0;
    }
    simulation->missed_fetch_count = kept;
}

/** Put all that missed in order. Memory is asked for, for all misses, before any of them takes it. */
static void arrange_misses(cache_simulation *simulation, const uint64_t *words) {
    const uint32_t *numbers = simulation->missed, *tags = simulation->missed_tags;
    arranging at = {0};
    simulation->miss_count = 0;
    for (uint32_t i = 0; i < simulation->missed_count; i++) {
        expect_reference(simulation, words, numbers[i], tags[i]);
    }
    for (uint32_t i = 0, due = 0; i < simulation->missed_count; i++) {
        if (numbers[i] >= due) {
            due = arrange_until(simulation, &at, numbers[i]);
        }
        cache_miss *miss = &simulation->misses[simulation->miss_count];
        get_reference(simulation, words, numbers[i], tags[i], &miss->reference);
        if (miss->reference.kind != CACHE_KINDS) { /* of no segment: it has faulted */
            miss->counters = counters_of(simulation, miss->reference.site, miss->reference.kind);
            simulation->miss_count++;
        }
    }
    arrange_until(simulation, &at, simulation->piece.reference_count);
    keep_missed_fetches(simulation, at.fetches);
}

/** Have the totals what was referred to in the piece until then. */
static void add_references_until(cache_simulation *simulation, uint64_t references) {
    if (simulation->counts_totals) {
        add_references(&simulation->totals, references - simulation->told_references);
    }
    simulation->told_references = references;
}

/** Misses from `from` to before `to`. Most are of the first level only. */
static void count_misses(cache_simulation *simulation, uint32_t from, uint32_t to) {
    const bool counts_totals = simulation->counts_totals;
    for (uint32_t i = from; i < to; i++) {
        const cache_miss *miss = &simulation->misses[i];
        uint64_t *totals = simulation->totals.counts + CACHE_TOTAL_MISSES + miss->reference.kind;
        unsigned level = 0;
        do {
            miss->counters[level]++;
            totals[level * CACHE_KINDS] += counts_totals;
        } while (++level < simulation->levels[i]);
    }
}

static void tell_misses(cache_simulation *simulation) {
    uint32_t counted = 0;
    cache_current.model->miss(simulation->core, simulation->misses, simulation->miss_count, simulation->levels);
    for (uint32_t i = 0; i < simulation->frame_count; i++) {
        const told_frame *told = &simulation->frames[i];
        count_misses(simulation, counted, told->misses);
        counted = told->misses;
        add_references_until(simulation, told->references);
        simulation->watcher.frame(simulation->watcher.data, &told->frame, &simulation->totals);
    }
    count_misses(simulation, counted, simulation->miss_count);
}

/* ------------------------------------------------------------------------------- pieces */

static void simulate_piece(cache_simulation *simulation, const uint64_t *words, uint32_t count) {
    cache_piece *piece = &simulation->piece;
    simulation->references = simulation->told_references = 0;
    simulation->frame_count = 0;
    piece->places[0] = -1 - (int32_t)simulation->open_seen;
    piece->tag_count = 1;
    simulation->passes->split(piece, words, count, simulation->data.line_shift);
    filter_all(simulation, words);
    use_candidates(simulation);
    find_tags(simulation, words);
    enter_segments(simulation, words);
    look_at_missing_lines(simulation);
    arrange_misses(simulation, words);
    tell_misses(simulation);
    add_references_until(simulation, simulation->references);
    uint32_t last = piece->tag_count - 1, begin = dividing_tag(simulation, words, last);
    uint32_t seen = (uint32_t)((int32_t)piece->reference_count - cache_piece_first_reference(piece, begin));
    simulation->open_segment = segment_number(simulation, words, last);
    simulation->open_seen = simulation->segments->segments[simulation->open_segment].varies ? 0 : seen;
}

void cache_simulate(cache_simulation *simulation, const uint64_t *words, size_t count) {
    simulation->segments = cache_segments_now();
    if (simulation->segments == NULL) {
        return;
    }
    if (simulation->tally != NULL) {
        simulation->counts = cache_tally_counts(simulation->tally, simulation->segments->room);
    }
    cache_code_cache_prepare(&simulation->code, simulation->segments->room, count);
    for (size_t done = 0; done < count; done += CACHE_PIECE_WORDS) {
        size_t left = count - done;
        simulate_piece(simulation, words + done, left < CACHE_PIECE_WORDS ? (uint32_t)left : CACHE_PIECE_WORDS);
    }
}
