/**
 * @fileoverview Reading the program's memory for the search for leaks. See leak_memory.h.
 *
 * By the kernel, which says what cannot be read: a file may be shorter than its mapping, and the program may have taken its own
 * blocks' permissions away.
 */
#include "leak_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "blocks.h"

#define WORD 8
#define PAGE UINT64_C(4096)
#define PIECE (UINT64_C(1) << 16)
#define RED_ZONE 128 /* below the stack pointer, of the ABI */

/** The mappings, as they are while the program stands still. */
static struct {
    struct {
        uint64_t start, end;
        int protection;
    } *items;
    size_t count, room;
} ranges;

bool mc_leak_read(uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

void mc_leak_visit_words(uint64_t start, uint64_t end, mc_word_visitor *visit, void *data) {
    static uint64_t words[PIECE / WORD]; /* one search at a time */
    start = (start + WORD - 1) & ~(uint64_t)(WORD - 1);
    end &= ~(uint64_t)(WORD - 1);
    uint64_t step = PIECE;
    for (uint64_t at = start; at < end; at += step) {
        step = end - at < PIECE ? end - at : PIECE;
        if (!mc_leak_read(at, words, step)) {
            uint64_t in_page = PAGE - at % PAGE;
            step = step < in_page ? step : in_page;
            if (!mc_leak_read(at, words, step)) {
                continue;
            }
        }
        visit(words, step / WORD, data);
    }
}

static void note_range(const sn_memory_range *range, void *data) {
    (void)data;
    mc_grow(&ranges.items, &ranges.room, ranges.count + 1, sizeof *ranges.items);
    ranges.items[ranges.count].start = range->start;
    ranges.items[ranges.count].end = range->end;
    ranges.items[ranges.count++].protection = range->protection;
}

typedef struct root_visit {
    mc_word_visitor *visit;
    void *data;
    uint64_t *stack_pointers;
    size_t count, room;
} root_visit;

static void look_at_registers(sn_thread *thread, void *data) {
    root_visit *to = data;
    uint64_t value;
    for (unsigned number = 0; sn_thread_register(thread, number, &value) != NULL; number++) {
        to->visit(&value, 1, to->data);
    }
    mc_grow(&to->stack_pointers, &to->room, to->count + 1, sizeof *to->stack_pointers);
    to->stack_pointers[to->count++] = sn_thread_stack_pointer(thread);
}

/** Of a stack, what is above the stack pointer, and what the ABI lets functions use below it. */
static uint64_t first_used(const root_visit *to, uint64_t start, uint64_t end) {
    for (size_t i = 0; i < to->count; i++) {
        uint64_t used = to->stack_pointers[i] - RED_ZONE;
        if (to->stack_pointers[i] >= start && to->stack_pointers[i] < end && used > start) {
            return used;
        }
    }
    return start;
}

static void look_outside_heap(const root_visit *to, uint64_t start, uint64_t end) {
    while (start < end) {
        uint64_t next = mc_heap_stretch(start, end);
        if (!mc_is_heap(start)) {
            mc_leak_visit_words(start, next, to->visit, to->data);
        }
        start = next;
    }
}

void mc_leak_visit_roots(mc_word_visitor *visit, void *data) {
    root_visit to = {.visit = visit, .data = data};
    ranges.count = 0;
    sn_memory_visit(note_range, NULL);
    sn_threads_visit(look_at_registers, &to);
    for (size_t i = 0; i < ranges.count; i++) {
        if ((ranges.items[i].protection & (PROT_READ | PROT_WRITE)) == (PROT_READ | PROT_WRITE)) {
            look_outside_heap(&to, first_used(&to, ranges.items[i].start, ranges.items[i].end), ranges.items[i].end);
        }
    }
    free(to.stack_pointers);
}

static int protection_at(uint64_t address) {
    size_t low = 0, high = ranges.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges.items[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ranges.count && ranges.items[low].start <= address ? ranges.items[low].protection : PROT_NONE;
}

bool mc_leak_is_vtable(uint64_t address) {
    int protection = protection_at(address);
    uint64_t functions[2];
    if (address % WORD != 0 || !(protection & PROT_READ) || (protection & PROT_WRITE) || !mc_leak_read(address, functions, sizeof functions)) {
        return false;
    }
    return (protection_at(functions[0]) & PROT_EXEC) || (protection_at(functions[1]) & PROT_EXEC);
}
