// build: gcc -O1
// variants: dynamic, static, no-pie, static-pie
// arguments: first 'second argument' ''
/* /proc/self as the program sees it: exe (readlink, open, stat), maps ([stack], [heap], own text as r-xp at main, the vdso,
   nothing of an engine), auxv as getauxval, cmdline, environ, stat, comm, fd, task, status; under /proc/PID too. */
#include "check.h"
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
static char text[1 << 20];
static long slurp(const char *path) {
    int file = open(path, O_RDONLY);
    long length = 0, got;
    while (file >= 0 && (got = read(file, text + length, (size_t)(sizeof text - 1 - (size_t)length))) > 0)
        length += got;
    if (file >= 0)
        close(file);
    text[length] = 0;
    return file < 0 ? -1 : length;
}
/* The line of maps that holds an address. */
static int line_of(const void *address, char *line, unsigned long *start, unsigned long *end) {
    for (char *at = text; *at;) {
        char *next = strchr(at, '\n');
        if (!next)
            break;
        if (sscanf(at, "%lx-%lx", start, end) == 2 && (unsigned long)address >= *start && (unsigned long)address < *end) {
            snprintf(line, 400, "%.*s", (int)(next - at), at);
            return 1;
        }
        at = next + 1;
    }
    *line = 0;
    return 0;
}
static int in_data = 5;
static const char constant[] = "constant";
int main(int argc, char **argv) {
    char exe[PATH_MAX] = {0}, full[PATH_MAX], line[401], other[64];
    unsigned long start, end;
    CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0 && realpath(argv[0], full) && !strcmp(exe, full), "/proc/self/exe");
    snprintf(other, sizeof other, "/proc/%d/exe", getpid());
    memset(exe, 0, sizeof exe);
    CHECK(readlink(other, exe, sizeof exe - 1) > 0 && !strcmp(exe, full), "/proc/PID/exe");
    memset(exe, 0, sizeof exe);
    CHECK(readlinkat(AT_FDCWD, "/proc/self/exe", exe, 4) == 4 && !strncmp(exe, full, 4), "readlinkat with a short buffer");
    struct stat by_link, by_name;
    CHECK(stat("/proc/self/exe", &by_link) == 0 && stat(full, &by_name) == 0 && by_link.st_ino == by_name.st_ino, "stat of it");
    int file = open("/proc/self/exe", O_RDONLY);
    CHECK(fstat(file, &by_link) == 0 && by_link.st_ino == by_name.st_ino && by_link.st_size == by_name.st_size, "open of it");
    close(file);
    CHECK(!strcmp((char *)getauxval(AT_EXECFN), argv[0]), "AT_EXECFN");

    free(malloc(100));
    sbrk(4096);
    CHECK(slurp("/proc/self/maps") > 100, "maps can be read");
    CHECK(line_of((void *)main, line, &start, &end) && strstr(line, " r-xp ") && strstr(line, full), "main lies in r-xp of the program");
    CHECK(line_of(&in_data, line, &start, &end) && strstr(line, " rw-p ") && strstr(line, full), "data in rw-p of it");
    CHECK(line_of(constant, line, &start, &end) && strstr(line, " r--p ") && strstr(line, full), "constants in r--p of it");
    CHECK(line_of(&argc, line, &start, &end) && strstr(line, " rw-p ") && strstr(line, "[stack]"), "locals in [stack]");
    CHECK(line_of((char *)sbrk(0) - 1, line, &start, &end) && strstr(line, "[heap]"), "break in [heap]");
    CHECK(end == (((unsigned long)sbrk(0) + 4095) & ~4095ul), "[heap] ends at the break");
    CHECK(line_of((void *)getauxval(AT_SYSINFO_EHDR), line, &start, &end) && strstr(line, " r-xp ") && strstr(line, "[vdso]"), "the vdso");
    char *map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mprotect(map + 4096, 4096, PROT_READ);
    slurp("/proc/self/maps");
    CHECK(line_of(map, line, &start, &end) && strstr(line, " rw-s ") && start == (unsigned long)map && end == start + 4096, "a shared mapping split by mprotect: first");
    CHECK(line_of(map + 4096, line, &start, &end) && strstr(line, " r--s ") && start == (unsigned long)map + 4096 && end == start + 4096, "second");
    munmap(map, 3 * 4096);
    slurp("/proc/self/maps");
    CHECK(!line_of(map, line, &start, &end), "gone after munmap");
    CHECK(!strstr(text, "sonde"), "nothing else in the maps");
    unsigned long last = 0;
    int ordered = 1, stacks = 0;
    for (char *at = text; *at; at = strchr(at, '\n') + 1) {
        if (sscanf(at, "%lx-%lx", &start, &end) != 2 || start < last || end <= start)
            ordered = 0;
        last = end;
    }
    for (char *at = text; (at = strstr(at, "[stack]")); at++)
        stacks++;
    CHECK(ordered && stacks == 1, "in order, one [stack]");
    FILE *smaps = fopen("/proc/self/smaps", "r");
    CHECK(smaps != NULL, "smaps opens");
    if (smaps)
        fclose(smaps);

    long size = slurp("/proc/self/auxv");
    const Elf64_auxv_t *entry = (const Elf64_auxv_t *)text;
    int agree = size >= 16, count = 0;
    for (; (char *)(entry + 1) <= text + size && entry->a_type != AT_NULL; entry++) {
        count += entry->a_type != 27 && entry->a_type != 28; /* AT_RSEQ_*: Sonde declares rseq absent */
        if (entry->a_type != AT_HWCAP)                       /* libc has its own there */
            agree &= getauxval(entry->a_type) == entry->a_un.a_val;
    }
    CHECK(agree && count > 10 && getauxval(AT_PAGESZ) == 4096 && getauxval(AT_UID) == getuid(), "auxv as getauxval");
    say("auxv entries %d, platform %s, hwcap %lx", count, (char *)getauxval(AT_PLATFORM), getauxval(AT_HWCAP));
    const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
    int executable = 0;
    for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
        executable += headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_X);
    CHECK(executable == 1 && getauxval(AT_PHENT) == sizeof *headers, "AT_PHDR");

    size = slurp("/proc/self/cmdline");
    char *at = text;
    int same = 1, arguments = 0;
    for (; at < text + size; at += strlen(at) + 1, arguments++)
        same &= arguments < argc && !strcmp(at, argv[arguments]);
    CHECK(same && arguments == argc && argc == 4, "cmdline");
    size = slurp("/proc/self/environ");
    CHECK(size > 0 && memmem(text, (size_t)size, "FEATURE=value with spaces", 26), "environ");
    const char *base = strrchr(full, '/') + 1;
    char name[32] = {0};
    prctl(PR_GET_NAME, name);
    CHECK(!strncmp(name, base, 15) && strlen(name) == (strlen(base) < 15 ? strlen(base) : 15), "PR_GET_NAME is the program's: %s", name);
    slurp("/proc/self/comm");
    CHECK(!strncmp(text, name, strlen(name)) && text[strlen(name)] == '\n', "comm");
    prctl(PR_SET_NAME, "renamed");
    slurp("/proc/self/comm");
    CHECK(!strcmp(text, "renamed\n"), "renamed");
    slurp("/proc/self/stat");
    int pid = 0, parent = 0;
    char state, command[32];
    sscanf(text, "%d (%31[^)]) %c %d", &pid, command, &state, &parent);
    CHECK(pid == getpid() && parent == getppid() && state == 'R' && !strcmp(command, "renamed"), "stat");
    slurp("/proc/self/status");
    CHECK(strstr(text, "Name:\trenamed\n") && strstr(text, "Threads:\t1\n") && strstr(text, "TracerPid:\t0\n"), "status: name, one thread, no tracer");
    return finish();
}
