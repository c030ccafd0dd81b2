/* @fileoverview A tool: how many instructions the program executes, in all threads of each process.
 *     cc -O2 -shared -fPIC $(pkg-config --cflags sonde) -o instructions.so instructions.c
 *     sonde ./instructions.so PROGRAM
 */
#include <inttypes.h>
#include <sonde/tool.h>
#include <stdint.h>

static sn_counter entered; /* instructions of the blocks that were entered */
static sn_counter left;    /* those of them that a taken branch left out */
static _Atomic uint64_t before; /* executed by ended threads, less those that a signal or fault left out */

static void start(void) {
    entered = sn_counter_new(1);
    left = sn_counter_new(1);
}

static void instrument(sn_block *block) {
    unsigned size = sn_block_size(block);
    sn_count_entry(block, entered, size);
    for (unsigned i = 0; i + 1 < size; i++)
        if (sn_block_instruction(block, i)->kind == SN_KIND_CONDITIONAL)
            sn_count_taken(block, i, left, size - i - 1);
    sn_block_set_data(block, (void *)(uintptr_t)size);
}

/* A signal or fault left a block: what is left of it is another block later, if it goes on. */
static void interrupted(sn_thread *thread, void *data, unsigned completed) {
    (void)thread;
    before -= (uintptr_t)data - completed;
}

static void add(sn_thread *thread, void *sum) {
    *(uint64_t *)sum += sn_counter_value(thread, entered) - sn_counter_value(thread, left);
}

static void thread_end(sn_thread *thread) { /* its counters end with it */
    uint64_t its = 0;
    add(thread, &its);
    before += its;
}

static void fork_child(sn_thread *thread) {
    (void)thread; /* its counters are zero again */
    before = 0;
}

static void end(void) {
    uint64_t sum = before;
    sn_threads_visit(add, &sum);
    fprintf(sn_output(), "%" PRIu64 " instructions\n", sum);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "instructions", .version = "1", .description = "count instructions",
    .start = start, .instrument = instrument, .interrupted = interrupted, .thread_end = thread_end,
    .fork_child = fork_child, .end = end,
};
