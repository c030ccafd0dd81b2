/**
 * @fileoverview Asking a running process to do something with its tool. See ask.h, and guest/dump.h for how it is asked.
 */
#include "cli/ask.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

/** How long a process may take to notice. What it takes to answer is its own affair. */
#define SECONDS_TO_NOTICE 10
#define ENGINE_NAME "sonde-engine"

/* --------------------------------------------------------------- looking at the process */

static FILE *open_proc(int process, const char *file) {
    char path[512];
    snprintf(path, sizeof path, "/proc/%d/%s", process, file);
    return fopen(path, "re");
}

static bool runs_engine(int process) {
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size < 0 && errno == EACCES)
        sn_fail(SN_STATUS_USAGE, "process %d belongs to somebody else", process);
    if (size < 0)
        return false;
    target[size] = 0;
    const char *name = strrchr(target, '/');
    return name && !strncmp(name + 1, ENGINE_NAME, strlen(ENGINE_NAME));
}

/** Whether the engine is far enough to know the signal, which would end any other program. */
static bool catches_signal(int process) {
    FILE *status = open_proc(process, "status");
    char line[256];
    unsigned long caught = 0;
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "SigCgt: %lx", &caught);
    if (status)
        fclose(status);
    return caught >> (SN_DUMP_SIGNAL - 1) & 1;
}

/** A running thread, since it is disturbed least; the first one if all wait. */
static int choose_thread(int process) {
    char path[64];
    int chosen = process;
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    const struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        char file[300], line[512] = "";
        snprintf(file, sizeof file, "task/%s/stat", entry->d_name);
        FILE *stat = isdigit((unsigned char)entry->d_name[0]) ? open_proc(process, file) : NULL;
        if (!stat)
            continue;
        const char *state = fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
        fclose(stat);
        if (state && state[1] && state[2] == 'R') {
            chosen = atoi(entry->d_name);
            break;
        }
    }
    if (tasks)
        closedir(tasks);
    return chosen;
}

/** Root becomes the process's user: who answers must be able to open what belongs to who asks. */
static void become_user_of(int process) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", process);
    if (geteuid() != 0 || stat(path, &status) || status.st_uid == 0)
        return;
    if (setgroups(0, NULL) || setresgid(status.st_gid, status.st_gid, status.st_gid) ||
        setresuid(status.st_uid, status.st_uid, status.st_uid))
        sn_fail(SN_STATUS_FAILURE, "cannot become the user of process %d: %s", process, strerror(errno));
    prctl(PR_SET_DUMPABLE, 1);
}

/* -------------------------------------------------------------------- asking, waiting */

static sn_dump_board *make_board(int *descriptor, sn_control_command command, bool wants_text) {
    *descriptor = memfd_create(SN_DUMP_BOARD_NAME, MFD_CLOEXEC);
    if (*descriptor < 0 || ftruncate(*descriptor, SN_DUMP_TEXT_AT))
        sn_fail(SN_STATUS_FAILURE, "cannot make a file in memory: %s", strerror(errno));
    sn_dump_board *board = mmap(NULL, SN_DUMP_TEXT_AT, PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
    if (board == MAP_FAILED)
        sn_fail(SN_STATUS_FAILURE, "out of memory");
    board->magic = SN_DUMP_MAGIC;
    board->command = command;
    board->wants_text = wants_text;
    return board;
}

/** The process is held by a descriptor meanwhile, so that its number cannot come to mean another one unseen. */
static int hold(int process) {
    int held = (int)syscall(SYS_pidfd_open, process, 0);
    if (held < 0 && errno == ESRCH)
        sn_fail(SN_STATUS_USAGE, "there is no process %d", process);
    if (held < 0)
        sn_fail(SN_STATUS_FAILURE, "cannot watch process %d: %s", process, strerror(errno));
    return held;
}

static bool is_gone(int held) {
    struct pollfd one = {.fd = held, .events = POLLIN};
    return poll(&one, 1, 0) > 0;
}

static void send(int process, int held, int board) {
    siginfo_t info = {.si_signo = SN_DUMP_SIGNAL, .si_code = SN_DUMP_CODE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = sn_dump_value(board);
    if (!runs_engine(process))
        sn_fail(SN_STATUS_USAGE, "process %d does not run under Sonde", process);
    for (int tries = 0; !catches_signal(process); tries++) {
        if (is_gone(held) || tries == SECONDS_TO_NOTICE * 100)
            sn_fail(SN_STATUS_FAILURE, "process %d does not answer", process);
        usleep(10000); /* it is just starting */
    }
    int thread = choose_thread(process);
    if (is_gone(held))
        sn_fail(SN_STATUS_FAILURE, "process %d has ended", process);
    long sent = syscall(SYS_rt_tgsigqueueinfo, process, thread, SN_DUMP_SIGNAL, &info);
    if (sent && errno == ESRCH) /* that thread has ended */
        sent = syscall(SYS_rt_sigqueueinfo, process, SN_DUMP_SIGNAL, &info);
    if (sent && errno == EPERM)
        sn_fail(SN_STATUS_USAGE, "process %d belongs to somebody else", process);
    if (sent)
        sn_fail(SN_STATUS_FAILURE, "cannot ask process %d: %s", process, strerror(errno));
}

static sn_dump_state wait_for_answer(sn_dump_board *board, int process, int held) {
    const struct timespec step = {.tv_nsec = 100000000};
    for (int waited = 0;; waited++) {
        uint32_t state = __atomic_load_n(&board->state, __ATOMIC_SEQ_CST);
        if (state > SN_DUMP_TAKEN)
            return state;
        if (is_gone(held))
            sn_fail(SN_STATUS_FAILURE, "process %d has ended", process);
        if (state == SN_DUMP_ASKED && waited >= SECONDS_TO_NOTICE * 10)
            sn_fail(SN_STATUS_FAILURE, "process %d does not answer", process);
        syscall(SYS_futex, &board->state, FUTEX_WAIT, state, &step, NULL, 0);
    }
}

int sn_ask_number(const char *word) {
    char *end;
    long process = strtol(word, &end, 10);
    return *end || process <= 0 || process > INT_MAX ? 0 : (int)process;
}

sn_asked sn_ask_find(int process) {
    sn_asked asked = {.process = process, .held = hold(process)};
    if (!runs_engine(process))
        sn_fail(SN_STATUS_USAGE, "process %d does not run under Sonde", process);
    return asked;
}

void sn_ask(sn_asked *asked, sn_control_command command, bool wants_text) {
    become_user_of(asked->process);
    asked->board = make_board(&asked->descriptor, command, wants_text);
    send(asked->process, asked->held, asked->descriptor);
    asked->state = wait_for_answer(asked->board, asked->process, asked->held);
}

bool sn_ask_copy_text(const sn_asked *asked, FILE *file) {
    char piece[1 << 16];
    ssize_t size;
    for (off_t at = SN_DUMP_TEXT_AT; (size = pread(asked->descriptor, piece, sizeof piece, at)) > 0; at += size)
        fwrite(piece, 1, (size_t)size, file);
    return size == 0 && !fflush(file) && !ferror(file);
}
