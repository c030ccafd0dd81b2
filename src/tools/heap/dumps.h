/**
 * @fileoverview When files are written, and under which names.
 */
#ifndef HEAP_DUMPS_H
#define HEAP_DUMPS_H

#include "settings.h"

/** Once, before the client starts. */
void heap_dumps_init(void);

/** Have a file written soon. SN_FAST. */
void heap_dumps_due(heap_cause cause);

/** Write one now. In the engine, at an instruction of this thread. Returns whether it could be written. */
bool heap_dump(sn_thread *thread, heap_cause cause);

/** What is to be done in the engine at the beginning of a call of an allocating function: sn_heap_options.attend. */
void heap_dumps_attend(sn_thread *thread);

/** How many files were written. */
unsigned heap_dumps_written(void);

/** In a forked child: it begins to count at 1. */
void heap_dumps_fork_child(void);

#endif
