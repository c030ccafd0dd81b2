/**
 * @fileoverview The end of the process, fork's locks, and execve: see process.h.
 */
#include "guest/process.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/report_file.h"
#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/dump.h"
#include "guest/events.h"
#include "guest/limits.h"
#include "guest/loader.h"
#include "guest/memory_events.h"
#include "guest/procfs.h"
#include "guest/seccomp.h"
#include "guest/signal.h"
#include "guest/space.h"
#include "guest/statistics.h"
#include "guest/thread.h"
#include "jit/block.h"
#include "jit/runtime.h"
#include "jit/trace.h"
#include "jit/trace_workers.h"

/* -------------------------------------------------------------------------- fork */

void sn_process_before_fork(void) {
    sn_lock_acquire(&sn_jit_lock);
    sn_space_lock();
    fflush(NULL);
}

void sn_process_after_fork_everywhere(void) {
    sn_space_unlock();
    sn_lock_release(&sn_jit_lock);
}

static int ended_process;
static int wanted_status = -1; /* the tool's; -1: the client's own */
static sn_lock end_lock;
static sn_thread *ending; /**< who holds the lock: a failure inside the end must not wait for itself */

void sn_process_after_fork(sn_thread *thread) {
    sn_space_after_fork();
    sn_memory_events_after_fork();
    sn_dump_after_fork();
    sn_signals_after_fork(thread);
    sn_seccomp_after_fork();
    sn_log_after_fork();
    sn_output_after_fork();
    ended_process = 0;
    wanted_status = -1;
    sn_lock_reset(&end_lock);
    ending = NULL;
}

/* --------------------------------------------------------------------------- end */

static bool report_failed;
void sn_end_with_status(int status) { wanted_status = status & 0xff; }

void sn_exit_now(int status) { sn_process_exit(sn_thread_current(), status & 0xff); }

static void flush_traces_of(sn_thread *thread, void *data) {
    (void)data;
    sn_traces_flush(thread);
}

/** What all threads have appended to traces. They are stopped for it, each at an instruction; an engine that has failed
    tries no such thing. */
static void flush_traces(sn_thread *thread) {
    if (!sn_traces_exist()) return;
    if (thread->failed) {
        sn_traces_flush(thread);
        return;
    }
    sn_world_stop(thread);
    sn_threads_visit(flush_traces_of, NULL);
    if (sn_trace_workers_wanted()) sn_trace_workers_end();
}

void sn_process_end(sn_thread *thread) {
    if (thread->borrowed) sn_traces_flush(thread);
    if (thread->borrowed || ending == thread) return;
    sn_process_lock_end();
    ending = thread;
    if (ended_process != thread->process) {
        ended_process = thread->process;
        flush_traces(thread);
        if (sn_current_tool()->end) SN_TELL_TOOL("end", sn_current_tool()->end());
        if (!sn_output_complete()) report_failed = true;
        if (sn_settings_current.stats) sn_statistics_print();
        if (sn_traces_exist() && !thread->failed) sn_gate_open();
    }
    ending = NULL;
    sn_lock_release(&end_lock);
}

/* Who holds the lock may stop all threads, which waits for those that are in the engine. */
void sn_process_lock_end(void) {
    sn_thread *thread = sn_thread_current();
    if (thread->failed) return sn_lock_acquire(&end_lock);
    sn_engine_leave(thread);
    sn_lock_acquire(&end_lock);
    sn_engine_enter(thread);
}

void sn_process_unlock_end(void) { sn_lock_release(&end_lock); }

void sn_process_exit(sn_thread *thread, int status) {
    sn_signals_hold_mask(thread);
    sn_process_end(thread);
    if (wanted_status >= 0) status = wanted_status;
    if (report_failed && !status) status = SN_STATUS_FAILURE;
    for (;;) sn_syscall(__NR_exit_group, status);
}

/* -------------------------------------------------------------------------- exec */

/** A copy of the client's words, in memory of its own: this thread may share the address space with a parent that goes
    on. */
typedef struct word_list {
    char *memory;       /**< one mapping: the pointers, then the strings */
    size_t size;
    const char **words; /**< NULL-terminated, with `spare` free pointers in front */
    size_t count;
} word_list;

#define MOST_WORD_BYTES (UINT64_C(32) << 20)

/** Length of a client string with its NUL; 0 if it cannot be read. */
static size_t client_string_size(uint64_t address) {
    for (size_t at = 0; at < MOST_WORD_BYTES;) {
        char piece[256];
        size_t size = sizeof piece - ((address + at) & (sizeof piece - 1));
        if (!sn_copy_safely(piece, (const void *)(address + at), size)) return 0;
        const char *end = memchr(piece, 0, size);
        if (end) return at + (size_t)(end - piece) + 1;
        at += size;
    }
    return 0;
}

static long measure_words(uint64_t vector, size_t *count, size_t *bytes) {
    *count = *bytes = 0;
    for (; vector; vector += 8) {
        uint64_t word;
        if (!sn_copy_safely(&word, (const void *)vector, 8)) return -EFAULT;
        if (!word) break;
        size_t size = client_string_size(word);
        if (!size) return -EFAULT;
        *bytes += size;
        if (++*count > MOST_WORD_BYTES / 8 || *bytes > MOST_WORD_BYTES) return -E2BIG;
    }
    return 0;
}

static long copy_words(uint64_t vector, size_t spare, word_list *list) {
    size_t bytes;
    long result = measure_words(vector, &list->count, &bytes);
    if (result) return result;
    list->size = (list->count + spare + 1) * sizeof(char *) + bytes;
    list->memory = mmap(NULL, list->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (list->memory == MAP_FAILED) return -ENOMEM;
    list->words = (const char **)list->memory + spare;
    char *text = (char *)(list->words + list->count + 1);
    for (size_t i = 0; i < list->count; i++) {
        uint64_t word = 0;
        if (!sn_copy_safely(&word, (const void *)(vector + 8 * i), 8)) word = 0;
        size_t size = word ? client_string_size(word) : 0;
        if (!size || size > (size_t)(list->memory + list->size - text) || !sn_copy_safely(text, (const void *)word, size)) {
            munmap(list->memory, list->size);
            return -EFAULT;
        }
        list->words[i] = text;
        text += size;
    }
    return 0;
}

static void free_words(word_list *list) { munmap(list->memory, list->size); }

/** What execve and execveat name, as one path that can be given to either. */
typedef struct exec_request {
    uint64_t number; /**< of the system call: a filter may allow only one of the two */
    int directory;
    char path[PATH_MAX];
    const char *own; /**< the client's own program, if the path names that as a file of /proc; else NULL */
    int flags;
    uint64_t arguments, environment;
} exec_request;

static long read_exec(uint64_t number, const uint64_t a[6], exec_request *request) {
    bool at = number == __NR_execveat;
    request->number = number;
    request->directory = at ? (int)a[0] : AT_FDCWD;
    request->arguments = a[at + 1];
    request->environment = a[at + 2];
    request->flags = at ? (int)a[4] : 0;
    size_t size = client_string_size(a[at]);
    if (!size) return -EFAULT;
    if (size > sizeof request->path) return -ENAMETOOLONG;
    if (!sn_copy_safely(request->path, (const void *)a[at], size)) return -EFAULT;
    if (request->path[size - 1]) return -EFAULT;
    request->own = sn_procfs_exe_path(request->path);
    return 0;
}

/** What the kernel calls the file, as the program sees it: the path, or one by way of the descriptor. */
static void name_of(const exec_request *request, char *name, size_t size) {
    if (request->path[0] == '/' || request->directory == AT_FDCWD) snprintf(name, size, "%s", request->path);
    else if (!request->path[0]) snprintf(name, size, SN_DESCRIPTORS "%d", request->directory);
    else snprintf(name, size, SN_DESCRIPTORS "%d/%s", request->directory, request->path);
}

/** The name in /proc means the engine to the kernel and to the next engine, which therefore gets the file too. */
static long open_own(const exec_request *request, sn_opened_program *opened) {
    long descriptor = sn_syscall(__NR_openat, AT_FDCWD, request->own, O_PATH | O_CLOEXEC, 0);
    if (descriptor < 0) return descriptor;
    opened->descriptor = (int)descriptor;
    return 0;
}

/** The file as a descriptor of the engine's own, where the request names it by one. 0 or -errno. */
static long open_requested(const exec_request *request, sn_opened_program *opened) {
    bool follow = !(request->flags & AT_SYMLINK_NOFOLLOW);
    bool by_path = request->path[0] == '/' || request->directory == AT_FDCWD;
    *opened = (sn_opened_program){.descriptor = -1};
    if (request->flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) return -EINVAL;
    if (!request->path[0] && !(request->flags & AT_EMPTY_PATH)) return -ENOENT;
    if (follow && request->own) return open_own(request, opened);
    if (follow && by_path) return 0;
    long descriptor = request->path[0] ? sn_syscall(__NR_openat, request->directory, request->path,
                                                    O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0)
                                       : sn_syscall(__NR_fcntl, request->directory, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return descriptor;
    struct stat status;
    bool link = !follow && !sn_syscall(__NR_fstat, descriptor, &status) && S_ISLNK(status.st_mode);
    if (by_path || link) {
        sn_syscall(__NR_close, descriptor);
        return link ? -ELOOP : 0;
    }
    opened->descriptor = (int)descriptor;
    opened->name_ends = sn_syscall(__NR_fcntl, request->directory, F_GETFD) & FD_CLOEXEC;
    return 0;
}

/** --trace-children-skip: patterns as Valgrind takes them, * and ? on the whole path. */
static bool is_skipped(const char *path) {
    const char *list = sn_settings_current.trace_children_skip;
    char pattern[PATH_MAX];
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (length < sizeof pattern) {
            memcpy(pattern, list, length);
            pattern[length] = 0;
            if (!fnmatch(pattern, path, 0)) return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

/** The program gets the client's seccomp filters: for good, also when execve then fails. */
static long exec_native(sn_thread *thread, const exec_request *request, const word_list *arguments,
                        const word_list *environment) {
    long result = sn_seccomp_hand_to_kernel(thread);
    if (result) return result;
    sn_limits_before_exec(thread);
    const char *path = request->own ? request->own : request->path;
    if (request->number == __NR_execve)
        return sn_syscall(__NR_execve, path, arguments->words, environment->words);
    return sn_syscall(__NR_execveat, request->directory, path, arguments->words, environment->words, request->flags);
}

#define MOST_OWN_WORDS 128

/** Start Sonde again on the new program: its options, then the program's own words. */
static long exec_traced(const sn_thread *thread, const char *path, int program, const word_list *arguments,
                        const word_list *environment) {
    char own_path[PATH_MAX + 128], filters[sizeof "--exec-filters=" + 20], opened[sizeof "--exec-program=" + 20];
    char limits[sizeof "--exec-limits=" + SN_LIMITS_TEXT_SIZE] = "--exec-limits=";
    sn_limits_write(thread, limits + strlen(limits));
    long descriptor = sn_seccomp_save(thread);
    if (descriptor < -1) return descriptor;
    size_t zero_size = sizeof "--exec-arg0=" + (arguments->count ? strlen(arguments->words[0]) : 0);
    char *zero = mmap(NULL, zero_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zero == MAP_FAILED) {
        if (descriptor >= 0) sn_syscall(__NR_close, descriptor);
        return -ENOMEM;
    }
    snprintf(own_path, sizeof own_path, "--exec-path=%s", path);
    snprintf(zero, zero_size, "--exec-arg0=%s", arguments->count ? arguments->words[0] : "");

    const char *own[MOST_OWN_WORDS];
    size_t count = 0;
    own[count++] = sn_settings_current.engine_path;
    for (const char *const *word = sn_settings_current.engine_arguments; *word && count < MOST_OWN_WORDS - 8; word++)
        own[count++] = *word;
    own[count++] = own_path;
    own[count++] = zero;
    own[count++] = limits;
    if (descriptor >= 0) {
        snprintf(filters, sizeof filters, "--exec-filters=%ld", descriptor);
        own[count++] = filters;
    }
    if (program >= 0) {
        sn_syscall(__NR_fcntl, program, F_SETFD, 0);
        snprintf(opened, sizeof opened, "--exec-program=%d", program);
        own[count++] = opened;
    }
    own[count++] = "--";
    /* The first of the program's own words stands where the program's name does. */
    if (!arguments->count) own[count++] = "";
    const char **all = arguments->words - count;
    memcpy(all, own, count * sizeof *own);
    long result = sn_syscall(__NR_execve, sn_settings_current.engine_path, all, environment->words);
    munmap(zero, zero_size);
    if (descriptor >= 0) sn_syscall(__NR_close, descriptor);
    return result;
}

/** The execution of a program that can be run; `program`: it is open as that. */
static long exec_checked(sn_thread *thread, const exec_request *request, const char *path, int program,
                         const word_list *arguments, const word_list *environment) {
    bool traced = sn_settings_current.trace_children && !is_skipped(request->own ? request->own : path);
    sn_verbose(1, "process %d executes %s %s", thread->process, path, traced ? "under Sonde" : "without Sonde");
    sn_events_exec(thread, path);
    sn_process_end(thread);
    sn_signals_hold_mask(thread);
    uint64_t mask = sn_client_mask(thread), all = ~SN_FAULT_SIGNALS;
    sn_engine_pause(thread);
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
    if (thread->traced_on_exec) sn_syscall(__NR_ptrace, PTRACE_TRACEME, 0, 0, 0);
    long result = traced ? exec_traced(thread, path, program, arguments, environment)
                         : exec_native(thread, request, arguments, environment);
    sn_limits_after_failed_exec();
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    sn_engine_resume(thread);
    if (!thread->borrowed) ended_process = 0; /* it goes on after all: there will be another end */
    return result;
}

static long exec_with_words(sn_thread *thread, const exec_request *request, const word_list *arguments,
                            const word_list *environment) {
    char path[PATH_MAX + 64];
    sn_opened_program opened;
    name_of(request, path, sizeof path);
    long result = open_requested(request, &opened);
    if (!result) result = sn_program_exec_error(path, opened);
    if (!result) result = exec_checked(thread, request, path, opened.descriptor, arguments, environment);
    if (opened.descriptor >= 0) sn_syscall(__NR_close, opened.descriptor);
    return result;
}

long sn_process_exec(sn_thread *thread, uint64_t number, const uint64_t arguments[6]) {
    exec_request request;
    word_list words, environment;
    long result = read_exec(number, arguments, &request);
    if (result) return result;
    result = copy_words(request.arguments, MOST_OWN_WORDS, &words);
    if (result) return result;
    result = copy_words(request.environment, 0, &environment);
    if (!result) {
        result = exec_with_words(thread, &request, &words, &environment);
        free_words(&environment);
    }
    free_words(&words);
    return result;
}
