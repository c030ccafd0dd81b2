/**
 * @fileoverview Carrying out what a tool is asked to do: see control.h.
 */
#include "guest/control.h"

#include <string.h>

#include "base/report_file.h"
#include "guest/process.h"
#include "guest/thread.h"

const char *const sn_control_words[] = {
    [SN_CONTROL_DUMP] = "dump", [SN_CONTROL_ZERO] = "zero",     [SN_CONTROL_ON] = "on",
    [SN_CONTROL_OFF] = "off",   [SN_CONTROL_STATUS] = "status", NULL};

bool sn_control_find(const char *word, sn_control_command *command) {
    for (unsigned i = 0; sn_control_words[i]; i++) {
        if (strcmp(word, sn_control_words[i])) continue;
        *command = (sn_control_command)i;
        return true;
    }
    return false;
}

static sn_control_outcome dump(sn_thread *thread, FILE *answer) {
    const sn_tool *tool = sn_current_tool();
    if (!tool->dump) {
        fprintf(answer, "the tool '%s' tells nothing before the end\n", tool->name);
        return SN_CONTROL_FAILED;
    }
    SN_TELL_TOOL("dump", tool->dump(thread));
    if (sn_output_flush()) return SN_CONTROL_DONE;
    fprintf(answer, "the report could not be written\n");
    return SN_CONTROL_FAILED;
}

static sn_control_outcome switch_instrumentation(bool on, FILE *answer) {
    const sn_tool *tool = sn_current_tool();
    if (tool->instrument) {
        sn_instrumentation_enable(on);
        return SN_CONTROL_DONE;
    }
    fprintf(answer, "the tool '%s' does not instrument\n", tool->name);
    return SN_CONTROL_FAILED;
}

/** What is done for a tool that leaves it to Sonde. */
static sn_control_outcome do_as_usual(sn_thread *thread, sn_control_command command, FILE *answer) {
    switch (command) {
    case SN_CONTROL_DUMP: return dump(thread, answer);
    case SN_CONTROL_ON:
    case SN_CONTROL_OFF: return switch_instrumentation(command == SN_CONTROL_ON, answer);
    case SN_CONTROL_STATUS: return SN_CONTROL_DONE;
    case SN_CONTROL_ZERO: break;
    }
    fprintf(answer, "the tool '%s' cannot begin anew\n", sn_current_tool()->name);
    return SN_CONTROL_FAILED;
}

sn_control_outcome sn_control(sn_thread *thread, sn_control_command command, FILE *answer) {
    const sn_tool *tool = sn_current_tool();
    sn_control_outcome outcome = SN_CONTROL_USUAL;
    if (command == SN_CONTROL_STATUS)
        fprintf(answer, "%s %s: instrumentation %s\n", tool->name, tool->version,
                !tool->instrument ? "none" : sn_instrumentation_is_enabled() ? "on" : "off");
    sn_process_lock_end(); /* neither the end nor that of a thread comes in between */
    if (tool->control) SN_TELL_TOOL("control", outcome = tool->control(thread, command, answer));
    if (outcome == SN_CONTROL_USUAL) outcome = do_as_usual(thread, command, answer);
    sn_process_unlock_end();
    return outcome;
}
