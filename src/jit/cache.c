/**
 * @fileoverview The code cache: see cache.h.
 *
 * Layout of the cache's range, from its start: the hash tables of the general lookup (512 KiB for each version of the code), the system call table
 * (64 KiB), the runtime code, then blocks in the order of their numbers.
 */
#include "jit/cache.h"

#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/settings.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/versions.h"

#define LOOKUP_TABLE SN_CACHE_START
#define LOOKUP_TABLE_SIZE UINT64_C(0x80000)
#define SYSCALL_TABLE (LOOKUP_TABLE + SN_VERSIONS * LOOKUP_TABLE_SIZE)
#define RUNTIME (SYSCALL_TABLE + SN_SYSCALL_TABLE_SIZE)
#define RUNTIME_SIZE UINT64_C(0x10000)
#define BLOCKS (RUNTIME + RUNTIME_SIZE)
/** Never translate with less room than this. */
#define LEAST_ROOM 0x20000
/** A block is not larger (places have offsets of 16 bits). */
#define MOST_BYTES 0x10000

uint64_t sn_runtime_enter_address;

static uint8_t *cursor;
static uint8_t *limit;

static void reserve(uint64_t start, uint64_t end, int protection, const char *what) {
    void *got = mmap((void *)start, end - start, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != (void *)start) {
        if (got != MAP_FAILED) munmap(got, end - start);
        sn_fail(SN_STATUS_ENGINE, "cannot reserve address space for the %s (is there a limit: ulimit -v, ulimit -d?)", what);
    }
}

void sn_cache_init(void) {
    uint64_t end = SN_CACHE_END;
    if (sn_settings_current.cache_size && BLOCKS + sn_settings_current.cache_size < end)
        end = (BLOCKS + sn_settings_current.cache_size + 2 * LEAST_ROOM + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1);
    reserve(SN_CACHE_START, end, PROT_READ | PROT_WRITE | PROT_EXEC, "code cache");
    reserve(SN_TABLE_BASE + 8 * SN_LOW_START, SN_TABLE_END, PROT_READ | PROT_WRITE, "table of indirect branches");
    memcpy((void *)RUNTIME, sn_runtime_start, (size_t)(sn_runtime_end - sn_runtime_start));
    sn_runtime_enter_address = sn_runtime_address(sn_runtime_enter);
    limit = (uint8_t *)end;
    cursor = (uint8_t *)BLOCKS;
    sn_indirect_clear();
}

uint64_t sn_runtime_address(const void *label) {
    return RUNTIME + (uint64_t)((const char *)label - (const char *)sn_runtime_start);
}

bool sn_in_runtime(uint64_t address) { return address - RUNTIME < RUNTIME_SIZE; }
bool sn_in_cache(uint64_t address) { return address >= BLOCKS && address < SN_CACHE_END; }

uint8_t *sn_cache_cursor(size_t *room) {
    *room = (size_t)(limit - cursor);
    return cursor;
}

void sn_cache_commit(const uint8_t *end) { cursor = (uint8_t *)end; }
bool sn_cache_full(void) { return limit - cursor < LEAST_ROOM; }
bool sn_cache_has_room(void) { return limit - cursor >= MOST_BYTES; }
size_t sn_cache_used(void) { return (size_t)(cursor - (uint8_t *)BLOCKS); }

void sn_cache_clear(void) {
    madvise((void *)BLOCKS, ((uint64_t)cursor - BLOCKS) & ~(SN_PAGE_SIZE - 1), MADV_DONTNEED);
    cursor = (uint8_t *)BLOCKS;
    sn_indirect_clear();
}

/* ------------------------------------------------------------ indirect branches */

static bool has_second_table;

static uint64_t table_distance(unsigned version) { return version ? SN_TABLE_DISTANCE : 0; }

static uint64_t *table_entry(unsigned version, uint64_t client) {
    return (uint64_t *)(SN_TABLE_BASE + 8 * (client + table_distance(version)));
}

static void *table_start(unsigned version) { return table_entry(version, SN_LOW_START); }
#define TABLE_SIZE (8 * (SN_LOW_END - SN_LOW_START))

void sn_indirect_second_table(void) {
    uint64_t start = (uint64_t)table_start(1);
    reserve(start, start + TABLE_SIZE, PROT_READ | PROT_WRITE, "second table of indirect branches");
    has_second_table = true;
}

/** What an entry is where there is no block: the way to the dispatcher. */
static uint64_t miss(unsigned version) { return sn_runtime_address(version ? sn_runtime_miss_second : sn_runtime_miss); }

uint64_t sn_general_table(unsigned version) { return LOOKUP_TABLE + version * LOOKUP_TABLE_SIZE; }

/** Where the general lookup finds a client address, and the upper half of what it finds there (switch.S). */
static uint64_t *lookup_word(unsigned version, uint64_t client) {
    return (uint64_t *)sn_general_table(version) + (client & 0xffff);
}
static uint64_t lookup_key(uint64_t client) { return (uint64_t)__builtin_bswap32(-(uint32_t)(client >> 16)) << 32; }

/* An entry that is filled in already is the landing of a call, which must not get lost: it leads to the block too. */
void sn_indirect_publish(unsigned version, uint64_t client, uint64_t start) {
    if (!sn_in_low_window(client)) return;
    uint64_t *entry = table_entry(version, client), now = *entry;
    if (!now || now == miss(version)) __atomic_store_n(entry, start, __ATOMIC_RELEASE);
}

void sn_indirect_land(unsigned version, uint64_t client, uint64_t landing) {
    __atomic_store_n(table_entry(version, client), landing, __ATOMIC_RELEASE);
}

void sn_indirect_expect(uint64_t client) {
    if (!sn_in_low_window(client)) return;
    for (unsigned version = 0; version <= has_second_table; version++) {
        uint64_t *entry = table_entry(version, client);
        if (!*entry) *entry = miss(version);
    }
}

/* One store: readers take no lock, and must not find the cache address of one client address with the key of another. */
void sn_general_publish(unsigned version, uint64_t client, uint64_t start) {
    if (client >> 48) return;
    __atomic_store_n(lookup_word(version, client), lookup_key(client) | start, __ATOMIC_RELEASE);
}

void sn_indirect_forget(unsigned version, uint64_t client, uint64_t start) {
    uint64_t *entry = table_entry(version, client), *word = lookup_word(version, client);
    if (sn_in_low_window(client) && *entry == start) __atomic_store_n(entry, miss(version), __ATOMIC_RELEASE);
    if (*word == (lookup_key(client) | start)) __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

void sn_indirect_clear(void) {
    for (unsigned version = 0; version <= has_second_table; version++)
        madvise(table_start(version), TABLE_SIZE, MADV_DONTNEED);
    madvise((void *)LOOKUP_TABLE, SN_VERSIONS * LOOKUP_TABLE_SIZE, MADV_DONTNEED);
}

/* ------------------------------------------------------------------ system calls */

void sn_emulate_syscall(unsigned number, bool emulate) { ((uint8_t *)SYSCALL_TABLE)[number & 0xffff] = emulate; }
void sn_emulate_all_syscalls(void) { memset((void *)SYSCALL_TABLE, 1, SN_SYSCALL_TABLE_SIZE); }
uint64_t sn_syscall_table_address(void) { return SYSCALL_TABLE; }
