/**
 * @fileoverview How large the threads' stacks are: --stacks=yes.
 */
#ifndef HEAP_STACKS_H
#define HEAP_STACKS_H

#include <sonde/tool.h>

/** The thread has begun. */
void heap_stacks_begin(sn_thread *thread);

/** Bytes between the first call on each thread's stack and its last one; 0 unless --stacks=yes. Other threads stand still for it: no
    lock may be held. */
uint64_t heap_stacks_size(void);

#endif
