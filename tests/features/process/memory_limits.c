// build: gcc -O1
// variants: dynamic, static
// runs: address-space=0 data=0 inherit=0 rights=0
// children: yes
/* RLIMIT_AS and RLIMIT_DATA as a program sets and meets them: mmap, brk, mremap, MAP_FIXED over what is there, mprotect,
   what reads back (getrlimit, prlimit, /proc/self/limits), children by fork, vfork and execve. */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#define MIB (1ul << 20)
static void *map(size_t size, int protection, int flags) {
    void *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}
static void print_line(const char *name) {
    static char text[4096];
    int file = open("/proc/self/limits", O_RDONLY);
    long length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    char *line = strstr(text, name);
    say("%.*s|", line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}
static struct rlimit limit_of(int resource) {
    struct rlimit limit = {0, 0};
    getrlimit(resource, &limit);
    return limit;
}
static int set(int resource, rlim_t soft) {
    struct rlimit limit = {soft, limit_of(resource).rlim_max};
    return setrlimit(resource, &limit);
}
static void address_space(void) {
    CHECK(set(RLIMIT_AS, 300 * MIB) == 0 && limit_of(RLIMIT_AS).rlim_cur == 300 * MIB, "set and read");
    struct rlimit old;
    CHECK(prlimit(0, RLIMIT_AS, NULL, &old) == 0 && old.rlim_cur == 300 * MIB, "prlimit reads it");
    CHECK(prlimit(getpid(), RLIMIT_AS, &old, &old) == 0 && old.rlim_cur == 300 * MIB, "by number");
    print_line("Max address space");
    print_line("Max stack size");
    CHECK(!map(400 * MIB, PROT_NONE, MAP_NORESERVE) && errno == ENOMEM, "400 MiB: ENOMEM, even without access");
    char *large = map(200 * MIB, PROT_READ | PROT_WRITE, 0);
    CHECK(large, "200 MiB fit");
    CHECK(!map(120 * MIB, PROT_READ, 0) && errno == ENOMEM, "120 more do not");
    CHECK(mmap(large, 200 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == large, "over what is there");
    CHECK(mremap(large, 200 * MIB, 320 * MIB, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOMEM, "mremap to 320 MiB");
    CHECK(mremap(large, 200 * MIB, 240 * MIB, MREMAP_MAYMOVE) != MAP_FAILED, "to 240 MiB");
    void *end = sbrk(0);
    CHECK(sbrk(100 * MIB) == (void *)-1 && errno == ENOMEM && sbrk(0) == end, "brk by 100 MiB");
    CHECK(sbrk(10 * MIB) == end, "brk by 10 MiB");
    CHECK(!malloc(200 * MIB), "malloc of 200 MiB");
    CHECK(set(RLIMIT_AS, limit_of(RLIMIT_AS).rlim_max) == 0 && map(400 * MIB, PROT_NONE, MAP_NORESERVE), "lifted again");
    CHECK(set(RLIMIT_AS, MIB) == 0 && !map(4096, PROT_READ, 0), "less than is in use: nothing more");
}
static void data(void) {
    CHECK(set(RLIMIT_DATA, 100 * MIB) == 0 && limit_of(RLIMIT_DATA).rlim_cur == 100 * MIB, "set and read");
    print_line("Max data size");
    CHECK(!map(120 * MIB, PROT_READ | PROT_WRITE, 0) && errno == ENOMEM, "writable: ENOMEM");
    char *large = map(300 * MIB, PROT_READ, 0);
    CHECK(large, "300 MiB to read do not count");
    CHECK(mprotect(large, 150 * MIB, PROT_READ | PROT_WRITE) == -1 && errno == ENOMEM, "until they are made writable");
    CHECK(mprotect(large, 50 * MIB, PROT_READ | PROT_WRITE) == 0, "50 MiB of them");
    CHECK(mmap(NULL, 200 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "shared memory");
    CHECK(sbrk(120 * MIB) == (void *)-1 && errno == ENOMEM, "brk by 120 MiB");
}
static void inherit(char **argv) {
    pid_t child = vfork();
    if (child == 0) {
        struct rlimit low = {123 * MIB, limit_of(RLIMIT_AS).rlim_max};
        setrlimit(RLIMIT_AS, &low);
        execl(argv[0], argv[0], "print", NULL);
        _exit(9);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0 && limit_of(RLIMIT_AS).rlim_cur != 123 * MIB, "set between vfork and execve: the child's only");
    set(RLIMIT_AS, 250 * MIB);
    if (fork() == 0) {
        CHECK(limit_of(RLIMIT_AS).rlim_cur == 250 * MIB && !map(260 * MIB, PROT_READ, 0), "after fork");
        set(RLIMIT_AS, 260 * MIB);
        execl("/proc/self/exe", argv[0], "print", NULL);
        _exit(9);
    }
    wait(&status);
    CHECK(status == 0 && limit_of(RLIMIT_AS).rlim_cur == 250 * MIB, "the parent keeps its own");
    fflush(NULL);
    execl("/bin/sh", "sh", "-c", "ulimit -S -v; ulimit -S -d", NULL);
}
static void rights(void) {
    struct rlimit limit = {20, 10};
    CHECK(setrlimit(RLIMIT_AS, &limit) == -1 && errno == EINVAL, "soft above hard");
    CHECK(syscall(SYS_setrlimit, RLIMIT_AS, NULL) == -1 && errno == EFAULT, "no address");
    CHECK(syscall(SYS_prlimit64, 0, RLIMIT_AS, (void *)8, NULL) == -1 && errno == EFAULT, "a bad one");
    CHECK(syscall(SYS_prlimit64, 0, 99, NULL, &limit) == -1 && errno == EINVAL, "no such limit");
    CHECK(syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, NULL) == 0, "nothing to do");
    limit = (struct rlimit){400 * MIB, 500 * MIB};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "a hard limit");
    if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        CHECK(0, "setresuid");
    limit.rlim_max = 600 * MIB;
    CHECK(setrlimit(RLIMIT_AS, &limit) == -1 && errno == EPERM, "can't be raised");
    limit.rlim_cur = limit.rlim_max = 450 * MIB;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0 && limit_of(RLIMIT_AS).rlim_max == 450 * MIB, "but lowered");
}
int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "address-space";
    if (!strcmp(kind, "print")) {
        say("soft %ld", (long)limit_of(RLIMIT_AS).rlim_cur);
        print_line("Max address space");
        return limit_of(RLIMIT_AS).rlim_cur == RLIM_INFINITY;
    }
    if (!strcmp(kind, "address-space"))
        address_space();
    else if (!strcmp(kind, "data"))
        data();
    else if (!strcmp(kind, "inherit"))
        inherit(argv);
    else
        rights();
    return finish();
}
