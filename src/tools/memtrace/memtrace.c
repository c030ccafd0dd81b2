/**
 * @fileoverview The tool `memtrace`: every data access of a program as load, store or modify, with address and size, in
 * the order of each thread; instruction fetches and the accesses of system calls on request.
 *
 * This file is the descriptor: options, callbacks, and what is inserted into the code. Instrumented code appends words
 * (words.h) to the thread's trace; full buffers are coded into the binary file (encode.c) or printed (text.c).
 */
#include <pthread.h>
#include <sonde/tool.h>
#include <stdlib.h>

#include "code.h"
#include "encode.h"
#include "filter.h"
#include "text.h"
#include "words.h"
#include "write.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

/* ------------------------------------------------------------------ options */

enum { FORMAT_BINARY, FORMAT_TEXT };

static int format = FORMAT_BINARY;
static bool traces_instructions, traces_system_calls;
static sn_texts address_texts, size_texts;

static const sn_option options[] = {
    {.name = "format",
     .type = SN_OPTION_CHOICE,
     .value = &format,
     .default_text = "binary",
     .choices = "binary|text",
     .help = "a file for sonde report, or lines as Valgrind's Lackey prints them"},
    {.name = "instructions",
     .type = SN_OPTION_FLAG,
     .value = &traces_instructions,
     .default_text = "no",
     .help = "trace instruction fetches too"},
    {.name = "system-calls",
     .type = SN_OPTION_FLAG,
     .value = &traces_system_calls,
     .default_text = "no",
     .help = "trace what system calls read and write too"},
    {.name = "address",
     .type = SN_OPTION_LIST,
     .value = &address_texts,
     .default_text = "all",
     .choices = "RANGE",
     .help = "only accesses that touch FROM-TO or FROM+COUNT (may be repeated)"},
    {.name = "size",
     .type = SN_OPTION_LIST,
     .value = &size_texts,
     .default_text = "all",
     .choices = "RANGE",
     .help = "only accesses of so many bytes: N or FROM-TO (may be repeated)"},
    {0},
};

/* ------------------------------------------------------- what is done with words */

typedef struct coder {
    void *(*begin)(int thread);
    void (*take)(void *state, const uint64_t *words, size_t count);
    void (*flush)(void *state, bool ends);
    void (*end)(void *state);
} coder;

#define CODER(of, take)                                                                                       \
    {(void *(*)(int))of##_new, (void (*)(void *, const uint64_t *, size_t))take, (void (*)(void *, bool))of##_flush, \
     (void (*)(void *))of##_free}

static const coder coders[] = {
    [FORMAT_BINARY] = CODER(memtrace_encoder, memtrace_encode),
    [FORMAT_TEXT] = CODER(memtrace_printer, memtrace_print),
};

/** The end of the process flushes threads that are still running: hence the lock. */
typedef struct thread_state {
    pthread_mutex_t lock;
    void *coder;
} thread_state;

static sn_trace *trace;
static _Atomic int executing; /**< thread that is about to execute another program */

/** A process that shares its parent's memory until it executes a program (vfork) is no thread of the program, has no
    thread_start, and is traced as one all the same. Its parent waits meanwhile, so that there is hardly ever another. */
static thread_state shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int shared_thread;

static void flush_shared(void) {
    if (shared.coder)
        coders[format].flush(shared.coder, true);
}

static void take_shared(const sn_batch *batch) {
    pthread_mutex_lock(&shared.lock);
    if (shared_thread != batch->thread && shared.coder) {
        flush_shared();
        coders[format].end(shared.coder);
        shared.coder = NULL;
    }
    if (!shared.coder)
        shared.coder = coders[format].begin(batch->thread);
    shared_thread = batch->thread;
    coders[format].take(shared.coder, batch->records, batch->count);
    flush_shared();
    pthread_mutex_unlock(&shared.lock);
}

/** A thread that still runs when its execve has been told has failed in it. */
static void batch(const sn_batch *batch) {
    thread_state *state = batch->thread_data;
    if (!state) {
        take_shared(batch);
        return;
    }
    if (executing && executing == batch->thread && memtrace_write_reopen())
        executing = 0;
    pthread_mutex_lock(&state->lock);
    coders[format].take(state->coder, batch->records, batch->count);
    pthread_mutex_unlock(&state->lock);
}

static void start(void) {
    memtrace_filter *filter = &memtrace_filter_current;
    memtrace_filter_parse(&address_texts, "address", &filter->addresses, &filter->address_count);
    memtrace_filter_parse(&size_texts, "size", &filter->sizes, &filter->size_count);
    sn_output_is_record(format == FORMAT_BINARY ? "memtrace.out.%p" : NULL);
    memtrace_write_set_flags((traces_instructions ? MEMTRACE_HAS_INSTRUCTIONS : 0) |
                             (traces_system_calls ? MEMTRACE_HAS_SYSTEM_CALLS : 0));
    trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(uint64_t), .batch = batch});
}

/* ------------------------------------------------------------------ the code */

/** A block being looked at, before anything is inserted. */
typedef struct draft {
    sn_block *block;
    memtrace_step positions[MEMTRACE_MOST_POSITIONS];
    uint8_t operands[MEMTRACE_MOST_POSITIONS]; /**< of each position */
    memtrace_step varying[MEMTRACE_MOST_INSTRUCTIONS];
    uint32_t fetches[MEMTRACE_MOST_INSTRUCTIONS];
    memtrace_block made;
} draft;

static const uint8_t kind_of_role[] = {
    [SN_ROLE_READ] = MEMTRACE_LOAD, [SN_ROLE_WRITTEN] = MEMTRACE_STORE, [SN_ROLE_BOTH] = MEMTRACE_MODIFY};

/** Add the operands of an instruction that have this role. */
static void add_operands(draft *draft, unsigned index, const sn_operand *operands, unsigned count, unsigned role) {
    const sn_instruction *instruction = sn_block_instruction(draft->block, index);
    for (unsigned i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        bool wanted = operand->place == SN_PLACE_MEMORY && operand->role == role && operand->size &&
                      memtrace_size_is_wanted(operand->size);
        if (!wanted || draft->made.position_count == MEMTRACE_MOST_POSITIONS)
            continue;
        memtrace_site site = {.address = instruction->address, .size = operand->size, .kind = kind_of_role[role],
                              .operand = (uint8_t)i};
        draft->operands[draft->made.position_count] = (uint8_t)i;
        draft->positions[draft->made.position_count++] = (memtrace_step){memtrace_site_number(&site), (uint8_t)index};
    }
}

/** An instruction reads before it writes. */
static void add_instruction(draft *draft, unsigned index) {
    const sn_instruction *instruction = sn_block_instruction(draft->block, index);
    unsigned count;
    const sn_operand *operands = sn_block_operands(draft->block, index, &count);
    if (instruction->accesses_vary) {
        memtrace_site site = {.address = instruction->address, .kind = MEMTRACE_VARYING};
        draft->varying[draft->made.varying_count++] = (memtrace_step){memtrace_site_number(&site), (uint8_t)index};
    } else {
        static const uint8_t order[] = {SN_ROLE_READ, SN_ROLE_BOTH, SN_ROLE_WRITTEN};
        for (unsigned i = 0; i < sizeof order; i++)
            add_operands(draft, index, operands, count, order[i]);
    }
    if (traces_instructions) {
        memtrace_site site = {.address = instruction->address, .size = instruction->length, .kind = MEMTRACE_FETCH};
        draft->fetches[draft->made.instruction_count++] = memtrace_site_number(&site);
    }
}

static const memtrace_block *make_block(draft *draft) {
    unsigned size = sn_block_size(draft->block);
    draft->made = (memtrace_block){.positions = draft->positions, .varying = draft->varying, .fetches = draft->fetches};
    memtrace_code_lock();
    for (unsigned i = 0; i < size; i++)
        add_instruction(draft, i);
    bool is_empty = !draft->made.position_count && !draft->made.varying_count && !draft->made.instruction_count;
    const memtrace_block *made = is_empty ? NULL : memtrace_block_new(&draft->made);
    memtrace_code_unlock();
    return made;
}

static void append_word(sn_block *block, sn_value value) {
    sn_trace_append(block, trace, 1, &(sn_field){.offset = 0, .size = 8, .value = value});
}

static void append_constant(sn_block *block, uint64_t word) {
    append_word(block, sn_constant(block, word));
}

_Static_assert(MEMTRACE_MOST_INSTRUCTIONS <= UINT8_MAX, "the number of a varying site is a byte of a mark");

/** Each access of an instruction whose accesses vary as two words. */
static void append_accesses(sn_block *block, unsigned index, unsigned varying) {
    uint64_t mark = sn_block_instruction(block, index)->repeated ? MEMTRACE_WORD_ROW_APART : MEMTRACE_WORD_ROW;
    mark |= (uint64_t)varying << 8 * MEMTRACE_ROW_SITE;
    sn_access_field fields[] = {
        {.offset = 0, .size = sizeof mark, .part = SN_ACCESS_CONSTANT, .constant = mark},
        {.offset = MEMTRACE_ROW_ROLE, .size = 1, .part = SN_ACCESS_ROLE},
        {.offset = MEMTRACE_ROW_SIZE, .size = 1, .part = SN_ACCESS_SIZE},
        {.offset = sizeof mark, .size = sizeof(uint64_t), .part = SN_ACCESS_ADDRESS},
    };
    sn_trace_append_accesses(block, index, trace, 2, sizeof fields / sizeof *fields, fields);
}

static void insert(draft *draft, const memtrace_block *made) {
    sn_block *block = draft->block;
    sn_insert_before(block, 0);
    append_constant(block, MEMTRACE_WORD_BLOCK + made->number);
    for (unsigned i = 0; i < made->position_count; i++) {
        sn_insert_before(block, made->positions[i].instruction);
        append_word(block, sn_operand_address(block, draft->operands[i]));
    }
    for (unsigned i = 0; i < made->varying_count; i++)
        append_accesses(block, made->varying[i].instruction, i);
    for (unsigned i = 0; i < made->instruction_count; i++)
        if (sn_block_instruction(block, i)->kind == SN_KIND_CONDITIONAL) {
            sn_insert_taken(block, i);
            append_constant(block, MEMTRACE_WORD_LEFT + i + 1);
        }
}

static void instrument(sn_block *block) {
    static draft draft; /* one call at a time */
    draft.block = block;
    const memtrace_block *made = make_block(&draft);
    if (made)
        insert(&draft, made);
    sn_block_set_data(block, (void *)(made && made->instruction_count ? made : NULL));
}

static void interrupted(sn_thread *thread, void *data, unsigned completed) {
    if (data)
        sn_trace_write(thread, trace, &(uint64_t){MEMTRACE_WORD_LEFT + completed});
}

/* ---------------------------------------------------------- what happens besides */

/** A range may be larger than an access can say. */
static void note_range(sn_thread *thread, const sn_system_range *range, uint8_t role) {
    for (uint64_t done = 0, size; done < range->size; done += size) {
        size = range->size - done < UINT32_MAX ? range->size - done : UINT32_MAX;
        uint64_t words[] = {MEMTRACE_WORD_ROWS | 1, range->start + done, memtrace_row_word((uint32_t)size, kind_of_role[role])};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            sn_trace_write(thread, trace, &words[i]);
    }
}

/** Note the ranges that have the role. */
static void note_system_call(sn_thread *thread, const sn_system_call *call, uint8_t role) {
    bool is_entered = false;
    if (!traces_system_calls || !sn_selected(call->address))
        return;
    for (size_t i = 0; i < call->range_count; i++) {
        if (!(call->ranges[i].role & role) || !call->ranges[i].size)
            continue;
        const memtrace_block *block = memtrace_system_block(call->address, call->number, call->name);
        if (!is_entered)
            sn_trace_write(thread, trace, &(uint64_t){MEMTRACE_WORD_BLOCK + block->number});
        is_entered = true;
        note_range(thread, &call->ranges[i], role);
    }
}

/** The kernel reads first; what it has written is known afterwards. */
static void system_call_before(sn_thread *thread, const sn_system_call *call) {
    note_system_call(thread, call, SN_ROLE_READ);
}

static void system_call_after(sn_thread *thread, const sn_system_call *call) {
    note_system_call(thread, call, SN_ROLE_WRITTEN);
}

static void thread_start(sn_thread *thread) {
    thread_state *state = malloc(sizeof *state);
    if (!state)
        sn_fail(125, "memtrace: out of memory");
    *state = (thread_state){PTHREAD_MUTEX_INITIALIZER, coders[format].begin(sn_thread_id(thread))};
    sn_thread_set_data(thread, state);
}

static void flush_coder(sn_thread *thread, bool ends) {
    thread_state *state = sn_thread_data(thread);
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    coders[format].flush(state->coder, ends);
    pthread_mutex_unlock(&state->lock);
}

static void flush_thread(sn_thread *thread, void *data) {
    (void)data;
    flush_coder(thread, true);
}

static void flush_running_thread(sn_thread *thread, void *data) {
    (void)data;
    flush_coder(thread, false);
}

/** All of this thread's accesses, and those of the others but for what their buffers hold, which are theirs. */
static void dump(sn_thread *thread) {
    sn_trace_flush(thread, trace);
    sn_threads_visit(flush_running_thread, NULL);
}

static void thread_end(sn_thread *thread) {
    thread_state *state = sn_thread_data(thread);
    if (!state)
        return;
    flush_thread(thread, NULL);
    coders[format].end(state->coder);
    free(state);
    sn_thread_set_data(thread, NULL);
}

/** What the parent's threads had not written is the parent's to write: their memory is left behind. */
static void fork_child(sn_thread *thread) {
    shared = (thread_state){.lock = PTHREAD_MUTEX_INITIALIZER};
    memtrace_code_after_fork();
    memtrace_write_after_fork();
    thread_start(thread);
}

static void exec(sn_thread *thread, const char *path) {
    (void)path;
    executing = sn_thread_id(thread);
}

static void end(void) {
    sn_threads_visit(flush_thread, NULL);
    memtrace_write_end(format == FORMAT_BINARY);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "memtrace",
    .version = "1",
    .description = "trace memory accesses: addresses, sizes, loads and stores",
    .options = options,
    .start = start,
    .instrument = instrument,
    .thread_start = thread_start,
    .thread_end = thread_end,
    .fork_child = fork_child,
    .interrupted = interrupted,
    .module_mapped = memtrace_note_module,
    .system_call_before = system_call_before,
    .system_call_after = system_call_after,
    .exec = exec,
    .dump = dump,
    .end = end,
};
