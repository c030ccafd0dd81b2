/**
 * @fileoverview Allocations whose sizes, contexts and moments are known, for tests/test_heap.py.
 *
 * `heap_pattern WHAT`: peak (blocks come and go, the most live in the middle), dumps (asks for dumps, by the words and signals
 * of its further argument), reports (its own accounting), graph (blocks that point to each other), churn (short lives).
 * Prints what it knows as `name value`.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sonde/client.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))

static size_t bytes, slop, blocks, most_bytes, most_slop, most_blocks;

static void note(void *block, size_t size, int sign) {
    size_t more = malloc_usable_size(block) - size;
    bytes += (size_t)sign * size;
    slop += (size_t)sign * more;
    blocks += (size_t)sign;
    if (bytes + slop + 8 * blocks > most_bytes + most_slop + 8 * most_blocks) most_bytes = bytes, most_slop = slop, most_blocks = blocks;
}

APART static void *small(size_t size) {
    void *block = malloc(size);
    note(block, size, 1);
    return block;
}

APART static void *large(size_t size) {
    void *block = calloc(1, size);
    note(block, size, 1);
    return block;
}

APART static void drop(void *block, size_t size) {
    note(block, size, -1);
    free(block);
}

APART static void peak(void) {
    enum { COUNT = 500 };
    static void *kept[COUNT];
    for (size_t round = 1; round <= 3; round++) {
        for (size_t i = 0; i < COUNT; i++) kept[i] = i % 50 ? small(i % 97 + round) : large(1000 * round + i);
        for (size_t i = 0; i < COUNT - 100 * round; i++) drop(kept[i], i % 50 ? i % 97 + round : 1000 * round + i);
        for (size_t i = COUNT - 100 * round; round != 2 && i < COUNT; i++) drop(kept[i], i % 50 ? i % 97 + round : 1000 * round + i);
    }
    printf("peak_bytes %zu\npeak_slop %zu\npeak_blocks %zu\nlive_bytes %zu\nlive_slop %zu\nlive_blocks %zu\n", most_bytes, most_slop,
           most_blocks, bytes, slop, blocks);
}

static volatile sig_atomic_t handled;
static void handle(int number) { handled = number; }

APART static void dumps(int count, char **words) {
    signal(SIGUSR1, handle);
    for (int i = 0; i < count; i++) {
        small(1000 + (size_t)i);
        if (!strcmp(words[i], "usr1")) raise(SIGUSR1);
        else if (!strcmp(words[i], "wait")) {
            printf("waiting\n");
            fflush(stdout);
            while (getchar() != '\n') {}
        } else printf("%s %d\n", words[i], sn_client_control(words[i]));
    }
    small(2000);
    printf("handled %d\n", (int)handled);
}

APART static void report_once(void *block) { sn_client_heap_report(block); }
APART static void report_twice(void *block) { sn_client_heap_report(block); }

APART static void reports(void) {
    void *first = small(100), *second = small(200), *third = small(300);
    report_once(first);
    sn_client_heap_clear_reports();
    sn_client_heap_report_on_allocation(large(400));
    sn_client_heap_clear_reports();
    report_once(second);
    report_once(third);
    report_twice(third);
    report_twice(third); /* a third report says nothing new */
    report_once((char *)third + 8); /* is no block */
}

struct knot {
    struct knot *next;
    long number;
    char *text;
    long zeros[4];
};
struct knot *first_knot;
_Thread_local struct knot *thread_knot;

APART static struct knot *make_knot(long number, struct knot *next) {
    struct knot *made = small(sizeof *made);
    memset(made, 0, sizeof *made);
    made->next = next;
    made->number = number;
    made->text = large(20);
    strcpy(made->text, "knot");
    return made;
}

static void *hold_knot(void *arguments) {
    struct knot *volatile held = make_knot(77, NULL);
    thread_knot = make_knot(78, NULL);
    pthread_barrier_wait(arguments);
    pthread_barrier_wait(arguments);
    return held;
}

APART static void graph(void) {
    pthread_barrier_t barrier;
    pthread_t thread;
    first_knot = make_knot(1, make_knot(2, make_knot(3, NULL)));
    first_knot->next->next->next = first_knot;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, hold_knot, &barrier);
    pthread_barrier_wait(&barrier);
    printf("first %lx\nsecond %lx\ntext %lx\nvariable %lx\n", (unsigned long)first_knot, (unsigned long)first_knot->next,
           (unsigned long)first_knot->text, (unsigned long)&first_knot);
    fflush(stdout);
    sn_client_control("dump");
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}

APART static void churn(void) {
    for (size_t i = 0; i < 1000; i++) drop(small(64), 64);
    void *long_lived = large(5000);
    for (size_t i = 0; i < 100; i++) drop(large(32), 32);
    drop(long_lived, 5000);
}

int main(int count, char **words) {
    static char output[1 << 16];
    setvbuf(stdout, output, _IOFBF, sizeof output);
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "peak")) peak();
    else if (!strcmp(what, "dumps")) dumps(count - 2, words + 2);
    else if (!strcmp(what, "reports")) reports();
    else if (!strcmp(what, "graph")) graph();
    else if (!strcmp(what, "churn")) churn();
    else return 2;
    fflush(stdout);
    return 0;
}
