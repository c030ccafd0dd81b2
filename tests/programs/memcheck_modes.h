/**
 * @fileoverview Programs of which each word of the command line names a function to call: behind the word "thread", each in a
 * thread of its own. Used by memcheck_access.c and memcheck_heap.c.
 */
#ifndef MEMCHECK_MODES_H
#define MEMCHECK_MODES_H

#include <pthread.h>
#include <string.h>

typedef struct mode {
    const char *name; /**< NULL behind the last */
    void (*run)(void);
} mode;

static void *in_thread(void *run) {
    ((void (*)(void))run)();
    return NULL;
}

/** In main itself: what the tests compare are the calls from there on. */
#define RUN_MODES(modes, count, words)                                              \
    for (int is_thread = (count) > 2 && !strcmp((words)[1], "thread"), word = 1 + is_thread; word < (count); word++) \
        for (const mode *one = (modes); one->name; one++) {                         \
            pthread_t thread;                                                       \
            if (strcmp((words)[word], one->name)) continue;                         \
            if (!is_thread) {                                                       \
                one->run();                                                         \
            } else if (!pthread_create(&thread, NULL, in_thread, (void *)one->run)) { \
                pthread_join(thread, NULL);                                         \
            }                                                                       \
        }

#endif
