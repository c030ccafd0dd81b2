/**
 * @fileoverview Dumps. See dumps.h. The last file of a process has the name that the user gave, others a number behind it.
 */
#include "dumps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "compressed.h"
#include "dmd.h"
#include "massif.h"
#include "timeline.h"

static uint32_t due;          /**< bit C: for heap_cause C */
static uint32_t written;
static uint64_t next_seconds; /**< CLOCK_MONOTONIC, seconds */

static uint64_t seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

void heap_dumps_init(void) {
    next_seconds = seconds_now() + (uint64_t)heap_current.every_seconds;
}

SN_FAST void heap_dumps_due(heap_cause cause) {
    __atomic_fetch_or(&due, UINT32_C(1) << cause, __ATOMIC_RELAXED);
    sn_heap_attend();
}

unsigned heap_dumps_written(void) {
    return __atomic_load_n(&written, __ATOMIC_RELAXED);
}

void heap_dumps_fork_child(void) {
    written = 0;
    due = 0;
}

static bool is_compressed(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".gz") == 0;
}

/** Whether all files go to one place, such as /dev/null, since it is no file that could be beside others. */
static bool is_device(const char *name) {
    struct stat status;
    return stat(name, &status) == 0 && !S_ISREG(status.st_mode);
}

/** The name's number comes before the letters that say that it is compressed. */
static char *name_of(heap_cause cause, unsigned number) {
    char *name, part[32] = "";
    size_t length = strlen(heap_current.file) - (is_compressed(heap_current.file) ? 3 : 0);
    if (is_device(heap_current.file)) {
        part[0] = 0;
    } else if (cause == HEAP_PEAK) {
        snprintf(part, sizeof part, ".peak");
    } else if (cause != HEAP_EXIT) {
        snprintf(part, sizeof part, ".%u", number);
    }
    if (asprintf(&name, "%.*s%s%s", (int)length, heap_current.file, part, heap_current.file + length) < 0) {
        sn_fail(125, "heap: out of memory");
    }
    return name;
}

static void write_to(FILE *file, sn_thread *thread, heap_cause cause, unsigned number) {
    if (heap_current.mode != HEAP_TIMELINE) {
        heap_dmd_write(file, cause, number);
        return;
    }
    size_t count;
    heap_snapshot *snapshots = heap_timeline_all(thread, &count);
    heap_massif_write(file, snapshots, count);
    heap_snapshots_free(snapshots, count);
}

bool heap_dump(sn_thread *thread, heap_cause cause) {
    sn_heap_settle();
    heap_totals_judge();
    unsigned number = __atomic_add_fetch(&written, 1, __ATOMIC_RELAXED);
    char *name = name_of(cause, number);
    FILE *file = sn_file_create(name), *to = file;
    bool compresses = is_compressed(name);
    free(name);
    if (file == NULL) {
        return false;
    }
    if (compresses) {
        to = heap_compressed_open(file);
    }
    write_to(to, thread, cause, number);
    if (compresses) {
        fclose(to);
    }
    return sn_file_close(file);
}

void heap_dumps_attend(sn_thread *thread) {
    heap_totals_judge();
    if (heap_current.mode == HEAP_TIMELINE) {
        heap_timeline_take(thread);
    }
    bool has_looked = heap_current.mode == HEAP_TIMELINE && heap_current.time_unit == HEAP_MILLISECONDS;
    if (heap_current.every_seconds > 0 && !has_looked) {
        heap_look_at_clock();
    }
    uint64_t now = heap_current.every_seconds > 0 ? seconds_now() : 0;
    if (now != 0 && now >= __atomic_load_n(&next_seconds, __ATOMIC_RELAXED)) {
        __atomic_store_n(&next_seconds, now + (uint64_t)heap_current.every_seconds, __ATOMIC_RELAXED);
        __atomic_fetch_or(&due, UINT32_C(1) << HEAP_EVERY_SECONDS, __ATOMIC_RELAXED);
    }
    uint32_t asked = __atomic_exchange_n(&due, 0, __ATOMIC_ACQ_REL);
    for (unsigned cause = 0; asked != 0 && cause <= HEAP_ASKED; cause++) {
        if (asked >> cause & 1) {
            heap_dump(thread, (heap_cause)cause);
        }
    }
    if (asked >> HEAP_EVERY_BYTES & 1) {
        heap_totals_every_bytes();
    }
}
