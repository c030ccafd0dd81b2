/**
 * @fileoverview A tool that inserts every kind of operation around every instruction, for tests: nothing of it may show in
 * the client. --what= is a sum of the parts below. With --alternate=N threads are in such code for N instructions, then in bare
 * code for N, and so on.
 */
#include <string.h>

#include <sonde/tool.h>

enum { VALUES = 1, COMPUTING = 2, FAST_CALLS = 4, CALLS = 8, ACCESSES = 16, TAKEN = 32, RECORDED = 64 };
#define MOST_OPERANDS 16

static int64_t what = VALUES | COMPUTING | FAST_CALLS | ACCESSES | TAKEN | RECORDED;
static sn_trace *words, *wide;
static uint64_t table[4096];
static sn_counter counters;
static sn_slot slot;
static int64_t alternate;
static uint64_t records, wrong_calls, changes;

static const sn_option options[] = {
    {"what", SN_OPTION_NUMBER, &what, "119", NULL, "sum of the parts that are inserted"},
    {"alternate", SN_OPTION_NUMBER, &alternate, "0", NULL, "instructions in each of two versions"},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

static void changed(sn_thread *thread, unsigned version) {
    if (sn_thread_version(thread) != version) __atomic_add_fetch(&wrong_calls, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
}

static void batch(const sn_batch *batch) { __atomic_add_fetch(&records, batch->count, __ATOMIC_RELAXED); }

static void start(void) {
    words = sn_trace_new(&(sn_trace_options){.record_size = 8, .batch = batch});
    wide = sn_trace_new(&(sn_trace_options){.record_size = 128, .buffer_size = 65536, .batch = batch});
    counters = sn_counter_new(3);
    slot = sn_slot_new();
    if (alternate) sn_versions_start(&(sn_versions){.instructions = {alternate, alternate}, .first = 1, .changed = changed});
}

/** Code of a version runs only in threads that are in it. A vfork child is in version 0. */
SN_FAST static uint64_t ran(sn_thread *thread, uint64_t version) {
    if (sn_thread_version(thread) != version) __atomic_add_fetch(&wrong_calls, 1, __ATOMIC_RELAXED);
    return 0;
}

static void insert_version(sn_block *block) {
    sn_insert_before(block, 0);
    sn_call_fast(block, (void *)ran, 2, (sn_value[]){sn_current_thread(block), sn_constant(block, sn_block_version(block))});
}

SN_FAST static uint64_t mix(uint64_t a, uint64_t b, uint64_t c) { return a * b + c * 3 + table[a & 63]++; }

static void add(uint64_t a, uint64_t b) { table[a & 63] += b; }

static void accesses(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    (void)thread, (void)accesses, (void)data;
    __atomic_add_fetch(&records, count, __ATOMIC_RELAXED);
}

static void insert_values(sn_block *block, unsigned index) {
    unsigned count;
    sn_operand operands[MOST_OPERANDS];
    const sn_operand *given = sn_block_operands(block, index, &count);
    if (count) memcpy(operands, given, count * sizeof *operands);
    for (unsigned i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        if (!sn_operand_is_readable(operand)) continue;
        if (operand->place == SN_PLACE_MEMORY &&
            (!(operand->role & SN_ROLE_READ) || sn_block_instruction(block, index)->accesses_vary))
            continue;
        sn_insert_before(block, index);
        sn_trace_append(block, wide, 2, (sn_field[]){{.offset = 64, .copies_operand = true, .value = i},
                                                     {.offset = 0, .size = 4, .value = sn_constant(block, index)}});
        if (operand->size > 8 || operand->place == SN_PLACE_VECTOR) continue;
        sn_value value = sn_operand_value(block, i);
        sn_trace_append(block, words, 1, (sn_field[]){{.offset = 0, .size = 8, .value = value}});
    }
}

/** Each operator, a branch, an assignment, loads and stores. */
static void insert_computing(sn_block *block) {
    sn_value x = sn_slot_load(block, slot);
    sn_value z = sn_compute(block, SN_XOR, x, sn_constant(block, UINT64_C(0x123456789abcdef)));
    z = sn_compute(block, SN_MULTIPLY, sn_compute(block, SN_ADD, z, x), sn_constant(block, 77));
    z = sn_compute(block, SN_SHIFT_RIGHT_SIGNED, sn_compute(block, SN_SHIFT_LEFT, z, x), sn_constant(block, 3));
    z = sn_compute(block, SN_SUBTRACT, z, sn_constant(block, 5));
    sn_label label = sn_label_new(block);
    sn_branch_if(block, SN_LESS, z, x, label);
    sn_assign(block, z, sn_constant(block, 9));
    sn_count(block, counters, z);
    sn_label_here(block, label);
    sn_value place = sn_compute(block, SN_AND, z, sn_constant(block, 0xff8));
    place = sn_compute(block, SN_ADD, place, sn_constant(block, (uint64_t)(uintptr_t)table));
    sn_store(block, place, 8, sn_compute(block, SN_OR, sn_load(block, place, 8, 8), z), 8);
    sn_store(block, place, 16, sn_constant(block, 3), 2);
    sn_slot_store(block, slot, z);
    sn_count(block, counters + 1, sn_constant(block, 1));
}

/** Called where two values compare so; checks that it gets them. */
SN_FAST static void compared(sn_thread *thread, uint64_t data, uint64_t a, uint64_t b, uint64_t stack_pointer) {
    bool is_so = data == 0 ? a == b : data == 1 ? a != b : a < b;
    if (thread == NULL || !is_so) __atomic_add_fetch(&wrong_calls, 1, __ATOMIC_RELAXED);
    table[stack_pointer >> 3 & 63] ^= a;
}

/** With and without comparisons that leave the flags alone; with constants; next to the client's registers as values. */
static void insert_rare_calls(sn_block *block, unsigned index) {
    static const sn_condition conditions[] = {SN_EQUAL, SN_NOT_EQUAL, SN_BELOW};
    unsigned which = index % 3;
    sn_insert_before(block, index);
    sn_value x = sn_load(block, sn_constant(block, (uint64_t)(uintptr_t)table), 8 * (int32_t)(index & 7), 1);
    sn_value y = index & 1 ? sn_constant(block, index & 4 ? 1 : UINT64_C(0x123456789a)) : sn_stack_pointer(block);
    sn_call_fast_if(block, conditions[which], x, y, (void *)compared, which);
}

static void insert_fast_call(sn_block *block, unsigned index, bool goes_on) {
    sn_insert_before(block, index);
    sn_value arguments[] = {sn_constant(block, index), sn_current_thread(block), sn_slot_load(block, slot)};
    sn_value result = sn_call_fast(block, (void *)mix, 3, arguments);
    sn_slot_store(block, slot, result);
    if (!goes_on) return;
    sn_insert_after(block, index); /* a value that is kept over the instruction */
    sn_store(block, sn_constant(block, (uint64_t)(uintptr_t)table), 0, result, 8);
}

/** A call that is branched over, with a value on both sides. */
static void insert_call(sn_block *block, unsigned index) {
    sn_insert_before(block, index);
    sn_value x = sn_slot_load(block, slot);
    sn_label label = sn_label_new(block);
    sn_branch_if(block, SN_EQUAL, x, sn_constant(block, 7), label);
    sn_call(block, (void *)add, 2, (sn_value[]){x, sn_constant(block, index)});
    sn_label_here(block, label);
    sn_slot_store(block, slot, sn_compute(block, SN_ADD, x, sn_constant(block, 1)));
}

/** The accesses, once as they are, once with all that is known of them. */
static void insert_recording(sn_block *block, unsigned index) {
    sn_trace_append_accesses(block, index, words, 1, 1, &(sn_access_field){.size = 8, .part = SN_ACCESS_ADDRESS});
    sn_access_field fields[] = {{.size = 8, .part = SN_ACCESS_CONSTANT, .constant = index},
                                {.offset = 1, .size = 1, .part = SN_ACCESS_ROLE},
                                {.offset = 2, .size = 2, .part = SN_ACCESS_OPERAND},
                                {.offset = 4, .size = 4, .part = SN_ACCESS_SIZE},
                                {.offset = 8, .size = 8, .part = SN_ACCESS_ADDRESS}};
    sn_trace_append_accesses(block, index, words, 2, 5, fields);
}

static void insert_taken(sn_block *block, unsigned index) {
    sn_insert_taken(block, index);
    sn_trace_append(block, words, 1, (sn_field[]){{.offset = 0, .size = 8, .value = sn_constant(block, index)}});
    sn_count(block, counters + 2, sn_constant(block, 1));
}

static void instrument(sn_block *block) {
    if (alternate && what & FAST_CALLS) insert_version(block);
    if (alternate && sn_block_version(block) == 0) return;
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        const sn_instruction *instruction = sn_block_instruction(block, i);
        bool goes_on = instruction->kind == SN_KIND_OTHER || instruction->kind == SN_KIND_CONDITIONAL;
        if (what & VALUES) insert_values(block, i);
        if (what & COMPUTING) sn_insert_before(block, i), insert_computing(block);
        if (what & COMPUTING && goes_on) sn_insert_after(block, i), insert_computing(block);
        if (what & FAST_CALLS) insert_fast_call(block, i, goes_on);
        if (what & FAST_CALLS) insert_rare_calls(block, i);
        if (what & CALLS) insert_call(block, i);
        if (what & ACCESSES && instruction->accesses_vary) sn_insert_accesses(block, i, accesses, NULL);
        if (what & RECORDED && instruction->accesses_vary) insert_recording(block, i);
        if (what & TAKEN && instruction->kind == SN_KIND_CONDITIONAL) insert_taken(block, i);
    }
}

static void end(void) {
    if (wrong_calls != 0) __builtin_trap(); /* nothing else is so sure to be seen */
    fprintf(sn_output(), "records: %lu\n", (unsigned long)records);
    if (alternate) fprintf(sn_output(), "changes: %lu\n", (unsigned long)changes);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "analysis", .version = "1", .description = "inserts everything everywhere",
    .options = options, .start = start, .instrument = instrument, .end = end,
};
