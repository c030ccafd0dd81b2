/**
 * @fileoverview An account as a profile: what each instruction cost, and what each call, sorted by function.
 */
#ifndef SONDE_TOOLS_CALLS_PROFILE_H
#define SONDE_TOOLS_CALLS_PROFILE_H

#include "functions.h"
#include "thread.h"

/** Instructions, and what a system call costs. */
#define CALLS_MOST_EVENTS (1 + CALLS_SYSTEM_EVENTS)

typedef enum calls_row_kind { CALLS_ROW_SELF, CALLS_ROW_CALL, CALLS_ROW_JUMP, CALLS_ROW_CONDITIONAL } calls_row_kind;

typedef struct calls_row {
    calls_place place;
    uint64_t address;         /**< 0 if it stands for a function */
    calls_row_kind kind;
    calls_place target;       /**< of calls and jumps */
    uint64_t target_address;
    uint64_t count;           /**< calls; jumps that were taken */
    uint64_t executed;        /**< of conditional jumps */
    uint64_t costs[CALLS_MOST_EVENTS]; /**< of calls inclusive */
} calls_row;

typedef struct calls_profile {
    unsigned event_count;
    const char *events[CALLS_MOST_EVENTS];
    calls_row *rows;          /**< by function, file, line, kind */
    size_t row_count, room;
    uint64_t totals[CALLS_MOST_EVENTS];
} calls_profile;

void calls_profile_make(calls_profile *profile, const calls_account *account);
void calls_profile_free(calls_profile *profile);

#endif
