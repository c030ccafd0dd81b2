/**
 * @fileoverview The files that are mapped into the program, for a scan. Used by dmd.c.
 */
#ifndef HEAP_MODULES_H
#define HEAP_MODULES_H

#include <stdio.h>

#include <sonde/tool.h>

/** Write the member "modules", with a comma behind. */
void heap_modules_write(FILE *file);

#endif
