// Threads: each has its chain; one ends in the middle of its calls, and its successor begins anew.
// build: -pthread
// cut: start_thread
// expect: leaf work start_thread
// expect: leaf ends work start_thread
// expect: leaf work start_thread
// expect: leaf main
#include <pthread.h>
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
APART void ends(void) { leaf(); pthread_exit(NULL); }
APART void *work(void *ends_early) {
    if (ends_early) ends();
    else leaf();
    NOT_LAST;
    return NULL;
}
int main(void) {
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, i == 1 ? &thread : NULL);
        pthread_join(thread, NULL);
    }
    leaf();
    return 0;
}
