/**
 * @fileoverview What each thread counts: its calls (arcs.h), its system calls, and since when.
 *
 * An account is the sum of some threads at some moment: what profile.c makes a profile of. Zeroing keeps the counters and
 * remembers their values, since other threads may be counting.
 */
#ifndef SONDE_TOOLS_CALLS_THREAD_H
#define SONDE_TOOLS_CALLS_THREAD_H

#include <sonde/tool.h>
#include <sonde/vector.h>
#include <stddef.h>

#include "arcs.h"
#include "cells.h"
#include "simulated.h"

/** System calls made by one instruction. */
typedef struct calls_system_costs {
    uint64_t address;
    uint32_t context; /**< separate.h; 0: none */
    uint64_t counts[CALLS_SYSTEM_EVENTS];
} calls_system_costs;

typedef SN_VECTOR(calls_system_costs) calls_system_list;

/** Of counters, by their numbers. */
typedef SN_VECTOR(uint64_t) calls_values;

typedef struct calls_account {
    int thread;            /**< its number, from 1 in the order of beginning; 0: a sum of several */
    calls_values values;
    calls_arcs arcs;
    calls_cells cells;     /**< what was counted in contexts, if functions are separated; then `values` are zeros */
    calls_system_list system;
    calls_simulated_sum simulated;
} calls_account;

/* Callbacks. */
void calls_thread_start(sn_thread *thread);
void calls_thread_end(sn_thread *thread);
void calls_thread_fork_child(sn_thread *thread);
void calls_thread_system_call_before(sn_thread *thread, const sn_system_call *call);
void calls_thread_system_call_after(sn_thread *thread, const sn_system_call *call);
void calls_thread_words(const sn_batch *batch);    /**< of what is simulated */
void calls_thread_branches(const sn_batch *batch);

/** From the start callback: calls that end are noted. */
void calls_threads_init(void);

/** Call `visit` with an account of each thread, ended ones included, or with one of them all. Calls that go on are
    counted as if they ended now. `is_end`: no thread goes on any more. */
void calls_accounts_visit(void (*visit)(const calls_account *account, void *data), void *data, bool is_end);

/** What was counted until now is forgotten, in all threads. `thread`: the one that calls. */
void calls_accounts_zero(sn_thread *thread);

/** Switch collecting over for a thread: off if it is on, on if it is off. */
void calls_thread_switch_collecting(sn_thread *thread);

#endif
