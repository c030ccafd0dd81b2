/**
 * @fileoverview The events of one thread in a trace file.
 */
#ifndef SONDE_REPORT_MEMTRACE_EVENTS_H
#define SONDE_REPORT_MEMTRACE_EVENTS_H

#include "report/memtrace_code.h"

typedef struct sn_memtrace_thread sn_memtrace_thread;

sn_memtrace_thread *sn_memtrace_thread_new(uint32_t id);
void sn_memtrace_thread_free(sn_memtrace_thread *thread);

/** Tell the events of one payload. False if it is damaged: what was told is right as far as can be known. */
bool sn_memtrace_take_events(sn_memtrace_thread *thread, const sn_memtrace_program *program, const uint8_t *payload,
                             size_t size, uint32_t predictions, const sn_memtrace_listener *listener);

#endif
