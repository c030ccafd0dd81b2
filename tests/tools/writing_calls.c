/**
 * @fileoverview Makes system calls that write to memory, every kind that does no harm, for the tool check_writes.
 *
 * Usage: writing_calls SEED FOLDER. All that the calls write lies in one arena, at places and with sizes chosen at random;
 * each case runs twice, the arena filled with other bytes. What a case needs besides is made outside of the arena.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { ARENA_SIZE = 1 << 16, TELL_ARENA = 0x5a5, TELL_CASE, TELL_END };

static uint8_t *arena;
static size_t used;
static uint64_t state;
static const char *folder;
static char file_path[4096], link_path[4096], other_path[4096];
static int file, other_file, pair[2], pipe_ends[2], terminal;

static uint64_t draw(uint64_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

/** Room in the arena, aligned to 8, apart from what was handed out before. */
static void *room(size_t size) {
    used = (used + 8 * (1 + draw(9)) + 7) & ~(size_t)7;
    void *place = arena + used;
    used += size;
    if (used > ARENA_SIZE - 128) abort();
    return place;
}

/** A copy of something in the arena: what a call reads. */
static void *put(const void *what, size_t size) { return memcpy(room(size), what, size); }

#define PUT(...) put(&(__VA_ARGS__), sizeof(__VA_ARGS__))
#define NEW(type) ((type *)room(sizeof(type)))
#define CALL(...) syscall(__VA_ARGS__)

/* ------------------------------------------------------------------------- the cases */

static long c_read(void) { return CALL(SYS_read, file, room(500), draw(500)); }
static long c_read_end(void) {
    lseek(file, -5, SEEK_END);
    return CALL(SYS_read, file, room(100), 100);
}
static long c_read_fails(void) { return CALL(SYS_read, -1, room(100), 100); }
static long c_pread(void) { return CALL(SYS_pread64, file, room(300), 300, 1000 - draw(300)); }
static struct iovec *vector(unsigned count, unsigned each) {
    struct iovec *pieces = room(count * sizeof *pieces);
    for (unsigned i = 0; i < count; i++) {
        size_t size = draw(each);
        pieces[i] = (struct iovec){room(size), size};
    }
    return pieces;
}
static long c_readv(void) {
    lseek(file, draw(900), SEEK_SET);
    return CALL(SYS_readv, file, vector(6, 60), 6);
}
static long c_preadv(void) { return CALL(SYS_preadv, file, vector(40, 30), 40, 600, 0); }
static long c_preadv2(void) { return CALL(SYS_preadv2, file, vector(3, 100), 3, 900, 0, 0); }
static long c_process_vm_readv(void) {
    static char source[200] = "source";
    struct iovec remote = {source, sizeof source};
    return CALL(SYS_process_vm_readv, getpid(), vector(5, 80), 5, PUT(remote), 1, 0);
}
static long c_stat(void) { return CALL(SYS_stat, file_path, room(144)); }
static long c_lstat(void) { return CALL(SYS_lstat, link_path, room(144)); }
static long c_fstat(void) { return CALL(SYS_fstat, file, room(144)); }
static long c_newfstatat(void) { return CALL(SYS_newfstatat, AT_FDCWD, file_path, room(144), 0); }
static long c_stat_fails(void) { return CALL(SYS_stat, "/nowhere/at/all", room(144)); }
static long c_statx(void) { return CALL(SYS_statx, AT_FDCWD, file_path, 0, 0xfff, room(256)); }
static long c_statfs(void) { return CALL(SYS_statfs, "/", room(120)); }
static long c_fstatfs(void) { return CALL(SYS_fstatfs, file, room(120)); }
static long c_ustat(void) {
    struct stat status;
    fstat(file, &status);
    return CALL(SYS_ustat, status.st_dev, room(32));
}
static struct pollfd *polled(unsigned count) {
    struct pollfd *list = room(count * sizeof *list);
    for (unsigned i = 0; i < count; i++) list[i] = (struct pollfd){.fd = i % 2 ? file : pipe_ends[0], .events = POLLIN, .revents = 0x7777};
    return list;
}
static long c_poll(void) { return CALL(SYS_poll, polled(20), 20, 1); }
static long c_ppoll(void) {
    struct timespec time = {0, 1000};
    return CALL(SYS_ppoll, polled(3), 3, PUT(time), 0, 8);
}
static long c_poll_interrupted(void) {
    struct itimerval soon = {.it_value = {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    struct pollfd *list = NEW(struct pollfd);
    *list = (struct pollfd){.fd = pipe_ends[0], .events = POLLIN, .revents = 0x7777};
    return CALL(SYS_poll, list, 1, 5000);
}
static long c_select(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(file, &set);
    struct timeval time = {0, 1000};
    return CALL(SYS_select, file + 1, PUT(set), 0, PUT(set), PUT(time));
}
static long c_select_interrupted(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe_ends[0], &set);
    struct timeval time = {3, 0};
    struct itimerval soon = {.it_value = {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    return CALL(SYS_select, pipe_ends[0] + 1, PUT(set), 0, 0, PUT(time));
}
static long c_pselect6(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(file, &set);
    struct timespec time = {0, 1000};
    uint64_t mask = 0, *words = room(16);
    words[0] = (uint64_t)PUT(mask);
    words[1] = 8;
    return CALL(SYS_pselect6, file + 1, PUT(set), 0, 0, PUT(time), words);
}
static long c_pipe(void) {
    int *ends = room(2 * sizeof *ends);
    long result = CALL(SYS_pipe, ends);
    close(ends[0]);
    close(ends[1]);
    return result;
}
static long c_pipe2(void) {
    int *ends = room(2 * sizeof *ends);
    long result = CALL(SYS_pipe2, ends, O_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
    return result;
}
static long c_rt_sigaction(void) { return CALL(SYS_rt_sigaction, SIGUSR2, 0, room(32), 8); }
static long c_rt_sigprocmask(void) { return CALL(SYS_rt_sigprocmask, SIG_BLOCK, 0, room(8), 8); }
static long c_rt_sigpending(void) { return CALL(SYS_rt_sigpending, room(8), 8); }
static long c_rt_sigtimedwait(void) {
    uint64_t mask = UINT64_C(1) << (SIGUSR2 - 1);
    struct timespec time = {1, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR2);
    return CALL(SYS_rt_sigtimedwait, PUT(mask), room(128), PUT(time), 8);
}
static long c_rt_sigtimedwait_none(void) {
    uint64_t mask = UINT64_C(1) << (SIGUSR2 - 1);
    struct timespec time = {0, 1000};
    return CALL(SYS_rt_sigtimedwait, PUT(mask), room(128), PUT(time), 8);
}
static long c_sigaltstack(void) { return CALL(SYS_sigaltstack, 0, room(24)); }
static long c_fionread(void) { return CALL(SYS_ioctl, file, FIONREAD, NEW(int)); }
static long c_tcgets(void) { return CALL(SYS_ioctl, terminal, TCGETS, room(60)); }
static long c_tcgets2(void) { return CALL(SYS_ioctl, terminal, 0x802c542a /* TCGETS2 */, room(44)); }
static long c_tcgeta(void) { return CALL(SYS_ioctl, terminal, TCGETA, room(18)); }
static long c_tiocgwinsz(void) { return CALL(SYS_ioctl, terminal, TIOCGWINSZ, room(8)); }
static long c_tiocoutq(void) { return CALL(SYS_ioctl, terminal, TIOCOUTQ, NEW(int)); }
static long c_tiocgetd(void) { return CALL(SYS_ioctl, terminal, TIOCGETD, NEW(int)); }
static long c_tiocgptn(void) { return CALL(SYS_ioctl, terminal, TIOCGPTN, NEW(int)); }
static long c_tiocgpgrp_fails(void) { return CALL(SYS_ioctl, file, TIOCGPGRP, NEW(int)); }
static long c_siocgifconf(void) {
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifconf *wanted = NEW(struct ifconf);
    *wanted = (struct ifconf){.ifc_len = 400};
    wanted->ifc_buf = room(400);
    long result = CALL(SYS_ioctl, descriptor, SIOCGIFCONF, wanted);
    close(descriptor);
    return result;
}
static long c_siocgifindex(void) {
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq *wanted = NEW(struct ifreq);
    strcpy(wanted->ifr_name, "lo");
    long result = CALL(SYS_ioctl, descriptor, SIOCGIFINDEX, wanted);
    close(descriptor);
    return result;
}
static long c_fs_ioc_getflags(void) { return CALL(SYS_ioctl, file, FS_IOC_GETFLAGS, room(8)); }
static long c_figetbsz(void) { return CALL(SYS_ioctl, file, FIGETBSZ, room(8)); }
static long c_fiemap(void) {
    struct fiemap *map = room(sizeof *map + 4 * sizeof(struct fiemap_extent));
    memset(map, 0, sizeof *map);
    map->fm_length = 1 << 20;
    map->fm_extent_count = 4;
    return CALL(SYS_ioctl, file, FS_IOC_FIEMAP, map);
}
static long c_getcwd(void) { return CALL(SYS_getcwd, room(2000), 2000); }
static long c_readlink(void) { return CALL(SYS_readlink, link_path, room(300), draw(300) + 1); }
static long c_readlinkat(void) { return CALL(SYS_readlinkat, AT_FDCWD, link_path, room(30), 30); }
static long c_uname(void) { return CALL(SYS_uname, room(390)); }
static long c_getitimer(void) { return CALL(SYS_getitimer, ITIMER_REAL, room(32)); }
static long c_setitimer(void) {
    struct itimerval none = {0};
    return CALL(SYS_setitimer, ITIMER_VIRTUAL, PUT(none), room(32));
}
static long c_nanosleep(void) {
    struct timespec time = {0, 1000};
    return CALL(SYS_nanosleep, PUT(time), room(16));
}
static long c_nanosleep_interrupted(void) {
    struct timespec time = {5, 0};
    struct itimerval soon = {.it_value = {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    return CALL(SYS_nanosleep, PUT(time), room(16));
}
static long c_clock_nanosleep_interrupted(void) {
    struct timespec time = {5, 0};
    struct itimerval soon = {.it_value = {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    return CALL(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, PUT(time), room(16));
}
static long c_clock_nanosleep_until(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += 5;
    struct itimerval soon = {.it_value = {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    return CALL(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, PUT(time), room(16));
}
static long c_sendfile(void) {
    long offset = (long)draw(100);
    return CALL(SYS_sendfile, other_file, file, PUT(offset), 100);
}
static long c_copy_file_range(void) {
    long from = 0, to = 0;
    return CALL(SYS_copy_file_range, file, PUT(from), other_file, PUT(to), 50, 0);
}
static long c_splice(void) {
    long offset = 3;
    int ends[2];
    if (pipe(ends)) return -1;
    long result = CALL(SYS_splice, file, PUT(offset), ends[1], 0, 10, 0);
    close(ends[0]);
    close(ends[1]);
    return result;
}
static long c_vmsplice(void) {
    int ends[2];
    if (pipe(ends)) return -1;
    if (write(ends[1], "some bytes", 10) != 10) return -1;
    long result = CALL(SYS_vmsplice, ends[0], vector(4, 9), 4, 0);
    close(ends[0]);
    close(ends[1]);
    return result;
}
static int listener(struct sockaddr_un *name) {
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t size = sizeof *name;
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (bind(descriptor, (void *)name, sizeof(sa_family_t)) || listen(descriptor, 5) ||
        getsockname(descriptor, (void *)name, &size))
        return -1;
    return descriptor;
}
static long accepted(long number) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int listens = socket(AF_INET, SOCK_STREAM, 0), connects = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listens, (void *)&name, sizeof name) || listen(listens, 3) || getsockname(listens, (void *)&name, &size) ||
        connect(connects, (void *)&name, sizeof name))
        return -1;
    uint32_t length = 8 + (uint32_t)draw(30);
    void *address = room(length);
    long result = CALL(number, listens, address, PUT(length), 0);
    close((int)result);
    close(listens);
    close(connects);
    return result;
}
static long c_accept(void) { return accepted(SYS_accept); }
static long c_accept4(void) { return accepted(SYS_accept4); }
static long c_getsockname(void) {
    struct sockaddr_un name;
    int descriptor = listener(&name);
    uint32_t length = 4 + (uint32_t)draw(60);
    void *address = room(length);
    long result = CALL(SYS_getsockname, descriptor, address, PUT(length));
    close(descriptor);
    return result;
}
static long c_getpeername(void) {
    uint32_t length = 40;
    void *address = room(length);
    return CALL(SYS_getpeername, pair[0], address, PUT(length));
}
static long c_socketpair(void) {
    int *ends = room(2 * sizeof *ends);
    long result = CALL(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends);
    close(ends[0]);
    close(ends[1]);
    return result;
}
static long c_getsockopt(void) {
    uint32_t length = 1 + (uint32_t)draw(12);
    void *value = room(length);
    return CALL(SYS_getsockopt, pair[0], SOL_SOCKET, SO_SNDBUF, value, PUT(length));
}
static long c_getsockopt_peercred(void) {
    uint32_t length = 12;
    void *value = room(length);
    return CALL(SYS_getsockopt, pair[0], SOL_SOCKET, SO_PEERCRED, value, PUT(length));
}
static long c_recvfrom(void) {
    if (send(pair[0], "a message of some bytes", 23, 0) != 23) return -1;
    uint32_t length = 100;
    void *address = room(length);
    return CALL(SYS_recvfrom, pair[1], room(60), draw(60) + 1, 0, address, PUT(length));
}
static struct msghdr *message(unsigned count, unsigned each, struct msghdr *header) {
    *header = (struct msghdr){.msg_namelen = 50, .msg_iov = vector(count, each), .msg_iovlen = count, .msg_controllen = 100};
    header->msg_name = room(50);
    header->msg_control = room(100);
    memset(&header->msg_flags, arena[0], sizeof header->msg_flags); /* the first byte is never handed out */
    return header;
}
static void send_with_descriptor(int to, const char *text) {
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec piece = {(void *)text, strlen(text)};
    struct msghdr header = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *part = CMSG_FIRSTHDR(&header);
    *part = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(part), &file, sizeof file);
    if (sendmsg(to, &header, 0) < 0) perror("sendmsg");
}
static void close_received(struct msghdr *header) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        int received;
        memcpy(&received, CMSG_DATA(part), sizeof received);
        close(received);
    }
}
static long c_recvmsg(void) {
    send_with_descriptor(pair[0], "a message with a descriptor in it");
    struct msghdr *header = message(5, 20, NEW(struct msghdr));
    long result = CALL(SYS_recvmsg, pair[1], header, MSG_TRUNC);
    if (result >= 0) close_received(header);
    return result;
}
static long c_recvmsg_nothing(void) { return CALL(SYS_recvmsg, pair[1], message(2, 20, NEW(struct msghdr)), MSG_DONTWAIT); }
static long c_recvmmsg(void) {
    for (int i = 0; i < 3; i++)
        if (send(pair[0], "one of three messages", 9 + 6 * i, 0) < 0) return -1;
    struct mmsghdr *list = room(5 * sizeof *list);
    struct timespec time = {1, 0};
    for (int i = 0; i < 5; i++) message(3, 12, &list[i].msg_hdr);
    return CALL(SYS_recvmmsg, pair[1], list, 5, MSG_DONTWAIT, PUT(time));
}
static long c_sendmmsg(void) {
    struct mmsghdr *list = room(2 * sizeof *list);
    for (int i = 0; i < 2; i++)
        list[i].msg_hdr = (struct msghdr){.msg_iov = vector(2, 40), .msg_iovlen = 2};
    long result = CALL(SYS_sendmmsg, pair[0], list, 2, 0);
    char text[200];
    while (recv(pair[1], text, sizeof text, MSG_DONTWAIT) >= 0) {}
    return result;
}
static long c_wait4(void) {
    pid_t child = fork();
    if (!child) _exit(3);
    return CALL(SYS_wait4, child, NEW(int), 0, room(144));
}
static long c_wait4_none(void) {
    pid_t child = fork();
    if (!child) {
        pause();
        _exit(0);
    }
    long result = CALL(SYS_wait4, child, NEW(int), WNOHANG, room(144));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return result;
}
static long c_waitid(void) {
    pid_t child = fork();
    if (!child) _exit(3);
    return CALL(SYS_waitid, P_PID, child, room(128), WEXITED, room(144));
}
static long c_clone(void) {
    int *parent = NEW(int), *own = NEW(int);
    long child = CALL(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD, 0, parent, own, 0);
    if (!child) _exit(0);
    waitpid((pid_t)child, NULL, 0);
    return child;
}
static long c_clone3(void) {
    struct clone_args given = {.flags = CLONE_PIDFD | CLONE_PARENT_SETTID, .exit_signal = SIGCHLD};
    int *descriptor = NEW(int);
    given.pidfd = (uint64_t)descriptor;
    given.parent_tid = (uint64_t)NEW(int);
    long child = CALL(SYS_clone3, PUT(given), sizeof given);
    if (!child) _exit(0);
    waitpid((pid_t)child, NULL, 0);
    close(*descriptor);
    return child;
}
static long c_shmctl(void) {
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    long result = CALL(SYS_shmctl, segment, IPC_STAT, room(112));
    shmctl(segment, IPC_RMID, NULL);
    return result;
}
static long c_shmctl_info(void) { return CALL(SYS_shmctl, 0, IPC_INFO, room(72)) + CALL(SYS_shmctl, 0, SHM_INFO, room(48)); }
static long c_semctl(void) {
    int set = semget(IPC_PRIVATE, 7, 0600);
    long result = CALL(SYS_semctl, set, 0, IPC_STAT, room(104));
    result += CALL(SYS_semctl, set, 0, GETALL, room(14));
    result += CALL(SYS_semctl, set, 0, IPC_INFO, room(40));
    semctl(set, 0, IPC_RMID);
    return result;
}
static long c_msg(void) {
    int queue = msgget(IPC_PRIVATE, 0600);
    struct {
        long type;
        char text[20];
    } sent = {1, "a message"};
    if (msgsnd(queue, &sent, 10, 0)) return -1;
    long result = CALL(SYS_msgrcv, queue, room(80), 72, 0, 0);
    CALL(SYS_msgctl, queue, IPC_STAT, room(120));
    msgctl(queue, IPC_RMID, NULL);
    return result;
}
static long c_fcntl_getlk(void) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
    return CALL(SYS_fcntl, file, F_GETLK, PUT(lock));
}
static long c_fcntl_getown_ex(void) { return CALL(SYS_fcntl, pair[0], F_GETOWN_EX, room(8)); }
static long c_getdents(void) {
    int descriptor = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    long result = CALL(SYS_getdents, descriptor, room(1000), 1000);
    close(descriptor);
    return result;
}
static long c_getdents64(void) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    long result = CALL(SYS_getdents64, descriptor, room(400), 400);
    close(descriptor);
    return result;
}
static long c_gettimeofday(void) { return CALL(SYS_gettimeofday, room(16), room(8)); }
static long c_time(void) { return CALL(SYS_time, room(8)); }
static long c_getrlimit(void) { return CALL(SYS_getrlimit, RLIMIT_NOFILE, room(16)); }
static long c_getrlimit_memory(void) { return CALL(SYS_getrlimit, RLIMIT_AS, room(16)); }
static long c_prlimit64(void) { return CALL(SYS_prlimit64, 0, RLIMIT_CORE, 0, room(16)); }
static long c_getrusage(void) { return CALL(SYS_getrusage, RUSAGE_SELF, room(144)); }
static long c_sysinfo(void) { return CALL(SYS_sysinfo, room(112)); }
static long c_times(void) { return CALL(SYS_times, room(32)); }
static long c_getgroups(void) {
    gid_t groups[3] = {0, 1, 2};
    syscall(SYS_setgroups, 3, groups);
    return CALL(SYS_getgroups, 20, room(80));
}
static long c_getresuid(void) { return CALL(SYS_getresuid, NEW(int), NEW(int), NEW(int)); }
static long c_getresgid(void) { return CALL(SYS_getresgid, NEW(int), NEW(int), NEW(int)); }
static long c_capget(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    return CALL(SYS_capget, PUT(header), room(24));
}
static long c_capget_version(void) {
    struct __user_cap_header_struct header = {0, 0};
    return CALL(SYS_capget, PUT(header), 0) + CALL(SYS_capget, PUT(header), room(24));
}
static long c_sysfs(void) { return CALL(SYS_sysfs, 2, 0, room(256)); }
static long c_sched_getparam(void) { return CALL(SYS_sched_getparam, 0, NEW(int)); }
static long c_sched_rr_get_interval(void) { return CALL(SYS_sched_rr_get_interval, 0, room(16)); }
static long c_sched_getattr(void) { return CALL(SYS_sched_getattr, 0, room(48), 48, 0); }
static long c_sched_setattr_too_big(void) {
    uint32_t *words = room(4096);
    words[0] = 100;
    return CALL(SYS_sched_setattr, 0, words, 0);
}
static long c_sched_getaffinity(void) { return CALL(SYS_sched_getaffinity, 0, 1024, room(1024)); }
static long c_mincore(void) { return CALL(SYS_mincore, (uintptr_t)arena & ~4095ul, ARENA_SIZE, room(ARENA_SIZE / 4096)); }
static long c_prctl(void) {
    return CALL(SYS_prctl, PR_GET_NAME, room(16)) + CALL(SYS_prctl, PR_GET_PDEATHSIG, NEW(int)) +
           CALL(SYS_prctl, PR_GET_TSC, NEW(int)) + CALL(SYS_prctl, PR_GET_CHILD_SUBREAPER, NEW(int));
}
static long c_prctl_auxv(void) { return CALL(SYS_prctl, 0x41555856 /* PR_GET_AUXV */, room(600), 600, 0, 0); }
static long c_arch_prctl(void) { return CALL(SYS_arch_prctl, ARCH_GET_FS, room(8)) + CALL(SYS_arch_prctl, ARCH_GET_GS, room(8)); }
static long c_adjtimex(void) {
    struct timex request = {0};
    return CALL(SYS_adjtimex, PUT(request)) + CALL(SYS_clock_adjtime, CLOCK_REALTIME, PUT(request));
}
static long c_xattr(void) {
    if (setxattr(file_path, "user.sonde", "a value", 7, 0)) return -1;
    return CALL(SYS_getxattr, file_path, "user.sonde", room(40), 40) + CALL(SYS_fgetxattr, file, "user.sonde", room(40), 40) +
           CALL(SYS_listxattr, file_path, room(100), 100) + CALL(SYS_flistxattr, file, room(100), 100);
}
static long c_xattr_size(void) { return CALL(SYS_getxattr, file_path, "user.sonde", room(40), 0); }
static long c_futex_wake_op(void) {
    int *first = NEW(int), *second = NEW(int);
    *first = 1;
    *second = 5;
    return CALL(SYS_futex, first, FUTEX_WAKE_OP, 1, 1, second, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5));
}
static long c_futex_pi(void) {
    int *word = NEW(int);
    *word = 0;
    return CALL(SYS_futex, word, FUTEX_LOCK_PI, 0, 0, 0, 0) + CALL(SYS_futex, word, FUTEX_UNLOCK_PI, 0, 0, 0, 0);
}
static long c_futex_wait(void) {
    int *word = NEW(int);
    struct timespec time = {0, 1000};
    *word = 3;
    return CALL(SYS_futex, word, FUTEX_WAIT, 3, PUT(time), 0, 0);
}
static long c_timers(void) {
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    struct itimerspec setting = {.it_value = {100, 0}};
    int *timer = NEW(int);
    if (CALL(SYS_timer_create, CLOCK_MONOTONIC, PUT(event), timer)) return -1;
    long result = CALL(SYS_timer_settime, *timer, 0, PUT(setting), room(32)) + CALL(SYS_timer_gettime, *timer, room(32));
    CALL(SYS_timer_delete, *timer);
    return result;
}
static long c_timerfd(void) {
    struct itimerspec setting = {.it_value = {0, 1000}};
    int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
    long result = CALL(SYS_timerfd_settime, descriptor, 0, PUT(setting), room(32));
    result += CALL(SYS_timerfd_gettime, descriptor, room(32)) + CALL(SYS_read, descriptor, room(8), 8);
    close(descriptor);
    return result;
}
static long c_clocks(void) {
    return CALL(SYS_clock_gettime, CLOCK_REALTIME, room(16)) + CALL(SYS_clock_getres, CLOCK_MONOTONIC, room(16));
}
static long epolled(long number) {
    struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 0x123456789abcdef0};
    struct timespec time = {1, 0};
    int waits = epoll_create1(0), counts = eventfd(3, 0), more = eventfd(1, 0);
    epoll_ctl(waits, EPOLL_CTL_ADD, counts, &wanted);
    epoll_ctl(waits, EPOLL_CTL_ADD, more, &wanted);
    long result = number == SYS_epoll_wait    ? CALL(number, waits, room(120), 10, 100)
                  : number == SYS_epoll_pwait ? CALL(number, waits, room(120), 10, 100, 0, 8)
                                              : CALL(number, waits, room(120), 10, PUT(time), 0, 8);
    close(waits);
    close(counts);
    close(more);
    return result;
}
static long c_epoll_wait(void) { return epolled(SYS_epoll_wait); }
static long c_epoll_pwait(void) { return epolled(SYS_epoll_pwait); }
static long c_epoll_pwait2(void) { return epolled(SYS_epoll_pwait2); }
static long c_get_mempolicy(void) { return CALL(SYS_get_mempolicy, NEW(int), room(128), 1025, 0, 0); }
static long c_mq(void) {
    struct mq_attr *attributes = NEW(struct mq_attr), *old = NEW(struct mq_attr);
    *attributes = (struct mq_attr){.mq_maxmsg = 4, .mq_msgsize = 64};
    long queue = CALL(SYS_mq_open, "sonde-test-queue", O_RDWR | O_CREAT, 0600, attributes);
    if (queue < 0) return queue;
    CALL(SYS_mq_timedsend, queue, "a message", 9, 3, 0);
    long result = CALL(SYS_mq_timedreceive, queue, room(64), 64, NEW(int), 0);
    CALL(SYS_mq_getsetattr, queue, 0, old);
    CALL(SYS_mq_unlink, "sonde-test-queue");
    close((int)queue);
    return result;
}
static long c_get_robust_list(void) { return CALL(SYS_get_robust_list, 0, room(8), room(8)); }
static long c_move_pages(void) {
    uint64_t page = (uint64_t)arena;
    return CALL(SYS_move_pages, 0, 1, PUT(page), 0, NEW(int), 0);
}
static long c_signalfd(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int descriptor = signalfd(-1, &set, 0);
    kill(getpid(), SIGUSR2);
    long result = CALL(SYS_read, descriptor, room(256), 256);
    close(descriptor);
    return result;
}
static long c_inotify(void) {
    int descriptor = inotify_init1(0);
    inotify_add_watch(descriptor, folder, IN_OPEN);
    close(open(file_path, O_RDONLY));
    long result = CALL(SYS_read, descriptor, room(500), 500);
    close(descriptor);
    return result;
}
static long c_getcpu(void) { return CALL(SYS_getcpu, NEW(int), NEW(int), 0); }
static long c_getrandom(void) { return CALL(SYS_getrandom, room(100), draw(100), 0); }
static long c_aio(void) {
    uint64_t *context = room(8);
    *context = 0;
    if (CALL(SYS_io_setup, 4, context)) return -1;
    struct iocb requests[2] = {{.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (uint32_t)file, .aio_buf = (uint64_t)room(64), .aio_nbytes = 64},
                               {.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (uint32_t)file, .aio_buf = (uint64_t)room(90), .aio_nbytes = 90, .aio_offset = 950}};
    uint64_t *list = room(16);
    for (int i = 0; i < 2; i++) list[i] = (uint64_t)PUT(requests[i]);
    long result = CALL(SYS_io_submit, *context, 2, list);
    result += CALL(SYS_io_getevents, *context, 2, 4, room(128), 0);
    CALL(SYS_io_destroy, *context);
    return result;
}
static long c_io_uring_setup(void) {
    struct io_uring_params *parameters = NEW(struct io_uring_params);
    memset(parameters, 0, sizeof *parameters);
    long result = CALL(SYS_io_uring_setup, 4, parameters);
    if (result >= 0) close((int)result);
    return result;
}
static long c_name_to_handle_at(void) {
    uint32_t *handle = room(8 + 128);
    handle[0] = 128;
    return CALL(SYS_name_to_handle_at, AT_FDCWD, file_path, handle, NEW(int), 0);
}
static long c_name_to_handle_at_small(void) {
    uint32_t *handle = room(8 + 128);
    handle[0] = 0;
    return CALL(SYS_name_to_handle_at, AT_FDCWD, file_path, handle, NEW(int), 0);
}
static long c_notification_sizes(void) { return CALL(SYS_seccomp, 3 /* SECCOMP_GET_NOTIF_SIZES */, 0, room(6)); }
static long c_cachestat(void) {
    uint64_t range[2] = {0, 4096};
    return CALL(451, file, PUT(range), room(40), 0);
}
static long c_lsm_list_modules(void) {
    uint32_t length = 200;
    void *list = room(length);
    return CALL(461, list, PUT(length), 0);
}
static long c_listmount(void) {
    uint64_t request[3] = {24, UINT64_MAX, 0};
    return CALL(458, PUT(request), room(80), 10, 0);
}
static long c_statmount(void) {
    uint64_t identity[32];
    if (syscall(SYS_statx, AT_FDCWD, "/", 0, 0x4000 /* STATX_MNT_ID_UNIQUE */, identity)) return -1;
    uint64_t request[3] = {24, identity[18], 0x3f};
    return CALL(457, PUT(request), room(4000), 4000, 0);
}
static long c_file_getattr(void) { return CALL(468, AT_FDCWD, file_path, room(24), 24, 0); }
static long c_modify_ldt(void) { return CALL(SYS_modify_ldt, 0, room(64), 64); }
static long c_perf_event_open(void) {
    uint32_t *words = room(4096);
    memset(words, 0, 4096);
    words[1] = 200;
    words[40] = 1;
    return CALL(SYS_perf_event_open, words, 0, -1, -1, 0);
}

#define C(name) {#name, c_##name}
static const struct {
    const char *name;
    long (*run)(void);
} cases[] = {
    C(read), C(read_end), C(read_fails), C(pread), C(readv), C(preadv), C(preadv2), C(process_vm_readv), C(stat), C(lstat),
    C(fstat), C(newfstatat), C(stat_fails), C(statx), C(statfs), C(fstatfs), C(ustat), C(poll), C(ppoll),
    C(poll_interrupted), C(select), C(select_interrupted), C(pselect6), C(pipe), C(pipe2), C(rt_sigaction),
    C(rt_sigprocmask), C(rt_sigpending), C(rt_sigtimedwait), C(rt_sigtimedwait_none), C(sigaltstack), C(fionread), C(tcgets),
    C(tcgets2), C(tcgeta), C(tiocgwinsz), C(tiocoutq), C(tiocgetd), C(tiocgptn), C(tiocgpgrp_fails), C(siocgifconf),
    C(siocgifindex), C(fs_ioc_getflags), C(figetbsz), C(fiemap), C(getcwd), C(readlink), C(readlinkat), C(uname),
    C(getitimer), C(setitimer), C(nanosleep), C(nanosleep_interrupted), C(clock_nanosleep_interrupted),
    C(clock_nanosleep_until), C(sendfile), C(copy_file_range), C(splice), C(vmsplice), C(accept), C(accept4), C(getsockname),
    C(getpeername), C(socketpair), C(getsockopt), C(getsockopt_peercred), C(recvfrom), C(recvmsg), C(recvmsg_nothing),
    C(recvmmsg), C(sendmmsg), C(wait4), C(wait4_none), C(waitid), C(clone), C(clone3), C(shmctl), C(shmctl_info), C(semctl),
    C(msg), C(fcntl_getlk), C(fcntl_getown_ex), C(getdents), C(getdents64), C(gettimeofday), C(time), C(getrlimit),
    C(getrlimit_memory), C(prlimit64), C(getrusage), C(sysinfo), C(times), C(getgroups), C(getresuid), C(getresgid),
    C(capget), C(capget_version), C(sysfs), C(sched_getparam), C(sched_rr_get_interval), C(sched_getattr),
    C(sched_setattr_too_big), C(sched_getaffinity), C(mincore), C(prctl), C(prctl_auxv), C(arch_prctl), C(adjtimex),
    C(xattr), C(xattr_size), C(futex_wake_op), C(futex_pi), C(futex_wait), C(timers), C(timerfd), C(clocks), C(epoll_wait),
    C(epoll_pwait), C(epoll_pwait2), C(get_mempolicy), C(mq), C(get_robust_list), C(move_pages), C(signalfd), C(inotify),
    C(getcpu), C(getrandom), C(aio), C(io_uring_setup), C(name_to_handle_at), C(name_to_handle_at_small),
    C(notification_sizes), C(cachestat), C(lsm_list_modules), C(listmount), C(statmount), C(file_getattr), C(modify_ldt),
    C(perf_event_open),
};

static void on_alarm(int number) { (void)number; }

static void prepare(void) {
    char text[1000];
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    for (unsigned i = 0; i < sizeof text; i++) text[i] = (char)('!' + i % 90);
    snprintf(file_path, sizeof file_path, "%s/file", folder);
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    file = open(file_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    other_file = open(other_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    if (file < 0 || other_file < 0 || write(file, text, sizeof text) != sizeof text || symlink("a/file/at/the/end", link_path) ||
        socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || pipe(pipe_ends))
        exit(2);
    lseek(file, 0, SEEK_SET);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    folder = words[2];
    prepare();
    arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    syscall(TELL_ARENA, arena, (long)ARENA_SIZE);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        long results[2];
        int errors[2];
        syscall(TELL_CASE, cases[i].name);
        for (int round = 0; round < 2; round++) {
            state = (uint64_t)atol(words[1]) * 1000 + i; /* both rounds alike */
            used = 0;
            memset(arena, round ? 0x5a : 0xa5, ARENA_SIZE);
            errno = 0;
            lseek(file, 0, SEEK_SET);
            results[round] = cases[i].run();
            errors[round] = results[round] < 0 ? errno : 0;
        }
        syscall(TELL_END);
        printf("%s %ld %d %ld %d\n", cases[i].name, results[0], errors[0], results[1], errors[1]);
    }
    return 0;
}
