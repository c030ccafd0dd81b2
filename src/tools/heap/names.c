/**
 * @fileoverview Names of places. See names.h.
 */
#include "names.h"

#include <string.h>

enum { MOST_INLINED = 32 };

unsigned heap_places_of(sn_context context, heap_place *places, unsigned most) {
    unsigned count = 0;
    sn_context_info info, caller;
    while (count < most && sn_context_describe(context, &info) && sn_context_describe(info.caller, &caller)) {
        uint64_t address = info.call_site != 0 ? info.call_site : caller.function;
        places[count++] = (heap_place){.address = address, .function = caller.function};
        context = info.caller;
    }
    return count;
}

static const char *without_folders(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/** The functions at an address, inlined ones first. Where a function begins, it is meant itself, not what was inlined there. */
static unsigned functions_at(uint64_t address, sn_inlined *frames, sn_location *location) {
    sn_locate(address, location);
    bool is_function = location->function != NULL && location->function_address == address;
    return is_function ? 0 : sn_locate_inlined(address, frames, MOST_INLINED);
}

unsigned heap_frame_functions(uint64_t address) {
    sn_inlined frames[MOST_INLINED];
    sn_location location;
    unsigned count = functions_at(address, frames, &location);
    return count != 0 ? count : 1;
}

bool heap_print_frame(FILE *file, uint64_t address, unsigned inlined, bool with_folders) {
    sn_inlined frames[MOST_INLINED];
    sn_location location;
    unsigned count = functions_at(address, frames, &location);
    if (inlined >= count && inlined > 0) {
        return false;
    }
    const char *function = inlined < count ? frames[inlined].function : location.function;
    const char *source = inlined < count ? frames[inlined].file : location.file;
    unsigned line = inlined < count ? frames[inlined].line : location.line;
    fputs(function != NULL ? function : "???", file);
    if (source != NULL && line != 0) {
        fprintf(file, " (%s:%u)", with_folders ? source : without_folders(source), line);
    } else if (location.module != NULL) {
        fprintf(file, " (in %s)", location.module);
    }
    return true;
}

bool heap_is_named(uint64_t address, const sn_texts *names) {
    sn_location location;
    if (names->count == 0 || !sn_locate(address, &location) || location.function == NULL) {
        return false;
    }
    const char *arguments = strchr(location.function, '(');
    size_t length = arguments != NULL ? (size_t)(arguments - location.function) : strlen(location.function);
    for (size_t i = 0; i < names->count; i++) {
        bool is_bare = strlen(names->items[i]) == length && strncmp(names->items[i], location.function, length) == 0;
        if (is_bare || strcmp(names->items[i], location.function) == 0) {
            return true;
        }
    }
    return false;
}
