/**
 * @fileoverview --analysis-threads=N: threads of the engine that handle full trace buffers beside the client's.
 *
 * Each thread of the client belongs to one of them, so that its batches are handled in order and never two at once. They
 * are made at the first batch, block all signals, and end before the process does. Used by jit/trace.c only, but for
 * fork and the end.
 */
#ifndef SONDE_JIT_TRACE_WORKERS_H
#define SONDE_JIT_TRACE_WORKERS_H

#include <stdbool.h>

#include "sonde/tool.h"

typedef struct sn_trace_job {
    sn_batch batch;
    void (*handle)(const sn_batch *batch);
    _Atomic int *busy;         /**< becomes 0, with a wake-up, when the buffer may be used again */
    struct sn_trace_job *next;
} sn_trace_job;

/** Whether there are to be any. */
bool sn_trace_workers_wanted(void);

/** Give the job to the worker of its thread; the job stays the caller's, and must live until *busy is 0. */
void sn_trace_workers_submit(sn_trace_job *job);

/** Wait until *busy is 0. */
void sn_trace_workers_wait(_Atomic int *busy);

/** End them, after what they have to do. They are made again when there is more. */
void sn_trace_workers_end(void);

/** In the child of a fork there are none, and they had nothing to do. */
void sn_trace_workers_after_fork(void);

#endif
