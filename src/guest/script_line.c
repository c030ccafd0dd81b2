/**
 * @fileoverview #! lines as the kernel's binfmt_script reads them: see program_file.h.
 */
#include <string.h>

#include "guest/program_file.h"

static bool blank(char c) {
    return c == ' ' || c == '\t';
}

/** The end of the line that starts at `bytes`, trailing blanks not included; NULL if the name in it may be cut off. */
static const char *line_end(const char *bytes, const char *limit) {
    const char *end = bytes;
    while (end < limit && *end != '\n' && *end != '\0') {
        end++;
    }
    if (end == limit && (size_t)(limit - bytes) >= SN_SCRIPT_LINE - 2) {
        /* No end within what is looked at: only good if the interpreter's name itself ends there. */
        const char *at = bytes;
        while (at < limit && blank(*at)) {
            at++;
        }
        while (at < limit && !blank(*at)) {
            at++;
        }
        if (at == limit) {
            return NULL;
        }
        end = limit - 1; /* the kernel keeps the last byte for its NUL */
    }
    while (end > bytes && blank(end[-1])) {
        end--;
    }
    return end;
}

bool sn_script_parse(sn_script *script, const char *bytes, size_t size) {
    const char *at = bytes + 2, *limit = bytes + (size < SN_SCRIPT_LINE ? size : SN_SCRIPT_LINE);
    memset(script, 0, sizeof *script);
    if (size < 2 || bytes[0] != '#' || bytes[1] != '!') {
        return false;
    }
    const char *end = line_end(at, limit);
    if (!end) {
        return false;
    }
    while (at < end && blank(*at)) {
        at++;
    }
    const char *name = at;
    while (at < end && !blank(*at)) {
        at++;
    }
    memcpy(script->interpreter, name, (size_t)(at - name));
    while (at < end && blank(*at)) {
        at++;
    }
    memcpy(script->argument, at, (size_t)(end - at));
    return script->interpreter[0] != '\0';
}
