/**
 * @file sonde/value_objects.h
 * Data objects: what an address of the program belongs to. With --data-centric=yes (among SN_REPORT_OPTIONS) detectors tell here
 * which bytes they found, and their report lists the objects: blocks of the heap by where they were allocated, variables, frames by
 * their function, mapped files.
 *
 * Part of the report, like <sonde/value_report.h>: objects are those of all threads, behind a lock.
 */
#ifndef SONDE_VALUE_OBJECTS_H
#define SONDE_VALUE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The option. Constant once the program runs. */
extern bool sn_values_data_centric;

/** The same as sn_value_objects_note(), when they are asked for. */
void sn_value_objects_add(const void *state, uint64_t address, uint64_t bytes);

/** From `take` or `take_runs` of that state: `bytes` were found at `address`, once. They go to the object that holds the first. */
static inline void sn_value_objects_note(const void *state, uint64_t address, uint64_t bytes) {
    if (__builtin_expect(sn_values_data_centric, 0)) sn_value_objects_add(state, address, bytes);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
