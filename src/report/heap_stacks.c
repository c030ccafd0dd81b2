/**
 * @fileoverview The frames of traces that are looked at, each stack once. See heap_records.h.
 */
#include <string.h>

#include "sonde/intern.h"
#include "report/heap_records.h"

/** What --ignore-alloc-fns leaves out at the inner end of a stack: functions with one of these in their names. "???" is there
    because what allocates is often without symbols; behind another function it stays. */
static const char *const allocators[] = {
    "malloc", "calloc", "realloc", "memalign", "aligned_alloc", "valloc", "operator new", "g_slice_alloc", "__rust_alloc",
    "alloc::alloc::", "std::allocator", "allocator_traits", "new_allocator", "strdup", "???",
};

static bool is_allocator(const char *frame) {
    const char *place = strrchr(frame, '('); /* the file, whose name means nothing here */
    size_t length = place != NULL && place > frame && place[-1] == ' ' ? (size_t)(place - frame) : strlen(frame);
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
        if (memmem(frame, length, allocators[i], strlen(allocators[i])) != NULL)
            return true;
    return false;
}

static const char *frame_of(const sn_heapfile *file, const sn_heapfile_trace *trace, uint32_t at) {
    return file->frames.items[file->trace_frames.items[trace->first + at]];
}

/** The frames are at the end of `frames`: the stack that has them, and then they are dropped, or a new one. */
static uint32_t find_or_add(sn_heapfile_stacks *stacks, uint64_t first) {
    uint32_t count = (uint32_t)(stacks->frames.count - first);
    size_t bytes = count * sizeof *stacks->frames.items;
    const char *const *frames = (const char *const *)stacks->frames.items + first;
    bool is_new;
    uint64_t *chain = sn_hash_insert(&stacks->by_hash, sn_hash_bytes(frames, bytes), &is_new);
    uint32_t head = is_new ? (uint32_t)SN_HEAPFILE_NONE : (uint32_t)*chain;
    for (uint32_t i = head; i != SN_HEAPFILE_NONE; i = stacks->items.items[i].next) {
        const sn_heapfile_stack *other = &stacks->items.items[i];
        if (other->count == count && memcmp(stacks->frames.items + other->first, frames, bytes) == 0) {
            stacks->frames.count = first;
            return i;
        }
    }
    *chain = stacks->items.count;
    *sn_vector_add(&stacks->items) = (sn_heapfile_stack){.first = first, .count = count, .next = head};
    return (uint32_t)*chain;
}

uint32_t sn_heapfile_stack_of(sn_heapfile_stacks *stacks, const sn_heapfile *file, uint32_t number) {
    uint64_t first = stacks->frames.count;
    sn_vector_reserve(&stacks->frames, first + 1);
    if (number == SN_HEAPFILE_NONE) {
        *sn_vector_add(&stacks->frames) = sn_intern("(no stack was kept, as with --stacks=partial)");
        return find_or_add(stacks, first);
    }
    const sn_heapfile_trace *trace = &file->traces.items[number];
    uint32_t from = 0;
    while (stacks->ignores_allocators && from < trace->count && is_allocator(frame_of(file, trace, from)))
        from++;
    for (uint32_t i = from; i < trace->count && i - from < stacks->max_frames; i++)
        *sn_vector_add(&stacks->frames) = frame_of(file, trace, i);
    return find_or_add(stacks, first);
}

void sn_heapfile_stacks_release(sn_heapfile_stacks *stacks) {
    sn_vector_release(&stacks->items);
    sn_vector_release(&stacks->frames);
    sn_hash_release(&stacks->by_hash);
}
