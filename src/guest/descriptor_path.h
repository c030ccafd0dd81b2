/**
 * @fileoverview What file an open descriptor of the client stands for.
 */
#ifndef SONDE_GUEST_DESCRIPTOR_PATH_H
#define SONDE_GUEST_DESCRIPTOR_PATH_H

#include <stddef.h>

/** A path that opens what an open descriptor leads to anew. */
void sn_descriptor_link(int descriptor, char *buffer, size_t size);

/** The path that /proc gives for a descriptor, in `buffer` with a NUL: its length, or 0 when it can't be known. */
size_t sn_descriptor_path(int descriptor, char *buffer, size_t size);

/** The same, interned; NULL when it can't be known. */
const char *sn_descriptor_path_interned(int descriptor);

#endif
