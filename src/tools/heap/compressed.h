/**
 * @fileoverview A stream whose bytes are compressed as gzip does (RFC 1952) into another one.
 */
#ifndef HEAP_COMPRESSED_H
#define HEAP_COMPRESSED_H

#include <stdio.h>

/** To be closed by fclose() before `to` is. Errors of `to` are its own. */
FILE *heap_compressed_open(FILE *to);

#endif
