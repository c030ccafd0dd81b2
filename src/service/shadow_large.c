/**
 * @fileoverview Large ranges of shadow that have one value: they take no memory of their own. sn_shadow_fill() comes here.
 *
 * What becomes zero is given back to the system. What becomes another value that the tool has announced (sn_shadow_share()) is
 * mapped privately from a file in memory that is full of it: all such chunks show the same pages, and one that is written to later
 * becomes a page of the shadow's own, in the child after a fork, too; code finds the shadow of an address where it always is. The file
 * is one chunk long, so that each chunk is a mapping; for the kernel's limit of them (vm.max_map_count, 65,530 unless set), only
 * MOST_CHUNKS places can ever have such mappings, and what is beyond is written as any other range.
 *
 * A chunk that was ever mapped so is remembered: to become zero it needs a new mapping, since giving it back brings the file's pages
 * again. Nobody has to know what it is mapped from now, so that threads need no lock: a mapping is replaced in one step, and two
 * threads fill the same memory at the same time only where the program races with itself.
 *
 * Compiled for general registers only, as inserted code may call sn_shadow_fill().
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/x86_64/raw_syscall.h"
#include "jit/layout.h"
#include "service/shadow.h"

#define CHUNK (UINT64_C(1) << 20) /* bytes of shadow */

enum {
    MOST_VALUES = 4,
    MOST_CHUNKS = 12288, /* each can be a mapping, and the rest up to the next one another: not half of what the kernel allows */
};

/** A file full of one value. */
typedef struct value_file {
    uint64_t pattern;
    int descriptor;
} value_file;

static value_file values[MOST_VALUES];
static unsigned value_count;

/** For each chunk of a shadow memory, from its base on: whether it was ever mapped from a file. NULL: none can be. */
static uint8_t *ever_mapped[SN_MOST_SHADOW_MEMORIES];
static int64_t chunks_left = MOST_CHUNKS;

/* ------------------------------------------------------------------------------------------------ announcing */

/** A limit of what files may be would end the process by a signal. */
static bool may_write_files(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= CHUNK;
}

static int new_file(uint64_t pattern) {
    if (!may_write_files()) return -1;
    int made = memfd_create("sonde-shadow", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0) return -1;
    uint64_t *at = ftruncate(made, CHUNK) ? MAP_FAILED : mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
    if (at == MAP_FAILED) {
        close(made);
        return -1;
    }
    sn_shadow_write_pattern((uint8_t *)at, (uint8_t *)at + CHUNK, pattern);
    munmap(at, CHUNK);
    fcntl(made, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return made;
}

static SN_FAST const value_file *file_of(uint64_t pattern) {
    for (unsigned i = 0; i < value_count; i++)
        if (values[i].pattern == pattern) return &values[i];
    return NULL;
}

/** From the base on, the last byte of a shadow memory. */
static uint64_t last_of(const sn_shadow_memory *memory) {
    return memory->bits > 16 ? UINT64_MAX >> memory->right : ((SN_DATA_END - 1) << memory->left) >> memory->right;
}

void sn_shadow_share(const sn_shadow_memory *memory, uint64_t value) {
    uint64_t pattern = sn_shadow_repeated(memory, value);
    uint8_t **marks = &ever_mapped[memory - sn_shadow_all.items];
    if (!pattern || (!file_of(pattern) && value_count == MOST_VALUES)) return;
    if (!file_of(pattern)) {
        value_file *made = &values[value_count];
        if (sn_descriptor_take(&made->descriptor, new_file(pattern)) < 0) return;
        made->pattern = pattern;
        value_count++;
    }
    if (*marks) return;
    void *got = mmap(NULL, last_of(memory) / CHUNK + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got != MAP_FAILED) *marks = got;
}

/* -------------------------------------------------------------------------------------------------- mapping */

static SN_FAST uint8_t *mark_of(const sn_shadow_memory *memory, const uint8_t *at) {
    uint8_t *marks = ever_mapped[memory - sn_shadow_all.items];
    return marks ? &marks[((uint64_t)at - memory->base) / CHUNK] : NULL;
}

static SN_FAST bool was_mapped(const sn_shadow_memory *memory, const uint8_t *at) {
    const uint8_t *mark = mark_of(memory, at);
    return mark && __atomic_load_n(mark, __ATOMIC_RELAXED);
}

/** Whether the chunk may be mapped from a file, which is remembered. */
static SN_FAST bool may_map(const sn_shadow_memory *memory, const uint8_t *at) {
    uint8_t *mark = mark_of(memory, at);
    if (!mark) return false;
    if (__atomic_load_n(mark, __ATOMIC_RELAXED)) return true;
    if (__atomic_fetch_sub(&chunks_left, 1, __ATOMIC_RELAXED) <= 0) {
        __atomic_fetch_add(&chunks_left, 1, __ATOMIC_RELAXED);
        return false;
    }
    __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
    return true;
}

static SN_FAST bool map(uint8_t *at, uint8_t *end, int flags, int descriptor) {
    flags |= MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    if (sn_syscall(SYS_mmap, at, end - at, PROT_READ | PROT_WRITE, flags, descriptor, 0) != (long)at) return false;
    /* As all of the shadow is mapped, so that neighbours that are zero become one mapping again. */
    sn_syscall(SYS_madvise, at, end - at, MADV_NOHUGEPAGE);
    sn_syscall(SYS_madvise, at, end - at, MADV_DONTDUMP);
    return true;
}

/** A descriptor that makes way for the program's gets its new number before the program can have the old one. */
static SN_FAST bool map_file(uint8_t *chunk, const value_file *from) {
    for (;;) {
        int descriptor = __atomic_load_n(&from->descriptor, __ATOMIC_ACQUIRE);
        bool is_mapped = map(chunk, chunk + CHUNK, 0, descriptor);
        if (__atomic_load_n(&from->descriptor, __ATOMIC_ACQUIRE) == descriptor) return is_mapped;
    }
}

/* --------------------------------------------------------------------------------------------------- filling */

static SN_FAST uint8_t *chunk_end(const uint8_t *at) { return (uint8_t *)(((uintptr_t)at | (CHUNK - 1)) + 1); }

static SN_FAST uint8_t *least(uint8_t *left, uint8_t *right) { return left < right ? left : right; }

/** What was never mapped from a file. */
static SN_FAST void give_back(uint8_t *at, uint8_t *end) {
    uint8_t *first = (uint8_t *)(((uintptr_t)at + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1));
    uint8_t *last = (uint8_t *)((uintptr_t)end & ~(SN_PAGE_SIZE - 1));
    if (end - at < SN_SHADOW_LARGE || sn_syscall(SYS_madvise, first, last - first, MADV_DONTNEED) < 0) first = last = at;
    sn_shadow_write_pattern(at, first, 0);
    sn_shadow_write_pattern(last, end, 0);
}

/** What was: whole chunks are mapped anew. */
static SN_FAST void renew(uint8_t *at, uint8_t *end) {
    uint8_t *first = (uint8_t *)(((uintptr_t)at + CHUNK - 1) & ~(CHUNK - 1));
    uint8_t *last = (uint8_t *)((uintptr_t)end & ~(CHUNK - 1));
    if (first >= last || !map(first, last, MAP_ANONYMOUS, -1)) first = last = at;
    sn_shadow_write_pattern(at, first, 0);
    sn_shadow_write_pattern(last, end, 0);
}

static SN_FAST void fill_zero(const sn_shadow_memory *memory, uint8_t *at, uint8_t *end) {
    while (at < end) {
        bool was = was_mapped(memory, at);
        uint8_t *stop = least(chunk_end(at), end);
        while (stop < end && was_mapped(memory, stop) == was) stop = least(chunk_end(stop), end);
        (was ? renew : give_back)(at, stop);
        at = stop;
    }
}

SN_FAST bool sn_shadow_fill_large(const sn_shadow_memory *memory, uint8_t *at, uint8_t *end, uint64_t pattern) {
    if (!pattern) {
        fill_zero(memory, at, end);
        return true;
    }
    const value_file *from = (uint64_t)(end - at) < CHUNK ? NULL : file_of(pattern);
    if (!from) return false;
    for (uint8_t *stop; at < end; at = stop) {
        stop = least(chunk_end(at), end);
        bool is_whole = (uint64_t)(stop - at) == CHUNK;
        if (!is_whole || !may_map(memory, at) || !map_file(at, from)) sn_shadow_write_pattern(at, stop, pattern);
    }
    return true;
}
