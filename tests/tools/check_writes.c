/**
 * @fileoverview A tool that compares what it is told of system calls with what they do to an arena of memory, which the
 * program tests/tools/writing_calls.c shows it; tests/test_events_writes.py runs both.
 *
 * The program talks by calls that do not exist: ARENA(start, size) says where the arena is, CASE(name) begins a case, in
 * which the same is done twice with the arena filled with different bytes, END ends it. Lines: "unlisted": the kernel
 * changed a byte that is in no range; "unannounced": a range after the call that was not among those before it; "unwritten":
 * bytes that were told as written in both rounds and changed in neither; "case NAME CALLS BYTES" for each case.
 */
#include <sonde/tool.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 0x5a5, CASE, END };

static uint8_t *arena, *copy, *told, *changed;
static size_t size;
static char name[64];
static unsigned told_calls;
static sn_system_range announced[4096];
static size_t announced_count;

static void line(const char *what, const sn_system_call *call, uint64_t at) {
    fprintf(sn_output(), "%s %s %s %lx\n", what, name, call && call->name ? call->name : "?", at);
}

static bool holds(const sn_system_range *ranges, size_t count, uint64_t address, unsigned role) {
    for (size_t i = 0; i < count; i++)
        if (ranges[i].role == role && address >= ranges[i].start && address - ranges[i].start < ranges[i].size) return true;
    return false;
}

static void end_case(void) {
    size_t bytes = 0, unwritten = 0, first = 0;
    for (size_t i = 0; i < size; i++) {
        bytes += told[i] != 0;
        if (told[i] && !changed[i] && !unwritten++) first = i;
    }
    if (unwritten) line("unwritten", NULL, first);
    fprintf(sn_output(), "case %s %u %zu\n", name, told_calls, bytes);
    memset(told, 0, size);
    memset(changed, 0, size);
    told_calls = 0;
    *name = 0;
}

static void before(sn_thread *thread, const sn_system_call *call) {
    (void)thread;
    if (call->number == ARENA) {
        arena = (uint8_t *)call->arguments[0];
        size = call->arguments[1];
        copy = malloc(size);
        told = calloc(1, size);
        changed = calloc(1, size);
    } else if (call->number == CASE) {
        snprintf(name, sizeof name, "%s", (const char *)call->arguments[0]);
    } else if (call->number == END) {
        end_case();
    }
    if (!arena || !*name) return;
    announced_count = call->range_count < 4096 ? call->range_count : 4096;
    memcpy(announced, call->ranges, announced_count * sizeof *announced);
    memcpy(copy, arena, size);
}

static void after(sn_thread *thread, const sn_system_call *call) {
    (void)thread;
    if (!arena || !*name || call->number >= ARENA) return;
    uint64_t start = (uint64_t)arena;
    for (size_t i = 0; i < size; i++) {
        if (arena[i] == copy[i]) continue;
        /* Asynchronous requests may be done at once, but are told when they are asked for. */
        bool early = !strcmp(call->name, "io_submit") && holds(announced, announced_count, start + i, SN_ROLE_WRITTEN);
        if (!early && !holds(call->ranges, call->range_count, start + i, SN_ROLE_WRITTEN)) {
            line("unlisted", call, i);
            break;
        }
        changed[i] = 1;
    }
    for (size_t i = 0; i < call->range_count; i++) {
        const sn_system_range *range = &call->ranges[i];
        for (uint64_t at = range->start; at < range->start + range->size; at++) {
            if (at - start >= size) break;
            /* What the kernel reads too may get the same value again. */
            if (holds(announced, announced_count, at, SN_ROLE_READ)) continue;
            bool late = !strcmp(call->name, "io_getevents");
            if (!late && !holds(announced, announced_count, at, SN_ROLE_WRITTEN)) {
                line("unannounced", call, at - start);
                break;
            }
            told[at - start] = 1;
        }
    }
    told_calls++;
}

static void end(void) { fprintf(sn_output(), "finished\n"); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "check_writes",
    .version = "1",
    .description = "compare the ranges of system calls with what they change",
    .system_call_before = before,
    .system_call_after = after,
    .end = end,
};
