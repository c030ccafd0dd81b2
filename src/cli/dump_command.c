/**
 * @fileoverview Asking a running process for a dump. See dump_command.h and ask.h.
 */
#include "cli/dump_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "cli/ask.h"

static const char *to;

static const sn_option options[] = {
    {"to", SN_OPTION_STRING, &to, "where the report goes", NULL, "write the tool's report to this file ('-': standard output)"},
    {0},
};

static _Noreturn void print_help(void) {
    puts("Usage: sonde dump PID [--to=FILE]\n"
         "Ask the process PID, which runs under Sonde, for what its tool knows so far.\n");
    sn_options_print(stdout, options);
    exit(fflush(stdout) ? SN_STATUS_FAILURE : 0);
}

static int parse(const char *const *words) {
    char explanation[512];
    int process = 0;
    for (; *words; words++) {
        if (!strcmp(*words, "--help") || !strcmp(*words, "-h"))
            print_help();
        if (**words != '-') {
            if (process)
                sn_fail(SN_STATUS_USAGE, "two processes are named; usage: sonde dump PID [--to=FILE]");
            process = sn_ask_number(*words);
            if (!process)
                sn_fail(SN_STATUS_USAGE, "'%s' is no process number; usage: sonde dump PID [--to=FILE]", *words);
            continue;
        }
        sn_option_outcome outcome = sn_option_parse(options, *words, explanation, sizeof explanation);
        if (outcome == SN_OPTION_BAD)
            sn_fail(SN_STATUS_USAGE, "%s", explanation);
        if (outcome != SN_OPTION_DONE)
            sn_fail(SN_STATUS_USAGE, "unknown option '%s'; usage: sonde dump PID [--to=FILE]", *words);
    }
    if (!process)
        sn_fail(SN_STATUS_USAGE, "no process is named; usage: sonde dump PID [--to=FILE]");
    return process;
}

void sn_dump_command(const char *const *words) {
    int process = parse(words);
    sn_asked asked = sn_ask_find(process);
    FILE *file = !to ? NULL : !strcmp(to, "-") ? stdout : fopen(to, "we");
    if (to && !file)
        sn_fail(SN_STATUS_USAGE, "--to: cannot write '%s': %s", to, strerror(errno));
    sn_ask(&asked, SN_CONTROL_DUMP, to != NULL);
    const char *tool = asked.board->tool;
    int length = (int)sizeof asked.board->tool;
    switch (asked.state) {
    case SN_DUMP_DONE:
        break;
    case SN_DUMP_UNABLE:
        sn_fail(SN_STATUS_FAILURE, "process %d runs '%.*s', which tells nothing before the end", process, length, tool);
    case SN_DUMP_RECORD:
        sn_fail(SN_STATUS_FAILURE, "process %d runs '%.*s', which writes no report but a record: leave out --to=", process,
                length, tool);
    default:
        sn_fail(SN_STATUS_FAILURE, "process %d could not write its report", process);
    }
    if (file && !sn_ask_copy_text(&asked, file))
        sn_fail(SN_STATUS_FAILURE, "cannot write '%s': %s", to, strerror(errno));
    exit(0);
}
