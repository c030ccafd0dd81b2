/**
 * @fileoverview Which functions were inlined at an address, from the DWARF information of one compilation unit.
 *
 * Used by lines.c, which knows the units. Names are interned.
 */
#ifndef SONDE_IMAGE_INLINED_H
#define SONDE_IMAGE_INLINED_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A function's code in the unit: as a function of its own, or where it was inlined. */
typedef struct sn_inlined_scope {
    uint64_t low, high;
    uint32_t parent;        /**< index of the innermost scope around it; UINT32_MAX: none */
    bool is_inlined;        /**< else a function of its own */
    unsigned call_line;     /**< where it was inlined; 0 if unknown */
    const char *call_file;  /**< as recorded, NULL if unknown */
    const char *function;   /**< as in symbols where that is recorded (mangled), else the plain name; NULL if unknown */
} sn_inlined_scope;

/** All of a unit, by where they begin, outer ones before what they hold. All zero: not read yet. */
typedef struct sn_inlined_scopes {
    sn_inlined_scope *items;
    size_t count, room;
    bool is_read;
} sn_inlined_scopes;

/** Read the scopes of the unit whose functions are in `unit`, at most `most` of them. */
void sn_inlined_read(sn_inlined_scopes *scopes, Dwarf_Die *unit, size_t most);

/** The innermost scope around `address`, UINT32_MAX if there is none. */
uint32_t sn_inlined_find(const sn_inlined_scopes *scopes, uint64_t address);

void sn_inlined_release(sn_inlined_scopes *scopes);

#endif
