/**
 * @fileoverview Traces and frames. See traces.h. Frames are numbered by their addresses; functions that were inlined at an address
 * have letters behind the number.
 */
#define _GNU_SOURCE
#include "traces.h"

#include <sonde/sorted.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define DEEPEST 1024

heap_traces heap_traces_new(void) {
    heap_traces traces = {.most = sn_context_count()};
    traces.is_used = calloc((size_t)traces.most + 1, 1);
    if (traces.is_used == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    return traces;
}

void heap_trace_name(heap_traces *traces, FILE *file, sn_context context) {
    sn_context known = context <= traces->most ? context : SN_NO_CONTEXT; /* else it came meanwhile */
    traces->is_used[known] = 1;
    fprintf(file, "\"%x\"", known);
}

void heap_print_string(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
        if (*at == '"' || *at == '\\') {
            fprintf(file, "\\%c", *at);
        } else if (*at < 0x20 || *at >= 0x7f) {
            fprintf(file, "\\u%04x", *at); /* bytes that are no ASCII as Latin-1, so that the file is UTF-8 in any case */
        } else {
            fputc(*at, file);
        }
    }
    fputc('"', file);
}

/* ---------------------------------------------------------------------------------------------------- frames */

/** An address, how many functions stand there, and how far the last one asked for is. */
typedef struct frame {
    uint64_t address;
    unsigned functions;
} frame;

/** By address. */
typedef SN_VECTOR(frame) frame_list;

static void sort_and_count(frame_list *list) {
    sn_sorted_sort(list, address);
    sn_sorted_unique(list, address);
    for (size_t i = 0; i < list->count; i++) {
        list->items[i].functions = heap_frame_functions(list->items[i].address);
    }
}

/** The addresses of a trace, innermost first: the allocating function itself, then the calls. */
static unsigned addresses_of(sn_context context, uint64_t *addresses) {
    heap_place places[DEEPEST];
    sn_context_info info;
    if (!sn_context_describe(context, &info)) {
        return 0;
    }
    addresses[0] = info.function;
    unsigned count = heap_places_of(context, places, DEEPEST);
    for (unsigned i = 0; i < count; i++) {
        addresses[i + 1] = places[i].address;
    }
    return count + 1;
}

static void print_frame_name(FILE *file, const frame_list *frames, size_t number, unsigned inlined) {
    (void)frames;
    fprintf(file, "\"%zx", number);
    if (inlined != 0) {
        fprintf(file, "i%u", inlined);
    }
    fputc('"', file);
}

static void write_trace(FILE *file, const frame_list *frames, sn_context context) {
    uint64_t addresses[DEEPEST + 1];
    unsigned count = addresses_of(context, addresses);
    const char *separator = "";
    fprintf(file, "\n  \"%x\": [", context);
    for (unsigned i = 0; i < count; i++) {
        const frame *found = sn_sorted_find(frames, address, addresses[i]);
        for (unsigned inlined = 0; found != NULL && inlined < found->functions; inlined++) {
            fputs(separator, file);
            print_frame_name(file, frames, (size_t)(found - frames->items), inlined);
            separator = ", ";
        }
    }
    fputc(']', file);
}

static void write_frame(FILE *file, const frame_list *frames, size_t number, unsigned inlined) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    fputs("#00: ", memory);
    heap_print_frame(memory, frames->items[number].address, inlined, true);
    fclose(memory);
    fputs("\n  ", file);
    print_frame_name(file, frames, number, inlined);
    fputs(": ", file);
    heap_print_string(file, text);
    free(text);
}

void heap_traces_write(heap_traces *traces, FILE *file) {
    frame_list frames = {0};
    for (sn_context context = 1; context <= traces->most; context++) {
        uint64_t addresses[DEEPEST + 1];
        unsigned count = traces->is_used[context] ? addresses_of(context, addresses) : 0;
        for (unsigned i = 0; i < count; i++) {
            sn_vector_add(&frames)->address = addresses[i];
        }
    }
    sort_and_count(&frames);
    fputs(" \"traceTable\": {", file);
    const char *separator = "";
    for (sn_context context = 0; context <= traces->most; context++) {
        if (traces->is_used[context]) {
            fputs(separator, file);
            write_trace(file, &frames, context);
            separator = ",";
        }
    }
    fputs("\n },\n \"frameTable\": {", file);
    separator = "";
    for (size_t number = 0; number < frames.count; number++) {
        for (unsigned inlined = 0; inlined < frames.items[number].functions; inlined++) {
            fputs(separator, file);
            write_frame(file, &frames, number, inlined);
            separator = ",";
        }
    }
    fputs("\n }", file);
    sn_vector_release(&frames);
    free(traces->is_used);
}
