/**
 * @fileoverview Reads the functions of a compilation unit and what was inlined into them. See inlined.h.
 *
 * The tree of a unit is walked once, to a limited depth and length whatever the file says, and becomes a list sorted by
 * address: finding an address is then a binary search and a few steps outwards.
 */
#include "image/inlined.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"

enum { MOST_DEPTH = 64, MOST_REFERENCES = 8, MOST_OUTWARDS = 1000 };

typedef struct walk {
    sn_inlined_scopes *scopes;
    size_t most;
    size_t dies_left; /**< a hostile file can't make the walk longer */
} walk;

/** The string of an attribute, of the entry itself or of the one that it stands for. libdw follows references without a
    limit of its own, so this one does. */
static const char *string_of(Dwarf_Die *die, unsigned attribute_name) {
    Dwarf_Die current = *die, next;
    Dwarf_Attribute attribute;
    for (unsigned i = 0; i < MOST_REFERENCES; i++) {
        if (dwarf_attr(&current, attribute_name, &attribute) != NULL) {
            return dwarf_formstring(&attribute);
        }
        if ((dwarf_attr(&current, DW_AT_abstract_origin, &attribute) == NULL &&
             dwarf_attr(&current, DW_AT_specification, &attribute) == NULL) ||
            dwarf_formref_die(&attribute, &next) == NULL) {
            return NULL;
        }
        current = next;
    }
    return NULL;
}

static const char *function_name(Dwarf_Die *die) {
    static const unsigned attributes[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const char *name = string_of(die, attributes[i]);
        if (name != NULL && *name != '\0') {
            return sn_intern(name);
        }
    }
    return NULL;
}

/** The unit's table of files has the name; dwarf_decl_file() would end the process where that can't be read. */
static const char *call_file(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &index) != 0 ||
        dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) == NULL ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) {
        return NULL;
    }
    const char *name = dwarf_filesrc(files, index, NULL, NULL);
    return name == NULL ? NULL : sn_intern(name);
}

static unsigned call_line(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Word line;
    bool is_known = dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0;
    return is_known && line <= UINT32_MAX ? (unsigned)line : 0;
}

static bool add(walk *walk, const sn_inlined_scope *scope) {
    sn_inlined_scopes *scopes = walk->scopes;
    if (scopes->count >= walk->most || scopes->count >= UINT32_MAX - 1) {
        return false;
    }
    if (scopes->count == scopes->room) {
        size_t room = scopes->room == 0 ? 64 : scopes->room * 2;
        void *moved = reallocarray(scopes->items, room, sizeof *scopes->items);
        if (moved == NULL) {
            return false;
        }
        scopes->items = moved;
        scopes->room = room;
    }
    scopes->items[scopes->count++] = *scope;
    return true;
}

/** One scope for each range of its code. */
static void add_function(walk *walk, Dwarf_Die *die, bool is_inlined) {
    sn_inlined_scope scope = {.function = function_name(die), .is_inlined = is_inlined};
    if (is_inlined) {
        scope.call_file = call_file(die);
        scope.call_line = call_line(die);
    }
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        scope.low = low;
        scope.high = high;
        if (low < high && !add(walk, &scope)) {
            return;
        }
    }
}

/** What may hold functions, or be one. */
static void visit_children(walk *walk, Dwarf_Die *parent, unsigned depth) {
    static const int holders[] = {
        DW_TAG_subprogram, DW_TAG_inlined_subroutine, DW_TAG_lexical_block, DW_TAG_namespace, DW_TAG_class_type,
        DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_module, DW_TAG_interface_type, DW_TAG_common_block,
        DW_TAG_try_block, DW_TAG_catch_block,
    };
    Dwarf_Die child;
    if (depth == MOST_DEPTH || dwarf_child(parent, &child) != 0) {
        return;
    }
    do {
        if (walk->dies_left == 0) {
            return;
        }
        walk->dies_left--;
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
            add_function(walk, &child, tag == DW_TAG_inlined_subroutine);
        }
        for (size_t i = 0; i < sizeof holders / sizeof *holders; i++) {
            if (tag == holders[i]) {
                visit_children(walk, &child, depth + 1);
            }
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

/** Outer scopes before inner ones; of equal ranges, in the order in which they were met, which is from the outside. */
typedef struct sort_key {
    sn_inlined_scope scope;
    size_t number;
} sort_key;

static int by_range(const void *left, const void *right) {
    const sort_key *a = left, *b = right;
    if (a->scope.low != b->scope.low) {
        return a->scope.low > b->scope.low ? 1 : -1;
    }
    if (a->scope.high != b->scope.high) {
        return a->scope.high < b->scope.high ? 1 : -1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static bool sort(sn_inlined_scopes *scopes) {
    sort_key *keys = reallocarray(NULL, scopes->count, sizeof *keys);
    if (keys == NULL) {
        return false;
    }
    for (size_t i = 0; i < scopes->count; i++) {
        keys[i] = (sort_key){.scope = scopes->items[i], .number = i};
    }
    qsort(keys, scopes->count, sizeof *keys, by_range);
    for (size_t i = 0; i < scopes->count; i++) {
        scopes->items[i] = keys[i].scope;
    }
    free(keys);
    return true;
}

/** The scope before it, or one that this one lies in, is the innermost around each. */
static void find_parents(sn_inlined_scopes *scopes) {
    for (size_t i = 0; i < scopes->count; i++) {
        uint32_t parent = i == 0 ? UINT32_MAX : (uint32_t)i - 1;
        while (parent != UINT32_MAX && scopes->items[parent].high <= scopes->items[i].low) {
            parent = scopes->items[parent].parent;
        }
        scopes->items[i].parent = parent;
    }
}

void sn_inlined_read(sn_inlined_scopes *scopes, Dwarf_Die *unit, size_t most) {
    walk walk = {.scopes = scopes, .most = most, .dies_left = most};
    scopes->is_read = true;
    visit_children(&walk, unit, 0);
    if (scopes->count > 0 && sort(scopes)) {
        find_parents(scopes);
    } else {
        scopes->count = 0;
    }
}

uint32_t sn_inlined_find(const sn_inlined_scopes *scopes, uint64_t address) {
    size_t low = 0, high = scopes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scopes->items[middle].low <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t found = low == 0 ? UINT32_MAX : (uint32_t)(low - 1);
    for (unsigned steps = 0; found != UINT32_MAX && address >= scopes->items[found].high; steps++) {
        found = steps == MOST_OUTWARDS ? UINT32_MAX : scopes->items[found].parent;
    }
    return found;
}

void sn_inlined_release(sn_inlined_scopes *scopes) {
    free(scopes->items);
    *scopes = (sn_inlined_scopes){0};
}
