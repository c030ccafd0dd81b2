/**
 * @fileoverview Files that tools write beside their report. See tool_file.h and sonde/tool.h.
 */
#include "base/tool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/filename.h"
#include "base/log.h"
#include "base/settings.h"
#include "sonde/tool.h"

/** One open file. The descriptor may move when the client wants its number, so that stdio must not know it. */
typedef struct tool_file {
    struct tool_file *next;
    FILE *stream;
    int descriptor;
    int first_error;
    char name[PATH_MAX + 16];
} tool_file;

static tool_file *open_files; /* few, and opened and closed by one thread: the one that ends the process */
static unsigned sequence;     /* %n */
static atomic_bool failed;

const char *sn_file_template(const char *option, const char *name) {
    char expanded[PATH_MAX];
    const char *wrong = sn_filename_expand(name, 1, expanded, sizeof expanded);
    if (wrong)
        sn_fail(SN_STATUS_USAGE, "--%s: cannot write '%s': %s", option, name, wrong);
    return sn_filename_absolute(name);
}

static ssize_t write_file(void *cookie, const char *text, size_t size) {
    tool_file *file = cookie;
    for (size_t done = 0; done < size && !file->first_error;) {
        ssize_t written = write(file->descriptor, text + done, size - done);
        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno != EINTR)
            file->first_error = errno;
    }
    return file->first_error ? 0 : (ssize_t)size;
}

static int close_file(void *cookie) {
    tool_file *file = cookie;
    if (sn_descriptor_close(&file->descriptor) != 0 && !file->first_error)
        file->first_error = errno;
    return 0;
}

/** Whether something may be there that must be kept: a file, not a device such as /dev/null. */
static bool may_hold_profile(const char *name) {
    struct stat status;
    return sn_settings_current.following_exec && (stat(name, &status) != 0 || S_ISREG(status.st_mode));
}

/** Open the file of `expanded`; behind an execve, the first name that is free. */
static int open_name(tool_file *file, const char *expanded) {
    enum { MOST_NUMBERS = 10000 };
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
    snprintf(file->name, sizeof file->name, "%s", expanded);
    if (!may_hold_profile(expanded))
        return open(file->name, flags | O_TRUNC, 0666);
    int descriptor = open(file->name, flags | O_EXCL, 0666);
    for (unsigned number = 1; descriptor < 0 && errno == EEXIST && number < MOST_NUMBERS; number++) {
        snprintf(file->name, sizeof file->name, "%s.%u", expanded, number);
        descriptor = open(file->name, flags | O_EXCL, 0666);
    }
    return descriptor;
}

static FILE *give_up(tool_file *file, const char *name, const char *wrong) {
    sn_message("cannot write '%s': %s", name, wrong);
    atomic_store(&failed, true);
    free(file);
    return NULL;
}

FILE *sn_file_create(const char *template) {
    char expanded[PATH_MAX];
    const char *wrong = sn_filename_expand(template, ++sequence, expanded, sizeof expanded);
    tool_file *file = calloc(1, sizeof *file);
    if (wrong || !file)
        return give_up(file, template, wrong ? wrong : "out of memory");
    int opened = open_name(file, expanded);
    if (opened < 0 || sn_descriptor_take(&file->descriptor, opened) < 0)
        return give_up(file, expanded, strerror(errno));
    file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_file, .close = close_file});
    if (!file->stream) {
        sn_descriptor_close(&file->descriptor);
        return give_up(file, expanded, "out of memory");
    }
    file->next = open_files;
    open_files = file;
    return file->stream;
}

bool sn_file_close(FILE *stream) {
    tool_file **place = &open_files;
    while (*place && (*place)->stream != stream)
        place = &(*place)->next;
    tool_file *file = *place;
    if (!file)
        return false;
    *place = file->next;
    fclose(stream);
    bool is_written = !file->first_error;
    if (!is_written)
        give_up(NULL, file->name, strerror(file->first_error));
    free(file);
    return is_written;
}

bool sn_tool_files_failed(void) {
    return atomic_exchange(&failed, false);
}
