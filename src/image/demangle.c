/**
 * @fileoverview Demangling by libiberty, which knows C++ (Itanium ABI) and both Rust forms and needs no C++ library.
 */
#include "image/demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Longer names are shown as they are: the demangler's stack use grows with the name. */
enum { LONGEST_NAME = 1024 };

static char *readable(const char *name) {
    bool may_be_mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
    if (!may_be_mangled || strlen(name) > LONGEST_NAME) {
        return NULL;
    }
    return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}

char *sn_demangle(const char *name, bool is_stub) {
    char *bare_name = strndup(name, strcspn(name, "@")); /* without the symbol's version */
    char *readable_name = bare_name == NULL ? NULL : readable(bare_name);
    if (readable_name == NULL) {
        readable_name = bare_name;
    } else {
        free(bare_name);
    }
    if (!is_stub || readable_name == NULL) {
        return readable_name;
    }
    char *stub_name;
    if (asprintf(&stub_name, "%s@plt", readable_name) < 0) {
        stub_name = NULL;
    }
    free(readable_name);
    return stub_name;
}
