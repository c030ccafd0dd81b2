/**
 * @fileoverview A tool that writes every event of the interface as one line; tests/test_events.py builds it and reads the
 * lines.
 *
 * The first word of a line says which event it is; addresses are hexadecimal, a range is "START+SIZE", of a system call
 * "ROLE ARGUMENT:START+SIZE".
 */
#include <sonde/tool.h>

static bool calls;
static const char *only = "";

static const sn_option options[] = {
    {"calls", SN_OPTION_FLAG, &calls, "no", NULL, "write system calls too"},
    {"call", SN_OPTION_STRING, &only, "", NULL, "write system calls of this name only"},
    {0},
};

static void line(const char *text) {
    fprintf(sn_output(), "%s\n", text);
    fflush(sn_output());
}

#define LINE(...)                                   \
    do {                                            \
        char text_[1 << 14];                        \
        snprintf(text_, sizeof text_, __VA_ARGS__); \
        line(text_);                                \
    } while (0)

static void thread_start(sn_thread *thread) { LINE("thread-start %d", sn_thread_id(thread)); }
static void thread_end(sn_thread *thread) { LINE("thread-end %d", sn_thread_id(thread)); }
static void fork_child(sn_thread *thread) { LINE("fork-child %d", sn_thread_id(thread)); }
static void exec(sn_thread *thread, const char *path) { LINE("exec %d %s", sn_thread_id(thread), path); }
static void end(void) { LINE("end"); }

static void module_mapped(const char *path, uint64_t start, uint64_t finish) {
    LINE("module-mapped %lx %lx %s", start, finish, path);
}
static void module_unmapped(const char *path, uint64_t start, uint64_t finish) {
    LINE("module-unmapped %lx %lx %s", start, finish, path);
}
static void memory_mapped(const sn_memory_range *range) {
    LINE("memory-mapped %lx %lx %d %lx %s %s", range->start, range->end, range->protection, range->offset,
         range->is_stack ? "stack" : range->is_break ? "break" : "plain", range->path ? range->path : "-");
}
static void memory_unmapped(uint64_t start, uint64_t finish) { LINE("memory-unmapped %lx %lx", start, finish); }
static void memory_protected(uint64_t start, uint64_t finish, int protection) {
    LINE("memory-protected %lx %lx %d", start, finish, protection);
}
static void memory_moved(uint64_t from, uint64_t to, uint64_t size) { LINE("memory-moved %lx %lx %lx", from, to, size); }

static bool is_shown(const sn_system_call *call) {
    const char *name = call->name ? call->name : "?", *at = only, *rest = name;
    if (!calls) return false;
    if (!*at) return true;
    while (*at && *at == *rest) at++, rest++;
    return !*at && !*rest;
}

static void show_call(const char *what, sn_thread *thread, const sn_system_call *call) {
    char text[1 << 14];
    int size = snprintf(text, sizeof text, "%s %d %s %lu %lx %ld", what, sn_thread_id(thread),
                        call->name ? call->name : "?", call->number, call->address, call->result);
    for (size_t i = 0; i < call->range_count && size < (int)sizeof text - 100; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, " %c%d:%lx+%lx",
                         call->ranges[i].role == SN_ROLE_READ ? 'r' : 'w', call->ranges[i].argument,
                         call->ranges[i].start, call->ranges[i].size);
    line(text);
}
static void system_call_before(sn_thread *thread, const sn_system_call *call) {
    if (is_shown(call)) show_call("before", thread, call);
}
static void system_call_after(sn_thread *thread, const sn_system_call *call) {
    if (is_shown(call)) show_call("after", thread, call);
}
static void signal_delivered(sn_thread *thread, int number, uint64_t address) {
    LINE("signal %d %d %lx", sn_thread_id(thread), number, address);
}
static void dump(sn_thread *thread) { LINE("dump %d", sn_thread_id(thread)); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "show_events",
    .version = "1",
    .description = "write every event",
    .options = options,
    .thread_start = thread_start,
    .thread_end = thread_end,
    .fork_child = fork_child,
    .exec = exec,
    .module_mapped = module_mapped,
    .module_unmapped = module_unmapped,
    .memory_mapped = memory_mapped,
    .memory_unmapped = memory_unmapped,
    .memory_protected = memory_protected,
    .memory_moved = memory_moved,
    .system_call_before = system_call_before,
    .system_call_after = system_call_after,
    .signal = signal_delivered,
    .dump = dump,
    .end = end,
};
