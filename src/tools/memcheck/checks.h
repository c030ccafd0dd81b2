/**
 * @fileoverview Checks of the program's accesses, in its code: see checks.c.
 */
#ifndef MEMCHECK_CHECKS_H
#define MEMCHECK_CHECKS_H

#include <sonde/tool.h>

/** An access of an instruction, or of a function. Never freed: code refers to it. */
typedef struct mc_site mc_site;

/** The accesses of a function that begins at `address`, `size` bytes each. */
mc_site *mc_checks_site(uint64_t address, uint32_t size, bool is_write);
/** Whether an address is code of the C library or of the dynamic linker. */
bool mc_checks_is_library(uint64_t address);

/** From SN_FAST functions: an access must not be, or a function's arguments overlap. It is reported soon. */
void mc_checks_note(sn_thread *thread, const mc_site *of, uint64_t address);
void mc_checks_note_overlap(sn_thread *thread, const mc_site *of, const uint64_t *arguments, bool has_size);

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
/** Add what was found again and again to the counts of errors. */
void mc_checks_tell_repeats(void);
/** Report what the running thread's checks have found and nobody has been told of yet. */
void mc_checks_tell(sn_thread *thread);

#endif
