/**
 * @fileoverview Memory that is only ever given back all at once, straight from mmap.
 *
 * The engine does not use malloc for what it allocates while the client runs: the lock of the C library's allocator
 * may be held by a thread that was interrupted. An arena has no lock: who shares one must lock it.
 */
#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct sn_arena_chunk sn_arena_chunk;

/** All zero is a valid, empty arena. */
typedef struct sn_arena {
    sn_arena_chunk *newest;
    unsigned char *next; /**< first free byte of the newest chunk */
    unsigned char *end;  /**< its end */
    size_t total;        /**< bytes mapped */
} sn_arena;

/** `size` zeroed bytes, aligned to 16. Never NULL: no memory ends the run with one line. */
void *sn_arena_allocate(sn_arena *arena, size_t size) __attribute__((malloc, alloc_size(2), returns_nonnull));

/** A copy of `size` bytes, with a zero byte behind. */
void *sn_arena_copy(sn_arena *arena, const void *bytes, size_t size) __attribute__((returns_nonnull));

/** A copy of a string. */
char *sn_arena_copy_string(sn_arena *arena, const char *text) __attribute__((returns_nonnull));

/** Give all of it back; the arena is empty and may be used again. */
void sn_arena_release(sn_arena *arena);

/** Pages for one large object: zeroed, `size` rounded up to pages. Ends the run with one line when there are none. */
void *sn_pages_allocate(size_t size) __attribute__((returns_nonnull));
void sn_pages_release(void *pages, size_t size);
/** Grow in place or move. What was added is zero. */
void *sn_pages_resize(void *pages, size_t old_size, size_t new_size) __attribute__((returns_nonnull));

#endif
