// build: gcc -O1
/* 5000 mappings at once with alternating protection, unmapped in another order; /proc/self/maps lists them. */
#include "check.h"
#include <sys/mman.h>
int main(void) {
    enum { COUNT = 5000 };
    static char *map[COUNT];
    int bad = 0;
    for (int i = 0; i < COUNT; i++) {
        map[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        bad += map[i] == MAP_FAILED;
        map[i][5] = (char)i;
        if (i & 1)
            bad += mprotect(map[i], 4096, PROT_READ) != 0;
    }
    CHECK(!bad, "5000 mappings");
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    int lines = 0;
    while (fgets(line, sizeof line, file))
        lines++;
    fclose(file);
    CHECK(lines >= COUNT / 2, "maps lists them");
    for (int i = 0; i < COUNT; i++)
        bad += map[i][5] != (char)i;
    for (int i = 0; i < COUNT; i++) {
        int k = (i * 1237) % COUNT;
        bad += munmap(map[k], 4096) != 0;
    }
    CHECK(!bad, "all unmapped in another order");
    return finish();
}
