/**
 * @file bench/launch.c
 * @fileoverview Runs one command and reports its wall time, processor time, peak memory and status on one line.
 *
 * It exists because a Python parent spoils two figures: its own resident set counts into a child's ru_maxrss (the
 * kernel keeps the peak across exec), and starting a child from it costs more than /bin/true takes. bench/run.py
 * builds it and is its only caller. It owns the command's session: whatever is left of it is killed at the end or at
 * the time-out.
 *
 * Usage: launch SECONDS REPEATS STDOUT STDERR COMMAND [ARGUMENT...]
 * Prints: WALL USER SYSTEM MAXRSS_KB STATUS   (times are of all repeats; STATUS is the shell's, or `timeout`)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct measurement {
    double wall, user, system;
    long peak_kilobytes;
    int status;
    int timed_out;
} measurement;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void redirect(const char *path, int flags, int descriptor) {
    int opened = open(path, flags, 0644);
    if (opened < 0 || dup2(opened, descriptor) < 0) {
        perror(path);
        _exit(125);
    }
    close(opened);
}

/** In the child: a session of its own, plain signals, its streams, and then the command. */
static void become(char **command, const char *out, const char *err) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    redirect("/dev/null", O_RDONLY, 0);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC, 2);
    execv(command[0], command);
    perror(command[0]);
    _exit(errno == ENOENT ? 127 : 126);
}

/** Kills what the command left behind: as the subreaper, this process becomes the parent of each orphan. */
static void kill_orphans(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (;;) {
        FILE *children = fopen(path, "r");
        int pid, found = 0;
        while (children && fscanf(children, "%d", &pid) == 1) {
            kill(pid, SIGKILL);
            found = 1;
        }
        if (children) fclose(children);
        if (!found) return;
        while (waitpid(-1, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

/** The signals that this process waits for instead of handling: a child's end, and being told to stop. */
static sigset_t awaited_signals(void) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGHUP);
    return awaited;
}

/** Told to stop: nothing of the command may live on, or it would spoil the measurements after it. */
static void stop(pid_t child) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    kill_orphans();
    exit(125);
}

/** Waits for `child` until `deadline`; returns whether it ended by itself. Other children are reaped on the way. */
static int await_end(pid_t child, double deadline, int *status, struct rusage *usage) {
    sigset_t awaited = awaited_signals();
    for (;;) {
        pid_t ended;
        struct rusage theirs;
        int their_status;
        while ((ended = wait4(-1, &their_status, WNOHANG, &theirs)) > 0) {
            if (ended != child) continue;
            *status = their_status;
            *usage = theirs;
            return 1;
        }
        double left = deadline - now();
        if (left <= 0) return 0;
        struct timespec pause = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        int signal_number = sigtimedwait(&awaited, NULL, &pause);
        if (signal_number > 0 && signal_number != SIGCHLD) stop(child);
    }
}

static void run_once(char **command, const char *out, const char *err, double limit, measurement *total) {
    struct rusage usage = {0};
    int status = 0;
    double start = now();
    pid_t child = fork();
    if (child < 0) {
        perror("launch: fork");
        exit(125);
    }
    if (child == 0) become(command, out, err);
    int ended = await_end(child, start + limit, &status, &usage);
    total->wall += now() - start;
    if (!ended) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
        total->timed_out = 1;
        while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
        }
    }
    kill_orphans();
    total->user += seconds(usage.ru_utime);
    total->system += seconds(usage.ru_stime);
    if (usage.ru_maxrss > total->peak_kilobytes) total->peak_kilobytes = usage.ru_maxrss;
    total->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    if (count < 6) {
        fprintf(stderr, "usage: launch SECONDS REPEATS STDOUT STDERR COMMAND [ARGUMENT...]\n");
        return 2;
    }
    double limit = atof(arguments[1]);
    int repeats = atoi(arguments[2]);
    sigset_t awaited = awaited_signals();
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);

    measurement total = {0};
    for (int run = 0; run < repeats && !total.timed_out && total.status == 0; run++)
        run_once(arguments + 5, arguments[3], arguments[4], limit, &total);

    printf("%.6f %.6f %.6f %ld ", total.wall, total.user, total.system, total.peak_kilobytes);
    if (total.timed_out) printf("timeout\n");
    else printf("%d\n", total.status);
    return 0;
}
