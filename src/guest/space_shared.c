/**
 * @fileoverview System V shared memory of the client: see space.h.
 */
#include <errno.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/sysmacros.h>

#include "sonde/intern.h"
#include "base/text.h"
#include "guest/host_memory.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

#define HUGE_PAGE (UINT64_C(2) << 20)

static long attach_at(int identifier, uint64_t address, int flags) {
    return sn_syscall(SYS_shmat, identifier, address, flags & ~(SHM_EXEC | SHM_RND));
}

/** The client chose the address. */
static long attach_fixed(sn_space_change *change, int identifier, uint64_t address, uint64_t length, int flags) {
    uint64_t end = address + length;
    if (address % SN_PAGE_SIZE) {
        if (!(flags & SHM_RND)) {
            return -EINVAL;
        }
        address = sn_page_down(address);
        end = address + length;
    }
    bool replace = flags & SHM_REMAP;
    if (end < address || address == 0 || sn_space_kernel_page(address, end) ||
        (!replace && !sn_regions_free(&sn_space_current.regions, address, end))) {
        return -EINVAL;
    }
    long result = sn_space_claim(address, end);
    if (result < 0) {
        return result;
    }
    if (!replace) {
        sn_space_release(address, end); /* known to be free; the kernel would refuse a held place */
    }
    result = attach_at(identifier, address, flags);
    if (sn_syscall_failed(result)) {
        sn_space_release(address, end);
    } else {
        sn_space_forget_code(change, address, end);
    }
    return result;
}

static long attach_somewhere(int identifier, uint64_t length, int flags) {
    sn_place_request request = {
        .placement = flags & SHM_EXEC ? SN_PLACE_CODE_RANGE : SN_PLACE_DATA_WINDOW,
        .length = length,
        .alignment = length % HUGE_PAGE == 0 ? HUGE_PAGE : SN_PAGE_SIZE,
    };
    uint64_t place;
    while ((place = sn_placement_next(&sn_space_current.regions, &request)) != 0) {
        /* Tried by mapping it first, so that an error of shmat's own is told from a place that is taken. */
        long held = sn_host_mmap(place, length, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (held != (long)place) {
            if (!sn_syscall_failed(held)) {
                sn_host_munmap((uint64_t)held, length);
            }
            continue;
        }
        long result = attach_at(identifier, place, flags | SHM_REMAP);
        if (sn_syscall_failed(result)) {
            sn_host_munmap(place, length);
        }
        return result;
    }
    return -ENOMEM;
}

static sn_region attached_region(int identifier, uint64_t start, uint64_t length, int flags, key_t key) {
    char name[64];
    sn_text text = sn_text_in(name, sizeof name);
    sn_text_add(&text, "/SYSV");
    sn_text_add_hexadecimal(&text, (uint32_t)key, 8);
    sn_text_add(&text, " (deleted)");
    return (sn_region){
        .start = start,
        .end = start + length,
        .protection = PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0),
        .flags = MAP_SHARED,
        .device = makedev(0, 1),
        .inode = (ino_t)identifier,
        .path = sn_intern(name),
    };
}

long sn_space_shmat(int identifier, uint64_t address, int flags) {
    struct shmid_ds segment;
    long result = sn_syscall(SYS_shmctl, identifier, IPC_STAT, &segment);
    if (result < 0) {
        return result;
    }
    if (address == 0 && (flags & SHM_REMAP)) {
        return -EINVAL;
    }
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    uint64_t length = sn_page_up(segment.shm_segsz);
    bool fits = sn_space_may_grow(length, PROT_READ, MAP_SHARED);
    result = !fits     ? -ENOMEM
             : address ? attach_fixed(&change, identifier, address, length, flags)
                       : attach_somewhere(identifier, length, flags);
    if (!sn_syscall_failed(result)) {
        sn_region region = attached_region(identifier, (uint64_t)result, length, flags, segment.shm_perm.__key);
        sn_regions_insert(&sn_space_current.regions, &region);
    }
    return sn_space_finish(&change, result);
}

/** The part of an attachment of `segment` at `start` that begins at or after `from`; NULL when there is no more. The
    client may have changed or unmapped parts of it. */
static const sn_region *next_part(const sn_region *segment, uint64_t start, uint64_t from) {
    const sn_regions *regions = &sn_space_current.regions;
    for (size_t i = sn_regions_lower(regions, from); i < regions->count; i++) {
        const sn_region *region = &regions->items[i];
        if (region->path == segment->path && region->inode == segment->inode &&
            region->device == segment->device && region->start - start == region->offset) {
            return region;
        }
    }
    return NULL;
}

long sn_space_shmdt(uint64_t address) {
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    const sn_region *found = sn_regions_find(&sn_space_current.regions, address);
    long result = found ? sn_syscall(SYS_shmdt, address) : -EINVAL;
    if (result == 0) {
        const sn_region segment = *found;
        for (const sn_region *part; (part = next_part(&segment, address, address)) != NULL;) {
            uint64_t end = part->end;
            change.count = 0; /* one range that holds all parts so far */
            sn_space_forget_code(&change, address, end);
            sn_regions_remove(&sn_space_current.regions, part->start, end);
        }
    }
    return sn_space_finish(&change, result);
}
