// build: gcc -O1
/* Working directory, umask, personality, limits, priorities, names: what a program sets it reads back, a child inherits. */
#include "check.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
int main(void) {
    char directory[] = "/tmp/featureXXXXXX", here[PATH_MAX], again[PATH_MAX];
    CHECK(mkdtemp(directory) && chdir(directory) == 0 && getcwd(here, sizeof here) && !strcmp(here, directory), "chdir and getcwd");
    CHECK(readlink("/proc/self/cwd", again, sizeof again) == (long)strlen(directory) && !memcmp(again, directory, strlen(directory)), "/proc/self/cwd");
    umask(027);
    int file = open("made", O_CREAT | O_WRONLY, 0666);
    struct stat status;
    fstat(file, &status);
    CHECK((status.st_mode & 0777) == 0640 && umask(022) == 027, "umask");
    unlink("made");
    CHECK(chdir("/") == 0 && rmdir(directory) == 0 && chdir(directory) == -1 && errno == ENOENT, "directory removed");
    int old = personality(0xffffffff);
    CHECK(personality(old | ADDR_NO_RANDOMIZE) == old && personality(0xffffffff) == (old | ADDR_NO_RANDOMIZE), "personality");
    personality((unsigned long)old);
    struct utsname name;
    CHECK(uname(&name) == 0 && !strcmp(name.machine, "x86_64"), "uname says %s %s", name.sysname, name.machine);
    static const int kinds[] = {RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NPROC};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit limit, through;
        getrlimit(kinds[i], &limit);
        syscall(SYS_prlimit64, getpid(), kinds[i], NULL, &through);
        say("limit %d: %lld %lld", kinds[i], (long long)limit.rlim_cur, (long long)limit.rlim_max);
        CHECK(limit.rlim_cur == through.rlim_cur && limit.rlim_max == through.rlim_max, "getrlimit as prlimit");
    }
    struct rlimit set = {1234567, RLIM_INFINITY}, get;
    getrlimit(RLIMIT_FSIZE, &get);
    set.rlim_max = get.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &set) == 0 && getrlimit(RLIMIT_FSIZE, &get) == 0 && get.rlim_cur == 1234567, "a limit set and read back");
    int inherited = child_status((void (*)(void *))(uintptr_t)_exit, (void *)7);
    CHECK(WEXITSTATUS(inherited) == 7, "child");
    CHECK(getpriority(PRIO_PROCESS, 0) == 0 || errno == 0, "priority");
    CHECK(prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_GET_DUMPABLE) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0, "dumpable");
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "no new privileges");
    uint64_t tsc = 0;
    CHECK(prctl(PR_GET_TSC, &tsc) == 0 && (int)tsc == PR_TSC_ENABLE, "time-stamp counter allowed");
    return finish();
}
