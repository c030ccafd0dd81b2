/**
 * @fileoverview Having a running process do something with its tool. See control_command.h and ask.h.
 */
#include "cli/control_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/ask.h"

#define USAGE "usage: sonde control PID dump|zero|on|off|status"

static _Noreturn void print_help(void) {
    puts("Usage: sonde control PID dump|zero|on|off|status\n"
         "Have the process PID, which runs under Sonde, do something with its tool:\n\n"
         "  dump    write what is known so far\n"
         "  zero    begin to count anew\n"
         "  on      begin to collect, or go on with it\n"
         "  off     stop collecting\n"
         "  status  say how it stands");
    exit(fflush(stdout) ? SN_STATUS_FAILURE : 0);
}

static int parse(const char *const *words, sn_control_command *command) {
    for (unsigned i = 0; words[i]; i++) {
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
            print_help();
        if (words[i][0] == '-')
            sn_fail(SN_STATUS_USAGE, "unknown option '%s'; " USAGE, words[i]);
    }
    if (!words[0])
        sn_fail(SN_STATUS_USAGE, "no process is named; " USAGE);
    int process = sn_ask_number(words[0]);
    if (!process)
        sn_fail(SN_STATUS_USAGE, "'%s' is no process number; " USAGE, words[0]);
    if (!words[1])
        sn_fail(SN_STATUS_USAGE, "nothing to do is named; " USAGE);
    if (!sn_control_find(words[1], command))
        sn_fail(SN_STATUS_USAGE, "'%s' cannot be asked for; " USAGE, words[1]);
    if (words[2])
        sn_fail(SN_STATUS_USAGE, "there is a word too many, '%s'; " USAGE, words[2]);
    return process;
}

void sn_control_command_run(const char *const *words) {
    sn_control_command command;
    int process = parse(words, &command);
    sn_asked asked = sn_ask_find(process);
    sn_ask(&asked, command, false);
    if (asked.state != SN_DUMP_DONE && asked.state != SN_DUMP_UNABLE)
        sn_fail(SN_STATUS_FAILURE, "process %d could not answer", process);
    bool is_done = asked.state == SN_DUMP_DONE;
    if (!is_done)
        fprintf(stderr, "sonde: process %d: ", process);
    if (!sn_ask_copy_text(&asked, is_done ? stdout : stderr))
        sn_fail(SN_STATUS_FAILURE, "cannot write the answer: %s", strerror(errno));
    exit(is_done ? 0 : SN_STATUS_FAILURE);
}
