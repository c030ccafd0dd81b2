// build: gcc -O1 -pthread
// needs: root
/* setuid and setgid from a threaded program reach all threads (libc does it by signals); namespaces (CLONE_NEWUTS, unshare);
   credentials of a child. */
#include "check.h"
#include <grp.h>
#include <pthread.h>
#include <sched.h>
static pthread_barrier_t barrier;
static void *looks(void *data) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    *(long *)data = (long)syscall(SYS_getuid) * 100000 + (long)syscall(SYS_getgid);
    return NULL;
}
static void *computes(void *data) {
    long seen = 0;
    while (seen != 12345)
        seen = syscall(SYS_getuid);
    *(long *)data = seen;
    return NULL;
}
static char stack[65536];
static int in_namespace(void *data) {
    (void)data;
    char name[100];
    if (sethostname("inside", 6) || gethostname(name, sizeof name) || strcmp(name, "inside"))
        return 1;
    return getpid() == 1 ? 33 : 34;
}
int main(void) {
    char before[100], after[100];
    gethostname(before, sizeof before);
    int status;
    pid_t child = clone(in_namespace, stack + sizeof stack, CLONE_NEWUTS | CLONE_NEWPID | SIGCHLD, NULL);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 33, "clone with CLONE_NEWUTS and CLONE_NEWPID");
    gethostname(after, sizeof after);
    CHECK(!strcmp(before, after), "the parent's host name is its own");
    child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWUTS) == 0 && in_namespace(NULL) == 34 ? 35 : 1);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 35, "unshare");
    pthread_t threads[4];
    long results[4] = {0};
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? looks : computes, &results[i]);
    pthread_barrier_wait(&barrier);
    CHECK(setgroups(0, NULL) == 0 && setgid(23456) == 0 && setuid(12345) == 0, "setgid and setuid");
    pthread_barrier_wait(&barrier);
    int good = 1;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        good &= results[i] == (i < 2 ? 12345l * 100000 + 23456 : 12345);
    }
    CHECK(good, "all four threads changed");
    CHECK(setuid(0) == -1 && errno == EPERM, "no way back");
    return finish();
}
