/**
 * @fileoverview Which bytes the program may access, and the checks of its accesses: see addressability.c.
 */
#ifndef MEMCHECK_ADDRESSABILITY_H
#define MEMCHECK_ADDRESSABILITY_H

#include <sonde/shadow.h>

/** From the start callback. */
void mc_addressability_init(void);

/** The shadow: 1 bit a byte, 1 is addressable. Set once; SN_FAST functions read it. */
extern const sn_shadow_memory *mc_shadow;

static inline SN_FAST bool mc_is_addressable(uint64_t address) { return sn_shadow_covers(address, 1) && sn_shadow_get(mc_shadow, address) != 0; }

/** The engine's callbacks of these names. */
void mc_memory_mapped(const sn_memory_range *range);
void mc_memory_protected(uint64_t start, uint64_t end, int protection);

/** A range may be accessed from now on, or may no longer, and is undefined (definedness.h). */
void mc_make_addressable(uint64_t start, uint64_t size);
void mc_make_unaddressable(uint64_t start, uint64_t size);
/** The same, but what is said of values stays: of what can't be accessed anyway, or of what the caller says that himself. */
void mc_forbid_access(uint64_t start, uint64_t size);

/** The first byte of a range that must not be accessed, to *where; false if there is none. */
bool mc_find_unaddressable(uint64_t start, uint64_t size, uint64_t *where);

#endif
