/**
 * @fileoverview Makes a profile of an account. See profile.h.
 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "settings.h"
#include "stubs.h"

static void name_events(calls_profile *profile) {
    static const char *const system[] = {"sysCount", "sysTime", "sysCpuTime"};
    static const unsigned counts[] = {[CALLS_TIME_MSEC] = 2, [CALLS_TIME_USEC] = 2, [CALLS_TIME_NSEC] = 3};
    profile->events[profile->event_count++] = "Ir";
    for (unsigned i = 0; i < counts[calls_current.system_time]; i++) {
        profile->events[profile->event_count++] = system[i];
    }
}

static calls_row *new_row(calls_profile *profile) {
    if (profile->row_count == profile->room) {
        profile->room = profile->room == 0 ? 4096 : 2 * profile->room;
        profile->rows = reallocarray(profile->rows, profile->room, sizeof *profile->rows);
        if (profile->rows == NULL) {
            sn_fail(125, "calls: out of memory");
        }
    }
    calls_row *row = &profile->rows[profile->row_count++];
    *row = (calls_row){0};
    return row;
}

/* ------------------------------------------------------------------------------- rows */

static void add_self(calls_profile *profile, uint64_t address, uint64_t steps) {
    calls_row *row = new_row(profile);
    row->kind = CALLS_ROW_SELF;
    row->address = address;
    row->place = calls_place_of(address);
    row->costs[0] = steps;
}

/** A jump inside a function. */
static void add_jump(calls_profile *profile, const calls_executed *executed) {
    const calls_instruction *instruction = executed->instruction;
    calls_place from = calls_place_of(instruction->address), to = calls_place_of(instruction->target);
    if (executed->taken == 0 || from.function != to.function) {
        return;
    }
    calls_row *row = new_row(profile);
    row->kind = instruction->shape & CALLS_CONDITIONAL ? CALLS_ROW_CONDITIONAL : CALLS_ROW_JUMP;
    row->address = instruction->address;
    row->place = from;
    row->target = to;
    row->target_address = instruction->target;
    row->count = executed->taken;
    row->executed = executed->executions;
}

/** Records that are being walked. */
typedef struct walking {
    calls_profile *profile;
    uint64_t executions;   /**< of the instruction visited last */
} walking;

static void visit_executed(const calls_executed *executed, void *data) {
    walking *walk = data;
    calls_profile *profile = walk->profile;
    walk->executions = executed->executions;
    if (executed->steps != 0) {
        add_self(profile, executed->instruction->address, executed->steps);
    }
    if (calls_current.collects_jumps && (executed->instruction->shape & CALLS_JUMP) != 0) {
        add_jump(profile, executed);
    }
}

/** What passes of a stub executed is the call's, not the stub's and not the function's that it led to. */
static void move_to_caller(calls_profile *profile, calls_row call, const calls_record *stub) {
    for (uint32_t i = 0; i < stub->stub_size; i++) {
        add_self(profile, stub->instructions[i].address, -call.count);
    }
    add_self(profile, call.address, call.count * stub->stub_size);
}

/** Calls by jumps, by signals, and indirect ones. */
static void add_calls(calls_profile *profile, const calls_arcs *arcs) {
    for (uint64_t i = 0; i <= arcs->mask; i++) {
        const calls_arc *arc = &arcs->table[i];
        if (calls_arc_is_empty(arc)) {
            continue;
        }
        calls_row *row = new_row(profile);
        row->kind = CALLS_ROW_CALL;
        row->address = arc->from;
        row->place = calls_place_of(arc->from);
        row->target = calls_place_of(arc->target);
        row->target_address = arc->target;
        row->count = arc->count;
        row->costs[0] = arc->inclusive;
        memcpy(row->costs + 1, arc->system, sizeof arc->system);
    }
}

static bool is_nothing(const calls_row *row) {
    uint64_t all = row->count;
    for (unsigned event = 0; event < CALLS_MOST_EVENTS; event++) {
        all |= row->costs[event];
    }
    return all == 0;
}

/** The call at a record's end, if it is counted at its site. */
static void add_counted_call(calls_profile *profile, const calls_record *record, const calls_stubs *stubs, uint64_t count,
                             uint64_t inclusive) {
    const calls_instruction *call = &record->instructions[record->instruction_count - 1];
    if (count == 0 && inclusive == 0) {
        return;
    }
    const calls_record *stub = calls_stub_at(stubs, call->target);
    calls_row *row = new_row(profile);
    row->kind = CALLS_ROW_CALL;
    row->address = call->address;
    row->place = calls_place_of(call->address);
    row->target_address = stub != NULL ? calls_stub_target(stub) : call->target;
    row->target = calls_place_of(row->target_address);
    row->count = count;
    row->costs[0] = inclusive;
    if (stub != NULL) {
        uint64_t of_stub = count * stub->stub_size;
        row->costs[0] -= of_stub < inclusive ? of_stub : inclusive;
        move_to_caller(profile, *row, stub);
    }
}

static void add_records(calls_profile *profile, const calls_account *account) {
    sn_counter first, end;
    calls_record_inclusive(&first, &end);
    uint8_t *is_taken = calloc(end - first + 1, 1);
    if (is_taken == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    walking walk = {.profile = profile};
    calls_stubs stubs = calls_stubs_find();
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        bool is_known = record->counters + record->counter_count <= account->value_count &&
                        record->cuts + record->instruction_count <= account->value_count;
        if (!is_known) {
            continue;
        }
        calls_record_walk(record, account->values, visit_executed, &walk);
        if (record->counts_call && record->inclusive < end) {
            bool is_first = !is_taken[record->inclusive - first];
            is_taken[record->inclusive - first] = 1;
            /* The same site may be in several records. */
            add_counted_call(profile, record, &stubs, walk.executions, is_first ? account->values[record->inclusive] : 0);
        }
    }
    calls_stubs_free(&stubs);
    free(is_taken);
}

static void learn_functions(const calls_account *account) {
    for (uint64_t i = 0; i <= account->arcs.mask; i++) {
        if (account->arcs.table[i].target != 0) {
            calls_functions_learn(account->arcs.table[i].target);
        }
    }
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        if (record->counts_call) {
            calls_functions_learn(record->instructions[record->instruction_count - 1].target);
        }
    }
    calls_functions_learned();
}

static void add_system(calls_profile *profile, const calls_system_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        calls_row *row = new_row(profile);
        row->kind = CALLS_ROW_SELF;
        row->address = list->items[i].address;
        row->place = calls_place_of(row->address);
        memcpy(row->costs + 1, list->items[i].counts, sizeof list->items[i].counts);
    }
}

/* ------------------------------------------------------------------------------ order */

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_names(const char *a, const char *b) {
    return a == b ? 0 : a == NULL ? -1 : b == NULL ? 1 : strcmp(a, b);
}

static int by_place(const void *left, const void *right) {
    const calls_row *a = left, *b = right;
    int order = compare(a->place.function->number, b->place.function->number);
    if (order == 0 && calls_current.dumps_instructions) {
        order = compare(a->address, b->address);
    }
    order = order != 0 ? order : compare_names(a->place.file, b->place.file);
    order = order != 0 ? order : compare(a->place.line, b->place.line);
    order = order != 0 ? order : compare(a->kind, b->kind);
    if (order != 0 || a->kind == CALLS_ROW_SELF) {
        return order;
    }
    order = compare(a->target.function->number, b->target.function->number);
    order = order != 0 ? order : compare(a->target.line, b->target.line);
    return order != 0 ? order : compare(a->target_address, b->target_address);
}

/** Whether two rows are one line of the file. */
static bool is_one(const calls_row *a, const calls_row *b) {
    bool is_one_target = a->kind == CALLS_ROW_SELF ||
                         (a->target.function == b->target.function && a->target.line == b->target.line &&
                          a->target.file == b->target.file);
    bool is_one_address = !calls_current.dumps_instructions ||
                          (a->address == b->address && a->target_address == b->target_address);
    return a->kind == b->kind && a->place.function == b->place.function && a->place.line == b->place.line &&
           a->place.file == b->place.file && is_one_target && is_one_address;
}

static void merge(calls_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->row_count; i++) {
        calls_row *row = &profile->rows[i], *last = kept == 0 ? NULL : &profile->rows[kept - 1];
        if (last == NULL || !is_one(last, row)) {
            profile->rows[kept++] = *row;
            continue;
        }
        last->count += row->count;
        last->executed += row->executed;
        for (unsigned event = 0; event < CALLS_MOST_EVENTS; event++) {
            last->costs[event] += row->costs[event];
        }
    }
    profile->row_count = 0;
    for (size_t i = 0; i < kept; i++) {
        if (!is_nothing(&profile->rows[i])) {
            profile->rows[profile->row_count++] = profile->rows[i];
        }
    }
}

static void sum_up(calls_profile *profile) {
    for (size_t i = 0; i < profile->row_count; i++) {
        for (unsigned event = 0; profile->rows[i].kind == CALLS_ROW_SELF && event < CALLS_MOST_EVENTS; event++) {
            profile->totals[event] += profile->rows[i].costs[event];
        }
    }
}

void calls_profile_make(calls_profile *profile, const calls_account *account) {
    *profile = (calls_profile){0};
    name_events(profile);
    if (account->value_count == 0) {
        return;
    }
    learn_functions(account);
    add_records(profile, account);
    add_calls(profile, &account->arcs);
    add_system(profile, &account->system);
    if (profile->row_count > 0) {
        qsort(profile->rows, profile->row_count, sizeof *profile->rows, by_place);
    }
    merge(profile);
    sum_up(profile);
}

void calls_profile_free(calls_profile *profile) {
    free(profile->rows);
    *profile = (calls_profile){0};
}
