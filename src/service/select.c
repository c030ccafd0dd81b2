/**
 * @fileoverview Patterns of code and what they select. See select.h.
 */
#include "service/select.h"

#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sonde/hash.h"
#include "base/lock.h"
#include "base/settings.h"
#include "sonde/vector.h"
#include "guest/space.h"
#include "jit/translate.h"
#include "sonde/tool.h"

/** What a pattern may name; a pattern without one of the prefixes may name any. */
enum { FUNCTION = 1, FILE_OF_SOURCE = 2, MODULE = 4, ANYTHING = 7 };

typedef struct pattern {
    unsigned kinds;
    const char *glob;
} pattern;

typedef SN_VECTOR(pattern) pattern_list;

static pattern_list only, skip;

/* ------------------------------------------------------------------ matching */

bool sn_select_matches_path(const char *glob, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *compared = strchr(glob, '/') || !slash ? path : slash + 1;
    return fnmatch(glob, compared, 0) == 0;
}

/** Length of a demangled name without its parameter list: up to the parenthesis that belongs to the last one. */
static size_t length_without_parameters(const char *name) {
    const char *at = strrchr(name, ')');
    for (int depth = 0; at && at >= name; at--) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0)
            return (size_t)(at - name);
    }
    return 0;
}

bool sn_select_matches_function(const char *glob, const char *name) {
    char bare[1024];
    if (fnmatch(glob, name, 0) == 0)
        return true;
    size_t length = length_without_parameters(name);
    if (length == 0 || length >= sizeof bare)
        return false;
    memcpy(bare, name, length);
    bare[length] = '\0';
    return fnmatch(glob, bare, 0) == 0;
}

static bool matches(const pattern *pattern, const sn_location *where) {
    if (pattern->kinds & FUNCTION && where->function && sn_select_matches_function(pattern->glob, where->function))
        return true;
    if (pattern->kinds & FILE_OF_SOURCE && where->file && sn_select_matches_path(pattern->glob, where->file))
        return true;
    return pattern->kinds & MODULE && where->module && sn_select_matches_path(pattern->glob, where->module);
}

static bool any_matches(const pattern_list *list, const sn_location *where) {
    for (size_t i = 0; i < list->count; i++)
        if (matches(&list->items[i], where))
            return true;
    return false;
}

/** Where the function that holds `address` is, by its own first line, so that a function is selected as a whole. */
static bool decide(uint64_t address) {
    sn_location where, start;
    sn_locate(address, &where);
    if (where.function_address && where.function_address != address && sn_locate(where.function_address, &start) &&
        start.function_address == where.function_address)
        where.file = start.file;
    return (!only.count || any_matches(&only, &where)) && !any_matches(&skip, &where);
}

/* ------------------------------------------------------------ what was decided */

/** What was mapped where a decision was made: another library may be there later. */
typedef struct mapping {
    uint64_t start, offset;
    dev_t device;
    ino_t inode;
} mapping;

static sn_lock lock;
static SN_VECTOR(mapping) mappings;
static sn_hash decisions; /**< address -> 2 * position in `mappings` + whether selected */

static size_t position_of(const sn_region *region) {
    for (size_t i = mappings.count; i-- > 0;) {
        const mapping *known = &mappings.items[i];
        if (known->start == region->start && known->offset == region->offset && known->device == region->device &&
            known->inode == region->inode)
            return i;
    }
    *sn_vector_add(&mappings) = (mapping){region->start, region->offset, region->device, region->inode};
    return mappings.count - 1;
}

bool sn_selected(uint64_t address) {
    sn_region region;
    if (!only.count && !skip.count)
        return true;
    if (!sn_space_find(address, &region) || !region.path)
        region = (sn_region){0};
    sn_lock_acquire(&lock);
    size_t position = position_of(&region);
    uint64_t known = sn_hash_get(&decisions, address, UINT64_MAX);
    sn_lock_release(&lock);
    if (known >> 1 == position)
        return known & 1;
    bool selected = decide(address);
    sn_lock_acquire(&lock);
    sn_hash_set(&decisions, address, position << 1 | selected);
    sn_lock_release(&lock);
    return selected;
}

/* ------------------------------------------------------------------ patterns */

static pattern read_pattern(const char *text) {
    static const struct {
        const char *prefix;
        unsigned kinds;
    } prefixes[] = {{"function:", FUNCTION}, {"file:", FILE_OF_SOURCE}, {"module:", MODULE}};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i].prefix);
        /* Of two colons, the name of a C++ namespace is in front. */
        if (strncmp(text, prefixes[i].prefix, length) == 0 && text[length] && text[length] != ':')
            return (pattern){prefixes[i].kinds, text + length};
    }
    return (pattern){ANYTHING, text};
}

static void read_patterns(const sn_texts *texts, pattern_list *list) {
    for (size_t i = 0; i < texts->count; i++)
        *sn_vector_add(list) = read_pattern(texts->items[i]);
}

void sn_select_init(void) {
    read_patterns(&sn_settings_current.only, &only);
    read_patterns(&sn_settings_current.skip, &skip);
    if (only.count || skip.count)
        sn_translate_select(sn_selected);
}
