/**
 * @file sonde/arena.h
 * Memory that is only ever given back all at once, and pages for large objects: straight from mmap.
 *
 * Neither the engine nor a tool needs malloc for what is allocated while the client runs: no lock is taken here that an
 * interrupted thread may hold. An arena has no lock of its own: who shares one must lock it. Not for SN_FAST functions.
 */
#ifndef SONDE_ARENA_H
#define SONDE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct sn_arena_chunk sn_arena_chunk;

/** All zero is a valid, empty arena. The members are its own. */
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
/** Give them back; `size` as it was asked for. */
void sn_pages_release(void *pages, size_t size);
/** Grow in place or move, or give back the end. What was added is zero. */
void *sn_pages_resize(void *pages, size_t old_size, size_t new_size) __attribute__((returns_nonnull));

/** Address space for `size` bytes that take memory as they are touched, zeroed at first, so that what grows in it needs nobody to
    ask: for SN_FAST functions. NULL when there is none. Given back by sn_pages_release(). */
void *sn_pages_reserve(size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
