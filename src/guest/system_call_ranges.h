/**
 * @fileoverview The memory that a system call of the client reads and writes, as a list of ranges.
 *
 * Used by events.c around each call, if the tool asks for them: first all that the kernel may read or write, then what it
 * wrote, as far as the result and what it left in memory tell. What is known of a call is in system_call_table.c; the
 * functions for what no table can say are in system_call_more.c and add to the list by what is declared here. The client's
 * memory is only ever copied safely: its words may lead anywhere.
 */
#ifndef SONDE_GUEST_SYSTEM_CALL_RANGES_H
#define SONDE_GUEST_SYSTEM_CALL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/system_call_table.h"
#include "sonde/tool.h"

/** Result of a call that a signal ended before it had one: the client makes it again (the kernel's ERESTARTSYS). */
#define SN_CALL_BEGUN_ANEW INT64_C(-512)
/** For sn_range_end.least: no result says that it was written. */
#define SN_NEVER INT64_MAX

/** When a range counts as written, and how much of it. All zero: the whole of it, if the call succeeded. */
typedef struct sn_range_end {
    int64_t least;      /**< by results from here on */
    bool only_zero;     /**< by the result 0 only */
    bool continues;     /**< gets what the range before it left of its amount */
    int16_t error;      /**< by this error (E*) too */
    bool is_text;       /**< up to its zero byte */
    bool by_result;     /**< as many bytes as `extra` and `unit` for each that the result counts */
    uint8_t word;       /**< 4 or 8: ... for each that the number of this size at `amount_at` counts */
    uint32_t unit, extra;
    uint64_t amount_at;
} sn_range_end;

enum { SN_RANGES_INSIDE = 32 };

/** One call in progress. Large: one a call, on the stack. */
typedef struct sn_call_ranges {
    const sn_call_row *row;    /**< NULL: an unknown call, of which nothing is said */
    uint64_t number;
    const uint64_t *arguments;
    sn_system_range *ranges;   /**< what the tool is shown */
    sn_range_end *ends;        /**< for each */
    size_t count, room;
    sn_system_range inside[SN_RANGES_INSIDE];
    sn_range_end inside_ends[SN_RANGES_INSIDE];
} sn_call_ranges;

/** List what the call may read and write. `arguments` must live as long as the list. */
void sn_call_ranges_begin(sn_call_ranges *list, uint64_t number, const uint64_t arguments[6]);

/** Keep what was written, by the result. */
void sn_call_ranges_end(sn_call_ranges *list, int64_t result);

void sn_call_ranges_release(sn_call_ranges *list);

/* ---------------------------------------------------------- for system_call_more.c */

/** Add a range; nothing if it is empty or begins at 0. `end` NULL: all zero. SN_ROLE_BOTH makes two. */
void sn_ranges_add(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t start, uint64_t size,
                   const sn_range_end *end);

/** Add what an entry of the table says of the argument with number `at`. */
void sn_ranges_add_argument(sn_call_ranges *list, unsigned at, const sn_argument *argument);

/** Add all cases of a set for a value. */
void sn_ranges_add_cases(sn_call_ranges *list, sn_call_set set, uint32_t value);

/** struct iovec, `count` of them: they are read, and what they lead to is read or written. */
void sn_ranges_add_vector(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t vector, uint64_t count,
                          const sn_range_end *end);

/** struct msghdr; `contents` ends the buffers if they are written, `end` the rest. */
void sn_ranges_add_message(sn_call_ranges *list, unsigned argument, unsigned role, uint64_t message,
                           const sn_range_end *contents, const sn_range_end *end);

/** Copy from the client; false if it cannot be read. */
bool sn_ranges_read(void *to, uint64_t from, size_t size);

typedef struct sn_call_function {
    void (*begin)(sn_call_ranges *list);
    void (*end)(sn_call_ranges *list, int64_t result); /**< may add to the list; NULL: nothing to say */
} sn_call_function;

extern const sn_call_function sn_call_functions[SN_MORE_COUNT];

#endif
