/**
 * @fileoverview What system calls are given, for memcheck: "errors" gives them undefined values and memory, each line with a comment that says
 * what is reported ("value: " what the parameter itself is, "memory: " what it points to; in order); "sound" structures of which all
 * that counts is defined, and not more.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NO_FILE = 1000 };

static void *unset(size_t size) {
    void *made = malloc(size);
    __asm__ volatile("" : "+r"(made));
    return made;
}

static void values(void) {
    long *number = unset(4096);
    char *text = unset(100);
    write((int)number[0], "x", 0);                                /* value: write(fd) */
    read((int)number[0], text, number[1]);                        /* value: read(fd) value: read(count) */
    lseek((int)number[0], number[1], (int)number[2]);             /* value: lseek(fd) value: lseek(offset) value: lseek(whence) */
    mkdir(text, (mode_t)number[1]);                               /* value: mkdir(mode) memory: mkdir(pathname) */
    ioctl((int)number[5] | NO_FILE, FIONREAD, number + 9);        /* value: ioctl(fd) */
    fcntl((int)number[7], F_GETFD);                               /* value: fcntl(fd) */
    ftruncate(NO_FILE, number[4]);                                /* value: ftruncate(length) */
    dup2((int)number[1] | NO_FILE, (int)number[2] | NO_FILE);     /* value: dup2(oldfd) value: dup2(newfd) */
}

static void names(void) {
    char *text = unset(100), *arguments[] = {"a", text + 40, NULL};
    openat(AT_FDCWD, text, O_RDONLY);                             /* memory: openat(filename) */
    access(text, 0);                                              /* memory: access(pathname) */
    stat(text, unset(sizeof(struct stat)));                       /* memory: fstatat(file_name) */
    unlink(text);                                                 /* memory: unlink(pathname) */
    rename(text, "/x/y/z");                                       /* memory: rename(oldpath) */
    readlink(text, unset(30), 30);                                /* memory: readlink(path) */
    execve(text, arguments, NULL);                                /* memory: execve(filename) memory: execve(argv[i]) */
}

static void sockets(void) {
    char *data = unset(100);
    struct sockaddr_in *internet = unset(sizeof *internet);
    struct sockaddr_un *local = unset(sizeof *local);
    struct iovec *pieces = unset(2 * sizeof *pieces);
    struct msghdr *message = unset(sizeof *message);
    int end = socket(AF_INET, SOCK_DGRAM, 0);
    internet->sin_family = AF_INET;
    local->sun_family = AF_UNIX;
    connect(end, (void *)internet, sizeof *internet); /* memory: socketcall.connect(serv_addr.sin_port) memory: socketcall.connect(serv_addr.sin_addr) */
    sendto(end, data, 10, 0, (void *)internet, sizeof *internet); /* memory: socketcall.sendto(msg) memory: socketcall.sendto(to.sin_port) memory: socketcall.sendto(to.sin_addr) */
    bind(end, (void *)local, sizeof *local);                      /* memory: socketcall.bind(my_addr.sun_path) */
    setsockopt(end, SOL_SOCKET, SO_REUSEADDR, data, 4);           /* memory: socketcall.setsockopt(optval) */
    pieces[0] = (struct iovec){data, 5};
    writev(NO_FILE, pieces, 1);                                   /* memory: writev(vector[...]) */
    pieces[1].iov_base = data + 20;
    writev(NO_FILE, pieces, 2);                                   /* memory: writev(vector) memory: writev(vector[...]) */
    message->msg_name = NULL;
    message->msg_namelen = 0;
    message->msg_iov = pieces;
    message->msg_iovlen = 1;
    message->msg_control = data + 40;
    message->msg_controllen = 20;
    sendmsg(end, message, 0);                                     /* memory: sendmsg(msg.msg_iov[0]) memory: sendmsg(msg.msg_control) */
}

static void structures(void) {
    struct pollfd *polled = unset(sizeof *polled);
    struct timespec *time = unset(sizeof *time);
    struct timeval *wait = unset(sizeof *wait);
    struct sigaction *action = unset(sizeof *action);
    struct flock *lock = unset(sizeof *lock);
    polled->fd = NO_FILE;
    poll(polled, 1, 0);                                           /* memory: poll(ufds.events) */
    time->tv_sec = 0;
    clock_nanosleep(CLOCK_MONOTONIC, 0, time, NULL);              /* memory: clock_nanosleep(rqtp) */
    wait->tv_sec = 0;
    syscall(SYS_select, 0, NULL, NULL, NULL, wait);               /* memory: select(timeout) */
    setitimer(99, unset(sizeof(struct itimerval)), NULL);         /* memory: setitimer(&value->it_interval) memory: setitimer(&value->it_value) */
    action->sa_handler = SIG_IGN;
    action->sa_flags = 0;
    sigaction(SIGUSR1, action, NULL);                             /* memory: rt_sigaction(act->sa_mask) */
    syscall(SYS_rt_sigprocmask, 1, unset(sizeof(sigset_t)), NULL, 8); /* memory: rt_sigprocmask(set) */
    ioctl(NO_FILE, TIOCSWINSZ, unset(8));                         /* memory: ioctl(TIOCSWINSZ) */
    ioctl(NO_FILE, SIOCGIFINDEX, unset(sizeof(struct ifreq)));    /* memory: ioctl(SIOCGIFINDEX) */
    lock->l_type = F_RDLCK;
    lock->l_whence = 0;
    lock->l_start = 0;
    fcntl(NO_FILE, F_SETLK, lock);                                /* memory: fcntl(lock->l_len) */
}

static void sound(void) {
    struct sockaddr_in *internet = unset(sizeof *internet);
    struct sockaddr_un *local = unset(sizeof *local);
    struct msghdr *message = unset(sizeof *message);
    struct iovec piece = {"data", 4};
    struct pollfd *polled = unset(sizeof *polled);
    struct sigevent *event = unset(sizeof *event);
    struct epoll_event *watched = unset(sizeof *watched);
    struct flock *lock = unset(sizeof *lock);
    struct ifreq *interface = unset(sizeof *interface);
    stack_t *stack = unset(sizeof *stack);
    struct cmsghdr *control = unset(CMSG_SPACE(sizeof(int)));
    timer_t timer;
    int end = socket(AF_UNIX, SOCK_DGRAM, 0);
    internet->sin_family = AF_INET;
    internet->sin_port = htons(9);
    internet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(end, (void *)internet, sizeof *internet);
    local->sun_family = AF_UNIX;
    strcpy(local->sun_path, "/nowhere/at/all");
    connect(end, (void *)local, sizeof *local);
    message->msg_name = local;
    message->msg_namelen = sizeof *local;
    message->msg_iov = &piece;
    message->msg_iovlen = 1;
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(sizeof(int));
    control->cmsg_len = CMSG_LEN(sizeof(int));
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    *(int *)CMSG_DATA(control) = 0;
    sendmsg(end, message, 0);
    polled->fd = end;
    polled->events = POLLIN;
    poll(polled, 1, 0);
    event->sigev_notify = SIGEV_NONE;
    event->sigev_signo = SIGUSR1;
    syscall(SYS_timer_create, CLOCK_MONOTONIC, event, &timer);
    watched->events = EPOLLIN;
    watched->data.fd = end;
    epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, end, watched);
    lock->l_type = F_RDLCK;
    lock->l_whence = SEEK_SET;
    lock->l_start = lock->l_len = 0;
    fcntl(end, F_SETLK, lock);
    strcpy(interface->ifr_name, "lo");
    ioctl(end, SIOCGIFINDEX, interface);
    stack->ss_sp = malloc(SIGSTKSZ);
    stack->ss_flags = 0;
    stack->ss_size = (size_t)SIGSTKSZ;
    sigaltstack(stack, NULL);
    puts("sound");
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (!strcmp(what, "sound")) sound();
    if (strcmp(what, "errors")) return 0;
    values();
    names();
    sockets();
    structures();
    exit(*(int *)unset(4));                                       /* value: exit_group(status) */
}
