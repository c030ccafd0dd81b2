/**
 * @fileoverview The parser of Callgrind's format. See callgrind_reader.h.
 *
 * A file is one part or several: lines `key: value`, then lines of names (`fn=`), of costs, and of calls and jumps, each of
 * which is followed by a line of costs that belongs to it. Lines that begin with a word are rows of a table: how they begin,
 * and what is done with them (callgrind_parts.h).
 */
#include "report/callgrind_reader.h"

#include <errno.h>
#include <string.h>

#include "report/callgrind_parts.h"
#include "sonde/intern.h"

/* ----------------------------------------------------------------------------------- the parts */

static bool check_part(sn_callgrind_reader *reader) {
    if (!reader->is_in_costs) {
        return sn_line_wrong(&reader->line, "the profile is incomplete: it ends before its costs");
    }
    if (reader->use != SN_COSTS_SELF) {
        return sn_line_wrong(&reader->line, "the profile is incomplete: a line of costs is missing");
    }
    if (reader->has_totals && memcmp(reader->totals, reader->sums, sizeof reader->sums) != 0) {
        return sn_line_wrong(&reader->line, "the totals are not the sum of the costs: the profile is damaged");
    }
    if (!reader->has_totals && reader->has_summary && memcmp(reader->summary, reader->sums, sizeof reader->sums) != 0) {
        return sn_line_wrong(&reader->line,
                             "the profile is incomplete: it ends without totals, and its costs are not the summary's");
    }
    reader->profile->is_unproven |= !reader->has_totals && !reader->has_summary;
    return true;
}

/** Names and their numbers go on into the next part; positions and what they belong to do not. */
static void begin_part(sn_callgrind_reader *reader) {
    reader->part_number++;
    reader->is_in_costs = reader->has_summary = reader->has_totals = false;
    reader->event_count = 0;
    reader->position_count = 1;
    reader->line_position = 0;
    reader->address_position = SN_CALLGRIND_MOST_POSITIONS;
    memset(reader->sums, 0, sizeof reader->sums);
    memset(reader->positions, 0, sizeof reader->positions);
    reader->object = reader->file = sn_intern("???");
    reader->called_object = reader->called_file = NULL;
    reader->function = reader->called_function = SN_CALLGRIND_NO_FUNCTION;
    reader->use = SN_COSTS_SELF;
}

/* ------------------------------------------------------------------------------ kinds of lines */

bool sn_callgrind_begins(const char *at, const char *end, const char *beginning) {
    size_t length = strlen(beginning);
    return (size_t)(end - at) >= length && memcmp(at, beginning, length) == 0;
}

const sn_callgrind_line *sn_callgrind_find(const sn_callgrind_line *kinds, size_t count, const sn_line_text *line) {
    for (size_t i = 0; i < count; i++) {
        if (sn_callgrind_begins(line->at, line->end, kinds[i].beginning)) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool read_kind(sn_callgrind_reader *reader, const sn_callgrind_line *kind) {
    reader->line.at += strlen(kind->beginning);
    sn_line_skip_space(&reader->line);
    return kind->read(reader);
}

/** A header line behind costs sn_callgrind_begins the next part. */
static bool read_header_line(sn_callgrind_reader *reader, const sn_callgrind_line *kind) {
    if (reader->is_in_costs || reader->part_number == 0) {
        if (reader->part_number > 0 && !check_part(reader)) {
            return false;
        }
        begin_part(reader);
    }
    return kind == NULL || read_kind(reader, kind);
}

static bool is_cost_line(const sn_callgrind_reader *reader) {
    const sn_line_text *line = &reader->line;
    return sn_line_is_digit(line) || sn_line_is_at(line, '+') || sn_line_is_at(line, '-') || sn_line_is_at(line, '*');
}

/** Lines of names, calls and costs are possible once the events are known. */
static bool enter_costs(sn_callgrind_reader *reader) {
    if (reader->part_number == 0 || reader->event_count == 0) {
        return sn_line_wrong(&reader->line, "this line is out of place: no events are named before it");
    }
    if (reader->has_totals) {
        return sn_line_wrong(&reader->line, "costs behind the totals");
    }
    reader->is_in_costs = true;
    return true;
}

/** A word and a colon: a key of a later version of the format, which says nothing that must be known. */
static bool is_unknown_key(const sn_callgrind_reader *reader) {
    const char *at = reader->line.at;
    while (at < reader->line.end && *at >= 'a' && *at <= 'z') {
        at++;
    }
    return !reader->is_in_costs && at > reader->line.at && at < reader->line.end && *at == ':';
}

static bool read_line(void *data) {
    sn_callgrind_reader *reader = data;
    if (sn_line_is_at(&reader->line, '#')) {
        return true;
    }
    if (is_cost_line(reader)) {
        return enter_costs(reader) && sn_callgrind_read_cost_line(reader);
    }
    const sn_callgrind_line *kind = sn_callgrind_cost_line(&reader->line);
    if (reader->use != SN_COSTS_SELF) {
        return sn_line_wrong(&reader->line, "a line of costs is expected behind a call or jump");
    }
    if (kind != NULL) {
        return enter_costs(reader) && read_kind(reader, kind);
    }
    kind = sn_callgrind_end_line(&reader->line);
    if (kind != NULL) {
        return reader->part_number > 0 ? read_kind(reader, kind) : sn_line_wrong(&reader->line, "this line is out of place");
    }
    kind = sn_callgrind_header_line(&reader->line);
    if (kind != NULL) {
        return read_header_line(reader, kind);
    }
    if (sn_callgrind_begins(reader->line.at, reader->line.end, "event:")) {
        reader->line.at += strlen("event:");
        return read_header_line(reader, NULL) && sn_callgrind_read_event_definition(reader);
    }
    return is_unknown_key(reader) || sn_line_wrong(&reader->line, "this is no line of a callgrind profile");
}

bool sn_callgrind_parse(sn_call_profile *profile, FILE *stream, char *explanation) {
    sn_callgrind_reader reader = {.profile = profile, .line = {.explanation = explanation, .size = SN_CALLGRIND_EXPLANATION_SIZE}};
    explanation[0] = '\0';
    profile->lines.command = sn_intern("");
    errno = 0;
    bool is_good = sn_line_read_all(&reader.line, stream, read_line, &reader) && !ferror(stream);
    is_good = is_good &&
              (reader.part_number > 0 || sn_line_wrong(&reader.line, "the profile is incomplete: it ends before its costs")) &&
              check_part(&reader) && sn_callgrind_derive_events(&reader);
    int error = errno;
    for (int space = 0; space < SN_CALLGRIND_NAME_SPACES; space++) {
        sn_hash_release(&reader.names[space]);
    }
    sn_vector_release(&reader.formulas);
    errno = error;
    return is_good;
}

/* --------------------------------------------------------------------------------- recognising */

/** Lines that this format alone has, of all that begin like one. */
static const char *const proofs[] = {"# callgrind format", "version:", "creator:", "pid:", "part:", "thread:", "positions:",
                                     "event:", "ob=", "cob=", "cfn=", "cfi=", "cfl=", "calls=", "totals:"};
/** Lines that may come before: Cachegrind's format has them too. */
static const char *const shared[] = {"desc:", "cmd:", "events:", "summary:", "fl=", "fn=", "fi=", "fe="};

#define BEGINS_WITH_ONE_OF(list, at, end)                                  \
    ({                                                                     \
        bool found = false;                                                \
        for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) {       \
            found |= sn_callgrind_begins(at, end, (list)[i]);                           \
        }                                                                  \
        found;                                                             \
    })

bool sn_callgrind_recognises(const char *head, size_t size) {
    const char *end = head + size;
    while (head < end) {
        const char *line_end = memchr(head, '\n', (size_t)(end - head));
        line_end = line_end != NULL ? line_end : end;
        if (BEGINS_WITH_ONE_OF(proofs, head, line_end)) {
            return true;
        }
        bool may_precede = head == line_end || (*head >= '0' && *head <= '9') || *head == '#' ||
                           BEGINS_WITH_ONE_OF(shared, head, line_end);
        if (!may_precede) {
            return false;
        }
        head = line_end + 1;
    }
    return false;
}
