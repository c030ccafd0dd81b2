/**
 * @fileoverview The vdso and its data pages: see kernel_pages.h.
 */
#include "guest/kernel_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "sonde/intern.h"
#include "base/text.h"

/** Above lies the page that the kernel emulates: no mapping, nothing to record. */
#define USER_END UINT64_C(0x7fffffffffff)

static char emulated_line[160];

const char *sn_kernel_page_emulated_line(void) {
    return emulated_line;
}

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
            name[0] != 'v') {
            continue;
        }
        if (end > USER_END) {
            sn_text copy = sn_text_in(emulated_line, sizeof emulated_line);
            sn_text_add(&copy, line);
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
