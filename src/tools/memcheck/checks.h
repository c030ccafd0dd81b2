/**
 * @fileoverview Checks of the program's accesses, in its code: see checks.c.
 */
#ifndef MEMCHECK_CHECKS_H
#define MEMCHECK_CHECKS_H

#include <sonde/shadow.h>

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

/** A block's instructions are looked at from here on; before mc_checks_written(). */
void mc_checks_begin(sn_block *block);
/** Put checks in front of each access of a block; or of an instruction, in their order. */
void mc_checks_insert(sn_block *block);
void mc_checks_insert_at(sn_block *block, unsigned index);
/** sn_shadow_rules.written */
const sn_shadow_write *mc_checks_written(sn_block *block, unsigned index, unsigned number);
/** SN_FAST: whether a byte of memory may be accessed. */
bool mc_checks_allow(sn_thread *thread, uint64_t address, uint64_t stack_pointer);
/** SN_FAST: the same of at most 64 bytes, which an instruction accesses. */
bool mc_checks_allow_operand(sn_thread *thread, uint64_t address, uint32_t size, uint64_t stack_pointer);
/** sn_shadow_rules.may_write */
bool mc_checks_allow_range(sn_thread *thread, uint64_t start, uint64_t size, uint64_t stack_pointer);
/** SN_FAST: whether an instruction's access was found that is still to be reported. */
bool mc_checks_have_found(sn_thread *thread, uint64_t instruction);
/** A thread begins, or ends. */
void mc_checks_thread_start(sn_thread *thread);
void mc_checks_thread_end(sn_thread *thread);
/** Report what the running thread's checks have found and nobody has been told of yet. */
void mc_checks_tell(sn_thread *thread);

#endif
