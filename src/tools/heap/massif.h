/**
 * @fileoverview Massif's file format (Valgrind's massif/ms_print is its reader; docs/heap-file.md).
 */
#ifndef HEAP_MASSIF_H
#define HEAP_MASSIF_H

#include "timeline.h"

void heap_massif_write(FILE *file, const heap_snapshot *snapshots, size_t count);

#endif
