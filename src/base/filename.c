/**
 * @fileoverview Names of report files with %p, %n, %q{VAR} and %%. See filename.h.
 */
#include "base/filename.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

typedef struct text {
    char *start;
    size_t used, size;
    bool full;
} text;

static void append(text *to, const char *from, size_t length) {
    if (length >= to->size - to->used) {
        to->full = true;
        return;
    }
    memcpy(to->start + to->used, from, length);
    to->used += length;
    to->start[to->used] = '\0';
}

static void append_number(text *to, unsigned long number) {
    char digits[24];
    append(to, digits, (size_t)snprintf(digits, sizeof digits, "%lu", number));
}

/** %q{VAR}, `from` behind the q; goes on behind the brace. */
static const char *append_variable(text *to, const char **from) {
    const char *end = **from == '{' ? strchr(*from, '}') : NULL;
    if (!end)
        return "%q must be followed by {VARIABLE}";
    char name[256];
    size_t length = (size_t)(end - *from - 1);
    if (length == 0 || length >= sizeof name)
        return "%q{} names no variable";
    memcpy(name, *from + 1, length);
    name[length] = '\0';
    *from = end + 1;
    const char *value = getenv(name);
    if (!value) {
        static char explanation[sizeof name + 64];
        snprintf(explanation, sizeof explanation, "the environment variable %s is not set", name);
        return explanation;
    }
    append(to, value, strlen(value));
    return NULL;
}

static const char *append_escape(text *to, const char **from, unsigned sequence) {
    switch (*(*from)++) {
    case 'p': append_number(to, (unsigned long)getpid()); return NULL;
    case 'n': append_number(to, sequence); return NULL;
    case '%': append(to, "%", 1); return NULL;
    case 'q': return append_variable(to, from);
    default: return "after % only p, n, q{VARIABLE} and % are known";
    }
}

const char *sn_filename_expand(const char *template, unsigned sequence, char *result, size_t size) {
    text to = {.start = result, .size = size};
    result[0] = '\0';
    while (*template) {
        size_t plain = strcspn(template, "%");
        append(&to, template, plain);
        template += plain;
        if (!*template)
            break;
        template++;
        const char *wrong = append_escape(&to, &template, sequence);
        if (wrong)
            return wrong;
    }
    if (to.full)
        return "the file name is too long";
    return result[0] ? NULL : "the file name is empty";
}

bool sn_filename_is_per_process(const char *template) {
    for (const char *at = strchr(template, '%'); at && at[1]; at = strchr(at + 2, '%'))
        if (at[1] == 'p')
            return true;
    return false;
}

/** The folder of the moment as the beginning of a file name template, in which % is doubled. */
static void append_working_folder(char *to, size_t size) {
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return;
    size_t used = 0;
    for (const char *from = folder; *from && used + 3 < size; from++) {
        to[used++] = *from;
        if (*from == '%')
            to[used++] = '%';
    }
    to[used++] = '/';
    to[used] = '\0';
}

const char *sn_filename_absolute(const char *template) {
    if (template[0] == '/' || strncmp(template, "%q", 2) == 0)
        return template;
    char folder[2 * PATH_MAX] = "";
    append_working_folder(folder, sizeof folder);
    char *absolute;
    if (asprintf(&absolute, "%s%s", folder, template) < 0)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    return absolute;
}
