/**
 * @fileoverview The records of the client's blocks, and the tables that find them by address: see heap.h.
 *
 * A table has an entry for each 32 bytes of the program's memory: the number of a record of a block that begins there, which leads
 * to those of others. One of many locks is held for the few instructions that change it, once there are threads. Runs in the code cache too: calls nothing outside, compiled for general registers only.
 */
#include "sonde/spin.h"
#include "jit/layout.h"
#include "service/context_tree.h"
#include "service/heap.h"

sn_heap_shared sn_heap;

/* ------------------------------------------------------------------------------------------ records of threads */

enum { BATCH = 256 };

static sn_heap_block *record(uint32_t number) { return &sn_heap.records[number]; }
static uint32_t number_of(const sn_heap_block *block) { return (uint32_t)(block - sn_heap.records); }

/** From the pool, else new ones. */
static void get_records(sn_heap_thread *own) {
    sn_spin_acquire(&sn_heap.lock);
    uint32_t batch = sn_heap.pool;
    if (batch) sn_heap.pool = (uint32_t)record(batch)->word;
    sn_spin_release(&sn_heap.lock);
    if (batch) {
        own->free_first = batch;
        own->free_count = (uint32_t)record(batch)->born;
        return;
    }
    if (__atomic_load_n(&sn_heap.next_record, __ATOMIC_RELAXED) > SN_HEAP_MOST_BLOCKS - BATCH) return;
    uint32_t first = __atomic_fetch_add(&sn_heap.next_record, BATCH, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < BATCH; i++) record(first + i)->next = i + 1 < BATCH ? first + i + 1 : 0;
    own->free_first = first;
    own->free_count = BATCH;
}

static void give_batch(uint32_t first, uint32_t count) {
    record(first)->born = count;
    sn_spin_acquire(&sn_heap.lock);
    record(first)->word = sn_heap.pool;
    sn_heap.pool = first;
    sn_spin_release(&sn_heap.lock);
}

void sn_heap_give_records(sn_heap_thread *own) {
    if (own->free_first) give_batch(own->free_first, own->free_count);
    own->free_first = own->free_count = 0;
}

/** Half of many go to the pool: a thread may free what others allocate. */
static void free_record(sn_heap_thread *own, sn_heap_block *block) {
    block->state = SN_HEAP_NONE;
    block->next = own->free_first;
    own->free_first = number_of(block);
    if (++own->free_count < 2 * BATCH) return;
    uint32_t first = own->free_first, last = first;
    for (unsigned i = 1; i < BATCH; i++) last = record(last)->next;
    own->free_first = record(last)->next;
    own->free_count -= BATCH;
    record(last)->next = 0;
    give_batch(first, BATCH);
}

static sn_heap_block *new_record(sn_heap_thread *own) {
    if (!own->free_first) get_records(own);
    if (!own->free_first) return 0;
    sn_heap_block *block = record(own->free_first);
    own->free_first = block->next;
    own->free_count--;
    return block;
}

/* ------------------------------------------------------------------------------------------------- the tables */

static uint32_t *entry_of(uint64_t address) {
    if (sn_in_data_window(address)) return &sn_heap.table[(address - SN_DATA_START) / SN_HEAP_GRANULE];
    if (sn_in_low_window(address)) return &sn_heap.low_table[address / SN_HEAP_GRANULE];
    return 0;
}

static uint32_t *lock_of(const uint32_t *entry) { return &sn_heap.locks[(uint64_t)entry / sizeof *entry % SN_HEAP_LOCKS]; }

static void lock_entry(const uint32_t *entry) {
    if (sn_heap.is_shared) sn_spin_acquire(lock_of(entry));
}

static void unlock_entry(const uint32_t *entry) {
    if (sn_heap.is_shared) sn_spin_release(lock_of(entry));
}

static void enter(uint32_t *entry, sn_heap_block *block) {
    lock_entry(entry);
    block->next = *entry;
    *entry = number_of(block);
    unlock_entry(entry);
}

/** Where the number of the block at `address` stands, in the entry or in the block before; the lock is held. */
static uint32_t *find_link(uint32_t *entry, uint64_t address) {
    uint32_t *link = entry;
    while (*link && record(*link)->address != address) link = &record(*link)->next;
    return link;
}

sn_heap_block *sn_heap_take(uint64_t address) {
    uint32_t *entry = entry_of(address);
    if (!entry || !__atomic_load_n(entry, __ATOMIC_ACQUIRE)) return 0;
    lock_entry(entry);
    uint32_t *link = find_link(entry, address), number = *link;
    if (number) *link = record(number)->next;
    unlock_entry(entry);
    return number ? record(number) : 0;
}

void sn_heap_prefetch_entry(uint64_t address) {
    const uint32_t *entry = entry_of(address);
    if (entry) __builtin_prefetch(entry, 1);
}

void sn_heap_prefetch_record(uint64_t address) {
    const uint32_t *entry = entry_of(address);
    if (entry) __builtin_prefetch(record(*entry), 1);
}

void sn_heap_put_back(sn_heap_block *block) { enter(entry_of(block->address), block); }

sn_heap_block *sn_heap_at(uint64_t address) {
    sn_heap_settle();
    uint32_t *entry = entry_of(address);
    if (!entry) return 0;
    lock_entry(entry);
    uint32_t number = *find_link(entry, address);
    unlock_entry(entry);
    return number ? record(number) : 0;
}

/* -------------------------------------------------------------------------------------------------- blocks */

uint32_t sn_heap_number(const sn_heap_block *block) { return number_of(block); }

bool sn_heap_is_allocating(sn_thread *thread) { return sn_heap_thread_of(thread)->depth > 0; }

uint64_t sn_heap_allocated(void) { return __atomic_load_n(&sn_heap.allocated, __ATOMIC_RELAXED); }

void sn_heap_attend(void) {
    __atomic_store_n(&sn_heap.attends, 1, __ATOMIC_RELEASE);
}

static uint64_t clock(sn_thread *thread) {
    return sn_heap.options.clock ? sn_heap.options.clock(thread) : sn_heap_allocated();
}

sn_heap_block *sn_heap_add(sn_thread *thread, uint64_t address, uint64_t requested, uint64_t usable,
                           sn_context context) {
    uint32_t *entry = entry_of(address);
    sn_heap_thread *own = sn_heap_thread_of(thread);
    sn_heap_block *older = sn_heap_take(address); /* freed in a way that was not seen */
    if (older) sn_heap_end(thread, older);
    sn_heap_block *block = entry ? new_record(own) : 0;
    if (!block) return 0;
    if (sn_heap.is_shared) __atomic_fetch_add(&sn_heap.allocated, requested, __ATOMIC_RELAXED);
    else sn_heap.allocated += requested;
    block->address = address;
    block->requested = requested;
    block->usable = usable > requested ? usable : requested;
    block->born = clock(thread);
    block->died = block->word = 0;
    block->context = context;
    block->thread = sn_thread_id(thread);
    block->death_thread = 0;
    block->state = SN_HEAP_LIVE;
    enter(entry, block);
    if (sn_heap.options.allocated) sn_heap.options.allocated(thread, block);
    return block;
}

/** Keep it among the freed ones; returns the one that must go for it, or NULL. */
static sn_heap_block *keep(sn_heap_block *block) {
    uint64_t position = __atomic_fetch_add(&sn_heap.kept_position, 1, __ATOMIC_RELAXED) % sn_heap.options.kept;
    uint32_t older = __atomic_exchange_n(&sn_heap.kept[position], number_of(block), __ATOMIC_ACQ_REL);
    return older ? record(older) : 0;
}

void sn_heap_end(sn_thread *thread, sn_heap_block *block) {
    block->died = clock(thread);
    block->death_thread = sn_thread_id(thread);
    block->death = sn_heap.options.death ? sn_context_resolve(thread) : SN_NO_CONTEXT;
    block->state = SN_HEAP_FREED;
    if (sn_heap.options.freed) sn_heap.options.freed(thread, block);
    if (sn_heap.options.kept) block = keep(block);
    if (block) free_record(sn_heap_thread_of(thread), block);
}
