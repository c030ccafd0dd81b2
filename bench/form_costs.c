/**
 * @fileoverview A tool that inserts one form of analysis code before each addition of bench/workloads/additions.S, or each
 * test of bit_tests.S, so that bench/form_costs.py can tell what the form costs. --form= is its name in the table below.
 */
#include <string.h>

#include <sonde/tool.h>

static const char *form = "nothing";
static const sn_option options[] = {
    {"form", SN_OPTION_STRING, &form, "nothing", NULL, "what is inserted"},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

static sn_trace *small, *large;
static sn_counter counter;
static sn_slot slot;
static uint64_t memory[64], handled;

static void batch(const sn_batch *batch) { handled += batch->count; }

static void start(void) {
    small = sn_trace_new(&(sn_trace_options){.record_size = 8, .batch = batch});
    large = sn_trace_new(&(sn_trace_options){.record_size = 16, .batch = batch});
    counter = sn_counter_new(1);
    slot = sn_slot_new();
}

static void called(uint64_t a) { memory[0] += a; }
SN_FAST static uint64_t fast(uint64_t a) { return memory[0] += a; }
static void accesses(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    (void)thread, (void)accesses, (void)data;
    handled += count;
}

static void nothing(sn_block *block, unsigned index) { (void)block, (void)index; }

static void count(sn_block *block, unsigned index) {
    (void)index;
    sn_count(block, counter, sn_constant(block, 1));
}

static void count_value(sn_block *block, unsigned index) {
    (void)index;
    sn_count(block, counter, sn_operand_value(block, 1));
}

static void to_slot(sn_block *block, unsigned index) {
    (void)index;
    sn_slot_store(block, slot, sn_operand_value(block, 1));
}

static void load_and_store(sn_block *block, unsigned index) {
    (void)index;
    sn_value place = sn_constant(block, (uint64_t)(uintptr_t)memory);
    sn_store(block, place, 8, sn_load(block, place, 0, 8), 8);
}

static void compute(sn_block *block, unsigned index) {
    (void)index;
    sn_slot_store(block, slot, sn_compute(block, SN_XOR, sn_slot_load(block, slot), sn_operand_value(block, 1)));
}

static void branch(sn_block *block, unsigned index) {
    (void)index;
    sn_label label = sn_label_new(block);
    sn_branch_if(block, SN_BELOW, sn_operand_value(block, 1), sn_constant(block, 1000), label);
    sn_count(block, counter, sn_constant(block, 1));
    sn_label_here(block, label);
}

static void append_constant(sn_block *block, unsigned index) {
    sn_trace_append(block, small, 1, &(sn_field){.offset = 0, .size = 8, .value = sn_constant(block, index)});
}

static void append_address(sn_block *block, unsigned index) {
    (void)index;
    sn_trace_append(block, small, 1, &(sn_field){.offset = 0, .size = 8, .value = sn_operand_address(block, 0)});
}

static void append_both(sn_block *block, unsigned index) {
    (void)index;
    sn_field fields[] = {{.offset = 0, .size = 8, .value = sn_operand_address(block, 0)},
                         {.offset = 8, .size = 8, .value = sn_operand_value(block, 0)}};
    sn_trace_append(block, large, 2, fields);
}

static void call_fast(sn_block *block, unsigned index) {
    sn_value argument = sn_constant(block, index);
    sn_call_fast(block, (void *)fast, 1, &argument);
}

static void call(sn_block *block, unsigned index) {
    sn_value argument = sn_constant(block, index);
    sn_call(block, (void *)called, 1, &argument);
}

static void enumerate(sn_block *block, unsigned index) { sn_insert_accesses(block, index, accesses, NULL); }

static void append_accesses(sn_block *block, unsigned index) {
    sn_access_field field = {.offset = 0, .size = 8, .part = SN_ACCESS_ADDRESS};
    sn_trace_append_accesses(block, index, small, 1, 1, &field);
}

static const struct form {
    const char *name;
    void (*insert)(sn_block *block, unsigned index);
} forms[] = {
    {"nothing", nothing}, {"count", count}, {"count value", count_value}, {"slot", to_slot},
    {"load and store", load_and_store}, {"compute", compute}, {"branch", branch}, {"append constant", append_constant},
    {"append address", append_address}, {"append address and value", append_both}, {"fast call", call_fast},
    {"call", call}, {"accesses", enumerate}, {"append accesses", append_accesses},
};

/** The additions are the only instructions that have memory written and a register read, the bit tests the only ones whose
    accesses vary. */
static bool is_chosen(sn_block *block, unsigned index) {
    unsigned operand_count;
    if (sn_block_instruction(block, index)->accesses_vary) return true;
    const sn_operand *operands = sn_block_operands(block, index, &operand_count);
    return operand_count >= 2 && operands[0].place == SN_PLACE_MEMORY && operands[0].role == SN_ROLE_BOTH &&
           operands[1].place == SN_PLACE_GENERAL;
}

static void instrument(sn_block *block) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, form)) continue;
        for (unsigned at = 0; at < sn_block_size(block); at++) {
            if (!is_chosen(block, at)) continue;
            sn_insert_before(block, at);
            forms[i].insert(block, at);
        }
    }
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "form_costs", .version = "1", .description = "inserts one form of code",
    .options = options, .start = start, .instrument = instrument,
};
