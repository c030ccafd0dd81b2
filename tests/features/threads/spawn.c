// build: gcc -O1
// children: yes
/* vfork and posix_spawn: success, failures reported by errno through shared memory, file actions, attributes, system(),
   popen(); a vfork child that changes a variable of its parent; exit status of children. */
#include "check.h"
#include <fcntl.h>
#include <spawn.h>
extern char **environ;
int main(void) {
    pid_t child;
    int status;
    char *bad_name[] = {"nothing", NULL}, *echo[] = {"sh", "-c", "echo spawned; exit 3", NULL}, *quiet[] = {"sh", "-c", "exit 3", NULL};
    CHECK_EQUAL(posix_spawn(&child, "/nonexistent/nothing", NULL, NULL, bad_name, environ), ENOENT, "posix_spawn of a missing file");
    CHECK_EQUAL(posix_spawnp(&child, "no-such-program-here", NULL, NULL, bad_name, environ), ENOENT, "posix_spawnp of a missing name");
    CHECK_EQUAL(posix_spawn(&child, "/etc/passwd", NULL, NULL, bad_name, environ), EACCES, "posix_spawn of a plain file");
    CHECK(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD, "no child left behind");
    CHECK_EQUAL(posix_spawn(&child, "/bin/sh", NULL, NULL, quiet, environ), 0, "posix_spawn of sh");
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3, "its status");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    char name[] = "/tmp/featureXXXXXX", text[100] = {0};
    int file = mkstemp(name);
    posix_spawn_file_actions_addopen(&actions, 1, name, O_WRONLY, 0);
    CHECK(posix_spawn(&child, "/bin/sh", &actions, NULL, echo, environ) == 0 && waitpid(child, &status, 0) == child, "with file actions");
    CHECK(read(file, text, sizeof text) == 8 && !strcmp(text, "spawned\n"), "output went to the file");
    unlink(name);
    posix_spawn_file_actions_addopen(&actions, 5, "/nonexistent/file", O_RDONLY, 0);
    CHECK_EQUAL(posix_spawn(&child, "/bin/sh", &actions, NULL, echo, environ), ENOENT, "a failing file action");
    volatile int seen = 0;
    child = vfork();
    if (child == 0) {
        execl("/nonexistent/nothing", "x", (char *)0);
        seen = errno;
        _exit(44);
    }
    CHECK(seen == ENOENT && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 44, "vfork child reports errno through memory");
    child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "vfork and exec");
    for (int i = 0, bad = 0; i <= 100; i++) {
        child = vfork();
        if (child == 0)
            _exit(i);
        bad += waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i;
        if (i == 100)
            CHECK(!bad, "100 vforks");
    }
    CHECK(WEXITSTATUS(system("exit 7")) == 7, "system()");
    FILE *stream = popen("echo through a pipe; exit 2", "r");
    CHECK(stream && fgets(text, sizeof text, stream) && !strcmp(text, "through a pipe\n") && WEXITSTATUS(pclose(stream)) == 2, "popen()");
    return finish();
}
