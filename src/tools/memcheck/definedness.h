/**
 * @fileoverview Which bits of the program's data have a value: see definedness.c. All functions but mc_definedness_init() do nothing
 * with --undef-value-errors=no.
 */
#ifndef MEMCHECK_DEFINEDNESS_H
#define MEMCHECK_DEFINEDNESS_H

#include "origins.h"

/** From the start callback. */
void mc_definedness_init(void);

/** From the instrument callback, after all else that the tool inserts. */
void mc_definedness_insert(sn_block *block);

/** A range has values, or has none. */
void mc_make_defined(uint64_t start, uint64_t size);
/** The same of what an instruction writes: addressable, and at most 64 bytes. */
void mc_define_operand(uint64_t address, uint32_t size);
void mc_make_undefined(uint64_t start, uint64_t size, mc_origin origin);
/** A range must not be accessed: its bits are undefined, which lets accesses be found. */
void mc_make_forbidden(uint64_t start, uint64_t size);
/** Something may have been written to a range all the same: the same for those of its bytes that must not be accessed. */
void mc_forbid_again(uint64_t start, uint64_t size);
/** The tool itself has copied memory of the program. */
void mc_copy_definedness(uint64_t to, uint64_t from, uint64_t size);
/** The first byte of a range that may be accessed and is not wholly defined, to *where; false if there is none. */
bool mc_find_undefined(uint64_t start, uint64_t size, uint64_t *where);
/** The shadows of a range, a byte each (a bit is set where there is no value), to or from memory of the tool. False if that memory
    cannot be followed, or nothing is. */
bool mc_get_definedness(uint64_t start, uint64_t size, uint8_t *shadows);
bool mc_set_definedness(uint64_t start, uint64_t size, const uint8_t *shadows, mc_origin origin);
/** Where the first undefined byte of a range got its value from, or rather none; 0 if that is not known. */
mc_origin mc_origin_at(uint64_t start, uint64_t size);

/** Where values decide. Never freed: code refers to it. */
typedef struct mc_value_site mc_value_site;
/** The function that begins at `address` looks at values. */
const mc_value_site *mc_definedness_site(uint64_t address);
/** From SN_FAST functions: it is going to decide by `size` bytes from `start` on. If not all of them have values, that is reported soon. */
void mc_definedness_look(sn_thread *thread, const mc_value_site *of, uint64_t start, uint64_t size);

/** A thread begins, or ends. */
void mc_definedness_thread_start(sn_thread *thread);
void mc_definedness_thread_end(sn_thread *thread);

/** Report what the running thread has found and nobody has been told of yet: mc_checks_tell() does. */
void mc_definedness_tell(sn_thread *thread);

/** From SN_FAST functions: what the function returns that is about to return has a value. */
void mc_define_result(sn_thread *thread);

/** The undefined bits of an argument (from 0) of the system call that the thread is about to make, and where they were made; and make
    them defined. */
uint64_t mc_undefined_argument(sn_thread *thread, unsigned argument, mc_origin *origin);
void mc_define_argument(sn_thread *thread, unsigned argument);

/** The engine's callback of this name. */
void mc_definedness_call_after(sn_thread *thread, const sn_system_call *call);

#endif
