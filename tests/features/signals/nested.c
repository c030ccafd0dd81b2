// build: gcc -O1
// core: yes
/* Handlers within handlers, their masks (sa_mask, own signal), SA_NODEFER, SA_RESETHAND, order of several pending ones. */
#include "check.h"
static char trace[200];
static int depth;
static void note(char c) {
    size_t length = strlen(trace);
    trace[length] = c;
}
static void expect(const char *wanted, const char *what) {
    CHECK(!strcmp(trace, wanted), "%s: %s", what, trace);
    memset(trace, 0, sizeof trace);
}
static void usr1(int n) { (void)n; note('('); raise(SIGUSR2); note(')'); }
static void usr2(int n) { (void)n; note('2'); }
static void recursive(int n) {
    (void)n;
    note('<');
    if (++depth < 5)
        raise(SIGUSR1);
    note('>');
}
static void install(int number, void (*handler)(int), int flags, int also_blocked) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    if (also_blocked)
        sigaddset(&action.sa_mask, also_blocked);
    sigaction(number, &action, NULL);
}
int main(void) {
    install(SIGUSR1, usr1, 0, 0);
    install(SIGUSR2, usr2, 0, 0);
    raise(SIGUSR1);
    expect("(2)", "nested");
    install(SIGUSR1, usr1, 0, SIGUSR2);
    raise(SIGUSR1);
    expect("()2", "blocked by sa_mask until the handler returns");
    install(SIGUSR1, recursive, SA_NODEFER, 0);
    raise(SIGUSR1);
    expect("<<<<<>>>>>", "SA_NODEFER");
    depth = 0;
    install(SIGUSR1, recursive, 0, 0);
    raise(SIGUSR1);
    expect("<><><><><>", "deferred without it");
    install(SIGUSR1, usr2, SA_RESETHAND, 0);
    raise(SIGUSR1);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    expect("2", "SA_RESETHAND once");
    CHECK(now.sa_handler == SIG_DFL, "then the default action");
    install(SIGUSR2, usr2, SA_RESTART, SIGHUP);
    sigaction(SIGUSR2, NULL, &now);
    CHECK(now.sa_handler == usr2 && (now.sa_flags & SA_RESTART) && sigismember(&now.sa_mask, SIGHUP) && !sigismember(&now.sa_mask, SIGINT),
          "sigaction reads back what was set");
    CHECK(sigaction(SIGKILL, &now, NULL) == -1 && errno == EINVAL, "SIGKILL cannot be handled");
    install(SIGUSR1, usr1, 0, 0);
    sigset_t both, empty;
    sigemptyset(&both);
    sigemptyset(&empty);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, NULL);
    raise(SIGUSR2);
    raise(SIGUSR1);
    expect("", "both pending");
    sigprocmask(SIG_SETMASK, &empty, NULL);
    expect("2(2)", "two at once: both handlers before return");
    return finish();
}
