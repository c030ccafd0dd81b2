/**
 * @fileoverview The same error again at the same place. See repeats.h.
 *
 * To report an error, the thread has to leave the code cache at the next boundary, and its stack has to be looked for among all that are
 * known: where the program makes one error in a loop, that would be all that it does. So each place remembers the contexts in
 * which it was told of an error, and there, in the code cache, errors are only counted.
 *
 * A place has tables of contexts, each four times as large as the one before it, in each of which a context has one slot. It gets the first
 * that is free; behind the last table, that of somebody else. So nothing that code may be counting in ever moves.
 */
#include "repeats.h"

#include <pthread.h>
#include <stdlib.h>

enum { FIRST = 8, GROWTH = 4, TABLES = 6 };

typedef struct remembered {
    sn_context context; /* SN_NO_CONTEXT: none yet */
    mc_error *error;
    uint64_t times;
} remembered;

struct mc_repeats {
    remembered *tables[TABLES]; /* NULL: not yet */
    mc_repeats *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mc_repeats *all;

static SN_FAST uint32_t size_of(unsigned table) {
    uint32_t size = FIRST;
    for (unsigned i = 0; i < table; i++) {
        size *= GROWTH;
    }
    return size;
}

SN_FAST bool mc_is_repeat(mc_repeats *const *of, sn_context context) {
    mc_repeats *here = __atomic_load_n(of, __ATOMIC_ACQUIRE);
    remembered *table;
    if (here == NULL || context == SN_NO_CONTEXT) {
        return false;
    }
    for (unsigned i = 0; i < TABLES && (table = __atomic_load_n(&here->tables[i], __ATOMIC_ACQUIRE)) != NULL; i++) {
        remembered *item = &table[context % size_of(i)];
        if (__atomic_load_n(&item->context, __ATOMIC_ACQUIRE) == context) {
            __atomic_fetch_add(&item->times, 1, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}

/** Under the lock. */
static void tell(remembered *item) {
    uint64_t times = __atomic_exchange_n(&item->times, 0, __ATOMIC_RELAXED);
    if (times != 0 && item->error != NULL) {
        mc_report_again(item->error, times);
    }
}

static void *cleared(size_t size) {
    void *made = calloc(1, size);
    if (made == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    return made;
}

static mc_repeats *repeats_of(mc_repeats **of) {
    if (*of == NULL) {
        mc_repeats *made = cleared(sizeof *made);
        made->next = all;
        all = made;
        __atomic_store_n(of, made, __ATOMIC_RELEASE);
    }
    return *of;
}

/** Where a context is remembered, or may be from now on. */
static remembered *slot_of(mc_repeats *here, sn_context context) {
    remembered *item = NULL;
    for (unsigned i = 0; i < TABLES; i++) {
        if (here->tables[i] == NULL) {
            __atomic_store_n(&here->tables[i], cleared(size_of(i) * sizeof *item), __ATOMIC_RELEASE);
        }
        item = &here->tables[i][context % size_of(i)];
        if (item->context == context || item->context == SN_NO_CONTEXT) {
            return item;
        }
    }
    return item;
}

void mc_repeats_note(mc_repeats **of, sn_context context, mc_error *error) {
    if (error == NULL || context == SN_NO_CONTEXT) {
        return;
    }
    pthread_mutex_lock(&lock);
    remembered *item = slot_of(repeats_of(of), context);
    if (item->context != context) {
        tell(item);
        item->error = error;
        __atomic_store_n(&item->context, context, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void mc_repeats_tell(void) {
    pthread_mutex_lock(&lock);
    for (mc_repeats *here = all; here != NULL; here = here->next) {
        for (unsigned i = 0; i < TABLES && here->tables[i] != NULL; i++) {
            for (uint32_t slot = 0; slot < size_of(i); slot++) {
                tell(&here->tables[i][slot]);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}
