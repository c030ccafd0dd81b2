/**
 * @fileoverview Finding and opening tools. See tool_loader.h.
 */
#include "cli/tool_loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "base/settings.h"
#include "sonde_build.h"

#define SUFFIX ".so"

/** Call `use` with each folder in which tools may be, until it returns true. */
static bool for_each_folder(bool (*use)(const char *folder, void *data), void *data) {
    char folder[2 * PATH_MAX];
    const char *listed = getenv("SONDE_TOOLS");
    while (listed && *listed) {
        size_t length = strcspn(listed, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, listed);
        if (length && use(folder, data))
            return true;
        listed += length + (listed[length] == ':');
    }
    const char *slash = strrchr(sn_settings_current.engine_path, '/');
    int length = (int)(slash - sn_settings_current.engine_path);
    static const char *const beside[] = {"/tools", "/" SN_TOOLS_FROM_BIN};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(folder, sizeof folder, "%.*s%s", length, sn_settings_current.engine_path, beside[i]);
        if (use(folder, data))
            return true;
    }
    return use(SN_TOOL_FOLDER, data);
}

typedef struct search {
    const char *name;
    char path[3 * PATH_MAX];
} search;

static bool is_in_folder(const char *folder, void *data) {
    search *wanted = data;
    snprintf(wanted->path, sizeof wanted->path, "%s/%s" SUFFIX, folder, wanted->name);
    return access(wanted->path, F_OK) == 0;
}

typedef struct visitor {
    void (*visit)(const char *name, void *data);
    void *data;
} visitor;

static bool visit_folder(const char *folder, void *data) {
    const visitor *to = data;
    DIR *stream = opendir(folder);
    if (!stream)
        return false;
    const struct dirent *entry;
    while ((entry = readdir(stream))) {
        char name[sizeof entry->d_name];
        size_t length = strlen(entry->d_name);
        if (length <= strlen(SUFFIX) || strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - strlen(SUFFIX)), entry->d_name);
        to->visit(name, to->data);
    }
    closedir(stream);
    return false;
}

void sn_tools_visit(void (*visit)(const char *name, void *data), void *data) {
    for_each_folder(visit_folder, &(visitor){visit, data});
}

static void offer(const char *name, void *data) {
    sn_suggestion *suggestion = data;
    const char *before = suggestion->best;
    sn_suggestion_offer(suggestion, name);
    if (suggestion->best != before && !(suggestion->best = strdup(name)))
        sn_fail(SN_STATUS_ENGINE, "out of memory");
}

static _Noreturn void unknown_tool(const char *name) {
    sn_suggestion suggestion = sn_suggestion_for(name, strlen(name));
    sn_tools_visit(offer, &suggestion);
    if (suggestion.best)
        sn_fail(SN_STATUS_USAGE, "unknown tool '%s'; did you mean '%s'?", name, suggestion.best);
    sn_fail(SN_STATUS_USAGE, "unknown tool '%s'; sonde --help lists the tools", name);
}

static const sn_tool *open_object(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        sn_fail(SN_STATUS_USAGE, "cannot open the tool: %s", dlerror());
    const sn_tool *tool = dlsym(object, "sn_tool_descriptor");
    if (!tool)
        sn_fail(SN_STATUS_USAGE, "'%s' is no tool: it does not define sn_tool_descriptor", path);
    if (tool->interface != SN_TOOL_INTERFACE)
        sn_fail(SN_STATUS_USAGE, "'%s' was built for version %u of the tool interface, this is version %u: rebuild it",
                path, tool->interface, (unsigned)SN_TOOL_INTERFACE);
    return tool;
}

const sn_tool *sn_tool_open(const char *name, const char **path) {
    search wanted = {.name = name};
    if (strchr(name, '/'))
        snprintf(wanted.path, sizeof wanted.path, "%s", name);
    else if (*name == '\0' || !for_each_folder(is_in_folder, &wanted))
        unknown_tool(name);
    char *absolute = realpath(wanted.path, NULL);
    if (!absolute)
        sn_fail(SN_STATUS_USAGE, "cannot open the tool '%s': %s", name, strerror(errno));
    *path = absolute;
    return open_object(absolute);
}
