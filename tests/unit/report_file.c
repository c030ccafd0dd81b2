/**
 * @fileoverview Unit test of src/base/report_file.c. Each test runs in a child process: there is one report a process.
 */
#include "base/report_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/settings.h"
#include "unit.h"

static char folder[] = "/tmp/sonde-unit-XXXXXX";
static char error_name[64], output_name[64];

static char *content(const char *name) {
    static char text[4096];
    int file = open(name, O_RDONLY);
    if (file < 0)
        return NULL;
    ssize_t size = read(file, text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    close(file);
    return text;
}

/** Run `body` in a child, its standard error in a file; returns its exit status. */
static int run_child(void (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        dup2(open(error_name, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        sn_log_open();
        body();
        _exit(sn_output_complete() ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_to_the_log(void) {
    fputs("the report\n", sn_output());
    close(STDERR_FILENO);
}

static void the_log_is_the_default(void **state) {
    (void)state;
    assert_int_equal(run_child(print_to_the_log), 0);
    assert_string_equal(content(error_name), "the report\n");
}

static void print_to_a_file(void) {
    sn_settings_current.output = output_name;
    sn_output_open();
    fprintf(sn_output(), "line %d\n", 1);
    fprintf(sn_output(), "line %d\n", 2);
    for (int number = 3; number < 1024; number++) /* the client wants every number, and then closes it */
        if (!sn_descriptor_give_way(number) || (dup2(STDERR_FILENO, number) == number && close(number) != 0))
            _exit(9);
}

static void print_to_a_file_behind(void) {
    sn_settings_current.following_exec = true;
    print_to_a_file();
}

static void a_file_is_written_once_or_appended_to(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(run_child(print_to_a_file), 0);
        assert_string_equal(content(output_name), "line 1\nline 2\n");
        assert_string_equal(content(error_name), "");
    }
    assert_int_equal(run_child(print_to_a_file_behind), 0);
    assert_string_equal(content(output_name), "line 1\nline 2\nline 1\nline 2\n");
    unlink(output_name);
}

static void record_in_two_parts(void) {
    if (chdir(folder) != 0)
        _exit(9);
    sn_output_is_record("record.%n");
    if (chdir("/") != 0)
        _exit(9);
    fputs("before\n", sn_output());
    sn_output_complete();
    fputs("behind\n", sn_output());
}

static void report_in_two_parts(void) {
    sn_settings_current.output = output_name;
    sn_output_open();
    fputs("before\n", sn_output());
    sn_output_complete(); /* as one thread's execve does, while others still print */
    fputs("behind\n", sn_output());
}

static void what_is_printed_behind_the_end_is_appended(void **state) {
    (void)state;
    char name[128];
    snprintf(name, sizeof name, "%s/record.1", folder);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(run_child(record_in_two_parts), 0);
        assert_string_equal(content(name), "before\nbehind\n");
        assert_int_equal(run_child(report_in_two_parts), 0);
        assert_string_equal(content(output_name), "before\nbehind\n");
    }
    unlink(name);
    unlink(output_name);
}

static void print_to_a_full_disk(void) {
    sn_settings_current.output = "/dev/full";
    sn_output_open();
    for (int i = 0; i < 10000; i++)
        fputs("this does not fit\n", sn_output());
}

static void a_full_disk_is_told_once(void **state) {
    (void)state;
    assert_int_equal(run_child(print_to_a_full_disk), 1);
    assert_string_equal(content(error_name),
                        "sonde: the report is not complete: cannot write '/dev/full': No space left on device\n");
}

static void open_nowhere(void) {
    sn_settings_current.output = "/nonexistent/%n";
    sn_output_open();
}

static void an_unwritable_file_stops_the_run(void **state) {
    (void)state;
    assert_int_equal(run_child(open_nowhere), 2);
    assert_string_equal(content(error_name), "sonde: --output: cannot write '/nonexistent/1': No such file or directory\n");
}

static void do_nothing(void) {
}

static void nothing_printed_is_no_failure(void **state) {
    (void)state;
    assert_int_equal(run_child(do_nothing), 0);
    assert_string_equal(content(error_name), "");
}

static char forked_name[64];

static void print_and_fork(void) {
    sn_settings_current.output = forked_name;
    sn_output_open();
    fputs("parent's\n", sn_output()); /* not flushed */
    pid_t child = fork();
    if (child == 0) {
        sn_output_after_fork();
        fputs("child's\n", sn_output());
        sn_output_complete();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    dprintf(STDERR_FILENO, "%d %d", getpid(), child);
}

static void a_forked_child_has_its_own_file(void **state) {
    (void)state;
    int pids[2] = {0, 0};
    snprintf(forked_name, sizeof forked_name, "%s/out.%%p", folder);
    assert_int_equal(run_child(print_and_fork), 0);
    assert_int_equal(sscanf(content(error_name), "%d %d", &pids[0], &pids[1]), 2);
    static const char *const expected[] = {"parent's\n", "child's\n"};
    for (unsigned i = 0; i < 2; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s/out.%d", folder, pids[i]);
        assert_string_equal(content(name), expected[i]);
        unlink(name);
    }
}

static void a_shared_file_gets_nothing_twice(void **state) {
    (void)state;
    snprintf(forked_name, sizeof forked_name, "%s/shared", folder);
    assert_int_equal(run_child(print_and_fork), 0);
    assert_string_equal(content(forked_name), "child's\nparent's\n");
    unlink(forked_name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_is_the_default),
        cmocka_unit_test(a_file_is_written_once_or_appended_to),
        cmocka_unit_test(what_is_printed_behind_the_end_is_appended),
        cmocka_unit_test(a_full_disk_is_told_once),
        cmocka_unit_test(an_unwritable_file_stops_the_run),
        cmocka_unit_test(nothing_printed_is_no_failure),
        cmocka_unit_test(a_forked_child_has_its_own_file),
        cmocka_unit_test(a_shared_file_gets_nothing_twice),
    };
    if (!mkdtemp(folder))
        return 1;
    snprintf(error_name, sizeof error_name, "%s/error", folder);
    snprintf(output_name, sizeof output_name, "%s/output", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(error_name);
    rmdir(folder);
    return failed;
}
