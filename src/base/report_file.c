/**
 * @fileoverview The tool's report file. See report_file.h.
 *
 * The stream that tools print to writes through functions of this file, for two reasons: its descriptor may move when
 * the client wants its number, and the first error must be known at the end with its cause.
 */
#include "base/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/filename.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/tool_file.h"

static int output_descriptor = -1; /* --output; otherwise the log is used */
static FILE *stream;
static int first_error;
static unsigned sequence; /* %n */
static bool is_record;    /* see sn_output_is_record() */
static char output_name[PATH_MAX] = "standard error";

static int open_file(const char *name, bool keeps, const char **wrong) {
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | O_NOCTTY;
    int descriptor = open(name, flags | (keeps ? 0 : O_TRUNC), 0666);
    if (descriptor < 0)
        *wrong = strerror(errno);
    return descriptor;
}

int sn_report_file_open(const char *template, unsigned number, char *name, size_t size, const char **wrong) {
    *wrong = sn_filename_expand(template, number, name, size);
    if (*wrong) {
        snprintf(name, size, "%s", template);
        return -1;
    }
    return open_file(name, sn_settings_current.following_exec, wrong);
}

static const char *open_output(void) {
    const char *wrong = NULL;
    int descriptor = sn_report_file_open(sn_settings_current.output, ++sequence, output_name, sizeof output_name, &wrong);
    if (descriptor >= 0 && sn_descriptor_take(&output_descriptor, descriptor) < 0)
        wrong = strerror(errno);
    return wrong;
}

void sn_output_open(void) {
    const char *wrong = sn_settings_current.output ? open_output() : NULL;
    if (wrong)
        sn_fail(SN_STATUS_USAGE, "--output: cannot write '%s': %s", output_name, wrong);
}

void sn_output_is_record(const char *default_name) {
    is_record = true;
    if (!sn_settings_current.output && default_name) {
        sn_settings_current.output = sn_filename_absolute(default_name);
        sn_output_open();
    }
}

/** What was opened for a report is none, and no file that must be kept. */
const char *sn_output_template(const char *default_name) {
    const char *name = sn_settings_current.output;
    struct stat status;
    if (!name)
        return sn_file_template("output", default_name);
    if (fstat(output_descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlink(output_name);
    sn_descriptor_close(&output_descriptor);
    sn_settings_current.output = NULL;
    return sn_file_template("output", name);
}

static ssize_t write_stream(void *cookie, const char *text, size_t size) {
    (void)cookie;
    size_t done = 0;
    while (done < size && !first_error) {
        int descriptor = sn_settings_current.output ? output_descriptor : sn_log_descriptor();
        ssize_t written = write(descriptor, text + done, size - done);
        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno != EINTR)
            first_error = errno;
    }
    return first_error ? 0 : (ssize_t)size;
}

/** Where this thread's printing goes for a while. */
static __thread struct {
    FILE *stream;
    int descriptor;
    long at;
    bool failed;
} diverted;

static ssize_t write_diverted(void *cookie, const char *text, size_t size) {
    (void)cookie;
    for (size_t done = 0; done < size && !diverted.failed;) {
        ssize_t written = pwrite(diverted.descriptor, text + done, size - done, diverted.at);
        if (written > 0) {
            done += (size_t)written;
            diverted.at += written;
        } else if (written == 0 || errno != EINTR) {
            diverted.failed = true;
        }
    }
    return diverted.failed ? 0 : (ssize_t)size;
}

bool sn_output_holds_record(void) { return is_record; }

bool sn_output_divert(int descriptor, long at) {
    diverted.descriptor = descriptor;
    diverted.at = at;
    diverted.failed = false;
    diverted.stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_diverted});
    return diverted.stream != NULL;
}

bool sn_output_divert_end(void) {
    bool written = fclose(diverted.stream) == 0 && !diverted.failed;
    diverted.stream = NULL;
    return written;
}

bool sn_output_flush(void) { return !stream || (fflush(stream) == 0 && !first_error); }

FILE *sn_output(void) {
    if (diverted.stream)
        return diverted.stream;
    if (stream)
        return stream;
    if (sn_settings_current.output && output_descriptor < 0) {
        const char *wrong = open_output(); /* in a forked child: its own file */
        if (wrong) {
            sn_message("--output: cannot write '%s': %s", output_name, wrong);
            first_error = errno ? errno : EIO;
        }
    } else if (!sn_settings_current.output && sn_settings_current.log_file) {
        snprintf(output_name, sizeof output_name, "the log file");
    }
    stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_stream});
    if (!stream)
        sn_fail(SN_STATUS_ENGINE, "out of memory: no room for the report's buffer");
    return stream;
}

/** What a file system tells only when the file is closed (NFS, quotas), it tells for every copy of the descriptor. */
static bool close_copy(int descriptor) {
    static int copy;
    return sn_descriptor_take_copy(&copy, descriptor) < 0 || sn_descriptor_close(&copy) == 0;
}

bool sn_output_complete(void) {
    bool failed = !sn_output_flush(), files_failed = sn_tool_files_failed();
    if (!failed && output_descriptor >= 0 && !close_copy(output_descriptor)) {
        failed = true;
        first_error = errno;
    }
    if (failed)
        sn_message("the report is not complete: cannot write '%s': %s", output_name, strerror(first_error));
    first_error = 0;
    return !failed && !files_failed;
}

void sn_output_after_fork(void) {
    if (stream)
        __fpurge(stream);
    first_error = 0;
    if (!sn_settings_current.output || !sn_filename_is_per_process(sn_settings_current.output))
        return;
    sequence = 0;
    sn_descriptor_close(&output_descriptor);
    if (stream)
        fclose(stream);
    stream = NULL;
}
