/**
 * @fileoverview Snapshots. See timeline.h. A lock guards them: threads take them by turns.
 */
#include "timeline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ignored.h"
#include "settings.h"
#include "stacks.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static heap_snapshot *snapshots; /**< room for --max-snapshots */
static size_t count;
static uint64_t interval;
static unsigned since_detailed;

static void *allocate(size_t number, size_t size) {
    void *memory = calloc(number != 0 ? number : 1, size);
    if (memory == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    return memory;
}

void heap_timeline_init(void) {
    snapshots = allocate((size_t)heap_current.max_snapshots, sizeof *snapshots);
    count = 1; /* the program begins: nothing yet */
}

/* --------------------------------------------------------------------------------------------- what sites have */

static uint64_t bytes_now(const heap_cell *cell) {
    return cell->verdict == HEAP_IGNORED ? 0 : cell->live.bytes;
}

static uint64_t bytes_at_peak(const heap_cell *cell) {
    return cell->verdict == HEAP_IGNORED ? 0 : heap_cell_peak(cell).bytes;
}

static void note_sites(heap_snapshot *snapshot, uint64_t (*bytes)(const heap_cell *cell)) {
    size_t room = 0;
    uint32_t cells = heap_cell_count();
    for (uint32_t number = 1; number <= cells; number++) {
        room += bytes(heap_cell_at(number)) != 0;
    }
    snapshot->sites = allocate(room, sizeof *snapshot->sites);
    for (uint32_t number = 1; number <= cells && snapshot->site_count < room; number++) {
        const heap_cell *cell = heap_cell_at(number);
        if (bytes(cell) != 0) {
            snapshot->sites[snapshot->site_count++] = (heap_site){cell->context, bytes(cell)};
        }
    }
}

/* --------------------------------------------------------------------------------------------- which are kept */

static void forget(size_t at) {
    free(snapshots[at].sites);
    memmove(&snapshots[at], &snapshots[at + 1], (--count - at) * sizeof *snapshots);
}

/** Half of them go, those first whose neighbours are nearest to each other. */
static void cull(void) {
    size_t wanted = count / 2;
    while (count > wanted) {
        size_t least = 1;
        for (size_t i = 1; i + 1 < count; i++) {
            if (snapshots[i + 1].time - snapshots[i - 1].time < snapshots[least + 1].time - snapshots[least - 1].time) {
                least = i;
            }
        }
        forget(least);
    }
    interval = UINT64_MAX;
    for (size_t i = 1; i < count; i++) {
        uint64_t between = snapshots[i].time - snapshots[i - 1].time;
        interval = between < interval ? between : interval;
    }
}

static heap_snapshot make(uint64_t time, uint64_t stacks) {
    return (heap_snapshot){.time = time, .heap = heap_totals_now(), .stacks = stacks};
}

static void append(uint64_t time, uint64_t stacks) {
    heap_snapshot *new = &snapshots[count++];
    *new = make(time, stacks);
    if (heap_current.detailed_freq > 0 && ++since_detailed % heap_current.detailed_freq == 0) {
        new->is_detailed = true;
        note_sites(new, bytes_now);
    }
    if (count == (size_t)heap_current.max_snapshots) {
        cull();
    }
}

/** The time, but not before the last snapshot's: what other threads do is added up while they go on, and of a block that is left
    early its instructions are counted first and then taken back. The lock is held. */
static uint64_t time_now(sn_thread *thread) {
    uint64_t time = heap_time(thread), last = heap_timeline_last();
    return time > last ? time : last;
}

void heap_timeline_take(sn_thread *thread) {
    uint64_t stacks = heap_stacks_size();
    pthread_mutex_lock(&lock);
    uint64_t time = time_now(thread), last = snapshots[count - 1].time;
    if (time - last >= interval) {
        append(time, stacks);
        heap_next_at(thread, interval);
    } else {
        heap_next_at(thread, last + interval - time);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t heap_timeline_last(void) {
    return count != 0 ? snapshots[count - 1].time : 0;
}

/** Fork waits for threads that are in the engine, so that what the lock guards is whole. */
void heap_timeline_fork_child(void) {
    pthread_mutex_init(&lock, NULL);
}

/* --------------------------------------------------------------------------------------------------- all of them */

static heap_snapshot copy_of(const heap_snapshot *snapshot) {
    heap_snapshot copy = *snapshot;
    copy.sites = allocate(copy.site_count, sizeof *copy.sites);
    memcpy(copy.sites, snapshot->sites, copy.site_count * sizeof *copy.sites);
    return copy;
}

static heap_snapshot make_peak(void) {
    heap_snapshot peak = {.is_detailed = true, .is_peak = true};
    peak.heap = heap_totals_peak(&peak.time, &peak.stacks);
    note_sites(&peak, bytes_at_peak);
    return peak;
}

/** Somebody who crashed while holding the lock does not give it back: the file is written all the same. */
static bool lock_for_a_while(void) {
    enum { SECONDS = 2 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    return pthread_mutex_timedlock(&lock, &until) == 0;
}

heap_snapshot *heap_timeline_all(sn_thread *thread, size_t *all_count) {
    uint64_t stacks = heap_stacks_size();
    bool is_locked = lock_for_a_while();
    heap_snapshot *all = allocate(count + 2, sizeof *all), peak = make_peak();
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (!peak.is_peak || snapshots[i].time < peak.time) {
            all[made++] = copy_of(&snapshots[i]);
            continue;
        }
        all[made++] = peak;
        peak.is_peak = false;
        all[made++] = copy_of(&snapshots[i]);
    }
    if (peak.is_peak) {
        all[made++] = peak;
    } else {
        all[made++] = make(time_now(thread), stacks);
    }
    if (is_locked) {
        pthread_mutex_unlock(&lock);
    }
    *all_count = made;
    return all;
}

void heap_snapshots_free(heap_snapshot *all, size_t number) {
    for (size_t i = 0; i < number; i++) {
        free(all[i].sites);
    }
    free(all);
}
