/**
 * @fileoverview What the user asked of the tool heap. Set by heap.c before the client starts; everyone reads it.
 */
#ifndef HEAP_SETTINGS_H
#define HEAP_SETTINGS_H

#include <sonde/heap.h>

typedef enum heap_mode { HEAP_TIMELINE, HEAP_LIVE, HEAP_CUMULATIVE, HEAP_DARK_MATTER, HEAP_SCAN } heap_mode;

typedef enum heap_time_unit { HEAP_MILLISECONDS, HEAP_INSTRUCTIONS, HEAP_BYTES } heap_time_unit;

/** How contexts are found. The size of stacks is known only if calls are followed. */
typedef enum heap_contexts { HEAP_UNWOUND, HEAP_FOLLOWED } heap_contexts;

/** Why a dump is written. The names are those of docs/heap-file.md. */
typedef enum heap_cause { HEAP_EXIT, HEAP_PEAK, HEAP_EVERY_BYTES, HEAP_EVERY_SECONDS, HEAP_SIGNAL, HEAP_REQUEST, HEAP_ASKED } heap_cause;

typedef struct heap_settings {
    int mode;               /**< heap_mode */
    int time_unit;          /**< heap_time_unit */
    const char *file;       /**< template of the names of files */
    int64_t depth, max_snapshots, detailed_freq, heap_admin;
    const char *threshold_text, *peak_inaccuracy_text;
    double threshold, peak_inaccuracy; /**< per cent */
    sn_texts alloc_functions, ignored_functions;
    int64_t every_bytes, every_seconds, signal;
    bool at_peak;
    bool counts_stacks, pages_as_heap, accesses;
    int64_t sample_below;
    int contexts;           /**< heap_contexts */
    int stacks_kept;        /**< 1: partial */
    bool is_by_site;        /**< cells are contexts, whatever the sizes */
} heap_settings;

extern heap_settings heap_current;

extern const char *const heap_mode_names[];
extern const char *const heap_cause_names[];

#endif
