/**
 * @fileoverview Stubs, and where they lead. See stubs.h.
 */
#include "stubs.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t address_of(const calls_record *stub) {
    return stub->instructions[0].address;
}

static int by_address(const void *left, const void *right) {
    uint64_t a = address_of(*(const calls_record *const *)left), b = address_of(*(const calls_record *const *)right);
    return (a > b) - (a < b);
}

calls_stubs calls_stubs_find(void) {
    calls_stubs stubs = {0};
    size_t room = 0;
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        if (record->stub_size == 0) {
            continue;
        }
        if (stubs.count == room) {
            room = room == 0 ? 256 : 2 * room;
            stubs.items = reallocarray(stubs.items, room, sizeof *stubs.items);
            if (stubs.items == NULL) {
                sn_fail(125, "calls: out of memory");
            }
        }
        stubs.items[stubs.count++] = record;
    }
    if (stubs.count > 0) {
        qsort(stubs.items, stubs.count, sizeof *stubs.items, by_address);
    }
    return stubs;
}

void calls_stubs_free(calls_stubs *stubs) {
    free(stubs->items);
    *stubs = (calls_stubs){0};
}

const calls_record *calls_stub_at(const calls_stubs *stubs, uint64_t address) {
    size_t low = 0, high = stubs->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address_of(stubs->items[middle]) < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < stubs->count && address_of(stubs->items[low]) == address ? stubs->items[low] : NULL;
}

/** The module may have been unloaded: the kernel is asked, so that nothing faults. */
uint64_t calls_stub_target(const calls_record *stub) {
    uint64_t target;
    struct iovec here = {&target, sizeof target}, there = {(void *)(uintptr_t)stub->stub_memory, sizeof target};
    bool is_read = process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof target;
    return is_read ? target : address_of(stub);
}
