/**
 * @fileoverview Addresses of which wrong accesses are not reported. See ignored_ranges.h.
 *
 * Each change makes a new list of what was told, the latest first; a list that was published is never changed, nor freed, since code of the
 * program's threads may be reading it. Programs change it rarely.
 */
#include "ignored_ranges.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct change {
    const struct change *before;
    uint64_t start, size;
    bool is_ignored;
} change;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const change *latest;

bool mc_ignore_range(uint64_t start, uint64_t size, bool is_ignored) {
    if (size == 0) {
        return false;
    }
    change *made = malloc(sizeof *made);
    if (made == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    pthread_mutex_lock(&lock);
    *made = (change){latest, start, size, is_ignored};
    __atomic_store_n(&latest, made, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return true;
}

SN_FAST bool mc_is_ignored(uint64_t address) {
    const change *last = __atomic_load_n(&latest, __ATOMIC_ACQUIRE);
    while (last != NULL && address - last->start >= last->size) {
        last = last->before;
    }
    return last != NULL && last->is_ignored;
}
