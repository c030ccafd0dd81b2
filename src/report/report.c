/**
 * @fileoverview The subcommand `report`: options, and which kind of profile it is. See report.h.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"

static const sn_report_kind *const kinds[] = {
    &sn_report_contexts, /* before callgrind, which has lines like those of its heading */
    &sn_report_massif, /* before callgrind, whose head may have a "desc:" too */
    &sn_report_callgrind, /* before cachegrind, whose beginning may be the same up to a line that only it has */
    &sn_report_cachegrind,
    &sn_report_memtrace,
    &sn_report_values, /* before heap, which is JSON too */
    &sn_report_heap,
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/** Files that users may take for ours: what they begin with, and whose they are. */
static const struct {
    const char *mark, *owner;
} foreign[] = {
    {"{\"dhatFileVersion\"", "DHAT"},
    {"PERFILE2", "perf"},
    {"gmon", "gprof"},
};

static _Noreturn void finish(int status) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        sn_fail(SN_STATUS_FAILURE, "cannot write to standard output: %s", strerror(errno));
    }
    exit(status);
}

static _Noreturn void help(void) {
    puts("Usage: sonde report [options] FILE...\n"
         "Print what a profile says that a tool has written.\n\n"
         "Kinds of profiles:");
    for (size_t i = 0; i < KIND_COUNT; i++) {
        sn_help_print(stdout, kinds[i]->name, kinds[i]->what);
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        printf("\nOptions for %s, with [defaults]:\n", kinds[i]->name);
        sn_options_print(stdout, kinds[i]->options);
    }
    finish(0);
}

static const char *owner_of(const char *head, size_t size) {
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t length = strlen(foreign[i].mark);
        if (size >= length && memcmp(head, foreign[i].mark, length) == 0) {
            return foreign[i].owner;
        }
    }
    return NULL;
}

static const sn_report_kind *kind_of(const char *path) {
    char head[SN_REPORT_HEAD_SIZE];
    FILE *stream = fopen(path, "rb");
    size_t size = stream == NULL ? 0 : fread(head, 1, sizeof head, stream);
    if (stream == NULL || ferror(stream)) {
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    }
    fclose(stream);
    if (size == 0) {
        sn_fail(SN_REPORT_DAMAGED, "'%s' is empty", path);
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i]->recognises(head, size)) {
            return kinds[i];
        }
    }
    const char *owner = owner_of(head, size);
    if (owner != NULL) {
        sn_fail(SN_REPORT_DAMAGED, "'%s' is a profile of %s, which sonde report does not read", path, owner);
    }
    sn_fail(SN_REPORT_DAMAGED, "'%s' is no profile that sonde report knows", path);
}

double sn_report_percent(const char *option, const char *text, double otherwise) {
    char *end;
    if (text == NULL) {
        return otherwise;
    }
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < 0 || value > 100) {
        sn_fail(SN_STATUS_USAGE, "--%s needs a number of per cent from 0 to 100, not '%s'", option, text);
    }
    return value;
}

/** Whether `word` is the name of a flag, without a value. */
static bool is_bare_flag(const sn_option *options, const char *word) {
    for (const sn_option *option = options; option->name != NULL; option++) {
        if (option->type == SN_OPTION_FLAG && strncmp(word, "--", 2) == 0 && strcmp(word + 2, option->name) == 0) {
            return true;
        }
    }
    return false;
}

static void parse_option(const sn_report_kind *kind, const char *word) {
    char explanation[512], with_value[256];
    if (is_bare_flag(kind->options, word)) {
        snprintf(with_value, sizeof with_value, "%s=yes", word);
        word = with_value;
    }
    sn_option_outcome outcome = sn_option_parse(kind->options, word, explanation, sizeof explanation);
    if (outcome == SN_OPTION_BAD) {
        sn_fail(SN_STATUS_USAGE, "%s", explanation);
    }
    if (outcome == SN_OPTION_UNKNOWN) {
        sn_suggestion suggestion = sn_suggestion_for(word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "="));
        sn_suggestion_offer_options(&suggestion, kind->options);
        if (suggestion.best != NULL) {
            sn_fail(SN_STATUS_USAGE, "unknown option '%s' for a %s profile; did you mean --%s?", word, kind->name,
                    suggestion.best);
        }
        sn_fail(SN_STATUS_USAGE, "unknown option '%s' for a %s profile; see sonde report --help", word, kind->name);
    }
}

/** Options begin with a dash; `--` ends them; `-` alone is a file's name. */
static size_t split(const char *const *words, const char **options, size_t *option_count, const char **files) {
    size_t file_count = 0;
    bool are_options_over = false;
    for (; *words != NULL; words++) {
        if (are_options_over || (*words)[0] != '-' || (*words)[1] == '\0') {
            files[file_count++] = *words;
        } else if (strcmp(*words, "--") == 0) {
            are_options_over = true;
        } else if (strcmp(*words, "--help") == 0 || strcmp(*words, "-h") == 0) {
            help();
        } else {
            options[(*option_count)++] = *words;
        }
    }
    return file_count;
}

_Noreturn void sn_report_command(const char *const *words) {
    size_t word_count = 0, option_count = 0;
    while (words[word_count] != NULL) {
        word_count++;
    }
    const char **options = calloc(2 * (word_count + 1), sizeof *options);
    if (options == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    const char **files = options + word_count + 1;
    size_t file_count = split(words, options, &option_count, files);
    if (file_count == 0) {
        sn_fail(SN_STATUS_USAGE, "no profile is named; usage: sonde report [options] FILE...");
    }
    const sn_report_kind *kind = kind_of(files[0]);
    for (size_t i = 0; i < option_count; i++) {
        parse_option(kind, options[i]);
    }
    finish(kind->run(files, file_count));
}
