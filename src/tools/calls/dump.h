/**
 * @fileoverview Writing profiles of what was counted so far, in parts, and at the end.
 */
#ifndef SONDE_TOOLS_CALLS_DUMP_H
#define SONDE_TOOLS_CALLS_DUMP_H

#include <sonde/tool.h>

/** Write the next part, and begin at zero. `why` is written into it, `thread` is the one that calls. */
void calls_dump(sn_thread *thread, const char *why);

/** How many parts were written. */
int calls_dumps(void);

/** The program ends. */
void calls_dump_last(void);

#endif
