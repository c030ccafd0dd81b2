/**
 * @fileoverview A tool for tests that prints the values that the framework of <sonde/values.h> records, a line a record:
 *
 *     INSTRUCTION r|w|p PLACE WHERE SIZE TYPE VALUE [VALUE BEFORE]
 *
 * values as bytes in hexadecimal, lowest first. Options choose what is asked for, and of which code. --form=count and
 * --form=runs only count records, --form=drop does nothing with them.
 */
#include <pthread.h>
#include <sonde/values.h>
#include <stdlib.h>

enum { FORM_LINES, FORM_COUNT, FORM_DROP, FORM_RUNS };

static int64_t places = SN_VALUES_MEMORY, moments = SN_VALUES_READ | SN_VALUES_WRITTEN, from, to = INT64_MAX;
static bool bytes = true, contexts, in_order = true, system_calls;
static int form;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t records;

static const sn_option options[] = {
    {"places", SN_OPTION_NUMBER, &places, "1", NULL, "sum of SN_VALUES_MEMORY, ..."},
    {"moments", SN_OPTION_NUMBER, &moments, "3", NULL, "sum of SN_VALUES_READ, ..."},
    {"from", SN_OPTION_NUMBER, &from, "0", NULL, "first address of an instruction"},
    {"to", SN_OPTION_NUMBER, &to, "all", NULL, "first address behind"},
    {"bytes", SN_OPTION_FLAG, &bytes, "yes", NULL, "values, not only addresses"},
    {"contexts", SN_OPTION_FLAG, &contexts, "no", NULL, "contexts too"},
    {"in-order", SN_OPTION_FLAG, &in_order, "yes", NULL, "all types in one order"},
    {"system-calls", SN_OPTION_FLAG, &system_calls, "no", NULL, "also what system calls access"},
    {"form", SN_OPTION_CHOICE, &form, "lines", "lines|count|drop|runs", "what is done with records"},
    SN_VALUES_OPTIONS,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

static bool filter(const sn_instruction *instruction, const sn_operand *operand, uint64_t *information) {
    (void)operand;
    *information = instruction->address;
    return (int64_t)instruction->address >= from && (int64_t)instruction->address < to;
}

static void print_bytes(const void *value, unsigned size) {
    const unsigned char *byte = value;
    putc(' ', sn_output());
    if (!value) putc('-', sn_output());
    for (unsigned i = 0; value && i < size; i++) fprintf(sn_output(), "%02x", byte[i]);
}

static void print_record(const sn_value_record *record) {
    static const char *const place_names[] = {"memory", "general", "vector", "mask", "flags", "x87", "immediate", "control",
                                              "counter"};
    const sn_value_site *site = sn_value_site_at(record->site);
    if (site->is_system_call ? site->instruction == 0 : site->information != site->instruction) abort();
    const char *moment = record->moment & SN_VALUES_READ ? "r" : record->moment & SN_VALUES_WRITTEN ? "w" : "p";
    fprintf(sn_output(), "%lx %s %s %lx %u %s", (unsigned long)site->instruction, moment,
            site->is_system_call ? "system" : place_names[site->place], (unsigned long)record->address, record->size,
            sn_value_type_name(record->type));
    print_bytes(record->value, record->size);
    if (record->moment & SN_VALUES_OVERWRITTEN) print_bytes(sn_value_overwritten(record), record->size);
    if (contexts) fprintf(sn_output(), " in %u", record->context);
    putc('\n', sn_output());
}

static void take(const sn_values_batch *batch) {
    *(uint64_t *)batch->state += batch->count;
    if (form == FORM_COUNT) return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < batch->count; i++) print_record(&batch->records[i]);
    pthread_mutex_unlock(&lock);
}

static void take_runs(const sn_values_run_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) *(uint64_t *)batch->state += (uint64_t)batch->runs[i].count * batch->runs[i].times;
}

static void finish(void *state, int thread) {
    (void)thread;
    records += *(uint64_t *)state;
}

static void start(void) {
    sn_values_start(&(sn_values_request){
        .places = (uint32_t)places, .moments = (uint32_t)moments,
        .parts = (bytes ? SN_VALUES_BYTES : 0) | (contexts ? SN_VALUES_CONTEXT : 0), .in_order = in_order,
        .system_calls = system_calls, .filter = filter, .state_size = sizeof(uint64_t), 
        .take = form <= FORM_COUNT ? take : NULL, .take_runs = form == FORM_RUNS ? take_runs : NULL, .finish = finish});
}

static void end(void) {
    sn_values_end();
    if (form != FORM_LINES) fprintf(sn_output(), "records: %lu\n", (unsigned long)records);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "show_values", .version = "1", .description = "print values",
    .options = options, .start = start, .end = end, SN_VALUES_CALLBACKS,
};
