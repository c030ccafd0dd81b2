/**
 * @fileoverview Lines of the header of Callgrind's format, totals, and events that are derived of others. See callgrind_parts.h.
 */
#include <inttypes.h>
#include <string.h>

#include "report/callgrind_parts.h"
#include "sonde/intern.h"

/* --------------------------------------------------------------------------------------- lines */

/** For keys that say nothing that is reported. */
static bool skip_value(sn_callgrind_reader *reader) {
    reader->line.at = reader->line.end;
    return true;
}

static bool read_version(sn_callgrind_reader *reader) {
    uint64_t version;
    return sn_line_read_decimal(&reader->line, &version) &&
           (version <= 1 || sn_line_wrong(&reader->line, "version %" PRIu64 " of the format is not known", version));
}

static bool read_creator(sn_callgrind_reader *reader) {
    reader->profile->creator = sn_line_rest(&reader->line);
    return true;
}

static bool read_command(sn_callgrind_reader *reader) {
    reader->profile->lines.command = sn_line_rest(&reader->line);
    return true;
}

/** Of the first part; empty ones and Callgrind's own options are left out, as callgrind_annotate does. */
static bool read_description(sn_callgrind_reader *reader) {
    bool is_shown = reader->part_number == 1 && reader->line.end[-1] != ':' &&
                    (reader->line.end - reader->line.at < 7 || memcmp(reader->line.at, "Option:", 7) != 0);
    if (is_shown && reader->line.at < reader->line.end) {
        *sn_vector_add(&reader->profile->lines.descriptions) = sn_line_rest(&reader->line);
    }
    return true;
}

static bool read_position_kinds(sn_callgrind_reader *reader) {
    enum { LINE, INSTRUCTION, ADDRESS };
    static const char *const kinds[] = {[LINE] = "line", [INSTRUCTION] = "instr", [ADDRESS] = "addr", "bb"};
    size_t length;
    reader->position_count = 0;
    reader->line_position = reader->address_position = SN_CALLGRIND_MOST_POSITIONS;
    for (const char *name; name = sn_line_word(&reader->line, "", &length), length > 0;) {
        size_t kind = 0;
        while (kind < sizeof kinds / sizeof *kinds &&
               (strlen(kinds[kind]) != length || memcmp(kinds[kind], name, length) != 0)) {
            kind++;
        }
        if (kind == sizeof kinds / sizeof *kinds || reader->position_count == SN_CALLGRIND_MOST_POSITIONS) {
            return sn_line_wrong(&reader->line, "a kind of position is not known");
        }
        if (kind == LINE) {
            reader->line_position = reader->position_count;
        } else if (kind == INSTRUCTION || kind == ADDRESS) {
            reader->address_position = reader->position_count;
        }
        reader->position_count++;
    }
    return reader->position_count > 0 || sn_line_wrong(&reader->line, "no position is named");
}

/** Place of a recorded event in the profile; the first part decides which there are. -1, and told, if it can't be. */
static int place_of_event(sn_callgrind_reader *reader, const char *name, size_t length) {
    sn_profile *lines = &reader->profile->lines;
    int event = sn_profile_event(lines, name, length);
    if (event >= 0) {
        for (unsigned i = 0; i < reader->event_count; i++) {
            if (reader->events[i] == (unsigned)event) {
                sn_line_wrong(&reader->line, "an event is named twice");
                return -1;
            }
        }
        return event;
    }
    if (reader->part_number > 1) {
        sn_line_wrong(&reader->line, "a part has other events than the first");
        return -1;
    }
    if (lines->event_count == SN_PROFILE_MOST_EVENTS) {
        sn_line_wrong(&reader->line, "there are more than 64 events");
        return -1;
    }
    lines->events[lines->event_count] = sn_intern_bytes(name, length);
    return (int)lines->event_count++;
}

static bool read_events(sn_callgrind_reader *reader) {
    size_t length;
    if (reader->event_count > 0) {
        return sn_line_wrong(&reader->line, "the events are named twice");
    }
    for (const char *name; name = sn_line_word(&reader->line, "", &length), length > 0;) {
        int place = place_of_event(reader, name, length);
        if (place < 0) {
            return false;
        }
        reader->events[reader->event_count++] = (unsigned)place;
    }
    return reader->event_count > 0 || sn_line_wrong(&reader->line, "no event is named");
}

bool sn_callgrind_read_event_definition(sn_callgrind_reader *reader) {
    size_t length;
    const char *name = sn_line_word(&reader->line, "=:", &length);
    sn_line_skip_space(&reader->line);
    if (length == 0) {
        return sn_line_wrong(&reader->line, "an event has no name");
    }
    if (reader->part_number > 1) {
        return true; /* the first part has said it */
    }
    sn_formula_line *line = sn_vector_add(&reader->formulas);
    line->name = sn_intern_bytes(name, length);
    line->line_number = reader->line.number;
    const char *colon = memchr(reader->line.at, ':', (size_t)(reader->line.end - reader->line.at));
    if (sn_line_take(&reader->line, '=')) {
        size_t size = (size_t)((colon != NULL ? colon : reader->line.end) - reader->line.at);
        line->formula = sn_intern_bytes(reader->line.at, size);
    }
    if (colon != NULL) {
        reader->line.at = colon + 1;
        sn_line_skip_space(&reader->line);
        line->meaning = reader->line.at < reader->line.end ? sn_line_rest(&reader->line) : NULL;
    }
    return true;
}

static bool read_summary(sn_callgrind_reader *reader) {
    reader->has_summary = true;
    return reader->event_count > 0 ? sn_callgrind_read_costs(reader, reader->summary)
                                   : sn_line_wrong(&reader->line, "a summary before the events");
}

static bool read_totals(sn_callgrind_reader *reader) {
    if (reader->has_totals) {
        return sn_line_wrong(&reader->line, "there are totals twice");
    }
    reader->has_totals = reader->is_in_costs = true;
    return reader->event_count > 0 ? sn_callgrind_read_costs(reader, reader->totals)
                                   : sn_line_wrong(&reader->line, "totals before the events");
}

/* ------------------------------------------------------------------------------ derived events */

/** One term: `name`, `2 name`, `2*name`. */
static bool read_term(sn_callgrind_reader *reader, sn_call_formula *formula) {
    const sn_call_profile *profile = reader->profile;
    uint64_t factor = 1;
    size_t length;
    sn_line_skip_space(&reader->line);
    if (sn_line_is_digit(&reader->line) && !sn_line_read_decimal(&reader->line, &factor)) {
        return false;
    }
    sn_line_skip_space(&reader->line);
    sn_line_take(&reader->line, '*');
    const char *name = sn_line_word(&reader->line, "+*", &length);
    int event = sn_profile_event(&profile->lines, name, length);
    for (size_t i = 0; event < 0 && i < profile->formulas.count; i++) {
        const char *other = profile->formulas.items[i].name;
        event = strlen(other) == length && memcmp(other, name, length) == 0 ? (int)(profile->lines.event_count + i) : -1;
    }
    if (event < 0) {
        return sn_line_wrong(&reader->line, "a derived event is made of one that there is not");
    }
    __typeof__(formula->terms.items) term = sn_vector_add(&formula->terms);
    term->event = (unsigned)event;
    term->factor = factor;
    sn_line_skip_space(&reader->line);
    return true;
}

static bool read_formula(sn_callgrind_reader *reader, const sn_formula_line *line) {
    sn_call_profile *profile = reader->profile;
    sn_call_formula formula = {.name = line->name};
    reader->line.at = line->formula;
    reader->line.end = line->formula + strlen(line->formula);
    reader->line.number = line->line_number;
    if (sn_profile_event(&profile->lines, line->name, strlen(line->name)) >= 0) {
        return true; /* recorded as well: the recorded one counts */
    }
    if (profile->lines.event_count + profile->formulas.count == SN_PROFILE_MOST_EVENTS) {
        return sn_line_wrong(&reader->line, "there are more than 64 events");
    }
    bool is_good;
    do {
        is_good = read_term(reader, &formula);
    } while (is_good && sn_line_take(&reader->line, '+'));
    bool is_whole = reader->line.at == reader->line.end;
    is_good = is_good && (is_whole || sn_line_wrong(&reader->line, "a derived event is no sum of events"));
    for (size_t i = 0; i < profile->formulas.count && is_good; i++) {
        is_good = profile->formulas.items[i].name != line->name || sn_line_wrong(&reader->line, "an event is derived twice");
    }
    *sn_vector_add(&profile->formulas) = formula;
    return is_good;
}

bool sn_callgrind_derive_events(sn_callgrind_reader *reader) {
    const sn_formula_lines *formulas = &reader->formulas;
    sn_profile *lines = &reader->profile->lines;
    for (size_t i = 0; i < formulas->count; i++) {
        if (formulas->items[i].formula != NULL && !read_formula(reader, &formulas->items[i])) {
            return false;
        }
    }
    if (!sn_call_profile_derive(reader->profile)) {
        return sn_line_wrong(&reader->line, "the sum of a derived event is too large");
    }
    for (size_t i = 0; i < formulas->count; i++) {
        int event = sn_profile_event(lines, formulas->items[i].name, strlen(formulas->items[i].name));
        if (event >= 0 && formulas->items[i].meaning != NULL) {
            lines->meanings[event] = formulas->items[i].meaning;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------ kinds of lines */

/** Lines in front of the costs. */
static const sn_callgrind_line header_kinds[] = {
    {"version:", read_version}, {"creator:", read_creator}, {"pid:", skip_value},
    {"thread:", skip_value},    {"part:", skip_value},      {"cmd:", read_command},
    {"desc:", read_description}, {"positions:", read_position_kinds}, {"events:", read_events},
};

static const sn_callgrind_line end_kinds[] = {{"summary:", read_summary}, {"totals:", read_totals}};

const sn_callgrind_line *sn_callgrind_header_line(const sn_line_text *line) {
    return sn_callgrind_find(header_kinds, sizeof header_kinds / sizeof *header_kinds, line);
}

const sn_callgrind_line *sn_callgrind_end_line(const sn_line_text *line) {
    return sn_callgrind_find(end_kinds, sizeof end_kinds / sizeof *end_kinds, line);
}
