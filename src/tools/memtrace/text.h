/**
 * @fileoverview From the words of one thread to lines of text.
 */
#ifndef SONDE_TOOLS_MEMTRACE_TEXT_H
#define SONDE_TOOLS_MEMTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct memtrace_printer memtrace_printer;

memtrace_printer *memtrace_printer_new(int thread);

/** Print what the thread has appended to its trace. */
void memtrace_print(memtrace_printer *printer, const uint64_t *words, size_t count);

/** Write what is not written yet. `ends`: the block executed last is completed. */
void memtrace_printer_flush(memtrace_printer *printer, bool ends);

void memtrace_printer_free(memtrace_printer *printer);

#endif
