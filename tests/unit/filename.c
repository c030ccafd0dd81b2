/**
 * @fileoverview Unit test of src/base/filename.c.
 */
#include "base/filename.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static char result[64];

static void expand_to(const char *template, const char *expected) {
    assert_null(sn_filename_expand(template, 7, result, sizeof result));
    assert_string_equal(result, expected);
}

static void escapes_are_expanded(void **state) {
    (void)state;
    char expected[64];
    setenv("SONDE_TEST", "some where", 1);
    expand_to("plain.txt", "plain.txt");
    expand_to("100%%", "100%");
    expand_to("%n", "7");
    expand_to("a/%q{SONDE_TEST}/b", "a/some where/b");
    snprintf(expected, sizeof expected, "out.%d.%d", getpid(), 7);
    expand_to("out.%p.%n", expected);
    expand_to("%%p%%%%n", "%p%%n");
}

static void fail_with(const char *template, const char *part) {
    const char *wrong = sn_filename_expand(template, 1, result, sizeof result);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, part));
    assert_null(strchr(wrong, '\n'));
}

static void mistakes_are_named(void **state) {
    (void)state;
    unsetenv("SONDE_ABSENT");
    setenv("SONDE_EMPTY", "", 1);
    fail_with("a%", "after %");
    fail_with("a%x", "after %");
    fail_with("%q", "followed by {VARIABLE}");
    fail_with("%q{UNFINISHED", "followed by {VARIABLE}");
    fail_with("%q{}", "names no variable");
    fail_with("%q{SONDE_ABSENT}", "SONDE_ABSENT is not set");
    fail_with("", "empty");
    fail_with("%q{SONDE_EMPTY}", "empty");
    fail_with("0123456789012345678901234567890123456789012345678901234567890123", "too long");
    expand_to("012345678901234567890123456789012345678901234567890123456789012",
              "012345678901234567890123456789012345678901234567890123456789012");
}

static void names_by_process_are_told(void **state) {
    (void)state;
    assert_true(sn_filename_is_per_process("a.%p"));
    assert_true(sn_filename_is_per_process("%%%p"));
    assert_false(sn_filename_is_per_process("a.%%p"));
    assert_false(sn_filename_is_per_process("a.%n"));
    assert_false(sn_filename_is_per_process("p%"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_expanded),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(names_by_process_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
