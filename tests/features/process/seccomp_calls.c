// build: gcc -O1 -pthread
// runs: blocking=0 order=0 refused=0 fork=0 trap-blocked=-31 kill-thread=0 strict-thread=0 long=0 execute=0 execute-forbidden=-31
// children: yes
/* Every call of a filtered program is made by way of the filter: calls that wait are ended and begun anew by signals, with
   the masks that ppoll, pselect and epoll_pwait bring; of several filters the strictest result counts; programs that the
   kernel refuses; what fork and execve inherit; a blocked SIGSYS kills; one thread dies and the others go on. */
#include "check.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/time.h>
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define FOR(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(action)
static long install(struct sock_filter *filter, unsigned short count, int by_prctl) {
    struct sock_fprog program = {count, filter};
    return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                    : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
#define INSTALL(...)                                                                                                   \
    ({                                                                                                                 \
        struct sock_filter filter[] = {__VA_ARGS__};                                                                   \
        install(filter, sizeof filter / sizeof *filter, 0);                                                            \
    })
#define REFUSED(name, ...) CHECK(INSTALL(__VA_ARGS__) == -1 && errno == EINVAL, "EINVAL: %s", name)

static volatile int alarms, users;
static volatile sig_atomic_t user_blocked;
static void on_alarm(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    sigset_t now;
    alarms++;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    user_blocked = sigismember(&now, SIGUSR1);
}
static void on_user(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c, users++; }
static void alarm_soon(void) {
    struct itimerval soon = {{0, 0}, {0, 30000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}
static int ended_by_alarm(long result) {
    int good = result == -1 && errno == EINTR && alarms == 1;
    alarms = 0;
    return good;
}
static void blocking(void) {
    int ends[2];
    char byte;
    sigset_t user, none;
    sigemptyset(&none);
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    CHECK(pipe(ends) == 0 && INSTALL(LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 5), RETURN(SECCOMP_RET_LOG)) == 0, "installed");
    handle(SIGALRM, on_alarm, 0);
    handle(SIGUSR1, on_user, 0);
    struct pollfd wait = {ends[0], POLLIN, 0};
    alarm_soon();
    CHECK(ended_by_alarm(read(ends[0], &byte, 1)), "read is ended by a signal");
    alarm_soon();
    CHECK(ended_by_alarm(poll(&wait, 1, -1)), "poll");
    struct timespec second = {1, 0}, left;
    alarm_soon();
    CHECK(ended_by_alarm(nanosleep(&second, &left)) && left.tv_sec == 0 && left.tv_nsec > 500000000, "nanosleep, with what is left");
    alarm_soon();
    CHECK(ended_by_alarm(ppoll(&wait, 1, NULL, &user)) && user_blocked, "ppoll: its mask holds in the handler");
    sigprocmask(SIG_BLOCK, NULL, &user);
    CHECK(!sigismember(&user, SIGUSR1), "and not behind it");
    sigaddset(&user, SIGUSR1);
    sigprocmask(SIG_BLOCK, &user, NULL);
    kill(getpid(), SIGUSR1);
    CHECK(users == 0 && ppoll(&wait, 1, NULL, &none) == -1 && errno == EINTR && users == 1, "ppoll lets a blocked signal in");
    kill(getpid(), SIGUSR1);
    fd_set set;
    FD_ZERO(&set);
    CHECK(users == 1 && pselect(1, &set, NULL, NULL, NULL, &none) == -1 && errno == EINTR && users == 2, "pselect too");
    kill(getpid(), SIGUSR1);
    struct epoll_event event;
    int epoll = epoll_create1(0);
    CHECK(users == 2 && epoll_pwait(epoll, &event, 1, -1, &none) == -1 && errno == EINTR && users == 3, "epoll_pwait too");
    kill(getpid(), SIGUSR1);
    siginfo_t info;
    CHECK(sigtimedwait(&user, &info, &second) == SIGUSR1 && users == 3 && info.si_pid == getpid(), "sigtimedwait takes it");
    kill(getpid(), SIGUSR1);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && users == 4, "sigsuspend");
    handle(SIGALRM, on_alarm, SA_RESTART);
    pid_t child = fork();
    if (child == 0) {
        sleep_milliseconds(150);
        _exit(write(ends[1], "x", 1) != 1);
    }
    alarm_soon();
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x' && alarms == 1, "read is begun anew with SA_RESTART");
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child writes");
    CHECK(syscall(SYS_getppid) == -1 && errno == 5, "the filter still holds");
}
static void order(void) {
    CHECK(INSTALL(LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 11), FOR(SYS_getuid, SECCOMP_RET_TRACE), RETURN(SECCOMP_RET_ALLOW)) == 0, "first");
    struct sock_filter second[] = {LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 22), FOR(SYS_getgid, SECCOMP_RET_ERRNO), RETURN(SECCOMP_RET_ALLOW)};
    CHECK(install(second, sizeof second / sizeof *second, 1) == 0, "second, by prctl");
    CHECK(INSTALL(LOAD(nr), FOR(SYS_getuid, SECCOMP_RET_USER_NOTIF), RETURN(SECCOMP_RET_ALLOW)) == 0, "third");
    CHECK(syscall(SYS_getppid) == -1 && errno == 22, "of equal ones the newest counts");
    CHECK(syscall(SYS_getuid) == -1 && errno == ENOSYS, "no tracer, no listener: ENOSYS");
    CHECK(syscall(SYS_getgid) == 0, "error 0 is success");
    CHECK(INSTALL(LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1234, 0, 1), RETURN(SECCOMP_RET_ERRNO | 0xffff), RETURN(SECCOMP_RET_ALLOW)) == 0, "fourth, on an argument");
    CHECK(syscall(SYS_close, 0x1234) == -1 && errno == 4095, "large errors are cut");
    CHECK(INSTALL(BPF_STMT(BPF_LD | BPF_IMM, 7), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LDX | BPF_MEM, 3), LOAD(nr),
                  BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0), BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 5), BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0x55),
                  BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2), BPF_STMT(BPF_ALU | BPF_NEG, 0),
                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, -(((SYS_getegid * 7 + 5) ^ 0x55) << 2), 0, 1), RETURN(SECCOMP_RET_ERRNO | 99),
                  BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW)) == 0, "arithmetic");
    CHECK(syscall(SYS_getegid) == -1 && errno == 99 && syscall(SYS_geteuid) == geteuid(), "as calculated");
    CHECK(syscall(0x70000000) == -1 && errno == ENOSYS && syscall(5000) == -1 && errno == ENOSYS, "calls that do not exist");
    CHECK(prctl(PR_GET_SECCOMP) == 2 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == -1 && errno == EINVAL, "no way to the strict mode");
}
static void refused(void) {
    REFUSED("nothing", );
    REFUSED("no return", LOAD(nr));
    REFUSED("unknown code", BPF_STMT(0xffff, 0), RETURN(0));
    REFUSED("remainder", BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3), RETURN(0));
    REFUSED("bytes", BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), RETURN(0));
    REFUSED("not aligned", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RETURN(0));
    REFUSED("indirect", BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), RETURN(0));
    REFUSED("divided by 0", BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN(0));
    REFUSED("shifted by 32", BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RETURN(0));
    REFUSED("jump outside", BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(0));
    REFUSED("conditional jump outside", BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 1, 0, 1), RETURN(0));
    REFUSED("cell 16", BPF_STMT(BPF_ST, 16), RETURN(0));
    REFUSED("cell not written", BPF_STMT(BPF_LD | BPF_MEM, 1), RETURN(0));
    REFUSED("cell written on one way only", LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 1, 0), BPF_STMT(BPF_ST, 2), BPF_STMT(BPF_LD | BPF_MEM, 2), RETURN(0));
    struct sock_fprog program = {4097, (struct sock_filter *)8};
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == -1 && errno == EINVAL, "too long");
    program.len = 1;
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == -1 && errno == EFAULT, "not readable");
    program.filter = NULL;
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == -1 && errno == EINVAL, "no address");
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 << 20, &program) == -1 && errno == EINVAL, "unknown flag");
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1 && errno == EINVAL, "strict with a flag");
    CHECK(prctl(PR_SET_SECCOMP, 99, 0, 0, 0) == -1 && errno == EINVAL, "unknown mode");
    unsigned action = SECCOMP_RET_TRAP;
    CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0, "an action that there is");
    action = 0x12340000;
    CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == -1 && errno == EOPNOTSUPP, "one that there is not");
    CHECK(prctl(PR_GET_SECCOMP) == 0, "no filter was installed");
}
static void *in_thread(void *data) {
    if (data == NULL)
        INSTALL(LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_KILL_THREAD), RETURN(SECCOMP_RET_ALLOW));
    else
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    say("in the thread");
    syscall(SYS_getppid);
    say("not reached");
    return NULL;
}
static void thread_dies(void *data) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, data);
    int waited = 0;
    do {
        sleep_milliseconds(5);
        FILE *status = fopen("/proc/self/status", "r");
        int count = 2;
        for (char line[200]; status && fgets(line, sizeof line, status);)
            sscanf(line, "Threads: %d", &count);
        if (status)
            fclose(status);
        if (count == 1)
            break;
    } while (++waited < 400);
    CHECK(waited < 400, "the thread is gone");
    CHECK(syscall(SYS_getppid) > 0, "this one has no filter");
}
int main(int argc, char **argv) {
    no_core();
    const char *kind = argc > 1 ? argv[1] : "blocking";
    if (!strcmp(kind, "inherited")) {
        CHECK(syscall(SYS_getppid) == -1 && errno == 44, "the program that was executed is filtered");
        CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_SECCOMP) == 2, "and knows it");
        say("sum %d", argc);
        return finish();
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!strcmp(kind, "blocking")) {
        blocking();
    } else if (!strcmp(kind, "order")) {
        order();
    } else if (!strcmp(kind, "refused")) {
        refused();
    } else if (!strcmp(kind, "fork")) {
        INSTALL(LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 33), RETURN(SECCOMP_RET_ALLOW));
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            int good = syscall(SYS_getppid) == -1 && errno == 33;
            INSTALL(LOAD(nr), FOR(SYS_getuid, SECCOMP_RET_ERRNO | 34), RETURN(SECCOMP_RET_ALLOW));
            _exit(!(good && syscall(SYS_getuid) == -1 && errno == 34));
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0, "in the child");
        CHECK(syscall(SYS_getppid) == -1 && errno == 33 && syscall(SYS_getuid) == getuid(), "and here");
    } else if (!strcmp(kind, "trap-blocked")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGSYS);
        handle(SIGSYS, on_user, 0);
        sigprocmask(SIG_BLOCK, &set, NULL);
        INSTALL(LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW));
        syscall(SYS_getppid);
        say("not reached");
    } else if (!strcmp(kind, "kill-thread") || !strcmp(kind, "strict-thread")) {
        thread_dies(kind[0] == 's' ? argv : NULL);
    } else if (!strcmp(kind, "long")) {
        static struct sock_filter filter[4096];
        for (int i = 0; i < 4095; i++)
            filter[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1);
        filter[4095] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
        CHECK(install(filter, 4096, 0) == 0 && syscall(SYS_getppid) > 0, "4096 instructions");
        int count = 1;
        while (count < 100 && install(filter, 4096, 0) == 0)
            count++;
        CHECK(count == 7 && errno == ENOMEM, "seven of those, then ENOMEM: %d", count);
    } else if (!strcmp(kind, "execute")) {
        INSTALL(LOAD(nr), FOR(SYS_getppid, SECCOMP_RET_ERRNO | 44), RETURN(SECCOMP_RET_ALLOW));
        INSTALL(LOAD(nr), FOR(SYS_seccomp, SECCOMP_RET_ERRNO | EPERM), RETURN(SECCOMP_RET_ALLOW));
        CHECK(INSTALL(RETURN(SECCOMP_RET_ALLOW)) == -1 && errno == EPERM, "no more filters");
        execl("/proc/self/exe", argv[0], "inherited", NULL);
        say("not reached");
    } else {
        INSTALL(LOAD(nr), FOR(SYS_execve, SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));
        say("before");
        execl("/bin/true", "true", NULL);
        say("not reached");
    }
    return finish();
}
