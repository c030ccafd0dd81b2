/**
 * @fileoverview Lists of what system calls read and write: see system_call_ranges.h.
 */
#include "guest/system_call_ranges.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "sonde/arena.h"
#include "jit/runtime.h"

/** What the kernel takes at most, and what a client can mean at most. */
enum { MOST_VECTORS = 1024, MOST_STRINGS = 1 << 20, MOST_STRING = 1 << 25 };

bool sn_ranges_read(void *to, uint64_t from, size_t size) { return from && sn_copy_safely(to, (const void *)from, size); }

/* -------------------------------------------------------------------------- list */

static size_t bytes_of(size_t room) { return room * (sizeof(sn_system_range) + sizeof(sn_range_end)); }

/** The ranges of a list that grew share their pages with the ends, which lie in front. */
static void grow(sn_call_ranges *list) {
    size_t room = list->room * 4;
    sn_range_end *ends = sn_pages_allocate(bytes_of(room));
    sn_system_range *ranges = (sn_system_range *)(ends + room);
    memcpy(ends, list->ends, list->count * sizeof *ends);
    memcpy(ranges, list->ranges, list->count * sizeof *ranges);
    sn_call_ranges_release(list);
    list->ends = ends;
    list->ranges = ranges;
    list->room = room;
}

void sn_call_ranges_release(sn_call_ranges *list) {
    if (list->ranges != list->inside) sn_pages_release(list->ends, bytes_of(list->room));
    list->ranges = list->inside;
    list->ends = list->inside_ends;
}

static void add_one(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t start, uint64_t size,
                    const sn_range_end *end) {
    if (list->count == list->room) grow(list);
    list->ranges[list->count] = (sn_system_range){start, size, (uint8_t)role, (uint8_t)argument};
    list->ends[list->count] = end ? *end : (sn_range_end){0};
    list->count++;
}

void sn_ranges_add(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t start, uint64_t size,
                   const sn_range_end *end) {
    if (!start || !size) return;
    if (start + size < start) size = 0 - start; /* to the end of the address space */
    if (role & SN_ROLE_READ) add_one(list, argument, SN_ROLE_READ, start, size, NULL);
    if (role & SN_ROLE_WRITTEN) add_one(list, argument, SN_ROLE_WRITTEN, start, size, end);
}

/* ----------------------------------------------------------------------- contents */

/** Bytes of a string with its zero byte, or up to where it cannot be read. */
static uint64_t string_size(uint64_t start, uint64_t most) {
    uint64_t size = 0;
    while (size < most) {
        char piece[64];
        size_t wanted = sizeof piece - ((start + size) & (sizeof piece - 1));
        if (!sn_ranges_read(piece, start + size, wanted)) return size ? size : 1;
        const char *end = memchr(piece, 0, wanted);
        if (end) size += (uint64_t)(end - piece) + 1;
        else size += wanted;
        if (end) break;
    }
    return size < most ? size : most;
}

static void add_string(sn_call_ranges *list, unsigned argument, uint64_t start, uint64_t most) {
    if (start) sn_ranges_add(list, argument, SN_ROLE_READ, start, string_size(start, most ? most : MOST_STRING), NULL);
}

static void add_strings(sn_call_ranges *list, unsigned argument, uint64_t vector) {
    uint64_t count = 0, word;
    while (count < MOST_STRINGS && sn_ranges_read(&word, vector + 8 * count, 8) && word) count++;
    sn_ranges_add(list, argument, SN_ROLE_READ, vector, 8 * (count + 1), NULL);
    for (uint64_t i = 0; i < count; i++)
        if (sn_ranges_read(&word, vector + 8 * i, 8)) add_string(list, argument, word, 0);
}

void sn_ranges_add_vector(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t vector, uint64_t count,
                          const sn_range_end *end) {
    if (count > MOST_VECTORS) return; /* EINVAL */
    sn_ranges_add(list, argument, SN_ROLE_READ, vector, count * sizeof(struct iovec), NULL);
    sn_range_end part = end ? *end : (sn_range_end){0};
    for (uint64_t i = 0; i < count; i++) {
        struct iovec piece;
        if (!sn_ranges_read(&piece, vector + i * sizeof piece, sizeof piece)) return;
        sn_ranges_add(list, argument, role, (uint64_t)piece.iov_base, piece.iov_len, &part);
        if (piece.iov_base && piece.iov_len) part.continues = true;
    }
}

void sn_ranges_add_message(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t message,
                           const sn_range_end *contents, const sn_range_end *end) {
    struct msghdr header;
    const uint64_t name_length = message + offsetof(struct msghdr, msg_namelen);
    const uint64_t control_length = message + offsetof(struct msghdr, msg_controllen);
    if (!message) return;
    /* All but the flags, which the kernel only ever writes, and the padding. */
    sn_ranges_add(list, argument, SN_ROLE_READ, message, offsetof(struct msghdr, msg_namelen) + 4, NULL);
    sn_ranges_add(list, argument, SN_ROLE_READ, message + offsetof(struct msghdr, msg_iov),
                  offsetof(struct msghdr, msg_flags) - offsetof(struct msghdr, msg_iov), NULL);
    if (!sn_ranges_read(&header, message, sizeof header)) return;
    sn_range_end named = *end, control = *end;
    named.amount_at = name_length;
    named.word = 4;
    named.unit = 1;
    control.amount_at = control_length;
    control.word = 8;
    control.unit = 1;
    sn_ranges_add(list, argument, role, (uint64_t)header.msg_name, header.msg_namelen, &named);
    sn_ranges_add_vector(list, argument, role, (uint64_t)header.msg_iov, header.msg_iovlen, contents);
    sn_ranges_add(list, argument, role, (uint64_t)header.msg_control, header.msg_controllen, &control);
    if (role != SN_ROLE_WRITTEN) return;
    if (header.msg_name) sn_ranges_add(list, argument, role, name_length, 4, end);
    sn_ranges_add(list, argument, role, control_length, 8, end);
    sn_ranges_add(list, argument, role, message + offsetof(struct msghdr, msg_flags), 4, end);
}

/** A buffer and the number that says how long it is, and afterwards how much was written. */
static void add_length_at(sn_call_ranges *list, unsigned at, unsigned length_argument) {
    uint64_t length_at = list->arguments[length_argument];
    uint32_t length;
    sn_ranges_add(list, length_argument, SN_ROLE_BOTH, length_at, sizeof length, NULL);
    if (!sn_ranges_read(&length, length_at, sizeof length)) return;
    sn_ranges_add(list, at, SN_ROLE_WRITTEN, list->arguments[at], length,
                  &(sn_range_end){.amount_at = length_at, .word = sizeof length, .unit = 1});
}

static void add_sized(sn_call_ranges *list, unsigned at, const sn_argument *argument) {
    uint32_t size = 0;
    uint64_t start = list->arguments[at];
    if (start && !sn_ranges_read(&size, start + argument->extra, sizeof size)) size = 0;
    sn_ranges_add(list, at, SN_ROLE_READ, start, size ? size : argument->size, NULL);
    /* With E2BIG the kernel says which size it knows. */
    sn_ranges_add(list, at, SN_ROLE_WRITTEN, start + argument->extra, start ? sizeof size : 0,
                  &(sn_range_end){.least = SN_NEVER, .error = E2BIG});
}

/** a * size + extra, or the greatest number if that is too much. */
static uint64_t scaled(uint64_t a, const sn_argument *argument) {
    uint64_t product;
    return __builtin_mul_overflow(a, argument->size, &product) ||
                   __builtin_add_overflow(product, argument->extra, &product)
               ? UINT64_MAX
               : product;
}

static sn_range_end end_of(const sn_argument *argument) {
    sn_range_end end = {0};
    switch (argument->end) {
    case SN_END_POSITIVE: end.least = 1; break;
    case SN_END_TEXT: end.is_text = true; break;
    case SN_END_INTERRUPTED: end.error = EINTR; break;
    case SN_END_RESULT:
        end.by_result = true;
        end.unit = argument->size ? argument->size : 1;
        end.extra = argument->extra;
        break;
    default: break;
    }
    return end;
}

void sn_ranges_add_argument(sn_call_ranges *list, unsigned at, const sn_argument *argument) {
    uint64_t start = list->arguments[at], length = list->arguments[argument->length];
    sn_range_end end = end_of(argument);
    switch (argument->kind) {
    case SN_ARGUMENT_STRING: add_string(list, at, start, argument->size); break;
    case SN_ARGUMENT_STRINGS: add_strings(list, at, start); break;
    case SN_ARGUMENT_FIXED: sn_ranges_add(list, at, argument->role, start, argument->size, &end); break;
    case SN_ARGUMENT_BUFFER: sn_ranges_add(list, at, argument->role, start, scaled(length, argument), &end); break;
    case SN_ARGUMENT_BITS:
        if (length > argument->extra)
            sn_ranges_add(list, at, argument->role, start, (length - argument->extra + 63) / 64 * 8, &end);
        break;
    case SN_ARGUMENT_VECTOR: sn_ranges_add_vector(list, at, argument->role, start, length, &end); break;
    case SN_ARGUMENT_LENGTH_AT: add_length_at(list, at, argument->length); break;
    case SN_ARGUMENT_SIZED: add_sized(list, at, argument); break;
    case SN_ARGUMENT_MESSAGE:
        sn_ranges_add_message(list, at, argument->role, start, &(sn_range_end){.by_result = true, .unit = 1},
                              &(sn_range_end){0});
        break;
    default: break;
    }
}

void sn_ranges_add_cases(sn_call_ranges *list, sn_call_set set, uint32_t value) {
    const sn_call_case *first = sn_call_case_first(set, value), *end = sn_call_cases + sn_call_case_count;
    for (const sn_call_case *chosen = first; chosen && chosen < end; chosen++) {
        if (chosen->set != set || chosen->value != value) continue;
        sn_ranges_add_argument(list, chosen->at, &chosen->argument);
        if (chosen->more) sn_call_functions[chosen->more].begin(list);
    }
}

/* ------------------------------------------------------------------ before, after */

void sn_call_ranges_begin(sn_call_ranges *list, uint64_t number, const uint64_t arguments[6]) {
    list->number = number;
    list->arguments = arguments;
    list->row = sn_call_row_of(number);
    list->ranges = list->inside;
    list->ends = list->inside_ends;
    list->room = SN_RANGES_INSIDE;
    list->count = 0;
    if (!list->row) return;
    for (unsigned i = 0; i < 6; i++)
        if (list->row->arguments[i].kind) sn_ranges_add_argument(list, i, &list->row->arguments[i]);
    if (list->row->chosen.set) {
        uint32_t value = (uint32_t)arguments[list->row->chosen.argument] >> list->row->chosen.shift;
        sn_ranges_add_cases(list, list->row->chosen.set, value);
    }
    if (list->row->more) sn_call_functions[list->row->more].begin(list);
}

static bool counts(const sn_range_end *end, int64_t result) {
    if (end->error && (result == -end->error || (end->error == EINTR && result == SN_CALL_BEGUN_ANEW))) return true;
    return result >= end->least && result >= 0 && (!end->only_zero || result == 0);
}

/** How much was written of a range and those that continue it. */
static uint64_t amount(const sn_range_end *end, int64_t result) {
    uint64_t number = 0;
    if (end->by_result) number = (uint64_t)result;
    else if (!end->word) return UINT64_MAX;
    else if (!sn_ranges_read(&number, end->amount_at, end->word)) return 0;
    return number * end->unit + end->extra;
}

void sn_call_ranges_end(sn_call_ranges *list, int64_t result) {
    size_t kept = 0;
    uint64_t left = 0;
    for (size_t i = 0; i < list->count; i++) {
        sn_system_range range = list->ranges[i];
        const sn_range_end *end = &list->ends[i];
        if (range.role != SN_ROLE_WRITTEN || !counts(end, result)) continue;
        if (!end->continues) left = end->is_text ? string_size(range.start, range.size) : amount(end, result);
        if (range.size > left) range.size = left;
        left -= range.size;
        if (range.size) list->ranges[kept++] = range;
    }
    list->count = kept;
    /* What the function adds now stands behind, each with its own end. */
    if (list->row && list->row->more && sn_call_functions[list->row->more].end)
        sn_call_functions[list->row->more].end(list, result);
}
