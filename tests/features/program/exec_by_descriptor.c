// build: gcc -O1
// children: yes
/* execveat and fexecve: what the program is called, what stays open, and what fails. */
#include "check.h"
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static char folder[] = "/tmp/exec-by-descriptor-XXXXXX";
static int directory, lowest;

/** What a program that was executed says of itself. */
static int second(char **arguments) {
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    say("%s: is executed as %s", arguments[1], strrchr((char *)getauxval(AT_EXECFN), '/'));
    if (strcmp(arguments[2], "-")) /* otherwise it depends on the kernel's age */
        CHECK(!strcmp(name, arguments[2]), "%s: the process is called %s", arguments[1], name);
    int next = open("/dev/null", O_RDONLY);
    CHECK_EQUAL(next, atoi(arguments[3]), "first free descriptor");
    return finish();
}

static long execute(int descriptor, const char *path, char **arguments, int flags) {
    char *environment[] = {NULL};
    return syscall(SYS_execveat, descriptor, path, arguments, environment, flags);
}

/** In a child: execute it, with the number that will be free then; `name`: what the process is then called. */
static void run(const char *what, int descriptor, const char *path, int flags, const char *name, int free_then) {
    pid_t child = fork();
    if (child == 0) {
        char number[20];
        snprintf(number, sizeof number, "%d", free_then);
        char *arguments[] = {"again", (char *)what, (char *)name, number, NULL};
        execute(descriptor, path, arguments, flags);
        say("%s: execveat failed: %s", what, strerror(errno));
        _exit(100);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %#x", what, status);
}

static void expect(const char *what, int wanted, int descriptor, const char *path, int flags) {
    char *arguments[] = {"never", NULL};
    long result = execute(descriptor, path, arguments, flags);
    CHECK(result == -1 && errno == wanted, "%s: %s", what, strerror(errno));
}

static void write_script(void) {
    int file = openat(directory, "script", O_WRONLY | O_CREAT | O_EXCL, 0755);
    static const char text[] = "#!/bin/sh\necho a script of ${#0} letters; IFS= read -r name < /proc/self/comm; [ ${0%/*} = /dev/fd ] || echo called $name\n";
    CHECK(write(file, text, sizeof text - 1) == sizeof text - 1, "script written");
    close(file);
}

static void failures(int script) {
    char many[5000];
    memset(many, 'x', sizeof many);
    many[sizeof many - 1] = 0;
    expect("no flag for an empty path", ENOENT, directory, "", 0);
    expect("a folder", EACCES, directory, "", AT_EMPTY_PATH);
    expect("an unknown flag", EINVAL, directory, "program", 0x40000000);
    expect("a link that is not to be followed", ELOOP, directory, "link", AT_SYMLINK_NOFOLLOW);
    expect("no such descriptor", EBADF, 77, "program", 0);
    expect("an empty path of no such descriptor", EBADF, 77, "", AT_EMPTY_PATH);
    expect("a missing file", ENOENT, directory, "missing", 0);
    expect("a path too long", ENAMETOOLONG, directory, many, 0);
    expect("below a file", ENOTDIR, script, "x", 0);
    expect("a script that will be closed", ENOENT, script, "", AT_EMPTY_PATH);
}

int main(int argc, char **argv) {
    if (argc > 1)
        return second(argv);
    char own[4096] = "";
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0 && mkdtemp(folder), "made a folder");
    directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lowest = directory;
    CHECK(symlinkat(own, directory, "link") == 0, "made a link");
    write_script();
    int closed = open(own, O_RDONLY | O_CLOEXEC), kept = open(own, O_RDONLY), path = open(own, O_PATH | O_CLOEXEC);
    int script = openat(directory, "script", O_RDONLY | O_CLOEXEC), open_script = openat(directory, "script", O_RDONLY);
    failures(script);
    /* Two descriptors stay open, above the lowest. */
    run("closed on exec", closed, "", AT_EMPTY_PATH, "-", lowest);
    run("kept", kept, "", AT_EMPTY_PATH, "-", lowest);
    run("a place only", path, "", AT_EMPTY_PATH, "-", lowest);
    run("below a folder", directory, "link", 0, "link", lowest);
    run("below the working folder", AT_FDCWD, own, AT_SYMLINK_NOFOLLOW, "-", lowest);
    run("an absolute path, whatever the descriptor", 99, own, 0, "-", lowest);
    run("a script", open_script, "", AT_EMPTY_PATH, "-", lowest);
    char link[4200];
    snprintf(link, sizeof link, "%s/link", folder);
    run("by the link's path", AT_FDCWD, link, 0, "link", lowest);
    snprintf(link, sizeof link, "%s/script", folder);
    run("by the script's path", AT_FDCWD, link, 0, "script", lowest);
    unlinkat(directory, "link", 0);
    unlinkat(directory, "script", 0);
    rmdir(folder);
    return finish();
}
