/**
 * @fileoverview Files of calling contexts (sonde/context_file.h, docs/contexts-file.md), read into memory.
 *
 * Used by contexts.c and the fuzzer. Whatever the file says: numbers refer to lines before them, so that chains of callers end.
 */
#ifndef SONDE_REPORT_CONTEXTS_READER_H
#define SONDE_REPORT_CONTEXTS_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sonde/vector.h"
#include "sonde/context_file.h"

enum { SN_CONTEXTS_EXPLANATION_SIZE = 200 };

/** A function and a place in it. */
typedef struct sn_contexts_frame {
    const char *function; /**< interned, as all names; NULL if unknown */
    const char *file;     /**< NULL if unknown */
    uint32_t line;        /**< 0 if unknown */
    const char *module;   /**< NULL if unknown */
} sn_contexts_frame;

/** Some of the numbers in sn_contexts.frame_lists: frames of one place, inlined functions first. */
typedef struct sn_contexts_place {
    uint32_t first, count;
} sn_contexts_place;

typedef enum sn_contexts_how { SN_CONTEXTS_FIRST, SN_CONTEXTS_CALL, SN_CONTEXTS_JUMP, SN_CONTEXTS_SIGNAL } sn_contexts_how;

typedef struct sn_contexts_context {
    uint32_t caller;          /**< 0: none */
    uint32_t function;        /**< a frame: where the function begins */
    sn_contexts_how how;
    sn_contexts_place site;   /**< in the caller; of calls only */
} sn_contexts_context;

typedef struct sn_contexts_value {
    uint32_t context;         /**< 0: unknown */
    sn_contexts_place place;  /**< of none: somewhere in the context's function */
} sn_contexts_value;

/** All zero is a valid, empty one. Contexts, frames and names have numbers from 1 on; their element 0 means none. */
typedef struct sn_contexts_file {
    const char *path;         /**< the caller's */
    const char *tool, *command;
    int64_t process;
    unsigned event_count;
    const char *events[SN_CONTEXT_FILE_MOST_EVENTS];
    int64_t totals[SN_CONTEXT_FILE_MOST_EVENTS];
    SN_VECTOR(const char *) names;
    SN_VECTOR(sn_contexts_frame) frames;
    SN_VECTOR(sn_contexts_context) contexts;
    SN_VECTOR(uint32_t) frame_lists;
    SN_VECTOR(sn_contexts_value) values;
    SN_VECTOR(int64_t) counts; /**< `event_count` for each of `values` */
} sn_contexts_file;

/** Whether a file that begins so is one. */
bool sn_contexts_recognises(const char *head, size_t size);

/** Returns false and one line (without newline) in `explanation` when it is damaged; an empty one: it could not be read. */
bool sn_contexts_parse(sn_contexts_file *file, FILE *stream, char *explanation);
void sn_contexts_release(sn_contexts_file *file);

/** The counts of a value. */
static inline const int64_t *sn_contexts_counts(const sn_contexts_file *file, size_t value) {
    return file->counts.items + value * file->event_count;
}

#endif
