// build: gcc -O1 -pthread
// unreported: kill-process kill-thread allow-list strict
// runs: errno=0 trap=0 kill-process=-31 kill-thread=-31 allow-list=0 strict=-9 threads=0 wrong=0
/* Filters that the program installs: an error number, SIGSYS with its fields, death, a strict allow-list of what the
   program itself needs (and an engine may want more), the strict mode, TSYNC over threads, errors of wrong filters. */
#include "check.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define FOR(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(action)
static long install(struct sock_filter *filter, unsigned short count, unsigned flags) {
    struct sock_fprog program = {count, filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}
#define INSTALL(flags, ...)                                                                                            \
    ({                                                                                                                 \
        struct sock_filter filter[] = {__VA_ARGS__};                                                                   \
        install(filter, sizeof filter / sizeof *filter, flags);                                                        \
    })
static siginfo_t seen;
static long syscall_result;
static void note(int n, siginfo_t *i, void *c) {
    (void)n;
    seen = *i;
    ((ucontext_t *)c)->uc_mcontext.gregs[REG_RAX] = syscall_result = -4242;
}
static void *other(void *data) {
    sleep_milliseconds(40);
    return (void *)(long)(syscall(SYS_getppid) == -1 && errno == 77 ? (long)data : 0);
}
static int square_sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
int main(int argc, char **argv) {
    no_core();
    const char *kind = argc > 1 ? argv[1] : "errno";
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!strcmp(kind, "errno")) {
        CHECK(INSTALL(0, LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 77), FOR(SYS_socket, SECCOMP_RET_ERRNO | EACCES), RETURN(SECCOMP_RET_ALLOW)) == 0, "installed");
        CHECK(syscall(SYS_getppid) == -1 && errno == 77, "getppid fails with 77");
        CHECK(syscall(SYS_socket, 1, 1, 0) == -1 && errno == EACCES && getpid() > 0, "socket refused, others work");
        CHECK(prctl(PR_GET_SECCOMP) == 2, "PR_GET_SECCOMP");
    } else if (!strcmp(kind, "trap")) {
        handle(SIGSYS, note, 0);
        CHECK(INSTALL(0, LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_TRAP | 99), RETURN(SECCOMP_RET_ALLOW)) == 0, "installed");
        long after, result;
        __asm__ volatile("syscall; 1: lea 1b(%%rip),%1" : "=a"(result), "=&r"(after) : "a"(SYS_getppid) : "rcx", "r11", "memory");
        CHECK(result == -4242, "the handler's result");
        CHECK(seen.si_code == 1 && seen.si_syscall == SYS_getppid && seen.si_arch == AUDIT_ARCH_X86_64 && seen.si_errno == 99, "SIGSYS fields");
        CHECK((long)seen.si_call_addr == after, "si_call_addr");
    } else if (!strcmp(kind, "kill-process") || !strcmp(kind, "kill-thread")) {
        CHECK(INSTALL(0, LOAD(nr), FOR(SYS_getppid, kind[5] == 'p' ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_KILL_THREAD), RETURN(SECCOMP_RET_ALLOW)) == 0, "installed");
        getppid();
        CHECK(0, "still alive");
    } else if (!strcmp(kind, "allow-list")) {
        /* only what this program itself calls from here on */
        CHECK(INSTALL(0, LOAD(nr), FOR(SYS_write, SECCOMP_RET_ALLOW), FOR(SYS_exit_group, SECCOMP_RET_ALLOW), FOR(SYS_rt_sigreturn, SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_PROCESS)) == 0, "installed");
        say("sum %d", square_sum(1000)); /* code that ran never before */
        char text[64];
        snprintf(text, sizeof text, "%.3f %s", square_sum(10) / 3.0, strchr("abc", 'b'));
        say("%s", text);
    } else if (!strcmp(kind, "strict")) {
        say("strict mode");
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "set");
        say("write still works, sum %d", square_sum(77));
        getppid(); /* kills by SIGKILL */
        say("not reached");
    } else if (!strcmp(kind, "threads")) {
        pthread_t threads[3];
        for (long i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, other, (void *)(i + 1));
        CHECK(INSTALL(SECCOMP_FILTER_FLAG_TSYNC, LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 77), RETURN(SECCOMP_RET_ALLOW)) == 0, "installed with TSYNC");
        for (long i = 0; i < 3; i++) {
            void *result;
            pthread_join(threads[i], &result);
            CHECK(result == (void *)(i + 1), "thread %ld is filtered too", i);
        }
    } else {
        CHECK(INSTALL(0, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4000), RETURN(SECCOMP_RET_ALLOW)) == -1 && errno == EINVAL, "a filter that reads too far: EINVAL");
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (void *)8) == -1 && errno == EFAULT, "EFAULT");
        CHECK(syscall(SYS_seccomp, 99, 0, NULL) == -1 && errno == EINVAL, "EINVAL");
    }
    return finish();
}
