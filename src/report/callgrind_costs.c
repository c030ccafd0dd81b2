/**
 * @fileoverview Names, positions, costs, calls and jumps of Callgrind's format. See callgrind_parts.h.
 */
#include <inttypes.h>
#include <string.h>

#include "report/callgrind_parts.h"

/* ----------------------------------------------------------------------------- pieces of lines */

/** The value of a hexadecimal digit, 16 for others. */
static unsigned hexadecimal_digit(char character) {
    return character >= '0' && character <= '9'   ? (unsigned)(character - '0')
           : character >= 'a' && character <= 'f' ? (unsigned)(character - 'a') + 10
           : character >= 'A' && character <= 'F' ? (unsigned)(character - 'A') + 10
                                                  : 16;
}

/** Decimal, or hexadecimal behind 0x. */
static bool read_number(sn_callgrind_reader *reader, uint64_t *number) {
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

bool sn_callgrind_read_costs(sn_callgrind_reader *reader, int64_t *costs) {
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
static bool read_position(sn_callgrind_reader *reader, uint64_t before, uint64_t *position) {
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
static bool read_positions(sn_callgrind_reader *reader, uint64_t *positions) {
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
static uint32_t present_line(const sn_callgrind_reader *reader) {
    return reader->line_position < reader->position_count ? (uint32_t)reader->positions[reader->line_position] : 0;
}

/** A name: `name`, `(number) name`, which defines the number, or `(number)`, which stands for the name. */
static bool read_name(sn_callgrind_reader *reader, unsigned space, const char **name) {
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
    if (!sn_line_take(&reader->line, ')')) { /* a name that sn_callgrind_begins so: "(1st try)" */
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

/* ------------------------------------------------------------------------------ lines of names */

static bool read_object(sn_callgrind_reader *reader) {
    return read_name(reader, SN_CALLGRIND_OBJECTS, &reader->object);
}

static bool read_file(sn_callgrind_reader *reader) {
    return read_name(reader, SN_CALLGRIND_FILES, &reader->file);
}

static bool read_function(sn_callgrind_reader *reader) {
    const char *name;
    if (!read_name(reader, SN_CALLGRIND_FUNCTIONS, &name)) {
        return false;
    }
    reader->function = sn_call_profile_function(reader->profile, name, reader->file, reader->object);
    return true;
}

static bool read_called_object(sn_callgrind_reader *reader) {
    return read_name(reader, SN_CALLGRIND_OBJECTS, &reader->called_object);
}

static bool read_called_file(sn_callgrind_reader *reader) {
    return read_name(reader, SN_CALLGRIND_FILES, &reader->called_file);
}

static bool read_called_function(sn_callgrind_reader *reader) {
    const char *name;
    if (!read_name(reader, SN_CALLGRIND_FUNCTIONS, &name)) {
        return false;
    }
    reader->called_function = sn_call_profile_function(
        reader->profile, name, reader->called_file != NULL ? reader->called_file : reader->file,
        reader->called_object != NULL ? reader->called_object : reader->object);
    reader->called_file = reader->called_object = NULL;
    return true;
}

/** Names of jumps' targets only define numbers here: jumps are counted by where they are made. */
static bool read_jump_file(sn_callgrind_reader *reader) {
    const char *name;
    return read_name(reader, SN_CALLGRIND_FILES, &name);
}

static bool read_jump_function(sn_callgrind_reader *reader) {
    const char *name;
    return read_name(reader, SN_CALLGRIND_FUNCTIONS, &name);
}

/* ------------------------------------------------------------------------- calls, jumps, costs */

static bool expect_costs(sn_callgrind_reader *reader, sn_cost_use use) {
    if (reader->function == SN_CALLGRIND_NO_FUNCTION) {
        return sn_line_wrong(&reader->line, "a call or jump before any function (fn=)");
    }
    reader->use = use;
    return true;
}

/** Where a call leads is not used, and some programs leave it out. */
static bool read_calls(sn_callgrind_reader *reader) {
    uint64_t target[SN_CALLGRIND_MOST_POSITIONS];
    if (reader->called_function == SN_CALLGRIND_NO_FUNCTION) {
        return sn_line_wrong(&reader->line, "a call without the function called (cfn=)");
    }
    return expect_costs(reader, SN_COSTS_CALLS) && read_number(reader, &reader->calls) && sn_line_end_word(&reader->line) &&
           (reader->line.at == reader->line.end || read_positions(reader, target));
}

/** `jump=executed target` */
static bool read_jump(sn_callgrind_reader *reader) {
    reader->jumps = (sn_call_jumps){0};
    if (!expect_costs(reader, SN_COSTS_JUMPS) || !read_number(reader, &reader->jumps.executed)) {
        return false;
    }
    reader->jumps.taken = reader->jumps.executed;
    return sn_line_end_word(&reader->line) && read_positions(reader, reader->target);
}

/** `jcnd=taken/executed target` */
static bool read_conditional_jump(sn_callgrind_reader *reader) {
    reader->jumps = (sn_call_jumps){.is_conditional = true};
    if (!expect_costs(reader, SN_COSTS_JUMPS) || !read_number(reader, &reader->jumps.taken)) {
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
static bool present_instruction(const sn_callgrind_reader *reader, sn_call_instruction *instruction) {
    bool has_address = reader->address_position < reader->position_count;
    *instruction = (sn_call_instruction){.function = (uint32_t)reader->function, .line = present_line(reader),
                                         .file = reader->file,
                                         .address = has_address ? reader->positions[reader->address_position] : 0};
    return has_address;
}

static bool add_self(sn_callgrind_reader *reader, const int64_t *costs) {
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

static bool add_calls(sn_callgrind_reader *reader, const int64_t *costs) {
    return sn_call_profile_add_calls(reader->profile, (uint32_t)reader->function, (uint32_t)reader->called_function,
                                     reader->file, present_line(reader), reader->calls, costs);
}

static bool add_jumps(sn_callgrind_reader *reader, const int64_t *costs) {
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

static bool (*const adders[])(sn_callgrind_reader *reader, const int64_t *costs) = {
    [SN_COSTS_SELF] = add_self, [SN_COSTS_CALLS] = add_calls, [SN_COSTS_JUMPS] = add_jumps};

bool sn_callgrind_read_cost_line(sn_callgrind_reader *reader) {
    int64_t costs[SN_PROFILE_MOST_EVENTS];
    if (reader->function == SN_CALLGRIND_NO_FUNCTION) {
        return sn_line_wrong(&reader->line, "costs before any function (fn=)");
    }
    if (!read_positions(reader, reader->positions) || !sn_callgrind_read_costs(reader, costs)) {
        return false;
    }
    sn_cost_use use = reader->use;
    reader->use = SN_COSTS_SELF;
    return adders[use](reader, costs) || sn_line_wrong(&reader->line, "the sum of the counts is too large");
}

/* ------------------------------------------------------------------------------ kinds of lines */

static const sn_callgrind_line cost_kinds[] = {
    {"fn=", read_function},        {"cfn=", read_called_function}, {"calls=", read_calls},
    {"cfi=", read_called_file},    {"cfl=", read_called_file},     {"cob=", read_called_object},
    {"fl=", read_file},            {"fi=", read_file},             {"fe=", read_file},
    {"ob=", read_object},          {"jump=", read_jump},           {"jcnd=", read_conditional_jump},
    {"jfi=", read_jump_file},      {"jfn=", read_jump_function},
};

const sn_callgrind_line *sn_callgrind_cost_line(const sn_line_text *line) {
    return sn_callgrind_find(cost_kinds, sizeof cost_kinds / sizeof *cost_kinds, line);
}
