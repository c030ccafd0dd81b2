/**
 * @fileoverview Ranges of shadow memory: see <sonde/shadow.h>. Compiled for general registers only, as inserted code may call all
 * of it; eight bytes of shadow at a time.
 *
 * Fewer than 8 bits for each byte: the bytes of shadow at the ends of a range belong to other bytes of the client too, which
 * another thread may be writing at the same time. They are changed atomically.
 */
#include "jit/layout.h"
#include "service/shadow.h"

const sn_shadow_window sn_shadow_windows[2] = {{SN_DATA_START, SN_DATA_END - SN_DATA_START}, {SN_LOW_START, SN_LOW_END - SN_LOW_START}};

/* ------------------------------------------------------------------------------ eight bytes at a time */

SN_FAST uint64_t sn_shadow_repeated(const sn_shadow_memory *memory, uint64_t value) {
    if (memory->bits < 64) value &= (UINT64_C(1) << memory->bits) - 1;
    for (unsigned bits = memory->bits; bits < 64; bits *= 2) value |= value << bits;
    return value;
}

/** Shadows lie at multiples of their size: at a word boundary the pattern begins anew. Volatile: no call of memset() is made of it. */
static SN_FAST void write_by_bytes(uint8_t *at, uint8_t *end, uint64_t pattern) {
    for (uint64_t word = pattern; at < end && (uintptr_t)at % 8; at++, word = word >> 8 | word << 56)
        *(volatile uint8_t *)at = (uint8_t)word;
    for (; end - at >= 8; at += 8) *(volatile uint64_t *)at = pattern;
    for (uint64_t word = pattern; at < end; at++, word >>= 8) *(volatile uint8_t *)at = (uint8_t)word;
}

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));
typedef uint32_t unaligned_half __attribute__((aligned(1), may_alias));

/** Where all bytes of the pattern are the same, pieces may overlap: most ranges are an operand's, or a small block's. */
SN_FAST void sn_shadow_write_pattern(uint8_t *at, uint8_t *end, uint64_t pattern) {
    bool is_same = pattern == (pattern >> 8 | pattern << 56);
    if (!is_same || end - at < 4) {
        write_by_bytes(at, end, pattern);
    } else if (end - at < 8) {
        *(volatile unaligned_half *)at = (uint32_t)pattern;
        *(volatile unaligned_half *)(end - 4) = (uint32_t)pattern;
    } else {
        for (uint8_t *last = end - 8; at < last; at += 8) *(volatile unaligned_word *)at = pattern;
        *(volatile unaligned_word *)(end - 8) = pattern;
    }
}

/* ------------------------------------------------------------------------------- parts of bytes of shadow */

/** Give the bits of `mask` in a byte the values that they have in `bits`. */
static SN_FAST void put_bits(uint8_t *at, uint8_t mask, uint8_t bits) {
    uint8_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, (uint8_t)((old & ~mask) | (bits & mask)), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
}

/** The bits of a byte of shadow that belong to client bytes from `first` to before `last`, counted from the byte's first one. */
static SN_FAST uint8_t mask_between(const sn_shadow_memory *memory, unsigned first, unsigned last) {
    return (uint8_t)((0xffu << (first << memory->bits_log)) & (0xffu >> (8 - (last << memory->bits_log))));
}

/** Client bytes for each byte of shadow. */
static SN_FAST unsigned per_byte(const sn_shadow_memory *memory) { return memory->bits < 8 ? 8u >> memory->bits_log : 1; }

/* ------------------------------------------------------------------------------------------------ filling */

SN_FAST void sn_shadow_fill(const sn_shadow_memory *memory, uint64_t address, uint64_t size, uint64_t value) {
    uint64_t pattern = sn_shadow_repeated(memory, value), end = address + size;
    unsigned group = per_byte(memory), first = (unsigned)(address % group);
    if (!size) return;
    if (first) {
        unsigned last = size < group - first ? first + (unsigned)size : group;
        put_bits(sn_shadow_at(memory, address), mask_between(memory, first, last), (uint8_t)pattern);
        address += last - first;
    }
    if (address < end && end % group) {
        put_bits(sn_shadow_at(memory, end), mask_between(memory, 0, (unsigned)(end % group)), (uint8_t)pattern);
        end -= end % group;
    }
    if (address >= end) return;
    uint8_t *at = sn_shadow_at(memory, address);
    uint8_t *stop = at + (memory->bits < 8 ? (end - address) / group : (end - address) << (memory->bits_log - 3));
    if (stop - at < SN_SHADOW_LARGE || !sn_shadow_fill_large(memory, at, stop, pattern)) sn_shadow_write_pattern(at, stop, pattern);
}

/* ------------------------------------------------------------------------------------------------ copying */

/** What is the same already is not written: of large ranges with one value, no memory is taken. */
static SN_FAST void copy_word(uint8_t *to, const uint8_t *from) {
    uint64_t word = *(const uint64_t *)from;
    if (*(const uint64_t *)to != word) *(volatile uint64_t *)to = word;
}

static SN_FAST void copy_up(uint8_t *to, const uint8_t *from, uint64_t bytes) {
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8) copy_word(to, from);
    for (; bytes; bytes--) *(volatile uint8_t *)to++ = *from++;
}

static SN_FAST void copy_down(uint8_t *to, const uint8_t *from, uint64_t bytes) {
    to += bytes;
    from += bytes;
    for (; bytes >= 8; bytes -= 8) to -= 8, from -= 8, copy_word(to, from);
    for (; bytes; bytes--) *(volatile uint8_t *)--to = *--from;
}

/** Byte by byte of the client: where the two lie differently within bytes of shadow. */
static SN_FAST void copy_apart(const sn_shadow_memory *memory, uint64_t to, uint64_t from, uint64_t size) {
    bool down = to - from < size;
    for (uint64_t i = 0; i < size; i++) {
        uint64_t offset = down ? size - 1 - i : i;
        sn_shadow_fill(memory, to + offset, 1, sn_shadow_get(memory, from + offset));
    }
}

SN_FAST void sn_shadow_copy(const sn_shadow_memory *memory, uint64_t to, uint64_t from, uint64_t size) {
    unsigned group = per_byte(memory);
    if (to == from || !size) return;
    if ((to ^ from) % group) {
        copy_apart(memory, to, from, size);
        return;
    }
    bool down = to - from < size;
    uint64_t head = (group - to % group) % group, tail;
    head = head < size ? head : size;
    tail = (size - head) % group;
    uint64_t middle = size - head - tail;
    uint64_t bytes = memory->bits < 8 ? middle / group : middle << (memory->bits_log - 3);
    if (down) copy_apart(memory, to + size - tail, from + size - tail, tail);
    else copy_apart(memory, to, from, head);
    (down ? copy_down : copy_up)(sn_shadow_at(memory, to + head), sn_shadow_at(memory, from + head), bytes);
    if (down) copy_apart(memory, to, from, head);
    else copy_apart(memory, to + size - tail, from + size - tail, tail);
}

/* ---------------------------------------------------------------------------------------------- searching */

SN_FAST uint64_t sn_shadow_find_other(const sn_shadow_memory *memory, uint64_t address, uint64_t end, uint64_t value) {
    uint64_t pattern = sn_shadow_repeated(memory, value), per_word = 64u >> memory->bits_log;
    uint64_t start = address & ~(per_word - 1); /* a word of shadow is read whole: what lies beside it is of the same page */
    uint64_t wanted = UINT64_MAX << ((address - start) << memory->bits_log);
    for (; start < end; start += per_word, wanted = UINT64_MAX) {
        uint64_t other = (*(const uint64_t *)sn_shadow_at(memory, start) ^ pattern) & wanted;
        if (!other) continue;
        uint64_t found = start + ((uint64_t)__builtin_ctzll(other) >> memory->bits_log);
        return found < end ? found : end;
    }
    return end;
}

unsigned sn_shadow_labels_of_text(const sn_shadow_memory *memory, uint64_t address) {
    unsigned labels = 0;
    if (address < SN_PAGE_SIZE) return 0;
    for (; sn_shadow_covers(address, 1); address++) {
        labels |= sn_shadow_labels(sn_shadow_get(memory, address));
        if (!*(const volatile char *)address) break;
    }
    return labels;
}

/* ------------------------------------------------------------------------------- called from inserted code */

SN_FAST uint64_t sn_shadow_load_anywhere(const sn_shadow_memory *memory, uint64_t address, uint64_t size) {
    uint64_t result = 0;
    if (!sn_shadow_covers(address, size)) return 0;
    for (uint64_t i = 0; i < size; i++) result |= sn_shadow_get(memory, address + i) << (i << memory->bits_log);
    return result;
}

SN_FAST void sn_shadow_store_bits(const sn_shadow_memory *memory, uint64_t address, uint64_t size, uint64_t value) {
    unsigned group = per_byte(memory);
    while (size) {
        unsigned first = (unsigned)(address % group), last = size < group - first ? first + (unsigned)size : group;
        uint8_t mask = mask_between(memory, first, last);
        uint8_t bits = (uint8_t)(value << (first << memory->bits_log));
        put_bits(sn_shadow_at(memory, address), mask, bits);
        value >>= (last - first) << memory->bits_log;
        address += last - first;
        size -= last - first;
    }
}
