/**
 * @fileoverview The parser of Cachegrind's format. See cachegrind_reader.h.
 *
 * A file is `desc:` lines, `cmd:`, `events:`, then `fl=`, `fn=` and lines of counts, and `summary:` at the end. Each kind
 * of line is a row of a table: how it begins, in which part of the file it may stand, and what is done with it.
 */
#include "report/cachegrind_reader.h"

#include <string.h>

#include "sonde/intern.h"
#include "report/line_text.h"

/** Where the reader is in the file: bits, so that a kind of line can name several. */
enum { IN_DESCRIPTIONS = 1, BEHIND_COMMAND = 2, IN_COUNTS = 4, BEHIND_SUMMARY = 8 };

typedef struct reader {
    sn_profile *profile;
    sn_line_text line;              /**< white space at both ends left out */
    unsigned part;
    const char *file, *function;    /**< interned; NULL before the first */
    int64_t summary[SN_PROFILE_MOST_EVENTS];
} reader;

/** A count, or `.` for 0. Differences of profiles have negative ones. */
static bool read_count(reader *reader, int64_t *count) {
    uint64_t magnitude;
    if (*reader->line.at == '.') {
        reader->line.at++;
        *count = 0;
        return true;
    }
    bool is_negative = *reader->line.at == '-';
    reader->line.at += is_negative;
    if (!sn_line_read_decimal(&reader->line, &magnitude)) {
        return false;
    }
    if (magnitude > INT64_MAX) {
        return sn_line_wrong(&reader->line, "a number is too large");
    }
    *count = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

/** Counts up to the end of the line; those that are left out are 0. */
static bool read_counts(reader *reader, int64_t *counts) {
    unsigned found = 0;
    memset(counts, 0, SN_PROFILE_MOST_EVENTS * sizeof *counts);
    for (sn_line_skip_space(&reader->line); reader->line.at < reader->line.end; sn_line_skip_space(&reader->line)) {
        if (found == reader->profile->event_count) {
            return sn_line_wrong(&reader->line, "there are more counts than events");
        }
        if (!read_count(reader, &counts[found++])) {
            return false;
        }
        if (reader->line.at < reader->line.end && !sn_line_is_space(*reader->line.at)) {
            return sn_line_wrong(&reader->line, "a number is expected");
        }
    }
    return true;
}

/* ------------------------------------------------------------------ kinds of lines */

static bool read_description(reader *reader) {
    *sn_vector_add(&reader->profile->descriptions) = sn_line_rest(&reader->line);
    return true;
}

static bool read_command(reader *reader) {
    reader->profile->command = sn_line_rest(&reader->line);
    reader->part = BEHIND_COMMAND;
    return true;
}

static bool read_events(reader *reader) {
    sn_profile *profile = reader->profile;
    for (; reader->line.at < reader->line.end; sn_line_skip_space(&reader->line)) {
        const char *start = reader->line.at;
        while (reader->line.at < reader->line.end && !sn_line_is_space(*reader->line.at)) {
            reader->line.at++;
        }
        size_t length = (size_t)(reader->line.at - start);
        if (profile->event_count == SN_PROFILE_MOST_EVENTS) {
            return sn_line_wrong(&reader->line, "there are more than 64 events");
        }
        if (sn_profile_event(profile, start, length) >= 0) {
            return sn_line_wrong(&reader->line, "an event is named twice");
        }
        profile->events[profile->event_count++] = sn_intern_bytes(start, length);
    }
    reader->part = IN_COUNTS;
    return profile->event_count > 0 || sn_line_wrong(&reader->line, "no event is named");
}

static bool read_file(reader *reader) {
    reader->file = sn_line_rest(&reader->line);
    reader->function = NULL;
    return true;
}

static bool read_function(reader *reader) {
    reader->function = sn_line_rest(&reader->line);
    return reader->file != NULL || sn_line_wrong(&reader->line, "a function before any file (fl=)");
}

static bool read_summary(reader *reader) {
    reader->part = BEHIND_SUMMARY;
    return read_counts(reader, reader->summary);
}

static bool read_row(reader *reader) {
    uint64_t line;
    int64_t counts[SN_PROFILE_MOST_EVENTS];
    if (reader->function == NULL) {
        return sn_line_wrong(&reader->line, "counts before any function (fn=)");
    }
    if (!sn_line_read_decimal(&reader->line, &line) || !read_counts(reader, counts)) {
        return false;
    }
    if (line > UINT32_MAX) {
        return sn_line_wrong(&reader->line, "the line number is too large");
    }
    size_t row = sn_profile_row_of(reader->profile, reader->file, reader->function, (uint32_t)line);
    return sn_profile_add(reader->profile, row, counts) || sn_line_wrong(&reader->line, "the sum of the counts is too large");
}

typedef struct line_kind {
    const char *beginning; /**< "" for a line of counts */
    unsigned parts;        /**< where it may stand */
    bool (*read)(reader *reader);
} line_kind;

static const line_kind line_kinds[] = {
    {"desc:", IN_DESCRIPTIONS, read_description},
    {"cmd:", IN_DESCRIPTIONS, read_command},
    {"events:", BEHIND_COMMAND, read_events},
    {"fl=", IN_COUNTS, read_file},
    {"fn=", IN_COUNTS, read_function},
    {"summary:", IN_COUNTS, read_summary},
    {"", IN_COUNTS, read_row},
};

enum { LINE_KIND_COUNT = sizeof line_kinds / sizeof *line_kinds };

static const line_kind *kind_of(const reader *reader) {
    for (size_t i = 0; i + 1 < LINE_KIND_COUNT; i++) {
        size_t length = strlen(line_kinds[i].beginning);
        if ((size_t)(reader->line.end - reader->line.at) >= length &&
            memcmp(reader->line.at, line_kinds[i].beginning, length) == 0) {
            return &line_kinds[i];
        }
    }
    return sn_line_is_digit(&reader->line) ? &line_kinds[LINE_KIND_COUNT - 1] : NULL;
}

static bool read_line(reader *reader) {
    sn_line_trim(&reader->line);
    if (reader->line.at == reader->line.end) {
        return true;
    }
    const line_kind *kind = kind_of(reader);
    if (kind == NULL) {
        return sn_line_wrong(&reader->line, "this is no line of a cachegrind profile");
    }
    if ((kind->parts & reader->part) == 0) {
        return sn_line_wrong(&reader->line, "this line is out of place");
    }
    reader->line.at += strlen(kind->beginning);
    if (kind->parts != IN_COUNTS || kind->read == read_summary) {
        sn_line_skip_space(&reader->line);
    }
    return kind->read(reader);
}

/** What must be so at the end. */
static bool check_end(reader *reader) {
    if (reader->part != BEHIND_SUMMARY) {
        return sn_line_wrong(&reader->line, "the profile is incomplete: it ends without a summary");
    }
    if (memcmp(reader->summary, reader->profile->totals, sizeof reader->summary) != 0) {
        return sn_line_wrong(&reader->line, "the summary is not the sum of the counts: the profile is damaged");
    }
    return true;
}

bool sn_cachegrind_parse(sn_profile *profile, const char *text, size_t size, char *explanation) {
    reader reader = {.profile = profile, .part = IN_DESCRIPTIONS,
                     .line = {.explanation = explanation, .size = SN_CACHEGRIND_EXPLANATION_SIZE}};
    const char *end = text + size;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        reader.line.at = text;
        reader.line.end = line_end != NULL ? line_end : end;
        reader.line.number++;
        text = reader.line.end + (line_end != NULL);
        if (memchr(reader.line.at, '\0', (size_t)(reader.line.end - reader.line.at)) != NULL) {
            return sn_line_wrong(&reader.line, "there is a zero byte");
        }
        if (!read_line(&reader)) {
            return false;
        }
    }
    return check_end(&reader);
}

/** A line may be a description only if another key of this format follows: other profiles begin alike. */
bool sn_cachegrind_recognises(const char *head, size_t size) {
    const char *end = head + size;
    while (head < end) {
        const char *line_end = memchr(head, '\n', (size_t)(end - head));
        size_t length = (size_t)((line_end != NULL ? line_end : end) - head);
        static const char *const proofs[] = {"events:", "fl=", "fn="};
        for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++) {
            if (length >= strlen(proofs[i]) && memcmp(head, proofs[i], strlen(proofs[i])) == 0) {
                return true;
            }
        }
        bool may_precede = length == 0 || (length >= 5 && memcmp(head, "desc:", 5) == 0) ||
                           (length >= 4 && memcmp(head, "cmd:", 4) == 0);
        if (!may_precede) {
            return false;
        }
        head += length + 1;
    }
    return true; /* so far it looks like one: a description or a command that was cut off */
}
