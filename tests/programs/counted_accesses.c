/* Threads that each add up a number of times in an array of 64 words each, while a timer's signals arrive; a static
   program, so that the array's address is known. Prints nothing; status 0 if the sums are right. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#define MOST_THREADS 4
volatile long counted[MOST_THREADS * 64];
static volatile long ticks;
static long rounds;

static void tick(int number) {
    (void)number;
    ticks++;
}

/** One access, whatever the compiler thinks. */
static void add_one(volatile long *to) { __asm__ volatile("addq $1, %0" : "+m"(*to)); }

static void *work(void *argument) {
    volatile long *mine = &counted[64 * (long)argument];
    for (long i = 0; i < rounds; i++) {
        add_one(&mine[i & 63]);
        if (i % 3 == 0) add_one(&mine[(i + 7) & 63]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    rounds = atol(argv[1]);
    long threads = atol(argv[2]), sum = 0;
    struct itimerval often = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_t started[MOST_THREADS];
    for (long i = 1; i < threads; i++) pthread_create(&started[i], NULL, work, (void *)i);
    work((void *)0);
    for (long i = 1; i < threads; i++) pthread_join(started[i], NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    /* Read by a copy, whose accesses vary and are not counted. */
    static long copy[MOST_THREADS * 64];
    const void *from = (const void *)counted;
    void *to = copy;
    size_t count = sizeof copy;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    for (size_t i = 0; i < MOST_THREADS * 64; i++) sum += copy[i];
    return sum != threads * (rounds + (rounds + 2) / 3);
}
