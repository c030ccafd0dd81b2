/**
 * @fileoverview Records of translated blocks: see block.h.
 */
#include "jit/block.h"

#include <string.h>

#include "jit/cache.h"
#include "jit/insert.h"
#include "jit/layout.h"
#include "jit/table.h"
#include "jit/thread_offsets.h"

#define MOST_BLOCKS (UINT32_C(1) << 23)

sn_lock sn_jit_lock;

/** One stretch of a block's client code within one page. */
typedef struct page_note {
    uint32_t block;
    uint32_t next;
} page_note;

static sn_table blocks, exits, places, analyses, calls, notes;

/* Open-addressing tables on client address and page number. A zero number means empty; discarded blocks stay as
   tombstones until the table is rebuilt. */
typedef struct address_table {
    struct address_entry { uint64_t key; uint32_t value; uint32_t used; } *entries;
    size_t capacity, used;
} address_table;

static address_table by_client, by_page;

static size_t slot_of(uint64_t key, size_t capacity) {
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (capacity - 1);
}

static void address_table_allocate(address_table *table, size_t capacity) {
    table->entries = mmap(NULL, capacity * sizeof *table->entries, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
    if (table->entries == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "out of memory for the translator's tables");
    table->capacity = capacity;
    table->used = 0;
}

static struct address_entry *address_table_slot(address_table *table, uint64_t key) {
    size_t at = slot_of(key, table->capacity);
    while (table->entries[at].used && table->entries[at].key != key) at = (at + 1) & (table->capacity - 1);
    return &table->entries[at];
}

static void address_table_set(address_table *table, uint64_t key, uint32_t value) {
    if (2 * (table->used + 1) > table->capacity) {
        address_table old = *table;
        size_t live = 0;
        for (size_t i = 0; i < old.capacity; i++) live += old.entries[i].value != 0;
        address_table_allocate(table, 4 * (live + 1) > old.capacity ? 2 * old.capacity : old.capacity);
        for (size_t i = 0; i < old.capacity; i++)
            if (old.entries[i].value) address_table_set(table, old.entries[i].key, old.entries[i].value);
        munmap(old.entries, old.capacity * sizeof *old.entries);
    }
    struct address_entry *entry = address_table_slot(table, key);
    if (!entry->used) {
        entry->used = 1;
        entry->key = key;
        table->used++;
    }
    entry->value = value;
}

static uint32_t address_table_get(address_table *table, uint64_t key) {
    return address_table_slot(table, key)->value;
}

static void reset_counts(void) {
    /* Number 0 means "none" everywhere. */
    sn_table_add(&blocks, 1);
    sn_table_add(&exits, SN_EXIT_FIRST_BLOCK_EXIT);
    sn_table_add(&notes, 1);
    sn_table_add(&calls, 1);
    sn_table_add(&analyses, 16);
}

void sn_blocks_init(void) {
    sn_table_init(&blocks, sizeof(sn_block_record), MOST_BLOCKS);
    sn_table_init(&exits, sizeof(sn_exit_record), 4 * (size_t)MOST_BLOCKS);
    sn_table_init(&places, sizeof(sn_place), 16 * (size_t)MOST_BLOCKS);
    sn_table_init(&notes, sizeof(page_note), 2 * (size_t)MOST_BLOCKS);
    sn_table_init(&calls, sizeof(sn_call_record), 8 * (size_t)MOST_BLOCKS);
    sn_table_init(&analyses, 1, UINT64_C(1) << 31);
    reset_counts();
    address_table_allocate(&by_client, 1 << 13);
    address_table_allocate(&by_page, 1 << 9);
}

void sn_blocks_clear(void) {
    sn_table_clear(&blocks);
    sn_table_clear(&exits);
    sn_table_clear(&places);
    sn_table_clear(&notes);
    sn_table_clear(&calls);
    sn_table_clear(&analyses);
    reset_counts();
    memset(by_client.entries, 0, by_client.capacity * sizeof *by_client.entries);
    memset(by_page.entries, 0, by_page.capacity * sizeof *by_page.entries);
    by_client.used = by_page.used = 0;
}

uint32_t sn_block_count(void) { return (uint32_t)blocks.count; }
sn_block_record *sn_block_record_at(uint32_t number) { return sn_table_at(&blocks, number); }
sn_exit_record *sn_exit_record_at(uint32_t number) { return sn_table_at(&exits, number); }
sn_analysis_record *sn_analysis_record_at(uint32_t number) { return sn_table_at(&analyses, number); }
sn_call_record *sn_call_record_at(uint32_t number) { return sn_table_at(&calls, number); }
const sn_place *sn_places_of(const sn_block_record *block) { return sn_table_at(&places, block->first_place); }

uint32_t sn_block_new(void) {
    uint32_t number = (uint32_t)sn_table_add(&blocks, 1);
    sn_block_record *block = sn_block_record_at(number);
    memset(block, 0, sizeof *block);
    block->first_exit = (uint32_t)exits.count;
    block->first_place = (uint32_t)places.count;
    return number;
}

uint32_t sn_exit_new(uint32_t block, uint64_t target) {
    uint32_t number = (uint32_t)sn_table_add(&exits, 1);
    sn_exit_record *exit = sn_exit_record_at(number);
    *exit = (sn_exit_record){.target = target, .block = block};
    sn_block_record_at(block)->exit_count++;
    return number;
}

void sn_place_add(sn_block_record *block, const sn_place *place) {
    sn_place *new = sn_table_at(&places, sn_table_add(&places, 1));
    *new = *place;
    block->place_count++;
}

sn_entry_counter *sn_analysis_counters(sn_analysis_record *record) { return (sn_entry_counter *)(record + 1); }

sn_iteration_counter *sn_analysis_iterations(sn_analysis_record *record) {
    return (sn_iteration_counter *)(sn_analysis_counters(record) + record->counter_count);
}

int32_t *sn_analysis_clients(sn_analysis_record *record) {
    return (int32_t *)(sn_analysis_iterations(record) + record->iteration_count);
}

uint16_t *sn_analysis_labels(sn_analysis_record *record) {
    return (uint16_t *)(sn_analysis_clients(record) + record->instruction_count + 1);
}

uint32_t sn_analysis_new(const sn_block *block) {
    unsigned repeated = 0;
    for (unsigned i = 0; i < block->count; i++) repeated += block->iterations[i].present;
    size_t size = sizeof(sn_analysis_record) + block->entry_count * sizeof(sn_entry_counter) +
                  repeated * sizeof(sn_iteration_counter) + (block->count + 1) * sizeof(int32_t) +
                  (block->is_full ? block->count * sizeof(uint16_t) : 0);
    uint32_t number = (uint32_t)sn_table_add(&analyses, (size + 15) & ~(size_t)15);
    sn_analysis_record *record = sn_analysis_record_at(number);
    *record = (sn_analysis_record){.data = block->data,
                                   .counter_count = (uint16_t)block->entry_count,
                                   .instruction_count = (uint16_t)block->count,
                                   .has_labels = block->is_full};
    for (unsigned i = 0; i < block->entry_count; i++)
        sn_analysis_counters(record)[i] = (sn_entry_counter){block->entry[i].counter, block->entry[i].amount};
    for (unsigned i = 0; i < block->count; i++)
        if (block->iterations[i].present)
            sn_analysis_iterations(record)[record->iteration_count++] = (sn_iteration_counter){
                i, block->iterations[i].iterations, block->iterations[i].empty};
    for (unsigned i = 0; i < block->count; i++)
        sn_analysis_clients(record)[i] = (int32_t)(block->insns[i].pc - block->address);
    const sn_insn *last = &block->insns[block->count - 1];
    sn_analysis_clients(record)[block->count] = (int32_t)(last->pc + last->length - block->address);
    if (block->is_full) memset(sn_analysis_labels(record), 0, block->count * sizeof(uint16_t));
    return number;
}

/* Calls share the exit numbers' space, counted from its top. */
uint32_t sn_call_new(void) { return (uint32_t)sn_table_add(&calls, 1); }
bool sn_exit_is_call(uint32_t exit) { return exit >> 31; }
uint32_t sn_exit_of_call(uint32_t call) { return call | UINT32_C(1) << 31; }
uint32_t sn_call_of_exit(uint32_t exit) { return exit & ~(UINT32_C(1) << 31); }

bool sn_block_note_code(uint32_t number, uint64_t start, uint64_t end) {
    bool fresh = false;
    for (uint64_t page = start / SN_PAGE_SIZE; page <= (end - 1) / SN_PAGE_SIZE; page++) {
        uint32_t first = address_table_get(&by_page, page);
        if (first && ((page_note *)sn_table_at(&notes, first))->block == number) continue;
        uint32_t new = (uint32_t)sn_table_add(&notes, 1);
        *(page_note *)sn_table_at(&notes, new) = (page_note){.block = number, .next = first};
        address_table_set(&by_page, page, new);
        fresh |= !first;
    }
    return fresh;
}

/** No code that is translated has an address of 64 bits. */
static uint64_t client_key(unsigned version, uint64_t client) { return client | (uint64_t)version << 63; }

void sn_block_publish(uint32_t number) {
    sn_block_record *block = sn_block_record_at(number);
    block->valid = true;
    if (block->is_full) return; /* it is found by way of the clean one */
    address_table_set(&by_client, client_key(block->version, block->client), number);
}

uint32_t sn_block_find(unsigned version, uint64_t client) {
    return client >> 63 ? 0 : address_table_get(&by_client, client_key(version, client));
}

uint32_t sn_block_at_cache(uint64_t cache) {
    /* Blocks are laid out in the order of their numbers. */
    size_t low = 1, high = blocks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const sn_block_record *block = sn_table_at(&blocks, middle);
        if (block->start && cache >= (uint64_t)block->start + block->size) low = middle + 1;
        else high = middle;
    }
    if (low >= blocks.count) return 0;
    const sn_block_record *block = sn_table_at(&blocks, low);
    return block->start && cache >= block->start && cache < (uint64_t)block->start + block->size ? (uint32_t)low : 0;
}

uint64_t sn_place_client(const sn_block_record *block, const sn_place *place) {
    if (!(place->kind & SN_PLACE_ANALYSED)) return block->client + (uint64_t)(int64_t)place->client;
    const int32_t *clients = sn_analysis_clients(sn_analysis_record_at(block->analysis));
    return block->client + (uint64_t)(int64_t)clients[place->index & ~SN_PLACE_FLAGS_SAVED];
}

const sn_place *sn_place_of(const sn_block_record *block, uint64_t cache) {
    const sn_place *first = sn_places_of(block);
    unsigned offset = (unsigned)(cache - block->start), low = 0, high = block->place_count;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (first[middle].offset <= offset) low = middle;
        else high = middle;
    }
    return &first[low];
}

uint32_t sn_exit_arrival(const sn_exit_record *exit, const sn_block_record *block) {
    if (exit->to_full && block->is_full) return block->start + sn_analysis_labels(sn_analysis_record_at(block->analysis))[exit->index];
    return exit->is_noted_call && block->called_entry ? block->called_entry : block->entry;
}

void sn_exit_link(uint32_t number, uint32_t target) {
    sn_exit_record *exit = sn_exit_record_at(number);
    sn_block_record *block = sn_block_record_at(target);
    const sn_block_record *from = sn_block_record_at(exit->block);
    if (!exit->site || exit->next || block->incoming == number || !from->valid || from->version != block->version) return;
    exit->next = block->incoming ? block->incoming : UINT32_MAX;
    block->incoming = number;
    uint32_t arrival = sn_exit_arrival(exit, block);
    sn_patch_site(exit->site, arrival);
    /* The pinned entry lies behind the called one. */
    bool alike = (arrival == block->called_entry || !block->called_entry) && exit->pinned_site && block->pinned_entry && exit->pinned_as == block->pinned_as;
    if (alike) sn_patch_site(exit->pinned_site, block->pinned_entry);
}

void sn_block_discard(uint32_t number) {
    sn_block_record *block = sn_block_record_at(number);
    if (!block->valid) return;
    block->valid = false;
    unsigned version = block->version;
    if (sn_block_find(version, block->client) == number) address_table_set(&by_client, client_key(version, block->client), 0);
    sn_indirect_forget(version, block->client, block->start);
    if (block->landing) sn_indirect_forget(version, block->client + block->landing_delta, block->landing);
    uint32_t at = block->incoming;
    while (at && at != UINT32_MAX) {
        sn_exit_record *exit = sn_exit_record_at(at);
        sn_patch_site(exit->site, exit->stub);
        if (exit->pinned_site) sn_patch_site(exit->pinned_site, exit->pinned_site + sizeof(int32_t));
        at = exit->next;
        exit->next = 0;
    }
    block->incoming = 0;
}

unsigned sn_blocks_discard_range(uint64_t start, uint64_t end) {
    unsigned discarded = 0;
    uint64_t first = start / SN_PAGE_SIZE, last = (end + SN_PAGE_SIZE - 1) / SN_PAGE_SIZE;
    bool all = last - first > by_page.capacity;
    size_t steps = all ? by_page.capacity : last - first;
    for (size_t i = 0; i < steps; i++) {
        struct address_entry *entry = all ? &by_page.entries[i] : address_table_slot(&by_page, first + i);
        if (!entry->used || entry->key < first || entry->key >= last) continue;
        for (uint32_t at = entry->value; at;) {
            page_note *note = sn_table_at(&notes, at);
            discarded += sn_block_record_at(note->block)->valid;
            sn_block_discard(note->block);
            at = note->next;
        }
        entry->value = 0;
    }
    return discarded;
}
