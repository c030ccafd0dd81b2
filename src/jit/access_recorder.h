/**
 * @fileoverview Records of accesses that vary, appended to a trace without leaving the code cache (the function
 * sn_trace_append_accesses() of sonde/tool.h).
 *
 * A recorder says how the accesses of an instruction follow from a few registers, and what record an access becomes. One
 * exists for each combination of the two, for ever. Emitted code calls one of the fast functions with the values of the
 * registers; it either appends everything, or nothing because the buffer has too little room: then the thread leaves
 * the cache, and the enumeration (guest/enumerate.h) gives the accesses to sn_access_recorder_take(). Made under
 * sn_jit_lock by jit/analysis.c, used by every thread.
 */
#ifndef SONDE_JIT_ACCESS_RECORDER_H
#define SONDE_JIT_ACCESS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "jit/thread.h"
#include "sonde/tool.h"

#define SN_MOST_ACCESS_FIELDS 8
/** Bytes that one access can become. */
#define SN_MOST_ACCESS_BYTES 128

typedef struct sn_access_recorder {
    struct sn_access_recorder *next;
    sn_trace *trace;
    uint64_t buffer_size;
    uint32_t number;        /**< of the trace */
    uint32_t stride;        /**< bytes that one access becomes */
    uint32_t field_count;
    bool addresses_only;    /**< a record is the address and nothing else */
    sn_access_shape shape;
    sn_access_field fields[SN_MOST_ACCESS_FIELDS];
} sn_access_recorder;

/** Fails the run with one line if the fields do not fit. */
const sn_access_recorder *sn_access_recorder_of(const sn_access_shape *shape, sn_trace *trace, unsigned records,
                                                unsigned count, const sn_access_field *fields);

/** The fast function of a kind: (thread, recorder, inputs of the shape); for repeated instructions, after them, (thread,
    recorder, count left). It returns whether there was too little room. NULL for SN_SHAPE_NONE. */
void *sn_access_recorder_function(sn_access_shape_kind kind);

/** Before a repeated instruction: (thread, recorder, its address, count, source, destination). */
uint64_t sn_access_recorder_begin(sn_thread *thread, const sn_access_recorder *recorder, uint64_t client, uint64_t count,
                                  uint64_t source, uint64_t destination);

/** Append what was enumerated; `data`: the recorder. */
void sn_access_recorder_take(sn_thread *thread, const sn_access *accesses, size_t count, void *data);

#endif
