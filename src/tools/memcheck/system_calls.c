/**
 * @fileoverview Memory that system calls are given. See system_calls.h.
 *
 * Which memory that is the engine knows of each call (sn_system_call.ranges). Parameters are named as in the manual pages, section 2,
 * which is how Valgrind names them; of calls that are not in the table, by their number.
 */
#include "system_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "addressability.h"

/** Names of parameters, as far as they point to memory. */
static const struct {
    const char *call;
    const char *parameters[6];
} names[] = {
    {"read", {NULL, "buf"}}, {"write", {NULL, "buf"}}, {"pread64", {NULL, "buf"}}, {"pwrite64", {NULL, "buf"}},
    {"readv", {NULL, "vector[...]"}}, {"writev", {NULL, "vector[...]"}}, {"open", {"filename"}}, {"openat", {NULL, "filename"}},
    {"creat", {"pathname"}}, {"stat", {"file_name", "buf"}}, {"lstat", {"file_name", "buf"}}, {"fstat", {NULL, "buf"}},
    {"newfstatat", {NULL, "file_name", "buf"}}, {"statx", {NULL, "file_name", NULL, NULL, "buf"}}, {"access", {"pathname"}},
    {"readlink", {"path", "buf"}}, {"readlinkat", {NULL, "path", "buf"}}, {"unlink", {"pathname"}}, {"rename", {"oldpath", "newpath"}},
    {"mkdir", {"pathname"}}, {"rmdir", {"pathname"}}, {"chdir", {"path"}}, {"getcwd", {"buf"}}, {"execve", {"filename", "argv", "envp"}},
    {"poll", {"ufds"}}, {"select", {NULL, "readfds", "writefds", "exceptfds", "timeout"}}, {"pipe", {"filedes"}}, {"pipe2", {"filedes"}},
    {"nanosleep", {"req", "rem"}}, {"clock_nanosleep", {NULL, NULL, "req", "rem"}}, {"clock_gettime", {NULL, "tp"}},
    {"gettimeofday", {"tv", "tz"}}, {"time", {"t"}}, {"uname", {"buf"}}, {"getrandom", {"buf"}}, {"ioctl", {NULL, NULL, "arg"}},
    {"sendto", {NULL, "msg", NULL, NULL, "to"}}, {"recvfrom", {NULL, "buf", NULL, NULL, "from", "fromlen"}},
    {"sendmsg", {NULL, "msg"}}, {"recvmsg", {NULL, "msg"}}, {"connect", {NULL, "serv_addr"}}, {"bind", {NULL, "my_addr"}},
    {"accept", {NULL, "addr", "addrlen"}}, {"accept4", {NULL, "addr", "addrlen"}}, {"setsockopt", {NULL, NULL, NULL, "optval"}},
    {"getsockopt", {NULL, NULL, NULL, "optval", "optlen"}}, {"rt_sigaction", {NULL, "act", "oldact"}},
    {"rt_sigprocmask", {NULL, "set", "oldset"}}, {"sigaltstack", {"ss", "oss"}}, {"wait4", {NULL, "status", NULL, "rusage"}},
    {"futex", {"futex"}}, {"epoll_ctl", {NULL, NULL, NULL, "event"}}, {"epoll_wait", {NULL, "events"}}, {"getdents64", {NULL, "dirp"}},
    {"getrlimit", {NULL, "rlim"}}, {"setrlimit", {NULL, "rlim"}}, {"prlimit64", {NULL, NULL, "new_rlim", "old_rlim"}},
    {"sched_getaffinity", {NULL, NULL, "mask"}}, {"mincore", {NULL, NULL, "vec"}}, {"times", {"buf"}}, {"getrusage", {NULL, "usage"}},
};

/** "write(buf)"; kept for ever, for what was found refers to it. */
static char *parameter_of(const sn_system_call *call, unsigned argument) {
    const char *name = call->name != NULL ? call->name : "?";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *known = strcmp(names[i].call, name) == 0 && argument < 6 ? names[i].parameters[argument] : NULL;
        if (known != NULL) {
            return mc_text("%s(%s)", name, known);
        }
    }
    return mc_text("%s(arg%u)", name, argument + 1);
}

void mc_system_call_before(sn_thread *thread, const sn_system_call *call) {
    for (size_t i = 0; i < call->range_count; i++) {
        const sn_system_range *range = &call->ranges[i];
        uint64_t where;
        if (range->start == 0 || !mc_find_unaddressable(range->start, range->size, &where)) {
            continue;
        }
        char *parameter = parameter_of(call, range->argument);
        mc_report_parameter(thread, parameter, where, false, 0);
        free(parameter);
        return; /* further parts of the same argument would say it again */
    }
}
