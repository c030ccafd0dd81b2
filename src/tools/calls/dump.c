/**
 * @fileoverview Parts of a profile. See dump.h. Their names are Callgrind's: NAME.1, NAME.2 and so on, and NAME at the end;
 * with -01 and so on behind for threads.
 */
#include "dump.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <sonde/tool.h>

#include "settings.h"
#include "thread.h"
#include "writer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int parts_written;

typedef struct dumping {
    calls_heading heading;
    bool is_last;
    uint64_t total;      /**< instructions in all that was written */
    int files;
} dumping;

static FILE *create(const dumping *dump, int thread) {
    char *name;
    char part[16] = "", suffix[16] = "";
    if (!dump->is_last) {
        snprintf(part, sizeof part, ".%d", dump->heading.part);
    }
    if (thread != 0) {
        snprintf(suffix, sizeof suffix, "-%02d", thread);
    }
    if (asprintf(&name, "%s%s%s", calls_current.file, part, suffix) < 0) {
        sn_fail(125, "calls: out of memory");
    }
    FILE *stream = sn_file_create(name);
    free(name);
    return stream;
}

static void write_account(const calls_account *account, void *data) {
    dumping *dump = data;
    calls_profile profile;
    FILE *stream = create(dump, account->thread);
    if (stream == NULL) {
        return;
    }
    dump->heading.thread = account->thread;
    calls_profile_make(&profile, account);
    calls_write(stream, &profile, &dump->heading);
    dump->total += profile.totals[0];
    dump->files += sn_file_close(stream);
    calls_profile_free(&profile);
}

/** `thread`: the one that calls; NULL at the end. */
static void write_all(dumping *dump, sn_thread *thread) {
    pthread_mutex_lock(&lock);
    dump->heading.part = ++parts_written;
    calls_accounts_visit(write_account, dump, dump->is_last);
    if (!dump->is_last) {
        calls_accounts_zero(thread);
    }
    pthread_mutex_unlock(&lock);
}

void calls_dump(sn_thread *thread, const char *why) {
    dumping dump = {.heading = {.trigger = why}};
    calls_simulated_flush(thread);
    write_all(&dump, thread);
}

int calls_dumps(void) {
    return parts_written;
}

void calls_dump_last(void) {
    dumping dump = {.heading = {.trigger = "Program termination"}, .is_last = true};
    write_all(&dump, NULL);
    if (dump.files > 0) {
        sn_message("calls: %llu instructions; see `sonde report` or KCachegrind with %s",
                   (unsigned long long)dump.total, dump.files == 1 ? "the profile" : "the profiles");
    }
}
