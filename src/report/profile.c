/**
 * @fileoverview Rows of a profile: finding, adding, sorting, summing, writing. See profile.h.
 */
#include "report/profile.h"

#include <stdlib.h>
#include <string.h>

#include "sonde/cachegrind.h"

/** Numbers are given from 1 on, so that a pair of them is a key of 64 bits. */
static uint64_t number_of(sn_hash *numbers, uint64_t key) {
    bool is_new;
    uint64_t *number = sn_hash_insert(numbers, key, &is_new);
    if (is_new) {
        *number = sn_hash_count(numbers);
    }
    return *number;
}

size_t sn_profile_row_of(sn_profile *profile, const char *file, const char *function, uint32_t line) {
    uint64_t file_number = number_of(&profile->name_numbers, (uintptr_t)file);
    uint64_t function_number = number_of(&profile->name_numbers, (uintptr_t)function);
    uint64_t place = number_of(&profile->place_numbers, file_number << 32 | function_number);
    size_t row = number_of(&profile->row_numbers, place << 32 | line) - 1;
    if (row == profile->rows.count) {
        *sn_vector_add(&profile->rows) = (sn_profile_row){.file = file, .function = function, .line = line};
        for (unsigned i = 0; i < profile->event_count; i++) {
            *sn_vector_add(&profile->counts) = 0;
        }
    }
    return row;
}

/** Whether all sums stay numbers of 63 bits. */
static bool add_magnitudes(sn_profile *profile, const int64_t *counts) {
    uint64_t sums[SN_PROFILE_MOST_EVENTS];
    for (unsigned i = 0; i < profile->event_count; i++) {
        uint64_t magnitude = counts[i] < 0 ? -(uint64_t)counts[i] : (uint64_t)counts[i];
        sums[i] = profile->magnitudes[i] + magnitude; /* both below 2^63 + 1 */
        if (sums[i] > INT64_MAX) {
            return false;
        }
    }
    memcpy(profile->magnitudes, sums, profile->event_count * sizeof *sums);
    return true;
}

bool sn_profile_add(sn_profile *profile, size_t row, const int64_t *counts) {
    if (!add_magnitudes(profile, counts)) {
        return false;
    }
    int64_t *sums = profile->counts.items + row * profile->event_count;
    for (unsigned i = 0; i < profile->event_count; i++) {
        sums[i] += counts[i];
        profile->totals[i] += counts[i];
    }
    return true;
}

int sn_profile_event(const sn_profile *profile, const char *name, size_t length) {
    for (unsigned i = 0; i < profile->event_count; i++) {
        if (strlen(profile->events[i]) == length && memcmp(profile->events[i], name, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

bool sn_profile_append(sn_profile *profile, const char *file, const char *function, uint32_t line,
                       const int64_t *counts) {
    sn_profile_row *last = profile->rows.count > 0 ? &profile->rows.items[profile->rows.count - 1] : NULL;
    if (last == NULL || last->line != line || last->file != file || last->function != function) {
        *sn_vector_add(&profile->rows) = (sn_profile_row){.file = file, .function = function, .line = line};
        for (unsigned i = 0; i < profile->event_count; i++) {
            *sn_vector_add(&profile->counts) = 0;
        }
    }
    return sn_profile_add(profile, profile->rows.count - 1, counts);
}

/* --------------------------------------------------------------------------- sorting */

/** A function of a file, with the number that it has among them before they are sorted. */
typedef struct place {
    const char *file, *function;
    uint32_t number;
} place;

typedef SN_VECTOR(place) place_list;

static int by_names(const void *left, const void *right) {
    const place *a = left, *b = right;
    int order = a->file == b->file ? 0 : strcmp(a->file, b->file);
    return order != 0 ? order : a->function == b->function ? 0 : strcmp(a->function, b->function);
}

/** What a row is sorted by, a number, and where the row is. */
typedef struct sort_key {
    uint64_t key;
    size_t row;
} sort_key;

typedef SN_VECTOR(sort_key) sort_keys;

/** Keys with the numbers of places in the order in which they come. Rows of one place often follow each other. */
static void number_places(const sn_profile *profile, sort_keys *keys, sn_hash *names, place_list *places) {
    sn_hash numbers = {0};
    const char *file = NULL, *function = NULL;
    uint64_t number = 0;
    for (size_t i = 0; i < profile->rows.count; i++) {
        const sn_profile_row *row = &profile->rows.items[i];
        if (i == 0 || row->file != file || row->function != function) {
            file = row->file;
            function = row->function;
            number = number_of(&numbers, number_of(names, (uintptr_t)file) << 32 | number_of(names, (uintptr_t)function)) - 1;
            if (number == places->count) {
                *sn_vector_add(places) = (place){.file = file, .function = function, .number = (uint32_t)number};
            }
        }
        keys->items[keys->count++] = (sort_key){.key = number << 32 | row->line, .row = i};
    }
    sn_hash_release(&numbers);
}

/** By eight bits at a time from the lowest on, without those that are the same in all keys. */
static void sort_by_key(sort_keys *keys) {
    sort_keys other = {0};
    uint64_t varying = 0;
    sn_vector_reserve(&other, keys->count);
    other.count = keys->count;
    for (size_t i = 1; i < keys->count; i++) {
        varying |= keys->items[i].key ^ keys->items[0].key;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t starts[257] = {0};
        if ((varying >> shift & 0xff) == 0) {
            continue;
        }
        for (size_t i = 0; i < keys->count; i++) {
            starts[(keys->items[i].key >> shift & 0xff) + 1]++;
        }
        for (unsigned i = 0; i < 256; i++) {
            starts[i + 1] += starts[i];
        }
        for (size_t i = 0; i < keys->count; i++) {
            other.items[starts[keys->items[i].key >> shift & 0xff]++] = keys->items[i];
        }
        sort_keys swapped = other;
        other = *keys;
        *keys = swapped;
    }
    sn_vector_release(&other);
}

/** Keys in the order of the names of files and functions, and of lines. */
static void make_keys(const sn_profile *profile, sort_keys *keys) {
    place_list places = {0};
    SN_VECTOR(uint32_t) ranks = {0};
    sn_hash names = {0};
    sn_vector_reserve(keys, profile->rows.count);
    number_places(profile, keys, &names, &places);
    sn_vector_reserve(&ranks, places.count);
    if (places.count > 0) {
        qsort(places.items, places.count, sizeof *places.items, by_names);
    }
    for (size_t i = 0; i < places.count; i++) {
        ranks.items[places.items[i].number] = (uint32_t)i;
    }
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t key = keys->items[i].key;
        keys->items[i].key = (uint64_t)ranks.items[key >> 32] << 32 | (uint32_t)key;
    }
    sn_vector_release(&places);
    sn_vector_release(&ranks);
    sn_hash_release(&names);
    sort_by_key(keys);
}

/** Whether the key at `i` begins a new row of the sorted profile. */
static bool is_new_row(const sort_keys *keys, size_t i) {
    return i == 0 || keys->items[i].key != keys->items[i - 1].key;
}

/** The counts in the order of the keys, those of equal keys added up. */
static void sort_counts(sn_profile *profile, const sort_keys *keys) {
    __typeof__(profile->counts) counts = {0};
    unsigned event_count = profile->event_count;
    sn_vector_reserve(&counts, profile->counts.count);
    for (size_t i = 0; i < keys->count; i++) {
        const int64_t *from = sn_profile_counts(profile, keys->items[i].row);
        if (is_new_row(keys, i)) {
            memcpy(counts.items + counts.count, from, event_count * sizeof *from);
            counts.count += event_count;
            continue;
        }
        int64_t *sums = counts.items + counts.count - event_count;
        for (unsigned event = 0; event < event_count; event++) {
            sums[event] += from[event]; /* fits: so do the totals of all magnitudes */
        }
    }
    sn_vector_release(&profile->counts);
    profile->counts = counts;
}

static void sort_rows(sn_profile *profile, const sort_keys *keys) {
    __typeof__(profile->rows) rows = {0};
    sn_vector_reserve(&rows, profile->rows.count);
    for (size_t i = 0; i < keys->count; i++) {
        if (is_new_row(keys, i)) {
            rows.items[rows.count++] = profile->rows.items[keys->items[i].row];
        }
    }
    sn_vector_release(&profile->rows);
    profile->rows = rows;
}

/** Counts and rows one behind the other: there may be millions, and only one of them is there twice at a time. */
void sn_profile_sort(sn_profile *profile) {
    sort_keys keys = {0};
    make_keys(profile, &keys);
    sort_counts(profile, &keys);
    sort_rows(profile, &keys);
    sn_vector_release(&keys);
    sn_hash_clear(&profile->row_numbers); /* rows have other numbers now */
}

sn_profile_functions sn_profile_sum_functions(const sn_profile *profile) {
    sn_profile_functions functions = {0};
    sn_profile_function *last = NULL;
    for (size_t i = 0; i < profile->rows.count; i++) {
        const sn_profile_row *row = &profile->rows.items[i];
        if (last == NULL || last->file != row->file || last->function != row->function) {
            last = sn_vector_add(&functions);
            *last = (sn_profile_function){.file = row->file, .function = row->function, .first = i};
        }
        last->count++;
        for (unsigned event = 0; event < profile->event_count; event++) {
            last->counts[event] += sn_profile_counts(profile, i)[event];
        }
    }
    return functions;
}

void sn_profile_write(const sn_profile *profile, FILE *stream) {
    sn_cachegrind file;
    sn_cachegrind_begin(&file, stream);
    for (size_t i = 0; i < profile->descriptions.count; i++) {
        sn_cachegrind_description(&file, profile->descriptions.items[i]);
    }
    sn_cachegrind_command(&file, 1, &profile->command);
    sn_cachegrind_events(&file, profile->event_count, profile->events);
    for (size_t i = 0; i < profile->rows.count; i++) {
        const sn_profile_row *row = &profile->rows.items[i];
        sn_cachegrind_line(&file, row->file, row->function, row->line, sn_profile_counts(profile, i));
    }
    sn_cachegrind_summary(&file, profile->totals);
}

void sn_profile_release(sn_profile *profile) {
    sn_vector_release(&profile->descriptions);
    sn_vector_release(&profile->rows);
    sn_vector_release(&profile->counts);
    sn_hash_release(&profile->name_numbers);
    sn_hash_release(&profile->place_numbers);
    sn_hash_release(&profile->row_numbers);
    *profile = (sn_profile){0};
}
