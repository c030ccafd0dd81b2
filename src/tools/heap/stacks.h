/**
 * @fileoverview How large the threads' stacks are: --stacks=yes.
 */
#ifndef HEAP_STACKS_H
#define HEAP_STACKS_H

#include <sonde/tool.h>

/** Bytes between the first call on each thread's stack and its last one; 0 unless --stacks=yes. For another thread than this
    one, as of a moment ago. */
uint64_t heap_stacks_size(sn_thread *thread);

#endif
