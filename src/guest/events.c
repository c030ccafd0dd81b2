/**
 * @fileoverview Telling the tool of system calls, signals and exec: see events.h.
 */
#include "guest/events.h"

#include <string.h>

#include "guest/memory_events.h"
#include "guest/thread.h"

sn_events sn_events_wanted;
sn_memory_listener sn_memory_listening;
sn_frame_listener sn_frames_listening;

void sn_events_init(const sn_tool *tool) {
    sn_events_wanted = (sn_events){
        .calls = tool->system_call_before || tool->system_call_after,
        .modules = tool->module_mapped || tool->module_unmapped,
        .memory = tool->memory_mapped || tool->memory_unmapped || tool->memory_protected || tool->memory_moved ||
                  tool->module_mapped || tool->module_unmapped || sn_memory_listening.mapped,
        .signals = tool->signal != NULL,
    };
}

void sn_events_begin(void) {
    if (sn_events_wanted.memory) sn_memory_events_begin();
}

/* ------------------------------------------------------------------- system calls */

static void show(sn_told_call *told) {
    told->call.ranges = told->list.ranges;
    told->call.range_count = told->list.count;
}

void sn_events_call_begin(sn_told_call *told, sn_thread *thread, uint64_t address, uint64_t number,
                          const uint64_t arguments[6]) {
    const sn_tool *tool = sn_current_tool();
    number = (uint32_t)number; /* as the kernel takes it */
    told->call = (sn_system_call){.address = address, .number = number, .name = sn_system_call_name(number)};
    memcpy(told->call.arguments, arguments, sizeof told->call.arguments);
    sn_call_ranges_begin(&told->list, number, told->call.arguments);
    show(told);
    if (tool->system_call_before) SN_TELL_TOOL("system_call_before", tool->system_call_before(thread, &told->call));
}

void sn_events_call_end(sn_told_call *told, sn_thread *thread, int64_t result) {
    const sn_tool *tool = sn_current_tool();
    if (tool->system_call_after) {
        told->call.result = result;
        sn_call_ranges_end(&told->list, result);
        show(told);
        SN_TELL_TOOL("system_call_after", tool->system_call_after(thread, &told->call));
    }
    sn_call_ranges_release(&told->list);
}

/* ------------------------------------------------------------------------ signals */

/* At most one is noted: the dispatcher comes before the next one can be delivered. */
void sn_events_note_signal(sn_thread *thread, int number) {
    if (!sn_events_wanted.signals) return;
    thread->told_signal = number;
    thread->told_signal_address = thread->pc;
}

void sn_events_tell_signal(sn_thread *thread) {
    int number = thread->told_signal;
    thread->told_signal = 0;
    if (number) SN_TELL_TOOL("signal", sn_current_tool()->signal(thread, number, thread->told_signal_address));
}

/* --------------------------------------------------------------------------- exec */

void sn_events_exec(sn_thread *thread, const char *path) {
    const sn_tool *tool = sn_current_tool();
    if (tool->exec && !thread->borrowed) SN_TELL_TOOL("exec", tool->exec(thread, path));
}

/* ------------------------------------------------------------------- stacks, while nobody listens */

static void no_thread_begins(sn_thread *thread, const sn_thread *parent) { (void)thread, (void)parent; }
static void no_thread_ends(sn_thread *thread) { (void)thread; }
static void no_signal(sn_thread *thread, uint64_t interrupted, uint64_t frame, uint64_t handler) {
    (void)thread, (void)interrupted, (void)frame, (void)handler;
}
static void no_return(sn_thread *thread, uint64_t from, uint64_t to) { (void)thread, (void)from, (void)to; }
static void nothing(void) {}

sn_stack_listener sn_stack_listening = {nothing, no_thread_begins, no_thread_ends, no_signal, no_return, nothing, nothing};
