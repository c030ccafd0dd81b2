/**
 * @fileoverview Reserving shadow memories, and keeping them in step with the client's mappings: see <sonde/shadow.h>.
 *
 * The shadow of address A lies at ((A << left) >> right) + base. Up to 16 bits for each byte nothing is shifted out, and the two
 * windows of the client (jit/layout.h) have two ranges of shadow, far apart; what other addresses would lead to, of those that a
 * program can have, is mapped by nobody, or is the engine's, of which analysis code only reads. Wider shadows would not fit
 * below the end of the address space so: the upper bits of the address are shifted out, and both windows have one range: the data
 * window begins where, by its low bits, the low window ends. With 64 bits a byte only 42 bits of the address are left, and no two
 * of the client's addresses may have the same: see keep_apart().
 */
#include <sys/mman.h>

#include "base/log.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/events.h"
#include "guest/placement.h"
#include "jit/layout.h"
#include "service/shadow.h"

sn_shadow_memories sn_shadow_all;

#define TERABYTE (UINT64_C(1) << 40)

/** Where ranges of shadow may lie: above the client, and below where the kernel puts position-independent programs (two thirds of
    the address space, 85.3 TiB), and further up to where it puts libraries. */
static const struct {
    uint64_t start, end;
} rooms[] = {{SN_DATA_END, 85 * TERABYTE}, {88 * TERABYTE, 126 * TERABYTE}};

/** Where both of a pair of addresses that lie 4 TiB apart would have the same shadow of 64 bits. */
#define ALIASED_START SN_BREAK_END
#define ALIASED_END (SN_BREAK_END + 4 * TERABYTE)

/* ------------------------------------------------------------------------------------------------ address space */

typedef struct range {
    uint64_t start, size;
} range;

static bool map(range want) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *got = mmap((void *)want.start, want.size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (got == MAP_FAILED) return false;
    if ((uint64_t)got != want.start) {
        munmap(got, want.size);
        return false;
    }
    /* Sparse: huge pages would take 512 times what is written. And nothing for a core file. */
    madvise(got, want.size, MADV_NOHUGEPAGE);
    madvise(got, want.size, MADV_DONTDUMP);
    return true;
}

/** Of addresses from `start` to before `end` of the client. A page more, as a load of the last byte's shadow may reach over it. */
static range shadow_of(const sn_shadow_memory *memory, uint64_t start, uint64_t end) {
    uint64_t first = ((start << memory->left) >> memory->right) & ~(SN_PAGE_SIZE - 1);
    uint64_t last = (((end - 1) << memory->left) >> memory->right) + 1;
    return (range){memory->base + first, ((last - first + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1)) + SN_PAGE_SIZE};
}

/** The ranges that a shadow takes at its base. */
static unsigned ranges_of(const sn_shadow_memory *memory, range ranges[2]) {
    if (memory->bits > 16) {
        ranges[0] = (range){memory->base, ((UINT64_MAX >> memory->right) + 1) + SN_PAGE_SIZE};
        return 1;
    }
    ranges[0] = shadow_of(memory, 0, SN_LOW_END);
    ranges[1] = shadow_of(memory, SN_DATA_START, SN_DATA_END);
    return 2;
}

static bool map_at(sn_shadow_memory *memory, uint64_t base) {
    range ranges[2];
    memory->base = base;
    unsigned count = ranges_of(memory, ranges);
    for (unsigned i = 0; i < count; i++) {
        if (map(ranges[i])) continue;
        if (i) munmap((void *)ranges[0].start, ranges[0].size);
        return false;
    }
    return true;
}

/** Whether all that lies between the first and the last range is in one room. */
static bool fits(sn_shadow_memory *memory, uint64_t base, uint64_t end) {
    range ranges[2];
    memory->base = base;
    const range *last = &ranges[ranges_of(memory, ranges) - 1];
    return last->start + last->size <= end;
}

static bool reserve(sn_shadow_memory *memory) {
    for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++)
        for (uint64_t base = rooms[i].start; fits(memory, base, rooms[i].end); base += TERABYTE / 4)
            if (map_at(memory, base)) return true;
    return false;
}

/* --------------------------------------------------------------------------------------------- the client's mappings */

static void clear(uint64_t start, uint64_t end) {
    for (unsigned i = 0; i < sn_shadow_all.count; i++) sn_shadow_fill(&sn_shadow_all.items[i], start, end - start, 0);
}

static void unmapped(uint64_t start, uint64_t end) {
    if (sn_shadow_covers(start, end - start)) clear(start, end);
}

static void moved(uint64_t from, uint64_t to, uint64_t size) {
    if (!sn_shadow_covers(from, size) || !sn_shadow_covers(to, size)) return;
    for (unsigned i = 0; i < sn_shadow_all.count; i++) sn_shadow_copy(&sn_shadow_all.items[i], to, from, size);
    clear(from, from + size);
}

/** Nothing of the client is placed where two of its addresses would have the same shadow; what asks for such an address is told. */
static void mapped(uint64_t start, uint64_t end) {
    for (unsigned i = 0; i < sn_shadow_all.count; i++)
        if (sn_shadow_all.items[i].bits == 64 && start < ALIASED_END && end > ALIASED_START)
            sn_fail(SN_STATUS_ENGINE, "the program maps memory at 0x%llx, where shadows of 64 bits have no room",
                    (unsigned long long)start);
}

static void keep_apart(void) { sn_placement_keep_out(ALIASED_START, ALIASED_END); }

/* --------------------------------------------------------------------------------------------------------- beginning */

static sn_shadow_memory form_of(unsigned bits) {
    static const struct {
        uint8_t left, right;
    } shifts[] = {{0, 3}, {0, 2}, {0, 1}, {0, 0}, {1, 0}, {21, 19}, {22, 19}};
    unsigned log = (unsigned)__builtin_ctz(bits);
    return (sn_shadow_memory){.bits = (uint8_t)bits, .bits_log = (uint8_t)log, .left = shifts[log].left, .right = shifts[log].right};
}

const sn_shadow_memory *sn_shadow_memory_new(unsigned bits) {
    if (!bits || bits > 64 || bits & (bits - 1)) sn_fail(SN_STATUS_ENGINE, "the tool asks for shadows of %u bits", bits);
    if (sn_shadow_all.count == SN_MOST_SHADOW_MEMORIES)
        sn_fail(SN_STATUS_ENGINE, "the tool asks for more than %d shadow memories", SN_MOST_SHADOW_MEMORIES);
    sn_shadow_memory *memory = &sn_shadow_all.items[sn_shadow_all.count];
    *memory = form_of(bits);
    if (!reserve(memory)) sn_fail(SN_STATUS_ENGINE, "no address space for shadows of %u bits: see vm.overcommit_memory", bits);
    if (bits == 64) keep_apart();
    if (!sn_shadow_all.count++) sn_memory_listening = (sn_memory_listener){mapped, unmapped, moved};
    return memory;
}
