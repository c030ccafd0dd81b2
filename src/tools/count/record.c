/**
 * @fileoverview Makes the record of a block while it is instrumented, and evaluates it. See record.h.
 *
 * Called by count.c (instrumenting) and by whoever sums up: thread.c and functions.c.
 */
#include "record.h"

#include <sonde/arena.h>
#include <sonde/vector.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic(count_record *) newest;
static _Atomic uint32_t most_counters;

/** A record under construction: arrays with room for the largest block, reused from block to block. */
typedef struct draft {
    SN_VECTOR(uint16_t) instructions;
    SN_VECTOR(count_run) runs;
    SN_VECTOR(count_access) accesses;
    uint32_t counter_count;
} draft;

static void draft_begin(draft *draft) {
    sn_vector_clear(&draft->instructions);
    sn_vector_clear(&draft->runs);
    sn_vector_clear(&draft->accesses);
    draft->counter_count = 1;
}

static void draft_access(draft *draft, uint32_t index, uint32_t size, bool is_store) {
    *sn_vector_add(&draft->accesses) = (count_access){
        .instruction = (uint16_t)index,
        .size_class = (uint8_t)count_size_class(size),
        .is_store = is_store,
    };
}

static void draft_accesses(draft *draft, sn_block *block, uint32_t index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].place != SN_PLACE_MEMORY) {
            continue;
        }
        if (operands[i].role & SN_ROLE_READ) {
            draft_access(draft, index, operands[i].size, false);
        }
        if (operands[i].role & SN_ROLE_WRITTEN) {
            draft_access(draft, index, operands[i].size, true);
        }
    }
}

static uint16_t shape_of(const sn_instruction *instruction) {
    static const uint16_t shape_of_kind[] = {
        [SN_KIND_OTHER] = 0,
        [SN_KIND_JUMP] = COUNT_ENDS_BASIC_BLOCK,
        [SN_KIND_JUMP_INDIRECT] = COUNT_ENDS_BASIC_BLOCK,
        [SN_KIND_CONDITIONAL] = COUNT_ENDS_BASIC_BLOCK | COUNT_CONDITIONAL,
        [SN_KIND_CALL] = COUNT_ENDS_BASIC_BLOCK | COUNT_CALL,
        [SN_KIND_CALL_INDIRECT] = COUNT_ENDS_BASIC_BLOCK | COUNT_CALL | COUNT_INDIRECT,
        [SN_KIND_RETURN] = COUNT_ENDS_BASIC_BLOCK,
        [SN_KIND_SYSCALL] = COUNT_ENDS_BASIC_BLOCK,
        [SN_KIND_TRAP] = COUNT_ENDS_BASIC_BLOCK,
    };
    uint16_t shape = (uint16_t)(shape_of_kind[instruction->kind] | (instruction->length & COUNT_LENGTH_MASK));
    return instruction->repeated ? shape | COUNT_REPEATED : shape;
}

static void draft_instruction(draft *draft, sn_block *block, uint32_t index, uint64_t expected_address) {
    const sn_instruction *instruction = sn_block_instruction(block, index);
    if (index == 0 || instruction->address != expected_address) {
        *sn_vector_add(&draft->runs) = (count_run){.address = instruction->address, .index = index};
    }
    uint16_t shape = shape_of(instruction) | (sn_branch_goes_back(block, index) ? COUNT_GOES_BACK : 0);
    *sn_vector_add(&draft->instructions) = shape;
    draft->counter_count += (shape & COUNT_CONDITIONAL ? 1 : 0) + (shape & COUNT_REPEATED ? 2 : 0);
    draft_accesses(draft, block, index);
}

/** One piece of memory, for the life of the process, for a record with its arrays, the most strictly aligned first. */
static count_record *record_from_draft(const draft *draft) {
    static sn_arena records;
    size_t runs_size = draft->runs.count * sizeof(count_run);
    size_t accesses_size = draft->accesses.count * sizeof(count_access);
    size_t instructions_size = draft->instructions.count * sizeof(uint16_t);
    count_record *record = sn_arena_allocate(&records, sizeof *record + runs_size + accesses_size + instructions_size);
    *record = (count_record){
        .counters = sn_counter_new(draft->counter_count),
        .counter_count = draft->counter_count,
        .instruction_count = (uint32_t)draft->instructions.count,
        .access_count = (uint32_t)draft->accesses.count,
        .run_count = (uint32_t)draft->runs.count,
    };
    record->runs = (count_run *)(record + 1);
    record->accesses = (count_access *)(record->runs + record->run_count);
    record->instructions = (uint16_t *)(record->accesses + record->access_count);
    memcpy(record->runs, draft->runs.items, runs_size);
    if (accesses_size != 0) {
        memcpy(record->accesses, draft->accesses.items, accesses_size);
    }
    memcpy(record->instructions, draft->instructions.items, instructions_size);
    return record;
}

static void insert_counters(sn_block *block, const count_record *record) {
    sn_counter counter = record->counters;
    sn_count_entry(block, counter++, 1);
    for (uint32_t index = 0; index < record->instruction_count; index++) {
        if (record->instructions[index] & COUNT_CONDITIONAL) {
            sn_count_rarer(block, index, counter++);
        }
        if (record->instructions[index] & COUNT_REPEATED) {
            sn_count_iterations(block, index, counter, counter + 1);
            counter += 2;
        }
    }
}

/** Readers follow the list without a lock, so that a record is complete before it is put in. */
static void publish(count_record *record) {
    if (record->counter_count > atomic_load(&most_counters)) {
        atomic_store(&most_counters, record->counter_count);
    }
    record->next = atomic_load(&newest);
    atomic_store(&newest, record);
}

count_record *count_record_new(sn_block *block) {
    static draft draft;
    draft_begin(&draft);
    uint64_t expected_address = 0;
    for (uint32_t index = 0; index < sn_block_size(block); index++) {
        draft_instruction(&draft, block, index, expected_address);
        const sn_instruction *instruction = sn_block_instruction(block, index);
        expected_address = instruction->address + instruction->length;
    }
    count_record *record = record_from_draft(&draft);
    insert_counters(block, record);
    publish(record);
    return record;
}

const count_record *count_record_first(void) {
    return atomic_load(&newest);
}

uint32_t count_record_most_counters(void) {
    return atomic_load(&most_counters);
}

static uint64_t passes_cut_at(const count_record *record, const count_cut *cuts, unsigned index) {
    uint64_t passes = 0;
    for (const count_cut *cut = cuts; cut != NULL; cut = cut->next) {
        if (cut->record == record && cut->completed == index) {
            passes += cut->passes;
        }
    }
    return passes;
}

/** A running thread's counters may be read while they change. */
static uint64_t count_rest(uint64_t passes, uint64_t part) {
    return part < passes ? passes - part : 0;
}

/** The numbers of one instruction that `passes` passes completed. Returns how many counters it used. */
static uint32_t evaluate(count_executed *executed, uint16_t shape, uint64_t passes, const uint64_t *values) {
    executed->executions = executed->steps = executed->accesses = passes;
    executed->taken = executed->iterations = 0;
    if (shape & COUNT_CONDITIONAL) {
        executed->taken = shape & COUNT_GOES_BACK ? count_rest(passes, values[0]) : values[0];
        return 1;
    }
    if (shape & COUNT_REPEATED) {
        executed->iterations = executed->accesses = values[0];
        executed->steps = values[0] + values[1];
        return 2;
    }
    return 0;
}

void count_record_walk(const count_record *record, const uint64_t *values, const count_cut *cuts,
                       void (*visit)(const count_executed *executed, void *data), void *data) {
    uint64_t passes = values[0];
    uint32_t counter = 1, run = 0;
    count_executed executed = {.record = record};
    for (uint32_t index = 0; index < record->instruction_count; index++) {
        passes -= cuts == NULL ? 0 : passes_cut_at(record, cuts, index);
        if (run < record->run_count && record->runs[run].index == index) {
            executed.address = record->runs[run++].address;
        }
        executed.index = index;
        counter += evaluate(&executed, record->instructions[index], passes, values + counter);
        visit(&executed, data);
        passes -= executed.taken;
        executed.address += record->instructions[index] & COUNT_LENGTH_MASK;
    }
}

typedef struct tally_cursor {
    count_tally *tally;
    uint32_t access; /**< the next one to look at */
} tally_cursor;

static void tally_accesses(const count_executed *executed, tally_cursor *cursor) {
    const count_record *record = executed->record;
    for (; cursor->access < record->access_count; cursor->access++) {
        const count_access *access = &record->accesses[cursor->access];
        if (access->instruction != executed->index) {
            return;
        }
        uint64_t *sizes = access->is_store ? cursor->tally->stores : cursor->tally->loads;
        sizes[access->size_class] += executed->accesses;
    }
}

static void tally_instruction(const count_executed *executed, void *data) {
    tally_cursor *cursor = data;
    count_tally *tally = cursor->tally;
    uint16_t shape = executed->record->instructions[executed->index];
    tally->instructions += executed->steps;
    tally->string_iterations += executed->iterations;
    if (shape & COUNT_ENDS_BASIC_BLOCK) {
        tally->basic_blocks += executed->executions;
    }
    if (shape & COUNT_CONDITIONAL) {
        tally->taken += executed->taken;
        tally->not_taken += executed->executions - executed->taken;
    }
    if (shape & COUNT_CALL) {
        *(shape & COUNT_INDIRECT ? &tally->indirect_calls : &tally->calls) += executed->executions;
    }
    tally_accesses(executed, cursor);
}

void count_record_tally(const count_record *record, const uint64_t *values, const count_cut *cuts,
                        count_tally *tally) {
    tally_cursor cursor = {.tally = tally};
    count_record_walk(record, values, cuts, tally_instruction, &cursor);
}
