/**
 * @fileoverview The rows of a profile: each is one line of costs, calls or jumps of the file.
 *
 * Found by what they are of, so that many instructions of a line add to one row as they come: a large program executes a
 * million instructions.
 */
#ifndef SONDE_TOOLS_CALLS_ROWS_H
#define SONDE_TOOLS_CALLS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <sonde/index.h>
#include <sonde/vector.h>

#include "functions.h"

typedef enum calls_row_kind { CALLS_ROW_SELF, CALLS_ROW_CALL, CALLS_ROW_JUMP, CALLS_ROW_CONDITIONAL } calls_row_kind;

/** What a row is of. */
typedef struct calls_row_key {
    calls_place place;
    calls_place target;       /**< of calls and jumps */
    uint64_t address;         /**< of both, if the file tells instructions apart, else 0 */
    uint64_t target_address;
    calls_row_kind kind;
} calls_row_key;

typedef struct calls_row {
    calls_row_key key;
    uint64_t count;           /**< calls; jumps that were taken */
    uint64_t executed;        /**< of conditional jumps */
    uint64_t *costs;          /**< of each event, of calls inclusive; stays where it is */
} calls_row;

/** All zero but for the number of events is a valid, empty one. */
typedef struct calls_rows {
    unsigned event_count;
    SN_VECTOR(calls_row) list;
    sn_index index;           /**< of the list, by keys */
    struct calls_costs *costs;/**< those of all rows, in pieces */
} calls_rows;

/** The row of that key, made if there is none. It stays where it is until the next one is asked for. */
calls_row *calls_rows_find(calls_rows *rows, const calls_row_key *key);

/** In the order of the file, without those that say nothing; none can be found afterwards. */
void calls_rows_sort(calls_rows *rows);

void calls_rows_free(calls_rows *rows);

#endif
