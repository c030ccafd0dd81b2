// build: gcc -O1
// variants: dynamic, static
// runs: listing=0 close-listed=0 links=0 low=0
/* Listings of open descriptors: /proc/self/fd, /proc/PID/task/TID/fd, fdinfo and /dev/fd as lsof reads them; closing
   whatever is listed and going on; links of descriptors that are not open lead nowhere and can't be opened; many
   descriptors, so that a listing takes several calls. */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
static int entries(const char *folder, int print) {
    DIR *directory = opendir(folder);
    int count = 0, number, wrong = 0;
    char path[400], link[PATH_MAX];
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        number = atoi(entry->d_name);
        count++;
        wrong += fcntl(number, F_GETFD) == -1;
        if (print) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            ssize_t length = readlink(path, link, sizeof link - 1);
            say("%d -> %.*s", number, number < 3 || length < 0 || strstr(link, "/proc/") == link ? 0 : (int)length, link);
        }
    }
    if (directory)
        closedir(directory);
    return wrong ? -wrong : count;
}
static int names_nothing(const char *folder, int number) {
    char path[100], link[100];
    struct stat status;
    snprintf(path, sizeof path, "%s/%d", folder, number);
    int nothing = readlink(path, link, sizeof link) == -1 && errno == ENOENT;
    nothing &= stat(path, &status) == -1 && errno == ENOENT && lstat(path, &status) == -1 && errno == ENOENT;
    nothing &= access(path, F_OK) == -1 && errno == ENOENT;
    nothing &= open(path, O_RDONLY) == -1 && errno == ENOENT && open(path, O_PATH | O_NOFOLLOW) == -1 && errno == ENOENT;
    int directory = open(folder, O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "%d", number);
    nothing &= readlinkat(directory, path, link, sizeof link) == -1 && errno == ENOENT;
    nothing &= openat(directory, path, O_RDONLY) == -1 && errno == ENOENT;
    close(directory);
    return nothing;
}
int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "listing";
    char own[100], task[100];
    snprintf(own, sizeof own, "/proc/%d/fd", getpid());
    snprintf(task, sizeof task, "/proc/self/task/%ld/fd", syscall(SYS_gettid));
    const char *folders[] = {"/proc/self/fd", "/dev/fd", "/proc/thread-self/fd", "/proc/self/fdinfo", own, task};
    enum { FOLDERS = sizeof folders / sizeof *folders };
    if (!strcmp(kind, "listing")) {
        entries("/proc/self/fd", 1);
        for (int i = 0; i < FOLDERS; i++)
            CHECK(entries(folders[i], 0) == 4, "only 0, 1, 2 and the folder, all open (%d)", i);
        for (int i = 3; i < 700; i++)
            if (dup(0) != i)
                CHECK(0, "dup gives %d", i);
        for (int i = 0; i < FOLDERS; i++)
            CHECK(entries(folders[i], 0) == 701, "700 and the folder (%d)", i);
        close_range(3, ~0u, 0);
        CHECK(entries("/proc/self/fd", 0) == 4, "four again");
    } else if (!strcmp(kind, "close-listed")) {
        int numbers[64], count = 0, failed = 0;
        DIR *directory = opendir("/proc/self/fd");
        for (struct dirent *entry; (entry = readdir(directory)) && count < 64;)
            if (entry->d_name[0] != '.' && atoi(entry->d_name) > 2)
                numbers[count++] = atoi(entry->d_name);
        closedir(directory);
        for (int i = 0; i < count; i++)
            failed += close(numbers[i]) == -1; /* the folder's own is closed already */
        CHECK(count == 1 && failed == 1, "nothing but the folder was listed");
    } else if (!strcmp(kind, "links")) {
        int wrong = 0;
        for (int i = 3; i < 1100; i++)
            for (int f = 0; f < FOLDERS; f++)
                if (i > 10 || f != 3)
                    wrong += i != 3 && i != 4 && !names_nothing(folders[f], i);
        CHECK_EQUAL(wrong, 0, "names of closed descriptors that lead somewhere");
        wrong = 0;
        for (int i = 3; i < 1100; i++) {
            wrong += fcntl(i, F_GETFD) != -1 || errno != EBADF;
            wrong += fcntl(i, F_DUPFD, 3) != -1 || errno != EBADF;
            wrong += dup(i) != -1 || errno != EBADF;
            wrong += dup2(i, 3) != -1 || errno != EBADF;
            wrong += dup3(i, 3 + (i == 3), 0) != -1 || errno != EBADF;
            wrong += close(i) != -1 || errno != EBADF;
        }
        CHECK_EQUAL(wrong, 0, "calls on closed descriptors that did not fail");
    } else {
        struct rlimit limit = {12, 12};
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "a limit of 12");
        CHECK(entries("/proc/self/fd", 0) == 4, "four");
        CHECK(open("/dev/null", O_RDONLY) == 3 && close(3) == 0, "open gives 3");
    }
    say("goes on");
    return finish();
}
