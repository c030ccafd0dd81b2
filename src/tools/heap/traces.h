/**
 * @fileoverview The calling contexts that a file mentions: which, and the tables that say what they are.
 */
#ifndef HEAP_TRACES_H
#define HEAP_TRACES_H

#include <stdio.h>

#include <sonde/tool.h>

typedef struct heap_traces {
    uint8_t *is_used; /**< by context */
    sn_context most;
} heap_traces;

heap_traces heap_traces_new(void);

/** Print the name of a context's trace, in quotes, and remember to say what it is. */
void heap_trace_name(heap_traces *traces, FILE *file, sn_context context);

/** Write the members traceTable and frameTable of the object that is open, and forget all. */
void heap_traces_write(heap_traces *traces, FILE *file);

/** Print a text as a string of JSON, in quotes. */
void heap_print_string(FILE *file, const char *text);

#endif
