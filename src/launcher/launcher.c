/**
 * @fileoverview The command `sonde`: starts the engine so that nothing meant for the client is loaded into it.
 *
 * The engine is an ordinary dynamically linked program, in the client's process. LD_PRELOAD, LD_LIBRARY_PATH, LD_AUDIT,
 * GLIBC_TUNABLES and their like in the environment are for the client: this program, which is static and so immune to
 * them, puts "SONDE_CLIENT_" before their names; src/cli/environment.c takes it away again in what the client gets. A
 * name that already begins so gets one more, so that Sonde runs under Sonde.
 * Argument zero of the engine is this file's absolute path: by it the engine finds its tools and starts itself again.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "sonde_build.h"

#define PREFIX "SONDE_CLIENT_"

enum { STATUS_ENGINE = 125 };

static const char *const hidden[] = {"LD_", "GLIBC_TUNABLES=", "MALLOC_", "GCONV_PATH=", "LOCPATH=", PREFIX};

static bool is_hidden(const char *variable) {
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (strncmp(variable, hidden[i], strlen(hidden[i])) == 0)
            return true;
    return false;
}

static void fail(const char *what, const char *about) {
    const char *const parts[] = {"sonde: ", what, about, "\n"};
    char line[PATH_MAX + 256] = "";
    for (size_t i = 0, used = 0; i < 4 && used + strlen(parts[i]) < sizeof line; used += strlen(parts[i++]))
        strcpy(line + used, parts[i]);
    ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
    (void)ignored;
    _exit(STATUS_ENGINE);
}

static char *renamed(const char *variable) {
    size_t length = strlen(variable);
    char *copy = malloc(sizeof PREFIX + length);
    if (!copy)
        fail("out of memory", "");
    memcpy(copy, PREFIX, sizeof PREFIX - 1);
    memcpy(copy + sizeof PREFIX - 1, variable, length + 1);
    return copy;
}

static char **engine_environment(char **environment) {
    size_t count = 0;
    while (environment[count])
        count++;
    char **result = malloc((count + 1) * sizeof *result);
    if (!result)
        fail("out of memory", "");
    for (size_t i = 0; i < count; i++)
        result[i] = is_hidden(environment[i]) ? renamed(environment[i]) : environment[i];
    result[count] = NULL;
    return result;
}

static void find_own_path(char path[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length > 0) {
        path[length] = '\0';
        return;
    }
    const char *executed = (const char *)getauxval(AT_EXECFN);
    if (!executed || !realpath(executed, path))
        fail("cannot find out where this program lies: /proc is not mounted", "");
}

/** In the build tree the engine lies next to this file; installed, where the build said, seen from here or absolutely. */
static void execute_engine(char **arguments, char **environment) {
    static char own_path[PATH_MAX];
    static char folder[PATH_MAX];
    find_own_path(own_path);
    memcpy(folder, own_path, sizeof folder);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    arguments[0] = own_path;

    const char *const places[][2] = {
        {folder, "/sonde-engine"},
        {folder, "/" SN_ENGINE_FROM_BIN "/sonde-engine"},
        {SN_ENGINE_FOLDER, "/sonde-engine"},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s%s", places[i][0], places[i][1]);
        execve(path, arguments, environment);
        if (errno != ENOENT && errno != ENOTDIR)
            fail("cannot execute the engine: ", strerror(errno));
    }
    fail("the engine (sonde-engine) is not installed next to ", own_path);
}

int main(int count, char **arguments, char **environment) {
    char *no_arguments[] = {NULL, NULL};
    execute_engine(count > 0 ? arguments : no_arguments, engine_environment(environment));
}
