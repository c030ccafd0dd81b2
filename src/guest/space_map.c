/**
 * @fileoverview mmap, munmap and mprotect of the client: see space.h.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "sonde/intern.h"
#include "guest/descriptor_path.h"
#include "guest/host_memory.h"
#include "guest/kernel_pages.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

/** Flags that distinguish one mapping from its neighbour; the others matter only while mapping. */
#define RECORDED_FLAGS (MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_HUGETLB | MAP_NORESERVE | MAP_LOCKED)

/** Accepted and without effect on this architecture. */
#ifndef PROT_SEM
#define PROT_SEM 0x8
#endif

#define HUGE_PAGE (UINT64_C(2) << 20)
/** Sizes between which an inaccessible anonymous mapping is taken for a JIT's reservation. */
#define RESERVATION_ABOVE (UINT64_C(128) << 20)
#define RESERVATION_LIMIT (UINT64_C(512) << 20)

enum { STATFS_VALID = 0x20, STATFS_NO_EXEC = 0x08 };

/** A mapping that was asked for, examined. */
typedef struct wanted {
    sn_region region;   /**< protection, flags, file; the place comes later */
    uint64_t length;
    int flags, descriptor;
    bool elf;           /**< a private mapping of an ELF file */
} wanted;

static bool file_begins_as_elf(int descriptor) {
    char magic[SELFMAG];
    long got = sn_syscall(SYS_pread64, descriptor, magic, sizeof magic, 0);
    return got == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/** Fill in what is known of the mapped file. 0 or -errno. */
static long examine_file(wanted *want) {
    struct stat status;
    long result = sn_syscall(SYS_fstat, want->descriptor, &status);
    if (result < 0) {
        return result;
    }
    if (want->region.protection & PROT_EXEC) {
        /* The host never sees PROT_EXEC, so that this check of the kernel is made here. */
        struct statfs filesystem;
        if (sn_syscall(SYS_fstatfs, want->descriptor, &filesystem) == 0 &&
            (filesystem.f_flags & STATFS_VALID) && (filesystem.f_flags & STATFS_NO_EXEC)) {
            return -EPERM;
        }
    }
    want->region.device = status.st_dev;
    want->region.inode = status.st_ino;
    want->elf = !(want->region.flags & MAP_SHARED) && S_ISREG(status.st_mode) &&
                file_begins_as_elf(want->descriptor);
    return 0;
}

/** Check what the kernel checks before it looks for a place, and describe the region. 0 or -errno. */
static long examine(wanted *want, uint64_t address, int protection, uint64_t offset) {
    uint64_t page = SN_PAGE_SIZE;
    if ((want->flags & (MAP_HUGETLB | MAP_ANONYMOUS)) == (MAP_HUGETLB | MAP_ANONYMOUS)) {
        unsigned shift = ((unsigned)want->flags >> MAP_HUGE_SHIFT) & MAP_HUGE_MASK;
        page = shift ? UINT64_C(1) << shift : HUGE_PAGE;
    }
    uint64_t length = (want->length + page - 1) & ~(page - 1);
    if (want->length == 0 || offset % SN_PAGE_SIZE) {
        return -EINVAL;
    }
    if (length < want->length) {
        return -ENOMEM;
    }
    if ((want->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) && address % SN_PAGE_SIZE) {
        return -EINVAL;
    }
    want->length = length;
    bool shared = want->flags & MAP_SHARED; /* MAP_SHARED_VALIDATE holds this bit too */
    want->region.protection = protection & (PROT_READ | PROT_WRITE | PROT_EXEC);
    want->region.flags = (want->flags & RECORDED_FLAGS) | (shared ? MAP_SHARED : MAP_PRIVATE);
    if (want->flags & MAP_HUGETLB) {
        want->region.flags |= want->flags & (int)((unsigned)MAP_HUGE_MASK << MAP_HUGE_SHIFT);
    }
    if (!(want->flags & MAP_ANONYMOUS)) {
        want->region.offset = offset;
        return examine_file(want);
    }
    return 0;
}

/** Name the mapped object. */
static void name_object(wanted *want) {
    if (!(want->flags & MAP_ANONYMOUS)) {
        want->region.path = sn_descriptor_path_interned(want->descriptor);
    } else if (want->region.flags & MAP_SHARED) {
        /* The kernel makes an unlinked file for each; numbered here so that two are never taken for one. */
        want->region.device = makedev(0, 1);
        want->region.inode = __atomic_add_fetch(&sn_space_current.shared_memories, 1, __ATOMIC_RELAXED);
        want->region.path = sn_intern("/dev/zero (deleted)");
    }
}

static sn_file_identity identity_of(const sn_region *region) {
    return (sn_file_identity){.device = region->device, .inode = region->inode};
}

static sn_place_request place_for(const wanted *want) {
    sn_place_request request = {.length = want->length, .alignment = SN_PAGE_SIZE};
    if (want->elf) {
        request.file = identity_of(&want->region);
    }
    if (want->flags & MAP_32BIT) {
        request.placement = SN_PLACE_LOW_ONLY;
    } else if (want->elf || (want->region.protection & PROT_EXEC)) {
        request.placement = SN_PLACE_CODE_RANGE;
    } else if ((want->flags & MAP_ANONYMOUS) && !(want->flags & MAP_STACK) && want->region.protection == PROT_NONE &&
               want->length > RESERVATION_ABOVE && want->length <= RESERVATION_LIMIT) {
        request.placement = SN_PLACE_CODE_RESERVE;
    }
    bool whole_huge_pages = (want->flags & MAP_ANONYMOUS) && want->length % HUGE_PAGE == 0;
    if (whole_huge_pages || (want->flags & MAP_HUGETLB)) {
        request.alignment = HUGE_PAGE; /* as the kernel does, so that huge pages can be used */
    }
    return request;
}

static long map_at(const wanted *want, uint64_t address, int placing) {
    int flags = (want->flags & ~(MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)) | placing;
    return sn_host_mmap(address, want->length, sn_space_host_protection(want->region.protection), flags,
                        want->descriptor, want->region.offset);
}

/** MAP_FIXED and MAP_FIXED_NOREPLACE. */
static long map_fixed(sn_space_change *change, const wanted *want, uint64_t address) {
    uint64_t end = address + want->length;
    bool replace = !(want->flags & MAP_FIXED_NOREPLACE);
    if (end < address || sn_space_kernel_page(address, end)) {
        return -ENOMEM;
    }
    if (!replace && !sn_regions_free(&sn_space_current.regions, address, end)) {
        return -EEXIST;
    }
    long result = sn_space_claim(address, end);
    if (result < 0) {
        return result;
    }
    /* What a claim holds outside the windows has to be replaced in either case. */
    bool in_window = sn_placement_in_window(address, end);
    result = map_at(want, address, replace || !in_window ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    if (sn_syscall_failed(result)) {
        sn_space_release(address, end);
    } else {
        sn_space_forget_code(change, address, end);
    }
    return result;
}

/** A hint is honoured where the client's windows are free. */
static long map_hinted(const wanted *want, uint64_t hint) {
    hint = sn_page_down(hint);
    uint64_t end = hint + want->length;
    if (!hint || end < hint || !sn_placement_in_window(hint, end) ||
        ((want->flags & MAP_32BIT) && end > SN_CACHE_START) ||
        !sn_regions_free(&sn_space_current.regions, hint, end)) {
        return -EEXIST;
    }
    long result = map_at(want, hint, MAP_FIXED_NOREPLACE);
    if (!sn_syscall_failed(result) && result != (long)hint) {
        sn_host_munmap((uint64_t)result, want->length);
        return -EEXIST;
    }
    return result;
}

/** How much of [start, end) is mapped: what a mapping that replaces it does not add. */
static uint64_t mapped_within(uint64_t start, uint64_t end) {
    const sn_regions *regions = &sn_space_current.regions;
    uint64_t size = 0;
    for (size_t i = sn_regions_lower(regions, start); i < regions->count && regions->items[i].start < end; i++) {
        uint64_t from = regions->items[i].start > start ? regions->items[i].start : start;
        size += (regions->items[i].end < end ? regions->items[i].end : end) - from;
    }
    return size;
}

static bool within_limits(const wanted *want, uint64_t address) {
    uint64_t replaced = want->flags & MAP_FIXED ? mapped_within(address, address + want->length) : 0;
    return sn_space_may_grow(want->length - replaced, want->region.protection, want->region.flags);
}

long sn_space_mmap(uint64_t address, uint64_t length, int protection, int flags, int descriptor, uint64_t offset) {
    wanted want = {.length = length, .flags = flags, .descriptor = flags & MAP_ANONYMOUS ? -1 : descriptor};
    long result = examine(&want, address, protection, offset);
    if (result < 0) {
        return result;
    }
    name_object(&want);
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    if (!within_limits(&want, address)) {
        result = -ENOMEM;
    } else if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
        result = map_fixed(&change, &want, address);
    } else {
        result = map_hinted(&want, address);
        if (result == -EEXIST) {
            sn_place_request request = place_for(&want);
            result = sn_space_map_somewhere(&request, sn_space_host_protection(want.region.protection), flags,
                                            want.descriptor, offset);
            if (result == -EINVAL && want.descriptor >= 0 && !(flags & MAP_32BIT)) {
                result = map_at(&want, 0, 0); /* io_uring's rings: only the kernel may choose their place */
            }
        }
    }
    if (!sn_syscall_failed(result)) {
        want.region.start = (uint64_t)result;
        want.region.end = (uint64_t)result + want.length;
        sn_regions_insert(&sn_space_current.regions, &want.region);
        if (want.elf && !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))) {
            sn_former_code_note(want.region.start, want.region.end, identity_of(&want.region));
        }
    }
    return sn_space_finish(&change, result);
}

/* ------------------------------------------------------------------- munmap */

/** The parts of [start, end) that are not the kernel's own pages leave the host; those only leave the list. */
static long unmap_around_kernel_pages(uint64_t start, uint64_t end) {
    const sn_regions *regions = &sn_space_current.regions;
    for (size_t i = sn_regions_lower(regions, start); i < regions->count && regions->items[i].start < end; i++) {
        const sn_region *region = &regions->items[i];
        if (sn_kernel_page_region(region)) {
            continue;
        }
        uint64_t from = region->start > start ? region->start : start;
        uint64_t to = region->end < end ? region->end : end;
        long result = sn_host_munmap(from, to - from);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

long sn_space_munmap(uint64_t address, uint64_t length) {
    uint64_t end = address + sn_page_up(length);
    if (address % SN_PAGE_SIZE || length == 0 || end <= address) {
        return -EINVAL;
    }
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    long result = sn_space_claim(address, end);
    if (result < 0) {
        return sn_space_finish(&change, result);
    }
    if (sn_space_kernel_page(address, end)) {
        sn_space_release(address, end);
        result = unmap_around_kernel_pages(address, end);
    } else {
        result = sn_host_munmap(address, end - address);
        if (result < 0) {
            sn_space_release(address, end);
        }
    }
    if (result == 0) {
        sn_space_forget_code(&change, address, end);
        sn_regions_remove(&sn_space_current.regions, address, end);
    }
    return sn_space_finish(&change, result);
}

/* ----------------------------------------------------------------- mprotect */

/** Change [start, end), which lies in one region, and note in `change` what code became stale. */
static long protect_part(sn_space_change *change, uint64_t start, uint64_t end, int protection) {
    const sn_region *region = sn_regions_find(&sn_space_current.regions, start);
    if (region->protection == protection) {
        return 0;
    }
    if (sn_kernel_page_region(region)) {
        return -EACCES;
    }
    if (!sn_regions_reserve(&sn_space_current.regions, SN_REGIONS_SPARE)) {
        return -ENOMEM;
    }
    region = sn_regions_find(&sn_space_current.regions, start);
    bool becomes_data = (protection & PROT_WRITE) && !(region->protection & PROT_WRITE);
    if (becomes_data && sn_space_current.data_limit != UINT64_MAX &&
        !sn_space_may_grow(end - start, protection, region->flags)) {
        return -ENOMEM;
    }
    bool was_code = region->protection & PROT_EXEC;
    long result = sn_host_mprotect(start, end - start, sn_space_host_protection(protection));
    if (result < 0) {
        return result;
    }
    sn_watched_remove(&sn_space_current.watched, start, end);
    if (was_code && (!(protection & PROT_EXEC) || (protection & PROT_WRITE))) {
        if (change->count == 0) {
            change->stale[change->count++].start = start;
        }
        change->stale[0].end = end;
    }
    sn_regions_protect(&sn_space_current.regions, start, end, protection);
    return 0;
}

/** PROT_GROWSDOWN: the change reaches down to the start of a mapping that grows. 0 or -EINVAL. */
static long reach_down(uint64_t *start, uint64_t end) {
    const sn_region *region = sn_regions_find(&sn_space_current.regions, end - 1);
    if (!region || !(region->kind == SN_REGION_STACK || (region->flags & MAP_GROWSDOWN)) || region->end <= *start) {
        return -EINVAL;
    }
    *start = region->start;
    return 0;
}

static long protect_all(sn_space_change *change, uint64_t start, uint64_t end, int protection) {
    while (start < end) {
        const sn_region *region = sn_regions_find(&sn_space_current.regions, start);
        if (!region) {
            return -ENOMEM; /* what lies before the hole stays changed, as in the kernel */
        }
        uint64_t part_end = region->end < end ? region->end : end;
        long result = protect_part(change, start, part_end, protection);
        if (result < 0) {
            return result;
        }
        start = part_end;
    }
    return 0;
}

long sn_space_mprotect(uint64_t address, uint64_t length, int protection) {
    const int direction = protection & (PROT_GROWSDOWN | PROT_GROWSUP);
    uint64_t end = address + sn_page_up(length);
    protection &= ~(PROT_GROWSDOWN | PROT_GROWSUP);
    if (address % SN_PAGE_SIZE || (direction && direction != PROT_GROWSDOWN) ||
        (protection & ~(PROT_READ | PROT_WRITE | PROT_EXEC | PROT_SEM))) {
        return -EINVAL;
    }
    if (length == 0) {
        return 0;
    }
    if (end <= address) {
        return -ENOMEM;
    }
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    long result = direction ? reach_down(&address, end) : 0;
    if (result == 0) {
        result = protect_all(&change, address, end, protection & ~PROT_SEM);
    }
    return sn_space_finish(&change, result);
}
