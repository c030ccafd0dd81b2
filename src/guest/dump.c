/**
 * @fileoverview Answering requests for a dump: see dump.h.
 */
#include "guest/dump.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/report_file.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/control.h"
#include "guest/events.h"
#include "guest/signal.h"
#include "guest/thread.h"

/** Requests that wait: process in the upper half, descriptor in the lower; 0: free. More at once are not heard. */
enum { MOST_ASKED = 8 };
static uint64_t asked[MOST_ASKED]; /* accessed by the atomic built-ins only */
static _Atomic int waiting;

bool sn_dump_is_asked(void) { return waiting > 0; }

/** Signals that came for the tool: sn_signal_reserve(). */
static uint64_t signalled;

static void note_signal(int number) {
    uint64_t before = __atomic_fetch_or(&signalled, SN_SIGNAL_BIT(number), __ATOMIC_SEQ_CST);
    if (!(before & SN_SIGNAL_BIT(number))) waiting++;
}

static void tell_signals(sn_thread *thread) {
    uint64_t came = __atomic_exchange_n(&signalled, 0, __ATOMIC_SEQ_CST);
    for (int number = 1; number <= SN_SIGNAL_COUNT; number++) {
        if (!(came & SN_SIGNAL_BIT(number))) continue;
        waiting--;
        if (sn_current_tool()->signal) SN_TELL_TOOL("signal", sn_current_tool()->signal(thread, number, thread->pc));
    }
}

bool sn_dump_note(const siginfo_t *info) {
    if (sn_signal_is_reserved(info->si_signo)) {
        note_signal(info->si_signo);
        return true;
    }
    uint64_t value = (uint64_t)info->si_value.sival_ptr;
    if (info->si_signo != SN_DUMP_SIGNAL || info->si_code != SN_DUMP_CODE || value >> 32 != SN_DUMP_MAGIC) return false;
    uint64_t request = (uint64_t)(uint32_t)info->si_pid << 32 | (uint32_t)value;
    for (unsigned i = 0; i < MOST_ASKED; i++) {
        uint64_t free = 0;
        if (!__atomic_compare_exchange_n(&asked[i], &free, request, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
        waiting++;
        break;
    }
    return true;
}

/** Whether a descriptor of another process is a board that somebody with a right to ask has made. */
static bool is_board(const char *link, int descriptor) {
    static const char name[] = "/memfd:" SN_DUMP_BOARD_NAME " (deleted)";
    char target[sizeof name + 1];
    long size = sn_syscall(__NR_readlink, link, target, sizeof target);
    struct stat status;
    if (size != sizeof name - 1 || memcmp(target, name, sizeof name - 1)) return false;
    if (sn_syscall(__NR_fstat, descriptor, &status) || status.st_size < (off_t)sizeof(sn_dump_board)) return false;
    return status.st_uid == 0 || status.st_uid == geteuid();
}

/** Open the board of a request, out of the client's way. False if there is none. */
static bool open_board(uint64_t request, int *holder, sn_dump_board **board) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)(request >> 32), (int)(uint32_t)request);
    /* First only the name is opened, so that nothing happens to a file that is something else. */
    long named = sn_syscall(__NR_openat, AT_FDCWD, link, O_PATH | O_CLOEXEC);
    if (named < 0) return false;
    bool right = is_board(link, (int)named);
    if (right) snprintf(link, sizeof link, "/proc/self/fd/%ld", named);
    long opened = right ? sn_syscall(__NR_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC) : -1;
    sn_syscall(__NR_close, named);
    if (opened < 0 || sn_descriptor_take(holder, (int)opened) < 0) return false;
    *board = mmap(NULL, sizeof **board, PROT_READ | PROT_WRITE, MAP_SHARED, *holder, 0);
    if (*board != MAP_FAILED && (*board)->magic == SN_DUMP_MAGIC) return true;
    if (*board != MAP_FAILED) munmap(*board, sizeof **board);
    sn_descriptor_close(holder);
    return false;
}

static void set_state(sn_dump_board *board, sn_dump_state state) {
    __atomic_store_n(&board->state, state, __ATOMIC_SEQ_CST);
    sn_syscall(__NR_futex, &board->state, FUTEX_WAKE, 1);
}

/** A dump whose report goes to the board. */
static sn_dump_state tell(sn_thread *thread, int descriptor) {
    if (!sn_current_tool()->dump) return SN_DUMP_UNABLE;
    if (sn_output_holds_record()) return SN_DUMP_RECORD;
    if (!sn_output_divert(descriptor, SN_DUMP_TEXT_AT)) return SN_DUMP_FAILED;
    sn_control_outcome outcome = sn_control(thread, SN_CONTROL_DUMP, sn_output());
    return sn_output_divert_end() && outcome == SN_CONTROL_DONE ? SN_DUMP_DONE : SN_DUMP_FAILED;
}

/** Have a command carried out; the answer goes to the board. */
static sn_dump_state carry_out(sn_thread *thread, sn_control_command command, int descriptor) {
    char *text = NULL;
    size_t size = 0;
    FILE *answer = open_memstream(&text, &size);
    if (!answer || command > SN_CONTROL_STATUS) return SN_DUMP_FAILED;
    sn_control_outcome outcome = sn_control(thread, command, answer);
    bool told = fclose(answer) == 0;
    for (size_t done = 0; told && done < size;) {
        long written = sn_syscall(__NR_pwrite64, descriptor, text + done, size - done, SN_DUMP_TEXT_AT + done);
        told = written > 0;
        done += told ? (size_t)written : 0;
    }
    free(text);
    return !told ? SN_DUMP_FAILED : outcome == SN_CONTROL_DONE ? SN_DUMP_DONE : SN_DUMP_UNABLE;
}

static void answer(sn_thread *thread, uint64_t request) {
    static int holder = -1;
    sn_dump_board *board;
    if (!open_board(request, &holder, &board)) return;
    snprintf(board->tool, sizeof board->tool, "%s", sn_current_tool()->name);
    set_state(board, SN_DUMP_TAKEN);
    set_state(board, board->wants_text ? tell(thread, holder) : carry_out(thread, board->command, holder));
    munmap(board, sizeof *board);
    sn_descriptor_close(&holder);
}

/** One at a time: the holder of the board is one. A thread that finds it taken leaves it to that one. */
static sn_lock answering;

void sn_dump_after_fork(void) {
    sn_lock_reset(&answering);
    memset(asked, 0, sizeof asked);
    signalled = 0;
    waiting = 0;
}

void sn_dump_answer(sn_thread *thread) {
    if (!sn_lock_try(&answering)) return;
    for (unsigned i = 0; i < MOST_ASKED; i++) {
        uint64_t request = __atomic_exchange_n(&asked[i], 0, __ATOMIC_SEQ_CST);
        if (!request) continue;
        waiting--;
        answer(thread, request);
    }
    tell_signals(thread);
    sn_lock_release(&answering);
}
