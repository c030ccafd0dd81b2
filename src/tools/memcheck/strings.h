/**
 * @fileoverview The C library's functions that work on memory and strings: what they are given. See strings.c.
 */
#ifndef MEMCHECK_STRINGS_H
#define MEMCHECK_STRINGS_H

#include "memcheck.h"

/** From the start callback. */
void mc_strings_init(void);

/** Whether a function that begins at an address is one whose arguments are looked at, or is what that leaves its work to while it is made
    known: its own accesses need no check then. */
bool mc_strings_know(uint64_t function);
/** Whether that function decides by what lies behind a text's end as well, in whole vectors, and then drops what it has found
    there (strrchr, strnlen). Whether the text has values is looked at when it is called. */
bool mc_strings_look_behind(uint64_t function);

#endif
