/**
 * @fileoverview Traces: see trace.h.
 */
#include "jit/trace.h"

#include <asm/unistd.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"
#include "jit/layout.h"

#define DEFAULT_BUFFER_SIZE (UINT64_C(256) << 10)
/** More than all records of one block. */
#define RESERVE_SIZE (UINT64_C(64) << 10)

struct sn_trace {
    unsigned number;
    unsigned record_size;
    uint64_t buffer_size;
    void (*batch)(const sn_batch *batch);
};

static sn_trace traces[SN_THREAD_TRACE_COUNT];
static unsigned trace_count;

sn_trace *sn_trace_new(const sn_trace_options *options) {
    unsigned record = options->record_size;
    if (trace_count == SN_THREAD_TRACE_COUNT)
        sn_fail(SN_STATUS_ENGINE, "the tool makes more than %d traces", SN_THREAD_TRACE_COUNT);
    if (!record || record > 128 || record & (record - 1) || !options->batch)
        sn_fail(SN_STATUS_ENGINE, "the tool makes a trace with records of %u bytes", record);
    uint64_t size = options->buffer_size ? options->buffer_size : DEFAULT_BUFFER_SIZE;
    sn_trace *trace = &traces[trace_count];
    *trace = (sn_trace){.number = trace_count++, .record_size = record,
                        .buffer_size = (size + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1), .batch = options->batch};
    return trace;
}

unsigned sn_trace_number(const sn_trace *trace) { return trace->number; }
unsigned sn_trace_record_size(const sn_trace *trace) { return trace->record_size; }
bool sn_traces_exist(void) { return trace_count > 0; }
uint64_t sn_trace_buffer_size(unsigned number) { return traces[number].buffer_size; }

void sn_traces_start(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) {
        uint64_t size = traces[i].buffer_size;
        void *buffer = mmap(NULL, size + RESERVE_SIZE + SN_PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffer == MAP_FAILED || mprotect(buffer, size, PROT_READ | PROT_WRITE))
            sn_fail(SN_STATUS_ENGINE, "no memory for a trace buffer of %lu bytes", (unsigned long)size);
        thread->trace_start[i] = thread->traces[i] = (uint64_t)buffer;
    }
}

/** Hand out the records before `end`, and begin anew. */
static void hand_out(sn_thread *thread, unsigned number, uint64_t end) {
    sn_trace *trace = &traces[number];
    uint64_t start = thread->trace_start[number];
    if (!start || end <= start) return;
    sn_batch batch = {.records = (const void *)start, .count = (end - start) / trace->record_size, .thread = thread->id,
                      .thread_data = thread->tool_data, .trace = trace};
    thread->traces[number] = start;
    trace->batch(&batch);
}

void sn_traces_flush(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) hand_out(thread, i, thread->traces[i]);
}

void sn_trace_flush(sn_thread *thread, sn_trace *trace) { hand_out(thread, trace->number, thread->traces[trace->number]); }

void sn_traces_end(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) {
        if (!thread->trace_start[i]) continue;
        munmap((void *)thread->trace_start[i], traces[i].buffer_size + RESERVE_SIZE + SN_PAGE_SIZE);
        thread->trace_start[i] = 0;
    }
}

void sn_traces_after_fork(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) thread->traces[i] = thread->trace_start[i];
}

int sn_trace_at_end(const sn_thread *thread, uint64_t address) {
    for (unsigned i = 0; i < trace_count; i++)
        if (thread->trace_start[i] && address - (thread->trace_start[i] + traces[i].buffer_size) < RESERVE_SIZE)
            return (int)i;
    return -1;
}

static void *reserve_of(const sn_thread *thread, unsigned number) {
    return (void *)(thread->trace_start[number] + traces[number].buffer_size);
}

void sn_trace_open_reserve(sn_thread *thread, unsigned number) {
    sn_syscall(__NR_mprotect, reserve_of(thread, number), RESERVE_SIZE, PROT_READ | PROT_WRITE);
    thread->reserves_open |= 1u << number;
}

void sn_traces_close_reserves(sn_thread *thread) {
    uint32_t open = thread->reserves_open;
    thread->reserves_open = 0;
    for (unsigned i = 0; i < trace_count; i++) {
        if (!(open >> i & 1)) continue;
        hand_out(thread, i, thread->traces[i]);
        mprotect(reserve_of(thread, i), RESERVE_SIZE, PROT_NONE);
    }
}

void sn_trace_full(sn_thread *thread, unsigned number) {
    /* The emitted code goes on with its own pointer, which was moved in the same way, or loads this one again. */
    uint64_t now = thread->traces[number], size = traces[number].buffer_size;
    hand_out(thread, number, thread->trace_start[number] + size);
    thread->traces[number] = now - size;
}

void sn_trace_write(sn_thread *thread, sn_trace *trace, const void *record) {
    unsigned number = trace->number;
    uint64_t at = thread->traces[number];
    if (at + trace->record_size > thread->trace_start[number] + trace->buffer_size) {
        hand_out(thread, number, at);
        at = thread->traces[number];
    }
    memcpy((void *)at, record, trace->record_size);
    thread->traces[number] = at + trace->record_size;
}
