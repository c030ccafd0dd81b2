/**
 * @fileoverview A repeated instruction that faults in the middle and is finished after the handler has made room: for
 * tests/test_cache.py. Each of its stores is one reference, however often it was started.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 3, COUNT = PAGES * PAGE - 100 };

static unsigned char *area;
static volatile int faults;

static void make_room(int number, siginfo_t *information, void *context) {
    (void)number;
    (void)context;
    faults++;
    mprotect((void *)((unsigned long)information->si_addr & ~(unsigned long)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = make_room, .sa_flags = SA_SIGINFO};
    area = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    unsigned char *to = area;
    unsigned long count = COUNT;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory"); /* the line that counts */
    printf("%d faults\n", faults);
    return to != area + COUNT || faults != PAGES;
}
