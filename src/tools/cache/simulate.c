/**
 * @fileoverview The simulation. See simulate.h; record.h and word.h say what the trace's words mean.
 *
 * Nearly all references are to the line that was last used in its set. The loop for them is short; everything else is done
 * in functions of its own, in program order, since instructions and data share the later levels.
 */
#include "simulate.h"

#include <stdlib.h>

#include "settings.h"
#include "word.h"

static void recent_init(cache_recent *recent, const cache_geometry *geometry) {
    uint64_t sets = cache_geometry_sets(geometry);
    *recent = (cache_recent){
        .lines = calloc(sets, sizeof *recent->lines),
        .set_mask = sets - 1,
        .line_mask = geometry->line - 1,
        .line_shift = (uint32_t)__builtin_ctzll(geometry->line),
    };
    if (recent->lines == NULL) {
        sn_fail(125, "cache: out of memory");
    }
}

void cache_simulation_init(cache_simulation *simulation, cache_sites *sites) {
    *simulation = (cache_simulation){.sites = sites};
    recent_init(&simulation->code, &cache_current.geometries[CACHE_I1]);
    recent_init(&simulation->data, &cache_current.geometries[CACHE_D1]);
    if (cache_current.simulates_caches) {
        simulation->core = cache_current.model->core_new();
    }
    if (cache_current.simulates_branches) {
        simulation->predictor = calloc(1, sizeof *simulation->predictor);
        if (simulation->predictor == NULL) {
            sn_fail(125, "cache: out of memory");
        }
    }
}

void cache_simulation_release(cache_simulation *simulation) {
    if (simulation->core != NULL) {
        cache_current.model->core_free(simulation->core);
    }
    free(simulation->code.lines);
    free(simulation->data.lines);
    free(simulation->predictor);
    *simulation = (cache_simulation){0};
}

/* ---------------------------------------------------------------------- references */

static inline bool is_recent(const cache_recent *recent, uint64_t line) {
    return recent->lines[line & recent->set_mask] == line + 1;
}

static void count(cache_simulation *simulation, unsigned index, unsigned counter, uint64_t amount) {
    cache_site_counters(simulation->sites, simulation->record->first_site + index)[counter] += amount;
}

/** Ask the model, count what it says, and note the lines used. */
static void refer(cache_simulation *simulation, unsigned kind, unsigned index, uint64_t address, uint32_t size) {
    cache_recent *recent = kind == CACHE_FETCH ? &simulation->code : &simulation->data;
    cache_reference reference = {
        .address = address,
        .size = size,
        .kind = kind,
        .instruction = simulation->record->instructions[index].address,
    };
    unsigned missed = cache_current.model->refer(simulation->core, &reference);
    if (missed != 0) {
        uint64_t *counters = cache_site_counters(simulation->sites, simulation->record->first_site + index) +
                             CACHE_SITE_MISSES + kind * CACHE_MOST_LEVELS;
        for (unsigned level = 0; level < missed; level++) {
            counters[level]++;
        }
    }
    for (uint64_t line = address >> recent->line_shift; line <= (address + size - 1) >> recent->line_shift; line++) {
        recent->lines[line & recent->set_mask] = line + 1;
    }
}

/** Do the block's fetches before number `count`. */
static void fetch_before(cache_simulation *simulation, unsigned end) {
    const cache_record *record = simulation->record;
    for (; simulation->fetched < end; simulation->fetched++) {
        unsigned index = record->fetches[simulation->fetched];
        const cache_instruction *instruction = &record->instructions[index];
        uint64_t line = instruction->address >> simulation->code.line_shift;
        uint64_t last = (instruction->address + instruction->length - 1) >> simulation->code.line_shift;
        if (line != last || !is_recent(&simulation->code, line)) {
            refer(simulation, CACHE_FETCH, index, instruction->address, instruction->length);
        }
    }
}

/** Do the fetches of the instructions before `index`, and of it. */
static void fetch_up_to(cache_simulation *simulation, unsigned index) {
    const cache_record *record = simulation->record;
    unsigned end = simulation->fetched;
    while (end < record->fetch_count && record->fetches[end] <= index) {
        end++;
    }
    if (!simulation->skips_fetches) {
        fetch_before(simulation, end);
    }
}

/* ------------------------------------------------------------------------ ways out */

/** Tell the predictor of the branches up to number `end`, none of which was taken, and of the one that was. */
static void predict(cache_simulation *simulation, unsigned end, bool is_taken) {
    const cache_record *record = simulation->record;
    for (unsigned exit = 0; simulation->predictor != NULL && exit < end + is_taken; exit++) {
        unsigned index = record->exits[exit].instruction;
        if (cache_predictor_conditional(simulation->predictor, record->instructions[index].address, exit == end)) {
            count(simulation, index, CACHE_SITE_MISPREDICTED, 1);
        }
    }
}

static void leave_by(cache_simulation *simulation, unsigned exit) {
    const cache_record *record = simulation->record;
    if (record != NULL && exit < record->exit_count) {
        if (!simulation->skips_fetches) {
            fetch_before(simulation, record->exits[exit].fetches);
        }
        predict(simulation, exit, exit + 1u < record->exit_count);
    }
    simulation->record = NULL;
}

/** The block was left without a mark. */
static void leave(cache_simulation *simulation) {
    const cache_record *record = simulation->record;
    if (record != NULL) {
        leave_by(simulation, record->implied[simulation->slots_filled]);
    }
}

/** A signal or fault cut the pass short. Another block than the one in question was never entered: what looked like its
    mark was the address of a wild access. */
static void cut(cache_simulation *simulation, uint64_t mark) {
    const cache_record *record = cache_record_at(cache_word_cut_number(mark));
    unsigned completed = cache_word_completed(mark), passed = 0;
    if (record != NULL && completed < record->instruction_count) {
        cache_site_counters(simulation->sites, record->first_site + completed)[CACHE_SITE_CUTS]++;
    }
    if (record != NULL && record == simulation->record) {
        if (completed > 0) {
            fetch_up_to(simulation, completed - 1);
        }
        while (passed + 1u < record->exit_count && record->exits[passed].instruction < completed) {
            passed++;
        }
        predict(simulation, passed, false);
        simulation->cut = record;
    }
    simulation->record = NULL;
}

/* --------------------------------------------------------------------------- words */

static void fill_slot(cache_simulation *simulation, const cache_slot *slot, uint64_t word) {
    if (!simulation->skips_fetches) {
        fetch_before(simulation, slot->fetches);
    }
    if (slot->kind != CACHE_SLOT_TARGET) {
        refer(simulation, slot->kind, slot->instruction, word, slot->size);
    } else if (cache_predictor_indirect(simulation->predictor,
                                        simulation->record->instructions[slot->instruction].address, word)) {
        count(simulation, slot->instruction, CACHE_SITE_MISPREDICTED, 1);
    }
}

/** Fill the block's slots from the words, until there are no more of either or there is a mark. Returns the next word. */
static const uint64_t *fill_slots(cache_simulation *simulation, const uint64_t *word, const uint64_t *end) {
    const cache_record *record = simulation->record;
    const cache_recent *recent = &simulation->data;
    const cache_slot *slot = record->slots + simulation->slots_filled, *last = record->slots + record->slot_count;
    if (last - slot > end - word) {
        last = slot + (end - word);
    }
    for (; slot < last && !cache_word_is_mark(*word); slot++, word++) {
        bool is_within = (int64_t)(*word & recent->line_mask) <= slot->most_offset;
        if (__builtin_expect(!is_within || !is_recent(recent, *word >> recent->line_shift), 0)) {
            fill_slot(simulation, slot, *word);
        }
    }
    simulation->slots_filled = (unsigned)(slot - record->slots);
    return word;
}

static bool are_lines_recent(const cache_recent *recent, const cache_record *record) {
    for (unsigned i = 0; i < record->line_count; i++) {
        if (!is_recent(recent, record->lines[i])) {
            return false;
        }
    }
    return true;
}

static void enter(cache_simulation *simulation, uint32_t number) {
    const cache_record *record = cache_record_at(number);
    simulation->record = record;
    simulation->cut = NULL;
    simulation->slots_filled = 0;
    simulation->fetched = 0;
    simulation->skips_fetches = record != NULL && are_lines_recent(&simulation->code, record);
}

/** One access of an instruction whose accesses vary. */
static void access_of(cache_simulation *simulation, uint64_t mark) {
    unsigned index = cache_word_instruction(mark), kind = cache_word_is_write(mark) ? CACHE_WRITE : CACHE_READ;
    uint64_t address = cache_word_address(mark);
    uint32_t size = cache_word_size(mark);
    const cache_recent *recent = &simulation->data;
    if (index >= simulation->record->instruction_count) {
        return;
    }
    fetch_up_to(simulation, index);
    count(simulation, index, CACHE_SITE_REFERENCES + kind, 1);
    if ((address & recent->line_mask) + size > recent->line_mask + 1 ||
        !is_recent(recent, address >> recent->line_shift)) {
        refer(simulation, kind, index, address, size);
    }
}

static void read_access(cache_simulation *simulation, uint64_t mark) {
    if (simulation->record != NULL) {
        access_of(simulation, mark);
    } else if (simulation->cut != NULL) {
        simulation->record = simulation->cut;
        access_of(simulation, mark);
        simulation->record = NULL;
    }
}

static void read_mark(cache_simulation *simulation, uint64_t mark) {
    switch (cache_word_kind(mark)) {
    case CACHE_MARK_ACCESS: read_access(simulation, mark); return;
    case CACHE_MARK_CUT: cut(simulation, mark); return;
    case CACHE_MARK_EMITTED:
        if (cache_word_is_exit(mark)) {
            leave_by(simulation, cache_word_number(mark));
        } else {
            leave(simulation);
            enter(simulation, cache_word_number(mark));
        }
        return;
    default: return; /* the address of a wild access */
    }
}

void cache_simulate(cache_simulation *simulation, const uint64_t *words, size_t count) {
    const uint64_t *word = words, *end = words + count;
    while (word < end) {
        if (cache_word_is_mark(*word)) {
            read_mark(simulation, *word++);
        } else if (simulation->record != NULL && simulation->slots_filled < simulation->record->slot_count) {
            word = fill_slots(simulation, word, end);
        } else {
            word++; /* of a pass whose beginning was taken for something else */
        }
    }
}

void cache_simulation_finish(cache_simulation *simulation) {
    leave(simulation);
}
