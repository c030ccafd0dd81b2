/**
 * @fileoverview Tables of sites and blocks. See code.h.
 *
 * Both lie in pieces that never move, found by number through a table of pieces that is large enough from the start: an
 * entry is complete before its number is counted, so that readers need no lock.
 */
#include "code.h"

#include <pthread.h>
#include <sonde/index.h>
#include <sonde/tool.h>
#include <sonde/vector.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 4096, PIECES = 1 << 16 };

static memtrace_site *site_pieces[PIECES];
static memtrace_block *block_pieces[PIECES];
static _Atomic uint32_t site_count, block_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void memtrace_code_lock(void) {
    pthread_mutex_lock(&lock);
}

void memtrace_code_unlock(void) {
    pthread_mutex_unlock(&lock);
}

void memtrace_code_after_fork(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        sn_fail(125, "memtrace: out of memory");
    return memory;
}

static void *copied(const void *items, size_t count, size_t size) {
    void *copy = allocate(count, size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

/* ------------------------------------------------------------------- sites */

static sn_index sites_by_content;

static bool equal(const memtrace_site *a, const memtrace_site *b) {
    return a->address == b->address && a->size == b->size && a->kind == b->kind && a->operand == b->operand &&
           a->system_number == b->system_number;
}

static uint64_t hash_of(const memtrace_site *site) {
    return sn_hash_combine(site->address, site->operand ^ (uint64_t)site->kind << 8 ^ site->system_number << 16);
}

uint32_t memtrace_site_number(const memtrace_site *site) {
    uint64_t hash = hash_of(site);
    uint32_t number;
    sn_index_each(&sites_by_content, hash, number)
        if (equal(memtrace_site_at(number), site))
            return number;
    number = site_count;
    if (number / PIECE == PIECES)
        sn_fail(125, "memtrace: more than %d places in the code access memory", PIECE * PIECES);
    if (number % PIECE == 0)
        site_pieces[number / PIECE] = allocate(PIECE, sizeof(memtrace_site));
    site_pieces[number / PIECE][number % PIECE] = *site;
    site_count = number + 1;
    sn_index_add(&sites_by_content, hash, number);
    return number;
}

const memtrace_site *memtrace_site_at(uint32_t number) {
    return &site_pieces[number / PIECE][number % PIECE];
}

uint32_t memtrace_site_count(void) {
    return site_count;
}

/* ------------------------------------------------------------------ blocks */

const memtrace_block *memtrace_block_new(const memtrace_block *like) {
    uint32_t number = block_count;
    if (number / PIECE == PIECES)
        sn_fail(125, "memtrace: more than %d blocks of code", PIECE * PIECES);
    if (number % PIECE == 0)
        block_pieces[number / PIECE] = allocate(PIECE, sizeof(memtrace_block));
    memtrace_block *block = &block_pieces[number / PIECE][number % PIECE];
    *block = *like;
    block->number = number;
    for (unsigned i = 0; i < like->position_count; i++)
        if (like->positions[i].site > block->highest_site)
            block->highest_site = like->positions[i].site;
    block->positions = copied(like->positions, like->position_count, sizeof *like->positions);
    block->varying = copied(like->varying, like->varying_count, sizeof *like->varying);
    block->fetches = copied(like->fetches, like->instruction_count, sizeof *like->fetches);
    block_count = number + 1;
    return block;
}

const memtrace_block *memtrace_block_at(uint32_t number) {
    return number < block_count ? &block_pieces[number / PIECE][number % PIECE] : NULL;
}

uint32_t memtrace_block_count(void) {
    return block_count;
}

/* ------------------------------------------------------------ system calls */

/** Blocks of system calls; a program makes them in few places. */
static SN_VECTOR(const memtrace_block *) system_blocks;

static const memtrace_block *find_system_block(uint64_t address, uint64_t number) {
    for (size_t i = 0; i < system_blocks.count; i++) {
        const memtrace_site *site = memtrace_site_at(system_blocks.items[i]->varying[0].site);
        if (site->address == address && site->system_number == number)
            return system_blocks.items[i];
    }
    return NULL;
}

const memtrace_block *memtrace_system_block(uint64_t address, uint64_t number, const char *name) {
    memtrace_code_lock();
    const memtrace_block *block = find_system_block(address, number);
    if (!block) {
        memtrace_step step = {.site = memtrace_site_number(&(memtrace_site){
            .address = address, .kind = MEMTRACE_SYSTEM, .system_call = name, .system_number = number})};
        block = memtrace_block_new(&(memtrace_block){.varying = &step, .varying_count = 1});
        *sn_vector_add(&system_blocks) = block;
    }
    memtrace_code_unlock();
    return block;
}
