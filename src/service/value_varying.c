/**
 * @fileoverview Values of accesses that are known only when an instruction runs, and of those that are too large for a
 * record: noted in C, as rows. See values.h.
 *
 * What is read is noted before the instruction; of what is written the place is kept until it has ended, and, if they are
 * wanted, the bytes before. Repeated string instructions tell of their accesses when they have ended: what they read is then
 * where they have copied it to, and bytes before are those of the whole destination, copied before the first repetition.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sonde/vector.h"
#include "guest/thread.h"
#include "jit/analysis.h"
#include "jit/runtime.h"
#include "jit/trace.h"
#include "service/values.h"

/** One instruction, once for each block that it is in. Never freed: code may run until the end. */
typedef struct varying_instruction {
    sn_instruction instruction;
    unsigned operand_count;
    struct {
        sn_operand operand;
        uint8_t moments;
        uint64_t information;
        _Atomic uint64_t known[2]; /**< the last site of what is read, and of what is written: size, and its number plus 1 */
    } operands[];
} varying_instruction;

/** What the thread will append when the instruction has ended. */
typedef struct waiting_write {
    uint64_t address;
    uint32_t site;
    uint16_t size;
    bool has_old;
    uint8_t old[SN_VALUES_LARGEST];
} waiting_write;

struct sn_value_waiting {
    SN_VECTOR(waiting_write) writes;
    SN_VECTOR(uint8_t) overwritten; /**< of a repeated instruction: what its destination held, */
    uint64_t overwritten_at;        /**< from here on */
    uint8_t state[SN_VALUES_MOST_STATE][SN_VALUES_LARGEST_STATE]; /**< what an instruction's registers held: value_state.c */
    uint8_t top;                    /**< and where the top of their stack was */
};

uint8_t *sn_values_waiting_state(sn_value_waiting *waiting, unsigned number) { return waiting->state[number]; }
uint8_t *sn_values_waiting_top(sn_value_waiting *waiting) { return &waiting->top; }

sn_value_waiting *sn_values_waiting_new(void) {
    sn_value_waiting *made = calloc(1, sizeof *made);
    if (!made) sn_fail(SN_STATUS_ENGINE, "no memory for values");
    return made;
}

void sn_values_waiting_free(sn_value_waiting *waiting) {
    sn_vector_release(&waiting->writes);
    sn_vector_release(&waiting->overwritten);
    free(waiting);
}

static void forget(sn_value_waiting *waiting) {
    waiting->writes.count = 0;
    waiting->overwritten.count = 0;
}

void sn_values_forget_varying(sn_thread *thread) {
    sn_value_waiting *waiting = sn_values_waiting_of(thread);
    if (waiting) forget(waiting);
}

/* ------------------------------------------------------------------------- rows */

/** Put the bytes, with zeros behind them, at `to`; returns where to go on. */
static uint64_t *put_bytes(uint64_t *to, const void *bytes, uint32_t size) {
    unsigned words = sn_values_words_of(size);
    to[words - 1] = 0;
    memcpy(to, bytes, size);
    return to + words;
}

void sn_values_put_row(sn_thread *thread, uint32_t site, uint64_t address, uint32_t size, uint8_t moment, const void *value,
                       const void *old) {
    uint64_t words[SN_VALUES_ROW_WORDS + 2 * SN_VALUES_LARGEST / 8], *end = words + SN_VALUES_ROW_WORDS;
    words[0] = SN_VALUES_TAGS + SN_VALUES_ROWS + site;
    words[1] = sn_values.has_context ? sn_context_of(thread) : SN_NO_CONTEXT;
    words[2] = address;
    words[3] = sn_values_row_word(size, moment, value != NULL);
    if (value) end = put_bytes(end, value, size);
    if (old) end = put_bytes(end, old, size);
    sn_trace_write_several(thread, sn_values.trace, (unsigned)(end - words), words);
}

void sn_values_write_row(sn_thread *thread, uint32_t site, uint64_t address, uint32_t size, uint8_t moment, const void *old) {
    /* Without values a row is as large as its size has bits. */
    enum { MOST_BARE = 0x8000 };
    uint8_t bytes[SN_VALUES_LARGEST];
    uint32_t most = sn_values.has_bytes ? SN_VALUES_LARGEST : MOST_BARE;
    for (uint32_t done = 0, part; done < size; done += part) {
        part = size - done < most ? size - done : most;
        bool readable = sn_values.has_bytes && sn_copy_safely(bytes, (const void *)(address + done), part);
        if (sn_values.has_bytes && !readable) continue; /* gone meanwhile */
        sn_values_put_row(thread, site, address + done, part, moment, readable ? bytes : NULL, old);
    }
}

/** The site's number. Mostly all accesses of an operand have one size. */
static uint32_t site_for(varying_instruction *varying, unsigned operand, uint8_t moment, uint32_t size) {
    _Atomic uint64_t *known = &varying->operands[operand].known[moment == SN_VALUES_READ ? 0 : 1];
    uint64_t last = atomic_load_explicit(known, memory_order_acquire);
    if (last && last >> 32 == size) return (uint32_t)last - 1;
    sn_value_site site = sn_value_site_of(&varying->instruction, &varying->operands[operand].operand, operand, moment, size,
                                          varying->operands[operand].information);
    uint32_t number = sn_value_site_number(&site);
    atomic_store_explicit(known, (uint64_t)size << 32 | (number + 1), memory_order_release);
    return number;
}

/* ------------------------------------------------------------------- single accesses */

static void keep_write(sn_value_waiting *waiting, uint32_t site, uint64_t address, uint32_t size, bool keeps_old) {
    uint32_t part;
    for (uint32_t done = 0; done < size; done += part) {
        part = size - done < SN_VALUES_LARGEST ? size - done : SN_VALUES_LARGEST;
        waiting_write *write = sn_vector_add(&waiting->writes);
        write->address = address + done;
        write->site = site;
        write->size = (uint16_t)part;
        write->has_old = keeps_old && sn_copy_safely(write->old, (const void *)write->address, part);
    }
}

static void note_access(sn_thread *thread, varying_instruction *varying, const sn_access *access) {
    unsigned operand = access->operand;
    if (operand >= varying->operand_count) return;
    uint8_t moments = varying->operands[operand].moments;
    if ((access->role & SN_ROLE_READ) && (moments & SN_VALUES_READ))
        sn_values_write_row(thread, site_for(varying, operand, SN_VALUES_READ, access->size), access->address, access->size,
                            SN_VALUES_READ, NULL);
    if ((access->role & SN_ROLE_WRITTEN) && (moments & SN_VALUES_WRITTEN))
        keep_write(sn_values_waiting_of(thread), site_for(varying, operand, SN_VALUES_WRITTEN, access->size), access->address,
                   access->size, moments & SN_VALUES_OVERWRITTEN);
}

/** The instruction has ended. */
static void write_waiting(sn_thread *thread) {
    sn_value_waiting *waiting = sn_values_waiting_of(thread);
    for (size_t i = 0; waiting && i < waiting->writes.count; i++) {
        const waiting_write *write = &waiting->writes.items[i];
        uint8_t moment = SN_VALUES_WRITTEN | (write->has_old ? SN_VALUES_OVERWRITTEN : 0);
        sn_values_write_row(thread, write->site, write->address, write->size, moment, write->has_old ? write->old : NULL);
    }
    if (waiting) forget(waiting);
}

/* ------------------------------------------------------------- repeated instructions */

/** Before the first repetition: what is behind the start of the destination, which may be overwritten. */
static void keep_destination(sn_thread *thread, uint64_t start, uint64_t count, uint64_t size) {
    sn_value_waiting *waiting = sn_values_waiting_of(thread);
    if (!waiting) return;
    forget(waiting);
    waiting->overwritten_at = start;
    for (uint64_t done = 0, part, bytes = count * size; done < bytes; done += part) {
        part = bytes - done < 4096 ? bytes - done : 4096;
        size_t had = waiting->overwritten.count;
        sn_vector_reserve(&waiting->overwritten, had + part);
        if (!sn_copy_safely(waiting->overwritten.items + had, (const void *)(start + done), part)) break;
        waiting->overwritten.count = had + part;
    }
}

static const void *overwritten_bytes(const sn_value_waiting *waiting, uint64_t address, uint32_t size) {
    uint64_t offset = address - waiting->overwritten_at;
    bool is_known = offset < waiting->overwritten.count && size <= waiting->overwritten.count - offset;
    return is_known ? waiting->overwritten.items + offset : NULL;
}

/** `copied_to` is the access behind a read if that is a copy's write, else NULL. */
static void note_repetition(sn_thread *thread, varying_instruction *varying, const sn_access *access,
                            const sn_access *copied_to) {
    unsigned operand = access->operand;
    bool is_read = access->role & SN_ROLE_READ;
    uint8_t moment = is_read ? SN_VALUES_READ : SN_VALUES_WRITTEN, bytes[8];
    if (operand >= varying->operand_count || !(varying->operands[operand].moments & moment)) return;
    uint32_t site = site_for(varying, operand, moment, access->size);
    const sn_access *from = copied_to ? copied_to : access;
    const void *old = NULL;
    if (!is_read && (varying->operands[operand].moments & SN_VALUES_OVERWRITTEN))
        old = overwritten_bytes(sn_values_waiting_of(thread), access->address, access->size);
    if (old) moment |= SN_VALUES_OVERWRITTEN;
    if (!sn_values.has_bytes) sn_values_put_row(thread, site, access->address, access->size, moment, NULL, NULL);
    else if (access->size <= sizeof bytes && sn_copy_safely(bytes, (const void *)from->address, access->size))
        sn_values_put_row(thread, site, access->address, access->size, moment, bytes, old);
}

static void take_accesses(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    varying_instruction *varying = data;
    if (!sn_values_waiting_of(thread)) return; /* a process that shares its parent's memory */
    for (size_t i = 0; i < count; i++) {
        if (!varying->instruction.repeated) {
            note_access(thread, varying, &accesses[i]);
            continue;
        }
        bool is_copy = accesses[i].role == SN_ROLE_READ && i + 1 < count && accesses[i + 1].role == SN_ROLE_WRITTEN;
        note_repetition(thread, varying, &accesses[i], is_copy ? &accesses[i + 1] : NULL);
    }
}

/* --------------------------------------------------------------------- inserting */

static varying_instruction *describe(sn_block *block, unsigned index, const sn_operand *operands, unsigned count) {
    varying_instruction *varying = calloc(1, sizeof *varying + count * sizeof *varying->operands);
    if (!varying) sn_fail(SN_STATUS_ENGINE, "no memory for what is known of values");
    varying->instruction = *sn_block_instruction(block, index);
    varying->operand_count = count;
    for (unsigned i = 0; i < count; i++) varying->operands[i].operand = operands[i];
    return varying;
}

/** The general register that counts: the one that is read and written and is no address. */
static bool find_count(const sn_operand *operands, unsigned count, const sn_operand *destination, unsigned *found) {
    uint32_t addresses = 0;
    for (unsigned i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_MEMORY && operands[i].base < 32) addresses |= 1u << operands[i].base;
    for (unsigned i = 0; i < count; i++) {
        bool counts = operands[i].place == SN_PLACE_GENERAL && operands[i].role == SN_ROLE_BOTH &&
                      operands[i].reg != destination->base && !(addresses >> operands[i].reg & 1);
        if (counts) return *found = i, true;
    }
    return false;
}

static bool find_register(const sn_operand *operands, unsigned count, uint8_t reg, unsigned *found) {
    for (unsigned i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_GENERAL && operands[i].reg == reg && (operands[i].role & SN_ROLE_READ))
            return *found = i, true;
    return false;
}

/** Before a repeated instruction that overwrites what is wanted. */
static void insert_keeping(sn_block *block, const varying_instruction *varying, unsigned written) {
    unsigned count = varying->operand_count, counting, pointing;
    sn_operand operands[64];
    for (unsigned i = 0; i < count; i++) operands[i] = varying->operands[i].operand;
    const sn_operand *destination = &operands[written];
    if (!find_count(operands, count, destination, &counting) || !find_register(operands, count, destination->base, &pointing))
        return;
    sn_value arguments[] = {sn_current_thread(block), sn_operand_value(block, pointing), sn_operand_value(block, counting),
                            sn_constant(block, destination->size)};
    sn_call(block, (void *)keep_destination, 4, arguments);
}

static void insert_write_waiting(sn_block *block, unsigned index) {
    sn_insert_after(block, index);
    sn_value thread = sn_current_thread(block);
    sn_call(block, (void *)write_waiting, 1, &thread);
    sn_insert_before(block, index);
}

void sn_values_insert_varying(sn_block *block, unsigned index) {
    unsigned count, written = 0;
    const sn_operand *listed = sn_block_operands(block, index, &count);
    varying_instruction *varying = describe(block, index, listed, count);
    uint8_t all = 0;
    for (unsigned i = 0; i < count; i++) {
        sn_operand operand = listed[i];
        if (operand.place != SN_PLACE_MEMORY) continue;
        if (!operand.size) operand.size = 8; /* it varies; pieces of 8 bytes are told */
        varying->operands[i].moments = sn_values_wanted(&varying->instruction, &operand, &varying->operands[i].information);
        all |= varying->operands[i].moments;
        if (varying->operands[i].moments & SN_VALUES_WRITTEN) written = i;
    }
    if (!(all & (SN_VALUES_READ | SN_VALUES_WRITTEN))) {
        free(varying);
        return;
    }
    sn_insert_before(block, index);
    if (varying->instruction.repeated && (all & SN_VALUES_OVERWRITTEN)) insert_keeping(block, varying, written);
    sn_insert_accesses(block, index, take_accesses, varying);
    if (!varying->instruction.repeated && (all & SN_VALUES_WRITTEN)) insert_write_waiting(block, index);
}

/* ------------------------------------------------------------------ large operands */

static void take_bulk(sn_thread *thread, uint64_t address, varying_instruction *varying, uint64_t operand) {
    const sn_operand *of = &varying->operands[operand].operand;
    if (!sn_values_waiting_of(thread)) return;
    sn_access access = {.address = address, .operand = (uint8_t)operand};
    for (uint32_t done = 0; done < of->size; done += access.size) {
        access.address = address + done;
        access.size = of->size - done < SN_VALUES_LARGEST ? of->size - done : SN_VALUES_LARGEST;
        access.role = of->role;
        note_access(thread, varying, &access);
    }
}

void sn_values_insert_bulk(sn_block *block, unsigned index, unsigned operand, uint8_t moment, uint64_t information) {
    unsigned count;
    const sn_operand *listed = sn_block_operands(block, index, &count);
    varying_instruction *varying = describe(block, index, listed, count);
    varying->operands[operand].moments = moment;
    varying->operands[operand].information = information;
    sn_insert_before(block, index);
    sn_value arguments[] = {sn_current_thread(block), sn_operand_address(block, operand),
                            sn_constant(block, (uint64_t)(uintptr_t)varying), sn_constant(block, operand)};
    sn_call(block, (void *)take_bulk, 4, arguments);
    if (moment & SN_VALUES_WRITTEN) insert_write_waiting(block, index);
}
