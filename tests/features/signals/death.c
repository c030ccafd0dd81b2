// build: gcc -O1
// unreported: KILL
// runs: SEGV=-11 FPE=-8 ILL=-4 TRAP=-5 BUS=-7 ABRT=-6 TERM=-15 KILL=-9 HUP=-1 INT=-2 QUIT=-3 PIPE=-13 ALRM=-14 USR1=-10 SYS=-31 RT=-36 segv=-11 fpe=-8 ill=-4 trap=-5 bus=-7 abort=-6 pipe=-13 jump=-11 blocked=-11 ignored=-11 nested=-11 alarm=-14 stack=-11 null=-11 children=0
/* Death by each signal without a handler, sent (capitals) and caused (small letters): the process must end by the same
   signal. `children` forks a child for each and looks at the status as a parent does. */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
static const struct { const char *name; int number; } sent[] = {
    {"SEGV", SIGSEGV}, {"FPE", SIGFPE}, {"ILL", SIGILL}, {"TRAP", SIGTRAP}, {"BUS", SIGBUS}, {"ABRT", SIGABRT}, {"TERM", SIGTERM},
    {"KILL", SIGKILL}, {"HUP", SIGHUP}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"USR1", SIGUSR1},
    {"SYS", SIGSYS}, {"RT", 36}};
static volatile int zero;
static void again(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; *(volatile int *)16 = 1; }
__attribute__((optimize("no-optimize-sibling-calls"))) static int recurse(volatile char *p) { volatile char room[4096]; room[0] = *p; return recurse(room) + room[1]; }
static void cause_segv(void) { *(volatile int *)8 = 1; }
static void cause_fpe(void) { zero = 100 / zero; }
static void cause_ill(void) { __asm__ volatile("ud2"); }
static void cause_trap(void) { __asm__ volatile("int3"); }
static void cause_bus(void) {
    char name[] = "/tmp/featureXXXXXX";
    int file = mkstemp(name);
    unlink(name);
    volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    zero = map[0];
}
static void cause_abort(void) { abort(); }
static void cause_pipe(void) {
    int ends[2];
    if (pipe(ends) == 0 && close(ends[0]) == 0 && write(ends[1], "x", 1) == 1)
        _exit(1);
}
static void cause_jump(void) { ((void (*)(void))0x123456789000)(); }
static void block(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
}
static void cause_blocked(void) { handle(SIGSEGV, again, 0); block(SIGSEGV); cause_segv(); }
static void cause_ignored(void) { signal(SIGSEGV, SIG_IGN); cause_segv(); }
static void cause_nested(void) { handle(SIGSEGV, again, 0); cause_segv(); }
static void cause_alarm(void) { ualarm(5000, 0); for (;;) ; }
static void cause_stack(void) { char c = 0; zero = recurse(&c); }
static void cause_null(void) { ((void (*)(void))(uintptr_t)zero)(); }
static const struct { const char *name; void (*cause)(void); int number; } caused[] = {
    {"segv", cause_segv, SIGSEGV}, {"fpe", cause_fpe, SIGFPE}, {"ill", cause_ill, SIGILL}, {"trap", cause_trap, SIGTRAP}, {"bus", cause_bus, SIGBUS},
    {"abort", cause_abort, SIGABRT}, {"pipe", cause_pipe, SIGPIPE}, {"jump", cause_jump, SIGSEGV}, {"blocked", cause_blocked, SIGSEGV},
    {"ignored", cause_ignored, SIGSEGV}, {"nested", cause_nested, SIGSEGV}, {"alarm", cause_alarm, SIGALRM}, {"stack", cause_stack, SIGSEGV},
    {"null", cause_null, SIGSEGV}};
static void die(void *name) {
    for (unsigned i = 0; i < sizeof sent / sizeof *sent; i++)
        if (!strcmp(name, sent[i].name))
            kill(getpid(), sent[i].number);
    for (unsigned i = 0; i < sizeof caused / sizeof *caused; i++)
        if (!strcmp(name, caused[i].name))
            caused[i].cause();
}
int main(int argc, char **argv) {
    no_core();
    if (argc > 1 && strcmp(argv[1], "children")) {
        say("about to die by %s", argv[1]);
        die(argv[1]);
        return 1;
    }
    for (unsigned i = 0; i < sizeof sent / sizeof *sent; i++) {
        int status = child_status(die, (void *)sent[i].name);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sent[i].number && !WCOREDUMP(status), "child killed by %s", sent[i].name);
    }
    for (unsigned i = 0; i < sizeof caused / sizeof *caused; i++) {
        int status = child_status(die, (void *)caused[i].name);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == caused[i].number, "child died of %s", caused[i].name);
    }
    return finish();
}
