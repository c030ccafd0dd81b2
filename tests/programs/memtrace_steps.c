/**
 * @fileoverview The tool that docs/writing-a-tool.md makes faster step by step: the sum of the addresses that a program
 * accesses, found in five ways. `--step=` chooses one; all print the same.
 *
 * A test builds it, compares the steps, and looks whether the manual quotes it as it is.
 */
#include <inttypes.h>
#include <sonde/tool.h>
#include <stdlib.h>

enum { STEP_CALLS, STEP_FAST, STEP_FEWER, STEP_INLINE, STEP_BATCHES };
enum { BUFFER = 4096, MOST_ARGUMENTS = 6 };

/** What each thread has for itself. */
typedef struct state {
    uint64_t accesses, sum;
    uint64_t buffer[BUFFER]; /* STEP_INLINE: [0] up to where the slot points is full */
} state;

static int step;
static const sn_option options[] = {
    {"step", SN_OPTION_CHOICE, &step, "calls", "calls|fast|fewer|inline|batches", "how addresses get to the tool"}, {0}};

static sn_slot own_state, next;
static sn_trace *trace;
static _Atomic uint64_t accesses, sum;

/* ---------------------------------------------------------------- step 1: calls */

static void note(sn_thread *thread, uint64_t address) {
    state *its = sn_thread_data(thread);
    its->accesses++;
    its->sum += address;
}

static void insert_call(sn_block *block, sn_value address) {
    sn_value arguments[] = {sn_current_thread(block), address};
    sn_call(block, (void *)note, 2, arguments);
}

/* ----------------------------------------------------------- step 2: fast calls */

SN_FAST static uint64_t note_fast(state *its, uint64_t address) {
    its->accesses++;
    its->sum += address;
    return 0;
}

static void insert_fast_call(sn_block *block, sn_value address) {
    sn_value arguments[] = {sn_slot_load(block, own_state), address};
    sn_call_fast(block, (void *)note_fast, 2, arguments);
}

/* ---------------------------------------------------------- step 3: fewer calls */

SN_FAST static uint64_t note_up_to_four(state *its, uint64_t count, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    its->accesses += count;
    its->sum += a + b + c + d;
    return 0;
}

static sn_value waiting[4];
static unsigned waiting_count;

static void insert_waiting(sn_block *block) {
    sn_value arguments[MOST_ARGUMENTS] = {sn_slot_load(block, own_state), sn_constant(block, waiting_count)};
    if (!waiting_count) return;
    for (unsigned i = 0; i < 4; i++) arguments[2 + i] = i < waiting_count ? waiting[i] : sn_constant(block, 0);
    sn_call_fast(block, (void *)note_up_to_four, MOST_ARGUMENTS, arguments);
    waiting_count = 0;
}

static void keep(sn_block *block, sn_value address) {
    waiting[waiting_count++] = address;
    if (waiting_count == 4) insert_waiting(block);
}

/* ---------------------------------------------------------- step 4: inline code */

static void empty_buffer(sn_thread *thread) {
    state *its = sn_thread_data(thread);
    uint64_t *end = (uint64_t *)*sn_slot_of(thread, next);
    for (uint64_t *at = its->buffer; at < end; at++) note(thread, *at);
    *sn_slot_of(thread, next) = (uintptr_t)its->buffer;
}

/** At the block's entry: room for what the block may store. */
static void insert_check(sn_block *block, unsigned needed) {
    sn_insert_before(block, 0);
    sn_value limit = sn_compute(block, SN_ADD, sn_slot_load(block, own_state),
                                sn_constant(block, sizeof(state) - needed * sizeof(uint64_t)));
    sn_label has_room = sn_label_new(block);
    sn_branch_if(block, SN_BELOW, sn_slot_load(block, next), limit, has_room);
    sn_value thread = sn_current_thread(block);
    sn_call(block, (void *)empty_buffer, 1, &thread);
    sn_label_here(block, has_room);
}

static void insert_store(sn_block *block, sn_value address) {
    sn_value place = sn_slot_load(block, next);
    sn_store(block, place, 0, address, 8);
    sn_slot_store(block, next, sn_compute(block, SN_ADD, place, sn_constant(block, 8)));
}

/* --------------------------------------------------------------- step 5: batches */

static void batch(const sn_batch *batch) {
    state *its = batch->thread_data;
    const uint64_t *addresses = batch->records;
    for (size_t i = 0; i < batch->count; i++) its->sum += addresses[i];
    its->accesses += batch->count;
}

static void insert_append(sn_block *block, sn_value address) {
    sn_trace_append(block, trace, 1, &(sn_field){.size = 8, .value = address});
}

static void append_varying(sn_block *block, unsigned index) {
    sn_access_field address = {.offset = 0, .size = 8, .part = SN_ACCESS_ADDRESS};
    sn_trace_append_accesses(block, index, trace, 1, 1, &address);
}

/* ------------------------------------------------------------- what they share */

static void (*const inserters[])(sn_block *block, sn_value address) = {
    [STEP_CALLS] = insert_call,    [STEP_FAST] = insert_fast_call, [STEP_FEWER] = keep,
    [STEP_INLINE] = insert_store,  [STEP_BATCHES] = insert_append,
};

static void varying(sn_thread *thread, const sn_access *these, size_t count, void *data) {
    (void)data;
    for (size_t i = 0; i < count; i++) note(thread, these[i].address);
}

static bool is_access(const sn_operand *operand) {
    return operand->place == SN_PLACE_MEMORY && (operand->role & SN_ROLE_BOTH) && operand->size;
}

static unsigned most_accesses(sn_block *block) {
    unsigned needed = 0;
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        unsigned count;
        const sn_operand *operands = sn_block_operands(block, i, &count);
        for (unsigned n = 0; n < count; n++) needed += is_access(&operands[n]);
    }
    return needed;
}

static void instrument(sn_block *block) {
    if (step == STEP_INLINE) insert_check(block, most_accesses(block));
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        const sn_instruction *instruction = sn_block_instruction(block, i);
        if (instruction->accesses_vary) {
            if (step == STEP_BATCHES) append_varying(block, i);
            else sn_insert_accesses(block, i, varying, NULL);
        } else {
            unsigned count;
            const sn_operand *operands = sn_block_operands(block, i, &count);
            sn_insert_before(block, i);
            for (unsigned n = 0; n < count; n++)
                if (is_access(&operands[n])) inserters[step](block, sn_operand_address(block, n));
        }
        sn_insert_before(block, i);
        /* Behind a branch nothing that waits may be left: control may be elsewhere. */
        if (instruction->kind != SN_KIND_OTHER || i + 1 == sn_block_size(block)) insert_waiting(block);
    }
}

static void start(void) {
    own_state = sn_slot_new();
    next = sn_slot_new();
    trace = sn_trace_new(&(sn_trace_options){.record_size = 8, .batch = batch});
}

static void thread_start(sn_thread *thread) {
    state *its = calloc(1, sizeof *its);
    if (!its) sn_fail(125, "steps: out of memory");
    sn_thread_set_data(thread, its);
    *sn_slot_of(thread, own_state) = (uintptr_t)its;
    *sn_slot_of(thread, next) = (uintptr_t)its->buffer;
}

static void add(sn_thread *thread, void *data) {
    (void)data;
    state *its = sn_thread_data(thread);
    if (!its) return;
    empty_buffer(thread);
    accesses += its->accesses;
    sum += its->sum;
}

static void thread_end(sn_thread *thread) {
    add(thread, NULL);
    free(sn_thread_data(thread));
    sn_thread_set_data(thread, NULL);
}

static void end(void) {
    sn_threads_visit(add, NULL);
    fprintf(sn_output(), "%" PRIu64 " accesses, sum %#" PRIx64 "\n", accesses, sum);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "steps", .version = "1", .description = "sum of the addresses accessed",
    .options = options, .start = start, .instrument = instrument, .thread_start = thread_start,
    .thread_end = thread_end, .end = end,
};
