/**
 * @fileoverview System calls whose memory no entry of the table can describe: a function for each kind of them.
 *
 * Called by system_call_ranges.c. The layouts are the kernel's own (include/uapi/linux).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "base/x86_64/raw_syscall.h"
#include "guest/system_call_ranges.h"
#include "sonde/tool.h"

#define WORD 4
/** Offset of a member behind an address of the client. */
#define AT(address, type, member) ((address) + offsetof(type, member))

static const sn_range_end whole = {0}, never = {.least = SN_NEVER};

/* --------------------------------------------------------------- waiting for files */

enum { MOST_POLLED = 1 << 20 };

/** Of each entry the kernel reads all but the events that happened; those it writes also when it was interrupted. */
static void poll_begin(sn_call_ranges *list) {
    uint64_t start = list->arguments[0], count = list->arguments[1];
    if (count > MOST_POLLED) return;
    for (uint64_t i = 0; i < count; i++, start += sizeof(struct pollfd)) {
        sn_ranges_add(list, 0, SN_ROLE_READ, start, offsetof(struct pollfd, revents), NULL);
        sn_ranges_add(list, 0, SN_ROLE_WRITTEN, AT(start, struct pollfd, revents), sizeof(short),
                      &(sn_range_end){.error = EINTR});
    }
}

/** The last argument of pselect6 and io_pgetevents: the address of {address of a signal set, its size}. */
static void signal_set_at(sn_call_ranges *list) {
    uint64_t set[2];
    sn_ranges_add(list, 5, SN_ROLE_READ, list->arguments[5], sizeof set, NULL);
    if (sn_ranges_read(set, list->arguments[5], sizeof set)) sn_ranges_add(list, 5, SN_ROLE_READ, set[0], set[1], NULL);
}

static void select_begin(sn_call_ranges *list) {
    uint64_t count = list->arguments[0];
    if (count > INT_MAX) return;
    for (unsigned i = 1; i <= 3; i++)
        sn_ranges_add(list, i, SN_ROLE_BOTH, list->arguments[i], (count + 63) / 64 * 8, &whole);
    if (!strcmp(list->row->name, "pselect6")) signal_set_at(list);
}

/** What remains is written when the sleep was interrupted, and only then; never of a sleep up to a moment. */
static void sleep_begin(sn_call_ranges *list) {
    bool clock = !strcmp(list->row->name, "clock_nanosleep");
    if (clock && list->arguments[1] & TIMER_ABSTIME) return;
    unsigned rest = clock ? 3 : 1;
    sn_ranges_add(list, rest, SN_ROLE_WRITTEN, list->arguments[rest], sizeof(struct timespec),
                  &(sn_range_end){.least = SN_NEVER, .error = EINTR});
}

/* -------------------------------------------------------------------------- futex */

/** What each operation does with its two words. */
static const struct futex_operation {
    uint8_t first, second; /**< roles */
    bool timed;            /**< the fourth argument is a time, not a number */
} futex_operations[] = {
    [FUTEX_WAIT] = {SN_ROLE_READ, 0, true},
    [FUTEX_CMP_REQUEUE] = {SN_ROLE_READ, 0, false},
    [FUTEX_WAKE_OP] = {0, SN_ROLE_BOTH, false},
    [FUTEX_LOCK_PI] = {SN_ROLE_BOTH, 0, true},
    [FUTEX_UNLOCK_PI] = {SN_ROLE_BOTH, 0, false},
    [FUTEX_TRYLOCK_PI] = {SN_ROLE_BOTH, 0, false},
    [FUTEX_WAIT_BITSET] = {SN_ROLE_READ, 0, true},
    [FUTEX_WAIT_REQUEUE_PI] = {SN_ROLE_READ, SN_ROLE_BOTH, true},
    [FUTEX_CMP_REQUEUE_PI] = {SN_ROLE_READ, SN_ROLE_BOTH, false},
    [13 /* FUTEX_LOCK_PI2 */] = {SN_ROLE_BOTH, 0, true},
};

static void futex_begin(sn_call_ranges *list) {
    const uint64_t *a = list->arguments;
    uint64_t operation = a[1] & FUTEX_CMD_MASK;
    if (operation >= sizeof futex_operations / sizeof *futex_operations) return;
    const struct futex_operation *does = &futex_operations[operation];
    sn_ranges_add(list, 0, does->first, a[0], WORD, &whole);
    sn_ranges_add(list, 4, does->second, a[4], WORD, &whole);
    if (does->timed) sn_ranges_add(list, 3, SN_ROLE_READ, a[3], sizeof(struct timespec), NULL);
}

/** As struct futex_waitv, which older headers lack. */
typedef struct waiter {
    uint64_t value, address;
    uint32_t flags, reserved;
} waiter;

/** futex_waitv: the list and its words; futex_requeue: two of them, of which the first one's word is read. */
static void waiters_begin(sn_call_ranges *list) {
    enum { MOST_WAITERS = 128 };
    bool requeue = !strcmp(list->row->name, "futex_requeue");
    uint64_t start = list->arguments[0], count = requeue ? 1 : list->arguments[1];
    if (count > MOST_WAITERS) return;
    if (!requeue) sn_ranges_add(list, 0, SN_ROLE_READ, start, count * sizeof(waiter), NULL);
    for (uint64_t i = 0; i < count; i++) {
        waiter one;
        if (sn_ranges_read(&one, start + i * sizeof one, sizeof one))
            sn_ranges_add(list, 0, SN_ROLE_READ, one.address, WORD, NULL);
    }
}

/* -------------------------------------------------------------- threads, processes */

/** Where new numbers are written: by whom and in whose memory depends on what is shared. */
static void add_new_ids(sn_call_ranges *list, uint64_t flags, const uint64_t at[3], const uint8_t arguments[3]) {
    enum { PARENT, CHILD, DESCRIPTOR };
    sn_range_end parent = {.least = 1}, child = {.only_zero = !(flags & CLONE_VM)};
    if (flags & CLONE_PARENT_SETTID) sn_ranges_add(list, arguments[PARENT], SN_ROLE_WRITTEN, at[PARENT], WORD, &parent);
    if (flags & CLONE_CHILD_SETTID) sn_ranges_add(list, arguments[CHILD], SN_ROLE_WRITTEN, at[CHILD], WORD, &child);
    if (flags & CLONE_PIDFD) sn_ranges_add(list, arguments[DESCRIPTOR], SN_ROLE_WRITTEN, at[DESCRIPTOR], WORD, &parent);
}

static void clone_begin(sn_call_ranges *list) {
    const uint64_t *a = list->arguments;
    add_new_ids(list, a[0], (const uint64_t[]){a[2], a[3], a[2]}, (const uint8_t[]){2, 3, 2});
}

static void clone3_begin(sn_call_ranges *list) {
    struct clone_args given = {0};
    uint64_t size = list->arguments[1];
    if (!sn_ranges_read(&given, list->arguments[0], size < sizeof given ? size : sizeof given)) return;
    add_new_ids(list, given.flags, (const uint64_t[]){given.parent_tid, given.child_tid, given.pidfd},
                (const uint8_t[]){0, 0, 0});
    enum { MOST_LEVELS = 32 };
    if (given.set_tid_size <= MOST_LEVELS)
        sn_ranges_add(list, 0, SN_ROLE_READ, given.set_tid, given.set_tid_size * WORD, NULL);
}

/** Six numbers of the structure, not all of it. */
static void waitid_begin(sn_call_ranges *list) {
    uint64_t start = list->arguments[2];
    if (!start) return;
    sn_ranges_add(list, 2, SN_ROLE_WRITTEN, start, 3 * sizeof(int), &whole);
    sn_ranges_add(list, 2, SN_ROLE_WRITTEN, AT(start, siginfo_t, si_pid), 3 * sizeof(int), &whole);
}

static void capabilities_begin(sn_call_ranges *list) {
    struct __user_cap_header_struct header;
    uint64_t start = list->arguments[0], data = list->arguments[1];
    sn_ranges_add(list, 0, SN_ROLE_READ, start, sizeof header, NULL);
    if (!sn_ranges_read(&header, start, sizeof header)) return;
    bool old = header.version == _LINUX_CAPABILITY_VERSION_1;
    bool known = old || header.version == _LINUX_CAPABILITY_VERSION_2 || header.version == _LINUX_CAPABILITY_VERSION_3;
    uint64_t size = (old ? 1 : 2) * sizeof(struct __user_cap_data_struct);
    bool sets = !strcmp(list->row->name, "capset");
    if (known) sn_ranges_add(list, 1, sets ? SN_ROLE_READ : SN_ROLE_WRITTEN, data, size, &whole);
    else sn_ranges_add(list, 0, SN_ROLE_WRITTEN, start, sizeof header.version, &(sn_range_end){.error = EINVAL});
}

/** ptrace: the address of a struct iovec for a set of registers, whose length becomes what was copied. */
static void traced_set_begin(sn_call_ranges *list) {
    uint64_t vector = list->arguments[3];
    struct iovec piece;
    bool gets = (uint32_t)list->arguments[0] == PTRACE_GETREGSET;
    sn_ranges_add(list, 3, SN_ROLE_READ, vector, sizeof piece, NULL);
    if (!sn_ranges_read(&piece, vector, sizeof piece)) return;
    sn_range_end copied = {.amount_at = AT(vector, struct iovec, iov_len), .word = 8, .unit = 1};
    sn_ranges_add(list, 3, gets ? SN_ROLE_WRITTEN : SN_ROLE_READ, (uint64_t)piece.iov_base, piece.iov_len, &copied);
    sn_ranges_add(list, 3, SN_ROLE_WRITTEN, AT(vector, struct iovec, iov_len), 8, &whole);
}

/** seccomp and prctl: the third argument is a struct sock_fprog. */
static void filter_begin(sn_call_ranges *list) {
    struct sock_fprog program;
    uint64_t start = list->arguments[2];
    if (!start) return;
    sn_ranges_add(list, 2, SN_ROLE_READ, start, sizeof program.len, NULL);
    sn_ranges_add(list, 2, SN_ROLE_READ, AT(start, struct sock_fprog, filter), sizeof program.filter, NULL);
    if (sn_ranges_read(&program, start, sizeof program))
        sn_ranges_add(list, 2, SN_ROLE_READ, (uint64_t)program.filter, program.len * sizeof(struct sock_filter), NULL);
}

static void memory_map_begin(sn_call_ranges *list) {
    sn_ranges_add_cases(list, SN_SET_PRCTL_MM, (uint32_t)list->arguments[1]);
}

/* ------------------------------------------------------------------------- memory */

static void mincore_begin(sn_call_ranges *list) {
    const uint64_t page = 4096;
    sn_ranges_add(list, 2, SN_ROLE_WRITTEN, list->arguments[2], (list->arguments[1] + page - 1) / page, &whole);
}

/** All values of a set of semaphores: only the kernel knows how many there are. */
static void semaphores_begin(sn_call_ranges *list) {
    struct semid_ds set;
    if (sn_syscall(SYS_semctl, list->arguments[0], 0, IPC_STAT, &set) < 0) return;
    bool gets = (uint32_t)list->arguments[2] == GETALL;
    sn_ranges_add(list, 3, gets ? SN_ROLE_WRITTEN : SN_ROLE_READ, list->arguments[3], set.sem_nsems * sizeof(short), &whole);
}

/* ---------------------------------------------------------------- files and sockets */

/** vmsplice takes memory for the writing end of a pipe, and fills it from the reading end. */
static void splice_begin(sn_call_ranges *list) {
    const uint64_t *a = list->arguments;
    long flags = sn_syscall(SYS_fcntl, a[0], F_GETFL);
    bool fills = flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
    sn_ranges_add_vector(list, 1, fills ? SN_ROLE_WRITTEN : SN_ROLE_READ, a[1], a[2],
                         &(sn_range_end){.by_result = true, .unit = 1});
}

/** sendmmsg and recvmmsg: the result counts the messages, and each says how long it was. */
static void messages_begin(sn_call_ranges *list) {
    enum { MOST_MESSAGES = 1024 };
    uint64_t start = list->arguments[1], count = list->arguments[2];
    unsigned role = strcmp(list->row->name, "recvmmsg") ? SN_ROLE_READ : SN_ROLE_WRITTEN;
    for (uint64_t i = 0; i < count && i < MOST_MESSAGES; i++, start += sizeof(struct mmsghdr)) {
        uint64_t length = AT(start, struct mmsghdr, msg_len);
        sn_range_end end = {.least = (int64_t)i + 1}, contents = end;
        contents.amount_at = length;
        contents.word = WORD;
        contents.unit = 1;
        sn_ranges_add_message(list, 1, role, start, &contents, &end);
        sn_ranges_add(list, 1, SN_ROLE_WRITTEN, length, WORD, &end);
    }
}

static void file_handle_begin(sn_call_ranges *list) {
    const uint64_t *a = list->arguments;
    bool opens = !strcmp(list->row->name, "open_by_handle_at");
    const unsigned header = 8;
    const int unique = 1; /* AT_HANDLE_MNT_ID_UNIQUE */
    uint64_t start = a[opens ? 1 : 2];
    uint32_t bytes;
    if (!sn_ranges_read(&bytes, start, sizeof bytes)) return;
    if (opens) {
        sn_ranges_add(list, 1, SN_ROLE_READ, start, (uint64_t)header + bytes, NULL);
        return;
    }
    /* With EOVERFLOW the header says how much is wanted. */
    sn_range_end overflows = {.error = EOVERFLOW};
    sn_ranges_add(list, 2, SN_ROLE_READ, start, sizeof bytes, NULL);
    sn_ranges_add(list, 2, SN_ROLE_WRITTEN, start, header, &overflows);
    sn_ranges_add(list, 2, SN_ROLE_WRITTEN, start + header, bytes,
                  &(sn_range_end){.amount_at = start, .word = WORD, .unit = 1});
    sn_ranges_add(list, 3, SN_ROLE_WRITTEN, a[3], a[4] & unique ? 8 : WORD, &overflows);
}

/** As struct xattr_args, which older headers lack. */
typedef struct attribute_value {
    uint64_t value;
    uint32_t size, flags;
} attribute_value;

static void attribute_at_begin(sn_call_ranges *list) {
    attribute_value given;
    if (!sn_ranges_read(&given, list->arguments[4], sizeof given)) return;
    bool gets = !strcmp(list->row->name, "getxattrat");
    sn_ranges_add(list, 4, gets ? SN_ROLE_WRITTEN : SN_ROLE_READ, given.value, given.size,
                  &(sn_range_end){.by_result = true, .unit = 1});
}

/** Its first word becomes the size of all. */
static void stat_mount_begin(sn_call_ranges *list) {
    const uint64_t *a = list->arguments;
    sn_ranges_add(list, 1, SN_ROLE_WRITTEN, a[1], a[2], &(sn_range_end){.amount_at = a[1], .word = WORD, .unit = 1});
}

/* ------------------------------------------------------------- asynchronous requests */

/** What a request of io_submit leads to; written when it is completed, which nobody is told of before io_getevents. */
static void add_request(sn_call_ranges *list, unsigned argument, uint64_t address, const sn_range_end *end) {
    struct iocb request;
    if (!sn_ranges_read(&request, address, sizeof request)) return;
    switch (request.aio_lio_opcode) {
    case IOCB_CMD_PREAD:
        sn_ranges_add(list, argument, SN_ROLE_WRITTEN, request.aio_buf, request.aio_nbytes, end);
        break;
    case IOCB_CMD_PWRITE:
        sn_ranges_add(list, argument, SN_ROLE_READ, request.aio_buf, request.aio_nbytes, NULL);
        break;
    case IOCB_CMD_PREADV:
        sn_ranges_add_vector(list, argument, SN_ROLE_WRITTEN, request.aio_buf, request.aio_nbytes, end);
        break;
    case IOCB_CMD_PWRITEV:
        sn_ranges_add_vector(list, argument, SN_ROLE_READ, request.aio_buf, request.aio_nbytes, NULL);
        break;
    default: break;
    }
}

static void submit_begin(sn_call_ranges *list) {
    enum { MOST_REQUESTS = 1 << 16 };
    uint64_t count = list->arguments[1], vector = list->arguments[2], address;
    if (count > MOST_REQUESTS) return;
    sn_ranges_add(list, 2, SN_ROLE_READ, vector, count * sizeof address, NULL);
    for (uint64_t i = 0; i < count; i++) {
        if (!sn_ranges_read(&address, vector + i * sizeof address, sizeof address)) return;
        sn_ranges_add(list, 2, SN_ROLE_READ, address, sizeof(struct iocb), NULL);
        sn_ranges_add(list, 2, SN_ROLE_WRITTEN, address ? AT(address, struct iocb, aio_key) : 0, WORD,
                      &(sn_range_end){.least = (int64_t)i + 1});
        add_request(list, 2, address, &never);
    }
}

static void completed_begin(sn_call_ranges *list) {
    if (!strcmp(list->row->name, "io_pgetevents")) signal_set_at(list);
}

/** The buffers of the requests that the events tell of: as many bytes as each says. */
static void completed_end(sn_call_ranges *list, int64_t result) {
    for (int64_t i = 0; i < result; i++) {
        struct io_event event;
        if (!sn_ranges_read(&event, list->arguments[3] + (uint64_t)i * sizeof event, sizeof event)) return;
        size_t first = list->count, kept = first;
        add_request(list, 3, event.obj, NULL);
        uint64_t left = event.res > 0 ? (uint64_t)event.res : 0;
        for (size_t at = first; at < list->count; at++) {
            sn_system_range range = list->ranges[at];
            if (range.role != SN_ROLE_WRITTEN) continue;
            if (range.size > left) range.size = left;
            left -= range.size;
            if (range.size) list->ranges[kept++] = range;
        }
        list->count = kept;
    }
}

/* -------------------------------------------------------------------------- ioctl */

/** SIOCGIFCONF: a buffer and its length, which becomes what was written. */
static void interfaces_begin(sn_call_ranges *list) {
    struct ifconf wanted;
    uint64_t start = list->arguments[2];
    if (!start) return;
    sn_ranges_add(list, 2, SN_ROLE_BOTH, start, WORD, &whole);
    sn_ranges_add(list, 2, SN_ROLE_READ, AT(start, struct ifconf, ifc_buf), sizeof wanted.ifc_buf, NULL);
    if (sn_ranges_read(&wanted, start, sizeof wanted) && wanted.ifc_len > 0)
        sn_ranges_add(list, 2, SN_ROLE_WRITTEN, (uint64_t)wanted.ifc_buf, (uint64_t)wanted.ifc_len,
                      &(sn_range_end){.amount_at = start, .word = WORD, .unit = 1});
}

/** FS_IOC_FIEMAP: room for extents behind the structure, which then says how many there are. */
static void extents_begin(sn_call_ranges *list) {
    struct fiemap map;
    uint64_t start = list->arguments[2];
    sn_ranges_add(list, 2, SN_ROLE_BOTH, start, sizeof map, &whole);
    if (sn_ranges_read(&map, start, sizeof map))
        sn_ranges_add(list, 2, SN_ROLE_WRITTEN, start + sizeof map,
                      (uint64_t)map.fm_extent_count * sizeof(struct fiemap_extent),
                      &(sn_range_end){.amount_at = AT(start, struct fiemap, fm_mapped_extents),
                                      .word = WORD,
                                      .unit = sizeof(struct fiemap_extent)});
}

/** Requests that are in no table say by their number which way how many bytes go. Those that only look like one have a
    small number where the address would be. */
static void ioctl_begin(sn_call_ranges *list) {
    const uint64_t least_address = 0x10000;
    uint32_t request = (uint32_t)list->arguments[1];
    if (request == SIOCGIFCONF) interfaces_begin(list);
    else if (request == FS_IOC_FIEMAP) extents_begin(list);
    else if (!sn_call_case_first(SN_SET_IOCTL, request) && list->arguments[2] >= least_address) {
        unsigned role = (_IOC_DIR(request) & _IOC_WRITE ? SN_ROLE_READ : 0) | (_IOC_DIR(request) & _IOC_READ ? SN_ROLE_WRITTEN : 0);
        sn_ranges_add(list, 2, role, list->arguments[2], _IOC_SIZE(request), &whole);
    }
}

const sn_call_function sn_call_functions[SN_MORE_COUNT] = {
    [SN_MORE_POLL] = {poll_begin, NULL},
    [SN_MORE_SELECT] = {select_begin, NULL},
    [SN_MORE_SLEEP] = {sleep_begin, NULL},
    [SN_MORE_MINCORE] = {mincore_begin, NULL},
    [SN_MORE_FUTEX] = {futex_begin, NULL},
    [SN_MORE_FUTEX_WAITERS] = {waiters_begin, NULL},
    [SN_MORE_CLONE] = {clone_begin, NULL},
    [SN_MORE_CLONE3] = {clone3_begin, NULL},
    [SN_MORE_WAITID] = {waitid_begin, NULL},
    [SN_MORE_CAPABILITIES] = {capabilities_begin, NULL},
    [SN_MORE_SEMAPHORES] = {semaphores_begin, NULL},
    [SN_MORE_SPLICE] = {splice_begin, NULL},
    [SN_MORE_MESSAGES] = {messages_begin, NULL},
    [SN_MORE_SUBMIT] = {submit_begin, NULL},
    [SN_MORE_COMPLETED] = {completed_begin, completed_end},
    [SN_MORE_FILE_HANDLE] = {file_handle_begin, NULL},
    [SN_MORE_FILTER] = {filter_begin, NULL},
    [SN_MORE_IOCTL] = {ioctl_begin, NULL},
    [SN_MORE_TRACED_SET] = {traced_set_begin, NULL},
    [SN_MORE_ATTRIBUTE_AT] = {attribute_at_begin, NULL},
    [SN_MORE_STAT_MOUNT] = {stat_mount_begin, NULL},
    [SN_MORE_MEMORY_MAP] = {memory_map_begin, NULL},
};
