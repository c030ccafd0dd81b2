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

static void find_stubs(calls_stubs *stubs) {
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        if (record->stub_size != 0) {
            *sn_vector_add(&stubs->list) = (calls_stub){.address = address_of(record), .record = record};
        }
    }
    sn_sorted_sort(&stubs->list, address);
}

static void find_calls(calls_stubs *stubs) {
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        const calls_instruction *last = &record->instructions[record->instruction_count - 1];
        const calls_record *stub = last->shape & CALLS_CALL ? calls_stub_at(stubs, last->target) : NULL;
        if (stub != NULL) {
            *sn_vector_add(&stubs->calls) = (calls_stub_call){last->address, stub};
        }
    }
    sn_sorted_sort(&stubs->calls, address);
}

calls_stubs calls_stubs_find(void) {
    calls_stubs stubs = {0};
    find_stubs(&stubs);
    find_calls(&stubs);
    for (size_t i = 0; i < stubs.list.count; i++) {
        calls_stub *stub = &stubs.list.items[i];
        stub->share.costs = cache_memory_new(stub->record->stub_size, sizeof *stub->share.costs);
    }
    return stubs;
}

const calls_record *calls_stub_called(const calls_stubs *stubs, uint64_t address) {
    const calls_stub_call *found = sn_sorted_find(&stubs->calls, address, address);
    return found == NULL ? NULL : found->stub;
}

void calls_stubs_free(calls_stubs *stubs) {
    for (size_t i = 0; i < stubs->list.count; i++) {
        free(stubs->list.items[i].share.costs);
    }
    sn_vector_release(&stubs->list);
    sn_vector_release(&stubs->calls);
}

const calls_record *calls_stub_at(const calls_stubs *stubs, uint64_t address) {
    const calls_stub *found = sn_sorted_find(&stubs->list, address, address);
    return found == NULL ? NULL : found->record;
}

calls_stub_share *calls_stub_share_of(calls_stubs *stubs, const calls_record *stub) {
    return &sn_sorted_find(&stubs->list, address, address_of(stub))->share;
}

/** The module may have been unloaded: the kernel is asked, so that nothing faults. */
uint64_t calls_stub_target(const calls_record *stub) {
    uint64_t target;
    struct iovec here = {&target, sizeof target}, there = {(void *)(uintptr_t)stub->stub_memory, sizeof target};
    bool is_read = process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof target;
    return is_read ? target : address_of(stub);
}
