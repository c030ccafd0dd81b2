/**
 * @fileoverview Which data accesses are wanted: --address= and --size=.
 *
 * memtrace.c parses the options into it; what instruments and what takes traces apart asks.
 */
#ifndef SONDE_TOOLS_MEMTRACE_FILTER_H
#define SONDE_TOOLS_MEMTRACE_FILTER_H

#include <sonde/tool.h>
#include <stdbool.h>
#include <stdint.h>

/** Inclusive. */
typedef struct memtrace_range {
    uint64_t first, last;
} memtrace_range;

typedef struct memtrace_filter {
    memtrace_range *addresses; /**< an access is wanted if it touches one of them */
    size_t address_count;      /**< 0: wherever it is */
    memtrace_range *sizes;
    size_t size_count;         /**< 0: of any size */
} memtrace_filter;

extern memtrace_filter memtrace_filter_current;

/** Parse the texts "N", "FROM-TO" (both included) or "FROM+COUNT" of the option `name`; ends the run on a bad one. */
void memtrace_filter_parse(const sn_texts *texts, const char *name, memtrace_range **ranges, size_t *count);

bool memtrace_size_is_wanted(uint64_t size);
bool memtrace_address_is_in_a_range(uint64_t address, uint64_t size);

static inline bool memtrace_address_is_wanted(uint64_t address, uint64_t size) {
    return !memtrace_filter_current.address_count || memtrace_address_is_in_a_range(address, size);
}

#endif
