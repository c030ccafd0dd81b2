/**
 * @fileoverview The names of system calls' parameters. See parameters.h.
 *
 * Names are Valgrind's (3.19: what Memcheck prints), which suppressions refer to; most are those of the manual pages, section 2. What
 * is wide, and which bytes of structures the kernel looks at, is the manual pages' and the kernel's headers'.
 */
#include "parameters.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/** Parameters in order: "name", "name/4" for a value of 4 bytes, "-name" for one that is not there in each use of the call, behind
    that "=text" if memory has another name. */
static const struct {
    const char *call, *parameters;
} calls[] = {
    {"accept", "s/4 addr=socketcall.accept(addr) addrlen=socketcall.accept(addrlen_in)"},
    {"accept4", "s/4 addr=socketcall.accept4(addr) addrlen=socketcall.accept4(addrlen_in) flags/4"},
    {"access", "pathname mode/4"},
    {"acct", "path"},
    {"add_key", "type description payload plen keyring/4"},
    {"adjtimex", "buf"},
    {"alarm", "seconds/4"},
    {"bind", "sockfd/4 my_addr=socketcall.bind(my_addr) addrlen/4"},
    {"brk", "end_data_segment"},
    {"capget", "header data"},
    {"capset", "header data"},
    {"chdir", "path"},
    {"chmod", "path mode/4"},
    {"chown", "path owner/4 group/4"},
    {"chroot", "path"},
    {"clock_getres", "clk_id/4 res"},
    {"clock_gettime", "clk_id/4 tp"},
    {"clock_nanosleep", "clkid/4 flags/4 rqtp rmtp"},
    {"clock_settime", "clk_id/4 tp"},
    {"clone", "flags child_stack -parent_tidptr -child_tidptr -tlsinfo"},
    {"close", "fd/4"},
    {"close_range", "first/4 last/4 flags/4"},
    {"connect", "sockfd/4 serv_addr=socketcall.connect(serv_addr) addrlen/4"},
    {"copy_file_range", "fd_in/4 off_in fd_out/4 off_out len flags/4"},
    {"creat", "pathname mode/4"},
    {"dup", "oldfd/4"},
    {"dup2", "oldfd/4 newfd/4"},
    {"dup3", "oldfd/4 newfd/4 flags/4"},
    {"epoll_create", "size/4"},
    {"epoll_create1", "flags/4"},
    {"epoll_ctl", "epfd/4 op/4 fd/4 -event"},
    {"epoll_pwait", "epfd/4 events maxevents/4 timeout/4 sigmask sigsetsize"},
    {"epoll_wait", "epfd/4 events maxevents/4 timeout/4"},
    {"eventfd", "count/4"},
    {"eventfd2", "count/4 flags/4"},
    {"execve", "filename argv envp"},
    {"execveat", "fd/4 filename argv envp flags/4"},
    {"exit", "status/4"},
    {"exit_group", "status/4"},
    {"faccessat", "dfd/4 pathname mode/4"},
    {"faccessat2", "dfd/4 pathname mode/4 flags/4"},
    {"fadvise64", "fd/4 offset len advice/4"},
    {"fallocate", "fd/4 mode/4 offset len"},
    {"fchdir", "fd/4"},
    {"fchmod", "fildes/4 mode/4"},
    {"fchmodat", "dfd/4 path mode/4"},
    {"fchown", "fd/4 owner/4 group/4"},
    {"fchownat", "dfd/4 path owner/4 group/4 -flag/4"},
    {"fcntl", "fd/4 cmd/4 -arg"},
    {"fdatasync", "fd/4"},
    {"fgetxattr", "fd/4 name value size"},
    {"flistxattr", "fd/4 list size"},
    {"flock", "fd/4 operation/4"},
    {"fremovexattr", "fd/4 name"},
    {"fsetxattr", "fd/4 name value size flags/4"},
    {"fstat", "fd/4 buf"},
    {"fstatfs", "fd/4 buf"},
    {"fsync", "fd/4"},
    {"ftruncate", "fd/4 length"},
    {"futex", "futex op/4 -val/4 -timeout -uaddr2 -val3/4"},
    {"futimesat", "dfd/4 filename tvp"},
    {"getcwd", "buf size"},
    {"getdents", "fd/4 dirp count/4"},
    {"getdents64", "fd/4 dirp count/4"},
    {"getgroups", "size/4 list"},
    {"getitimer", "which/4 value"},
    {"getpeername", "s/4 name=socketcall.getpeername(name) namelen=socketcall.getpeername(namelen_in)"},
    {"getpgid", "pid/4"},
    {"getpriority", "which/4 who/4"},
    {"getrandom", "buf count flags/4"},
    {"getrlimit", "resource/4 rlim"},
    {"getrusage", "who/4 usage"},
    {"getsid", "pid/4"},
    {"getsockname", "s/4 name=socketcall.getsockname(name) namelen=socketcall.getsockname(namelen_in)"},
    {"getsockopt", "s/4 level/4 optname/4 optval=socketcall.getsockopt(optval) optlen=socketcall.getsockopt(optlen)"},
    {"gettimeofday", "tv tz"},
    {"getxattr", "path name value size"},
    {"inotify_add_watch", "fd/4 path mask/4"},
    {"inotify_init1", "flag/4"},
    {"inotify_rm_watch", "fd/4 wd/4"},
    {"ioctl", "fd/4 request/4 -arg"},
    {"kill", "pid/4 signal/4"},
    {"lchown", "path owner/4 group/4"},
    {"lgetxattr", "path name value size"},
    {"link", "oldpath newpath"},
    {"linkat", "olddfd/4 oldpath newdfd/4 newpath flags/4"},
    {"listen", "s/4 backlog/4"},
    {"listxattr", "path list size"},
    {"llistxattr", "path list size"},
    {"lremovexattr", "path name"},
    {"lseek", "fd/4 offset whence/4"},
    {"lsetxattr", "path name value size flags/4"},
    {"lstat", "file_name buf"},
    {"madvise", "start length advice/4"},
    {"memfd_create", "uname flags/4"},
    {"mincore", "start length vec"},
    {"mkdir", "pathname mode/4"},
    {"mkdirat", "dfd/4 pathname mode/4"},
    {"mknod", "pathname mode/4 dev/4"},
    {"mknodat", "dfd/4 pathname mode/4 dev/4"},
    {"mlock", "addr len"},
    {"mmap", "start length prot/4 flags/4 fd/4 offset"},
    {"mount", "source target type flags data"},
    {"mprotect", "addr len prot/4"},
    {"mq_getsetattr", "mqdes/4 mqstat omqstat"},
    {"mq_notify", "mqdes/4 notification"},
    {"mq_open", "name oflag/4 -mode/4 -attr"},
    {"mq_timedreceive", "mqdes/4 msg_ptr msg_len msg_prio abs_timeout"},
    {"mq_timedsend", "mqdes/4 msg_ptr msg_len msg_prio/4 abs_timeout"},
    {"mq_unlink", "name"},
    {"mremap", "old_addr old_size new_size flags/4 -new_addr"},
    {"msgget", "key/4 msgflg/4"},
    {"msgrcv", "msqid/4 msgp msgsz msgytp msgflg/4"},
    {"msgsnd", "msqid/4 msgp msgsz msgflg/4"},
    {"msync", "start length flags/4"},
    {"munlock", "addr len"},
    {"munmap", "start length"},
    {"nanosleep", "req rem"},
    {"newfstatat", "dfd/4=fstatat(dfd) file_name=fstatat(file_name) buf=fstatat(buf) -flags/4"},
    {"open", "filename flags/4 -mode/4"},
    {"openat", "dfd/4 filename flags/4 -mode/4"},
    {"pipe", "filedes"},
    {"pipe2", "filedes flags/4"},
    {"pivot_root", "new_root old_root"},
    {"poll", "ufds nfds/4 timeout/4"},
    {"ppoll", "ufds nfds/4 tsp sigmask sigsetsize"},
    {"prctl", "option/4"},
    {"pread64", "fd/4 buf count offset"},
    {"preadv", "fd/4 vector count offset"},
    {"prlimit64", "pid/4 resource/4 new_rlim old_rlim"},
    {"pselect6", "n/4 readfds writefds exceptfds timeout sig"},
    {"pwrite64", "fd/4 buf count offset"},
    {"pwritev", "fd/4 vector count offset"},
    {"read", "fd/4 buf count"},
    {"readahead", "fd/4 offset count"},
    {"readlink", "path buf bufsiz/4"},
    {"readlinkat", "dfd/4 path buf bufsiz/4"},
    {"readv", "fd/4 vector count"},
    {"recvfrom", "s/4 buf=socketcall.recvfrom(buf) len flags/4 from=socketcall.recvfrom(from) fromlen=socketcall.recvfrom(fromlen_in)"},
    {"recvmsg", "s/4 msg flags/4"},
    {"removexattr", "path name"},
    {"rename", "oldpath newpath"},
    {"renameat", "olddfd/4 oldpath newdfd/4 newpath"},
    {"renameat2", "olddfd/4 oldpath newdfd/4 newpath flags/4"},
    {"rmdir", "pathname"},
    {"rt_sigaction", "signum/4 act oldact sigsetsize"},
    {"rt_sigpending", "set sigsetsize"},
    {"rt_sigprocmask", "how/4 set oldset sigsetsize"},
    {"rt_sigqueueinfo", "pid/4 sig/4 uinfo"},
    {"rt_sigsuspend", "mask size"},
    {"rt_sigtimedwait", "set info timeout sigsetsize"},
    {"rt_tgsigqueueinfo", "tgid/4 pid/4 sig/4 uinfo"},
    {"sched_getaffinity", "pid/4 len/4 mask"},
    {"sched_getparam", "pid/4 p"},
    {"sched_getscheduler", "pid/4"},
    {"sched_setaffinity", "pid/4 len/4 mask"},
    {"sched_setparam", "pid/4 p"},
    {"sched_setscheduler", "pid/4 policy/4 p"},
    {"select", "n/4 readfds writefds exceptfds timeout"},
    {"semctl", "semid/4 semnum/4 cmd/4 -arg"},
    {"semget", "key/4 nsems/4 semflg/4"},
    {"semop", "semid/4 sops nsoops/4"},
    {"semtimedop", "semid/4 sops nsoops/4 timeout"},
    {"sendfile", "out_fd/4 in_fd/4 offset count"},
    {"sendmmsg", "s/4 mmsg vlen/4 flags/4"},
    {"sendmsg", "s/4 msg flags/4"},
    {"sendto", "s/4 msg=socketcall.sendto(msg) len flags/4 -to=socketcall.sendto(to) -tolen/4"},
    {"set_robust_list", "head len"},
    {"setfsgid", "gid/4"},
    {"setfsuid", "uid/4"},
    {"setgid", "gid/4"},
    {"setgroups", "size/4 list"},
    {"sethostname", "name len/4"},
    {"setitimer", "which/4 value ovalue"},
    {"setpgid", "pid/4 pgid/4"},
    {"setpriority", "which/4 who/4 prio/4"},
    {"setregid", "rgid/4 egid/4"},
    {"setresgid", "rgid/4 egid/4 sgid/4"},
    {"setresuid", "ruid/4 euid/4 suid/4"},
    {"setreuid", "ruid/4 euid/4"},
    {"setrlimit", "resource/4 rlim"},
    {"setsockopt", "s/4 level/4 optname/4 optval=socketcall.setsockopt(optval) optlen/4"},
    {"settimeofday", "tv tz"},
    {"setuid", "uid/4"},
    {"setxattr", "path name value size flags/4"},
    {"shmat", "shmid/4 shmaddr shmflg/4"},
    {"shmctl", "shmid/4 cmd/4 -buf"},
    {"shmdt", "shmaddr"},
    {"shmget", "key/4 size shmflg/4"},
    {"shutdown", "s/4 how/4"},
    {"sigaltstack", "ss oss"},
    {"socket", "domain/4 type/4 protocol/4"},
    {"socketpair", "d/4 type/4 protocol/4 sv=socketcall.socketpair(sv)"},
    {"splice", "fd_in/4 off_in fd_out/4 off_out len flags/4"},
    {"stat", "file_name buf"},
    {"statfs", "path buf"},
    {"statx", "dirfd/4 filename flags/4 mask/4 buf"},
    {"symlink", "oldpath newpath"},
    {"symlinkat", "oldpath newdfd/4 newpath"},
    {"syncfs", "fd/4"},
    {"sysinfo", "info"},
    {"tgkill", "tgid/4 tid/4 sig/4"},
    {"time", "t"},
    {"timer_create", "clockid/4 evp timerid"},
    {"timer_delete", "timerid/4"},
    {"timer_getoverrun", "timerid/4"},
    {"timer_gettime", "timerid/4 value"},
    {"timer_settime", "timerid/4 flags/4 value ovalue"},
    {"timerfd_create", "clockid/4 flags/4"},
    {"timerfd_gettime", "ufd/4 otmr"},
    {"timerfd_settime", "ufd/4 flags/4 utmr otmr"},
    {"times", "buf"},
    {"tkill", "tid/4 sig/4"},
    {"truncate", "path length"},
    {"umask", "mask/4"},
    {"umount2", "path flags/4"},
    {"uname", "buf"},
    {"unlink", "pathname"},
    {"unlinkat", "dfd/4 pathname flags/4"},
    {"unshare", "flags"},
    {"utimensat", "dfd/4 filename utimes flags/4"},
    {"wait4", "pid/4 status options/4 rusage"},
    {"waitid", "which/4 pid/4 infop options/4 ru"},
    {"writev", "fd/4 vector count"},
    {"write", "fd/4 buf count"},
};

static const char *parameters_of(const char *call) {
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(calls[i].call, call) == 0) {
            return calls[i].parameters;
        }
    }
    return "";
}

/** The word of a parameter; empty if it is not known. */
static const char *word_of(const char *call, unsigned number) {
    const char *word = parameters_of(call);
    for (unsigned i = 0; i < number && *word != 0; i++) {
        word += strcspn(word, " ");
        word += *word == ' ';
    }
    return word;
}

mc_parameter mc_parameter_of(const char *call, unsigned number) {
    const char *word = word_of(call, number);
    bool is_optional = *word == '-';
    word += is_optional;
    size_t length = strcspn(word, "/= ");
    char *name = length != 0 ? mc_text("%s(%.*s)", call, (int)length, word) : mc_text("%s(arg%u)", call, number + 1);
    return (mc_parameter){.is_value = length != 0 && !is_optional, .is_short = word[length] == '/', .name = name};
}

/** The name of the memory that a parameter leads to, without the bracket at its end: "socketcall.bind(my_addr". */
static char *memory_name(const char *call, unsigned number) {
    const char *word = word_of(call, number), *other = memchr(word, '=', strcspn(word, " "));
    char *name = other != NULL ? mc_text("%.*s", (int)strcspn(other + 1, " "), other + 1) : mc_parameter_of(call, number).name;
    name[strlen(name) - 1] = 0;
    return name;
}

/* ------------------------------------------------------------------------------------------ parts of structures */

enum { MOST_PARTS = 4 };

typedef struct part {
    uint16_t start, end;
    const char *name; /**< NULL: that of the whole */
} part;

/** Structures of which the kernel looks at some members only, that have padding, or whose members are told by name. */
static const struct partial {
    const char *call;
    unsigned argument;
    part parts[MOST_PARTS]; /**< end 0: there are no more */
} partials[] = {
    {"adjtimex", 0, {{0, 4, NULL}}},                              /* modes says what else */
    {"bpf", 1, {{0}}},                                            /* a union by command */
    {"clock_adjtime", 1, {{0, 4, NULL}}},
    {"epoll_ctl", 3, {{0, 4, NULL}}},                             /* what follows is the program's own */
    {"fcntl", 2, {{0, 2, "lock->l_type"}, {2, 4, "lock->l_whence"}, {8, 16, "lock->l_start"}, {16, 24, "lock->l_len"}}},
    {"io_cancel", 1, {{0}}},
    {"io_submit", 2, {{0}}},
    {"modify_ldt", 1, {{0, 12, NULL}}},
    {"mq_getsetattr", 1, {{0, 8, NULL}}},
    {"mq_notify", 1, {{8, 16, NULL}}},                            /* struct sigevent: signal and way */
    {"mq_open", 3, {{8, 16, "attr->mq_maxmsg"}, {16, 24, "attr->mq_msgsize"}}},
    {"msgctl", 2, {{0}}},
    {"pidfd_send_signal", 2, {{0, 12, NULL}}},                    /* siginfo_t: the rest is a union */
    {"poll", 0, {{0, 4, "ufds.fd"}, {4, 6, "ufds.events"}}},
    {"ppoll", 0, {{0, 4, "ufds.fd"}, {4, 6, "ufds.events"}}},
    {"ptrace", 3, {{0}}},
    {"quotactl", 3, {{0}}},
    {"rt_sigaction", 1, {{0, 8, "act->sa_handler"}, {24, 32, "act->sa_mask"}, {8, 16, "act->sa_flags"}}},
    {"rt_sigqueueinfo", 2, {{0, 12, NULL}}},
    {"rt_tgsigqueueinfo", 3, {{0, 12, NULL}}},
    {"semctl", 3, {{0}}},
    {"setitimer", 1, {{0, 16, "&value->it_interval"}, {16, 32, "&value->it_value"}}},
    {"shmctl", 2, {{0}}},
    {"sigaltstack", 0, {{0, 8, NULL}, {8, 12, NULL}, {16, 24, NULL}}},
    {"timer_create", 1, {{8, 16, NULL}}},
};

/** Socket addresses, by family: as far as the kernel looks (ip(7), ipv6(7), netlink(7)); names go on behind a point. */
static const struct address_form {
    uint16_t family;
    part parts[MOST_PARTS];
} address_forms[] = {
    {AF_INET, {{0, 2, "sa_family"}, {2, 4, "sin_port"}, {4, 8, "sin_addr"}}},
    {AF_INET6, {{0, 2, "sa_family"}, {2, 4, "sin6_port"}, {4, 8, "sin6_flowinfo"}, {8, 24, "sin6_addr"}}},
    {AF_NETLINK, {{0, 2, "sa_family"}, {4, 8, "nl_pid"}, {8, 12, "nl_groups"}}},
    {AF_UNSPEC, {{0, 2, "sa_family"}}},
};

static const part *part_of(const part parts[MOST_PARTS], unsigned piece, uint64_t size) {
    bool is_there = piece < MOST_PARTS && parts[piece].end != 0 && parts[piece].start < size;
    return is_there ? &parts[piece] : NULL;
}

static bool is_call(const mc_given *given, const char *name, unsigned argument) {
    return given->range->argument == argument && strcmp(given->call->name, name) == 0;
}

static bool is_message(const mc_given *given) { return is_call(given, "sendmsg", 1) || is_call(given, "recvmsg", 1); }

/** Of a message, behind its two parts: the engine could read it then. */
static const struct msghdr *message_of(const mc_given *given) {
    enum { PARTS = 2 };
    return is_message(given) && given->number >= PARTS ? (const struct msghdr *)(uintptr_t)given->call->arguments[1] : NULL;
}

static bool is_at(const mc_given *given, const void *place) { return given->range->start == (uint64_t)(uintptr_t)place; }

static bool is_address(const mc_given *given) {
    const struct msghdr *message = message_of(given);
    return is_call(given, "connect", 1) || is_call(given, "bind", 1) || is_call(given, "sendto", 4) ||
           (message != NULL && is_at(given, message->msg_name));
}

static const struct address_form *address_form_of(const mc_given *given) {
    uint16_t family = given->range->size >= sizeof family ? *(const uint16_t *)(uintptr_t)given->range->start : AF_UNSPEC;
    for (size_t i = 0; i < sizeof address_forms / sizeof address_forms[0]; i++) {
        if (address_forms[i].family == family) {
            return &address_forms[i];
        }
    }
    return NULL;
}

/** unix(7): a path ends at its zero, but for one that begins with it. Other families: all of it. */
static part other_address_part(const mc_given *given, unsigned piece) {
    enum { PATH = 2 };
    uint64_t size = given->range->size;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)given->range->start;
    if (piece == 0) {
        return (part){0, size < PATH ? (uint16_t)size : PATH, "sa_family"};
    }
    bool is_path = bytes[0] == AF_UNIX && size > PATH && bytes[PATH] != 0;
    uint64_t end = is_path ? PATH + strnlen((const char *)bytes + PATH, size - PATH) : size;
    return (part){PATH, (uint16_t)(end < UINT16_MAX ? end : UINT16_MAX), bytes[0] == AF_UNIX ? "sun_path" : "sa_data"};
}

static part address_part(const mc_given *given, unsigned piece) {
    const struct address_form *form = address_form_of(given);
    const part *known = form != NULL ? part_of(form->parts, piece, given->range->size) : NULL;
    return known != NULL ? *known : form == NULL && piece < 2 ? other_address_part(given, piece) : (part){0};
}

static const struct partial *partial_of(const mc_given *given) {
    for (size_t i = 0; i < sizeof partials / sizeof partials[0]; i++) {
        if (is_call(given, partials[i].call, partials[i].argument)) {
            return &partials[i];
        }
    }
    return NULL;
}

/** netdevice(7): of requests about network interfaces the interface's name counts; what else hangs on the request. */
static bool is_interface_request(const mc_given *given) { return is_call(given, "ioctl", 2) && (given->call->arguments[1] & 0xff00) == 0x8900; }

static uint64_t name_length(const mc_given *given) {
    uint64_t most = given->range->size < IFNAMSIZ ? given->range->size : IFNAMSIZ;
    uint64_t length = strnlen((const char *)(uintptr_t)given->range->start, most);
    return length < most ? length + 1 : most;
}

/** cmsg(3): each part of control data is followed by padding, the last one's too. */
static bool control_part(const mc_given *given, unsigned piece, uint64_t *start, uint64_t *end) {
    uint64_t at = 0, size = given->range->size;
    for (unsigned i = 0; at + sizeof(struct cmsghdr) <= size; i++) {
        const struct cmsghdr *header = (const struct cmsghdr *)(uintptr_t)(given->range->start + at);
        uint64_t length = header->cmsg_len < sizeof *header || header->cmsg_len > size - at ? size - at : header->cmsg_len;
        if (i == piece) {
            *start = at;
            *end = at + length;
            return true;
        }
        at += CMSG_ALIGN(length);
    }
    return false;
}

bool mc_given_part(const mc_given *given, unsigned piece, uint64_t *start, uint64_t *end) {
    const struct partial *form = partial_of(given);
    const struct msghdr *message = message_of(given);
    uint64_t size = given->range->size;
    if (message != NULL && is_at(given, message->msg_control)) {
        return control_part(given, piece, start, end);
    }
    if (form != NULL || is_address(given)) {
        const part *known = form != NULL ? part_of(form->parts, piece, size) : NULL;
        part of = form == NULL ? address_part(given, piece) : known != NULL ? *known : (part){0};
        *start = of.start;
        *end = of.end < size ? of.end : size;
        return of.end != 0 && *start < *end;
    }
    *start = 0;
    *end = is_interface_request(given) ? name_length(given) : size;
    return piece == 0 && *end != 0;
}

/* -------------------------------------------------------------------------------------------------------- names */

#define REQUEST(name) {name, #name}
static const struct {
    uint64_t request;
    const char *name;
} requests[] = {
    REQUEST(TCSETS), REQUEST(TCSETSW), REQUEST(TCSETSF), REQUEST(TCSETA), REQUEST(TCSETAW), REQUEST(TCSETAF), REQUEST(TIOCSPGRP),
    REQUEST(TIOCSTI), REQUEST(TIOCSWINSZ), REQUEST(TIOCMBIS), REQUEST(TIOCMBIC), REQUEST(TIOCMSET), REQUEST(TIOCPKT), REQUEST(TIOCSETD),
    REQUEST(TIOCSPTLCK), REQUEST(FIONBIO), REQUEST(FIOASYNC), REQUEST(SIOCGIFINDEX), REQUEST(SIOCGIFFLAGS), REQUEST(SIOCSIFFLAGS),
    REQUEST(SIOCGIFADDR), REQUEST(SIOCSIFADDR), REQUEST(SIOCGIFNETMASK), REQUEST(SIOCSIFNETMASK), REQUEST(SIOCGIFHWADDR),
    REQUEST(SIOCGIFMTU), REQUEST(SIOCSIFMTU), REQUEST(SIOCGIFNAME), REQUEST(SIOCGIFCONF), REQUEST(SIOCGIFBRDADDR), REQUEST(SIOCGIFMETRIC),
};

static char *request_name(uint64_t request) {
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        if (requests[i].request == request) {
            return mc_text("ioctl(%s)", requests[i].name);
        }
    }
    return mc_text("ioctl(generic)");
}

static char *message_part_name(const mc_given *given, const struct msghdr *message) {
    const char *call = given->call->name;
    if (is_at(given, message->msg_control)) {
        return mc_text("%s(msg.msg_control)", call);
    }
    if (is_at(given, message->msg_iov)) {
        return mc_text("%s(msg.msg_iov)", call);
    }
    size_t i = 0;
    while (i + 1 < message->msg_iovlen && !is_at(given, message->msg_iov[i].iov_base)) {
        i++;
    }
    return mc_text("%s(msg.msg_iov[%zu])", call, i);
}

static bool is_vector(const mc_given *given) {
    return is_call(given, "writev", 1) || is_call(given, "pwritev", 1) || is_call(given, "readv", 1) || is_call(given, "preadv", 1) ||
           is_call(given, "pwritev2", 1) || is_call(given, "preadv2", 1) || is_call(given, "vmsplice", 1);
}

static bool has_texts(const mc_given *given) { return strncmp(given->call->name, "execve", 6) == 0; }

char *mc_given_name(const mc_given *given, unsigned piece) {
    const struct partial *form = partial_of(given);
    const struct msghdr *message = message_of(given);
    unsigned argument = given->range->argument;
    const part *known = form != NULL ? part_of(form->parts, piece, given->range->size) : NULL;
    if (known != NULL && known->name != NULL) {
        return mc_text("%s(%s)", given->call->name, known->name);
    }
    if (message != NULL && !is_at(given, message->msg_name)) {
        return message_part_name(given, message);
    }
    if (is_call(given, "ioctl", 2)) {
        return request_name(given->call->arguments[1]);
    }
    char *begins = message != NULL ? mc_text("%s(msg.msg_name", given->call->name) : memory_name(given->call->name, argument);
    part member = is_address(given) && piece < MOST_PARTS ? address_part(given, piece) : (part){0};
    const char *rest = given->number != 0 && is_vector(given) ? "[...]" : given->number != 0 && has_texts(given) ? "[i]" : "";
    char *name = member.name != NULL ? mc_text("%s.%s)", begins, member.name) : mc_text("%s%s)", begins, rest);
    free(begins);
    return name;
}
