/**
 * @fileoverview The engine's entry: reads the command line, opens the tool, hands over to the guest layer.
 *
 * Everything that can be wrong with the command line is found here, before anything of the client runs.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/report_file.h"
#include "base/settings.h"
#include "cli/command_line.h"
#include "cli/control_command.h"
#include "cli/core_options.h"
#include "cli/dump_command.h"
#include "cli/environment.h"
#include "cli/help.h"
#include "cli/tool_loader.h"
#include "guest/limits.h"
#include "guest/loader.h"
#include "guest/run.h"
#include "report/report.h"
#include "service/locate.h"
#include "service/select.h"

/** The launcher says where it lies in argument zero; an engine that was started by hand is its own command. */
static const char *find_own_path(const char *argument_zero) {
    static char path[PATH_MAX];
    if (argument_zero && argument_zero[0] == '/')
        return argument_zero;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        sn_fail(SN_STATUS_ENGINE, "cannot find out where this program lies: /proc is not mounted");
    return path;
}

static void answer_requests(const sn_command_line *line) {
    if (line->version)
        sn_help_version();
    if (line->help_debug)
        sn_help_debug();
    if (line->help && !line->tool)
        sn_help_general();
}

/** The client's argument list: --exec-arg0= stands for the first word, or is all there is. */
static const char *const *client_arguments(const sn_command_line *line) {
    size_t count = 0;
    while (line->client[count])
        count++;
    const char **arguments = calloc(count + 2, sizeof *arguments);
    if (!arguments)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    memcpy(arguments, line->client, count * sizeof *arguments);
    if (sn_exec_argument_zero)
        arguments[0] = sn_exec_argument_zero;
    else if (count == 0)
        arguments[0] = "";
    return arguments;
}

/** Before a report file is emptied: that the program can be run at all. */
static void check_program(const char *program) {
    char explanation[1024];
    int status = sn_program_check(program, !sn_settings_current.following_exec, explanation, sizeof explanation);
    if (status)
        sn_fail(status, "%s", explanation);
}

int main(int count, char **words, char **environment) {
    sn_environment_restore(environment);
    sn_settings_current.engine_path = find_own_path(words[0]);

    if (count > 1 && strcmp(words[1], "report") == 0)
        sn_report_command((const char *const *)words + 2);
    if (count > 1 && strcmp(words[1], "dump") == 0)
        sn_dump_command((const char *const *)words + 2);
    if (count > 1 && strcmp(words[1], "control") == 0)
        sn_control_command_run((const char *const *)words + 2);
    sn_command_line line;
    sn_command_line_split((const char *const *)words + (count > 0), &line);
    answer_requests(&line);
    if (!line.tool) {
        sn_command_line_parse(&line, NULL);
        sn_fail(SN_STATUS_USAGE, "no tool is named; usage: sonde TOOL [options] [--] PROGRAM [arguments]");
    }
    const char *tool_path;
    const sn_tool *tool = sn_tool_open(line.tool, &tool_path);
    if (line.help)
        sn_help_tool(tool);
    sn_command_line_parse(&line, tool);
    sn_command_line_keep(&line, tool_path);
    if (!line.client[0] && !sn_exec_path)
        sn_fail(SN_STATUS_USAGE, "no program to run; usage: sonde %s [options] [--] PROGRAM [arguments]", tool->name);

    const char *program = sn_exec_path ? sn_exec_path : line.client[0];
    check_program(program);
    sn_log_open();
    sn_output_open();
    if (!sn_limits_init(sn_exec_limits))
        sn_fail(SN_STATUS_USAGE, "--exec-limits=%s is malformed", sn_exec_limits);
    if (tool->start)
        tool->start();
    sn_locate_init();
    sn_select_init();
    sn_run(tool, program, client_arguments(&line), (const char *const *)environment);
}
