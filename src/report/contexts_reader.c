/**
 * @fileoverview The parser of files of calling contexts. See contexts_reader.h.
 *
 * Lines that say something of the whole file come first, then names, frames, contexts and values, each before what refers to
 * it, and the totals at the end. Each kind of line is a row of a table: how it begins, where it may stand, what is done with
 * it.
 */
#include "report/contexts_reader.h"

#include <errno.h>
#include <string.h>

#include "sonde/intern.h"
#include "report/line_text.h"

static const char mark[] = "# sonde contexts";

/** Where the reader is in the file: bits, so that a kind of line can name several. */
enum { AT_START = 1, IN_HEADING = 2, IN_LINES = 4, AT_END = 8 };

typedef struct reader {
    sn_contexts_file *file;
    sn_line_text line;
    unsigned part;
    int64_t sums[SN_CONTEXT_FILE_MOST_EVENTS];
} reader;

/* -------------------------------------------------------------------------------- pieces */

static bool read_number(reader *reader, uint64_t limit, const char *what, uint64_t *number) {
    sn_line_skip_space(&reader->line);
    if (!sn_line_read_decimal(&reader->line, number) || !sn_line_end_word(&reader->line)) {
        return false;
    }
    return *number <= limit || sn_line_wrong(&reader->line, "%s is too large", what);
}

/** A number of something that came before; 0 for none if `may_be_none`. */
static bool read_reference(reader *reader, size_t count, const char *what, bool may_be_none, uint32_t *number) {
    uint64_t value;
    *number = 0;
    if (!read_number(reader, UINT32_MAX, what, &value)) {
        return false;
    }
    if (value >= count || (value == 0 && !may_be_none)) {
        return sn_line_wrong(&reader->line, "%s %llu was not defined", what, (unsigned long long)value);
    }
    *number = (uint32_t)value;
    return true;
}

/** Frames up to the end of the line. */
static bool read_place(reader *reader, sn_contexts_place *place) {
    sn_contexts_file *file = reader->file;
    *place = (sn_contexts_place){.first = (uint32_t)file->frame_lists.count};
    for (sn_line_skip_space(&reader->line); reader->line.at < reader->line.end;) {
        uint32_t frame;
        if (file->frame_lists.count == UINT32_MAX || !read_reference(reader, file->frames.count, "frame", false, &frame)) {
            return file->frame_lists.count == UINT32_MAX ? sn_line_wrong(&reader->line, "there are too many frames") : false;
        }
        *sn_vector_add(&file->frame_lists) = frame;
        place->count++;
    }
    return place->count > 0 || sn_line_wrong(&reader->line, "a frame is expected");
}

static bool read_count(reader *reader, int64_t *count) {
    uint64_t value = 0;
    bool is_read = read_number(reader, INT64_MAX, "a count", &value);
    *count = (int64_t)value;
    return is_read;
}

/* ------------------------------------------------------------------------- kinds of lines */

static bool read_mark(reader *reader) {
    reader->part = IN_HEADING;
    return true;
}

static bool read_version(reader *reader) {
    uint64_t version;
    return read_number(reader, UINT32_MAX, "the version", &version) &&
           (version == 1 || sn_line_wrong(&reader->line, "version %u of the format is not known", (unsigned)version));
}

static bool read_tool(reader *reader) {
    reader->file->tool = sn_line_rest(&reader->line);
    return true;
}

static bool read_process(reader *reader) {
    return read_count(reader, &reader->file->process);
}

static bool read_command(reader *reader) {
    reader->file->command = sn_line_rest(&reader->line);
    return true;
}

static bool read_events(reader *reader) {
    sn_contexts_file *file = reader->file;
    size_t length;
    for (const char *name; name = sn_line_word(&reader->line, "", &length), length > 0;) {
        const char *interned = sn_intern_bytes(name, length);
        if (file->event_count == SN_CONTEXT_FILE_MOST_EVENTS) {
            return sn_line_wrong(&reader->line, "there are more than %d events", SN_CONTEXT_FILE_MOST_EVENTS);
        }
        for (unsigned i = 0; i < file->event_count; i++) {
            if (file->events[i] == interned) {
                return sn_line_wrong(&reader->line, "an event is named twice");
            }
        }
        file->events[file->event_count++] = interned;
    }
    reader->part = IN_LINES;
    return file->event_count > 0 || sn_line_wrong(&reader->line, "no event is named");
}

static bool read_name(reader *reader) {
    if (reader->file->names.count > UINT32_MAX) {
        return sn_line_wrong(&reader->line, "there are too many names");
    }
    *sn_vector_add(&reader->file->names) = sn_line_rest(&reader->line);
    return true;
}

static bool read_frame(reader *reader) {
    sn_contexts_file *file = reader->file;
    uint32_t function, source, module;
    uint64_t line;
    if (file->frames.count > UINT32_MAX) {
        return sn_line_wrong(&reader->line, "there are too many frames");
    }
    if (!read_reference(reader, file->names.count, "name", true, &function) ||
        !read_reference(reader, file->names.count, "name", true, &source) ||
        !read_number(reader, UINT32_MAX, "the line number", &line) ||
        !read_reference(reader, file->names.count, "name", true, &module)) {
        return false;
    }
    const char *const *names = file->names.items;
    *sn_vector_add(&file->frames) = (sn_contexts_frame){
        .function = names[function], .file = names[source], .line = (uint32_t)line, .module = names[module]};
    return true;
}

static bool read_context(reader *reader) {
    static const char letters[] = "fcjs";
    sn_contexts_file *file = reader->file;
    sn_contexts_context context = {0};
    size_t length;
    if (file->contexts.count > UINT32_MAX) {
        return sn_line_wrong(&reader->line, "there are too many contexts");
    }
    if (!read_reference(reader, file->contexts.count, "context", true, &context.caller)) {
        return false;
    }
    const char *word = sn_line_word(&reader->line, "", &length);
    const char *letter = length == 1 ? strchr(letters, *word) : NULL;
    if (letter == NULL || *letter == '\0') {
        return sn_line_wrong(&reader->line, "one of f, c, j and s is expected");
    }
    context.how = (sn_contexts_how)(letter - letters);
    /* What a thread begins with may be called from code that is in no function. */
    bool may_be_first = context.how == SN_CONTEXTS_FIRST || context.how == SN_CONTEXTS_CALL;
    if (context.caller == 0 ? !may_be_first : context.how == SN_CONTEXTS_FIRST) {
        return sn_line_wrong(&reader->line,
                             context.caller == 0 ? "the context has no caller" : "the first context has a caller");
    }
    if (!read_reference(reader, file->frames.count, "frame", false, &context.function) ||
        (context.how == SN_CONTEXTS_CALL && !read_place(reader, &context.site))) {
        return false;
    }
    *sn_vector_add(&file->contexts) = context;
    return true;
}

static bool read_value(reader *reader) {
    sn_contexts_file *file = reader->file;
    sn_contexts_value value = {0};
    if (!read_reference(reader, file->contexts.count, "context", true, &value.context)) {
        return false;
    }
    for (unsigned event = 0; event < file->event_count; event++) {
        int64_t *count = sn_vector_add(&file->counts);
        if (!read_count(reader, count)) {
            return false;
        }
        if (__builtin_add_overflow(reader->sums[event], *count, &reader->sums[event])) {
            return sn_line_wrong(&reader->line, "the sum of the counts is too large");
        }
    }
    if (sn_line_take(&reader->line, '@') && !read_place(reader, &value.place)) {
        return false;
    }
    *sn_vector_add(&file->values) = value;
    return true;
}

static bool read_totals(reader *reader) {
    for (unsigned event = 0; event < reader->file->event_count; event++) {
        if (!read_count(reader, &reader->file->totals[event])) {
            return false;
        }
    }
    reader->part = AT_END;
    return memcmp(reader->file->totals, reader->sums, sizeof reader->sums) == 0 ||
           sn_line_wrong(&reader->line, "the totals are not the sum of the counts: the file is damaged");
}

typedef struct line_kind {
    const char *beginning;
    unsigned parts;        /**< where it may stand */
    bool is_text;          /**< what follows is text, of which all belongs to it */
    bool (*read)(reader *reader);
} line_kind;

static const line_kind line_kinds[] = {
    {mark, AT_START, false, read_mark},
    {"version:", IN_HEADING, false, read_version},
    {"tool:", IN_HEADING, true, read_tool},
    {"pid:", IN_HEADING, false, read_process},
    {"cmd:", IN_HEADING, true, read_command},
    {"events:", IN_HEADING, false, read_events},
    {"n ", IN_LINES, true, read_name},
    {"f ", IN_LINES, false, read_frame},
    {"c ", IN_LINES, false, read_context},
    {"v ", IN_LINES, false, read_value},
    {"totals:", IN_LINES, false, read_totals},
};

static bool read_kind(reader *reader, const line_kind *kind) {
    if ((kind->parts & reader->part) == 0) {
        return sn_line_wrong(&reader->line, "this line is out of place");
    }
    sn_line_skip_space(&reader->line);
    if (!kind->read(reader)) {
        return false;
    }
    bool is_over = kind->is_text || reader->line.at == reader->line.end;
    return is_over || sn_line_wrong(&reader->line, "there is more than belongs here");
}

static bool read_line(void *data) {
    reader *reader = data;
    for (size_t i = 0; i < sizeof line_kinds / sizeof *line_kinds; i++) {
        if (sn_line_take_text(&reader->line, line_kinds[i].beginning)) {
            return read_kind(reader, &line_kinds[i]);
        }
    }
    return sn_line_wrong(&reader->line, "this is no line of a file of contexts");
}

/* -------------------------------------------------------------------------------- the file */

bool sn_contexts_parse(sn_contexts_file *file, FILE *stream, char *explanation) {
    reader reader = {.file = file, .part = AT_START,
                     .line = {.explanation = explanation, .size = SN_CONTEXTS_EXPLANATION_SIZE}};
    explanation[0] = '\0';
    file->tool = file->command = sn_intern("");
    *sn_vector_add(&file->names) = NULL;
    sn_vector_add(&file->frames);
    sn_vector_add(&file->contexts);
    errno = 0;
    bool is_good = sn_line_read_all(&reader.line, stream, read_line, &reader) && !ferror(stream);
    return is_good && (reader.part == AT_END || sn_line_wrong(&reader.line, "the file is incomplete: it ends without totals"));
}

void sn_contexts_release(sn_contexts_file *file) {
    sn_vector_release(&file->names);
    sn_vector_release(&file->frames);
    sn_vector_release(&file->contexts);
    sn_vector_release(&file->frame_lists);
    sn_vector_release(&file->values);
    sn_vector_release(&file->counts);
}

bool sn_contexts_recognises(const char *head, size_t size) {
    size_t length = sizeof mark - 1;
    return size > length && memcmp(head, mark, length) == 0 && (head[length] == '\n' || head[length] == '\r');
}
