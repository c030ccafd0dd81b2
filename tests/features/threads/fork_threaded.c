// build: gcc -O1 -pthread
/* fork from a threaded program while the others work and allocate: only the forking thread lives on, pthread_atfork
   order, the child may start threads; fork from a secondary thread; exec from a secondary thread (pid stays). */
#include "check.h"
#include <pthread.h>
static volatile int stop;
static char order[16];
static void before(void) { order[strlen(order)] = 'p'; }
static void in_parent(void) { order[strlen(order)] = 'P'; }
static void in_child(void) { order[strlen(order)] = 'C'; }
static void *busy(void *data) {
    unsigned long n = 0;
    while (!stop) {
        void *p = malloc(100 + n % 5000);
        memset(p, 1, 100);
        free(p);
        n++;
    }
    return data;
}
static void *trivial(void *data) { return (void *)((long)data + 1); }
static void *forks(void *data) {
    int bad = 0;
    for (long i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            void *result;
            if (getpid() != gettid() || pthread_create(&thread, NULL, trivial, (void *)i) || pthread_join(thread, &result))
                _exit(200);
            _exit((int)(long)result);
        }
        int status;
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != i + 1;
    }
    *(int *)data = bad;
    return NULL;
}
static void *execs(void *data) {
    char pid[32];
    snprintf(pid, sizeof pid, "%d", getpid());
    execl("/proc/self/exe", "again", pid, (char *)0);
    return data;
}
int main(int argc, char **argv) {
    if (argc > 1) {
        CHECK(atoi(argv[1]) == getpid() && gettid() == getpid(), "exec from a thread keeps the process id, the thread becomes main");
        return finish();
    }
    pthread_t workers[3], forker;
    for (int i = 0; i < 3; i++)
        pthread_create(&workers[i], NULL, busy, NULL);
    int bad = -1;
    forks(&bad);
    CHECK(!bad, "30 forks of the main thread, each child starts a thread");
    pthread_create(&forker, NULL, forks, &bad);
    pthread_join(forker, NULL);
    CHECK(!bad, "30 forks of another thread");
    pthread_atfork(before, in_parent, in_child);
    pid_t child = fork();
    if (child == 0) {
        CHECK(!strcmp(order, "pC"), "atfork in the child");
        _exit(check_failures != 0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(status == 0 && !strcmp(order, "pP"), "atfork in the parent");
    if (check_failures)
        return 1;
    pthread_create(&forker, NULL, execs, NULL);
    pthread_join(forker, NULL);
    return 1;
}
