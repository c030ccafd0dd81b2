// Handlers on the stack that was interrupted and on an alternate one; one inside the other; returning, and jumping out.
// expect: leaf handler! raises main
// expect: leaf raises main
// expect: leaf handler! raises main
// expect: leaf raises main
// expect: leaf handler! nests! raises main
// expect: leaf raises main
// expect: leaf jumper main
// expect: leaf main
// expect: leaf jumper main
// expect: leaf main
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "mark.h"
static sigjmp_buf place;
APART void leaf(void) { mark(); NOT_LAST; }
APART void handler(int number) { leaf(); NOT_LAST; }
static void send(int number) {
    long result = SYS_kill;
    __asm__ volatile("syscall" : "+a"(result) : "D"(getpid()), "S"(number) : "rcx", "r11", "memory");
}
APART void nests(int number) {
    __asm__ volatile("" ::: "memory");
    send(SIGUSR1);
    NOT_LAST;
}
APART void leaves(int number) { siglongjmp(place, 1); }
APART void raises(int number) { send(number); leaf(); NOT_LAST; }
APART void jumper(void) {
    if (!sigsetjmp(place, 1)) send(SIGALRM);
    leaf();
    NOT_LAST;
}
static void on(int number, void (*function)(int), int flags) {
    struct sigaction action = {.sa_handler = function, .sa_flags = flags};
    sigaction(number, &action, NULL);
}
int main(void) {
    stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&alternate, NULL);
    on(SIGUSR1, handler, 0);
    raises(SIGUSR1);
    on(SIGUSR1, handler, SA_ONSTACK);
    raises(SIGUSR1);
    on(SIGUSR2, nests, SA_ONSTACK);
    raises(SIGUSR2);
    on(SIGALRM, leaves, 0);
    jumper();
    leaf();
    on(SIGALRM, leaves, SA_ONSTACK);
    jumper();
    leaf();
    return 0;
}
