/**
 * @fileoverview A tool that prints the calling context whenever the client makes the system call `getppid`, and with
 * --marks=yes how many frames went: for tests of the context service. With --alternate=N calls are followed for N instructions, and
 * not for the next N, and so on.
 */
#include <string.h>

#include <sonde/tool.h>

static bool marks, is_long;
static sn_slot inserted;   /**< of each thread: what inserted code found last */
static sn_counter counter; /**< 4711 in all threads */
static int64_t wrong, left, alternate;

static const sn_option options[] = {
    {"marks", SN_OPTION_FLAG, &marks, "no", NULL, "count the frames that go"},
    {"long", SN_OPTION_FLAG, &is_long, "no", NULL, "print the contexts with source lines too"},
    {"alternate", SN_OPTION_NUMBER, &alternate, "0", NULL, "instructions in each of two versions"},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

SN_FAST static void frame_left(sn_thread *thread, sn_call_frame *frame) {
    (void)thread;
    /* 0: in a vfork child, which has counters of its own */
    if (frame->data != 4711 && frame->data != 0) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&left, 1, __ATOMIC_RELAXED);
}

static void start(void) {
    sn_output_is_record("contexts.out");
    sn_contexts_enable();
    counter = sn_counter_new(1);
    inserted = sn_slot_new();
    if (marks) sn_contexts_watch(counter, frame_left);
    if (!alternate) return;
    sn_versions_start(&(sn_versions){.instructions = {alternate, alternate}, .first = 1});
    sn_contexts_only_in(1);
}

static void instrument(sn_block *block) {
    if (alternate && sn_block_version(block) == 0) return;
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        if (sn_block_instruction(block, i)->kind != SN_KIND_SYSCALL) continue;
        sn_insert_before(block, i);
        sn_slot_store(block, inserted, sn_current_context(block));
    }
}

/** The functions of the chain on one line, innermost first: "~" before those that were jumped to, "!" behind handlers. */
static void print_chain(sn_context context) {
    sn_context_info info;
    sn_location location;
    FILE *file = sn_output();
    unsigned depth = 0;
    for (sn_context at = context; sn_context_describe(at, &info); at = info.caller) depth++;
    fprintf(file, "%u", depth);
    for (unsigned i = 0; i < 100 && sn_context_describe(context, &info); i++, context = info.caller) {
        sn_locate(info.function, &location);
        bool is_tail = !info.call_site && !info.is_handler && info.caller;
        fprintf(file, " %s%s%s", is_tail ? "~" : "", location.function ? location.function : "?",
                info.is_handler ? "!" : "");
    }
    fputc('\n', file);
}

/** What a signal interrupts before it has a result is told once more when it is made again (docs/events.md): Go's scheduler sends some. */
static bool is_interrupted(const sn_system_call *call) { return call->result == -512; }

static void system_call_after(sn_thread *thread, const sn_system_call *call) {
    if (!call->name || strcmp(call->name, "getppid") != 0 || is_interrupted(call)) return;
    sn_context context = sn_context_of(thread);
    sn_context found = (sn_context)*sn_slot_of(thread, inserted);
    if (context != found && !(alternate && sn_thread_version(thread) == 0)) fprintf(sn_output(), "inserted code found another context: %u, not %u\n", found, context);
    print_chain(context);
    if (is_long) sn_context_print(sn_output(), context, call->address, 0, "  ");
    fflush(sn_output());
}

static void end(void) {
    if (marks) fprintf(sn_output(), "left %ld, wrong %ld\n", (long)left, (long)wrong);
}

static void thread_start(sn_thread *thread) { sn_counter_add(thread, counter, 4711); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "contexts", .version = "1",
    .description = "prints calling contexts", .options = options, .start = start, .instrument = instrument,
    .thread_start = thread_start, .system_call_after = system_call_after, .end = end,
};
