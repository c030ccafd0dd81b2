/**
 * @fileoverview The table of all system calls: see system_call_table.h.
 *
 * Rows stand in the order of the numbers on x86-64. A call without a structure or text of the client's is its name only.
 */
#include "guest/system_call_table.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/if_tun.h>
#include <linux/io_uring.h>
#include <linux/kd.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/loop.h>
#include <linux/prctl.h>
#include <linux/quota.h>
#include <linux/reboot.h>
#include <linux/seccomp.h>
#include <linux/serial.h>
#include <linux/sockios.h>
#include <linux/vt.h>
#include <mqueue.h>
#include <net/if.h>
#include <net/route.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/utsname.h>
#include <time.h>

#include "sonde/tool.h"

/* Sizes of what the kernel has another form of than libc, or libc no name for. */
enum {
    SIGNAL_SET = 8,
    SIGNAL_ACTION = 32,
    TIMER_ID = 4,
    MESSAGE_TYPE = 8,
    TIMEZONE = 8,
    USTAT = 32,
    KERNEL_TERMIOS = 36,
    OLD_TERMIOS = 18,
    SCHED_ATTRIBUTES = 48,
    EVENT_ATTRIBUTES = 64,
    KEXEC_SEGMENT = 32,
    WAITERS = 48, /* two struct futex_waitv */
    MOUNT_REQUEST = 24,
    CACHE_RANGE = 16,
    CACHE_STATISTICS = 40,
    SEGMENT_DESCRIPTOR = 16,
    PATH_BENEATH = 12,
    NET_PORT = 16,
    NOTIFICATION_SIZES = 6,
    VT_STATE = 6,
    NEXT_QUOTA = 80,
    RING_PROBE = 16, /* struct io_uring_probe, before its operations */
    SMALL_BUFFER_OF_PAGE = 4096,
};

#define NONE {0}
#define STRING STRING_UP_TO(0)
#define STRING_UP_TO(most) {.kind = SN_ARGUMENT_STRING, .role = SN_ROLE_READ, .size = (most)}
#define STRINGS {.kind = SN_ARGUMENT_STRINGS, .role = SN_ROLE_READ}
/* Structures: read, written, both. */
#define FIXED(role_, end_, bytes) {.kind = SN_ARGUMENT_FIXED, .role = SN_ROLE_##role_, .end = SN_END_##end_, .size = (bytes)}
#define IN(bytes) FIXED(READ, WHOLE, bytes)
#define OUT(bytes) FIXED(WRITTEN, WHOLE, bytes)
#define OUT_IF_ANY(bytes) FIXED(WRITTEN, POSITIVE, bytes)
#define OUT_TEXT(most) FIXED(WRITTEN, TEXT, most)
#define BOTH(bytes) FIXED(BOTH, WHOLE, bytes)
#define BOTH_EVEN_INTERRUPTED(bytes) FIXED(BOTH, INTERRUPTED, bytes)
/* Buffers whose length is argument `n`, in elements; some with a head before those. */
#define BUFFER(role_, end_, n, bytes, head) \
    {.kind = SN_ARGUMENT_BUFFER, .role = SN_ROLE_##role_, .end = SN_END_##end_, .length = (n), .size = (bytes), .extra = (head)}
#define IN_ARRAY(n, bytes) BUFFER(READ, WHOLE, n, bytes, 0)
#define IN_BUFFER(n) IN_ARRAY(n, 1)
#define IN_BUFFER_BEHIND(head, n) BUFFER(READ, WHOLE, n, 1, head)
#define OUT_ARRAY(n, bytes) BUFFER(WRITTEN, WHOLE, n, bytes, 0)
#define OUT_BUFFER(n) OUT_ARRAY(n, 1)
#define BOTH_ARRAY(n, bytes) BUFFER(BOTH, WHOLE, n, bytes, 0)
#define BOTH_ARRAY_BEHIND(head, n, bytes) BUFFER(BOTH, WHOLE, n, bytes, head)
#define BOTH_BUFFER(n) BOTH_ARRAY(n, 1)
/* The same, written as far as the result counts. */
#define OUT_RESULTS(n, bytes) BUFFER(WRITTEN, RESULT, n, bytes, 0)
#define OUT_RESULT(n) OUT_RESULTS(n, 1)
#define OUT_RESULT_BEHIND(head, n) BUFFER(WRITTEN, RESULT, n, 1, head)
#define IN_BITS(n) {.kind = SN_ARGUMENT_BITS, .role = SN_ROLE_READ, .length = (n), .extra = 1}
#define OUT_BITS(n) {.kind = SN_ARGUMENT_BITS, .role = SN_ROLE_WRITTEN, .length = (n), .extra = 1}
#define IN_VECTOR(n) {.kind = SN_ARGUMENT_VECTOR, .role = SN_ROLE_READ, .length = (n)}
#define OUT_VECTOR(n) {.kind = SN_ARGUMENT_VECTOR, .role = SN_ROLE_WRITTEN, .end = SN_END_RESULT, .length = (n)}
#define OUT_LENGTH_AT(n) {.kind = SN_ARGUMENT_LENGTH_AT, .role = SN_ROLE_WRITTEN, .length = (n)}
#define IN_SIZED(offset, otherwise) \
    {.kind = SN_ARGUMENT_SIZED, .role = SN_ROLE_READ, .size = (otherwise), .extra = (offset)}
#define IN_MESSAGE {.kind = SN_ARGUMENT_MESSAGE, .role = SN_ROLE_READ}
#define OUT_MESSAGE {.kind = SN_ARGUMENT_MESSAGE, .role = SN_ROLE_WRITTEN}

/* What more than one call has. */
#define COMPLETED_EVENTS \
    {NONE, NONE, NONE, OUT_RESULTS(2, sizeof(struct io_event)), IN(sizeof(struct timespec))}, SN_MORE_COMPLETED

#define CHOSEN(set_, argument_) .chosen = {.set = SN_SET_##set_, .argument = (argument_)}

static const sn_call_row rows[] = {
    {"read", {NONE, OUT_RESULT(2)}},
    {"write", {NONE, IN_BUFFER(2)}},
    {"open", {STRING}},
    {"close", {NONE}},
    {"stat", {STRING, OUT(sizeof(struct stat))}},
    {"fstat", {NONE, OUT(sizeof(struct stat))}},
    {"lstat", {STRING, OUT(sizeof(struct stat))}},
    {"poll", {NONE}, SN_MORE_POLL},
    {"lseek", {NONE}},
    {"mmap", {NONE}},
    {"mprotect", {NONE}},
    {"munmap", {NONE}},
    {"brk", {NONE}},
    {"rt_sigaction", {NONE, IN(SIGNAL_ACTION), OUT(SIGNAL_ACTION)}},
    {"rt_sigprocmask", {NONE, IN_BUFFER(3), OUT_BUFFER(3)}},
    {"rt_sigreturn", {NONE}},
    {"ioctl", {NONE}, SN_MORE_IOCTL, CHOSEN(IOCTL, 1)},
    {"pread64", {NONE, OUT_RESULT(2)}},
    {"pwrite64", {NONE, IN_BUFFER(2)}},
    {"readv", {NONE, OUT_VECTOR(2)}},
    {"writev", {NONE, IN_VECTOR(2)}},
    {"access", {STRING}},
    {"pipe", {OUT(8)}},
    {"select", {NONE, NONE, NONE, NONE, BOTH_EVEN_INTERRUPTED(sizeof(struct timeval))}, SN_MORE_SELECT},
    {"sched_yield", {NONE}},
    {"mremap", {NONE}},
    {"msync", {NONE}},
    {"mincore", {NONE}, SN_MORE_MINCORE},
    {"madvise", {NONE}},
    {"shmget", {NONE}},
    {"shmat", {NONE}},
    {"shmctl", {NONE}, CHOSEN(SHMCTL, 1)},
    {"dup", {NONE}},
    {"dup2", {NONE}},
    {"pause", {NONE}},
    {"nanosleep", {IN(sizeof(struct timespec))}, SN_MORE_SLEEP},
    {"getitimer", {NONE, OUT(sizeof(struct itimerval))}},
    {"alarm", {NONE}},
    {"setitimer", {NONE, IN(sizeof(struct itimerval)), OUT(sizeof(struct itimerval))}},
    {"getpid", {NONE}},
    {"sendfile", {NONE, NONE, BOTH(8)}},
    {"socket", {NONE}},
    {"connect", {NONE, IN_BUFFER(2)}},
    {"accept", {NONE, OUT_LENGTH_AT(2)}},
    {"sendto", {NONE, IN_BUFFER(2), NONE, NONE, IN_BUFFER(5)}},
    {"recvfrom", {NONE, OUT_RESULT(2), NONE, NONE, OUT_LENGTH_AT(5)}},
    {"sendmsg", {NONE, IN_MESSAGE}},
    {"recvmsg", {NONE, OUT_MESSAGE}},
    {"shutdown", {NONE}},
    {"bind", {NONE, IN_BUFFER(2)}},
    {"listen", {NONE}},
    {"getsockname", {NONE, OUT_LENGTH_AT(2)}},
    {"getpeername", {NONE, OUT_LENGTH_AT(2)}},
    {"socketpair", {NONE, NONE, NONE, OUT(8)}},
    {"setsockopt", {NONE, NONE, NONE, IN_BUFFER(4)}},
    {"getsockopt", {NONE, NONE, NONE, OUT_LENGTH_AT(4)}},
    {"clone", {NONE}, SN_MORE_CLONE},
    {"fork", {NONE}},
    {"vfork", {NONE}},
    {"execve", {STRING, STRINGS, STRINGS}},
    {"exit", {NONE}},
    {"wait4", {NONE, OUT_IF_ANY(4), NONE, OUT_IF_ANY(sizeof(struct rusage))}},
    {"kill", {NONE}},
    {"uname", {OUT(sizeof(struct utsname))}},
    {"semget", {NONE}},
    {"semop", {NONE, IN_ARRAY(2, sizeof(struct sembuf))}},
    {"semctl", {NONE}, CHOSEN(SEMCTL, 2)},
    {"shmdt", {NONE}},
    {"msgget", {NONE}},
    {"msgsnd", {NONE, IN_BUFFER_BEHIND(MESSAGE_TYPE, 2)}},
    {"msgrcv", {NONE, OUT_RESULT_BEHIND(MESSAGE_TYPE, 2)}},
    {"msgctl", {NONE}, CHOSEN(MSGCTL, 1)},
    {"fcntl", {NONE}, CHOSEN(FCNTL, 1)},
    {"flock", {NONE}},
    {"fsync", {NONE}},
    {"fdatasync", {NONE}},
    {"truncate", {STRING}},
    {"ftruncate", {NONE}},
    {"getdents", {NONE, OUT_RESULT(2)}},
    {"getcwd", {OUT_RESULT(1)}},
    {"chdir", {STRING}},
    {"fchdir", {NONE}},
    {"rename", {STRING, STRING}},
    {"mkdir", {STRING}},
    {"rmdir", {STRING}},
    {"creat", {STRING}},
    {"link", {STRING, STRING}},
    {"unlink", {STRING}},
    {"symlink", {STRING, STRING}},
    {"readlink", {STRING, OUT_RESULT(2)}},
    {"chmod", {STRING}},
    {"fchmod", {NONE}},
    {"chown", {STRING}},
    {"fchown", {NONE}},
    {"lchown", {STRING}},
    {"umask", {NONE}},
    {"gettimeofday", {OUT(sizeof(struct timeval)), OUT(TIMEZONE)}},
    {"getrlimit", {NONE, OUT(sizeof(struct rlimit))}},
    {"getrusage", {NONE, OUT(sizeof(struct rusage))}},
    {"sysinfo", {OUT(sizeof(struct sysinfo))}},
    {"times", {OUT(sizeof(struct tms))}},
    {"ptrace", {NONE}, CHOSEN(PTRACE, 0)},
    {"getuid", {NONE}},
    {"syslog", {NONE}, CHOSEN(SYSLOG, 0)},
    {"getgid", {NONE}},
    {"setuid", {NONE}},
    {"setgid", {NONE}},
    {"geteuid", {NONE}},
    {"getegid", {NONE}},
    {"setpgid", {NONE}},
    {"getppid", {NONE}},
    {"getpgrp", {NONE}},
    {"setsid", {NONE}},
    {"setreuid", {NONE}},
    {"setregid", {NONE}},
    {"getgroups", {NONE, OUT_RESULTS(0, 4)}},
    {"setgroups", {NONE, IN_ARRAY(0, 4)}},
    {"setresuid", {NONE}},
    {"getresuid", {OUT(4), OUT(4), OUT(4)}},
    {"setresgid", {NONE}},
    {"getresgid", {OUT(4), OUT(4), OUT(4)}},
    {"getpgid", {NONE}},
    {"setfsuid", {NONE}},
    {"setfsgid", {NONE}},
    {"getsid", {NONE}},
    {"capget", {NONE}, SN_MORE_CAPABILITIES},
    {"capset", {NONE}, SN_MORE_CAPABILITIES},
    {"rt_sigpending", {OUT_BUFFER(1)}},
    {"rt_sigtimedwait", {IN_BUFFER(3), OUT_IF_ANY(sizeof(siginfo_t)), IN(sizeof(struct timespec))}},
    {"rt_sigqueueinfo", {NONE, NONE, IN(sizeof(siginfo_t))}},
    {"rt_sigsuspend", {IN_BUFFER(1)}},
    {"sigaltstack", {IN(sizeof(stack_t)), OUT(sizeof(stack_t))}},
    {"utime", {STRING, IN(16)}},
    {"mknod", {STRING}},
    {"uselib", {STRING}},
    {"personality", {NONE}},
    {"ustat", {NONE, OUT(USTAT)}},
    {"statfs", {STRING, OUT(sizeof(struct statfs))}},
    {"fstatfs", {NONE, OUT(sizeof(struct statfs))}},
    {"sysfs", {NONE}, CHOSEN(SYSFS, 0)},
    {"getpriority", {NONE}},
    {"setpriority", {NONE}},
    {"sched_setparam", {NONE, IN(4)}},
    {"sched_getparam", {NONE, OUT(4)}},
    {"sched_setscheduler", {NONE, NONE, IN(4)}},
    {"sched_getscheduler", {NONE}},
    {"sched_get_priority_max", {NONE}},
    {"sched_get_priority_min", {NONE}},
    {"sched_rr_get_interval", {NONE, OUT(sizeof(struct timespec))}},
    {"mlock", {NONE}},
    {"munlock", {NONE}},
    {"mlockall", {NONE}},
    {"munlockall", {NONE}},
    {"vhangup", {NONE}},
    {"modify_ldt", {NONE}, CHOSEN(MODIFY_LDT, 0)},
    {"pivot_root", {STRING, STRING}},
    {"_sysctl", {NONE}},
    {"prctl", {NONE}, CHOSEN(PRCTL, 0)},
    {"arch_prctl", {NONE}, CHOSEN(ARCH_PRCTL, 0)},
    {"adjtimex", {BOTH(sizeof(struct timex))}},
    {"setrlimit", {NONE, IN(sizeof(struct rlimit))}},
    {"chroot", {STRING}},
    {"sync", {NONE}},
    {"acct", {STRING}},
    {"settimeofday", {IN(sizeof(struct timeval)), IN(TIMEZONE)}},
    {"mount", {STRING, STRING, STRING, NONE, STRING_UP_TO(SMALL_BUFFER_OF_PAGE)}},
    {"umount2", {STRING}},
    {"swapon", {STRING}},
    {"swapoff", {STRING}},
    {"reboot", {NONE}, CHOSEN(REBOOT, 2)},
    {"sethostname", {IN_BUFFER(1)}},
    {"setdomainname", {IN_BUFFER(1)}},
    {"iopl", {NONE}},
    {"ioperm", {NONE}},
    {"create_module", {NONE}},
    {"init_module", {IN_BUFFER(1), NONE, STRING}},
    {"delete_module", {STRING}},
    {"get_kernel_syms", {NONE}},
    {"query_module", {NONE}},
    {"quotactl", {NONE, STRING}, .chosen = {.set = SN_SET_QUOTACTL, .argument = 0, .shift = SUBCMDSHIFT}},
    {"nfsservctl", {NONE}},
    {"getpmsg", {NONE}},
    {"putpmsg", {NONE}},
    {"afs_syscall", {NONE}},
    {"tuxcall", {NONE}},
    {"security", {NONE}},
    {"gettid", {NONE}},
    {"readahead", {NONE}},
    {"setxattr", {STRING, STRING, IN_BUFFER(3)}},
    {"lsetxattr", {STRING, STRING, IN_BUFFER(3)}},
    {"fsetxattr", {NONE, STRING, IN_BUFFER(3)}},
    {"getxattr", {STRING, STRING, OUT_RESULT(3)}},
    {"lgetxattr", {STRING, STRING, OUT_RESULT(3)}},
    {"fgetxattr", {NONE, STRING, OUT_RESULT(3)}},
    {"listxattr", {STRING, OUT_RESULT(2)}},
    {"llistxattr", {STRING, OUT_RESULT(2)}},
    {"flistxattr", {NONE, OUT_RESULT(2)}},
    {"removexattr", {STRING, STRING}},
    {"lremovexattr", {STRING, STRING}},
    {"fremovexattr", {NONE, STRING}},
    {"tkill", {NONE}},
    {"time", {OUT(8)}},
    {"futex", {NONE}, SN_MORE_FUTEX},
    {"sched_setaffinity", {NONE, NONE, IN_BUFFER(1)}},
    {"sched_getaffinity", {NONE, NONE, OUT_RESULT(1)}},
    {"set_thread_area", {NONE}},
    {"io_setup", {NONE, BOTH(8)}},
    {"io_destroy", {NONE}},
    {"io_getevents", COMPLETED_EVENTS},
    {"io_submit", {NONE}, SN_MORE_SUBMIT},
    {"io_cancel", {NONE, IN(sizeof(struct iocb)), OUT(sizeof(struct io_event))}},
    {"get_thread_area", {NONE}},
    {"lookup_dcookie", {NONE, OUT_RESULT(2)}},
    {"epoll_create", {NONE}},
    {"epoll_ctl_old", {NONE}},
    {"epoll_wait_old", {NONE}},
    {"remap_file_pages", {NONE}},
    {"getdents64", {NONE, OUT_RESULT(2)}},
    {"set_tid_address", {NONE}},
    {"restart_syscall", {NONE}},
    {"semtimedop", {NONE, IN_ARRAY(2, sizeof(struct sembuf)), NONE, IN(sizeof(struct timespec))}},
    {"fadvise64", {NONE}},
    {"timer_create", {NONE, IN(sizeof(struct sigevent)), OUT(TIMER_ID)}},
    {"timer_settime", {NONE, NONE, IN(sizeof(struct itimerspec)), OUT(sizeof(struct itimerspec))}},
    {"timer_gettime", {NONE, OUT(sizeof(struct itimerspec))}},
    {"timer_getoverrun", {NONE}},
    {"timer_delete", {NONE}},
    {"clock_settime", {NONE, IN(sizeof(struct timespec))}},
    {"clock_gettime", {NONE, OUT(sizeof(struct timespec))}},
    {"clock_getres", {NONE, OUT(sizeof(struct timespec))}},
    {"clock_nanosleep", {NONE, NONE, IN(sizeof(struct timespec))}, SN_MORE_SLEEP},
    {"exit_group", {NONE}},
    {"epoll_wait", {NONE, OUT_RESULTS(2, sizeof(struct epoll_event))}},
    {"epoll_ctl", {NONE, NONE, NONE, IN(sizeof(struct epoll_event))}},
    {"tgkill", {NONE}},
    {"utimes", {STRING, IN(2 * sizeof(struct timeval))}},
    {"vserver", {NONE}},
    {"mbind", {NONE, NONE, NONE, IN_BITS(4)}},
    {"set_mempolicy", {NONE, IN_BITS(2)}},
    {"get_mempolicy", {OUT(4), OUT_BITS(2)}},
    {"mq_open", {STRING, NONE, NONE, IN(sizeof(struct mq_attr))}},
    {"mq_unlink", {STRING}},
    {"mq_timedsend", {NONE, IN_BUFFER(2), NONE, NONE, IN(sizeof(struct timespec))}},
    {"mq_timedreceive", {NONE, OUT_RESULT(2), NONE, OUT(4), IN(sizeof(struct timespec))}},
    {"mq_notify", {NONE, IN(sizeof(struct sigevent))}},
    {"mq_getsetattr", {NONE, IN(sizeof(struct mq_attr)), OUT(sizeof(struct mq_attr))}},
    {"kexec_load", {NONE, NONE, IN_ARRAY(1, KEXEC_SEGMENT)}},
    {"waitid", {NONE, NONE, NONE, NONE, OUT(sizeof(struct rusage))}, SN_MORE_WAITID},
    {"add_key", {STRING, STRING, IN_BUFFER(3)}},
    {"request_key", {STRING, STRING, STRING}},
    {"keyctl", {NONE}, CHOSEN(KEYCTL, 0)},
    {"ioprio_set", {NONE}},
    {"ioprio_get", {NONE}},
    {"inotify_init", {NONE}},
    {"inotify_add_watch", {NONE, STRING}},
    {"inotify_rm_watch", {NONE}},
    {"migrate_pages", {NONE, NONE, IN_BITS(1), IN_BITS(1)}},
    {"openat", {NONE, STRING}},
    {"mkdirat", {NONE, STRING}},
    {"mknodat", {NONE, STRING}},
    {"fchownat", {NONE, STRING}},
    {"futimesat", {NONE, STRING, IN(2 * sizeof(struct timeval))}},
    {"newfstatat", {NONE, STRING, OUT(sizeof(struct stat))}},
    {"unlinkat", {NONE, STRING}},
    {"renameat", {NONE, STRING, NONE, STRING}},
    {"linkat", {NONE, STRING, NONE, STRING}},
    {"symlinkat", {STRING, NONE, STRING}},
    {"readlinkat", {NONE, STRING, OUT_RESULT(3)}},
    {"fchmodat", {NONE, STRING}},
    {"faccessat", {NONE, STRING}},
    {"pselect6", {NONE, NONE, NONE, NONE, BOTH_EVEN_INTERRUPTED(sizeof(struct timespec))}, SN_MORE_SELECT},
    {"ppoll", {NONE, NONE, BOTH_EVEN_INTERRUPTED(sizeof(struct timespec)), IN_BUFFER(4)}, SN_MORE_POLL},
    {"unshare", {NONE}},
    {"set_robust_list", {NONE}},
    {"get_robust_list", {NONE, OUT(8), OUT(8)}},
    {"splice", {NONE, BOTH(8), NONE, BOTH(8)}},
    {"tee", {NONE}},
    {"sync_file_range", {NONE}},
    {"vmsplice", {NONE}, SN_MORE_SPLICE},
    {"move_pages", {NONE, NONE, IN_ARRAY(1, 8), IN_ARRAY(1, 4), OUT_ARRAY(1, 4)}},
    {"utimensat", {NONE, STRING, IN(2 * sizeof(struct timespec))}},
    {"epoll_pwait", {NONE, OUT_RESULTS(2, sizeof(struct epoll_event)), NONE, NONE, IN_BUFFER(5)}},
    {"signalfd", {NONE, IN_BUFFER(2)}},
    {"timerfd_create", {NONE}},
    {"eventfd", {NONE}},
    {"fallocate", {NONE}},
    {"timerfd_settime", {NONE, NONE, IN(sizeof(struct itimerspec)), OUT(sizeof(struct itimerspec))}},
    {"timerfd_gettime", {NONE, OUT(sizeof(struct itimerspec))}},
    {"accept4", {NONE, OUT_LENGTH_AT(2)}},
    {"signalfd4", {NONE, IN_BUFFER(2)}},
    {"eventfd2", {NONE}},
    {"epoll_create1", {NONE}},
    {"dup3", {NONE}},
    {"pipe2", {OUT(8)}},
    {"inotify_init1", {NONE}},
    {"preadv", {NONE, OUT_VECTOR(2)}},
    {"pwritev", {NONE, IN_VECTOR(2)}},
    {"rt_tgsigqueueinfo", {NONE, NONE, NONE, IN(sizeof(siginfo_t))}},
    {"perf_event_open", {IN_SIZED(4, EVENT_ATTRIBUTES)}},
    {"recvmmsg", {NONE, NONE, NONE, NONE, BOTH(sizeof(struct timespec))}, SN_MORE_MESSAGES},
    {"fanotify_init", {NONE}},
    {"fanotify_mark", {NONE, NONE, NONE, NONE, STRING}},
    {"prlimit64", {NONE, NONE, IN(sizeof(struct rlimit)), OUT(sizeof(struct rlimit))}},
    {"name_to_handle_at", {NONE, STRING}, SN_MORE_FILE_HANDLE},
    {"open_by_handle_at", {NONE}, SN_MORE_FILE_HANDLE},
    {"clock_adjtime", {NONE, BOTH(sizeof(struct timex))}},
    {"syncfs", {NONE}},
    {"sendmmsg", {NONE}, SN_MORE_MESSAGES},
    {"setns", {NONE}},
    {"getcpu", {OUT(4), OUT(4)}},
    {"process_vm_readv", {NONE, OUT_VECTOR(2), NONE, IN_ARRAY(4, sizeof(struct iovec))}},
    {"process_vm_writev", {NONE, IN_VECTOR(2), NONE, IN_ARRAY(4, sizeof(struct iovec))}},
    {"kcmp", {NONE}},
    {"finit_module", {NONE, STRING}},
    {"sched_setattr", {NONE, IN_SIZED(0, SCHED_ATTRIBUTES)}},
    {"sched_getattr", {NONE, OUT_BUFFER(2)}},
    {"renameat2", {NONE, STRING, NONE, STRING}},
    {"seccomp", {NONE}, CHOSEN(SECCOMP, 0)},
    {"getrandom", {OUT_RESULT(1)}},
    {"memfd_create", {STRING}},
    {"kexec_file_load", {NONE, NONE, NONE, IN_BUFFER(2)}},
    {"bpf", {NONE, BOTH_BUFFER(2)}},
    {"execveat", {NONE, STRING, STRINGS, STRINGS}},
    {"userfaultfd", {NONE}},
    {"membarrier", {NONE}},
    {"mlock2", {NONE}},
    {"copy_file_range", {NONE, BOTH(8), NONE, BOTH(8)}},
    {"preadv2", {NONE, OUT_VECTOR(2)}},
    {"pwritev2", {NONE, IN_VECTOR(2)}},
    {"pkey_mprotect", {NONE}},
    {"pkey_alloc", {NONE}},
    {"pkey_free", {NONE}},
    {"statx", {NONE, STRING, NONE, NONE, OUT(sizeof(struct statx))}},
    {"io_pgetevents", COMPLETED_EVENTS},
    {"rseq", {NONE}},
    {"uretprobe", {NONE}},
    {"uprobe", {NONE}},
    {"pidfd_send_signal", {NONE, NONE, IN(sizeof(siginfo_t))}},
    {"io_uring_setup", {NONE, BOTH(sizeof(struct io_uring_params))}},
    {"io_uring_enter", {NONE, NONE, NONE, NONE, IN_BUFFER(5)}},
    {"io_uring_register", {NONE}, CHOSEN(IO_URING, 1)},
    {"open_tree", {NONE, STRING}},
    {"move_mount", {NONE, STRING, NONE, STRING}},
    {"fsopen", {STRING}},
    {"fsconfig", {NONE, NONE, STRING}, CHOSEN(FSCONFIG, 1)},
    {"fsmount", {NONE}},
    {"fspick", {NONE, STRING}},
    {"pidfd_open", {NONE}},
    {"clone3", {IN_BUFFER(1)}, SN_MORE_CLONE3},
    {"close_range", {NONE}},
    {"openat2", {NONE, STRING, IN_BUFFER(3)}},
    {"pidfd_getfd", {NONE}},
    {"faccessat2", {NONE, STRING}},
    {"process_madvise", {NONE, IN_ARRAY(2, sizeof(struct iovec))}},
    {"epoll_pwait2",
     {NONE, OUT_RESULTS(2, sizeof(struct epoll_event)), NONE, IN(sizeof(struct timespec)), IN_BUFFER(5)}},
    {"mount_setattr", {NONE, STRING, NONE, IN_BUFFER(4)}},
    {"quotactl_fd", {NONE}, .chosen = {.set = SN_SET_QUOTACTL, .argument = 1, .shift = SUBCMDSHIFT}},
    {"landlock_create_ruleset", {IN_BUFFER(1)}},
    {"landlock_add_rule", {NONE}, CHOSEN(LANDLOCK, 1)},
    {"landlock_restrict_self", {NONE}},
    {"memfd_secret", {NONE}},
    {"process_mrelease", {NONE}},
    {"futex_waitv", {NONE, NONE, NONE, IN(sizeof(struct timespec))}, SN_MORE_FUTEX_WAITERS},
    {"set_mempolicy_home_node", {NONE}},
    {"cachestat", {NONE, IN(CACHE_RANGE), OUT(CACHE_STATISTICS)}},
    {"fchmodat2", {NONE, STRING}},
    {"map_shadow_stack", {NONE}},
    {"futex_wake", {NONE}},
    {"futex_wait", {IN(4), NONE, NONE, NONE, IN(sizeof(struct timespec))}},
    {"futex_requeue", {IN(WAITERS)}, SN_MORE_FUTEX_WAITERS},
    {"statmount", {IN_SIZED(0, MOUNT_REQUEST)}, SN_MORE_STAT_MOUNT},
    {"listmount", {IN_SIZED(0, MOUNT_REQUEST), OUT_RESULTS(2, 8)}},
    {"lsm_get_self_attr", {NONE, OUT_LENGTH_AT(2)}},
    {"lsm_set_self_attr", {NONE, IN_BUFFER(2)}},
    {"lsm_list_modules", {OUT_LENGTH_AT(1)}},
    {"mseal", {NONE}},
    {"setxattrat", {NONE, STRING, NONE, STRING, IN_BUFFER(5)}, SN_MORE_ATTRIBUTE_AT},
    {"getxattrat", {NONE, STRING, NONE, STRING, IN_BUFFER(5)}, SN_MORE_ATTRIBUTE_AT},
    {"listxattrat", {NONE, STRING, NONE, OUT_RESULT(4)}},
    {"removexattrat", {NONE, STRING, NONE, STRING}},
    {"open_tree_attr", {NONE, STRING, NONE, IN_BUFFER(4)}},
    {"file_getattr", {NONE, STRING, OUT_BUFFER(3)}},
    {"file_setattr", {NONE, STRING, IN_BUFFER(3)}},
};

/* ------------------------------------------------------------------------ cases */

/* Later than some headers. */
enum {
    F_OFD_GETLK_ = 36, F_OFD_SETLK_, F_OFD_SETLKW_, F_GETOWNER_UIDS_ = 17,
    F_GET_RW_HINT_ = 1035, F_SET_RW_HINT_, F_GET_FILE_RW_HINT_, F_SET_FILE_RW_HINT_,
    PR_SET_VMA_ = 0x53564d41, PR_GET_AUXV_ = 0x41555856, PR_SCHED_CORE_ = 62, PR_GET_SHADOW_STACK_STATUS_ = 74,
    ARCH_GET_XCOMP_SUPP_ = 0x1021, ARCH_GET_XCOMP_PERM_ = 0x1022, ARCH_GET_XCOMP_GUEST_PERM_ = 0x1024,
    ARCH_SHSTK_STATUS_ = 0x5005,
    SHM_STAT_ANY_ = 15, SEM_STAT_ANY_ = 20, MSG_STAT_ANY_ = 13,
    PTRACE_GET_SYSCALL_INFO_ = 0x420e, PTRACE_GET_RSEQ_ = 0x420f,
    FSCONFIG_SET_STRING_ = 1, FSCONFIG_SET_BINARY_ = 2, FSCONFIG_SET_PATH_ = 3, FSCONFIG_SET_PATH_EMPTY_ = 4,
    LANDLOCK_RULE_NET_PORT_ = 2,
    TIOCGICOUNT_SIZE = 80,
};

#define CASE(set, value, at, ...) {SN_SET_##set, at, (uint32_t)(value), __VA_ARGS__, SN_MORE_NONE}
#define CASE_MORE(set, value, more) {SN_SET_##set, 0, (uint32_t)(value), NONE, more}
#define CASES_OF_IPC(set, stat, stat_any, at, bytes)                                                             \
    CASE(set, IPC_STAT, at, OUT(bytes)), CASE(set, stat, at, OUT(bytes)), CASE(set, stat_any, at, OUT(bytes)),   \
        CASE(set, IPC_SET, at, IN(bytes))
#define IOCTL_IN(request, bytes) CASE(IOCTL, request, 2, IN(bytes))
#define IOCTL_OUT(request, bytes) CASE(IOCTL, request, 2, OUT(bytes))
#define IOCTL_BOTH(request, bytes) CASE(IOCTL, request, 2, BOTH(bytes))
#define INTERFACE_IN(request) IOCTL_IN(request, sizeof(struct ifreq))
#define INTERFACE_BOTH(request) IOCTL_BOTH(request, sizeof(struct ifreq))
#define IOCTL_PLAIN(request) CASE(IOCTL, request, 2, NONE)

const sn_call_case sn_call_cases[] = {
    CASE(FCNTL, F_GETLK, 2, BOTH(sizeof(struct flock))),
    CASE(FCNTL, F_SETLK, 2, IN(sizeof(struct flock))),
    CASE(FCNTL, F_SETLKW, 2, IN(sizeof(struct flock))),
    CASE(FCNTL, F_OFD_GETLK_, 2, BOTH(sizeof(struct flock))),
    CASE(FCNTL, F_OFD_SETLK_, 2, IN(sizeof(struct flock))),
    CASE(FCNTL, F_OFD_SETLKW_, 2, IN(sizeof(struct flock))),
    CASE(FCNTL, F_GETOWN_EX, 2, OUT(8)),
    CASE(FCNTL, F_SETOWN_EX, 2, IN(8)),
    CASE(FCNTL, F_GETOWNER_UIDS_, 2, OUT(8)),
    CASE(FCNTL, F_GET_RW_HINT_, 2, OUT(8)),
    CASE(FCNTL, F_SET_RW_HINT_, 2, IN(8)),
    CASE(FCNTL, F_GET_FILE_RW_HINT_, 2, OUT(8)),
    CASE(FCNTL, F_SET_FILE_RW_HINT_, 2, IN(8)),

    CASE(PRCTL, PR_SET_NAME, 1, STRING_UP_TO(16)),
    CASE(PRCTL, PR_GET_NAME, 1, OUT(16)),
    CASE(PRCTL, PR_GET_PDEATHSIG, 1, OUT(4)),
    CASE(PRCTL, PR_GET_UNALIGN, 1, OUT(4)),
    CASE(PRCTL, PR_GET_FPEMU, 1, OUT(4)),
    CASE(PRCTL, PR_GET_FPEXC, 1, OUT(4)),
    CASE(PRCTL, PR_GET_ENDIAN, 1, OUT(4)),
    CASE(PRCTL, PR_GET_TSC, 1, OUT(4)),
    CASE(PRCTL, PR_GET_CHILD_SUBREAPER, 1, OUT(4)),
    CASE(PRCTL, PR_GET_TID_ADDRESS, 1, OUT(8)),
    CASE(PRCTL, PR_SET_VMA_, 4, STRING_UP_TO(80)),
    CASE(PRCTL, PR_GET_AUXV_, 1, OUT_RESULT(2)),
    CASE(PRCTL, PR_SCHED_CORE_, 4, OUT(8)),
    CASE(PRCTL, PR_GET_SHADOW_STACK_STATUS_, 1, OUT(8)),
    CASE_MORE(PRCTL, PR_SET_SECCOMP, SN_MORE_FILTER),
    CASE_MORE(PRCTL, PR_SET_MM, SN_MORE_MEMORY_MAP),
    CASE(PRCTL_MM, PR_SET_MM_AUXV, 2, IN_BUFFER(3)),
    CASE(PRCTL_MM, PR_SET_MM_MAP, 2, IN_BUFFER(3)),
    CASE(PRCTL_MM, PR_SET_MM_MAP_SIZE, 2, OUT(4)),

    CASE(ARCH_PRCTL, ARCH_GET_FS, 1, OUT(8)),
    CASE(ARCH_PRCTL, ARCH_GET_GS, 1, OUT(8)),
    CASE(ARCH_PRCTL, ARCH_GET_XCOMP_SUPP_, 1, OUT(8)),
    CASE(ARCH_PRCTL, ARCH_GET_XCOMP_PERM_, 1, OUT(8)),
    CASE(ARCH_PRCTL, ARCH_GET_XCOMP_GUEST_PERM_, 1, OUT(8)),
    CASE(ARCH_PRCTL, ARCH_SHSTK_STATUS_, 1, OUT(8)),

    CASES_OF_IPC(SHMCTL, SHM_STAT, SHM_STAT_ANY_, 2, sizeof(struct shmid_ds)),
    CASE(SHMCTL, IPC_INFO, 2, OUT(sizeof(struct shminfo))),
    CASE(SHMCTL, SHM_INFO, 2, OUT(sizeof(struct shm_info))),

    CASES_OF_IPC(SEMCTL, SEM_STAT, SEM_STAT_ANY_, 3, sizeof(struct semid_ds)),
    CASE(SEMCTL, IPC_INFO, 3, OUT(sizeof(struct seminfo))),
    CASE(SEMCTL, SEM_INFO, 3, OUT(sizeof(struct seminfo))),
    CASE_MORE(SEMCTL, GETALL, SN_MORE_SEMAPHORES),
    CASE_MORE(SEMCTL, SETALL, SN_MORE_SEMAPHORES),

    CASES_OF_IPC(MSGCTL, MSG_STAT, MSG_STAT_ANY_, 2, sizeof(struct msqid_ds)),
    CASE(MSGCTL, IPC_INFO, 2, OUT(sizeof(struct msginfo))),
    CASE(MSGCTL, MSG_INFO, 2, OUT(sizeof(struct msginfo))),

    CASE(PTRACE, PTRACE_PEEKTEXT, 3, OUT(8)),
    CASE(PTRACE, PTRACE_PEEKDATA, 3, OUT(8)),
    CASE(PTRACE, PTRACE_PEEKUSER, 3, OUT(8)),
    CASE(PTRACE, PTRACE_GETREGS, 3, OUT(sizeof(struct user_regs_struct))),
    CASE(PTRACE, PTRACE_SETREGS, 3, IN(sizeof(struct user_regs_struct))),
    CASE(PTRACE, PTRACE_GETFPREGS, 3, OUT(sizeof(struct user_fpregs_struct))),
    CASE(PTRACE, PTRACE_SETFPREGS, 3, IN(sizeof(struct user_fpregs_struct))),
    CASE(PTRACE, PTRACE_GETEVENTMSG, 3, OUT(8)),
    CASE(PTRACE, PTRACE_GETSIGINFO, 3, OUT(sizeof(siginfo_t))),
    CASE(PTRACE, PTRACE_SETSIGINFO, 3, IN(sizeof(siginfo_t))),
    CASE(PTRACE, PTRACE_GETSIGMASK, 3, OUT_BUFFER(2)),
    CASE(PTRACE, PTRACE_SETSIGMASK, 3, IN_BUFFER(2)),
    CASE(PTRACE, PTRACE_PEEKSIGINFO, 2, IN(16)),
    CASE(PTRACE, PTRACE_GET_SYSCALL_INFO_, 3, OUT_RESULT(2)),
    CASE(PTRACE, PTRACE_GET_RSEQ_, 3, OUT_RESULT(2)),
    CASE_MORE(PTRACE, PTRACE_GETREGSET, SN_MORE_TRACED_SET),
    CASE_MORE(PTRACE, PTRACE_SETREGSET, SN_MORE_TRACED_SET),

    CASE(KEYCTL, KEYCTL_JOIN_SESSION_KEYRING, 1, STRING),
    CASE(KEYCTL, KEYCTL_UPDATE, 2, IN_BUFFER(3)),
    CASE(KEYCTL, KEYCTL_DESCRIBE, 2, OUT_RESULT(3)),
    CASE(KEYCTL, KEYCTL_SEARCH, 2, STRING),
    CASE(KEYCTL, KEYCTL_SEARCH, 3, STRING),
    CASE(KEYCTL, KEYCTL_READ, 2, OUT_RESULT(3)),
    CASE(KEYCTL, KEYCTL_INSTANTIATE, 2, IN_BUFFER(3)),
    CASE(KEYCTL, KEYCTL_GET_SECURITY, 2, OUT_RESULT(3)),
    CASE(KEYCTL, KEYCTL_INSTANTIATE_IOV, 2, IN_VECTOR(3)),

    CASE(QUOTACTL, Q_QUOTAON, 3, STRING),
    CASE(QUOTACTL, Q_GETFMT, 3, OUT(4)),
    CASE(QUOTACTL, Q_GETINFO, 3, OUT(sizeof(struct if_dqinfo))),
    CASE(QUOTACTL, Q_SETINFO, 3, IN(sizeof(struct if_dqinfo))),
    CASE(QUOTACTL, Q_GETQUOTA, 3, OUT(sizeof(struct if_dqblk))),
    CASE(QUOTACTL, Q_SETQUOTA, 3, IN(sizeof(struct if_dqblk))),
    CASE(QUOTACTL, Q_GETNEXTQUOTA, 3, OUT(NEXT_QUOTA)),

    CASE(SYSLOG, 2, 1, OUT_RESULT(2)), /* read; 3: read all; 4: and clear */
    CASE(SYSLOG, 3, 1, OUT_RESULT(2)),
    CASE(SYSLOG, 4, 1, OUT_RESULT(2)),
    CASE(SYSFS, 1, 1, STRING),
    CASE(SYSFS, 2, 2, OUT_TEXT(256)),
    CASE(MODIFY_LDT, 0, 1, OUT_RESULT(2)),
    CASE(MODIFY_LDT, 1, 1, IN(SEGMENT_DESCRIPTOR)),
    CASE(MODIFY_LDT, 2, 1, OUT_RESULT(2)),
    CASE(MODIFY_LDT, 0x11, 1, IN(SEGMENT_DESCRIPTOR)),
    CASE(REBOOT, LINUX_REBOOT_CMD_RESTART2, 3, STRING_UP_TO(256)),
    CASE_MORE(SECCOMP, SECCOMP_SET_MODE_FILTER, SN_MORE_FILTER),
    CASE(SECCOMP, SECCOMP_GET_ACTION_AVAIL, 2, IN(4)),
    CASE(SECCOMP, SECCOMP_GET_NOTIF_SIZES, 2, OUT(NOTIFICATION_SIZES)),
    CASE(FSCONFIG, FSCONFIG_SET_STRING_, 3, STRING),
    CASE(FSCONFIG, FSCONFIG_SET_BINARY_, 3, IN_BUFFER(4)),
    CASE(FSCONFIG, FSCONFIG_SET_PATH_, 3, STRING),
    CASE(FSCONFIG, FSCONFIG_SET_PATH_EMPTY_, 3, STRING),
    CASE(LANDLOCK, LANDLOCK_RULE_PATH_BENEATH, 2, IN(PATH_BENEATH)),
    CASE(LANDLOCK, LANDLOCK_RULE_NET_PORT_, 2, IN(NET_PORT)),

    CASE(IO_URING, IORING_REGISTER_BUFFERS, 2, IN_ARRAY(3, sizeof(struct iovec))),
    CASE(IO_URING, IORING_REGISTER_FILES, 2, IN_ARRAY(3, 4)),
    CASE(IO_URING, IORING_REGISTER_EVENTFD, 2, IN(4)),
    CASE(IO_URING, IORING_REGISTER_EVENTFD_ASYNC, 2, IN(4)),
    CASE(IO_URING, IORING_REGISTER_FILES_UPDATE, 2, IN(16)),
    CASE(IO_URING, IORING_REGISTER_PROBE, 2, BOTH_ARRAY_BEHIND(RING_PROBE, 3, 8)),
    CASE(IO_URING, IORING_REGISTER_RESTRICTIONS, 2, IN_ARRAY(3, 16)),
    CASE(IO_URING, IORING_REGISTER_FILES2, 2, IN_BUFFER(3)),
    CASE(IO_URING, IORING_REGISTER_FILES_UPDATE2, 2, IN_BUFFER(3)),
    CASE(IO_URING, IORING_REGISTER_BUFFERS2, 2, IN_BUFFER(3)),
    CASE(IO_URING, IORING_REGISTER_BUFFERS_UPDATE, 2, IN_BUFFER(3)),
    CASE(IO_URING, IORING_REGISTER_IOWQ_AFF, 2, IN_BUFFER(3)),
    CASE(IO_URING, IORING_REGISTER_IOWQ_MAX_WORKERS, 2, BOTH(8)),
    CASE(IO_URING, IORING_REGISTER_RING_FDS, 2, BOTH_ARRAY(3, 16)),
    CASE(IO_URING, IORING_UNREGISTER_RING_FDS, 2, IN_ARRAY(3, 16)),
    CASE(IO_URING, IORING_REGISTER_PBUF_RING, 2, IN(40)),
    CASE(IO_URING, IORING_UNREGISTER_PBUF_RING, 2, IN(40)),

    /* Terminals. */
    IOCTL_OUT(TCGETS, KERNEL_TERMIOS),
    IOCTL_IN(TCSETS, KERNEL_TERMIOS),
    IOCTL_IN(TCSETSW, KERNEL_TERMIOS),
    IOCTL_IN(TCSETSF, KERNEL_TERMIOS),
    IOCTL_OUT(TCGETA, OLD_TERMIOS),
    IOCTL_IN(TCSETA, OLD_TERMIOS),
    IOCTL_IN(TCSETAW, OLD_TERMIOS),
    IOCTL_IN(TCSETAF, OLD_TERMIOS),
    IOCTL_OUT(TIOCGLCKTRMIOS, KERNEL_TERMIOS),
    IOCTL_IN(TIOCSLCKTRMIOS, KERNEL_TERMIOS),
    IOCTL_OUT(TIOCGPGRP, 4),
    IOCTL_IN(TIOCSPGRP, 4),
    IOCTL_OUT(TIOCGSID, 4),
    IOCTL_OUT(TIOCOUTQ, 4),
    IOCTL_OUT(FIONREAD, 4),
    IOCTL_IN(TIOCSTI, 1),
    IOCTL_OUT(TIOCGWINSZ, 8),
    IOCTL_IN(TIOCSWINSZ, 8),
    IOCTL_OUT(TIOCMGET, 4),
    IOCTL_IN(TIOCMBIS, 4),
    IOCTL_IN(TIOCMBIC, 4),
    IOCTL_IN(TIOCMSET, 4),
    IOCTL_OUT(TIOCGSOFTCAR, 4),
    IOCTL_IN(TIOCSSOFTCAR, 4),
    IOCTL_IN(TIOCLINUX, 1),
    IOCTL_OUT(TIOCGSERIAL, sizeof(struct serial_struct)),
    IOCTL_IN(TIOCSSERIAL, sizeof(struct serial_struct)),
    IOCTL_OUT(TIOCGICOUNT, TIOCGICOUNT_SIZE),
    IOCTL_IN(TIOCPKT, 4),
    IOCTL_OUT(TIOCGETD, 4),
    IOCTL_IN(TIOCSETD, 4),
    IOCTL_OUT(KDGETMODE, 4),
    IOCTL_OUT(KDGKBMODE, 4),
    IOCTL_OUT(KDGKBTYPE, 1),
    IOCTL_OUT(KDGETLED, 1),
    IOCTL_OUT(VT_OPENQRY, 4),
    IOCTL_OUT(VT_GETMODE, 8),
    IOCTL_IN(VT_SETMODE, 8),
    IOCTL_OUT(VT_GETSTATE, VT_STATE),
    /* Any descriptor, files, block devices. */
    IOCTL_IN(FIONBIO, 4),
    IOCTL_IN(FIOASYNC, 4),
    IOCTL_OUT(FIOQSIZE, 8),
    IOCTL_BOTH(FIBMAP, 4),
    IOCTL_OUT(FIGETBSZ, 4),
    IOCTL_PLAIN(FICLONE),
    IOCTL_OUT(FS_IOC_GETFLAGS, 4),
    IOCTL_IN(FS_IOC_SETFLAGS, 4),
    IOCTL_OUT(FS_IOC_GETVERSION, 4),
    IOCTL_IN(FS_IOC_SETVERSION, 4),
    IOCTL_IN(BLKROSET, 4),
    IOCTL_OUT(BLKROGET, 4),
    IOCTL_OUT(BLKGETSIZE, 8),
    IOCTL_OUT(BLKRAGET, 8),
    IOCTL_OUT(BLKFRAGET, 8),
    IOCTL_OUT(BLKSSZGET, 4),
    IOCTL_OUT(BLKBSZGET, 4),
    IOCTL_IN(BLKBSZSET, 4),
    IOCTL_OUT(BLKIOMIN, 4),
    IOCTL_OUT(BLKIOOPT, 4),
    IOCTL_OUT(BLKALIGNOFF, 4),
    IOCTL_OUT(BLKPBSZGET, 4),
    IOCTL_IN(BLKDISCARD, 16),
    IOCTL_IN(BLKSECDISCARD, 16),
    IOCTL_IN(BLKZEROOUT, 16),
    IOCTL_IN(LOOP_SET_STATUS64, sizeof(struct loop_info64)),
    IOCTL_OUT(LOOP_GET_STATUS64, sizeof(struct loop_info64)),
    IOCTL_IN(0x4c0a /* LOOP_CONFIGURE */, 304),
    IOCTL_OUT(0x0301 /* HDIO_GETGEO */, 16),
    /* Sockets. */
    IOCTL_IN(FIOSETOWN, 4),
    IOCTL_IN(SIOCSPGRP, 4),
    IOCTL_OUT(FIOGETOWN, 4),
    IOCTL_OUT(SIOCGPGRP, 4),
    IOCTL_OUT(SIOCATMARK, 4),
    IOCTL_OUT(SIOCGSTAMP_OLD, 16),
    IOCTL_OUT(SIOCGSTAMPNS_OLD, 16),
    IOCTL_IN(SIOCADDRT, sizeof(struct rtentry)),
    IOCTL_IN(SIOCDELRT, sizeof(struct rtentry)),
    INTERFACE_BOTH(SIOCGIFNAME),
    INTERFACE_BOTH(SIOCGIFFLAGS),
    INTERFACE_IN(SIOCSIFFLAGS),
    INTERFACE_BOTH(SIOCGIFADDR),
    INTERFACE_IN(SIOCSIFADDR),
    INTERFACE_BOTH(SIOCGIFDSTADDR),
    INTERFACE_IN(SIOCSIFDSTADDR),
    INTERFACE_BOTH(SIOCGIFBRDADDR),
    INTERFACE_IN(SIOCSIFBRDADDR),
    INTERFACE_BOTH(SIOCGIFNETMASK),
    INTERFACE_IN(SIOCSIFNETMASK),
    INTERFACE_BOTH(SIOCGIFMETRIC),
    INTERFACE_IN(SIOCSIFMETRIC),
    INTERFACE_BOTH(SIOCGIFMTU),
    INTERFACE_IN(SIOCSIFMTU),
    INTERFACE_IN(SIOCSIFNAME),
    INTERFACE_BOTH(SIOCGIFHWADDR),
    INTERFACE_IN(SIOCSIFHWADDR),
    INTERFACE_BOTH(SIOCGIFINDEX),
    INTERFACE_BOTH(SIOCGIFTXQLEN),
    INTERFACE_IN(SIOCSIFTXQLEN),
    INTERFACE_BOTH(SIOCGIFMAP),
    INTERFACE_BOTH(SIOCETHTOOL),
    INTERFACE_BOTH(TUNSETIFF),
    IOCTL_OUT(TUNGETIFF, sizeof(struct ifreq)),
    IOCTL_PLAIN(TUNSETPERSIST),
    IOCTL_PLAIN(TUNSETNOCSUM),
    IOCTL_PLAIN(TUNSETOWNER),
    IOCTL_PLAIN(TUNSETGROUP),
    IOCTL_PLAIN(TUNSETLINK),
    IOCTL_PLAIN(TUNSETOFFLOAD),
};
const size_t sn_call_case_count = sizeof sn_call_cases / sizeof *sn_call_cases;

/* ----------------------------------------------------------------------- look-up */

const sn_call_row *sn_call_row_named(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/** Rows by number, filled in as they are asked for; two threads may write the same at the same time. */
#define NUMBERS 1024
static const sn_call_row *_Atomic known[NUMBERS];

const sn_call_row *sn_call_row_of(uint64_t number) {
    if (number >= NUMBERS) return NULL;
    const sn_call_row *row = known[number];
    if (row) return row;
    const char *name = sn_system_call_name(number);
    if (!name) return NULL;
    row = sn_call_row_named(name);
    known[number] = row;
    return row;
}

const sn_call_case *sn_call_case_first(sn_call_set set, uint32_t value) {
    for (size_t i = 0; i < sn_call_case_count; i++)
        if (sn_call_cases[i].set == set && sn_call_cases[i].value == value) return &sn_call_cases[i];
    return NULL;
}
