/**
 * @fileoverview Unit test of the client's own view of /proc: src/guest/procfs.c and procfs_text.c.
 *
 * A program is loaded into the test's own process, so that the texts have something to tell.
 */
#include "guest/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/loader.h"
#include "guest/space.h"
#include "jit/layout.h"
#include "unit.h"

void sn_code_discard(uint64_t start, uint64_t end) {
    assert_true(start < end);
}

enum { TEXT_SIZE = 1 << 20 };
static char text[TEXT_SIZE];

static const char *const arguments[] = {"sh", "-c", "echo two words", NULL};
static const char *const environment[] = {"A=1", "PATH=/bin", NULL};

/** Open and read a whole file of the client's into `text`; its size. */
static size_t read_file(const char *path) {
    long descriptor = -1;
    size_t size = 0;
    ssize_t got;
    assert_true(sn_procfs_open(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, &descriptor));
    assert_true(descriptor >= 0);
    assert_int_equal(fcntl((int)descriptor, F_GETFL) & O_ACCMODE, O_RDONLY);
    while ((got = read((int)descriptor, text + size, TEXT_SIZE - 1 - size)) > 0) {
        size += (size_t)got;
    }
    close((int)descriptor);
    text[size] = '\0';
    return size;
}

static bool opened(int directory, const char *path, int flags) {
    long descriptor = -1;
    bool own = sn_procfs_open(directory, path, flags, 0, &descriptor);
    if (own) {
        assert_true(descriptor >= 0);
        close((int)descriptor);
    }
    return own;
}

/* -------------------------------------------------------------- which paths */

static void *open_in_thread(void *ignored) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/stat", getpid(), syscall(SYS_gettid));
    assert_true(opened(AT_FDCWD, path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%ld/maps", syscall(SYS_gettid));
    assert_true(opened(AT_FDCWD, path, O_RDONLY));
    assert_true(opened(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY));
    return ignored;
}

static void paths_of_this_process(void **state) {
    (void)state;
    char path[64];
    static const char *const own[] = {
        "/proc/self/maps",   "/proc/self/smaps",       "/proc/self/auxv", "/proc/self/cmdline", "/proc/self/environ",
        "/proc/self/exe",    "/proc/self/stat",        "/proc/self/status", "//proc/./self//maps",
        "/proc/sys/../self/maps", "/proc/thread-self/stat",
    };
    static const char *const other[] = {
        "/proc/self/comm",  "/proc/self/mapsx", "/proc/1/maps", "/proc/maps",    "/proc/self",       "/proc/self/fd/maps",
        "/etc/passwd",      "maps",             "",             "/proc/self/task/1/maps", "/tmp/proc/self/maps",
        "/proc/99999999999999999999/maps",      "/proc/self/maps/",
    };
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        assert_true(opened(AT_FDCWD, own[i], O_RDONLY));
    }
    for (unsigned i = 0; i < sizeof other / sizeof *other; i++) {
        assert_false(opened(AT_FDCWD, other[i], O_RDONLY));
    }
    snprintf(path, sizeof path, "/proc/%d/maps", getpid());
    assert_true(opened(AT_FDCWD, path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%d/maps", getppid());
    assert_false(opened(AT_FDCWD, path, O_RDONLY));
    int directory = open("/proc/self", O_RDONLY | O_DIRECTORY);
    assert_true(opened(directory, "maps", O_RDONLY));
    assert_true(opened(directory, "../self/maps", O_RDONLY));
    assert_false(opened(directory, "comm", O_RDONLY));
    assert_false(opened(-5, "maps", O_RDONLY));
    assert_int_equal(fchdir(directory), 0);
    assert_true(opened(AT_FDCWD, "maps", O_RDONLY));
    assert_ptr_equal(sn_procfs_exe_path("exe"), sn_program_current.path);
    assert_int_equal(chdir("/"), 0);
    close(directory);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_in_thread, NULL), 0);
    pthread_join(thread, NULL);
}

static void descriptors(void **state) {
    (void)state;
    int lowest = dup(0);
    close(lowest);
    long descriptor;
    assert_true(sn_procfs_open(AT_FDCWD, "/proc/self/maps", O_RDONLY, 0, &descriptor));
    assert_int_equal(descriptor, lowest);
    assert_int_equal(fcntl(lowest, F_GETFD), 0);
    close(lowest);
    assert_true(sn_procfs_open(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, &descriptor));
    assert_int_equal(fcntl((int)descriptor, F_GETFD), FD_CLOEXEC);
    assert_int_equal(write((int)descriptor, "x", 1), -1);
    close((int)descriptor);
    int next = dup(0); /* nothing else is left open */
    assert_int_equal(next, lowest);
    close(next);
}

static void exe(void **state) {
    (void)state;
    struct stat program, found;
    long descriptor;
    assert_int_equal(stat("/bin/sh", &program), 0);
    assert_true(sn_procfs_open(AT_FDCWD, "/proc/self/exe", O_RDONLY, 0, &descriptor));
    assert_int_equal(fstat((int)descriptor, &found), 0);
    assert_int_equal(found.st_ino, program.st_ino);
    close((int)descriptor);
    assert_string_equal(sn_procfs_exe_path("/proc/self/exe"), sn_program_current.path);
    assert_null(sn_procfs_exe_path("/proc/self/maps"));
    assert_null(sn_procfs_exe_path("/bin/exe"));
    assert_false(opened(AT_FDCWD, "/proc/self/exe", O_RDONLY | O_NOFOLLOW));
}

/* --------------------------------------------------------------------- texts */

/** The lines of `text` that begin a mapping, compared with the list. */
static void check_maps(bool smaps) {
    unsigned stack = 0, vdso = 0, program = 0, engine = 0;
    uint64_t last = 0;
    char *save;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        uint64_t start, end, offset, inode;
        char permissions[5], name[256] = "";
        unsigned major, minor;
        int fields = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %255[^\n]", &start, &end,
                            permissions, &offset, &major, &minor, &inode, name);
        if (fields < 7) {
            assert_true(smaps && strchr(line, ':'));
            continue;
        }
        if (strcmp(name, "[vsyscall]") == 0) {
            continue;
        }
        assert_true(start >= last && end > start);
        last = end;
        sn_region region;
        assert_true(sn_space_find(start, &region));
        assert_int_equal(permissions[2] == 'x', (region.protection & PROT_EXEC) != 0);
        assert_int_equal(permissions[1] == 'w', (region.protection & PROT_WRITE) != 0);
        assert_int_equal(inode, region.inode);
        if (!smaps) {
            assert_int_equal(start, region.start);
            assert_int_equal(end, region.end);
            assert_int_equal(offset, region.path && region.device ? region.offset : 0);
            assert_true(fields == 7 || strcspn(line, "/[") == 73);
        }
        stack += strcmp(name, "[stack]") == 0;
        vdso += strcmp(name, "[vdso]") == 0 && permissions[2] == 'x';
        program += strcmp(name, sn_program_current.path) == 0 && permissions[2] == 'x';
        engine += strstr(name, "procfs") != NULL;
    }
    assert_int_equal(stack, 1);
    assert_int_equal(vdso, 1);
    assert_int_equal(program, 1);
    assert_int_equal(engine, 0);
}

static void maps(void **state) {
    (void)state;
    assert_true(read_file("/proc/self/maps") > 0);
    check_maps(false);
    assert_true(read_file("/proc/self/smaps") > 0);
    assert_non_null(strstr(text, "Private_Dirty:"));
    check_maps(true);
}

static void heap_has_its_name(void **state) {
    (void)state;
    char line[64];
    uint64_t end = SN_BREAK_START + 3 * SN_PAGE_SIZE;
    assert_int_equal(sn_space_break(end), (long)end);
    read_file("/proc/self/maps");
    snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:00 0 ", (unsigned long)SN_BREAK_START, (unsigned long)end);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, "[heap]\n"));
    assert_int_equal(sn_space_break(SN_BREAK_START), (long)SN_BREAK_START);
}

static void vectors(void **state) {
    (void)state;
    static const char command_line[] = "sh\0-c\0echo two words", variables[] = "A=1\0PATH=/bin";
    assert_int_equal(read_file("/proc/self/cmdline"), sizeof command_line);
    assert_memory_equal(text, command_line, sizeof command_line);
    assert_int_equal(read_file("/proc/self/environ"), sizeof variables);
    assert_memory_equal(text, variables, sizeof variables);
    assert_int_equal(read_file("/proc/self/auxv"), sn_program_current.auxiliary_size);
    assert_memory_equal(text, sn_program_current.auxiliary, sn_program_current.auxiliary_size);
    /* A program that writes its own title over its arguments, and on into its environment. */
    char *start = (char *)sn_program_current.arguments_start;
    char saved[sizeof command_line + sizeof variables];
    assert_int_equal(sn_program_current.environment_end - sn_program_current.arguments_start, sizeof saved);
    memcpy(saved, start, sizeof saved);
    strcpy(start, "worker 1");
    assert_true(read_file("/proc/self/cmdline") == sizeof command_line);
    assert_string_equal(text, "worker 1");
    memset(start, 'x', sizeof command_line + 2);
    start[sizeof command_line + 2] = '\0';
    assert_int_equal(read_file("/proc/self/cmdline"), sizeof command_line + 2);
    memcpy(start, saved, sizeof saved);
}

static bool signals_of(int thread, sn_procfs_signals *signals) {
    *signals = (sn_procfs_signals){.blocked = 0x200, .ignored = 0x1000, .caught = UINT64_C(0x180000002)};
    return thread == getpid();
}

/** The N-th field of stat, the command being the second. */
static uint64_t stat_field(unsigned number) {
    const char *at = strrchr(text, ')');
    assert_non_null(at);
    for (unsigned field = 2; field < number; field++) {
        at = strchr(at + 1, ' ');
        assert_non_null(at);
    }
    return strtoull(at + 1, NULL, 10);
}

static void stat_and_status(void **state) {
    (void)state;
    sn_procfs_set_signals(NULL);
    read_file("/proc/self/stat");
    assert_int_equal(strtol(text, NULL, 10), getpid());
    assert_int_equal(stat_field(4), getppid());
    assert_int_equal(stat_field(26), sn_program_current.start_code);
    assert_int_equal(stat_field(28), sn_program_current.stack_pointer);
    assert_int_equal(stat_field(47), SN_BREAK_START);
    assert_int_equal(stat_field(48), sn_program_current.arguments_start);
    assert_int_equal(stat_field(51), sn_program_current.environment_end);
    assert_int_equal(stat_field(32), 0);
    sn_procfs_set_signals(signals_of);
    read_file("/proc/self/stat");
    assert_int_equal(stat_field(32), 0x200);
    assert_int_equal(stat_field(33), 0x1000);
    assert_int_equal(stat_field(34), 2);
    read_file("/proc/self/status");
    assert_non_null(strstr(text, "\nSigBlk:\t0000000000000200\n"));
    assert_non_null(strstr(text, "\nSigIgn:\t0000000000001000\n"));
    assert_non_null(strstr(text, "\nSigCgt:\t0000000180000002\n"));
    uint64_t size, stack;
    assert_non_null(strstr(text, "\nVmSize:\t"));
    assert_int_equal(sscanf(strstr(text, "\nVmSize:\t") + 9, "%" SCNu64, &size), 1);
    assert_int_equal(sscanf(strstr(text, "\nVmStk:\t") + 8, "%" SCNu64, &stack), 1);
    read_file("/proc/self/stat");
    assert_int_equal(stat_field(23), size * 1024);
    assert_true(stack > 0 && stack < size);
    sn_procfs_set_signals(NULL);
}

int main(void) {
    sn_program program;
    sn_space_init();
    sn_program_load("/bin/sh", false, arguments, environment, &program);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_this_process), cmocka_unit_test(descriptors),
        cmocka_unit_test(exe),                   cmocka_unit_test(maps),
        cmocka_unit_test(heap_has_its_name),     cmocka_unit_test(vectors),
        cmocka_unit_test(stat_and_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
