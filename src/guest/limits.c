/**
 * @fileoverview The client's limits on memory: see limits.h.
 */
#include "guest/limits.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/x86_64/raw_syscall.h"
#include "guest/space.h"

/** Those that the engine's reservations count for. */
static const struct {
    int resource;
    const char *name; /**< in /proc/PID/limits */
} kinds[SN_MEMORY_LIMITS] = {
    [SN_LIMIT_ADDRESS_SPACE] = {RLIMIT_AS, "Max address space"},
    [SN_LIMIT_DATA] = {RLIMIT_DATA, "Max data size"},
};

/** What the client of this process sees, and what the process really has. */
static sn_memory_limit seen[SN_MEMORY_LIMITS], lifted[SN_MEMORY_LIMITS];

static sn_memory_limit *limits_of(const sn_thread *thread) {
    return thread && thread->borrowed ? (sn_memory_limit *)thread->borrowed_limits : seen;
}

static int kind_of(uint64_t resource) {
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++)
        if ((uint64_t)kinds[kind].resource == resource) return kind;
    return -1;
}

static long set_host(int kind, const sn_memory_limit *limit) {
    return sn_syscall(__NR_prlimit64, 0, kinds[kind].resource, limit, NULL);
}

static void apply(void) { sn_space_set_limits(seen[SN_LIMIT_ADDRESS_SPACE].soft, seen[SN_LIMIT_DATA].soft); }

void sn_limits_write(const sn_thread *thread, char text[SN_LIMITS_TEXT_SIZE]) {
    const sn_memory_limit *limits = limits_of(thread);
    size_t length = 0;
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++)
        length += (size_t)snprintf(text + length, SN_LIMITS_TEXT_SIZE - length, "%s%lu:%lu", kind ? ":" : "",
                                   (unsigned long)limits[kind].soft, (unsigned long)limits[kind].hard);
}

static bool read_limits(const char *text) {
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++) {
        unsigned long soft, hard;
        int length = 0;
        if (sscanf(text, "%lu:%lu%n", &soft, &hard, &length) != 2) return false;
        seen[kind] = (sn_memory_limit){soft, hard};
        text += length;
        text += *text == ':';
    }
    return !*text;
}

bool sn_limits_init(const char *handed_on) {
    bool read = true;
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++) {
        sn_syscall(__NR_prlimit64, 0, kinds[kind].resource, NULL, &seen[kind]);
        lifted[kind] = (sn_memory_limit){RLIM64_INFINITY, RLIM64_INFINITY};
        if (set_host(kind, &lifted[kind]) == 0) continue;
        lifted[kind] = (sn_memory_limit){seen[kind].hard, seen[kind].hard};
        set_host(kind, &lifted[kind]);
    }
    if (handed_on) read = read_limits(handed_on);
    apply();
    return read;
}

bool sn_limits_concern(const sn_thread *thread, uint64_t process, uint64_t resource) {
    if (kind_of((uint32_t)resource) < 0) return false;
    int number = (int)process;
    return number == 0 || number == thread->process || sn_syscall(__NR_tgkill, thread->process, number, 0) == 0;
}

static bool may_raise(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    sn_syscall(__NR_capget, &header, data);
    return data[0].effective & (1u << CAP_SYS_RESOURCE);
}

long sn_limits_change(sn_thread *thread, uint64_t resource, const sn_memory_limit *new, sn_memory_limit *old) {
    sn_memory_limit *limit = &limits_of(thread)[kind_of((uint32_t)resource)];
    *old = *limit;
    if (!new) return 0;
    if (new->soft > new->hard) return -EINVAL;
    if (new->hard > old->hard && !may_raise()) return -EPERM;
    *limit = *new;
    if (!thread->borrowed) apply();
    return 0;
}

void sn_limits_inherit(sn_thread *child, const sn_thread *parent) {
    memcpy(child->borrowed_limits, limits_of(parent), sizeof child->borrowed_limits);
}

void sn_limits_after_fork(const sn_thread *thread) {
    if (!thread->borrowed) return;
    memcpy(seen, thread->borrowed_limits, sizeof seen);
    apply();
}

void sn_limits_before_exec(const sn_thread *thread) {
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++) set_host(kind, &limits_of(thread)[kind]);
}

void sn_limits_after_failed_exec(void) {
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++) set_host(kind, &lifted[kind]);
}

/* --------------------------------------------------------------------------- /proc */

static void add_value(sn_growing_text *text, uint64_t value) {
    char column[32];
    int length = value == RLIM64_INFINITY ? snprintf(column, sizeof column, "%-20s ", "unlimited")
                                          : snprintf(column, sizeof column, "%-20lu ", (unsigned long)value);
    sn_growing_add(text, column, (size_t)length);
}

/** One line of the host's file; its layout is that of the kernel's proc_pid_limits. */
static void add_line(sn_growing_text *text, const char *line, size_t length) {
    for (int kind = 0; kind < SN_MEMORY_LIMITS; kind++) {
        size_t name = strlen(kinds[kind].name);
        if (length <= name || memcmp(line, kinds[kind].name, name) || line[name] != ' ') continue;
        char column[32];
        const sn_memory_limit *limit = &limits_of(sn_thread_current())[kind];
        sn_growing_add(text, column, (size_t)snprintf(column, sizeof column, "%-26s", kinds[kind].name));
        add_value(text, limit->soft);
        add_value(text, limit->hard);
        sn_growing_add(text, column, (size_t)snprintf(column, sizeof column, "%-10s\n", "bytes"));
        return;
    }
    sn_growing_add(text, line, length);
}

bool sn_procfs_write_limits(sn_growing_text *text, const sn_procfs_subject *subject) {
    sn_growing_text host = {0};
    bool read = sn_growing_add_file(&host, subject->host_path) && !host.failed;
    for (size_t at = 0; read && at < host.size;) {
        const char *end = memchr(host.bytes + at, '\n', host.size - at);
        size_t length = end ? (size_t)(end + 1 - (host.bytes + at)) : host.size - at;
        add_line(text, host.bytes + at, length);
        at += length;
    }
    sn_growing_release(&host);
    return read;
}
