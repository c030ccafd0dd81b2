/**
 * @fileoverview Unit test of src/base/options.c.
 */
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static bool flag;
static int64_t number;
static const char *text;
static int choice;

static const sn_option table[] = {
    {"flag", SN_OPTION_FLAG, &flag, "no", NULL, "a flag"},
    {"number", SN_OPTION_NUMBER, &number, "3", NULL, "a number"},
    {"text", SN_OPTION_STRING, &text, "", NULL, "a text"},
    {"choice", SN_OPTION_CHOICE, &choice, "red", "red|green|greenish", "a colour"},
    {"go", SN_OPTION_FLAG, &flag, "no", NULL, "a short name"},
    {"secret", SN_OPTION_FLAG, &flag, "no", NULL, NULL},
    {0},
};

static char explanation[200];

static int parse(const char *argument) {
    explanation[0] = '\0';
    return (int)sn_option_parse(table, argument, explanation, sizeof explanation);
}

static void values_are_stored(void **state) {
    (void)state;
    assert_int_equal(parse("--flag=yes"), SN_OPTION_DONE);
    assert_true(flag);
    assert_int_equal(parse("--flag=no"), SN_OPTION_DONE);
    assert_false(flag);
    assert_int_equal(parse("--number=12"), SN_OPTION_DONE);
    assert_int_equal(number, 12);
    assert_int_equal(parse("--text=a=b"), SN_OPTION_DONE);
    assert_string_equal(text, "a=b");
    assert_int_equal(parse("--choice=greenish"), SN_OPTION_DONE);
    assert_int_equal(choice, 2);
    assert_int_equal(parse("--choice=green"), SN_OPTION_DONE);
    assert_int_equal(choice, 1);
}

static void numbers_have_suffixes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0}, {"0x1f", 31}, {"4k", 4096}, {"2M", 2 << 20}, {"1G", 1 << 30}, {"-5", -5}, {"0x10k", 16384}, {"010", 10},
        {"9223372036854775807", INT64_MAX},
    };
    static const char *const bad[] = {"", "k", "1kk", "1x", "--1", "9223372036854775808", "9223372036854775807k", " 1",
                                      "0x"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 99;
        assert_true(sn_option_parse_number(good[i].text, &value));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value;
        assert_false(sn_option_parse_number(bad[i], &value));
    }
}

static void mistakes_are_explained(void **state) {
    (void)state;
    flag = true;
    assert_int_equal(parse("--flag=maybe"), SN_OPTION_BAD);
    assert_string_equal(explanation, "--flag needs one of yes|no, not 'maybe'");
    assert_true(flag);
    assert_int_equal(parse("--flag"), SN_OPTION_BAD);
    assert_string_equal(explanation, "--flag needs one of yes|no");
    assert_int_equal(parse("--number=many"), SN_OPTION_BAD);
    assert_string_equal(explanation, "--number needs a number (suffixes k, M, G), not 'many'");
    assert_int_equal(parse("--text="), SN_OPTION_BAD);
    assert_int_equal(parse("--choice=gre"), SN_OPTION_BAD);
    assert_string_equal(explanation, "--choice needs one of red|green|greenish, not 'gre'");
    assert_int_equal(parse("--fla=yes"), SN_OPTION_UNKNOWN);
    assert_int_equal(parse("--flags=yes"), SN_OPTION_UNKNOWN);
    assert_int_equal(parse("-flag=yes"), SN_OPTION_UNKNOWN);
    assert_int_equal(sn_option_parse(NULL, "--flag=yes", explanation, sizeof explanation), SN_OPTION_UNKNOWN);
}

static void help_shows_defaults(void **state) {
    (void)state;
    char *help = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&help, &size);
    sn_options_print(stream, table);
    sn_help_print(stream, "--long", "word word word word word word word word word word word word word word word word");
    fclose(stream);
    assert_non_null(strstr(help, "--flag=yes|no"));
    assert_non_null(strstr(help, "a number [3]\n"));
    assert_non_null(strstr(help, "--text=TEXT"));
    assert_non_null(strstr(help, "a text\n"));
    assert_non_null(strstr(help, "--choice=red|green|greenish"));
    assert_null(strstr(help, "secret"));
    for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) < 80);
    free(help);
}

static const char *suggested(const char *word) {
    sn_suggestion suggestion = sn_suggestion_for(word, strcspn(word, "="));
    sn_suggestion_offer_options(&suggestion, table);
    return suggestion.best;
}

static void near_words_are_suggested(void **state) {
    (void)state;
    assert_string_equal(suggested("falg=yes"), "flag");
    assert_string_equal(suggested("numbr"), "number");
    assert_string_equal(suggested("choiec=red"), "choice");
    assert_string_equal(suggested("tex"), "text");
    assert_string_equal(suggested("og"), "go");
    assert_null(suggested("completely-different"));
    assert_null(suggested("zz"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_stored),
        cmocka_unit_test(numbers_have_suffixes),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(help_shows_defaults),
        cmocka_unit_test(near_words_are_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
