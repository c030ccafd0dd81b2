/**
 * @fileoverview The vdso and its data pages: see kernel_pages.h.
 */
#include "guest/kernel_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/intern.h"

/** The page at the top of the address space that the kernel emulates: no mapping, nothing to record. */
#define USER_END UINT64_C(0x7fffffffffff)

void sn_kernel_pages_visit(bool (*visit)(const sn_region *region)) {
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) {
        return; /* no /proc: the client then runs without a vdso entry in its own list, which costs nothing else */
    }
    char line[512];
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, end;
        char name[64];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s [%59[^]]]", &start, &end, name) != 3 ||
            name[0] != 'v' || end > USER_END) {
            continue;
        }
        bool code = strcmp(name, "vdso") == 0;
        char label[66];
        snprintf(label, sizeof label, "[%s]", name);
        visit(&(sn_region){.start = start,
                           .end = end,
                           .protection = code ? PROT_READ | PROT_EXEC : PROT_READ,
                           .flags = MAP_PRIVATE,
                           .kind = code ? SN_REGION_VDSO : SN_REGION_PLAIN,
                           .path = sn_intern(label)});
    }
    fclose(maps);
}

bool sn_kernel_page_region(const sn_region *region) {
    return region->path && region->path[0] == '[';
}
