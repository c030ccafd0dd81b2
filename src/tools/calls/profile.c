/**
 * @fileoverview Makes a profile of an account. See profile.h.
 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/sorted.h>

#include "pieces.h"
#include "record.h"
#include "separate.h"
#include "settings.h"
#include "stubs.h"

/** A profile while it is made. */
typedef struct making {
    calls_profile *profile;
    const calls_account *account;
    calls_stubs stubs;
    const calls_record *record;/**< that is walked */
    uint32_t context;          /**< of what is added: separate.h */
    uint64_t executions;       /**< of the instruction visited last */
} making;

static void *checked(void *memory) {
    if (memory == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    return memory;
}

/* -------------------------------------------------------------------------------- rows */

static calls_place place_in(uint64_t address, uint32_t context) {
    calls_place place = calls_place_of(address);
    place.function = calls_function_in(place.function, context);
    return place;
}

/** The row of what is at `address`. */
static calls_row *row_of(making *making, uint64_t address, uint32_t context) {
    const calls_row_key key = {.kind = CALLS_ROW_SELF, .place = place_in(address, context),
                               .address = calls_current.dumps_instructions ? address : 0};
    return calls_rows_find(&making->profile->rows, &key);
}

static calls_row *add_self(making *making, uint64_t address, uint32_t context, uint64_t steps) {
    calls_row *row = row_of(making, address, context);
    row->costs[0] += steps;
    return row;
}

/** A jump inside a function. */
static void add_jump(making *making, const calls_executed *executed) {
    const calls_instruction *instruction = executed->instruction;
    calls_row_key key = {
        .kind = instruction->shape & CALLS_CONDITIONAL ? CALLS_ROW_CONDITIONAL : CALLS_ROW_JUMP,
        .place = place_in(instruction->address, making->context),
        .target = place_in(instruction->target, making->context),
        .address = calls_current.dumps_instructions ? instruction->address : 0,
        .target_address = calls_current.dumps_instructions ? instruction->target : 0,
    };
    if (executed->taken == 0 || key.place.function != key.target.function) {
        return;
    }
    calls_row *row = calls_rows_find(&making->profile->rows, &key);
    row->count += executed->taken;
    row->executed += executed->executions;
}

/** What is simulated of the instruction: added to its costs. */
static void add_simulated(const making *making, const calls_executed *executed, uint64_t *costs) {
    const calls_record *record = making->record;
    uint32_t index = (uint32_t)(executed->instruction - record->instructions);
    if (record->simulated != NULL) {
        const uint64_t *site = cache_site_find_in(&making->account->simulated.sites, making->context, record->first_site + index);
        calls_events_add(&making->profile->events, &record->simulated[index], site, executed->executions, costs);
    }
}

/** Whether something may have been simulated of it, although it was never completed. */
static bool has_site(const making *making, const calls_executed *executed) {
    uint32_t index = (uint32_t)(executed->instruction - making->record->instructions);
    return making->record->simulated != NULL &&
           cache_site_find_in(&making->account->simulated.sites, making->context, making->record->first_site + index) != NULL;
}

static void visit_executed(const calls_executed *executed, void *data) {
    making *making = data;
    making->executions = executed->executions;
    if (executed->steps != 0 || has_site(making, executed)) {
        calls_row *row = add_self(making, executed->instruction->address, making->context, executed->steps);
        add_simulated(making, executed, row->costs);
    }
    if (calls_current.collects_jumps && (executed->instruction->shape & CALLS_JUMP) != 0) {
        add_jump(making, executed);
    }
}

/* -------------------------------------------------------------------------------- calls */

/** So many calls of some way, and what they cost. */
static calls_row *add_call(making *making, const calls_way *way, uint64_t count, uint64_t inclusive) {
    const calls_row_key key = {
        .kind = CALLS_ROW_CALL,
        .place = place_in(way->from, way->from_context),
        .target = place_in(way->target, way->target_context),
        .address = calls_current.dumps_instructions ? way->from : 0,
        .target_address = calls_current.dumps_instructions ? way->target : 0,
    };
    calls_row *row = calls_rows_find(&making->profile->rows, &key);
    row->count += count;
    row->costs[0] += inclusive;
    return row;
}

/** What the instructions of a stub have cost, all in all. */
static void visit_stub(const calls_executed *executed, void *data) {
    making *making = data;
    uint32_t index = (uint32_t)(executed->instruction - making->record->instructions);
    const calls_record *stub = calls_stub_at(&making->stubs, making->record->instructions[0].address);
    if (index < stub->stub_size && index < making->record->stub_size) {
        calls_stub_share *share = calls_stub_share_of(&making->stubs, stub);
        share->executions += index == 0 ? executed->executions : 0;
        add_simulated(making, executed, share->costs[index]);
    }
}

/** Of what is simulated of a stub, misses for example, each call gets its part of what is left: for `count` calls, added to
    `costs`, and taken away from what the stub's instructions have cost if `takes_away`. */
static void share_out(making *making, const calls_record *stub, uint64_t count, uint64_t *costs, bool takes_away) {
    const calls_events *events = &making->profile->events;
    calls_stub_share *share = calls_stub_share_of(&making->stubs, stub);
    double part = count >= share->executions ? 1 : (double)count / (double)share->executions;
    for (uint32_t i = 0; i < stub->stub_size && events->system > events->data; i++) {
        uint64_t *of_stub = row_of(making, stub->instructions[i].address, 0)->costs;
        for (unsigned event = events->data; event < events->system; event++) {
            uint64_t amount = (uint64_t)((double)share->costs[i][event] * part);
            share->costs[i][event] -= amount;
            costs[event] += amount;
            of_stub[event] -= takes_away ? amount : 0;
        }
    }
    share->executions -= count < share->executions ? count : share->executions;
}

/** What passes of a stub executed is the call's, not the stub's and not the function's that it led to. */
static void move_to_caller(making *making, const calls_way *way, const calls_record *stub, uint64_t count) {
    for (uint32_t i = 0; i < stub->stub_size; i++) {
        add_self(making, stub->instructions[i].address, 0, -count);
    }
    share_out(making, stub, count, add_self(making, way->from, way->from_context, count * stub->stub_size)->costs, true);
}

/** The call through a stub, which costs the stub's instructions and then what the function does. Returns the function's. */
static calls_row *add_call_through(making *making, const calls_way *way, const calls_record *stub, uint64_t count,
                                   uint64_t inclusive) {
    uint64_t of_stub = count * stub->stub_size;
    of_stub = of_stub < inclusive ? of_stub : inclusive;
    calls_way rest = *way;
    if (calls_current.skips_stubs) {
        move_to_caller(making, way, stub, count);
    } else {
        calls_way to_stub = *way;
        to_stub.target = rest.from = stub->instructions[0].address;
        to_stub.target_context = rest.from_context = 0;
        share_out(making, stub, count, add_call(making, &to_stub, count, inclusive)->costs, false);
        rest.from = stub->instructions[stub->stub_size - 1].address;
    }
    return add_call(making, &rest, count, inclusive - of_stub);
}

/** The call at a record's end, if it is counted at its site. */
static void add_counted_call(making *making, const calls_record *record, uint64_t count, uint64_t inclusive) {
    const calls_instruction *call = &record->instructions[record->instruction_count - 1];
    if (count == 0 && inclusive == 0) {
        return;
    }
    const calls_record *stub = calls_stub_at(&making->stubs, call->target);
    calls_way way = {.from = call->address, .target = call->target};
    if (stub == NULL) {
        add_call(making, &way, count, inclusive);
    } else {
        way.target = calls_stub_target(stub);
        add_call_through(making, &way, stub, count, inclusive);
    }
}

/** Calls by jumps, by signals, and indirect ones; in contexts all. */
static void add_calls(making *making) {
    sn_table_each(&making->account->arcs, arc) {
        if (calls_arc_is_empty(arc)) {
            continue;
        }
        const calls_record *stub = arc->key.how == CALLS_BY_CALL ? calls_stub_called(&making->stubs, arc->key.from) : NULL;
        calls_row *row = stub == NULL ? add_call(making, &arc->key, arc->count, arc->inclusive)
                                      : add_call_through(making, &arc->key, stub, arc->count, arc->inclusive);
        for (unsigned event = 0; event < making->profile->events.system_count; event++) {
            row->costs[making->profile->events.system + event] += arc->system[event];
        }
    }
}

/** Add to a call's row what it cost of that which is simulated. */
static void add_bill(const making *making, const calls_bill *bill, uint64_t *costs) {
    const calls_events *events = &making->profile->events;
    for (unsigned event = events->data; event < events->system; event++) {
        costs[event] += bill->costs[event < events->branches ? event - events->data
                                                             : CALLS_DATA_EVENTS + event - events->branches];
    }
}

/** Of calls of all kinds. A call through a stub is that of the function, and if stubs are shown, that of the stub too. */
static void add_bills(making *making) {
    sn_table_each(&making->account->simulated.bills, bill) {
        bool is_call = bill->key.how == CALLS_BY_CALL;
        uint64_t from = is_call ? sn_call_site_address((uint32_t)bill->key.from) : bill->key.from;
        calls_way way = {.from = from, .target = bill->key.target,
                         .from_context = calls_bill_from_context(&bill->key),
                         .target_context = calls_bill_target_context(&bill->key)};
        const calls_record *stub =
            is_call && !calls_current.skips_stubs ? calls_stub_called(&making->stubs, way.from) : NULL;
        if (stub != NULL) {
            calls_way to_stub = way;
            to_stub.target = stub->instructions[0].address;
            to_stub.target_context = 0;
            add_bill(making, bill, add_call(making, &to_stub, 0, 0)->costs);
            way.from = stub->instructions[stub->stub_size - 1].address;
            way.from_context = 0;
        }
        add_bill(making, bill, add_call(making, &way, 0, 0)->costs);
    }
}

/* ------------------------------------------------------------------------------ records */

static bool is_counted(const calls_record *record, const calls_account *account) {
    return record->counters + record->counter_count <= account->values.count &&
           record->cuts + record->instruction_count <= account->values.count;
}

/** `values`: of what is in no context. */
static void add_up_stubs(making *making, const uint64_t *values) {
    for (size_t i = 0; i < making->stubs.list.count; i++) {
        making->record = making->stubs.list.items[i].record;
        if (is_counted(making->record, making->account)) {
            calls_record_walk(making->record, values, visit_stub, making);
        }
    }
}

static void add_records(making *making) {
    const calls_account *account = making->account;
    sn_counter first, end;
    calls_record_inclusive(&first, &end);
    uint8_t *is_taken = checked(calloc(end - first + 1, 1));
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        if (!is_counted(record, account)) {
            continue;
        }
        making->record = record;
        calls_record_walk(record, account->values.items, visit_executed, making);
        if (record->counts_call && record->inclusive < end) {
            bool is_first = !is_taken[record->inclusive - first];
            is_taken[record->inclusive - first] = 1;
            /* The same site may be in several records. */
            add_counted_call(making, record, making->executions, is_first ? account->values.items[record->inclusive] : 0);
        }
    }
    free(is_taken);
}

/** The record of each counter, by number. */
static const calls_record **records_by_counter(const calls_account *account) {
    const calls_record **records = checked(calloc(account->values.count + 1, sizeof *records));
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        for (uint32_t i = 0; is_counted(record, account) && i < record->counter_count; i++) {
            records[record->counters + i] = record;
        }
        for (uint32_t i = 0; is_counted(record, account) && i < record->instruction_count; i++) {
            records[record->cuts + i] = record;
        }
    }
    return records;
}

typedef SN_VECTOR(calls_cell) cell_list;

static cell_list sorted_cells(const calls_cells *cells) {
    cell_list sorted = {0};
    sn_vector_reserve(&sorted, sn_table_count(cells));
    sn_table_each(cells, cell) {
        *sn_vector_add(&sorted) = *cell;
    }
    sn_sorted_sort(&sorted, key);
    return sorted;
}

/** Records in one context: its cells are put where counters of blocks are when nothing is separated. */
static void add_context(making *making, uint64_t *values, const calls_record **records, const calls_cell *cells, size_t count) {
    size_t limit = making->account->values.count;
    for (size_t i = 0; i < count && calls_cell_counter(&cells[i]) < limit; i++) {
        values[calls_cell_counter(&cells[i])] = cells[i].count;
    }
    if (making->context == 0) {
        add_up_stubs(making, values);
    }
    for (size_t i = 0; i < count && calls_cell_counter(&cells[i]) < limit; i++) {
        const calls_record *record = records[calls_cell_counter(&cells[i])];
        /* Counters of a record lie side by side, but for the cuts, which come with others. */
        bool is_new = record != NULL && calls_cell_counter(&cells[i]) - record->counters < record->counter_count &&
                      (i == 0 || records[calls_cell_counter(&cells[i - 1])] != record);
        if (is_new) {
            making->record = record;
            calls_record_walk(record, values, visit_executed, making);
        }
    }
    for (size_t i = 0; i < count && calls_cell_counter(&cells[i]) < limit; i++) {
        values[calls_cell_counter(&cells[i])] = 0;
    }
}

static void add_separated(making *making) {
    cell_list sorted = sorted_cells(&making->account->cells);
    const calls_cell *cells = sorted.items;
    size_t count = sorted.count;
    const calls_record **records = records_by_counter(making->account);
    uint64_t *values = checked(calloc(making->account->values.count + 1, sizeof *values));
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && calls_cell_context(&cells[end]) == calls_cell_context(&cells[first])) {
            end++;
        }
        making->context = calls_cell_context(&cells[first]);
        add_context(making, values, records, cells + first, end - first);
    }
    making->context = 0;
    free(values);
    free(records);
    sn_vector_release(&sorted);
}

/* ------------------------------------------------------------------------------ the rest */

static void learn_functions(const calls_account *account, const calls_stubs *stubs) {
    sn_table_each(&account->arcs, arc) {
        calls_functions_learn(arc->key.target);
    }
    for (size_t i = 0; i < stubs->calls.count; i++) {
        calls_functions_learn(stubs->calls.items[i].stub->instructions[0].address);
    }
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        if (record->counts_call) {
            calls_functions_learn(record->instructions[record->instruction_count - 1].target);
        }
        for (uint32_t i = 0; i < record->instruction_count; i++) {
            if (record->instructions[i].shape & CALLS_BEGINS) {
                calls_functions_learn(record->instructions[i].address);
            }
        }
    }
    calls_functions_learned();
    calls_pieces_find();
}

static void add_system(making *making) {
    const calls_system_list *list = &making->account->system;
    for (size_t i = 0; i < list->count; i++) {
        calls_row *row = row_of(making, list->items[i].address, list->items[i].context);
        for (unsigned event = 0; event < making->profile->events.system_count; event++) {
            row->costs[making->profile->events.system + event] += list->items[i].counts[event];
        }
    }
}

static void sum_up(calls_profile *profile) {
    for (size_t i = 0; i < profile->rows.list.count; i++) {
        const calls_row *row = &profile->rows.list.items[i];
        for (unsigned event = 0; row->key.kind == CALLS_ROW_SELF && event < profile->events.count; event++) {
            profile->totals[event] += row->costs[event];
        }
    }
}

void calls_profile_make(calls_profile *profile, const calls_account *account) {
    making making = {.profile = profile, .account = account};
    *profile = (calls_profile){.events = calls_events_now()};
    profile->rows.event_count = profile->events.count;
    if (account->values.count == 0) {
        return;
    }
    making.stubs = calls_stubs_find();
    learn_functions(account, &making.stubs);
    if (calls_separates()) {
        add_separated(&making);
    } else {
        add_up_stubs(&making, account->values.items);
        add_records(&making);
    }
    add_calls(&making);
    add_bills(&making);
    add_system(&making);
    calls_stubs_free(&making.stubs);
    calls_functions_number();
    calls_rows_sort(&profile->rows);
    sum_up(profile);
}

void calls_profile_free(calls_profile *profile) {
    calls_rows_free(&profile->rows);
    *profile = (calls_profile){0};
}
