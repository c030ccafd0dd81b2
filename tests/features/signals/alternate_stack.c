// build: gcc -O1
/* sigaltstack: the handler runs on it, SS_ONSTACK is reported, EPERM while in use, SS_AUTODISARM, ENOMEM, disabling. */
#include "check.h"
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif
static char area[65536] __attribute__((aligned(64))), second[65536];
static int inside, reported, refused, disarmed, calls, aligned;
static void on_stack(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    ucontext_t *user = context;
    char *here = __builtin_frame_address(0);
    inside = here > area && here < area + sizeof area;
    aligned = ((uintptr_t)here & 15) == 0;
    stack_t now;
    sigaltstack(NULL, &now);
    reported = (now.ss_flags & SS_ONSTACK) != 0;
    refused = sigaltstack(&(stack_t){.ss_sp = second, .ss_size = sizeof second}, NULL) == -1 && errno == EPERM;
    disarmed = now.ss_flags == SS_DISABLE && user->uc_stack.ss_sp == area;
    calls++;
}
static int nested_inside[2];
static void nested(int number, siginfo_t *info, void *context) {
    (void)info, (void)context;
    char *here = __builtin_frame_address(0);
    nested_inside[number == SIGUSR2] = here > area && here < area + sizeof area;
    if (number == SIGUSR1)
        raise(SIGUSR2);
}
int main(void) {
    stack_t old;
    CHECK(sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE), "none at first");
    CHECK(sigaltstack(&(stack_t){.ss_sp = area, .ss_size = 100}, NULL) == -1 && errno == ENOMEM, "too small: ENOMEM");
    CHECK(sigaltstack(&(stack_t){.ss_sp = area, .ss_size = 65536, .ss_flags = 0x55}, NULL) == -1 && errno == EINVAL, "flags: EINVAL");
    CHECK(sigaltstack(&(stack_t){.ss_sp = area, .ss_size = sizeof area}, NULL) == 0, "set");
    handle(SIGUSR1, on_stack, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(calls == 1 && inside && aligned && reported && refused, "handler on the stack, reported, not changeable");
    handle(SIGUSR1, on_stack, 0);
    raise(SIGUSR1);
    CHECK(calls == 2 && !inside && !reported && !refused, "without SA_ONSTACK on the normal stack");
    sigaltstack(NULL, &old);
    CHECK(old.ss_sp == area && old.ss_flags == 0, "what a handler sets is undone by its sigreturn");
    CHECK(sigaltstack(&(stack_t){.ss_sp = area, .ss_size = sizeof area, .ss_flags = (int)SS_AUTODISARM}, NULL) == 0, "SS_AUTODISARM");
    handle(SIGUSR1, on_stack, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(calls == 3 && inside && disarmed && !refused, "disarmed inside the handler");
    sigaltstack(NULL, &old);
    CHECK(old.ss_sp == area && (old.ss_flags & (int)SS_AUTODISARM), "restored by sigreturn");
    sigaltstack(&(stack_t){.ss_sp = area, .ss_size = sizeof area}, NULL);
    handle(SIGUSR1, nested, SA_ONSTACK);
    handle(SIGUSR2, nested, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(nested_inside[0] && nested_inside[1], "a nested handler goes on below on the same stack");
    CHECK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL) == 0, "disabled");
    handle(SIGUSR1, on_stack, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(!inside, "then the normal stack again");
    return finish();
}
