/**
 * @fileoverview Timer signals during blocks, see interrupt.h.
 *
 * Like the fault handler, this one runs while fs may belong to the block: no thread-local storage.
 */
#include "interrupt.h"

#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "layout.h"

extern const char __executable_start[], etext[];

static volatile uint64_t count, inside, foreign;

static bool within(uint64_t address, uint64_t start, uint64_t size) {
    return address - start < size;
}

static void on_alarm(int signal, siginfo_t *information, void *data) {
    const ucontext_t *context = data;
    uint64_t address = (uint64_t)context->uc_mcontext.gregs[REG_RIP], text = (uint64_t)(uintptr_t)__executable_start;
    (void)signal;
    (void)information;
    count++;
    if (within(address, SN_LOW_CODE, SN_CODE_SPAN) || within(address, SN_HIGH_CODE, SN_CODE_SPAN))
        inside++;
    else if (!within(address, text, (uint64_t)(uintptr_t)etext - text) && !within(address, SN_GATE, 4096) && !foreign)
        foreign = address;
}

bool sn_interrupt_start(uint64_t microseconds) {
    struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct itimerval timer = {.it_value.tv_usec = (suseconds_t)microseconds, .it_interval.tv_usec = (suseconds_t)microseconds};
    return sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0;
}

uint64_t sn_interrupt_count(void) {
    return count;
}

uint64_t sn_interrupt_inside(void) {
    return inside;
}

uint64_t sn_interrupt_foreign(void) {
    return foreign;
}
