/**
 * @fileoverview Checks of the program's accesses, in its code: see checks.c.
 */
#ifndef MEMCHECK_CHECKS_H
#define MEMCHECK_CHECKS_H

#include <sonde/tool.h>

void mc_checks_init(void);
/** The engine's callback: code of the C library is known to read whole vectors. */
void mc_checks_module_mapped(const char *path, uint64_t start, uint64_t end);
/** The program takes accesses away from memory that is not of the heap: constant addresses are checked from now on, too. */
void mc_checks_mind_constants(void);

/** Put checks in front of each access of a block. */
void mc_checks_insert(sn_block *block);
/** A thread begins, or ends. */
void mc_checks_thread_start(sn_thread *thread);
void mc_checks_thread_end(sn_thread *thread);
/** Report what the running thread's checks have found and nobody has been told of yet. */
void mc_checks_tell(sn_thread *thread);

#endif
