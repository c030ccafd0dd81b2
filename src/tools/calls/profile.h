/**
 * @fileoverview An account as a profile: what each line or instruction cost, and what each call, sorted by function.
 */
#ifndef SONDE_TOOLS_CALLS_PROFILE_H
#define SONDE_TOOLS_CALLS_PROFILE_H

#include "functions.h"
#include "rows.h"
#include "thread.h"

typedef struct calls_profile {
    calls_events events;
    calls_rows rows;          /**< by function, file, line, kind */
    uint64_t totals[CALLS_MOST_EVENTS];
} calls_profile;

void calls_profile_make(calls_profile *profile, const calls_account *account);
void calls_profile_free(calls_profile *profile);

#endif
