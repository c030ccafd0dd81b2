/**
 * @fileoverview The log: one write(2) a line. See log.h.
 */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/filename.h"
#include "base/report_file.h"
#include "base/settings.h"
#include "sonde_build.h"

enum { LINE_SIZE = 4096 }; /* as much as one write to a pipe carries in one piece */

static int error_descriptor = -1; /* standard error as it was at the start */
static int file_descriptor = -1;  /* --log-file */
static bool is_open;
static unsigned sequence; /* %n */

static int open_file(char *name, size_t size, const char **wrong) {
    int descriptor = sn_report_file_open(sn_settings_current.log_file, ++sequence, name, size, wrong);
    return descriptor < 0 ? -1 : sn_descriptor_take(&file_descriptor, descriptor);
}

void sn_log_open(void) {
    if (is_open)
        return;
    char name[PATH_MAX];
    const char *wrong;
    if (sn_settings_current.log_file && open_file(name, sizeof name, &wrong) < 0)
        sn_fail(SN_STATUS_USAGE, "--log-file: cannot write '%s': %s", name, wrong);
    sn_descriptor_take_copy(&error_descriptor, STDERR_FILENO);
    is_open = true;
}

int sn_log_descriptor(void) {
    if (!is_open)
        return STDERR_FILENO;
    return file_descriptor >= 0 ? file_descriptor : error_descriptor;
}

static void write_all(int descriptor, const char *text, size_t size) {
    int saved = errno;
    while (size) {
        ssize_t written = write(descriptor, text, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break; /* there is nobody left to tell */
        text += written;
        size -= (size_t)written;
    }
    errno = saved;
}

void sn_log_write(const char *text, size_t size) {
    write_all(sn_log_descriptor(), text, size);
}

/** "sonde: " + the message + newline, cut with "..." to what one write carries. */
static void write_line(int descriptor, const char *format, va_list arguments) {
    static const char prefix[] = "sonde: ";
    static const char cut[] = "...";
    char line[LINE_SIZE];
    size_t start = sizeof prefix - 1, room = sizeof line - start - 1;
    memcpy(line, prefix, start);
    int length = vsnprintf(line + start, room, format, arguments);
    if (length < 0)
        length = 0;
    size_t used = (size_t)length;
    if (used >= room) {
        used = room - 1;
        memcpy(line + start + used - (sizeof cut - 1), cut, sizeof cut - 1);
    }
    line[start + used] = '\n';
    write_all(descriptor, line, start + used + 1);
}

void sn_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(sn_log_descriptor(), format, arguments);
    va_end(arguments);
}

void sn_verbose(unsigned level, const char *format, ...) {
    if (sn_settings_current.verbose < level)
        return;
    va_list arguments;
    va_start(arguments, format);
    write_line(sn_log_descriptor(), format, arguments);
    va_end(arguments);
}

void sn_fail(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(is_open ? error_descriptor : STDERR_FILENO, format, arguments);
    va_end(arguments);
    _exit(status);
}

void sn_log_engine_failure(unsigned long client_address, const char *format, ...) {
    char what[1024], where[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, client_address ? "0x%lx" : "unknown", client_address);
    sn_message("internal error in version %s at client address %s: %s; please report this line and the command",
               SN_VERSION, where, what);
}

void sn_log_after_fork(void) {
    const char *template = sn_settings_current.log_file;
    if (!template || !sn_filename_is_per_process(template))
        return;
    sn_descriptor_close(&file_descriptor);
    sequence = 0;
    char name[PATH_MAX];
    const char *wrong;
    if (open_file(name, sizeof name, &wrong) < 0)
        sn_message("--log-file: cannot write '%s': %s", name, wrong);
}

int sn_verbosity(void) { return sn_settings_current.quiet ? -1 : (int)sn_settings_current.verbose; }
