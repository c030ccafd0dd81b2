/**
 * @fileoverview Unit tests for service/select.h: which names and paths a pattern matches.
 */
#include "service/select.h"

#include "unit.h"

static void matches_function(void **state) {
    (void)state;
    static const struct {
        const char *glob, *name;
        bool matches;
    } rows[] = {
        {"main", "main", true},
        {"main", "main2", false},
        {"ns::f", "ns::f(int, char)", true},
        {"ns::f", "ns::f() const", true},
        {"ns::f(*)", "ns::f(int)", true},
        {"*::operator()", "ns::g(int)::{lambda(char)#1}::operator()(char) const", true},
        {"ns::g", "ns::g(int)::{lambda(char)#1}::operator()(char) const", false},
        {"(anonymous namespace)::f", "(anonymous namespace)::f(void (*)(int))", true},
        {"f", "f(int) [clone .cold]", true},
        {"", "()", false},
        {"f", "f)", false},
        {"a*z", "alphabetz", true},
        {"[ab]c", "bc", true},
        {"\\*", "*", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (sn_select_matches_function(rows[i].glob, rows[i].name) != rows[i].matches)
            fail_msg("'%s' and '%s'", rows[i].glob, rows[i].name);
}

static void matches_path(void **state) {
    (void)state;
    assert_true(sn_select_matches_path("libz.so*", "/usr/lib/libz.so.1"));
    assert_false(sn_select_matches_path("libz.so", "/usr/lib/libz.so.1"));
    assert_true(sn_select_matches_path("/usr/*.1", "/usr/lib/libz.so.1"));
    assert_false(sn_select_matches_path("lib/libz.so.1", "/usr/lib/libz.so.1"));
    assert_true(sn_select_matches_path("main.c", "main.c"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_function),
        cmocka_unit_test(matches_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
