/**
 * @fileoverview A tool that counts the system call `getppid` in its calling contexts, with the sum of what is given to it, and
 * writes a file of contexts: for tests of <sonde/context_file.h>.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/context_file.h>

enum { EVENTS = 2 };

typedef struct count {
    sn_context context;
    uint64_t address, counts[EVENTS];
} count;

static const char *name = "contexts.%p";
static bool has_places = true;
static count *counts;
static size_t count_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const sn_option options[] = {
    {"contexts-file", SN_OPTION_STRING, &name, "contexts.%p", "FILE", "where the contexts go"},
    {"places", SN_OPTION_FLAG, &has_places, "yes", NULL, "with the places in the functions"},
    {0},
};

static void start(void) {
    name = sn_file_template("contexts-file", name);
    sn_contexts_enable();
}

static count *count_of(sn_context context, uint64_t address) {
    for (size_t i = 0; i < count_count; i++)
        if (counts[i].context == context && counts[i].address == address) return &counts[i];
    counts = realloc(counts, (count_count + 1) * sizeof *counts);
    if (counts == NULL) abort();
    counts[count_count] = (count){.context = context, .address = address};
    return &counts[count_count++];
}

static void system_call_before(sn_thread *thread, const sn_system_call *call) {
    if (call->name == NULL || strcmp(call->name, "getppid") != 0) return;
    pthread_mutex_lock(&lock);
    count *found = count_of(sn_context_of(thread), has_places ? call->address : 0);
    found->counts[0]++;
    found->counts[1] += call->arguments[0];
    pthread_mutex_unlock(&lock);
}

static void end(void) {
    static const char *const events[EVENTS] = {"calls", "amount"};
    FILE *stream = sn_file_create(name);
    if (stream == NULL) return;
    sn_context_file *file = sn_context_file_begin(stream, "context_counts", EVENTS, events);
    for (size_t i = 0; i < count_count; i++) sn_context_file_add(file, counts[i].context, counts[i].address, counts[i].counts);
    sn_context_file_end(file);
    sn_file_close(stream);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "context_counts", .version = "1",
    .description = "counts getppid in calling contexts", .options = options, .start = start,
    .system_call_before = system_call_before, .end = end,
};
