/**
 * @fileoverview DMD's JSON, version 5: docs/heap-file.md.
 */
#ifndef HEAP_DMD_H
#define HEAP_DMD_H

#include <stdio.h>

#include "settings.h"

/** Write the file of the present mode; for HEAP_PEAK, what lived at the peak. */
void heap_dmd_write(FILE *file, heap_cause cause, unsigned number);

#endif
