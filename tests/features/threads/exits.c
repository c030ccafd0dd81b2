// build: gcc -O1 -pthread
// runs: main-first=0 secondary=9 raw-exit=0 returns=5 killed=-10 main-raw-exit=0 crash=-11
/* How a threaded process ends: main leaves by pthread_exit first, exit_group from a secondary thread, a thread by the
   bare exit system call, main by the bare exit system call, return while threads run, death by a signal or crash in a thread. */
#include "check.h"
#include <pthread.h>
static const char *kind;
static void *late(void *data) {
    sleep_milliseconds(50);
    say("late thread goes on");
    if (!strcmp(kind, "secondary"))
        exit(9);
    if (!strcmp(kind, "killed"))
        kill(getpid(), SIGUSR1);
    if (!strcmp(kind, "crash"))
        *(volatile int *)8 = 1;
    if (!strcmp(kind, "main-raw-exit"))
        syscall(SYS_exit_group, 0);
    return data;
}
static void *spins(void *data) {
    for (;;)
        ;
    return data;
}
static void *raw_exit(void *data) {
    syscall(SYS_exit, 3);
    return data;
}
static void at_exit(void) { say("atexit handler"); }
int main(int argc, char **argv) {
    no_core();
    kind = argc > 1 ? argv[1] : "returns";
    pthread_t thread;
    atexit(at_exit);
    if (!strcmp(kind, "returns")) {
        pthread_create(&thread, NULL, spins, NULL);
        pthread_create(&thread, NULL, spins, NULL);
        sleep_milliseconds(20);
        return 5;
    }
    if (!strcmp(kind, "raw-exit")) {
        for (int i = 0; i < 50; i++) {
            pthread_create(&thread, NULL, raw_exit, NULL);
            pthread_join(thread, NULL);
        }
        say("50 bare exits joined");
        return 0;
    }
    pthread_create(&thread, NULL, late, NULL);
    if (!strcmp(kind, "main-first"))
        pthread_exit(NULL);
    if (!strcmp(kind, "main-raw-exit"))
        syscall(SYS_exit, 0);
    pthread_t other;
    pthread_create(&other, NULL, spins, NULL);
    for (;;)
        pause();
}
