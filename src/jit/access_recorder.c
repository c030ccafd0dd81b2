/**
 * @fileoverview Recorders of accesses: see access_recorder.h.
 *
 * The functions marked SN_FAST run on the client's thread pointer, vector state and direction flag: their loops are
 * written so that the compiler makes no calls and no string instructions of them.
 */
#include "jit/access_recorder.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "jit/trace.h"

/* ------------------------------------------------------------------------- recorders */

static sn_access_recorder *recorders;

static unsigned part_size(const sn_access_field *field, unsigned stride) {
    bool known = field->part <= SN_ACCESS_OPERAND && (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
    if (!known || field->offset + field->size > stride)
        sn_fail(SN_STATUS_ENGINE, "the tool's field of an access does not fit into its trace's records");
    return field->size;
}

static bool is_same(const sn_access_recorder *a, const sn_access_recorder *b) {
    size_t from = offsetof(sn_access_recorder, trace);
    return !memcmp((const char *)a + from, (const char *)b + from, sizeof *a - from);
}

const sn_access_recorder *sn_access_recorder_of(const sn_access_shape *shape, sn_trace *trace, unsigned records,
                                                unsigned count, const sn_access_field *fields) {
    static sn_access_recorder wanted;
    unsigned stride = records * sn_trace_record_size(trace);
    if (!records || stride > SN_MOST_ACCESS_BYTES || count > SN_MOST_ACCESS_FIELDS)
        sn_fail(SN_STATUS_ENGINE, "the tool makes more of an access than %d fields in %d bytes", SN_MOST_ACCESS_FIELDS,
                SN_MOST_ACCESS_BYTES);
    memset(&wanted, 0, sizeof wanted); /* with the bytes between its members: they are compared */
    wanted.trace = trace;
    wanted.buffer_size = sn_trace_buffer_size(trace);
    wanted.number = sn_trace_number(trace);
    wanted.stride = stride;
    wanted.field_count = count;
    memcpy(&wanted.shape, shape, sizeof *shape);
    for (unsigned i = 0; i < count; i++) {
        const sn_access_field *field = &fields[i];
        wanted.fields[i].offset = field->offset;
        wanted.fields[i].size = (uint8_t)part_size(field, stride);
        wanted.fields[i].part = field->part;
        wanted.fields[i].constant = field->part == SN_ACCESS_CONSTANT ? field->constant : 0;
    }
    wanted.addresses_only = count == 1 && fields->part == SN_ACCESS_ADDRESS && fields->size == 8;
    for (sn_access_recorder *known = recorders; known; known = known->next)
        if (is_same(known, &wanted)) return known;
    sn_access_recorder *made = malloc(sizeof *made);
    if (!made) sn_fail(SN_STATUS_ENGINE, "no memory for what the tool makes of accesses");
    memcpy(made, &wanted, sizeof wanted);
    made->next = recorders;
    return recorders = made;
}

/* ---------------------------------------------------------------------------- records */

/** What all accesses of one kind of one instruction have in common. */
typedef struct access_kind {
    uint32_t size;
    uint8_t role, operand;
} access_kind;

SN_FAST static inline __attribute__((always_inline)) void put(uint64_t at, uint64_t value, unsigned size) {
    switch (size) {
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: *(uint16_t *)at = (uint16_t)value; break;
    case 4: *(uint32_t *)at = (uint32_t)value; break;
    default: *(uint64_t *)at = value;
    }
}

SN_FAST static inline __attribute__((always_inline)) uint64_t part_of(const sn_access_field *field, uint64_t address,
                                                                      const access_kind *kind) {
    switch (field->part) {
    case SN_ACCESS_ADDRESS: return address;
    case SN_ACCESS_SIZE: return kind->size;
    case SN_ACCESS_ROLE: return kind->role;
    case SN_ACCESS_OPERAND: return kind->operand;
    default: return field->constant;
    }
}

/** Make the records of one access at `at`; returns where the next ones go. */
SN_FAST static inline __attribute__((always_inline)) uint64_t make_record(const sn_access_recorder *recorder, uint64_t at,
                                                                          uint64_t address, const access_kind *kind) {
    if (recorder->addresses_only) {
        *(uint64_t *)(at + recorder->fields[0].offset) = address;
        return at + recorder->stride;
    }
    for (unsigned i = 0; i < recorder->field_count; i++) {
        const sn_access_field *field = &recorder->fields[i];
        put(at + field->offset, part_of(field, address, kind), field->size);
    }
    return at + recorder->stride;
}

SN_FAST static inline __attribute__((always_inline)) bool has_room(const sn_thread *thread,
                                                                   const sn_access_recorder *recorder, uint64_t accesses) {
    uint64_t at = thread->traces[recorder->number], end = thread->trace_start[recorder->number] + recorder->buffer_size;
    return at < end && accesses <= (end - at) / recorder->stride;
}

SN_FAST static inline __attribute__((always_inline)) access_kind reading(const sn_access_shape *shape) {
    return (access_kind){UINT32_C(1) << shape->size_log, SN_ROLE_READ, shape->read_operand};
}

SN_FAST static inline __attribute__((always_inline)) access_kind other(const sn_access_shape *shape) {
    return (access_kind){UINT32_C(1) << shape->size_log, shape->other_role, shape->other_operand};
}

void sn_access_recorder_take(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    const sn_access_recorder *recorder = data;
    uint64_t records[SN_MOST_ACCESS_BYTES / sizeof(uint64_t)] = {0};
    unsigned size = sn_trace_record_size(recorder->trace);
    for (size_t i = 0; i < count; i++) {
        access_kind kind = {accesses[i].size, accesses[i].role, accesses[i].operand};
        make_record(recorder, (uint64_t)records, accesses[i].address, &kind);
        for (unsigned done = 0; done < recorder->stride; done += size)
            sn_trace_write(thread, recorder->trace, (char *)records + done);
    }
}

/* ------------------------------------------------------------- lanes under a mask register */

/** Bit N: element N is accessed. */
SN_FAST static inline __attribute__((always_inline)) uint64_t active_elements(const sn_access_shape *shape, uint64_t mask) {
    unsigned lanes = 1u << shape->lanes_log, elements = 1u << shape->elements_log;
    if (lanes < 64) mask &= (UINT64_C(1) << lanes) - 1;
    uint64_t all = elements < 64 ? (UINT64_C(1) << elements) - 1 : UINT64_MAX, packed = 0;
    switch (shape->rule) {
    case SN_LANES_TOGETHER: return mask ? all : 0;
    case SN_LANES_PACKED:
        for (; mask; mask &= mask - 1) packed = packed << 1 | 1;
        return packed;
    default:
        for (; lanes > elements; lanes /= 2) mask |= mask >> lanes / 2;
        return mask & all;
    }
}

SN_FAST static uint64_t append_lanes(sn_thread *thread, const sn_access_recorder *recorder, uint64_t address, uint64_t mask) {
    const sn_access_shape *shape = &recorder->shape;
    if (!has_room(thread, recorder, UINT64_C(1) << shape->elements_log)) return true;
    access_kind kind = shape->read_operand == SN_SHAPE_NO_OPERAND ? other(shape) : reading(shape);
    uint64_t at = thread->traces[recorder->number];
    for (uint64_t active = active_elements(shape, mask); active; active &= active - 1)
        at = make_record(recorder, at, address + ((uint64_t)__builtin_ctzll(active) << shape->size_log), &kind);
    thread->traces[recorder->number] = at;
    return false;
}

/* ----------------------------------------------------------------- repeated instructions */

SN_FAST uint64_t sn_access_recorder_begin(sn_thread *thread, const sn_access_recorder *recorder, uint64_t client,
                                          uint64_t count, uint64_t source, uint64_t destination) {
    const uint8_t *registers = recorder->shape.input_registers;
    thread->repeat.general[registers[0]] = count;
    thread->repeat.general[registers[1]] = source;
    thread->repeat.general[registers[2]] = destination;
    thread->repeat.flags = sn_flags_current();
    thread->repeat.call.function = (void *)sn_access_recorder_take;
    thread->repeat.call.data = (void *)recorder;
    thread->repeat.call.instruction = client;
    thread->repeat.running = true;
    return 0;
}

SN_FAST static uint64_t append_repeated(sn_thread *thread, const sn_access_recorder *recorder, uint64_t left) {
    const sn_access_shape *shape = &recorder->shape;
    const uint64_t *before = thread->repeat.general;
    bool reads = shape->read_operand != SN_SHAPE_NO_OPERAND, others = shape->other_operand != SN_SHAPE_NO_OPERAND;
    uint64_t done = before[shape->input_registers[0]] - left;
    /* Twice a number of iterations that is no larger than the address space is no overflow. */
    if (!has_room(thread, recorder, done << (reads && others))) return true;
    uint64_t source = before[shape->input_registers[1]], destination = before[shape->input_registers[2]];
    uint64_t step = UINT64_C(1) << shape->size_log;
    if (sn_flags_backwards(thread->repeat.flags)) step = -step;
    access_kind read = reading(shape), second = other(shape);
    uint64_t at = thread->traces[recorder->number];
    for (; done; done--, source += step, destination += step) {
        if (reads) at = make_record(recorder, at, source, &read);
        if (others) at = make_record(recorder, at, destination, &second);
    }
    thread->traces[recorder->number] = at;
    thread->repeat.running = false;
    return false;
}

/* -------------------------------------------------------------------- bits and look-up */

/** The bit's number is as wide as the unit that holds it, and signed. */
SN_FAST static uint64_t append_bit(sn_thread *thread, const sn_access_recorder *recorder, uint64_t address, uint64_t number) {
    const sn_access_shape *shape = &recorder->shape;
    if (!has_room(thread, recorder, 2)) return true;
    unsigned unused = 64 - (8u << shape->size_log), unit_bits_log = shape->size_log + 3u;
    int64_t unit = (int64_t)(number << unused) >> unused >> unit_bits_log;
    address += (uint64_t)unit << shape->size_log;
    access_kind read = reading(shape), second = other(shape);
    uint64_t at = make_record(recorder, thread->traces[recorder->number], address, &read);
    if (shape->other_operand != SN_SHAPE_NO_OPERAND) at = make_record(recorder, at, address, &second);
    thread->traces[recorder->number] = at;
    return false;
}

SN_FAST static uint64_t append_entry(sn_thread *thread, const sn_access_recorder *recorder, uint64_t start, uint64_t number) {
    if (!has_room(thread, recorder, 1)) return true;
    access_kind read = reading(&recorder->shape);
    thread->traces[recorder->number] = make_record(recorder, thread->traces[recorder->number], start + number, &read);
    return false;
}

void *sn_access_recorder_function(sn_access_shape_kind kind) {
    static void *const functions[] = {
        [SN_SHAPE_NONE] = NULL,
        [SN_SHAPE_LANES] = (void *)append_lanes,
        [SN_SHAPE_REPEATED] = (void *)append_repeated,
        [SN_SHAPE_BIT] = (void *)append_bit,
        [SN_SHAPE_TABLE] = (void *)append_entry,
    };
    return functions[kind];
}
