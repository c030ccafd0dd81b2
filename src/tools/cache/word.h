/**
 * @fileoverview The words of the trace: 8 bytes each, in the order in which a thread does things.
 *
 * An address (bit 63 clear) belongs to the next slot of the block that was entered last: see record.h. All else is a mark
 * with bit 63 set. Those that emitted code writes are all ones down to bit 31, which makes them constants that a store
 * instruction holds. An address of a wild access may look like a mark: each mark is understood by itself, so that then
 * no more than this block's pass, which faults anyway, is taken for something else.
 */
#ifndef SONDE_TOOLS_CACHE_WORD_H
#define SONDE_TOOLS_CACHE_WORD_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHE_WORD_ADDRESS_BITS = 48, CACHE_WORD_MOST_INSTRUCTIONS = 64, CACHE_WORD_MOST_SIZE = 64 };

static const uint64_t cache_word_emitted = UINT64_C(0xffffffff80000000);
static const uint64_t cache_word_exit_bit = UINT64_C(1) << 30;

static inline bool cache_word_is_mark(uint64_t word) {
    return word >> 63 != 0;
}

/** What bits 62 and 61 of a mark say. */
enum { CACHE_MARK_ACCESS = 0, CACHE_MARK_CUT = 1, CACHE_MARK_EMITTED = 3 };

static inline unsigned cache_word_kind(uint64_t mark) {
    return mark >> 61 & 3;
}

/** The block of record `number` is entered (number below 2^30). */
static inline uint64_t cache_word_entry(uint32_t number) {
    return cache_word_emitted | number;
}

/** The block is left by its way out `number`. */
static inline uint64_t cache_word_exit(uint32_t number) {
    return cache_word_emitted | cache_word_exit_bit | number;
}

static inline bool cache_word_is_exit(uint64_t emitted) {
    return (emitted & cache_word_exit_bit) != 0;
}

static inline uint32_t cache_word_number(uint64_t emitted) {
    return (uint32_t)(emitted & (cache_word_exit_bit - 1));
}

/** An access of an instruction whose accesses vary: its index in the block, at most 64 bytes. */
static inline uint64_t cache_word_access(unsigned instruction, bool is_write, uint64_t address, uint32_t size) {
    return UINT64_C(1) << 63 | (uint64_t)is_write << 60 | (uint64_t)(size - 1) << 54 |
           (uint64_t)instruction << CACHE_WORD_ADDRESS_BITS | (address & ((UINT64_C(1) << CACHE_WORD_ADDRESS_BITS) - 1));
}

static inline bool cache_word_is_write(uint64_t access) {
    return (access >> 60 & 1) != 0;
}

static inline uint32_t cache_word_size(uint64_t access) {
    return (access >> 54 & 63) + 1;
}

static inline unsigned cache_word_instruction(uint64_t access) {
    return access >> CACHE_WORD_ADDRESS_BITS & 63;
}

static inline uint64_t cache_word_address(uint64_t access) {
    return access & ((UINT64_C(1) << CACHE_WORD_ADDRESS_BITS) - 1);
}

/** A signal or fault ended the pass through record `number` when `completed` of its instructions had been executed. */
static inline uint64_t cache_word_cut(uint32_t number, unsigned completed) {
    return UINT64_C(1) << 63 | (uint64_t)CACHE_MARK_CUT << 61 | (uint64_t)number << 8 | completed;
}

static inline uint32_t cache_word_cut_number(uint64_t cut) {
    return cut >> 8 & (cache_word_exit_bit - 1);
}

static inline unsigned cache_word_completed(uint64_t cut) {
    return cut & 0xff;
}

#endif
