/**
 * @fileoverview What the translator needs to know of the client's address space, and what it must be told.
 *
 * Implemented by guest/space.c and guest/code.c: the layer above, which is why they
 * are declared here.
 */
#ifndef SONDE_JIT_CLIENT_CODE_H
#define SONDE_JIT_CLIENT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes from `address` on that the client may execute and that are readable on the host (up to the region's end,
    merged over adjacent executable regions, at most 4096), 0 if none. */
size_t sn_space_executable(uint64_t address);

/** Code from [start, end) was translated: from now on a client write to its pages must fault. Does nothing for pages
    that are not client-writable. Returns false when the range can't be watched (shared mapping): the translator then
    makes the block check itself. */
bool sn_space_watch_code(uint64_t start, uint64_t end);

/** Blocks made from [start, end) are no longer valid. Called by the space
    whenever mapping or protection changes remove executable code or make it writable, after the change. */
void sn_code_discard(uint64_t start, uint64_t end);

/** Code at `address` is translated for the first time on its page: whoever names addresses later should remember what is
    mapped there. */
void sn_client_code_used(uint64_t address);

/** Whether code on the page of `address` changes so often that its blocks should check themselves. */
bool sn_client_code_is_hot(uint64_t address);

/** Whether, besides, blocks on that page write to the page: then an instruction may change the next one, and blocks that
    check themselves must be one instruction long. */
bool sn_client_code_rewrites_itself(uint64_t address);

#endif
