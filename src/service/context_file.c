/**
 * @fileoverview The writer of files of calling contexts: see sonde/context_file.h; docs/contexts-file.md is the format.
 *
 * Every line of names, frames and contexts is written once, before it is needed, and has the number of its place among its
 * like. Lines are told by their interned text, so that what looks the same is the same.
 */
#include "sonde/context_file.h"

#include <inttypes.h>

#include "sonde/arena.h"
#include "sonde/hash.h"
#include "sonde/intern.h"
#include "base/log.h"
#include "sonde/vector.h"
#include "service/contexts.h"

enum { MOST_INLINED = 32 };

/** Lines of one kind. */
typedef struct kind {
    char letter;
    uint32_t count;
    sn_hash numbers; /**< by interned text */
} kind;

struct sn_context_file {
    FILE *stream;
    size_t event_count;
    kind names, frames, contexts;
    sn_hash written;            /**< of contexts: their numbers in the file */
    uint64_t totals[SN_CONTEXT_FILE_MOST_EVENTS];
    SN_VECTOR(sn_context) open; /**< the way up to a context that is written */
};

/* ------------------------------------------------------------------------------------------------------ lines */

static void write_text(FILE *stream, const char *text) {
    for (; *text; text++) putc((unsigned char)*text < ' ' ? ' ' : *text, stream);
}

/** The number of a line, written if it is new. */
static uint32_t number_of(sn_context_file *file, kind *kind, const char *text) {
    bool is_new;
    uint64_t *number = sn_hash_insert(&kind->numbers, (uintptr_t)sn_intern(text), &is_new);
    if (is_new) {
        *number = ++kind->count;
        fprintf(file->stream, "%c ", kind->letter);
        write_text(file->stream, text);
        putc('\n', file->stream);
    }
    return (uint32_t)*number;
}

/** A name of white space, which no line can hold, is none. */
static uint32_t name_number(sn_context_file *file, const char *name) {
    const char *letter = name ? name : "";
    while (*letter && (unsigned char)*letter <= ' ') letter++;
    return *letter ? number_of(file, &file->names, name) : 0;
}

static uint32_t frame_number(sn_context_file *file, const char *function, const char *source, unsigned line,
                             const char *module) {
    char text[64];
    snprintf(text, sizeof text, "%u %u %u %u", name_number(file, function), name_number(file, source), source ? line : 0,
             name_number(file, module));
    return number_of(file, &file->frames, text);
}

/** Code without symbols has its address in its file for a name. */
static const char *shown_name(const sn_location *location, uint64_t address, char *buffer, size_t size) {
    if (location->function) return location->function;
    snprintf(buffer, size, "0x%" PRIx64, location->file_address ? location->file_address : address);
    return buffer;
}

/** The function that begins at `entry`. */
static uint32_t function_number(sn_context_file *file, uint64_t entry) {
    char name[32];
    sn_location location;
    sn_locate(entry, &location);
    return frame_number(file, shown_name(&location, entry, name, sizeof name), location.file, location.line, location.module);
}

/** Add the frames of a place to the text of a line, inlined functions first. */
static size_t add_place(sn_context_file *file, uint64_t address, char *text, size_t size, size_t used) {
    char name[32];
    sn_inlined frames[MOST_INLINED];
    sn_location location;
    unsigned count = sn_locate_inlined(address, frames, MOST_INLINED);
    sn_locate(address, &location);
    for (unsigned i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %u",
                                 frame_number(file, frames[i].function, frames[i].file, frames[i].line, location.module));
    if (!count && used < size)
        used += (size_t)snprintf(text + used, size - used, " %u",
                                 frame_number(file, shown_name(&location, address, name, sizeof name), location.file,
                                              location.line, location.module));
    return used;
}

/* --------------------------------------------------------------------------------------------------- contexts */

static uint32_t write_one(sn_context_file *file, const sn_context_info *info, uint32_t caller) {
    char text[64 + MOST_INLINED * 12];
    bool is_call = info->call_site != 0;
    char how = is_call ? 'c' : info->is_handler ? 's' : info->caller ? 'j' : 'f';
    size_t used = (size_t)snprintf(text, sizeof text, "%u %c %u", caller, how, function_number(file, info->function));
    if (is_call) add_place(file, info->call_site, text, sizeof text, used);
    return number_of(file, &file->contexts, text);
}

/** Callers come before what they call; chains may be a million long. */
static uint32_t context_number(sn_context_file *file, sn_context context) {
    sn_context_info info;
    uint64_t *known = NULL;
    file->open.count = 0;
    while (!(known = sn_hash_find(&file->written, context)) && sn_context_describe(context, &info)) {
        *sn_vector_add(&file->open) = context;
        context = info.caller;
    }
    uint32_t number = known ? (uint32_t)*known : 0;
    while (file->open.count > 0) {
        context = file->open.items[--file->open.count];
        sn_context_describe(context, &info);
        number = write_one(file, &info, number);
        sn_hash_set(&file->written, context, number);
    }
    return number;
}

/* ------------------------------------------------------------------------------------------------------- file */

static void write_command(FILE *stream) {
    const char *const *words;
    int count = sn_client_arguments(&words);
    fputs("cmd:", stream);
    for (int i = 0; i < count; i++) {
        putc(' ', stream);
        write_text(stream, words[i]);
    }
    putc('\n', stream);
}

sn_context_file *sn_context_file_begin(FILE *stream, const char *tool, size_t event_count, const char *const *events) {
    if (event_count == 0 || event_count > SN_CONTEXT_FILE_MOST_EVENTS)
        sn_fail(SN_STATUS_ENGINE, "a file of contexts has from 1 to %d events", SN_CONTEXT_FILE_MOST_EVENTS);
    sn_context_file *file = sn_pages_allocate(sizeof *file);
    *file = (sn_context_file){.stream = stream, .event_count = event_count,
                              .names = {.letter = 'n'}, .frames = {.letter = 'f'}, .contexts = {.letter = 'c'}};
    fprintf(stream, "# sonde contexts\nversion: 1\ntool: %s\npid: %d\n", tool, sn_client_process());
    write_command(stream);
    fputs("events:", stream);
    for (size_t i = 0; i < event_count; i++) fprintf(stream, " %s", events[i]);
    putc('\n', stream);
    return file;
}

void sn_context_file_add(sn_context_file *file, sn_context context, uint64_t address, const uint64_t *counts) {
    char place[MOST_INLINED * 12] = "";
    uint32_t number = context_number(file, context);
    if (address) add_place(file, address, place, sizeof place, 0);
    fprintf(file->stream, "v %u", number);
    for (size_t i = 0; i < file->event_count; i++) {
        fprintf(file->stream, " %" PRIu64, counts[i]);
        file->totals[i] += counts[i];
    }
    fprintf(file->stream, "%s%s\n", address ? " @" : "", place);
}

void sn_context_file_end(sn_context_file *file) {
    fputs("totals:", file->stream);
    for (size_t i = 0; i < file->event_count; i++) fprintf(file->stream, " %" PRIu64, file->totals[i]);
    putc('\n', file->stream);
    sn_hash_release(&file->names.numbers);
    sn_hash_release(&file->frames.numbers);
    sn_hash_release(&file->contexts.numbers);
    sn_hash_release(&file->written);
    sn_vector_release(&file->open);
    sn_pages_release(file, sizeof *file);
}
