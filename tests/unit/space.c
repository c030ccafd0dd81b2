/**
 * @fileoverview Unit test of the client's address space: src/guest/space*.c, regions.c, placement.c, watched_pages.c.
 *
 * The test's own process is the host. Besides single cases, a long random sequence of calls is checked after each call
 * against a model of one entry a page, and every few calls against /proc/self/maps.
 */
#include "guest/space.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/x86_64/raw_syscall.h"
#include "guest/space_internal.h"
#include "jit/layout.h"
#include "unit.h"

#define PAGE SN_PAGE_SIZE
#define MEGABYTE (UINT64_C(1) << 20)

/* ------------------------------------------- the translator's side, recorded */

enum { DISCARDS_LIMIT = 64 };
static struct {
    uint64_t start, end;
} discards[DISCARDS_LIMIT];
static unsigned discard_count;

void sn_code_discard(uint64_t start, uint64_t end) {
    assert_true(discard_count < DISCARDS_LIMIT);
    assert_true(start < end);
    assert_int_equal(atomic_load(&sn_space_current.lock.state), 0); /* must not be called under the lock */
    discards[discard_count].start = start;
    discards[discard_count++].end = end;
}

static bool discarded(uint64_t address) {
    for (unsigned i = 0; i < discard_count; i++) {
        if (address >= discards[i].start && address < discards[i].end) {
            return true;
        }
    }
    return false;
}

/* -------------------------------------------------------------- small helpers */

static uint64_t map(uint64_t address, uint64_t length, int protection, int flags) {
    long result = sn_space_mmap(address, length, protection, flags | MAP_ANONYMOUS, -1, 0);
    assert_false(sn_syscall_failed(result));
    return (uint64_t)result;
}

static uint64_t map_private(uint64_t length, int protection) {
    return map(0, length, protection, MAP_PRIVATE);
}

static void unmap(uint64_t address, uint64_t length) {
    assert_int_equal(sn_space_munmap(address, length), 0);
}

static bool in_code_range(uint64_t address) {
    return address >= SN_CODE_START && address < SN_CODE_END;
}

static int protection_at(uint64_t address) {
    sn_region region;
    return sn_space_find(address, &region) ? region.protection : -1;
}

/** What the host has at an address: PROT_* or -1. */
static int host_protection_at(uint64_t address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    int found = -1;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, end;
        char permissions[5];
        assert_int_equal(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, permissions), 3);
        if (address >= start && address < end) {
            found = (permissions[0] == 'r' ? PROT_READ : 0) | (permissions[1] == 'w' ? PROT_WRITE : 0) |
                    (permissions[2] == 'x' ? PROT_EXEC : 0);
        }
    }
    fclose(maps);
    return found;
}

/** A readable file of `pages` pages; "ELF" at its start if wanted. */
static int make_file(unsigned pages, bool elf) {
    int descriptor = memfd_create("sonde-test", 0);
    assert_true(descriptor >= 0);
    assert_int_equal(ftruncate(descriptor, (off_t)(pages * PAGE)), 0);
    for (unsigned i = 0; i < pages; i++) {
        assert_int_equal(pwrite(descriptor, &i, sizeof i, (off_t)(i * PAGE + 64)), sizeof i);
    }
    if (elf) {
        assert_int_equal(pwrite(descriptor, "\177ELF", 4, 0), 4);
    }
    return descriptor;
}

/* ------------------------------------------------- the list against the host */

static void check_order(void) {
    const sn_regions *regions = &sn_space_current.regions;
    for (size_t i = 0; i < regions->count; i++) {
        const sn_region *region = &regions->items[i];
        assert_true(region->start < region->end);
        if (i > 0) {
            assert_true(region[-1].end <= region->start);
            bool same = region[-1].end == region->start && region[-1].protection == region->protection &&
                        region[-1].flags == region->flags && region[-1].kind == region->kind && region[-1].path == region->path &&
                        !region->device && !region[-1].device;
            assert_false(same); /* should have been merged */
        }
    }
}

/** Every host page in the windows is the client's, with the right protection, and the other way round. */
static void check_against_host(void) {
    uint64_t listed = 0, hosted = 0;
    check_order();
    for (size_t i = 0; i < sn_space_current.regions.count; i++) {
        const sn_region *region = &sn_space_current.regions.items[i];
        listed += sn_in_window(region->start) ? region->end - region->start : 0;
    }
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, end;
        char permissions[5];
        assert_int_equal(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, permissions), 3);
        if (!sn_in_window(start)) {
            continue;
        }
        hosted += end - start;
        for (uint64_t page = start; page < end && page < start + 512 * PAGE; page += PAGE) {
            const sn_region *region = sn_regions_find(&sn_space_current.regions, page);
            assert_non_null(region);
            int expected = sn_space_host_protection(region->protection);
            if (sn_watched_contains(&sn_space_current.watched, page)) {
                expected &= ~PROT_WRITE;
            }
            int found = (permissions[0] == 'r' ? PROT_READ : 0) | (permissions[1] == 'w' ? PROT_WRITE : 0) |
                        (permissions[2] == 'x' ? PROT_EXEC : 0);
            assert_int_equal(found, expected);
            assert_int_equal(permissions[3] == 's', (region->flags & MAP_SHARED) != 0);
        }
    }
    fclose(maps);
    assert_int_equal(listed, hosted);
}

/* ------------------------------------------------------------------ placement */

static void ordinary_memory_goes_down_the_data_window(void **state) {
    (void)state;
    uint64_t first = map_private(3 * PAGE, PROT_READ | PROT_WRITE);
    uint64_t second = map_private(PAGE, PROT_READ);
    assert_true(sn_in_data_window(first));
    assert_int_equal(second, first - PAGE);
    unmap(first, 3 * PAGE);
    assert_int_equal(map_private(2 * PAGE, PROT_READ | PROT_WRITE), first + PAGE); /* the hole is filled from its top */
    unmap(first + PAGE, 2 * PAGE);
    unmap(second, PAGE);
}

static void code_goes_up_the_code_range(void **state) {
    (void)state;
    uint64_t first = map_private(2 * PAGE, PROT_READ | PROT_EXEC);
    uint64_t second = map_private(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    assert_true(in_code_range(first));
    assert_int_equal(second, first + 3 * PAGE); /* with a page between them */
    assert_int_equal(host_protection_at(first), PROT_READ);
    assert_int_equal(host_protection_at(second), PROT_READ | PROT_WRITE);
    assert_int_equal(protection_at(second), PROT_READ | PROT_WRITE | PROT_EXEC);
    unmap(first, 2 * PAGE);
    assert_int_equal(map_private(2 * PAGE, PROT_READ | PROT_EXEC), first); /* just fits, page between included */
    unmap(first, 2 * PAGE);
    uint64_t larger = map_private(3 * PAGE, PROT_READ | PROT_EXEC); /* would touch its neighbour */
    assert_int_equal(larger, second + 2 * PAGE);
    unmap(larger, 3 * PAGE);
    unmap(second, PAGE);
    uint64_t only = map_private(PAGE, PROT_EXEC);
    assert_int_equal(host_protection_at(only), PROT_READ);
    assert_int_equal(protection_at(only), PROT_EXEC);
    unmap(only, PAGE);
}

static void files_go_by_their_kind(void **state) {
    (void)state;
    int plain = make_file(4, false), elf = make_file(4, true);
    long data = sn_space_mmap(0, 4 * PAGE, PROT_READ, MAP_PRIVATE, plain, 0);
    long code = sn_space_mmap(0, 4 * PAGE, PROT_READ, MAP_PRIVATE, elf, 0);
    long shared = sn_space_mmap(0, 4 * PAGE, PROT_READ, MAP_SHARED, elf, 0);
    assert_true(sn_in_data_window((uint64_t)data));
    assert_true(in_code_range((uint64_t)code));
    assert_true(sn_in_data_window((uint64_t)shared));
    sn_region region;
    assert_true(sn_space_find((uint64_t)code + PAGE, &region));
    assert_string_equal(region.path, "/memfd:sonde-test (deleted)");
    /* A hole in the middle leaves two pieces, each with its offset; the same piece put back closes it. */
    unmap((uint64_t)code + PAGE, PAGE);
    assert_true(sn_space_find((uint64_t)code + 2 * PAGE, &region));
    assert_int_equal(region.offset, 2 * PAGE);
    assert_int_equal(sn_space_mmap((uint64_t)code + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, elf, PAGE),
                     code + (long)PAGE);
    assert_true(sn_space_find((uint64_t)code + PAGE, &region));
    assert_int_equal(region.end - region.start, 4 * PAGE);
    assert_int_equal(*(unsigned *)(code + 3 * (long)PAGE + 64), 3);
    close(plain);
    close(elf);
    unmap((uint64_t)data, 4 * PAGE);
    unmap((uint64_t)code, 4 * PAGE);
    unmap((uint64_t)shared, 4 * PAGE);
    check_against_host();
}

static void reservations_of_compilers_go_near_the_cache(void **state) {
    (void)state;
    const int flags = MAP_PRIVATE | MAP_NORESERVE;
    uint64_t small = map(0, 128 * MEGABYTE, PROT_NONE, flags);
    uint64_t stack = map(0, 200 * MEGABYTE, PROT_NONE, flags | MAP_STACK);
    uint64_t first = map(0, 240 * MEGABYTE, PROT_NONE, flags);
    uint64_t second = map(0, 500 * MEGABYTE, PROT_NONE, flags);
    uint64_t third = map(0, 240 * MEGABYTE, PROT_NONE, flags);
    assert_true(sn_in_data_window(small)); /* an arena of malloc */
    assert_true(sn_in_data_window(stack));
    assert_true(in_code_range(first));
    assert_true(in_code_range(second));
    assert_true(sn_in_data_window(third)); /* the rest is kept for libraries */
    unmap(small, 128 * MEGABYTE);
    unmap(stack, 200 * MEGABYTE);
    unmap(first, 240 * MEGABYTE);
    unmap(second, 500 * MEGABYTE);
    unmap(third, 240 * MEGABYTE);
}

static void a_full_code_range_spills_over(void **state) {
    (void)state;
    uint64_t all = map(SN_CODE_START, SN_CODE_END - SN_CODE_START, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED);
    uint64_t code = map_private(PAGE, PROT_READ | PROT_EXEC);
    uint64_t low = map(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_32BIT);
    assert_true(sn_in_data_window(code));
    assert_true(low >= SN_LOW_START && low < SN_CODE_START);
    unmap(all, SN_CODE_END - SN_CODE_START);
    unmap(code, PAGE);
    unmap(low, PAGE);
}

static uint64_t map_code_of(int file) {
    long result = sn_space_mmap(0, 4 * PAGE, PROT_READ, MAP_PRIVATE, file, 0);
    assert_true(in_code_range((uint64_t)result));
    return (uint64_t)result;
}

/** An address in a profile must not have meant code of two files. */
static void code_does_not_go_where_that_of_another_file_was(void **state) {
    (void)state;
    int files[3] = {make_file(4, true), make_file(4, true), make_file(4, true)};
    uint64_t first = map_code_of(files[0]);
    unmap(first, 4 * PAGE);
    uint64_t second = map_code_of(files[1]), jit = map_private(PAGE, PROT_READ | PROT_EXEC);
    assert_true(second >= first + 4 * PAGE && jit >= first + 4 * PAGE);
    assert_int_equal(map_code_of(files[0]), first);
    unmap(first, 4 * PAGE);
    unmap(second, 4 * PAGE);
    unmap(jit, PAGE);
    /* No room elsewhere: better there than far from the code cache. */
    uint64_t below = first - SN_CODE_START, above = first + 4 * PAGE;
    map(above, SN_CODE_END - above, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED);
    if (below) {
        map(SN_CODE_START, below, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED);
    }
    long last = sn_space_mmap(0, 2 * PAGE, PROT_READ, MAP_PRIVATE, files[2], 0);
    assert_true((uint64_t)last >= first && (uint64_t)last < above);
    unmap(SN_CODE_START, SN_CODE_END - SN_CODE_START);
    for (int i = 0; i < 3; i++) {
        close(files[i]);
    }
    check_against_host();
}

static void hints(void **state) {
    (void)state;
    uint64_t hint = SN_DATA_START + UINT64_C(0x70000000000);
    assert_int_equal(map(hint, PAGE, PROT_READ, MAP_PRIVATE), hint);
    uint64_t taken = map(hint, PAGE, PROT_READ, MAP_PRIVATE);
    assert_int_not_equal(taken, hint);
    uint64_t outside = map(UINT64_C(0x500000000000), PAGE, PROT_READ, MAP_PRIVATE);
    assert_true(sn_in_data_window(outside));
    uint64_t cache = map(SN_CACHE_START, PAGE, PROT_READ, MAP_PRIVATE);
    assert_true(sn_in_data_window(cache));
    assert_int_equal(map(SN_CODE_START + 0x5000123, PAGE, PROT_READ, MAP_PRIVATE), SN_CODE_START + 0x5000000);
    uint64_t low = map(hint + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_32BIT);
    assert_true(in_code_range(low));
    const uint64_t all[] = {hint, taken, outside, cache, SN_CODE_START + 0x5000000, low};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        unmap(all[i], PAGE);
    }
}

static void fixed_places(void **state) {
    (void)state;
    uint64_t place = SN_DATA_START + UINT64_C(0x60000000000);
    assert_int_equal(map(place, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED), place);
    *(int *)(place + PAGE) = 7;
    assert_int_equal(sn_space_mmap(place + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                   -1, 0), -EEXIST);
    assert_int_equal(*(int *)(place + PAGE), 7);
    assert_int_equal(map(place + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED), place + PAGE);
    assert_int_equal(*(int *)(place + PAGE), 0);
    assert_int_equal(protection_at(place), PROT_READ | PROT_WRITE);
    assert_int_equal(protection_at(place + PAGE), PROT_READ);
    unmap(place, 4 * PAGE);
    /* Outside the windows, where nothing is. */
    uint64_t outside = UINT64_C(0x500000000000);
    assert_int_equal(map(outside, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED), outside);
    *(int *)outside = 1;
    assert_int_equal(map(outside + PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED), outside + PAGE);
    assert_int_equal(*(int *)outside, 1);
    unmap(outside, 3 * PAGE);
    assert_int_equal(host_protection_at(outside), -1);
}

/** Nothing that the client asks for reaches memory that is not its own. */
static void the_engine_is_out_of_reach(void **state) {
    (void)state;
    char *own = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(own, MAP_FAILED);
    assert_int_equal(munmap(own, 3 * PAGE), 0); /* three free pages before it */
    own += 3 * PAGE;
    own[PAGE] = 42;
    uint64_t address = (uint64_t)own;
    const int fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    uint64_t movable = map_private(2 * PAGE, PROT_READ | PROT_WRITE);
    assert_int_equal(sn_space_mmap(address, 3 * PAGE, PROT_READ, fixed, -1, 0), -ENOMEM);
    assert_int_equal(sn_space_munmap(address, 3 * PAGE), -ENOMEM);
    assert_int_equal(sn_space_mprotect(address, PAGE, PROT_NONE), -ENOMEM);
    assert_int_equal(sn_space_mremap(address, PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0), -EFAULT);
    assert_int_equal(sn_space_mremap(movable, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, address), -ENOMEM);
    void *cache = mmap((void *)SN_CACHE_START, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_int_equal((uint64_t)cache, SN_CACHE_START);
    assert_int_equal(sn_space_mmap(SN_CACHE_START - PAGE, 2 * PAGE, PROT_READ, fixed, -1, 0), -ENOMEM);
    assert_int_equal(sn_space_munmap(SN_CACHE_START - PAGE, 2 * PAGE), -ENOMEM);
    assert_int_equal(munmap(cache, PAGE), 0);
    assert_int_equal(own[PAGE], 42);
    own[0] = 1;
    unmap(movable, 2 * PAGE);
    /* Ranges that begin as the client's, or where nothing is, and end in the engine's. */
    uint64_t before = address - PAGE;
    assert_int_equal(map(before, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED), before);
    assert_int_equal(sn_space_munmap(before, 2 * PAGE), -ENOMEM);
    assert_int_equal(sn_space_mmap(before - PAGE, 3 * PAGE, PROT_NONE, fixed, -1, 0), -ENOMEM);
    assert_int_equal(host_protection_at(before - PAGE), -1); /* what was held for the attempt is given back */
    assert_int_equal(protection_at(before), PROT_READ);
    assert_int_equal(own[0], 1);
    unmap(before, PAGE);
    munmap(own, 3 * PAGE);
}

static void bad_arguments(void **state) {
    (void)state;
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    assert_int_equal(sn_space_mmap(0, 0, PROT_READ, anonymous, -1, 0), -EINVAL);
    assert_int_equal(sn_space_mmap(0, UINT64_MAX, PROT_READ, anonymous, -1, 0), -ENOMEM);
    assert_int_equal(sn_space_mmap(0, UINT64_C(1) << 46, PROT_READ, anonymous, -1, 0), -ENOMEM);
    assert_int_equal(sn_space_mmap(1, PAGE, PROT_READ, anonymous | MAP_FIXED, -1, 0), -EINVAL);
    assert_int_equal(sn_space_mmap(0, PAGE, PROT_READ, MAP_PRIVATE, -1, 0), -EBADF);
    assert_int_equal(sn_space_mmap(0, PAGE, PROT_READ, MAP_PRIVATE, 0, 1), -EINVAL);
    assert_int_equal(sn_space_mmap(0, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0), -EINVAL);
    assert_int_equal(sn_space_munmap(SN_DATA_START + 1, PAGE), -EINVAL);
    assert_int_equal(sn_space_munmap(SN_DATA_START, 0), -EINVAL);
    assert_int_equal(sn_space_munmap(SN_DATA_START, PAGE), 0); /* nothing there: no error */
    assert_int_equal(sn_space_mprotect(SN_DATA_START, 0, PROT_READ), 0);
    assert_int_equal(sn_space_mprotect(SN_DATA_START, PAGE, PROT_READ), -ENOMEM);
    assert_int_equal(sn_space_mprotect(SN_DATA_START, PAGE, 0x100), -EINVAL);
    uint64_t place = map_private(PAGE, PROT_READ);
    assert_int_equal(sn_space_mremap(place, PAGE, 0, 0, 0), -EINVAL);
    assert_int_equal(sn_space_mremap(place + 1, PAGE, PAGE, 0, 0), -EINVAL);
    assert_int_equal(sn_space_mremap(place, PAGE, PAGE, MREMAP_FIXED, place), -EINVAL);
    assert_int_equal(sn_space_mremap(place, PAGE, PAGE, MREMAP_FIXED | MREMAP_MAYMOVE, place), -EINVAL);
    assert_int_equal(sn_space_mremap(place, 0, PAGE, MREMAP_MAYMOVE, 0), -EINVAL); /* not shared */
    assert_int_equal(sn_space_mremap(place, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0), -EFAULT);
    unmap(place, PAGE);
    check_against_host();
}

/* ----------------------------------------------------------------- protection */

static void protection_splits_and_merges(void **state) {
    (void)state;
    uint64_t place = map_private(4 * PAGE, PROT_READ | PROT_WRITE);
    size_t count = sn_space_current.regions.count;
    assert_int_equal(sn_space_mprotect(place + PAGE, PAGE, PROT_READ), 0);
    assert_int_equal(sn_space_current.regions.count, count + 2);
    assert_int_equal(host_protection_at(place + PAGE), PROT_READ);
    assert_int_equal(sn_space_mprotect(place + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(sn_space_current.regions.count, count);
    /* A hole ends the change; what lies before it is changed. */
    unmap(place + 2 * PAGE, PAGE);
    assert_int_equal(sn_space_mprotect(place, 4 * PAGE, PROT_READ), -ENOMEM);
    assert_int_equal(protection_at(place), PROT_READ);
    assert_int_equal(protection_at(place + 3 * PAGE), PROT_READ | PROT_WRITE);
    unmap(place, 4 * PAGE);
    check_against_host();
}

static void executable_bytes(void **state) {
    (void)state;
    uint64_t place = map_private(3 * PAGE, PROT_READ | PROT_EXEC);
    assert_int_equal(sn_space_executable(place + 16), PAGE);
    assert_int_equal(sn_space_executable(place + 3 * PAGE - 16), 16);
    assert_int_equal(sn_space_mprotect(place + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    assert_int_equal(sn_space_executable(place + 2 * PAGE - 8), PAGE); /* across two regions */
    assert_int_equal(sn_space_mprotect(place + 2 * PAGE, PAGE, PROT_READ), 0);
    assert_int_equal(sn_space_executable(place + 2 * PAGE - 8), 8);
    assert_int_equal(sn_space_executable(place + 2 * PAGE), 0);
    assert_int_equal(sn_space_executable(place - PAGE), 0);
    unmap(place, 3 * PAGE);
}

static void stale_code_is_discarded(void **state) {
    (void)state;
    uint64_t place = map_private(4 * PAGE, PROT_READ | PROT_EXEC);
    discard_count = 0;
    assert_int_equal(sn_space_mprotect(place, PAGE, PROT_READ | PROT_EXEC), 0);
    assert_int_equal(discard_count, 0); /* nothing changed */
    assert_int_equal(sn_space_mprotect(place, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    assert_true(discarded(place) && !discarded(place + PAGE));
    discard_count = 0;
    assert_int_equal(sn_space_mprotect(place, PAGE, PROT_READ | PROT_EXEC), 0);
    assert_int_equal(discard_count, 0); /* it can't have changed unseen */
    assert_int_equal(sn_space_mprotect(place + PAGE, PAGE, PROT_READ), 0);
    assert_true(discarded(place + PAGE));
    discard_count = 0;
    map(place + 2 * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED);
    assert_true(discarded(place + 2 * PAGE) && !discarded(place + 3 * PAGE));
    discard_count = 0;
    long moved = sn_space_mremap(place + 3 * PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0);
    assert_false(sn_syscall_failed(moved));
    assert_true(discarded(place + 3 * PAGE));
    discard_count = 0;
    unmap((uint64_t)moved, 2 * PAGE);
    assert_true(discarded((uint64_t)moved));
    unmap(place, 4 * PAGE);
    discard_count = 0;
    uint64_t data = map_private(PAGE, PROT_READ | PROT_WRITE);
    unmap(data, PAGE);
    assert_int_equal(discard_count, 0);
}

static void watching(void **state) {
    (void)state;
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    uint64_t place = map_private(4 * PAGE, all);
    assert_true(sn_space_watch_code(place + PAGE - 4, place + PAGE + 4));
    assert_int_equal(host_protection_at(place), PROT_READ);
    assert_int_equal(host_protection_at(place + PAGE), PROT_READ);
    assert_int_equal(host_protection_at(place + 2 * PAGE), PROT_READ | PROT_WRITE);
    assert_int_equal(protection_at(place), all);
    assert_true(sn_space_unwatch(place + 100));
    *(int *)place = 1;
    assert_int_equal(host_protection_at(place + PAGE), PROT_READ);
    assert_true(sn_space_unwatch(place + 100)); /* a second thread with the same fault */
    discard_count = 0;
    sn_space_unwatch_all();
    assert_true(discarded(place + PAGE) && !discarded(place));
    *(int *)(place + PAGE) = 1;
    /* Growing a mapping with a watched page in it, which is several mappings on the host. */
    assert_true(sn_space_watch_code(place + PAGE, place + PAGE + 1));
    discard_count = 0;
    long moved = sn_space_mremap(place, 4 * PAGE, 4096 * PAGE, MREMAP_MAYMOVE, 0);
    assert_false(sn_syscall_failed(moved));
    assert_true(discarded(place + PAGE));
    *(int *)((uint64_t)moved + PAGE) = 2;
    unmap((uint64_t)moved, 4096 * PAGE);
    /* Not writable: nothing to watch, and a write fault is the client's own. */
    uint64_t fixed = map_private(PAGE, PROT_READ | PROT_EXEC);
    assert_true(sn_space_watch_code(fixed, fixed + 10));
    assert_false(sn_space_unwatch(fixed));
    unmap(fixed, PAGE);
    uint64_t shared = map(0, PAGE, all, MAP_SHARED);
    assert_false(sn_space_watch_code(shared, shared + 10));
    unmap(shared, PAGE);
    check_against_host();
}

/* --------------------------------------------------- mremap, brk, shared memory */

static void moving(void **state) {
    (void)state;
    uint64_t place = map_private(2 * PAGE, PROT_READ | PROT_WRITE);
    *(int *)(place + PAGE) = 5;
    unmap(map_private(PAGE, PROT_READ), PAGE);
    long moved = sn_space_mremap(place, 2 * PAGE, 8 * PAGE, MREMAP_MAYMOVE, 0);
    assert_false(sn_syscall_failed(moved));
    assert_int_equal(*(int *)((uint64_t)moved + PAGE), 5);
    assert_true(sn_in_data_window((uint64_t)moved));
    assert_int_equal(sn_space_mremap((uint64_t)moved, 8 * PAGE, 3 * PAGE, 0, 0), moved);
    assert_int_equal(protection_at((uint64_t)moved + 3 * PAGE), -1);
    assert_int_equal(sn_space_mremap((uint64_t)moved, 3 * PAGE, 6 * PAGE, 0, 0), moved); /* room behind it */
    uint64_t target = SN_DATA_START + UINT64_C(0x50000000000);
    assert_int_equal(sn_space_mremap((uint64_t)moved, 6 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target),
                     (long)target);
    assert_int_equal(*(int *)(target + PAGE), 5);
    assert_int_equal(protection_at((uint64_t)moved), -1);
    assert_int_equal(protection_at((uint64_t)moved + 5 * PAGE), -1);
    check_against_host();
    enum { DONT_UNMAP = 4 };
    long copy = sn_space_mremap(target, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | DONT_UNMAP, 0);
    assert_false(sn_syscall_failed(copy));
    assert_int_equal(*(int *)((uint64_t)copy + PAGE), 5);
    assert_int_equal(*(int *)(target + PAGE), 0);
    unmap((uint64_t)copy, 4 * PAGE);
    unmap(target, 4 * PAGE);
    uint64_t shared = map(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
    long view = sn_space_mremap(shared + PAGE, 0, PAGE, MREMAP_MAYMOVE, 0);
    assert_false(sn_syscall_failed(view));
    *(int *)(shared + PAGE) = 9;
    assert_int_equal(*(int *)view, 9);
    unmap(shared, 2 * PAGE);
    unmap((uint64_t)view, PAGE);
    int file = make_file(4, false);
    long whole = sn_space_mmap(0, 4 * PAGE, PROT_READ, MAP_PRIVATE, file, 0);
    long part = sn_space_mremap((uint64_t)whole + 2 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    sn_region region;
    assert_int_equal(part, (long)target);
    assert_true(sn_space_find(target, &region));
    assert_int_equal(region.offset, 2 * PAGE);
    assert_int_equal(*(unsigned *)(target + 64), 2);
    close(file);
    unmap((uint64_t)whole, 4 * PAGE);
    unmap(target, PAGE);
    check_against_host();
}

static void program_break(void **state) {
    (void)state;
    assert_int_equal(sn_space_break(0), (long)SN_BREAK_START);
    assert_int_equal(sn_space_break(SN_BREAK_START + 100), (long)SN_BREAK_START + 100);
    *(char *)(SN_BREAK_START + 4000) = 1;
    assert_int_equal(sn_space_break(SN_BREAK_START + 10 * PAGE), (long)(SN_BREAK_START + 10 * PAGE));
    sn_region region;
    assert_true(sn_space_find(SN_BREAK_START, &region));
    assert_int_equal(region.kind, SN_REGION_BREAK);
    assert_int_equal(region.end, SN_BREAK_START + 10 * PAGE);
    assert_int_equal(sn_space_break(SN_BREAK_START - 1), (long)(SN_BREAK_START + 10 * PAGE));
    assert_int_equal(sn_space_break(SN_BREAK_END + 1), (long)(SN_BREAK_START + 10 * PAGE));
    assert_int_equal(sn_space_break(SN_BREAK_START + PAGE), (long)(SN_BREAK_START + PAGE));
    assert_int_equal(protection_at(SN_BREAK_START + PAGE), -1);
    map(SN_BREAK_START + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED);
    assert_int_equal(sn_space_break(SN_BREAK_START + 6 * PAGE), (long)(SN_BREAK_START + PAGE)); /* in the way */
    unmap(SN_BREAK_START + 4 * PAGE, PAGE);
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
    limit = old;
    limit.rlim_cur = 64 * PAGE;
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    assert_int_equal(sn_space_break(SN_BREAK_START + 65 * PAGE), (long)(SN_BREAK_START + PAGE));
    assert_int_equal(setrlimit(RLIMIT_DATA, &old), 0);
    assert_int_equal(sn_space_break(SN_BREAK_START), (long)SN_BREAK_START);
    assert_int_equal(protection_at(SN_BREAK_START), -1);
    check_against_host();
}

static void system_v_shared_memory(void **state) {
    (void)state;
    int identifier = shmget(IPC_PRIVATE, 3 * PAGE - 5, IPC_CREAT | 0600);
    if (identifier < 0 && errno == ENOSYS) {
        skip();
    }
    assert_true(identifier >= 0);
    long first = sn_space_shmat(identifier, 0, 0);
    long second = sn_space_shmat(identifier, 0, SHM_RDONLY);
    assert_false(sn_syscall_failed(first) || sn_syscall_failed(second));
    assert_true(sn_in_data_window((uint64_t)first));
    *(int *)((uint64_t)first + 2 * PAGE) = 3;
    assert_int_equal(*(int *)((uint64_t)second + 2 * PAGE), 3);
    assert_int_equal(protection_at((uint64_t)second), PROT_READ);
    assert_int_equal(sn_space_shmat(identifier, (uint64_t)first, 0), -EINVAL);
    uint64_t target = map_private(3 * PAGE, PROT_READ | PROT_WRITE);
    assert_int_equal(sn_space_shmat(identifier, target + 10, SHM_RND | SHM_REMAP), (long)target);
    assert_int_equal(*(int *)(target + 2 * PAGE), 3);
    check_against_host();
    unmap((uint64_t)first + PAGE, PAGE); /* a detached piece does not keep the others */
    assert_int_equal(sn_space_shmdt((uint64_t)first), 0);
    assert_int_equal(protection_at((uint64_t)first), -1);
    assert_int_equal(protection_at((uint64_t)first + 2 * PAGE), -1);
    assert_int_equal(sn_space_shmdt((uint64_t)first), -EINVAL);
    assert_int_equal(sn_space_shmdt((uint64_t)second), 0);
    assert_int_equal(sn_space_shmdt(target), 0);
    shmctl(identifier, IPC_RMID, NULL);
    assert_true(sn_space_shmat(identifier, 0, 0) < 0);
    check_against_host();
}

static void the_kernels_pages_stay(void **state) {
    (void)state;
    sn_region vdso = {0};
    for (size_t i = 0; i < sn_space_current.regions.count; i++) {
        if (sn_space_current.regions.items[i].kind == SN_REGION_VDSO) {
            vdso = sn_space_current.regions.items[i];
        }
    }
    if (!vdso.end) {
        skip();
    }
    assert_int_equal(sn_space_executable(vdso.start), PAGE);
    assert_int_equal(sn_space_mmap(vdso.start, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     -ENOMEM);
    assert_int_equal(sn_space_munmap(vdso.start, vdso.end - vdso.start), 0);
    assert_int_equal(protection_at(vdso.start), -1);
    assert_int_not_equal(host_protection_at(vdso.start), -1);
    assert_true(sn_space_record(&vdso));
}

/* --------------------------------------------------------- random sequences */

enum { MODEL_PAGES = 96, ROUNDS = 12000, HOST_CHECK_EVERY = 40 };
#define MODEL_START (SN_CODE_START + UINT64_C(0x8000000))

/** What the client should have in each page: PROT_* or -1, and the number last written there (0 for fresh). */
static int model[MODEL_PAGES];
static unsigned contents[MODEL_PAGES];
static uint64_t random_state;

static unsigned below(unsigned limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % limit;
}

static const int protections[] = {
    PROT_NONE,
    PROT_READ,
    PROT_READ | PROT_WRITE,
    PROT_READ | PROT_EXEC,
    PROT_READ | PROT_WRITE | PROT_EXEC,
    PROT_EXEC,
};

static uint64_t address_of(unsigned page) {
    return MODEL_START + page * PAGE;
}

/** The change of a page from one protection to another is bound to be told to the translator. */
static void expect_discard(unsigned page, int before, int after, bool replaced) {
    if (before < 0 || !(before & PROT_EXEC)) {
        return;
    }
    bool changed = before != after;
    if (replaced || after < 0 || !(after & PROT_EXEC) || (changed && (after & PROT_WRITE))) {
        assert_true(discarded(address_of(page)));
    }
}

static void set_pages(unsigned first, unsigned count, int protection, bool replaced) {
    for (unsigned page = first; page < first + count; page++) {
        expect_discard(page, model[page], protection, replaced);
        model[page] = protection;
        if (replaced) {
            contents[page] = 0;
        }
    }
}

static void random_map(unsigned first, unsigned count) {
    int protection = protections[below(6)];
    bool all_free = true;
    for (unsigned page = first; page < first + count; page++) {
        all_free = all_free && model[page] < 0;
    }
    if (below(4) == 0) {
        long result = sn_space_mmap(address_of(first), count * PAGE, protection,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        assert_int_equal(result, all_free ? (long)address_of(first) : -EEXIST);
        if (!all_free) {
            return;
        }
    } else {
        map(address_of(first), count * PAGE, protection, MAP_PRIVATE | MAP_FIXED);
    }
    set_pages(first, count, protection, true);
}

static void random_unmap(unsigned first, unsigned count) {
    unmap(address_of(first), count * PAGE);
    set_pages(first, count, -1, true);
}

static void random_protect(unsigned first, unsigned count) {
    int protection = protections[below(6)];
    unsigned reached = 0;
    while (reached < count && model[first + reached] >= 0) {
        reached++;
    }
    assert_int_equal(sn_space_mprotect(address_of(first), count * PAGE, protection), reached == count ? 0 : -ENOMEM);
    set_pages(first, reached, protection, false);
}

static void random_watch(unsigned first, unsigned count) {
    assert_true(sn_space_watch_code(address_of(first), address_of(first) + count * PAGE));
}

static void random_unwatch(unsigned first, unsigned count) {
    (void)count;
    assert_int_equal(sn_space_unwatch(address_of(first) + 8), model[first] >= 0 && (model[first] & PROT_WRITE));
}

/** Move within the model; the model decides whether that has to work. */
static void random_move(unsigned first, unsigned count) {
    unsigned target = below(MODEL_PAGES - 8), kept = 1 + below(count);
    for (unsigned page = first; page < first + count; page++) {
        if (model[page] < 0 || model[page] != model[first]) {
            return;
        }
    }
    long result = sn_space_mremap(address_of(first), count * PAGE, kept * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                                  address_of(target));
    if (target < first + count && first < target + kept) {
        assert_int_equal(result, -EINVAL);
        return;
    }
    assert_int_equal(result, (long)address_of(target));
    int protection = model[first];
    unsigned moved[MODEL_PAGES];
    memcpy(moved, &contents[first], kept * sizeof *moved);
    set_pages(first, count, -1, true);
    set_pages(target, kept, protection, true);
    memcpy(&contents[target], moved, kept * sizeof *moved);
}

static void random_write(unsigned first, unsigned count) {
    (void)count;
    if (model[first] >= 0 && (model[first] & PROT_WRITE)) {
        assert_true(sn_space_unwatch(address_of(first)));
        contents[first] = below(1000000);
        *(unsigned *)address_of(first) = contents[first];
    }
}

static void (*const operations[])(unsigned first, unsigned count) = {
    random_map, random_unmap, random_protect, random_protect, random_watch, random_unwatch, random_move, random_write,
};

static void check_model(void) {
    for (unsigned page = 0; page < MODEL_PAGES; page++) {
        assert_int_equal(protection_at(address_of(page)), model[page]);
        bool executable = model[page] >= 0 && (model[page] & PROT_EXEC);
        assert_int_equal(sn_space_executable(address_of(page)), executable ? PAGE : 0);
        if (model[page] > 0) {
            assert_int_equal(*(unsigned *)address_of(page), contents[page]);
        }
    }
}

static void random_sequences(void **state) {
    (void)state;
    for (unsigned page = 0; page < MODEL_PAGES; page++) {
        model[page] = -1;
    }
    random_state = 20240229;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned first = below(MODEL_PAGES - 8), count = 1 + below(8);
        discard_count = 0;
        operations[below(sizeof operations / sizeof *operations)](first, count);
        check_model();
        if (round % HOST_CHECK_EVERY == 0) {
            check_against_host();
        }
    }
    unmap(MODEL_START, MODEL_PAGES * PAGE);
    check_against_host();
}

static void many_regions(void **state) {
    (void)state;
    enum { MANY = 3000 };
    uint64_t start = map_private(2 * MANY * PAGE, PROT_READ);
    size_t before = sn_space_current.regions.count;
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(sn_space_mprotect(start + (2 * i + 1) * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    }
    assert_int_equal(sn_space_current.regions.count, before + 2 * MANY - 1);
    check_order();
    assert_int_equal(sn_space_mprotect(start, 2 * MANY * PAGE, PROT_READ), 0);
    assert_int_equal(sn_space_current.regions.count, before);
    unmap(start, 2 * MANY * PAGE);
}

int main(void) {
    sn_space_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_memory_goes_down_the_data_window),
        cmocka_unit_test(code_goes_up_the_code_range),
        cmocka_unit_test(files_go_by_their_kind),
        cmocka_unit_test(reservations_of_compilers_go_near_the_cache),
        cmocka_unit_test(a_full_code_range_spills_over),
        cmocka_unit_test(code_does_not_go_where_that_of_another_file_was),
        cmocka_unit_test(hints),
        cmocka_unit_test(fixed_places),
        cmocka_unit_test(the_engine_is_out_of_reach),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(protection_splits_and_merges),
        cmocka_unit_test(executable_bytes),
        cmocka_unit_test(stale_code_is_discarded),
        cmocka_unit_test(watching),
        cmocka_unit_test(moving),
        cmocka_unit_test(program_break),
        cmocka_unit_test(system_v_shared_memory),
        cmocka_unit_test(the_kernels_pages_stay),
        cmocka_unit_test(random_sequences),
        cmocka_unit_test(many_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
