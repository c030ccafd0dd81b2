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

/** What a row is sorted by, with the number that it had. */
typedef struct sort_key {
    sn_profile_row row;
    size_t number;
} sort_key;

static int by_place(const void *left, const void *right) {
    const sn_profile_row *a = &((const sort_key *)left)->row, *b = &((const sort_key *)right)->row;
    int order = a->file == b->file ? 0 : strcmp(a->file, b->file);
    if (order == 0) {
        order = a->function == b->function ? 0 : strcmp(a->function, b->function);
    }
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

void sn_profile_sort(sn_profile *profile) {
    SN_VECTOR(sort_key) keys = {0};
    SN_VECTOR(int64_t) counts = {0};
    sn_vector_reserve(&keys, profile->rows.count);
    sn_vector_reserve(&counts, profile->counts.count);
    for (size_t i = 0; i < profile->rows.count; i++) {
        *sn_vector_add(&keys) = (sort_key){.row = profile->rows.items[i], .number = i};
    }
    if (keys.count > 0) {
        qsort(keys.items, keys.count, sizeof *keys.items, by_place);
    }
    for (size_t i = 0; i < keys.count; i++) {
        profile->rows.items[i] = keys.items[i].row;
        for (unsigned event = 0; event < profile->event_count; event++) {
            *sn_vector_add(&counts) = sn_profile_counts(profile, keys.items[i].number)[event];
        }
    }
    if (counts.count > 0) {
        memcpy(profile->counts.items, counts.items, counts.count * sizeof *counts.items);
    }
    sn_hash_clear(&profile->row_numbers); /* rows have other numbers now */
    sn_vector_release(&counts);
    sn_vector_release(&keys);
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
