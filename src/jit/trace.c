/**
 * @fileoverview Traces: see trace.h.
 */
#include "jit/trace.h"

#include <asm/unistd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"
#include "jit/layout.h"
#include "jit/trace_workers.h"

#define DEFAULT_BUFFER_SIZE (UINT64_C(512) << 10)
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
uint64_t sn_trace_buffer_size(const sn_trace *trace) { return trace->buffer_size; }
bool sn_traces_exist(void) { return trace_count > 0; }

/* With workers, a thread has two buffers a trace, which change places when one is given to a worker. */

/** What a thread has besides the buffer in use; allocated with the first batch. */
typedef struct spare {
    uint64_t start;
    _Atomic int busy;  /**< a worker reads it */
    sn_trace_job job;
} spare;

static uint64_t map_buffer(uint64_t size) {
    void *buffer = mmap(NULL, size + RESERVE_SIZE + SN_PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED || mprotect(buffer, size, PROT_READ | PROT_WRITE))
        sn_fail(SN_STATUS_ENGINE, "no memory for a trace buffer of %lu bytes", (unsigned long)size);
    return (uint64_t)buffer;
}

static spare *spare_of(sn_thread *thread, unsigned number) {
    if (thread->trace_spare[number]) return thread->trace_spare[number];
    spare *made = calloc(1, sizeof *made);
    if (!made) sn_fail(SN_STATUS_ENGINE, "no memory for a trace buffer");
    made->start = map_buffer(traces[number].buffer_size);
    return thread->trace_spare[number] = made;
}

/** Have a worker handle the batch, and go on with the other buffer. */
static void hand_to_worker(sn_thread *thread, unsigned number, const sn_batch *batch) {
    spare *other = spare_of(thread, number);
    sn_trace_workers_wait(&other->busy);
    uint64_t full = thread->trace_start[number];
    thread->trace_start[number] = thread->traces[number] = other->start;
    other->start = full;
    other->job = (sn_trace_job){.batch = *batch, .handle = traces[number].batch, .busy = &other->busy};
    other->busy = 1;
    sn_trace_workers_submit(&other->job);
}

static void wait_for_worker(sn_thread *thread, unsigned number) {
    spare *other = thread->trace_spare[number];
    if (other) sn_trace_workers_wait(&other->busy);
}

/** Hand out the records before `end`, and begin anew. */
static void hand_out(sn_thread *thread, unsigned number, uint64_t end) {
    sn_trace *trace = &traces[number];
    uint64_t start = thread->trace_start[number];
    if (!start || end <= start) return;
    sn_batch batch = {.records = (const void *)start, .count = (end - start) / trace->record_size, .thread = thread->id,
                      .thread_data = thread->tool_data, .trace = trace};
    thread->traces[number] = start;
    if (sn_trace_workers_wanted()) hand_to_worker(thread, number, &batch);
    else SN_TELL_TOOL("batch", trace->batch(&batch));
}

void sn_traces_start(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) {
        thread->trace_start[i] = thread->traces[i] = map_buffer(traces[i].buffer_size);
        thread->trace_spare[i] = NULL;
    }
}

static void flush(sn_thread *thread, unsigned number) {
    hand_out(thread, number, thread->traces[number]);
    wait_for_worker(thread, number);
}

void sn_traces_flush(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) flush(thread, i);
}

void sn_trace_flush(sn_thread *thread, sn_trace *trace) { flush(thread, trace->number); }

void sn_traces_end(sn_thread *thread) {
    for (unsigned i = 0; i < trace_count; i++) {
        if (!thread->trace_start[i]) continue;
        wait_for_worker(thread, i);
        munmap((void *)thread->trace_start[i], traces[i].buffer_size + RESERVE_SIZE + SN_PAGE_SIZE);
        thread->trace_start[i] = 0;
        spare *other = thread->trace_spare[i];
        if (!other) continue;
        munmap((void *)other->start, traces[i].buffer_size + RESERVE_SIZE + SN_PAGE_SIZE);
        free(other);
        thread->trace_spare[i] = NULL;
    }
}

void sn_traces_after_fork(sn_thread *thread) {
    sn_trace_workers_after_fork();
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
        void *reserve = reserve_of(thread, i); /* before the buffers change places */
        flush(thread, i);
        mprotect(reserve, RESERVE_SIZE, PROT_NONE);
    }
}

uint64_t sn_trace_full(sn_thread *thread, unsigned number) {
    /* The emitted code goes on with its own pointer, which the caller moves in the same way, or loads this one again. */
    uint64_t now = thread->traces[number], end = thread->trace_start[number] + traces[number].buffer_size;
    hand_out(thread, number, end);
    uint64_t moved = thread->trace_start[number] - end;
    thread->traces[number] = now + moved;
    return moved;
}

void sn_trace_write_several(sn_thread *thread, sn_trace *trace, unsigned records, const void *contents) {
    unsigned number = trace->number;
    uint64_t at = thread->traces[number];
    size_t size = records * (size_t)trace->record_size;
    if (at + size > thread->trace_start[number] + trace->buffer_size) {
        hand_out(thread, number, at);
        at = thread->traces[number];
    }
    memcpy((void *)at, contents, size);
    thread->traces[number] = at + size;
}

void sn_trace_write(sn_thread *thread, sn_trace *trace, const void *record) { sn_trace_write_several(thread, trace, 1, record); }
