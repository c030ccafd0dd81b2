/**
 * @fileoverview Changes its memory in every way, and says in the words of the tool show_events what that must tell.
 *
 * The lines are gathered first and written at the end, so that nothing but the changes themselves changes memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#define PAGE 4096ul

static char text[1 << 16];
static size_t length;

static void tell(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
}

static void mapped(const void *start, size_t pages, int protection, unsigned long offset, const char *kind, const char *path) {
    tell("memory-mapped %lx %lx %d %lx %s %s\n", (uintptr_t)start, (uintptr_t)start + pages * PAGE, protection, offset, kind, path);
}
static void plain(const void *start, size_t pages, int protection) { mapped(start, pages, protection, 0, "plain", "-"); }
static void unmapped(const char *start, size_t pages) {
    tell("memory-unmapped %lx %lx\n", (uintptr_t)start, (uintptr_t)start + pages * PAGE);
}
static void protected(const char *start, size_t pages, int protection) {
    tell("memory-protected %lx %lx %d\n", (uintptr_t)start, (uintptr_t)start + pages * PAGE, protection);
}
static void moved(const char *from, const char *to, size_t pages) {
    tell("memory-moved %lx %lx %lx\n", (uintptr_t)from, (uintptr_t)to, pages * PAGE);
}

static char *map(void *at, size_t pages, int protection, int flags) {
    char *start = mmap(at, pages * PAGE, protection, flags | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) exit(3);
    return start;
}
static char *new_private(size_t pages) {
    char *start = map(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    plain(start, pages, 3);
    return start;
}

static void protections(void) {
    char *p = new_private(4);
    mprotect(p + PAGE, 2 * PAGE, PROT_READ);
    protected(p + PAGE, 2, 1);
    mprotect(p + PAGE, 2 * PAGE, PROT_READ); /* nothing new */
    mprotect(p, 4 * PAGE, PROT_READ);
    protected(p, 1, 1);
    protected(p + 3 * PAGE, 1, 1);
    mprotect(p + PAGE, PAGE, PROT_READ | PROT_EXEC);
    protected(p + PAGE, 1, 5);
    mprotect(p, 4 * PAGE, PROT_NONE);
    protected(p, 4, 0);
    munmap(p + 2 * PAGE, PAGE);
    unmapped(p + 2 * PAGE, 1);
    if (mprotect(p, 4 * PAGE, PROT_READ) == 0 || errno != ENOMEM) exit(4);
    protected(p, 2, 1); /* up to the hole */
    munmap(p, 4 * PAGE);
    unmapped(p, 2);
    unmapped(p + 3 * PAGE, 1);
    munmap(p, 4 * PAGE);
}

static void replacing(void) {
    char *p = new_private(6);
    map(p + 2 * PAGE, 2, PROT_READ, MAP_PRIVATE | MAP_FIXED);
    unmapped(p + 2 * PAGE, 2);
    plain(p + 2 * PAGE, 2, 1);
    if (mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED) exit(5);
    if (mmap(p + 1, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) exit(5);
    munmap(p + PAGE, PAGE);
    unmapped(p + PAGE, 1);
    map(p, 6, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED);
    unmapped(p, 1);
    unmapped(p + 2 * PAGE, 4);
    plain(p, 6, 3);
    munmap(p, 5 * PAGE + 1); /* whole pages */
    unmapped(p, 6);
}

static void moving(void) {
    char *p = new_private(8);
    munmap(p + 4 * PAGE, 2 * PAGE);
    unmapped(p + 4 * PAGE, 2);
    if (mremap(p, 4 * PAGE, 6 * PAGE, 0) != p) exit(6); /* into the hole */
    plain(p + 4 * PAGE, 2, 3);
    mremap(p, 6 * PAGE, 3 * PAGE, 0);
    unmapped(p + 3 * PAGE, 3);
    char *q = new_private(10);
    if (mremap(p, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + PAGE) != q + PAGE) exit(6);
    unmapped(q + PAGE, 5);
    moved(p, q + PAGE, 3);
    plain(q + 4 * PAGE, 2, 3);
    if (mremap(q, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) != p) exit(6); /* to where nothing is */
    moved(q, p, 1);
    char *far = mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
    if (far == MAP_FAILED) exit(6);
    moved(p, far, 1);
    plain(p, 1, 3); /* again, and empty */
    if (mremap(far + PAGE, PAGE, 2 * PAGE, 0) != MAP_FAILED) exit(6);
    munmap(far, PAGE);
    unmapped(far, 1);
    munmap(p, PAGE);
    unmapped(p, 1);
    munmap(q + PAGE, 9 * PAGE);
    unmapped(q + PAGE, 9);
}

static void shared(void) {
    char *p = map(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED);
    mapped(p, 2, 3, 0, "plain", "/dev/zero (deleted)");
    char *again = mremap(p, 0, 2 * PAGE, MREMAP_MAYMOVE);
    if (again == MAP_FAILED) exit(7);
    mapped(again, 2, 3, 0, "plain", "/dev/zero (deleted)");
    munmap(again, 2 * PAGE);
    unmapped(again, 2);
    munmap(p, 2 * PAGE);
    unmapped(p, 2);
}

static void files(const char *path) {
    int file = open(path, O_RDONLY);
    char *p = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE, file, 2 * PAGE);
    mapped(p, 3, 1, 2 * PAGE, "plain", path);
    munmap(p, PAGE);
    unmapped(p, 1);
    munmap(p, 3 * PAGE);
    unmapped(p + PAGE, 2);
    if (mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 1) != MAP_FAILED) exit(8);
    close(file);
    if (mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED) exit(8);
}

static void breaks(void) {
    char *start = (char *)((syscall(SYS_brk, 0) + PAGE - 1) & -PAGE);
    syscall(SYS_brk, start);
    char *old = (char *)syscall(SYS_brk, 0);
    if (old != start) exit(9);
    syscall(SYS_brk, start + 3 * PAGE - 5);
    mapped(start, 3, 3, 0, "break", "-");
    syscall(SYS_brk, start + 3 * PAGE - 9); /* the same page */
    syscall(SYS_brk, start + PAGE);
    unmapped(start + PAGE, 2);
    syscall(SYS_brk, 5);
    syscall(SYS_brk, start);
    unmapped(start, 1);
}

static void attached(void) {
    int segment = shmget(IPC_PRIVATE, 2 * PAGE, 0600);
    if (segment < 0) return;
    char *p = shmat(segment, NULL, SHM_RDONLY);
    mapped(p, 2, 1, 0, "plain", "/SYSV00000000 (deleted)");
    char *q = new_private(4);
    if (shmat(segment, q + PAGE, SHM_REMAP) != q + PAGE) exit(10);
    unmapped(q + PAGE, 2);
    mapped(q + PAGE, 2, 3, 0, "plain", "/SYSV00000000 (deleted)");
    if (shmat(segment, q, 0) != (void *)-1) exit(10);
    shmdt(q + PAGE);
    unmapped(q + PAGE, 2);
    shmdt(p);
    unmapped(p, 2);
    munmap(q, 4 * PAGE);
    unmapped(q, 1);
    unmapped(q + 3 * PAGE, 1);
    shmctl(segment, IPC_RMID, NULL);
}

int main(int count, char **words) {
    if (count < 2) return 2;
    protections();
    replacing();
    moving();
    shared();
    files(words[1]);
    breaks();
    attached();
    return write(1, text, length) == (ssize_t)length ? 0 : 1;
}
