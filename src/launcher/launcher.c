/**
 * @fileoverview The command `sonde`: starts the engine so that nothing meant for the client is loaded into it.
 *
 * The engine is an ordinary dynamically linked program, in the client's process. LD_PRELOAD, LD_LIBRARY_PATH, LD_AUDIT,
 * GLIBC_TUNABLES and their like in the environment are for the client: this program, which is static and so immune to
 * them, puts "SONDE_CLIENT_" before their names; src/cli/environment.c takes it away again in what the client gets. A
 * name that already begins so gets one more, so that Sonde runs under Sonde.
 * Argument zero of the engine is this file's absolute path: by it the engine finds its tools and starts itself again.
 *
 * It is made without a C library, whose initialisation (it asks the processor for its caches, which is slow in a virtual
 * machine) would take longer than all that is done here.
 */
#include <errno.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/x86_64/raw_syscall.h"
#include "sonde_build.h"

enum { STATUS_ENGINE = 125 };

static const char prefix[] = "SONDE_CLIENT_";
static const char *const hidden[] = {"LD_", "GLIBC_TUNABLES=", "MALLOC_", "GCONV_PATH=", "LOCPATH=", prefix};

_Noreturn void sn_launch(uintptr_t *stack);

static size_t length_of(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

static bool begins_with(const char *text, const char *start) {
    while (*start && *text == *start)
        text++, start++;
    return !*start;
}

/** Append to a text of PATH_MAX bytes; cut if it is full. */
static void append(char *to, const char *from) {
    size_t used = length_of(to);
    while (*from && used < PATH_MAX - 1)
        to[used++] = *from++;
    to[used] = '\0';
}

static _Noreturn void fail(const char *what, const char *about) {
    static char line[PATH_MAX];
    append(line, "sonde: ");
    append(line, what);
    append(line, about);
    line[PATH_MAX - 2] = '\0'; /* room for the newline */
    append(line, "\n");
    sn_syscall(SYS_write, STDERR_FILENO, line, length_of(line));
    for (;;)
        sn_syscall(SYS_exit_group, STATUS_ENGINE);
}

static const char *reason_of(long error) {
    static const struct {
        long error;
        const char *reason;
    } reasons[] = {
        {-EACCES, "Permission denied"}, {-ENOEXEC, "Exec format error"},      {-ENOMEM, "Cannot allocate memory"},
        {-E2BIG, "Argument list too long"}, {-EPERM, "Operation not permitted"}, {-EAGAIN, "Too many processes"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].error == error)
            return reasons[i].reason;
    return "the system refuses";
}

static bool is_hidden(const char *variable) {
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (begins_with(variable, hidden[i]))
            return true;
    return false;
}

/** Replace the variables to be hidden, in the environment's own array, by renamed copies. */
static void rename_hidden(char **environment) {
    size_t size = 0;
    for (char **variable = environment; *variable; variable++)
        if (is_hidden(*variable))
            size += sizeof prefix + length_of(*variable);
    if (size == 0)
        return;
    long memory = sn_syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sn_syscall_failed(memory))
        fail("cannot start: ", reason_of(memory));
    char *to = (char *)memory;
    for (char **variable = environment; *variable; variable++) {
        if (!is_hidden(*variable))
            continue;
        const char *const parts[] = {prefix, *variable};
        *variable = to;
        for (size_t i = 0; i < 2; i++)
            for (const char *from = parts[i]; *from; from++)
                *to++ = *from;
        *to++ = '\0';
    }
}

static char own_path[PATH_MAX];

static void find_own_path(void) {
    long length = sn_syscall(SYS_readlink, "/proc/self/exe", own_path, sizeof own_path - 1);
    if (sn_syscall_failed(length))
        fail("cannot find out where this program lies: /proc is not mounted", "");
}

/** Where the engine's own variables do not fit into a limit, the kernel kills the process in the middle of the execve. */
static void check_limits(void) {
    enum { ENGINE_NEEDS = 32 << 20 };
    static const struct {
        int resource;
        const char *name;
    } limits[] = {{RLIMIT_AS, "ulimit -v"}, {RLIMIT_DATA, "ulimit -d"}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
        sn_syscall(SYS_prlimit64, 0, limits[i].resource, NULL, &limit);
        if (limit.rlim_cur < ENGINE_NEEDS)
            fail("the limit on memory leaves no room for the engine: ", limits[i].name);
    }
}

/** In the build tree the engine lies next to this file; installed, where the build said, seen from here or absolutely. */
static _Noreturn void execute_engine(char **arguments, char **environment) {
    static char folder[PATH_MAX], path[PATH_MAX];
    check_limits();
    find_own_path();
    append(folder, own_path);
    size_t slash = length_of(folder);
    while (slash && folder[slash] != '/')
        slash--;
    folder[slash] = '\0';

    const char *const places[][2] = {
        {folder, "/sonde-engine"},
        {folder, "/" SN_ENGINE_FROM_BIN "/sonde-engine"},
        {SN_ENGINE_FOLDER, "/sonde-engine"},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        path[0] = '\0';
        append(path, places[i][0]);
        append(path, places[i][1]);
        long error = sn_syscall(SYS_execve, path, arguments, environment);
        if (error != -ENOENT && error != -ENOTDIR)
            fail("cannot execute the engine: ", reason_of(error));
    }
    fail("the engine (sonde-engine) is not installed next to ", own_path);
}

void sn_launch(uintptr_t *stack) {
    size_t count = stack[0];
    char **arguments = (char **)(stack + 1), **environment = arguments + count + 1;
    char *no_arguments[] = {own_path, NULL};
    rename_hidden(environment);
    if (count == 0)
        arguments = no_arguments;
    arguments[0] = own_path;
    execute_engine(arguments, environment);
}
