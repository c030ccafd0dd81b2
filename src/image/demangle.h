/**
 * @fileoverview Names of C++ and Rust functions as their authors wrote them. Used by symbols.c.
 */
#ifndef SONDE_IMAGE_DEMANGLE_H
#define SONDE_IMAGE_DEMANGLE_H

#include <stdbool.h>

/** A readable form of `name` without its version, or a copy of it when it has none; a stub's name gets "@plt" behind.
    To be freed by the caller; NULL when memory is short. */
char *sn_demangle(const char *name, bool is_stub);

#endif
