// heavy: yes
// build: gcc -O2 -pthread
/* Threads call functions in mappings far from the program that lie at the same offset of many 64 KiB pieces: each call
   returns its own function's value, whatever the others call at the same moment. */
#include "../code/emit.h"
#include <pthread.h>
enum { PIECES = 3, PIECE = 65536, THREADS = 4, CALLS = 400000 };
static unsigned char *area;
static pthread_barrier_t barrier;
static void *call(void *data) {
    unsigned long bad = 0, which = 1 + (unsigned long)data;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < CALLS; i++) {
        if (i % 64 == 0)
            which = which * 6364136223846793005ul + 1442695040888963407ul;
        int piece = (int)(which >> 40) % PIECES;
        bad += run(area + piece * PIECE) != 1000 + piece;
    }
    return (void *)bad;
}
int main(void) {
    area = mmap((void *)0x120000000000, PIECES * PIECE, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(area == (void *)0x120000000000, "mapped where it was asked for");
    if (check_failures)
        return 1;
    for (int i = 0; i < PIECES; i++)
        emit_return(area + i * PIECE, 1000 + i);
    mprotect(area, PIECES * PIECE, RX);
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call, (void *)i);
    unsigned long bad = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        bad += (unsigned long)result;
    }
    CHECK_EQUAL(bad, 0, "wrong functions reached");
    return finish();
}
