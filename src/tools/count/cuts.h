/**
 * @fileoverview A table of passes that were cut short: which block, after how many instructions, how often.
 *
 * One belongs to each thread that was ever interrupted, one to the dead, one to a summary. Only its owner adds to a
 * table; others may read at the same time, since entries are put in complete and never taken out.
 */
#ifndef SONDE_TOOLS_COUNT_CUTS_H
#define SONDE_TOOLS_COUNT_CUTS_H

#include "record.h"

typedef struct count_cut_table count_cut_table;

/** Count `passes` more. *table is made when needed. */
void count_cuts_add(count_cut_table **table, const count_record *record, unsigned completed, uint64_t passes);

/** Add all of `from`, which may be NULL. */
void count_cuts_merge(count_cut_table **table, const count_cut_table *from);

/** A list that holds all cuts of `record` (and maybe others), or NULL when there is none. `table` may be NULL. */
const count_cut *count_cuts_of(const count_cut_table *table, const count_record *record);

void count_cuts_free(count_cut_table *table);

#endif
