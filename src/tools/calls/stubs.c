/**
 * @fileoverview Stubs, and where they lead. See stubs.h.
 */
#include "stubs.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "simulator/memory.h"

static uint64_t address_of(const calls_record *stub) {
    return stub->instructions[0].address;
}

static int by_address(const void *left, const void *right) {
    uint64_t a = address_of(*(const calls_record *const *)left), b = address_of(*(const calls_record *const *)right);
    return (a > b) - (a < b);
}

/** Make room for one more of a growing array. */
static void make_room(void **items, size_t count, size_t *room, size_t size) {
    if (count == *room) {
        *room = *room == 0 ? 256 : 2 * *room;
        *items = reallocarray(*items, *room, size);
        if (*items == NULL) {
            sn_fail(125, "calls: out of memory");
        }
    }
}

static void find_stubs(calls_stubs *stubs) {
    size_t room = 0;
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        if (record->stub_size == 0) {
            continue;
        }
        make_room((void **)&stubs->items, stubs->count, &room, sizeof *stubs->items);
        stubs->items[stubs->count++] = record;
    }
    if (stubs->count > 0) {
        qsort(stubs->items, stubs->count, sizeof *stubs->items, by_address);
    }
}

static int by_call_address(const void *left, const void *right) {
    uint64_t a = ((const calls_stub_call *)left)->address, b = ((const calls_stub_call *)right)->address;
    return (a > b) - (a < b);
}

static void find_calls(calls_stubs *stubs) {
    size_t room = 0;
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        const calls_instruction *last = &record->instructions[record->instruction_count - 1];
        const calls_record *stub = last->shape & CALLS_CALL ? calls_stub_at(stubs, last->target) : NULL;
        if (stub != NULL) {
            make_room((void **)&stubs->calls, stubs->call_count, &room, sizeof *stubs->calls);
            stubs->calls[stubs->call_count++] = (calls_stub_call){last->address, stub};
        }
    }
    if (stubs->call_count > 0) {
        qsort(stubs->calls, stubs->call_count, sizeof *stubs->calls, by_call_address);
    }
}

calls_stubs calls_stubs_find(void) {
    calls_stubs stubs = {0};
    find_stubs(&stubs);
    find_calls(&stubs);
    stubs.shares = cache_memory_new(stubs.count + 1, sizeof *stubs.shares);
    for (size_t i = 0; i < stubs.count; i++) {
        stubs.shares[i].costs = cache_memory_new(stubs.items[i]->stub_size, sizeof *stubs.shares[i].costs);
    }
    return stubs;
}

const calls_record *calls_stub_called(const calls_stubs *stubs, uint64_t address) {
    const calls_stub_call wanted = {.address = address};
    const calls_stub_call *found = stubs->call_count == 0 ? NULL
        : bsearch(&wanted, stubs->calls, stubs->call_count, sizeof wanted, by_call_address);
    return found == NULL ? NULL : found->stub;
}

void calls_stubs_free(calls_stubs *stubs) {
    for (size_t i = 0; i < stubs->count; i++) {
        free(stubs->shares[i].costs);
    }
    free(stubs->shares);
    free(stubs->items);
    free(stubs->calls);
    *stubs = (calls_stubs){0};
}

/** Which is the first at that address or above it. */
static size_t index_of(const calls_stubs *stubs, uint64_t address) {
    size_t low = 0, high = stubs->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address_of(stubs->items[middle]) < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const calls_record *calls_stub_at(const calls_stubs *stubs, uint64_t address) {
    size_t index = index_of(stubs, address);
    return index < stubs->count && address_of(stubs->items[index]) == address ? stubs->items[index] : NULL;
}

calls_stub_share *calls_stub_share_of(const calls_stubs *stubs, const calls_record *stub) {
    return &stubs->shares[index_of(stubs, address_of(stub))];
}

/** The module may have been unloaded: the kernel is asked, so that nothing faults. */
uint64_t calls_stub_target(const calls_record *stub) {
    uint64_t target;
    struct iovec here = {&target, sizeof target}, there = {(void *)(uintptr_t)stub->stub_memory, sizeof target};
    bool is_read = process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof target;
    return is_read ? target : address_of(stub);
}
