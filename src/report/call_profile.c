/**
 * @fileoverview Functions, calls and jumps of a profile: finding, adding, deriving events. See call_profile.h.
 */
#include "report/call_profile.h"

#include <stdio.h>
#include <string.h>

/** The number of a key, from 1 on, so that pairs of numbers are keys of 64 bits. */
static uint64_t number_of(sn_hash *numbers, uint64_t key) {
    bool is_new;
    uint64_t *number = sn_hash_insert(numbers, key, &is_new);
    if (is_new) {
        *number = sn_hash_count(numbers);
    }
    return *number;
}

static uint64_t name_number(sn_call_profile *profile, const char *name) {
    return number_of(&profile->name_numbers, (uintptr_t)name);
}

/** Two numbers of 32 bits as one key. */
static uint64_t pair(uint64_t one, uint64_t other) {
    return one << 32 | other;
}

/** Room for the costs of one more row. */
#define add_cost_row(costs, event_count)                  \
    do {                                                  \
        for (unsigned row_i = 0; row_i < (event_count); row_i++) { \
            *sn_vector_add(costs) = 0;                    \
        }                                                 \
    } while (0)

uint32_t sn_call_profile_function(sn_call_profile *profile, const char *name, const char *file, const char *object) {
    uint64_t place = number_of(&profile->place_numbers, pair(name_number(profile, file), name_number(profile, object)));
    uint64_t function = number_of(&profile->function_numbers, pair(place, name_number(profile, name))) - 1;
    if (function == profile->functions.count) {
        *sn_vector_add(&profile->functions) = (sn_call_function){.name = name, .file = file, .object = object};
        add_cost_row(&profile->self, profile->lines.event_count);
    }
    return (uint32_t)function;
}

/** All or nothing: false if one of the sums does not fit. */
static bool add_costs(int64_t *sums, const int64_t *costs, unsigned event_count) {
    int64_t results[SN_PROFILE_MOST_EVENTS];
    for (unsigned i = 0; i < event_count; i++) {
        if (__builtin_add_overflow(sums[i], costs[i], &results[i])) {
            return false;
        }
    }
    memcpy(sums, results, event_count * sizeof *results);
    return true;
}

bool sn_call_profile_add_self(sn_call_profile *profile, uint32_t function, const char *file, uint32_t line,
                              const int64_t *costs) {
    unsigned event_count = profile->lines.event_count;
    return sn_profile_append(&profile->lines, file, profile->functions.items[function].name, line, costs) &&
           add_costs(profile->self.items + (size_t)function * event_count, costs, event_count);
}

static uint32_t arc_of(sn_call_profile *profile, uint32_t caller, uint32_t callee) {
    uint64_t arc = number_of(&profile->arc_numbers, pair(caller, callee)) - 1;
    if (arc == profile->arcs.count) {
        *sn_vector_add(&profile->arcs) = (sn_call_arc){.caller = caller, .callee = callee};
        add_cost_row(&profile->arc_costs, profile->lines.event_count);
    }
    return (uint32_t)arc;
}

static size_t site_of(sn_call_profile *profile, uint32_t arc, const char *file, uint32_t line) {
    uint64_t place = number_of(&profile->site_place_numbers, pair(name_number(profile, file), line));
    uint64_t site = number_of(&profile->site_numbers, pair(arc, place)) - 1;
    if (site == profile->sites.count) {
        *sn_vector_add(&profile->sites) = (sn_call_site){.arc = arc, .line = line, .file = file};
        add_cost_row(&profile->site_costs, profile->lines.event_count);
    }
    return site;
}

bool sn_call_profile_add_calls(sn_call_profile *profile, uint32_t caller, uint32_t callee, const char *file, uint32_t line,
                               uint64_t calls, const int64_t *costs) {
    unsigned event_count = profile->lines.event_count;
    uint32_t number = arc_of(profile, caller, callee);
    size_t site_number = site_of(profile, number, file, line);
    sn_call_arc *arc = &profile->arcs.items[number];
    sn_call_site *site = &profile->sites.items[site_number];
    return !__builtin_add_overflow(arc->calls, calls, &arc->calls) &&
           !__builtin_add_overflow(site->calls, calls, &site->calls) &&
           add_costs(profile->arc_costs.items + (size_t)number * event_count, costs, event_count) &&
           add_costs(profile->site_costs.items + site_number * event_count, costs, event_count);
}

bool sn_call_profile_add_jumps(sn_call_profile *profile, const sn_call_jumps *jumps) {
    uint64_t place = number_of(&profile->site_place_numbers, pair(name_number(profile, jumps->file), jumps->line));
    uint64_t owner = (uint64_t)jumps->function << 1 | jumps->is_conditional;
    uint64_t number = number_of(&profile->jump_numbers, pair(owner, place)) - 1;
    if (number == profile->jumps.count) {
        sn_call_jumps *added = sn_vector_add(&profile->jumps);
        *added = *jumps;
        added->executed = added->taken = 0;
    }
    sn_call_jumps *sum = &profile->jumps.items[number];
    return !__builtin_add_overflow(sum->executed, jumps->executed, &sum->executed) &&
           !__builtin_add_overflow(sum->taken, jumps->taken, &sum->taken);
}

/* ------------------------------------------------------------------------ instructions */

bool sn_call_profile_add_instruction(sn_call_profile *profile, const sn_call_instruction *instruction, const int64_t *costs) {
    if (!profile->keeps_instructions) {
        return true;
    }
    unsigned event_count = profile->lines.event_count;
    uint64_t key = pair(instruction->function, number_of(&profile->address_numbers, instruction->address));
    uint64_t number = number_of(&profile->instruction_numbers, key) - 1;
    if (number == profile->instructions.count) {
        *sn_vector_add(&profile->instructions) = *instruction;
        add_cost_row(&profile->instruction_costs, event_count);
    }
    return add_costs(profile->instruction_costs.items + number * event_count, costs, event_count);
}

bool sn_call_profile_add_address_jump(sn_call_profile *profile, const sn_call_address_jump *jump) {
    if (!profile->keeps_instructions) {
        return true;
    }
    uint64_t from = number_of(&profile->address_numbers, jump->from.address);
    uint64_t key = pair(from, number_of(&profile->address_numbers, jump->to));
    uint64_t number = number_of(&profile->address_jump_numbers, key) - 1;
    if (number == profile->address_jumps.count) {
        sn_call_address_jump *added = sn_vector_add(&profile->address_jumps);
        *added = *jump;
        added->executed = added->taken = 0;
    }
    sn_call_address_jump *sum = &profile->address_jumps.items[number];
    return !__builtin_add_overflow(sum->executed, jump->executed, &sum->executed) &&
           !__builtin_add_overflow(sum->taken, jump->taken, &sum->taken);
}

/* ------------------------------------------------------------------- sums of profiles */

/** How one profile is added to another: where its events and functions are there. */
typedef struct addition {
    sn_call_profile *sum;
    const sn_call_profile *part;
    unsigned events[SN_PROFILE_MOST_EVENTS];
    SN_VECTOR(uint32_t) functions;
} addition;

static bool map_events(addition *addition) {
    const sn_profile *sum = &addition->sum->lines, *part = &addition->part->lines;
    for (unsigned i = 0; i < part->event_count; i++) {
        int event = sn_profile_event(sum, part->events[i], strlen(part->events[i]));
        if (event < 0 || part->event_count != sum->event_count) {
            return false;
        }
        addition->events[i] = (unsigned)event;
    }
    return true;
}

static void map_functions(addition *addition) {
    for (size_t i = 0; i < addition->part->functions.count; i++) {
        const sn_call_function *function = &addition->part->functions.items[i];
        *sn_vector_add(&addition->functions) =
            sn_call_profile_function(addition->sum, function->name, function->file, function->object);
    }
}

/** The costs of a row of the part in the sum's order of events. */
static const int64_t *mapped(const addition *addition, const int64_t *costs, int64_t *to) {
    for (unsigned i = 0; i < addition->part->lines.event_count; i++) {
        to[addition->events[i]] = costs[i];
    }
    return to;
}

static bool add_lines(addition *addition) {
    int64_t costs[SN_PROFILE_MOST_EVENTS];
    const sn_profile *part = &addition->part->lines;
    for (size_t i = 0; i < part->rows.count; i++) {
        const sn_profile_row *row = &part->rows.items[i];
        if (!sn_profile_append(&addition->sum->lines, row->file, row->function, row->line,
                               mapped(addition, sn_profile_counts(part, i), costs))) {
            return false;
        }
    }
    unsigned event_count = part->event_count;
    for (size_t i = 0; i < addition->functions.count; i++) {
        if (!add_costs(addition->sum->self.items + (size_t)addition->functions.items[i] * event_count,
                       mapped(addition, sn_call_profile_self(addition->part, (uint32_t)i), costs), event_count)) {
            return false;
        }
    }
    return true;
}

static bool add_sites(addition *addition) {
    int64_t costs[SN_PROFILE_MOST_EVENTS];
    const sn_call_profile *part = addition->part;
    for (size_t i = 0; i < part->sites.count; i++) {
        const sn_call_site *site = &part->sites.items[i];
        const sn_call_arc *arc = &part->arcs.items[site->arc];
        if (!sn_call_profile_add_calls(addition->sum, addition->functions.items[arc->caller],
                                       addition->functions.items[arc->callee], site->file, site->line, site->calls,
                                       mapped(addition, sn_call_profile_site_costs(part, i), costs))) {
            return false;
        }
    }
    for (size_t i = 0; i < part->jumps.count; i++) {
        sn_call_jumps jumps = part->jumps.items[i];
        jumps.function = addition->functions.items[jumps.function];
        if (!sn_call_profile_add_jumps(addition->sum, &jumps)) {
            return false;
        }
    }
    return true;
}

static bool add_instructions(addition *addition) {
    int64_t costs[SN_PROFILE_MOST_EVENTS];
    const sn_call_profile *part = addition->part;
    for (size_t i = 0; i < part->instructions.count; i++) {
        sn_call_instruction instruction = part->instructions.items[i];
        instruction.function = addition->functions.items[instruction.function];
        if (!sn_call_profile_add_instruction(addition->sum, &instruction,
                                             mapped(addition, sn_call_profile_instruction_costs(part, i), costs))) {
            return false;
        }
    }
    for (size_t i = 0; i < part->address_jumps.count; i++) {
        sn_call_address_jump jump = part->address_jumps.items[i];
        jump.from.function = addition->functions.items[jump.from.function];
        if (!sn_call_profile_add_address_jump(addition->sum, &jump)) {
            return false;
        }
    }
    return true;
}

bool sn_call_profile_add(sn_call_profile *sum, const sn_call_profile *part, char *explanation, size_t size) {
    addition addition = {.sum = sum, .part = part};
    bool fits = map_events(&addition);
    if (!fits) {
        snprintf(explanation, size, "it has other events than the files before it");
        return false;
    }
    map_functions(&addition);
    fits = add_lines(&addition) && add_sites(&addition) && add_instructions(&addition);
    if (!fits) {
        snprintf(explanation, size, "the sum of the counts is too large");
    }
    sum->is_unproven |= part->is_unproven;
    sn_vector_release(&addition.functions);
    return fits;
}

/* --------------------------------------------------------------------- derived events */

/** The value of a formula for a row. */
static bool evaluate(const sn_call_formula *formula, const int64_t *row, int64_t *value) {
    *value = 0;
    for (size_t i = 0; i < formula->terms.count; i++) {
        int64_t product;
        if (__builtin_mul_overflow(row[formula->terms.items[i].event], formula->terms.items[i].factor, &product) ||
            __builtin_add_overflow(*value, product, value)) {
            return false;
        }
    }
    return true;
}

typedef SN_VECTOR(int64_t) cost_rows;

/** Give each row a number more for each formula. */
static bool widen(const sn_call_profile *profile, unsigned old_count, cost_rows *rows) {
    cost_rows wide = {0};
    unsigned new_count = old_count + (unsigned)profile->formulas.count;
    sn_vector_reserve(&wide, rows->count / old_count * new_count);
    bool fits = true;
    for (size_t at = 0; at < rows->count && fits; at += old_count) {
        int64_t row[SN_PROFILE_MOST_EVENTS];
        memcpy(row, rows->items + at, old_count * sizeof *row);
        for (unsigned i = 0; i < profile->formulas.count && fits; i++) {
            fits = evaluate(&profile->formulas.items[i], row, &row[old_count + i]);
        }
        memcpy(wide.items + wide.count, row, new_count * sizeof *row);
        wide.count += new_count;
    }
    sn_vector_release(rows);
    *rows = wide;
    return fits;
}

/** The same on a vector of another, equally laid out, type. */
#define WIDEN(profile, old_count, vector)                                                                            \
    ({                                                                                                               \
        cost_rows rows = {.items = (vector)->items, .count = (vector)->count, .room = (vector)->room};               \
        bool fits = widen(profile, old_count, &rows);                                                                \
        (vector)->items = rows.items, (vector)->count = rows.count, (vector)->room = rows.room;                      \
        fits;                                                                                                        \
    })

bool sn_call_profile_derive(sn_call_profile *profile) {
    sn_profile *lines = &profile->lines;
    unsigned old_count = lines->event_count;
    bool fits = true;
    if (profile->formulas.count == 0) {
        return true;
    }
    fits = WIDEN(profile, old_count, &lines->counts) && WIDEN(profile, old_count, &profile->self) &&
           WIDEN(profile, old_count, &profile->arc_costs) && WIDEN(profile, old_count, &profile->site_costs) &&
           WIDEN(profile, old_count, &profile->instruction_costs);
    for (size_t i = 0; i < profile->formulas.count; i++) {
        unsigned event = old_count + (unsigned)i;
        fits = fits && evaluate(&profile->formulas.items[i], lines->totals, &lines->totals[event]);
        lines->magnitudes[event] = (uint64_t)lines->totals[event];
        lines->events[event] = profile->formulas.items[i].name;
        sn_vector_release(&profile->formulas.items[i].terms);
    }
    lines->event_count += (unsigned)profile->formulas.count;
    sn_vector_clear(&profile->formulas);
    return fits;
}

void sn_call_profile_release(sn_call_profile *profile) {
    sn_profile_release(&profile->lines);
    sn_vector_release(&profile->functions);
    sn_vector_release(&profile->self);
    sn_vector_release(&profile->arcs);
    sn_vector_release(&profile->arc_costs);
    sn_vector_release(&profile->sites);
    sn_vector_release(&profile->site_costs);
    sn_vector_release(&profile->jumps);
    sn_vector_release(&profile->instructions);
    sn_vector_release(&profile->instruction_costs);
    sn_vector_release(&profile->address_jumps);
    for (size_t i = 0; i < profile->formulas.count; i++) {
        sn_vector_release(&profile->formulas.items[i].terms);
    }
    sn_vector_release(&profile->formulas);
    sn_hash_release(&profile->name_numbers);
    sn_hash_release(&profile->place_numbers);
    sn_hash_release(&profile->function_numbers);
    sn_hash_release(&profile->arc_numbers);
    sn_hash_release(&profile->site_place_numbers);
    sn_hash_release(&profile->site_numbers);
    sn_hash_release(&profile->jump_numbers);
    sn_hash_release(&profile->address_numbers);
    sn_hash_release(&profile->instruction_numbers);
    sn_hash_release(&profile->address_jump_numbers);
    *profile = (sn_call_profile){0};
}
