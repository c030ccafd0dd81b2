/**
 * @fileoverview Unit test of src/cli/command_line.c and src/cli/core_options.c.
 */
#include "cli/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "cli/core_options.h"
#include "unit.h"

static sn_command_line line;

#define SPLIT(...) sn_command_line_split((const char *const[]){__VA_ARGS__, NULL}, &line)

static void words_are_told_apart(void **state) {
    (void)state;
    SPLIT("--stats=yes", "count", "-v", "--trace-children=no", "prog", "--help", "count");
    assert_string_equal(line.tool, "count");
    assert_int_equal(line.option_count, 3);
    assert_string_equal(line.options[2], "--trace-children=no");
    assert_string_equal(line.client[0], "prog");
    assert_string_equal(line.client[2], "count");
    assert_null(line.client[3]);
    assert_false(line.help);

    SPLIT("none", "--", "--tool=x", "-q");
    assert_int_equal(line.option_count, 0);
    assert_string_equal(line.client[0], "--tool=x");

    SPLIT("--tool=./a.so", "--help", "-", "x");
    assert_string_equal(line.tool, "./a.so");
    assert_true(line.help);
    assert_string_equal(line.client[0], "-");

    SPLIT("--version");
    assert_true(line.version);
    assert_null(line.tool);
    assert_null(line.client[0]);
}

static void options_become_settings(void **state) {
    (void)state;
    SPLIT("none", "-vqv", "--stats=yes", "--trace-children=yes", "--trace-children-skip=/a,*b", "--debug-bisect=5",
          "--debug-block-limit=7", "--debug-superblocks=no", "--debug-links=yes", "--debug-fast-decode=no",
          "--debug-cache-size=1M", "--exec-path=/x", "prog");
    assert_int_equal(sn_settings_current.bisect_blocks, UINT64_MAX);
    sn_command_line_parse(&line, NULL);
    const sn_settings *settings = &sn_settings_current;
    assert_int_equal(settings->verbose, 2);
    assert_true(settings->quiet);
    assert_true(settings->stats);
    assert_true(settings->trace_children);
    assert_string_equal(settings->trace_children_skip, "/a,*b");
    assert_int_equal(settings->bisect_blocks, 5);
    assert_int_equal(settings->dump_block, UINT64_MAX);
    assert_int_equal(settings->block_limit, 7);
    assert_true(settings->no_superblocks);
    assert_false(settings->no_links);
    assert_false(settings->no_fsgsbase);
    assert_true(settings->no_fast_decode);
    assert_int_equal(settings->cache_size, 1 << 20);
    assert_true(settings->following_exec);
    assert_string_equal(sn_exec_path, "/x");
}

/** What a traced child is given must mean the same in another folder. */
static void children_get_absolute_names(void **state) {
    (void)state;
    assert_int_equal(chdir("/usr/lib"), 0);
    SPLIT("./a.so", "--output=out.%p", "-v", "--exec-path=/x", "--exec-arg0=y", "--tool-option=5", "--log-file=/log",
          "prog");
    sn_settings_current.output = "out.%p";
    sn_settings_current.log_file = "/log";
    sn_core_options_apply();
    assert_string_equal(sn_settings_current.output, "/usr/lib/out.%p");
    sn_command_line_keep(&line, "/tools/a.so");
    static const char *const expected[] = {"--output=out.%p",    "-v",
                                           "--tool-option=5",    "--log-file=/log",
                                           "--tool=/tools/a.so", "--log-file=/log",
                                           "--output=/usr/lib/out.%p"};
    const size_t count = sizeof expected / sizeof expected[0];
    for (size_t i = 0; i < count; i++)
        assert_string_equal(sn_settings_current.engine_arguments[i], expected[i]);
    assert_null(sn_settings_current.engine_arguments[count]);
}

static void folders_with_per_cent_signs_are_escaped(void **state) {
    (void)state;
    char folder[] = "/tmp/sonde%unit-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    sn_settings_current.output = "a%%b";
    sn_core_options_apply();
    char expected[100];
    snprintf(expected, sizeof expected, "/tmp/sonde%%%%unit-%s/a%%%%b", folder + strlen(folder) - 6);
    assert_string_equal(sn_settings_current.output, expected);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_told_apart),
        cmocka_unit_test(options_become_settings),
        cmocka_unit_test(children_get_absolute_names),
        cmocka_unit_test(folders_with_per_cent_signs_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
