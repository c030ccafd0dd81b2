// build: gcc -O1
/* remap_file_pages, which old databases use: what it shows, what the process is told of it, what it refuses. */
#include "check.h"
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 8 };

static char *memory;

static long remap(int page, int count, int protection, int from, int flags) {
    return syscall(SYS_remap_file_pages, memory + page * PAGE, (long)count * PAGE, protection, from, flags);
}

/** The offset in the file that /proc/self/maps gives for the mapping that begins at `address`; -1 if none does. */
static long offset_at(const char *address) {
    char line[600];
    long found = -1;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && start == (unsigned long)address)
            found = (long)offset;
    }
    fclose(maps);
    return found;
}

static void order(const char *name, const char *wanted) {
    char seen[PAGES + 1] = "";
    for (int i = 0; i < PAGES; i++)
        seen[i] = memory[i * PAGE];
    CHECK(!strcmp(seen, wanted), "%s: pages %s", name, seen);
}

/** The same function in two places of a file, in shared memory that can be executed: what runs after a change. */
static void code(void) {
    static const unsigned char functions[2][6] = {{0xb8, 1, 0, 0, 0, 0xc3}, {0xb8, 2, 0, 0, 0, 0xc3}};
    int file = (int)syscall(SYS_memfd_create, "code", 0);
    for (int i = 0; i < 2; i++)
        if (pwrite(file, functions[i], sizeof functions[i], i * PAGE) < 0)
            check_failures++;
    char *place = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    int (*call)(void) = (int (*)(void))place;
    CHECK_EQUAL(call(), 1, "before");
    CHECK_EQUAL(syscall(SYS_remap_file_pages, place, PAGE, 0, 1, 0), 0, "remap_file_pages of code");
    CHECK_EQUAL(call(), 2, "after");
}

int main(void) {
    int file = (int)syscall(SYS_memfd_create, "pages", 0);
    if (ftruncate(file, PAGES * PAGE) != 0)
        return 1;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (int i = 0; i < PAGES; i++)
        memset(memory + i * PAGE, 'a' + i, PAGE);
    if (remap(0, 1, 0, 0, 0) != 0 && errno == ENOSYS)
        skip("a kernel without remap_file_pages");
    order("in order", "abcdefgh");
    for (int i = 0; i < PAGES; i++)
        CHECK_EQUAL(remap(i, 1, 0, PAGES - 1 - i, 0), 0, "one page");
    order("backwards", "hgfedcba");
    CHECK_EQUAL(offset_at(memory + PAGE), (PAGES - 2) * PAGE, "offset of the second page");
    CHECK_EQUAL(remap(2, 4, 0, 1, 0), 0, "several mappings of the file at once");
    order("in part forwards", "hgbcdeba");
    CHECK_EQUAL(offset_at(memory + 2 * PAGE), PAGE, "offset of the four pages");
    memory[2 * PAGE] = 'X';
    CHECK(memory[6 * PAGE] == 'X', "two views of one page");
    CHECK(remap(0, 1, PROT_READ, 0, 0) == -1 && errno == EINVAL, "a protection: EINVAL");
    CHECK(remap(0, 0, 0, 0, 0) == -1 && errno == EINVAL, "no length: EINVAL");
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(remap(0, 1, 0, 1, 0) == -1 && errno == EINVAL, "private memory: EINVAL");
    munmap(memory, PAGES * PAGE);
    CHECK(remap(0, 1, 0, 1, 0) == -1 && errno == EINVAL, "no memory: EINVAL");
    code();
    return finish();
}
