/**
 * @fileoverview The same error again at the same place: see repeats.c.
 */
#ifndef MEMCHECK_REPEATS_H
#define MEMCHECK_REPEATS_H

#include "memcheck.h"

/** The errors that a place in the code was told of. A place without any has NULL. Never freed: code may be reading it. */
typedef struct mc_repeats mc_repeats;

/** SN_FAST. Whether the place was told of an error in this context; if so, it is counted once more. */
bool mc_is_repeat(mc_repeats *const *of, sn_context context);
/** It was told of an error (NULL: of one that is not kept, which is not remembered). */
void mc_repeats_note(mc_repeats **of, sn_context context, mc_error *error);
/** Add what was counted to the counts of errors. */
void mc_repeats_tell(void);

#endif
