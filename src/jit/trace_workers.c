/**
 * @fileoverview Threads that handle trace buffers: see trace_workers.h.
 */
#include "jit/trace_workers.h"

#include <asm/unistd.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/libc_thread.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"

typedef struct worker {
    sn_lock lock;
    sn_trace_job *first, *last;
    _Atomic int work;  /**< counts what was said to it: it sleeps while that stays the same */
    bool end;
    pthread_t thread;
} worker;

static worker *workers; /**< NULL: none run */
static sn_lock making;

bool sn_trace_workers_wanted(void) { return sn_settings_current.analysis_threads > 0; }

static void futex_wait(_Atomic int *word, int value) { sn_syscall(__NR_futex, word, FUTEX_WAIT_PRIVATE, value, NULL); }

static void wake(_Atomic int *word) { sn_syscall(__NR_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX); }

static sn_trace_job *take(worker *self, bool *end) {
    sn_lock_acquire(&self->lock);
    sn_trace_job *job = self->first;
    if (job) self->first = job->next;
    *end = self->end;
    sn_lock_release(&self->lock);
    return job;
}

static void *run(void *argument) {
    worker *self = argument;
    for (;;) {
        bool end;
        int seen = self->work;
        sn_trace_job *job = take(self, &end);
        if (job) {
            _Atomic int *busy = job->busy;
            job->handle(&job->batch);
            *busy = 0;
            wake(busy);
        } else if (end) {
            return NULL;
        } else {
            futex_wait(&self->work, seen);
        }
    }
}

static void start(worker *self) {
    int error = sn_libc_thread_make(&self->thread, run, self);
    if (error) sn_fail(SN_STATUS_ENGINE, "cannot make the threads of --analysis-threads: %s", strerror(error));
}

static worker *all_workers(void) {
    sn_lock_acquire(&making);
    if (!workers) {
        unsigned count = sn_settings_current.analysis_threads;
        worker *made = calloc(count, sizeof *made);
        if (!made) sn_fail(SN_STATUS_ENGINE, "no memory for the threads of --analysis-threads");
        for (unsigned i = 0; i < count; i++) start(&made[i]);
        workers = made;
    }
    sn_lock_release(&making);
    return workers;
}

void sn_trace_workers_submit(sn_trace_job *job) {
    worker *self = &all_workers()[(unsigned)job->batch.thread % sn_settings_current.analysis_threads];
    job->next = NULL;
    sn_lock_acquire(&self->lock);
    if (self->first) self->last->next = job;
    else self->first = job;
    self->last = job;
    sn_lock_release(&self->lock);
    self->work++;
    wake(&self->work);
}

void sn_trace_workers_wait(_Atomic int *busy) {
    while (*busy) futex_wait(busy, 1);
}

void sn_trace_workers_end(void) {
    sn_lock_acquire(&making);
    for (unsigned i = 0; workers && i < sn_settings_current.analysis_threads; i++) {
        sn_lock_acquire(&workers[i].lock);
        workers[i].end = true;
        sn_lock_release(&workers[i].lock);
        workers[i].work++;
        wake(&workers[i].work);
        pthread_join(workers[i].thread, NULL);
    }
    free(workers);
    workers = NULL;
    sn_lock_release(&making);
}

void sn_trace_workers_after_fork(void) {
    sn_lock_reset(&making);
    workers = NULL;
}
