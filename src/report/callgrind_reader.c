/**
 * @fileoverview The parser of Callgrind's format. See callgrind_reader.h.
 *
 * A file is one part or several: lines `key: value`, then lines of names (`fn=`), of costs, and of calls and jumps, each of
 * which is followed by a line of costs that belongs to it. Lines that begin with a word are rows of a table: how they begin,
 * and what is done with them.
 */
#include "report/callgrind_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sonde/intern.h"
#include "report/line_text.h"

/** Names are abbreviated by number, each kind by numbers of its own. */
typedef enum name_space { FILES, FUNCTIONS, OBJECTS, NAME_SPACE_COUNT } name_space;

/** What the next line of costs is. */
typedef enum cost_use { SELF, CALLS, JUMPS } cost_use;

enum { MOST_POSITIONS = 4, NO_FUNCTION = -1 };

/** The lines `event: Name = formula : meaning` may come before `events:`; kept until all is read. */
typedef struct formula_line {
    const char *name, *formula, *meaning; /**< the latter two may be NULL */
    unsigned long line_number;
} formula_line;

typedef SN_VECTOR(formula_line) formula_lines;

typedef struct reader {
    sn_call_profile *profile;
    formula_lines formulas;
    sn_line_text line;                        /**< white space at both ends left out */
    sn_hash names[NAME_SPACE_COUNT];          /**< of numbers: interned names, as pointers */
    /* The part: */
    unsigned part_number;                     /**< counted here, from 1 on; 0 before the first */
    bool is_in_costs, has_summary, has_totals;
    unsigned events[SN_PROFILE_MOST_EVENTS], event_count; /**< places in the profile of the part's events */
    unsigned position_count, line_position;   /**< which of the positions is the line; position_count: none */
    unsigned address_position;                /**< the same of the instruction's address */
    int64_t sums[SN_PROFILE_MOST_EVENTS], summary[SN_PROFILE_MOST_EVENTS], totals[SN_PROFILE_MOST_EVENTS];
    /* Where it is in the part: */
    uint64_t positions[MOST_POSITIONS];
    const char *object, *file;                /**< interned; "???" before the first */
    const char *called_object, *called_file;  /**< NULL: the present ones */
    int64_t function, called_function;        /**< or NO_FUNCTION */
    cost_use use;
    uint64_t calls;
    sn_call_jumps jumps;
    uint64_t target[MOST_POSITIONS];          /**< where the jumps lead */
} reader;

/* ------------------------------------------------------------------ pieces of lines */

/** The value of a hexadecimal digit, 16 for others. */
static unsigned hexadecimal_digit(char character) {
    return character >= '0' && character <= '9'   ? (unsigned)(character - '0')
           : character >= 'a' && character <= 'f' ? (unsigned)(character - 'a') + 10
           : character >= 'A' && character <= 'F' ? (unsigned)(character - 'A') + 10
                                                  : 16;
}

/** Decimal, or hexadecimal behind 0x. */
static bool read_number(reader *reader, uint64_t *number) {
    if (reader->line.end - reader->line.at < 3 || reader->line.at[0] != '0' || reader->line.at[1] != 'x') {
        return sn_line_read_decimal(&reader->line, number);
    }
    *number = 0;
    sn_line_text *line = &reader->line;
    for (line->at += 2; line->at < line->end && hexadecimal_digit(*line->at) < 16; line->at++) {
        if (*number >> 60 != 0) {
            return sn_line_wrong(line, "a number is too large");
        }
        *number = *number << 4 | hexadecimal_digit(*line->at);
    }
    return true;
}

/** Counts up to the end of the line, put where the events are in the profile; those that are left out are 0. */
static bool read_costs(reader *reader, int64_t *costs) {
    unsigned found = 0;
    memset(costs, 0, SN_PROFILE_MOST_EVENTS * sizeof *costs);
    for (sn_line_skip_space(&reader->line); reader->line.at < reader->line.end;) {
        uint64_t cost;
        if (found == reader->event_count) {
            return sn_line_wrong(&reader->line, "there are more counts than events");
        }
        if (!read_number(reader, &cost)) {
            return false;
        }
        if (cost > INT64_MAX) {
            return sn_line_wrong(&reader->line, "a number is too large");
        }
        costs[reader->events[found++]] = (int64_t)cost;
        if (!sn_line_end_word(&reader->line)) {
            return false;
        }
    }
    return true;
}

/** One position: `*`, relative to the one before, or absolute. */
static bool read_position(reader *reader, uint64_t before, uint64_t *position) {
    bool is_added = sn_line_is_at(&reader->line, '+'), is_subtracted = sn_line_is_at(&reader->line, '-');
    uint64_t number;
    if (sn_line_take(&reader->line, '*')) {
        *position = before;
        return sn_line_end_word(&reader->line);
    }
    reader->line.at += is_added || is_subtracted;
    if (!read_number(reader, &number)) {
        return false;
    }
    *position = number;
    if ((is_added && __builtin_add_overflow(before, number, position)) ||
        (is_subtracted && __builtin_sub_overflow(before, number, position))) {
        return sn_line_wrong(&reader->line, "a position is out of range");
    }
    return sn_line_end_word(&reader->line);
}

/** All positions of a line, relative to the present ones. */
static bool read_positions(reader *reader, uint64_t *positions) {
    sn_line_skip_space(&reader->line);
    for (unsigned i = 0; i < reader->position_count; i++) {
        if (!read_position(reader, reader->positions[i], &positions[i])) {
            return false;
        }
        if (i == reader->line_position && positions[i] > UINT32_MAX) {
            return sn_line_wrong(&reader->line, "the line number is too large");
        }
    }
    return true;
}

/** The present line; 0 if the part has none. */
static uint32_t present_line(const reader *reader) {
    return reader->line_position < reader->position_count ? (uint32_t)reader->positions[reader->line_position] : 0;
}

/** A name: `name`, `(number) name`, which defines the number, or `(number)`, which stands for the name. */
static bool read_name(reader *reader, name_space space, const char **name) {
    const char *start = reader->line.at;
    uint64_t number;
    if (!sn_line_take(&reader->line, '(') || !sn_line_is_digit(&reader->line)) {
        reader->line.at = start;
        *name = sn_line_rest(&reader->line);
        return true;
    }
    if (!sn_line_read_decimal(&reader->line, &number)) {
        return false;
    }
    if (!sn_line_take(&reader->line, ')')) { /* a name that begins so: "(1st try)" */
        reader->line.at = start;
        *name = sn_line_rest(&reader->line);
        return true;
    }
    sn_line_skip_space(&reader->line);
    if (reader->line.at < reader->line.end) {
        *name = sn_line_rest(&reader->line);
        sn_hash_set(&reader->names[space], number, (uintptr_t)*name);
        return true;
    }
    *name = (const char *)(uintptr_t)sn_hash_get(&reader->names[space], number, 0);
    return *name != NULL || sn_line_wrong(&reader->line, "the name number %" PRIu64 " was not defined", number);
}

/* ------------------------------------------------------------------------ the parts */

static bool check_part(reader *reader) {
    if (!reader->is_in_costs) {
        return sn_line_wrong(&reader->line, "the profile is incomplete: it ends before its costs");
    }
    if (reader->use != SELF) {
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
static void begin_part(reader *reader) {
    reader->part_number++;
    reader->is_in_costs = reader->has_summary = reader->has_totals = false;
    reader->event_count = 0;
    reader->position_count = 1;
    reader->line_position = 0;
    reader->address_position = MOST_POSITIONS;
    memset(reader->sums, 0, sizeof reader->sums);
    memset(reader->positions, 0, sizeof reader->positions);
    reader->object = reader->file = sn_intern("???");
    reader->called_object = reader->called_file = NULL;
    reader->function = reader->called_function = NO_FUNCTION;
    reader->use = SELF;
}

/* ---------------------------------------------------------------------- header lines */

/** For keys that say nothing that is reported. */
static bool skip_value(reader *reader) {
    reader->line.at = reader->line.end;
    return true;
}

static bool read_version(reader *reader) {
    uint64_t version;
    return sn_line_read_decimal(&reader->line, &version) &&
           (version <= 1 || sn_line_wrong(&reader->line, "version %" PRIu64 " of the format is not known", version));
}

static bool read_creator(reader *reader) {
    reader->profile->creator = sn_line_rest(&reader->line);
    return true;
}

static bool read_command(reader *reader) {
    reader->profile->lines.command = sn_line_rest(&reader->line);
    return true;
}

/** Of the first part; empty ones and Callgrind's own options are left out, as callgrind_annotate does. */
static bool read_description(reader *reader) {
    bool is_shown = reader->part_number == 1 && reader->line.end[-1] != ':' &&
                    (reader->line.end - reader->line.at < 7 || memcmp(reader->line.at, "Option:", 7) != 0);
    if (is_shown && reader->line.at < reader->line.end) {
        *sn_vector_add(&reader->profile->lines.descriptions) = sn_line_rest(&reader->line);
    }
    return true;
}

static bool read_position_kinds(reader *reader) {
    enum { LINE, INSTRUCTION, ADDRESS };
    static const char *const kinds[] = {[LINE] = "line", [INSTRUCTION] = "instr", [ADDRESS] = "addr", "bb"};
    size_t length;
    reader->position_count = 0;
    reader->line_position = reader->address_position = MOST_POSITIONS;
    for (const char *name; name = sn_line_word(&reader->line, "", &length), length > 0;) {
        size_t kind = 0;
        while (kind < sizeof kinds / sizeof *kinds &&
               (strlen(kinds[kind]) != length || memcmp(kinds[kind], name, length) != 0)) {
            kind++;
        }
        if (kind == sizeof kinds / sizeof *kinds || reader->position_count == MOST_POSITIONS) {
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
static int place_of_event(reader *reader, const char *name, size_t length) {
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

static bool read_events(reader *reader) {
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

static bool read_event_definition(reader *reader) {
    size_t length;
    const char *name = sn_line_word(&reader->line, "=:", &length);
    sn_line_skip_space(&reader->line);
    if (length == 0) {
        return sn_line_wrong(&reader->line, "an event has no name");
    }
    if (reader->part_number > 1) {
        return true; /* the first part has said it */
    }
    formula_line *line = sn_vector_add(&reader->formulas);
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

static bool read_summary(reader *reader) {
    reader->has_summary = true;
    return reader->event_count > 0 ? read_costs(reader, reader->summary)
                                   : sn_line_wrong(&reader->line, "a summary before the events");
}

static bool read_totals(reader *reader) {
    if (reader->has_totals) {
        return sn_line_wrong(&reader->line, "there are totals twice");
    }
    reader->has_totals = reader->is_in_costs = true;
    return reader->event_count > 0 ? read_costs(reader, reader->totals)
                                   : sn_line_wrong(&reader->line, "totals before the events");
}

/* ------------------------------------------------------------------- derived events */

/** One term: `name`, `2 name`, `2*name`. */
static bool read_term(reader *reader, sn_call_formula *formula) {
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

static bool read_formula(reader *reader, const formula_line *line) {
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

static bool derive_events(reader *reader) {
    const formula_lines *formulas = &reader->formulas;
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

/* --------------------------------------------------------------------- lines of names */

static bool read_object(reader *reader) {
    return read_name(reader, OBJECTS, &reader->object);
}

static bool read_file(reader *reader) {
    return read_name(reader, FILES, &reader->file);
}

static bool read_function(reader *reader) {
    const char *name;
    if (!read_name(reader, FUNCTIONS, &name)) {
        return false;
    }
    reader->function = sn_call_profile_function(reader->profile, name, reader->file, reader->object);
    return true;
}

static bool read_called_object(reader *reader) {
    return read_name(reader, OBJECTS, &reader->called_object);
}

static bool read_called_file(reader *reader) {
    return read_name(reader, FILES, &reader->called_file);
}

static bool read_called_function(reader *reader) {
    const char *name;
    if (!read_name(reader, FUNCTIONS, &name)) {
        return false;
    }
    reader->called_function = sn_call_profile_function(
        reader->profile, name, reader->called_file != NULL ? reader->called_file : reader->file,
        reader->called_object != NULL ? reader->called_object : reader->object);
    reader->called_file = reader->called_object = NULL;
    return true;
}

/** Names of jumps' targets only define numbers here: jumps are counted by where they are made. */
static bool read_jump_file(reader *reader) {
    const char *name;
    return read_name(reader, FILES, &name);
}

static bool read_jump_function(reader *reader) {
    const char *name;
    return read_name(reader, FUNCTIONS, &name);
}

/* --------------------------------------------------------------- calls, jumps, costs */

static bool expect_costs(reader *reader, cost_use use) {
    if (reader->function == NO_FUNCTION) {
        return sn_line_wrong(&reader->line, "a call or jump before any function (fn=)");
    }
    reader->use = use;
    return true;
}

/** Where a call leads is not used, and some programs leave it out. */
static bool read_calls(reader *reader) {
    uint64_t target[MOST_POSITIONS];
    if (reader->called_function == NO_FUNCTION) {
        return sn_line_wrong(&reader->line, "a call without the function called (cfn=)");
    }
    return expect_costs(reader, CALLS) && read_number(reader, &reader->calls) && sn_line_end_word(&reader->line) &&
           (reader->line.at == reader->line.end || read_positions(reader, target));
}

/** `jump=executed target` */
static bool read_jump(reader *reader) {
    reader->jumps = (sn_call_jumps){0};
    if (!expect_costs(reader, JUMPS) || !read_number(reader, &reader->jumps.executed)) {
        return false;
    }
    reader->jumps.taken = reader->jumps.executed;
    return sn_line_end_word(&reader->line) && read_positions(reader, reader->target);
}

/** `jcnd=taken/executed target` */
static bool read_conditional_jump(reader *reader) {
    reader->jumps = (sn_call_jumps){.is_conditional = true};
    if (!expect_costs(reader, JUMPS) || !read_number(reader, &reader->jumps.taken)) {
        return false;
    }
    sn_line_skip_space(&reader->line);
    if (!sn_line_take(&reader->line, '/')) {
        return sn_line_wrong(&reader->line, "a conditional jump needs two counts");
    }
    sn_line_skip_space(&reader->line);
    return read_number(reader, &reader->jumps.executed) && sn_line_end_word(&reader->line) &&
           read_positions(reader, reader->target);
}

/** The instruction of the present position; false if the part has no addresses. */
static bool present_instruction(const reader *reader, sn_call_instruction *instruction) {
    bool has_address = reader->address_position < reader->position_count;
    *instruction = (sn_call_instruction){.function = (uint32_t)reader->function, .line = present_line(reader),
                                         .file = reader->file,
                                         .address = has_address ? reader->positions[reader->address_position] : 0};
    return has_address;
}

static bool add_self(reader *reader, const int64_t *costs) {
    sn_call_instruction instruction;
    for (unsigned i = 0; i < reader->event_count; i++) {
        unsigned event = reader->events[i];
        if (__builtin_add_overflow(reader->sums[event], costs[event], &reader->sums[event])) {
            return false;
        }
    }
    if (present_instruction(reader, &instruction) && !sn_call_profile_add_instruction(reader->profile, &instruction, costs)) {
        return false;
    }
    return sn_call_profile_add_self(reader->profile, (uint32_t)reader->function, reader->file, present_line(reader), costs);
}

static bool add_calls(reader *reader, const int64_t *costs) {
    return sn_call_profile_add_calls(reader->profile, (uint32_t)reader->function, (uint32_t)reader->called_function,
                                     reader->file, present_line(reader), reader->calls, costs);
}

static bool add_jumps(reader *reader, const int64_t *costs) {
    (void)costs;
    reader->jumps.function = (uint32_t)reader->function;
    reader->jumps.file = reader->file;
    reader->jumps.line = present_line(reader);
    sn_call_address_jump jump = {.executed = reader->jumps.executed, .taken = reader->jumps.taken};
    if (present_instruction(reader, &jump.from)) {
        jump.to = reader->target[reader->address_position];
        if (!sn_call_profile_add_address_jump(reader->profile, &jump)) {
            return false;
        }
    }
    return sn_call_profile_add_jumps(reader->profile, &reader->jumps);
}

static bool (*const adders[])(reader *reader, const int64_t *costs) = {
    [SELF] = add_self, [CALLS] = add_calls, [JUMPS] = add_jumps};

static bool read_cost_line(reader *reader) {
    int64_t costs[SN_PROFILE_MOST_EVENTS];
    if (reader->function == NO_FUNCTION) {
        return sn_line_wrong(&reader->line, "costs before any function (fn=)");
    }
    if (!read_positions(reader, reader->positions) || !read_costs(reader, costs)) {
        return false;
    }
    cost_use use = reader->use;
    reader->use = SELF;
    return adders[use](reader, costs) || sn_line_wrong(&reader->line, "the sum of the counts is too large");
}

/* --------------------------------------------------------------------- kinds of lines */

typedef struct line_kind {
    const char *beginning;
    bool (*read)(reader *reader);
} line_kind;

/** Lines in front of the costs; `summary:` and `totals:`, which may be behind them, are told apart below. */
static const line_kind header_kinds[] = {
    {"version:", read_version}, {"creator:", read_creator}, {"pid:", skip_value},
    {"thread:", skip_value},    {"part:", skip_value},      {"cmd:", read_command},
    {"desc:", read_description}, {"positions:", read_position_kinds}, {"events:", read_events},
};

static const line_kind end_kinds[] = {{"summary:", read_summary}, {"totals:", read_totals}};

static const line_kind cost_kinds[] = {
    {"fn=", read_function},        {"cfn=", read_called_function}, {"calls=", read_calls},
    {"cfi=", read_called_file},    {"cfl=", read_called_file},     {"cob=", read_called_object},
    {"fl=", read_file},            {"fi=", read_file},             {"fe=", read_file},
    {"ob=", read_object},          {"jump=", read_jump},           {"jcnd=", read_conditional_jump},
    {"jfi=", read_jump_file},      {"jfn=", read_jump_function},
};

#define FIND(kinds, reader) find(kinds, sizeof(kinds) / sizeof *(kinds), reader)

static bool begins(const char *at, const char *end, const char *beginning) {
    size_t length = strlen(beginning);
    return (size_t)(end - at) >= length && memcmp(at, beginning, length) == 0;
}

static const line_kind *find(const line_kind *kinds, size_t count, const reader *reader) {
    for (size_t i = 0; i < count; i++) {
        if (begins(reader->line.at, reader->line.end, kinds[i].beginning)) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool read_kind(reader *reader, const line_kind *kind) {
    reader->line.at += strlen(kind->beginning);
    sn_line_skip_space(&reader->line);
    return kind->read(reader);
}

/** A header line behind costs begins the next part. */
static bool read_header_line(reader *reader, const line_kind *kind) {
    if (reader->is_in_costs || reader->part_number == 0) {
        if (reader->part_number > 0 && !check_part(reader)) {
            return false;
        }
        begin_part(reader);
    }
    return kind == NULL || read_kind(reader, kind);
}

static bool is_cost_line(const reader *reader) {
    const sn_line_text *line = &reader->line;
    return sn_line_is_digit(line) || sn_line_is_at(line, '+') || sn_line_is_at(line, '-') || sn_line_is_at(line, '*');
}

/** Lines of names, calls and costs are possible once the events are known. */
static bool enter_costs(reader *reader) {
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
static bool is_unknown_key(const reader *reader) {
    const char *at = reader->line.at;
    while (at < reader->line.end && *at >= 'a' && *at <= 'z') {
        at++;
    }
    return !reader->is_in_costs && at > reader->line.at && at < reader->line.end && *at == ':';
}

static bool read_line(void *data) {
    reader *reader = data;
    if (sn_line_is_at(&reader->line, '#')) {
        return true;
    }
    if (is_cost_line(reader)) {
        return enter_costs(reader) && read_cost_line(reader);
    }
    const line_kind *kind = FIND(cost_kinds, reader);
    if (reader->use != SELF) {
        return sn_line_wrong(&reader->line, "a line of costs is expected behind a call or jump");
    }
    if (kind != NULL) {
        return enter_costs(reader) && read_kind(reader, kind);
    }
    kind = FIND(end_kinds, reader);
    if (kind != NULL) {
        return reader->part_number > 0 ? read_kind(reader, kind) : sn_line_wrong(&reader->line, "this line is out of place");
    }
    kind = FIND(header_kinds, reader);
    if (kind != NULL) {
        return read_header_line(reader, kind);
    }
    if (begins(reader->line.at, reader->line.end, "event:")) {
        reader->line.at += strlen("event:");
        return read_header_line(reader, NULL) && read_event_definition(reader);
    }
    return is_unknown_key(reader) || sn_line_wrong(&reader->line, "this is no line of a callgrind profile");
}

bool sn_callgrind_parse(sn_call_profile *profile, FILE *stream, char *explanation) {
    reader reader = {.profile = profile, .line = {.explanation = explanation, .size = SN_CALLGRIND_EXPLANATION_SIZE}};
    explanation[0] = '\0';
    profile->lines.command = sn_intern("");
    errno = 0;
    bool is_good = sn_line_read_all(&reader.line, stream, read_line, &reader) && !ferror(stream);
    is_good = is_good &&
              (reader.part_number > 0 || sn_line_wrong(&reader.line, "the profile is incomplete: it ends before its costs")) &&
              check_part(&reader) && derive_events(&reader);
    int error = errno;
    for (int space = 0; space < NAME_SPACE_COUNT; space++) {
        sn_hash_release(&reader.names[space]);
    }
    sn_vector_release(&reader.formulas);
    errno = error;
    return is_good;
}

/* ------------------------------------------------------------------------ recognising */

/** Lines that this format alone has, of all that begin like one. */
static const char *const proofs[] = {"# callgrind format", "version:", "creator:", "pid:", "part:", "thread:", "positions:",
                                     "event:", "ob=", "cob=", "cfn=", "cfi=", "cfl=", "calls=", "totals:"};
/** Lines that may come before: Cachegrind's format has them too. */
static const char *const shared[] = {"desc:", "cmd:", "events:", "summary:", "fl=", "fn=", "fi=", "fe="};

#define BEGINS_WITH_ONE_OF(list, at, end)                                  \
    ({                                                                     \
        bool found = false;                                                \
        for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) {       \
            found |= begins(at, end, (list)[i]);                           \
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
