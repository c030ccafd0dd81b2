/**
 * @fileoverview The command line, taken apart. See command_line.h.
 */
#include "cli/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "base/settings.h"
#include "cli/core_options.h"

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    return memory;
}

static void name_tool(sn_command_line *line, const char *name) {
    if (line->tool)
        sn_fail(SN_STATUS_USAGE, "two tools are named: '%s' and '%s'", line->tool, name);
    line->tool = name;
}

/** Options that only ask for text. */
static bool note_request(sn_command_line *line, const char *word) {
    const struct {
        const char *word;
        bool *request;
    } requests[] = {
        {"--help", &line->help},
        {"-h", &line->help},
        {"--help-debug", &line->help_debug},
        {"--version", &line->version},
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (strcmp(word, requests[i].word) == 0)
            return *requests[i].request = true;
    return false;
}

void sn_command_line_split(const char *const *words, sn_command_line *line) {
    unsigned count = 0;
    while (words[count])
        count++;
    const char **options = allocate(count + 1, sizeof *options);
    *line = (sn_command_line){.options = options};
    for (; *words; words++) {
        const char *word = *words;
        if (strcmp(word, "--") == 0) {
            words++;
            break;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (line->tool)
                break;
            name_tool(line, word);
        } else if (strncmp(word, "--tool=", 7) == 0) {
            name_tool(line, word + 7);
        } else if (!note_request(line, word)) {
            options[line->option_count++] = word;
        }
    }
    line->client = words;
}

static bool parse_letters(const char *word) {
    if (strspn(word + 1, "qv") != strlen(word + 1))
        return false;
    for (const char *letter = word + 1; *letter; letter++) {
        if (*letter == 'q')
            sn_settings_current.quiet = true;
        else
            sn_settings_current.verbose++;
    }
    return true;
}

static _Noreturn void unknown_option(const char *word, const sn_option *const tables[], size_t count,
                                     const sn_tool *tool) {
    if (strncmp(word, "--", 2) != 0)
        sn_fail(SN_STATUS_USAGE, "unknown option '%s'; see sonde --help", word);
    sn_suggestion suggestion = sn_suggestion_for(word + 2, strcspn(word + 2, "="));
    for (size_t i = 0; i < count; i++)
        sn_suggestion_offer_options(&suggestion, tables[i]);
    static const char *const requests[] = {"help", "help-debug", "version"};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        sn_suggestion_offer(&suggestion, requests[i]);
    if (suggestion.best)
        sn_fail(SN_STATUS_USAGE, "unknown option '%s'; did you mean --%s?", word, suggestion.best);
    sn_fail(SN_STATUS_USAGE, "unknown option '%s'; see sonde %s%s--help", word, tool ? tool->name : "",
            tool ? " " : "");
}

void sn_command_line_parse(const sn_command_line *line, const sn_tool *tool) {
    const sn_option *const tables[] = {
        sn_core_options,
        tool ? tool->options : NULL,
        sn_debug_options,
        sn_exec_options,
    };
    const size_t table_count = sizeof tables / sizeof tables[0];
    for (unsigned i = 0; i < line->option_count; i++) {
        const char *word = line->options[i];
        sn_option_outcome outcome = word[1] != '-' && parse_letters(word) ? SN_OPTION_DONE : SN_OPTION_UNKNOWN;
        char explanation[512];
        for (size_t table = 0; table < table_count && outcome == SN_OPTION_UNKNOWN; table++)
            outcome = sn_option_parse(tables[table], word, explanation, sizeof explanation);
        if (outcome == SN_OPTION_BAD)
            sn_fail(SN_STATUS_USAGE, "%s", explanation);
        if (outcome == SN_OPTION_UNKNOWN)
            unknown_option(word, tables, table_count, tool);
    }
    sn_core_options_apply();
}

static char *option_text(const char *name, const char *value) {
    char *text;
    if (asprintf(&text, "--%s=%s", name, value) < 0)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    return text;
}

void sn_command_line_keep(const sn_command_line *line, const char *tool_path) {
    /* Names of files were made absolute: the client may have changed its folder when a child needs them. */
    const struct {
        const char *name, *value;
    } resolved[] = {
        {"tool", tool_path},
        {"log-file", sn_settings_current.log_file},
        {"output", sn_settings_current.output},
    };
    const size_t resolved_count = sizeof resolved / sizeof resolved[0];
    const char **kept = allocate(line->option_count + resolved_count + 1, sizeof *kept);
    size_t count = 0;
    for (unsigned i = 0; i < line->option_count; i++) {
        const char *word = line->options[i];
        if (strncmp(word, "--exec-", 7) != 0)
            kept[count++] = word;
    }
    /* Behind the user's own, so that they win. */
    for (size_t i = 0; i < resolved_count; i++)
        if (resolved[i].value)
            kept[count++] = option_text(resolved[i].name, resolved[i].value);
    sn_settings_current.engine_arguments = kept;
}
