/**
 * @fileoverview The requests that Sonde itself answers, whatever the tool: those of Valgrind's core that mean something here
 * (valgrind.h 3.19, Vg_ClientRequest; include/sonde/client.h has the numbers).
 *
 * Requests that nobody answers leave the program with the answer that it wants then.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"
#include "guest/control.h"
#include "guest/request.h"
#include "guest/request_print.h"
#include "jit/client_code.h"
#include "sonde/client.h"

#define LONGEST_TEXT 256

/** VALGRIND_MONITOR_COMMAND: a word of `sonde control`. Its answer goes to the log. 0: done, 1: there is no such word. */
static uint64_t run_command(sn_thread *thread, uint64_t text) {
    char word[LONGEST_TEXT], *said = NULL;
    size_t size = 0;
    sn_control_command command;
    if (!sn_request_string(text, word, sizeof word) || !sn_control_find(word, &command)) return 1;
    FILE *answer = open_memstream(&said, &size);
    if (!answer) return 1;
    sn_control(thread, command, answer);
    if (fclose(answer) == 0) sn_log_write(said, size);
    free(said);
    return 0;
}

static void refuse_option(uint64_t text) {
    char option[LONGEST_TEXT];
    if (!sn_request_string(text, option, sizeof option)) return;
    sn_message("the program asks for the option '%s': options cannot be changed while it runs", option);
}

bool sn_request_answer(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    uint64_t number = arguments[0];
    switch (number) {
    case SN_REQUEST_RUNNING:
        *result = !sn_settings_current.denies_valgrind;
        return true;
    case SN_REQUEST_DISCARD_CODE:
        sn_code_discard(arguments[1], arguments[1] + arguments[2]);
        *result = 0;
        return true;
    case SN_REQUEST_CALL_0:
    case SN_REQUEST_CALL_1:
    case SN_REQUEST_CALL_2:
    case SN_REQUEST_CALL_3: {
        const uint64_t words[] = {(uint64_t)thread->id, arguments[2], arguments[3], arguments[4]};
        return sn_client_call(thread, arguments[1], words, (unsigned)(number - SN_REQUEST_CALL_0) + 1);
    }
    case SN_REQUEST_COUNT_ERRORS:
        *result = 0; /* a tool that finds errors has answered */
        return true;
    case SN_REQUEST_COMMAND:
        *result = run_command(thread, arguments[1]);
        return true;
    case SN_REQUEST_CHANGE_OPTION:
        refuse_option(arguments[1]);
        *result = 0;
        return true;
    case SN_REQUEST_PRINT_BY_VALUE: /* where a va_list is an array, both are its address */
    case SN_REQUEST_PRINT_BACKTRACE_BY_VALUE:
    case SN_REQUEST_PRINT:
    case SN_REQUEST_PRINT_BACKTRACE:
        *result = sn_request_print(thread->process, arguments[1], arguments[2]);
        return true;
    default:
        return false;
    }
}
