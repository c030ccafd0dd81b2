/**
 * @fileoverview Recognising and opening the client's files in /proc: see procfs.h.
 */
#include "guest/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/descriptor_path.h"
#include "guest/limits.h"
#include "guest/loader.h"
#include "guest/procfs_text.h"

/** The files that the client must not get from the host. `write` NULL: exe, which is opened as the program. */
static const struct file {
    const char *name;
    bool (*write)(sn_growing_text *text, const sn_procfs_subject *subject);
} files[] = {
    {"maps", sn_procfs_write_maps},       {"smaps", sn_procfs_write_smaps},
    {"auxv", sn_procfs_write_auxv},       {"cmdline", sn_procfs_write_cmdline},
    {"environ", sn_procfs_write_environ}, {"stat", sn_procfs_write_stat},
    {"status", sn_procfs_write_status},   {"limits", sn_procfs_write_limits},
    {"exe", NULL},
};

static bool (*ask_signals)(int thread, sn_procfs_signals *signals);

void sn_procfs_set_signals(bool (*ask)(int thread, sn_procfs_signals *signals)) {
    ask_signals = ask;
}

/* -------------------------------------------------------------- recognising */

static const struct file *file_named(const char *name) {
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) == 0) {
            return &files[i];
        }
    }
    return NULL;
}

/** The last part of a path. */
static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** Append the parts of `path`, without empty ones, "." and "..". */
static void add_parts(sn_text *whole, const char *path) {
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            while (whole->length > 0 && whole->buffer[--whole->length] != '/') {
            }
            whole->buffer[whole->length] = '\0';
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            sn_text_add(whole, "/");
            sn_text_add_bytes(whole, path, length);
        }
        path += length;
        path += *path == '/';
    }
}

/** The absolute path, as far as the text alone tells. False if it does not fit or the directory is unknown. */
static bool make_absolute(sn_text *whole, int directory, const char *path) {
    char base[PATH_MAX];
    if (path[0] != '/') {
        bool known = directory == AT_FDCWD ? sn_syscall(SYS_getcwd, base, sizeof base) > 0
                                           : sn_descriptor_path(directory, base, sizeof base) > 0;
        if (!known) {
            return false;
        }
        add_parts(whole, base);
    }
    add_parts(whole, path);
    return !whole->cut;
}

/** Step over `part` and the slash behind it. */
static bool step_over(const char **at, const char *part) {
    size_t length = strlen(part);
    if (strncmp(*at, part, length) != 0 || (*at)[length] != '/') {
        return false;
    }
    *at += length + 1;
    return true;
}

/** Step over a number and the slash behind it. */
static bool step_over_number(const char **at, int *number) {
    const char *digit = *at;
    long value = 0;
    for (; *digit >= '0' && *digit <= '9' && value < INT_MAX / 10; digit++) {
        value = value * 10 + (*digit - '0');
    }
    if (digit == *at || *digit != '/') {
        return false;
    }
    *at = digit + 1;
    *number = (int)value;
    return true;
}

static bool is_own_thread(int thread) {
    return sn_syscall(SYS_tgkill, sn_syscall(SYS_getpid), thread, 0) == 0;
}

/** Which thread of this process an absolute path below /proc speaks of; *rest becomes what follows. 0 if none. */
static int own_thread(const char *path, const char **rest) {
    const int process = (int)sn_syscall(SYS_getpid);
    const char *at = path;
    int thread = process;
    if (!step_over(&at, "/proc")) {
        return 0;
    }
    if (step_over(&at, "thread-self")) {
        thread = (int)sn_syscall(SYS_gettid);
    } else if (!step_over(&at, "self") && !(step_over_number(&at, &thread) && is_own_thread(thread))) {
        return 0;
    }
    if (step_over(&at, "task") && !(step_over_number(&at, &thread) && is_own_thread(thread))) {
        return 0;
    }
    *rest = at;
    return thread;
}

/** Which file of this process a path names, or NULL; `whole` gets the absolute path, *thread whose it is. */
static const struct file *recognise(sn_text *whole, int directory, const char *path, int *thread) {
    const char *rest;
    if (!file_named(last_part(path)) || !make_absolute(whole, directory, path)) {
        return NULL; /* nearly every path ends here, at the price of a few comparisons */
    }
    *thread = own_thread(whole->buffer, &rest);
    return *thread ? file_named(rest) : NULL;
}

/* --------------------------------------------------- the engine's descriptors */

/** The descriptor that a name in a listing stands for; -1 if none. */
static int descriptor_named(const char *name) {
    int value = 0;
    const char *digit = name;
    for (; *digit >= '0' && *digit <= '9' && value < INT_MAX / 10 - 1; digit++) {
        value = value * 10 + (*digit - '0');
    }
    return digit == name || *digit || (name[0] == '0' && name[1]) ? -1 : value;
}

/** Whether an absolute path lies in a folder of this process's descriptors. */
static bool lists_own_descriptors(const char *path) {
    const char *rest;
    if (step_over(&path, "/dev/fd")) {
        return true;
    }
    return own_thread(path, &rest) && (step_over(&rest, "fd") || step_over(&rest, "fdinfo"));
}

bool sn_procfs_hides(int directory, const char *path) {
    int number = descriptor_named(last_part(path));
    if (number < 0 || !sn_descriptor_is_taken(number)) {
        return false; /* nearly always */
    }
    char buffer[PATH_MAX];
    sn_text whole = sn_text_in(buffer, sizeof buffer);
    return make_absolute(&whole, directory, path) && lists_own_descriptors(buffer);
}

bool sn_procfs_hides_entry(int directory, const char *name) {
    return !strchr(name, '/') && sn_procfs_hides(directory, name);
}

/* ------------------------------------------------------------------ opening */

static long write_all(int descriptor, const char *bytes, size_t size) {
    while (size > 0) {
        long done = sn_syscall(SYS_write, descriptor, bytes, size);
        if (done == -EINTR) {
            continue;
        }
        if (done < 0) {
            return done;
        }
        bytes += done;
        size -= (size_t)done;
    }
    return 0;
}

/** A descriptor, the lowest that is free, from which `text` can be read and nothing be written. */
static long readable(const char *name, const sn_growing_text *text, int flags) {
    long memory = sn_syscall(SYS_memfd_create, name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    if (memory < 0) {
        return memory;
    }
    long result = write_all((int)memory, text->bytes, text->size);
    if (result == 0) {
        char link[64];
        sn_text path = sn_text_in(link, sizeof link);
        sn_text_add(&path, "/proc/thread-self/fd/");
        sn_text_add_decimal(&path, (uint64_t)memory, 0);
        result = sn_syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
    }
    if (result >= 0) {
        long again = sn_syscall(SYS_dup3, result, memory, flags & O_CLOEXEC);
        sn_syscall(SYS_close, result);
        result = again;
    }
    if (result < 0) {
        sn_syscall(SYS_close, memory);
    }
    return result;
}

static bool open_text(const struct file *file, const char *host_path, int thread, int flags, long *result) {
    sn_growing_text text = {0};
    sn_procfs_signals signals;
    sn_procfs_subject subject = {.host_path = host_path};
    if (ask_signals && ask_signals(thread, &signals)) {
        subject.signals = &signals;
    }
    bool written = file->write(&text, &subject) && !text.failed;
    if (written) {
        *result = readable(file->name, &text, flags);
    }
    sn_growing_release(&text);
    return written;
}

bool sn_procfs_open(int directory, const char *path, int flags, int mode, long *result) {
    char buffer[PATH_MAX];
    sn_text whole = sn_text_in(buffer, sizeof buffer);
    int thread;
    const struct file *file = recognise(&whole, directory, path, &thread);
    if (!file || (flags & O_DIRECTORY)) {
        return false;
    }
    if (!file->write) {
        if (flags & O_NOFOLLOW) {
            return false; /* the link itself, or the error for not following it */
        }
        *result = sn_syscall(SYS_openat, AT_FDCWD, sn_program_current.path, flags, mode);
        return true;
    }
    if (flags & O_PATH) {
        return false; /* nothing can be read from it */
    }
    return open_text(file, buffer, thread, flags, result);
}

const char *sn_procfs_exe_path(const char *path) {
    char buffer[PATH_MAX];
    sn_text whole = sn_text_in(buffer, sizeof buffer);
    int thread;
    const struct file *file = recognise(&whole, AT_FDCWD, path, &thread);
    return file && !file->write ? sn_program_current.path : NULL;
}
