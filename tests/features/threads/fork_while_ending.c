// build: gcc -O1 -pthread
// variants: dynamic, musl
/* Forks while threads of the same process begin and end all the time: neither waits for the other for ever, and each
   child, which begins threads itself, finds a whole process. */
#include "check.h"
#include <pthread.h>
enum { STARTERS = 4, FORKS = 40 };
static volatile int stop;
static void *trivial(void *data) {
    free(malloc(1000));
    return data;
}
/** Two short-lived threads at a time, until told to stop. */
static void *starter(void *data) {
    long count = 0;
    while (!stop) {
        pthread_t pair[2];
        for (int i = 0; i < 2; i++)
            if (pthread_create(&pair[i], NULL, trivial, NULL))
                return (void *)-1;
        for (int i = 0; i < 2; i++)
            pthread_join(pair[i], NULL);
        count++;
    }
    (void)data;
    return (void *)count;
}
static int child(void) {
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, trivial, (void *)3) || pthread_join(thread, &result))
        return 2;
    return result == (void *)3 ? 0 : 1;
}
int main(void) {
    pthread_t starters[STARTERS];
    for (int i = 0; i < STARTERS; i++)
        pthread_create(&starters[i], NULL, starter, NULL);
    int bad = 0;
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(child());
        int status = -1;
        bad += waitpid(pid, &status, 0) != pid || status != 0;
    }
    stop = 1;
    for (int i = 0; i < STARTERS; i++) {
        void *count;
        pthread_join(starters[i], &count);
        bad += (long)count <= 0;
    }
    CHECK_EQUAL(bad, 0, "forks that went wrong");
    return finish();
}
