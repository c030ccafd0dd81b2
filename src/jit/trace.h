/**
 * @fileoverview Traces: each thread's buffers, which emitted code appends to, and handing them to the tool.
 *
 * A buffer ends where memory begins that cannot be accessed. The store that runs into it faults; the signal handler has
 * the dispatcher call sn_trace_full(), and the store is made again at the buffer's start. While somebody stops all threads
 * that must not be done in the middle of analysis code: then the reserve behind the buffer is opened until the thread has
 * reached an instruction's boundary. Owned by the thread; read and emptied by others only while that thread is stopped (at
 * the end of the process).
 */
#ifndef SONDE_JIT_TRACE_H
#define SONDE_JIT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/thread.h"
#include "sonde/tool.h"

unsigned sn_trace_number(const sn_trace *trace);
unsigned sn_trace_record_size(const sn_trace *trace);
uint64_t sn_trace_buffer_size(const sn_trace *trace); /**< bytes */

/** Whether the tool has made a trace. */
bool sn_traces_exist(void);

/** As sn_trace_append(), but of `records` records one behind the other, to which the fields' offsets refer: these must go up. */
void sn_trace_append_several(sn_block *block, sn_trace *trace, unsigned records, unsigned count, const sn_field *fields);

/** As sn_trace_write(), for `records` records one behind the other: a small part of a buffer. */
void sn_trace_write_several(sn_thread *thread, sn_trace *trace, unsigned records, const void *contents);

/** Give a new thread its buffers. Ends the run with one line when there is no memory. */
void sn_traces_start(sn_thread *thread);
/** Hand out what a thread's buffers hold. */
void sn_traces_flush(sn_thread *thread);
/** The thread is gone. */
void sn_traces_end(sn_thread *thread);
/** In the child of a fork: it starts with empty buffers. */
void sn_traces_after_fork(sn_thread *thread);

/** The trace of the thread whose buffer ends at the page of a fault address; -1: it is no such fault. */
int sn_trace_at_end(const sn_thread *thread, uint64_t address);
/** Let the thread write behind the end for now. Async-signal-safe. */
void sn_trace_open_reserve(sn_thread *thread, unsigned number);
/** At a boundary: hand out what reaches into a reserve, and close it. */
void sn_traces_close_reserves(sn_thread *thread);
/** A buffer is full to its end: hand it out. Returns what has to be added to the register that points to the next
    record. */
uint64_t sn_trace_full(sn_thread *thread, unsigned number);

#endif
