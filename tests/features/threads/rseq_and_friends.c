// build: gcc -O1 -pthread
/* Calls that tie a thread to its kernel state: robust list, membarrier, sched_getaffinity, getcpu, tgkill of a dead
   thread, prctl names a thread (seen in /proc/self/task), rseq only unregisters or registers with a known error. */
#include "check.h"
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
static volatile int tid;
static char seen[32];
static void *named(void *data) {
    tid = gettid();
    prctl(PR_SET_NAME, "worker-name");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    int file = open(path, O_RDONLY);
    if (read(file, seen, sizeof seen - 1) < 0)
        seen[0] = 0;
    close(file);
    return data;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, named, NULL);
    pthread_join(thread, NULL);
    CHECK(!strcmp(seen, "worker-name\n"), "thread name in /proc/self/task");
    int gone = 0;
    for (int i = 0; i < 1000 && !gone; i++) {
        gone = syscall(SYS_tgkill, getpid(), tid, 0) == -1 && errno == ESRCH;
        usleep(1000);
    }
    CHECK(gone, "the joined thread is gone");
    void *head;
    size_t length;
    CHECK(syscall(SYS_get_robust_list, 0, &head, &length) == 0 && length == 24, "robust list");
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 1, "affinity");
    unsigned cpu, node;
    CHECK(getcpu(&cpu, &node) == 0 && CPU_ISSET(cpu, &set), "getcpu is one of them");
    CHECK(sched_getcpu() >= 0, "sched_getcpu");
    long barriers = syscall(SYS_membarrier, 0, 0);
    CHECK(barriers >= 0, "membarrier query");
    char area[64] __attribute__((aligned(32))) = {0};
    long result = syscall(SYS_rseq, area, 32, 0, 0x12345678);
    CHECK(result == 0 || errno == ENOSYS || errno == EINVAL || errno == EBUSY || errno == EPERM, "rseq answers something known");
    long registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0);
    CHECK((registered == 0) == !!(barriers & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ), "membarrier registers what it says it knows");
    CHECK(result == 0 || errno != ENOSYS || registered == -1, "no barrier for rseq without rseq");
    return finish();
}
