/**
 * @fileoverview Where labelled bytes arrive: see taint.h.
 */
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "taint.h"

taint_arrival taint_arrivals[TAINT_ARRIVALS];
unsigned taint_arrival_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** The label of what arrives from `source` at that place: one that is known already, or a new one. */
static unsigned label_of(const char *source, uint64_t address, sn_context context, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    unsigned number = 0;
    while (number < taint_arrival_count && (strcmp(taint_arrivals[number].source, source) || taint_arrivals[number].context != context ||
                                            taint_arrivals[number].address != address))
        number++;
    if (number == TAINT_ARRIVALS) {
        taint_arrivals[--number].is_several = true;
    } else if (number == taint_arrival_count) {
        taint_arrival_count++;
        taint_arrival *made = &taint_arrivals[number];
        *made = (taint_arrival){.address = address, .context = context};
        strncpy(made->source, source, sizeof made->source - 1);
    }
    taint_arrivals[number].bytes += bytes;
    pthread_mutex_unlock(&lock);
    return 1u << number;
}

static void arrives(const char *source, sn_thread *thread, uint64_t address, uint64_t start, uint64_t size) {
    if (!size || !sn_shadow_covers(start, size)) return;
    unsigned label = label_of(source, address, thread ? sn_context_of(thread) : SN_NO_CONTEXT, size);
    sn_shadow_fill(taint_memory, start, size, label);
}

/* --------------------------------------------------------------------------------------- system calls */

static bool is_wanted_file(const char *path) {
    for (size_t i = 0; i < taint_chosen.files.count; i++)
        if (!fnmatch(taint_chosen.files.items[i], path, 0)) return true;
    return false;
}

/** Name of what the descriptor leads to, if it is to be followed. */
static bool is_wanted(int descriptor, char name[256]) {
    char link[64], path[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = 0;
    bool is_input = taint_chosen.input && descriptor == 0, is_socket = taint_chosen.sockets && !strncmp(path, "socket:", 7);
    strcpy(name, is_input ? "standard input" : is_socket ? "a socket" : path);
    return is_input || is_socket || is_wanted_file(path);
}

/** Calls that read from the descriptor that is their first argument, and which argument says where to. */
static const struct reading {
    const char *name;
    uint8_t argument;
} readings[] = {{"read", 1}, {"pread64", 1}, {"readv", 1}, {"preadv", 1}, {"preadv2", 1}, {"recvfrom", 1}, {"recvmsg", 1}, {"recvmmsg", 1}};

void taint_system_call(sn_thread *thread, const sn_system_call *call) {
    sn_shadow_system_call(call);
    for (size_t i = 0; call->name && call->result > 0 && i < sizeof readings / sizeof *readings; i++) {
        char name[256];
        if (strcmp(readings[i].name, call->name) || !is_wanted((int)call->arguments[0], name)) continue;
        for (size_t r = 0; r < call->range_count; r++)
            if (call->ranges[r].role == SN_ROLE_WRITTEN && call->ranges[r].argument == readings[i].argument)
                arrives(name, thread, call->address, call->ranges[r].start, call->ranges[r].size);
    }
}

void taint_mapped(const sn_memory_range *range) {
    if (range->path && is_wanted_file(range->path)) arrives(range->path, NULL, 0, range->start, range->end - range->start);
}

/* ------------------------------------------------------------------------------------------ beginning */

/** Arguments and environment are texts that a vector points to, as the System V ABI has them at the program's entry (AMD64
    supplement, 3.4.1): their number, the arguments, NULL, the environment, NULL. */
void taint_begin(const sn_thread *thread) {
    const uint64_t *words = (const uint64_t *)sn_thread_stack_pointer(thread);
    uint64_t count = words[0];
    for (uint64_t i = 1; taint_chosen.arguments && i < count; i++)
        arrives("an argument", NULL, 0, words[1 + i], strlen((const char *)words[1 + i]));
    for (const uint64_t *at = words + count + 2; taint_chosen.environment && *at; at++) {
        const char *value = strchr((const char *)*at, '=');
        if (value) arrives("the environment", NULL, 0, (uint64_t)(value + 1), strlen(value + 1));
    }
}
