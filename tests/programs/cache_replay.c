/**
 * @fileoverview Puts references through the simulation of src/tools/simulator: `cache_replay MODEL PASSES I1 D1 L2 LL < TRACE`.
 *
 * Geometries are SIZE,WAYS,LINE; PASSES is `plain` or `best`. A line of the trace is KIND ADDRESS SIZE INSTRUCTION, the kind
 * 0, 1 or 2 (cache_kind), the others hexadecimal; INSTRUCTION is below 2^32. For each a line tells how many levels were
 * missed. The references become segments as inserted code would trace them: a fetch and some references behind it, or
 * references that vary. `cache_replay predict` does the same for the branch predictors: lines `c ADDRESS TAKEN` and
 * `i ADDRESS TARGET`, answers 0 or 1. Compiled with the simulation's files and run by tests/test_cache_model.py.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

#include "code_cache.h"
#include "predictor.h"
#include "segments.h"
#include "settings.h"
#include "simulate.h"
#include "words.h"

/** References that one segment makes at most, and words that are simulated at once: no divisor of any length within. */
enum { MOST_REFERENCES = 5, BATCH_WORDS = 2501 };

cache_settings cache_current = {.simulates_caches = true};

void sn_fail(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(status);
}

static int predict(void) {
    static cache_predictor predictor;
    uint64_t address, what;
    char kind;
    while (scanf(" %c %" SCNx64 " %" SCNx64, &kind, &address, &what) == 3) {
        bool is_wrong = kind == 'c' ? cache_predictor_conditional(&predictor, address, what != 0)
                                    : cache_predictor_indirect(&predictor, address, what);
        printf("%d\n", is_wrong);
    }
    return 0;
}

static const cache_model *model_named(const char *name) {
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(cache_models[i]->name, name) == 0) {
            return cache_models[i];
        }
    }
    sn_fail(2, "no model %s", name);
}

/** All references, and the words that they become. */
static cache_reference *references;
static cache_segment_reference *segment_references; /* one for each of them; a segment has those of its own */
static uint64_t *words;
static size_t reference_count, word_count;

static void read_references(void) {
    cache_reference reference;
    uint64_t instruction;
    size_t room = 0;
    while (scanf("%" SCNu32 " %" SCNx64 " %" SCNx32 " %" SCNx64, &reference.kind, &reference.address, &reference.size,
                 &instruction) == 4) {
        reference.site = cache_sites_new(1);
        cache_site_set_address(reference.site, instruction);
        if (reference_count == room) {
            room = 2 * room + 1024;
            references = realloc(references, room * sizeof *references);
        }
        references[reference_count++] = reference;
    }
    words = malloc((2 * reference_count + 1) * sizeof *words);
    segment_references = calloc(reference_count, sizeof *segment_references);
}

static void add_word(const cache_reference *reference, bool varies) {
    uint64_t size = varies ? reference->size : cache_word_size_mark(reference->size);
    uint64_t role = !varies ? 0 : reference->kind == CACHE_WRITE ? SN_ROLE_WRITTEN : SN_ROLE_READ;
    words[word_count++] = reference->address | size << CACHE_WORD_SIZE_SHIFT | role << CACHE_WORD_ROLE_SHIFT;
}

/** The references from `first` to before `end`, the first of which may be a fetch, as a segment. */
static void add_segment(size_t first, size_t end) {
    const cache_reference *fetch = references[first].kind == CACHE_FETCH ? &references[first++] : NULL;
    cache_segment_reference *known = segment_references + first;
    cache_segment segment = {.references = known, .reference_count = (uint32_t)(end - first), .varies = fetch == NULL};
    cache_code_lines lines = {CACHE_NO_CODE_LINE, CACHE_NO_CODE_LINE};
    uint32_t number = cache_segment_new();
    if (fetch != NULL) {
        uint64_t line = cache_current.geometries[CACHE_I1].line;
        segment.fetch_count = 1;
        segment.fetches[0] = (cache_segment_fetch){
            .address = fetch->address, .length = (uint8_t)fetch->size, .site = fetch->site};
        lines.first = cache_code_line(fetch->address / line);
        lines.last = cache_code_line((fetch->address + fetch->size - 1) / line);
    }
    words[word_count++] = cache_word_segment(number);
    for (size_t i = first; i < end; i++) {
        known[i - first] = (cache_segment_reference){
            .site = references[i].site, .size = (uint16_t)references[i].size, .kind = (uint8_t)references[i].kind};
        add_word(&references[i], segment.varies);
    }
    cache_segment_set(number, &segment, lines, (cache_segment_size){0});
}

/** References that vary have their site in common: each is a segment then. */
static void add_segments(void) {
    for (size_t first = 0, end; first < reference_count; first = end) {
        size_t most = references[first].kind == CACHE_FETCH ? 1 + MOST_REFERENCES : 1;
        for (end = first + 1; end < reference_count && end < first + most && references[end].kind != CACHE_FETCH; end++) {
        }
        add_segment(first, end);
    }
}

static void simulate(const cache_passes *passes) {
    cache_sites sites = {0};
    cache_tally tally = {0};
    cache_simulation *simulation = cache_simulation_new(&sites, &tally, passes);
    for (size_t done = 0; done < word_count; done += BATCH_WORDS) {
        cache_simulate(simulation, words + done, word_count - done < BATCH_WORDS ? word_count - done : BATCH_WORDS);
    }
    for (size_t i = 0; i < reference_count; i++) {
        const uint64_t *counters = cache_site_find(&sites, references[i].site);
        unsigned missed = 0;
        for (unsigned level = 0; counters != NULL && level < CACHE_MOST_LEVELS; level++) {
            missed += counters[CACHE_SITE_MISSES + references[i].kind * CACHE_MOST_LEVELS + level] != 0;
        }
        printf("%u\n", missed);
    }
    cache_simulation_free(simulation);
    cache_sites_free(&sites);
    cache_tally_free(&tally);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "predict") == 0) {
        return predict();
    }
    if (count != 3 + CACHE_COUNT) {
        sn_fail(2, "usage: cache_replay MODEL PASSES I1 D1 L2 LL");
    }
    cache_current.model = model_named(arguments[1]);
    for (unsigned i = 0; i < CACHE_COUNT; i++) {
        const char *wrong = cache_geometry_parse(&cache_current.geometries[i], arguments[3 + i]);
        if (wrong != NULL) {
            sn_fail(2, "%s: %s", arguments[3 + i], wrong);
        }
    }
    cache_current.model->start(cache_current.geometries);
    read_references();
    add_segments();
    simulate(strcmp(arguments[2], "plain") == 0 ? &cache_passes_plain : NULL);
    return 0;
}
