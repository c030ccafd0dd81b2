/**
 * @fileoverview Unit test of src/base/log.c: what it writes to standard error and to a log file, in child processes.
 */
#include "base/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "unit.h"

static char error_text[20000]; /* what the last child wrote to standard error */
static int error_writes;       /* in how many pieces (packets) */

/** Run `body` in a child whose standard error is a packet pipe; returns its exit status. */
static int run_child(void (*body)(void)) {
    int ends[2];
    assert_int_equal(pipe2(ends, O_DIRECT), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    error_writes = 0;
    ssize_t got;
    while ((got = read(ends[0], error_text + used, sizeof error_text - used - 1)) > 0) {
        used += (size_t)got;
        error_writes++;
    }
    error_text[used] = '\0';
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void say_hello(void) {
    sn_log_open();
    close(STDERR_FILENO); /* as a client may */
    sn_message("hello %d", 5);
}

static void a_message_is_one_write(void **state) {
    (void)state;
    assert_int_equal(run_child(say_hello), 0);
    assert_string_equal(error_text, "sonde: hello 5\n");
    assert_int_equal(error_writes, 1);
}

static void say_much(void) {
    sn_log_open();
    sn_message("%9000d", 5);
}

static void a_long_message_is_cut(void **state) {
    (void)state;
    assert_int_equal(run_child(say_much), 0);
    assert_int_equal(error_writes, 1);
    assert_int_equal(strlen(error_text), 4096 - 1);
    assert_string_equal(error_text + strlen(error_text) - 5, " ...\n");
}

static void say_by_level(void) {
    sn_settings_current.verbose = 1;
    sn_verbose(1, "one");
    sn_verbose(2, "two");
}

static void levels_are_respected(void **state) {
    (void)state;
    assert_int_equal(run_child(say_by_level), 0);
    assert_string_equal(error_text, "sonde: one\n");
}

static void fail_badly(void) {
    sn_fail(SN_STATUS_USAGE, "no %s", "way");
}

static void failing_ends_with_the_status(void **state) {
    (void)state;
    assert_int_equal(run_child(fail_badly), 2);
    assert_string_equal(error_text, "sonde: no way\n");
}

static char folder[] = "/tmp/sonde-unit-XXXXXX";

static void read_file(const char *name, char *text, size_t size) {
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    unlink(name);
}

static void log_to_files(void) {
    static char template[64];
    snprintf(template, sizeof template, "%s/log.%%p.%%n", folder);
    sn_settings_current.log_file = template;
    sn_log_open();
    sn_message("from %s", "parent");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sn_log_after_fork();
        sn_message("from %s", "child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    sn_message("child was %d", child);
    dprintf(STDERR_FILENO, "%d %d", getpid(), child);
}

static void each_process_has_its_log(void **state) {
    (void)state;
    char name[100], text[200], expected[200];
    int parent = 0, child = 0;
    assert_int_equal(run_child(log_to_files), 0);
    assert_int_equal(sscanf(error_text, "%d %d", &parent, &child), 2);
    snprintf(name, sizeof name, "%s/log.%d.1", folder, parent);
    read_file(name, text, sizeof text);
    snprintf(expected, sizeof expected, "sonde: from parent\nsonde: child was %d\n", child);
    assert_string_equal(text, expected);
    snprintf(name, sizeof name, "%s/log.%d.1", folder, child);
    read_file(name, text, sizeof text);
    assert_string_equal(text, "sonde: from child\n");
}

static void log_to_nowhere(void) {
    sn_settings_current.log_file = "/nonexistent/folder/log";
    sn_log_open();
}

static void an_unwritable_log_is_told(void **state) {
    (void)state;
    assert_int_equal(run_child(log_to_nowhere), 2);
    assert_string_equal(error_text,
                        "sonde: --log-file: cannot write '/nonexistent/folder/log': No such file or directory\n");
}

static void fail_in_the_engine(void) {
    sn_log_engine_failure(0x401000, "no room in %s", "table");
    sn_log_engine_failure(0, "x");
}

static void an_engine_failure_names_all(void **state) {
    (void)state;
    assert_int_equal(run_child(fail_in_the_engine), 0);
    assert_non_null(strstr(error_text, "version "));
    assert_non_null(strstr(error_text, "client address 0x401000: no room in table; please report"));
    assert_non_null(strstr(error_text, "client address unknown: x; please report"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_one_write),
        cmocka_unit_test(a_long_message_is_cut),
        cmocka_unit_test(levels_are_respected),
        cmocka_unit_test(failing_ends_with_the_status),
        cmocka_unit_test(each_process_has_its_log),
        cmocka_unit_test(an_unwritable_log_is_told),
        cmocka_unit_test(an_engine_failure_names_all),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
