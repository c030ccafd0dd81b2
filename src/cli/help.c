/**
 * @fileoverview The texts of --help, --help-debug and --version. See help.h.
 */
#include "cli/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "cli/core_options.h"
#include "cli/tool_loader.h"
#include "sonde_build.h"

static _Noreturn void finish(void) {
    if (fflush(stdout) != 0 || ferror(stdout))
        sn_fail(SN_STATUS_FAILURE, "cannot write to standard output: %s", strerror(errno));
    exit(0);
}

/** The names of all tools, in order and each once. */
typedef struct name_list {
    char *names[64];
    size_t count;
} name_list;

static void add_name(const char *name, void *data) {
    name_list *list = data;
    size_t at = 0;
    while (at < list->count && strcmp(list->names[at], name) < 0)
        at++;
    bool is_known = at < list->count && strcmp(list->names[at], name) == 0;
    char *copy = is_known || list->count == sizeof list->names / sizeof list->names[0] ? NULL : strdup(name);
    if (!copy)
        return;
    memmove(&list->names[at + 1], &list->names[at], (list->count++ - at) * sizeof list->names[0]);
    list->names[at] = copy;
}

/** Over the whole width: there are many. */
static void print_tools(void) {
    enum { INDENT = 8, WIDTH = 79 };
    static name_list list;
    sn_tools_visit(add_name, &list);
    size_t used = (size_t)printf("%-*s%s", INDENT, "  TOOL", list.count ? "" : "none found");
    for (size_t i = 0; i < list.count; i++) {
        size_t length = strlen(list.names[i]) + (i + 1 < list.count);
        if (used > INDENT && used + 1 + length > WIDTH) used = (size_t)printf("\n%*s", INDENT, "") - 1;
        used += (size_t)printf("%s%s%s", used > INDENT ? " " : "", list.names[i], i + 1 < list.count ? "," : "");
    }
    putchar('\n');
}

static void print_core_options(void) {
    sn_options_print(stdout, sn_core_options);
    sn_help_print(stdout, "-q, -v", "fewer messages, more messages");
    sn_help_print(stdout, "--help, --help-debug, --version", "print this, options for developers, the version");
}

void sn_help_general(void) {
    puts("Usage: sonde TOOL [options] [--] PROGRAM [arguments]\n"
         "       sonde report FILE...   sonde dump PID   sonde control PID COMMAND\n"
         "Run PROGRAM, unchanged, and let TOOL tell what it did.");
    print_tools();
    puts("\nOptions, with [defaults]:");
    print_core_options();
    puts("\nIn names of files: %p process number, %n file number, %q{VAR} environment.\n"
         "sonde TOOL --help lists a tool's own options; man sonde tells more.");
    finish();
}

void sn_help_tool(const sn_tool *tool) {
    printf("Usage: sonde %s [options] [--] PROGRAM [arguments]\n%s: %s (version %s)\n", tool->name, tool->name,
           tool->description, tool->version);
    if (tool->options && tool->options->name) {
        printf("\nOptions of %s, with [defaults]:\n", tool->name);
        sn_options_print(stdout, tool->options);
    }
    puts("\nOptions for every tool:");
    print_core_options();
    finish();
}

void sn_help_debug(void) {
    puts("Options for who works on Sonde itself, with [defaults]:");
    sn_options_print(stdout, sn_debug_options);
    finish();
}

void sn_help_version(void) {
    puts("sonde " SN_VERSION);
    finish();
}
