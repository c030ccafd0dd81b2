/**
 * @fileoverview Sums up events by source line, and writes the profile. See profile.h.
 *
 * Finding the line of an address is slow, and superblocks hold the same code several times: so the instructions of all
 * blocks are sorted by address, and each address is looked up once.
 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/cachegrind.h>
#include <sonde/collections.h>

#include "simulator/setup.h"

/** An instruction of a block that was executed. */
typedef struct executed {
    uint64_t address;
    const cache_record *record;
    unsigned index;
    uint64_t executions, steps;
} executed;

typedef struct executed_list {
    SN_VECTOR(executed) list;
    const cache_summary *summary;
} executed_list;

const char *cache_profile_file;

/* -------------------------------------------------------------------------- events */

unsigned cache_profile_references(cache_kind kind) {
    return kind * (1 + (cache_current.simulates_caches ? cache_current.model->level_count : 0));
}

unsigned cache_profile_branches(void) {
    return cache_current.simulates_caches ? cache_profile_references(CACHE_KINDS) : 1;
}

static void name_events(cache_profile *profile) {
    static const char *const references[CACHE_KINDS] = {"Ir", "Dr", "Dw"}, *const branches[] = {"Bc", "Bcm", "Bi", "Bim"};
    const cache_model *model = cache_current.model;
    profile->events[profile->event_count++] = references[CACHE_FETCH];
    if (cache_current.simulates_caches) {
        profile->event_count = 0;
        for (unsigned kind = 0; kind < CACHE_KINDS; kind++) {
            profile->events[profile->event_count++] = references[kind];
            for (unsigned level = 0; level < model->level_count; level++) {
                profile->events[profile->event_count++] = model->events[kind][level];
            }
        }
    }
    for (unsigned i = 0; cache_current.simulates_branches && i < 4; i++) {
        profile->events[profile->event_count++] = branches[i];
    }
}

static void add_references(int64_t *counts, const executed *executed, const uint64_t *site) {
    const cache_instruction *instruction = &executed->record->instructions[executed->index];
    counts[cache_profile_references(CACHE_READ)] += (int64_t)(instruction->reads * executed->executions);
    counts[cache_profile_references(CACHE_WRITE)] += (int64_t)(instruction->writes * executed->executions);
    for (unsigned kind = 0; site != NULL && kind < CACHE_KINDS; kind++) {
        int64_t *references = &counts[cache_profile_references(kind)];
        *references += (int64_t)site[CACHE_SITE_REFERENCES + kind];
        for (unsigned level = 0; level < cache_current.model->level_count; level++) {
            references[1 + level] += (int64_t)site[CACHE_SITE_MISSES + kind * CACHE_MOST_LEVELS + level];
        }
    }
}

static void add_branches(int64_t *counts, const executed *executed, const uint64_t *site) {
    uint8_t shape = executed->record->instructions[executed->index].shape;
    if ((shape & (CACHE_CONDITIONAL | CACHE_INDIRECT)) != 0) {
        int64_t *branches = &counts[cache_profile_branches() + (shape & CACHE_INDIRECT ? 2 : 0)];
        branches[0] += (int64_t)executed->executions;
        branches[1] += site == NULL ? 0 : (int64_t)site[CACHE_SITE_MISPREDICTED];
    }
}

static void add_events(int64_t *counts, const cache_summary *summary, const executed *executed) {
    const uint64_t *site = cache_site_find(&summary->sites, executed->record->first_site + executed->index);
    counts[0] += (int64_t)executed->steps;
    if (cache_current.simulates_caches) {
        add_references(counts, executed, site);
    }
    if (cache_current.simulates_branches) {
        add_branches(counts, executed, site);
    }
}

/* --------------------------------------------------------------- what was executed */

static uint64_t cuts_at(uint32_t site, void *data) {
    const executed_list *list = data;
    const uint64_t *counters = cache_site_find(&list->summary->sites, site);
    return counters == NULL ? 0 : counters[CACHE_SITE_CUTS];
}

static void add_executed(const cache_executed *found, void *data) {
    executed_list *list = data;
    uint32_t site = found->record->first_site + found->index;
    if (found->steps == 0 && found->executions == 0 && cache_site_find(&list->summary->sites, site) == NULL) {
        return;
    }
    *sn_vector_add(&list->list) = (executed){
        .address = found->record->instructions[found->index].address,
        .record = found->record,
        .index = found->index,
        .executions = found->executions,
        .steps = found->steps,
    };
}

static executed_list list_executed(const cache_summary *summary) {
    executed_list list = {.summary = summary};
    for (const cache_record *record = cache_record_first(); record != NULL; record = record->next) {
        if ((size_t)record->counters + record->counter_count <= summary->values.count) {
            cache_record_walk(record, summary->values.items + record->counters, &summary->tally, cuts_at, add_executed, &list);
        }
    }
    sn_sorted_sort(&list.list, address);
    return list;
}

/* ---------------------------------------------------------------------------- rows */

/** Rows that were found so far, and numbers in the list by place. */
typedef struct row_table {
    cache_rows list;
    sn_index index;
} row_table;

/** The row of that place, with zero counts if it is new. */
static cache_row *row_of(row_table *table, const cache_row *place) {
    uint64_t hash = sn_hash_combine((uintptr_t)place->file, sn_hash_combine((uintptr_t)place->function, place->line));
    uint32_t number;
    sn_index_each(&table->index, hash, number) {
        cache_row *row = &table->list.items[number];
        if (row->file == place->file && row->function == place->function && row->line == place->line) {
            return row;
        }
    }
    sn_index_add(&table->index, hash, (uint32_t)table->list.count);
    cache_row *row = sn_vector_add(&table->list);
    *row = *place;
    return row;
}

/** For code of a module that has no symbol there. */
static const char *name_of_module(const char *module) {
    char name[512];
    const char *slash = strrchr(module, '/');
    snprintf(name, sizeof name, "??? (%s)", slash == NULL ? module : slash + 1);
    return sn_intern(name);
}

/** Where the code was written: of inlined functions, the innermost. */
static cache_row locate(uint64_t address) {
    sn_inlined frame;
    sn_location location;
    cache_row row = {0};
    if (sn_locate_inlined(address, &frame, 1) == 1) {
        row.function = frame.function;
        row.file = frame.line == 0 ? NULL : frame.file;
        row.line = row.file == NULL ? 0 : frame.line;
    }
    if (row.function == NULL && sn_locate(address, &location) && location.module != NULL) {
        row.function = name_of_module(location.module);
    }
    return row;
}

static int compare_names(const char *a, const char *b) {
    return a == b ? 0 : a == NULL ? -1 : b == NULL ? 1 : strcmp(a, b);
}

static int by_place(const void *left, const void *right) {
    const cache_row *a = left, *b = right;
    int order = compare_names(a->file, b->file);
    order = order != 0 ? order : compare_names(a->function, b->function);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static void take_rows(cache_profile *profile, row_table *table) {
    size_t kept = 0;
    sn_index_release(&table->index);
    for (size_t i = 0; i < table->list.count; i++) {
        bool is_empty = true;
        for (unsigned event = 0; event < profile->event_count; event++) {
            profile->totals[event] += table->list.items[i].counts[event];
            is_empty &= table->list.items[i].counts[event] == 0;
        }
        if (!is_empty) {
            table->list.items[kept++] = table->list.items[i];
        }
    }
    table->list.count = kept;
    if (kept > 0) {
        qsort(table->list.items, kept, sizeof *table->list.items, by_place);
    }
    profile->rows = table->list;
}

void cache_profile_make(cache_profile *profile, const cache_summary *summary) {
    row_table table = {0};
    *profile = (cache_profile){0};
    name_events(profile);
    executed_list list = list_executed(summary);
    cache_row *row = NULL;
    for (size_t i = 0; i < list.list.count; i++) {
        const executed *executed = &list.list.items[i];
        if (i == 0 || executed->address != executed[-1].address) {
            cache_row place = locate(executed->address);
            row = row_of(&table, &place);
        }
        add_events(row->counts, summary, executed);
    }
    sn_vector_release(&list.list);
    take_rows(profile, &table);
}

void cache_profile_free(cache_profile *profile) {
    sn_vector_release(&profile->rows);
    *profile = (cache_profile){0};
}

/* ------------------------------------------------------------------------- writing */

static void describe(sn_cachegrind *file) {
    for (unsigned i = 0; i < CACHE_COUNT; i++) {
        char text[120], cache[80];
        if (cache_current.simulates_caches && cache_current.model->has[i]) {
            cache_describe(i, cache, sizeof cache);
            snprintf(text, sizeof text, "%s cache:         %s", cache_names[i], cache);
            sn_cachegrind_description(file, text);
        }
    }
    if (cache_current.simulates_caches && cache_current.model != cache_models[0]) {
        char text[120];
        snprintf(text, sizeof text, "Model:            %s", cache_current.model->name);
        sn_cachegrind_description(file, text);
    }
}

void cache_profile_write(const cache_profile *profile) {
    FILE *stream = sn_file_create(cache_profile_file);
    const char *const *words;
    sn_cachegrind file;
    if (stream == NULL) {
        return;
    }
    sn_cachegrind_begin(&file, stream);
    describe(&file);
    int word_count = sn_client_arguments(&words);
    sn_cachegrind_command(&file, (size_t)word_count, words);
    sn_cachegrind_events(&file, profile->event_count, profile->events);
    for (size_t i = 0; i < profile->rows.count; i++) {
        const cache_row *row = &profile->rows.items[i];
        sn_cachegrind_line(&file, row->file, row->function, row->line, row->counts);
    }
    sn_cachegrind_summary(&file, profile->totals);
    sn_file_close(stream);
}
