/**
 * @fileoverview Memory that the program has given a name to. See named_blocks.h.
 *
 * A list, which is looked through when an error is described. Numbers of ranges that were given up are given again (memcheck.h 3.19).
 */
#include "named_blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct named_block {
    uint64_t address, size; /**< size 0: given up */
    char *name;
    const mc_stack *made;
} named_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    named_block *items;
    size_t count, room;
} all;

/** A copy of a text in the program's memory, as far as it can be read: page by page, since the next one may not be there. */
static char *text_at(uint64_t address) {
    enum { LONGEST = 1023, PIECE = 64 };
    char text[LONGEST + 1];
    size_t length = 0;
    bool ends = false;
    while (length < LONGEST && !ends) {
        uint64_t at = address + length, left = PIECE - at % PIECE;
        size_t wanted = left < LONGEST - length ? left : LONGEST - length;
        struct iovec here = {text + length, wanted}, there = {(void *)(uintptr_t)at, wanted};
        ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        for (ssize_t i = 0; i < got && !ends; i++) {
            ends = text[length] == 0;
            length += !ends;
        }
        ends |= got <= 0;
    }
    text[length] = 0;
    return mc_text("%s", text);
}

uint64_t mc_named_create(sn_thread *thread, uint64_t address, uint64_t size, uint64_t name) {
    if (address == 0 || size == 0) {
        return UINT64_MAX;
    }
    named_block made = {address, size, text_at(name), mc_stack_here(thread)};
    pthread_mutex_lock(&lock);
    size_t number = 0;
    while (number < all.count && all.items[number].size != 0) {
        number++;
    }
    if (number == all.count) {
        mc_grow(&all.items, &all.room, all.count + 1, sizeof *all.items);
        all.count++;
    }
    all.items[number] = made;
    pthread_mutex_unlock(&lock);
    return number;
}

uint64_t mc_named_discard(uint64_t number) {
    pthread_mutex_lock(&lock);
    bool is_known = number < all.count && all.items[number].size != 0;
    if (is_known) {
        free(all.items[number].name);
        all.items[number] = (named_block){0};
    }
    pthread_mutex_unlock(&lock);
    return !is_known;
}

bool mc_named_describe(uint64_t address, mc_note *note) {
    bool is_found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < all.count && !is_found; i++) {
        const named_block *block = &all.items[i];
        is_found = address - block->address < block->size;
        if (is_found) {
            note->text = mc_text("Address 0x%lx is %s bytes inside a %s of size %s client-defined", address,
                                 mc_number(address - block->address), block->name, mc_number(block->size));
            note->stack = block->made;
        }
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}
