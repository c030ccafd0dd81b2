/**
 * @fileoverview Memory given back all at once, and pages for large objects. See <sonde/arena.h>.
 */
#include "sonde/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "base/log.h"

enum {
    PAGE = 4096,
    ALIGNMENT = 16,
    FIRST_CHUNK = 64 * 1024,
    LARGEST_CHUNK = 4 * 1024 * 1024,
};

struct sn_arena_chunk {
    sn_arena_chunk *older;
    size_t size;
};

_Static_assert(sizeof(sn_arena_chunk) % ALIGNMENT == 0, "what follows a chunk's header must be aligned");

static _Noreturn void no_memory(size_t size) {
    sn_fail(SN_STATUS_ENGINE, "out of memory: the system gives no %zu bytes more", size);
}

static size_t round_up(size_t size, size_t unit) {
    size_t rounded;
    if (__builtin_add_overflow(size, unit - 1, &rounded))
        no_memory(size);
    return rounded & ~(unit - 1);
}

void *sn_pages_allocate(size_t size) {
    size = round_up(size ? size : 1, PAGE);
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        no_memory(size);
    return pages;
}

void sn_pages_release(void *pages, size_t size) {
    munmap(pages, round_up(size ? size : 1, PAGE));
}

void *sn_pages_reserve(size_t size) {
    void *pages = mmap(NULL, round_up(size ? size : 1, PAGE), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void *sn_pages_resize(void *pages, size_t old_size, size_t new_size) {
    old_size = round_up(old_size ? old_size : 1, PAGE);
    new_size = round_up(new_size ? new_size : 1, PAGE);
    void *moved = mremap(pages, old_size, new_size, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        no_memory(new_size);
    return moved;
}

/** A chunk with room for `size`: each as large as all before it, within limits, so that there are few. */
static void add_chunk(sn_arena *arena, size_t size) {
    size_t wanted = arena->total < FIRST_CHUNK ? FIRST_CHUNK : arena->total;
    if (wanted > LARGEST_CHUNK)
        wanted = LARGEST_CHUNK;
    size_t needed = round_up(size, PAGE) + PAGE;
    if (wanted < needed)
        wanted = needed;
    wanted = round_up(wanted, PAGE);
    sn_arena_chunk *chunk = sn_pages_allocate(wanted);
    chunk->older = arena->newest;
    chunk->size = wanted;
    arena->newest = chunk;
    arena->next = (unsigned char *)(chunk + 1);
    arena->end = (unsigned char *)chunk + wanted;
    arena->total += wanted;
}

void *sn_arena_allocate(sn_arena *arena, size_t size) {
    size = round_up(size ? size : 1, ALIGNMENT);
    if (size > (size_t)(arena->end - arena->next))
        add_chunk(arena, size);
    void *result = arena->next;
    arena->next += size;
    return result;
}

void *sn_arena_copy(sn_arena *arena, const void *bytes, size_t size) {
    unsigned char *copy = sn_arena_allocate(arena, size + 1);
    memcpy(copy, bytes, size);
    return copy;
}

char *sn_arena_copy_string(sn_arena *arena, const char *text) {
    return sn_arena_copy(arena, text, strlen(text));
}

void sn_arena_release(sn_arena *arena) {
    sn_arena_chunk *chunk = arena->newest;
    while (chunk) {
        sn_arena_chunk *older = chunk->older;
        sn_pages_release(chunk, chunk->size);
        chunk = older;
    }
    *arena = (sn_arena){0};
}
