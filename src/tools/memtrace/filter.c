/**
 * @fileoverview Filters by address and size. See filter.h.
 */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

memtrace_filter memtrace_filter_current;

/** Read a number that ends at `*text`'s end or at one of the characters of `delimiters`. */
static bool read_number(const char **text, const char *delimiters, uint64_t *number) {
    if (**text < '0' || **text > '9')
        return false;
    char *end;
    errno = 0;
    *number = strtoull(*text, &end, strncmp(*text, "0x", 2) == 0 ? 16 : 10);
    *text = end;
    return !errno && strchr(delimiters, *end);
}

static bool parse(const char *text, memtrace_range *range) {
    if (!read_number(&text, "-+", &range->first))
        return false;
    range->last = range->first;
    char delimiter = *text;
    if (!delimiter)
        return true;
    uint64_t second;
    text++;
    if (!read_number(&text, "", &second))
        return false;
    if (delimiter == '-')
        range->last = second;
    else if (!second || __builtin_add_overflow(range->first, second - 1, &range->last))
        return false;
    return range->first <= range->last;
}

void memtrace_filter_parse(const sn_texts *texts, const char *name, memtrace_range **ranges, size_t *count) {
    *ranges = calloc(texts->count + 1, sizeof **ranges);
    *count = texts->count;
    for (size_t i = 0; i < texts->count; i++)
        if (!*ranges || !parse(texts->items[i], &(*ranges)[i]))
            sn_fail(2, "memtrace: --%s needs N, FROM-TO or FROM+COUNT, not '%.100s'", name, texts->items[i]);
}

bool memtrace_size_is_wanted(uint64_t size) {
    const memtrace_filter *filter = &memtrace_filter_current;
    for (size_t i = 0; i < filter->size_count; i++)
        if (size >= filter->sizes[i].first && size <= filter->sizes[i].last)
            return true;
    return !filter->size_count;
}

bool memtrace_address_is_in_a_range(uint64_t address, uint64_t size) {
    uint64_t last = address + (size ? size - 1 : 0);
    for (size_t i = 0; i < memtrace_filter_current.address_count; i++) {
        const memtrace_range *range = &memtrace_filter_current.addresses[i];
        if (address <= range->last && last >= range->first)
            return true;
    }
    return false;
}
