/**
 * @fileoverview Callgrind's format. See writer.h.
 */
#include "writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/table.h>

#include "settings.h"
#include "simulator/setup.h"

/** Names that have a number already, of one kind. */
typedef struct name {
    const void *key;  /**< interned strings and functions are told by their address */
    uint32_t number;
} name;
typedef SN_TABLE(name) names;

typedef struct writing {
    FILE *stream;
    const calls_profile *profile;
    names objects, files, functions;
    const char *object, *file; /**< in force */
    bool is_new_file;          /**< no costs were written since that changed */
    uint64_t address, line;    /**< the last position that was of costs or jumps: what readers take distances from */
} writing;

static const char nothing[] = "???";

/* ------------------------------------------------------------------------------- names */

/** A line "what=(number) text", the text only the first time. Line ends inside of names become spaces. */
static void write_name(writing *to, const char *what, names *names, const void *key, const char *text) {
    bool is_new;
    name *name = sn_table_insert(names, key, &is_new);
    if (is_new) {
        name->number = (uint32_t)sn_table_count(names);
    }
    fprintf(to->stream, "%s=", what);
    if (calls_current.compresses_names) {
        fprintf(to->stream, "(%u)%s", name->number, is_new ? " " : "");
    }
    for (; (is_new || !calls_current.compresses_names) && *text != 0; text++) {
        putc(*text == '\n' ? ' ' : *text, to->stream);
    }
    putc('\n', to->stream);
}

static const char *or_nothing(const char *text) {
    return text != NULL ? text : nothing;
}

/* ------------------------------------------------------------------------------- lines */

/** A number, by its distance from the last one if there is one and that is short; Callgrind's manual, "Subposition Compression". */
static void write_number(FILE *stream, uint64_t number, uint64_t *last, const char *format) {
    enum { NEAR = 100 };
    int64_t distance = last != NULL ? (int64_t)(number - *last) : NEAR;
    if (!calls_current.compresses_positions || distance <= -NEAR || distance >= NEAR) {
        fprintf(stream, format, number);
    } else if (distance == 0) {
        putc('*', stream);
    } else {
        fprintf(stream, "%+" PRId64, distance);
    }
    if (last != NULL) {
        *last = number;
    }
}

/** A place, by its distances from the last ones if these are not NULL. */
static void write_place(FILE *stream, uint64_t address, uint64_t *last_address, unsigned line, uint64_t *last_line) {
    if (calls_current.dumps_instructions) {
        write_number(stream, address, last_address, "0x%" PRIx64);
    }
    if (calls_current.dumps_instructions && calls_current.dumps_lines) {
        putc(' ', stream);
    }
    if (calls_current.dumps_lines) {
        write_number(stream, line, last_line, "%" PRIu64);
    }
}

/** Of what is called, or jumped to. */
static void write_target(const writing *to, uint64_t address, unsigned line) {
    write_place(to->stream, address, NULL, line, NULL);
}

static void write_position(writing *to, uint64_t address, unsigned line) {
    write_place(to->stream, address, &to->address, line, &to->line);
}

/** Zeros at the end may be left out. */
static void write_costs(writing *to, const uint64_t *costs, bool writes_all) {
    unsigned count = to->profile->events.count;
    while (!writes_all && count > 1 && costs[count - 1] == 0) {
        count--;
    }
    for (unsigned event = 0; event < count; event++) {
        fprintf(to->stream, " %" PRIu64, costs[event]);
    }
    putc('\n', to->stream);
}

/** Costs of what follows were written in another file than the function was, as inlined code is. */
static void write_file_change(writing *to, const calls_row *row) {
    const char *file = or_nothing(row->key.place.file != NULL ? row->key.place.file : row->key.place.function->file);
    if (file != to->file) {
        bool is_back = file == or_nothing(row->key.place.function->file);
        write_name(to, is_back ? "fe" : "fi", &to->files, file, file);
        to->file = file;
        to->is_new_file = true;
    }
}

static void write_call(writing *to, const calls_row *row) {
    const calls_function *callee = row->key.target.function;
    const char *object = or_nothing(callee->object), *file = or_nothing(callee->file);
    if (object != to->object) {
        write_name(to, "cob", &to->objects, object, object);
    }
    if (file != to->file) {
        write_name(to, "cfi", &to->files, file, file);
    }
    write_name(to, "cfn", &to->functions, callee, callee->name);
    fprintf(to->stream, "calls=%" PRIu64 " ", row->count);
    write_target(to, row->key.target_address, row->key.target.line);
    putc('\n', to->stream);
    write_position(to, row->key.address, row->key.place.line);
    write_costs(to, row->costs, false);
}

static void write_jump(writing *to, const calls_row *row) {
    const char *file = or_nothing(row->key.target.file != NULL ? row->key.target.file : row->key.target.function->file);
    if (file != to->file) {
        write_name(to, "jfi", &to->files, file, file);
    }
    if (row->key.kind == CALLS_ROW_CONDITIONAL) {
        fprintf(to->stream, "jcnd=%" PRIu64 "/%" PRIu64 " ", row->count, row->executed);
    } else {
        fprintf(to->stream, "jump=%" PRIu64 " ", row->count);
    }
    write_target(to, row->key.target_address, row->key.target.line);
    putc('\n', to->stream);
    write_position(to, row->key.address, row->key.place.line);
    putc('\n', to->stream);
}

static void write_row(writing *to, const calls_row *row) {
    write_file_change(to, row);
    switch (row->key.kind) {
    case CALLS_ROW_SELF:
        write_position(to, row->key.address, row->key.place.line);
        /* callgrind_annotate wants every event at some line of a file, or warns. */
        write_costs(to, row->costs, to->is_new_file);
        to->is_new_file = false;
        break;
    case CALLS_ROW_CALL:
        write_call(to, row);
        break;
    case CALLS_ROW_JUMP:
    case CALLS_ROW_CONDITIONAL:
        write_jump(to, row);
        break;
    }
}

static void write_function(writing *to, const calls_function *function) {
    const char *object = or_nothing(function->object), *file = or_nothing(function->file);
    putc('\n', to->stream);
    if (object != to->object) {
        write_name(to, "ob", &to->objects, object, object);
        to->object = object;
    }
    write_name(to, "fl", &to->files, file, file);
    to->file = file;
    to->is_new_file = true;
    write_name(to, "fn", &to->functions, function, function->name);
}

/* ----------------------------------------------------------------------------- heading */

static void write_words(FILE *stream) {
    const char *const *words;
    int count = sn_client_arguments(&words);
    fputs("cmd:", stream);
    for (int i = 0; i < count; i++) {
        putc(' ', stream);
        for (const char *letter = words[i]; *letter != 0; letter++) {
            putc(*letter == '\n' ? ' ' : *letter, stream);
        }
    }
    putc('\n', stream);
}

static void write_numbers(FILE *stream, const char *name, const calls_profile *profile) {
    fputs(name, stream);
    for (unsigned event = 0; event < profile->events.count; event++) {
        fprintf(stream, " %" PRIu64, profile->totals[event]);
    }
    putc('\n', stream);
}

static void write_caches(FILE *stream) {
    for (unsigned cache = 0; cache < CACHE_COUNT; cache++) {
        char text[80];
        if (cache_current.simulates_caches && cache_current.model->has[cache]) {
            cache_describe(cache, text, sizeof text);
            fprintf(stream, "\ndesc: %s cache: %s", cache_names[cache], text);
        }
    }
}

static void write_heading(FILE *stream, const calls_profile *profile, const calls_heading *heading) {
    fputs("# callgrind format\nversion: 1\ncreator: sonde calls 1\n", stream);
    fprintf(stream, "pid: %d\n", sn_client_process());
    write_words(stream);
    fprintf(stream, "part: %d\n", heading->part);
    if (heading->thread != 0) {
        fprintf(stream, "thread: %d\n", heading->thread);
    }
    write_caches(stream);
    fprintf(stream, "\ndesc: Trigger: %s\n\npositions:%s%s\nevents:", heading->trigger,
            calls_current.dumps_instructions ? " instr" : "", calls_current.dumps_lines ? " line" : "");
    for (unsigned event = 0; event < profile->events.count; event++) {
        fprintf(stream, " %s", profile->events.names[event]);
    }
    putc('\n', stream);
    write_numbers(stream, "summary:", profile);
}

void calls_write(FILE *stream, const calls_profile *profile, const calls_heading *heading) {
    writing to = {.stream = stream, .profile = profile};
    const calls_function *function = NULL;
    write_heading(stream, profile, heading);
    for (size_t i = 0; i < profile->rows.list.count; i++) {
        const calls_row *row = &profile->rows.list.items[i];
        if (row->key.place.function != function) {
            function = row->key.place.function;
            write_function(&to, function);
        }
        write_row(&to, row);
    }
    putc('\n', stream);
    write_numbers(stream, "totals:", profile);
    sn_table_release(&to.objects);
    sn_table_release(&to.files);
    sn_table_release(&to.functions);
}
