/**
 * @fileoverview Functions and places by address. See functions.h.
 */
#include "functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/collections.h>
#include <sonde/tool.h>

#include "separate.h"

/** Functions by name and object, both interned. */
typedef struct function_key {
    const char *name, *object;
} function_key;
typedef struct known_function {
    function_key key;
    calls_function *function;
} known_function;
static SN_TABLE(known_function) functions;
static sn_arena function_memory;

/** Where functions without symbols begin, and pieces of functions in code without symbols: sorted. */
typedef struct beginning {
    uint64_t address;
    uint64_t owner;   /**< an address in the function that it is a piece of; 0: a function begins */
} beginning;
static SN_VECTOR(beginning) unnamed;

/** Addresses with the same place, of those that were looked up last: where an address begins. */
typedef struct known_place {
    uint64_t start, end;
    calls_place place;
} known_place;
enum { KNOWN_PLACES = 1 << 15 };
static known_place known[KNOWN_PLACES], *last = known;

static void *checked(void *memory) {
    if (memory == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    return memory;
}

/* --------------------------------------------------------------------------- functions */

static bool is_same(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static calls_function *function_of(const char *name, const char *object, uint64_t entry, bool has_symbol) {
    bool is_new;
    const function_key key = {sn_intern(name), object != NULL ? sn_intern(object) : NULL};
    known_function *known = sn_table_insert(&functions, key, &is_new);
    if (!is_new) {
        known->function->entry = entry < known->function->entry ? entry : known->function->entry;
        return known->function;
    }
    sn_location location;
    sn_locate(entry, &location);
    known->function = sn_arena_allocate(&function_memory, sizeof *known->function);
    *known->function = (calls_function){.name = key.name, .object = object, .file = location.file, .entry = entry,
                                        .has_symbol = has_symbol};
    return known->function;
}

static int compare_names(const char *a, const char *b) {
    return a == b ? 0 : a == NULL ? -1 : b == NULL ? 1 : strcmp(a, b);
}

static int by_object_and_entry(const void *left, const void *right) {
    const calls_function *a = *(calls_function *const *)left, *b = *(calls_function *const *)right;
    int order = compare_names(a->object, b->object);
    order = order != 0 ? order : (a->entry > b->entry) - (a->entry < b->entry);
    return order != 0 ? order : compare_names(a->name, b->name);
}

void calls_functions_number(void) {
    SN_VECTOR(calls_function *) all = {0};
    sn_table_each(&functions, known) {
        *sn_vector_add(&all) = known->function;
    }
    if (all.count > 0) {
        qsort(all.items, all.count, sizeof *all.items, by_object_and_entry);
    }
    for (size_t i = 0; i < all.count; i++) {
        all.items[i]->number = (uint32_t)i;
    }
    sn_vector_release(&all);
}

/** What begins last at or before an address in code that has no symbols, NULL if nothing does. The next one ends what is the
    same, if it lies before *until. */
static const beginning *unnamed_before(uint64_t address, const char *module, uint64_t *until) {
    size_t end = sn_sorted_behind(unnamed.items, unnamed.count, SN_SORTED_SHAPE(&unnamed, address), address);
    if (end < unnamed.count && unnamed.items[end].address < *until) {
        *until = unnamed.items[end].address;
    }
    const beginning *last = end > 0 ? &unnamed.items[end - 1] : NULL;
    sn_location location;
    bool is_near = last != NULL && sn_locate(last->address, &location) == (module != NULL) && is_same(location.module, module);
    return is_near ? last : NULL;
}

static calls_place look_up(uint64_t address, uint64_t *until);

static const calls_function *unnamed_function(uint64_t address, const char *module, uint64_t *until) {
    const beginning *last = unnamed_before(address, module, until);
    char name[32] = "???";
    sn_location location;
    if (last != NULL && last->owner != 0) {
        uint64_t ignored; /* owners are no pieces themselves */
        return look_up(last->owner, &ignored).function;
    }
    if (last != NULL) {
        sn_locate(last->address, &location);
        snprintf(name, sizeof name, "0x%016" PRIx64, location.file_address != 0 ? location.file_address : last->address);
    }
    return function_of(name, module, last != NULL ? last->address : address, false);
}

/** "NAME [clone .cold]" and "NAME.cold" are pieces of NAME. */
static const char *whole_name(const char *name, char *buffer, size_t size) {
    const char *piece = strstr(name, " [clone .cold");
    piece = piece != NULL ? piece : strstr(name, ".cold");
    if (piece == NULL || (size_t)(piece - name) >= size) {
        return name;
    }
    memcpy(buffer, name, (size_t)(piece - name));
    buffer[piece - name] = 0;
    return buffer;
}

/** The place is the same up to *until. */
static calls_place look_up(uint64_t address, uint64_t *until) {
    sn_location location;
    char buffer[1024];
    sn_locate(address, &location);
    *until = location.same_until;
    calls_place place = {.file = location.line != 0 ? location.file : NULL, .line = location.line};
    if (location.function == NULL) {
        place.function = unnamed_function(address, location.module, until);
    } else {
        place.function = function_of(whole_name(location.function, buffer, sizeof buffer), location.module,
                                     location.function_address, true);
    }
    return place;
}

/* ------------------------------------------------------------------------------ places */

/** Neighbours are asked for one behind the other, and the same blocks' beginnings many times. */
calls_place calls_place_of(uint64_t address) {
    if (address - last->start >= last->end - last->start) {
        last = &known[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % KNOWN_PLACES];
    }
    if (address - last->start >= last->end - last->start) {
        last->start = address;
        last->end = address + 1;
        last->place = look_up(address, &last->end);
    }
    return last->place;
}

/* ----------------------------------------------------------------------------- entries */

/** Addresses that are called, of which those without symbols will be entries: many are the same. */
typedef struct called_address {
    uint64_t address;
} called_address;
static SN_VECTOR(called_address) called;

void calls_functions_learn(uint64_t entry) {
    sn_vector_add(&called)->address = entry;
}

/** Pieces, which are put among the beginnings when all have been told. */
static SN_VECTOR(beginning) pieces;

void calls_functions_add_piece(uint64_t address, const calls_function *function) {
    *sn_vector_add(&pieces) = (beginning){.address = address, .owner = function->entry};
}

bool calls_functions_is_entry(uint64_t address) {
    const beginning *found = sn_sorted_find(&unnamed, address, address);
    return found != NULL && found->owner == 0;
}

/** Pieces go: what was one may be called now. */
static void add_entries(void) {
    size_t count = 0;
    sn_location location;
    sn_sorted_sort(&called, address);
    sn_sorted_unique(&called, address);
    for (size_t i = 0; i < unnamed.count; i++) {
        if (unnamed.items[i].owner == 0) {
            unnamed.items[count++] = unnamed.items[i];
        }
    }
    unnamed.count = count;
    for (size_t i = 0; i < called.count; i++) {
        sn_locate(called.items[i].address, &location);
        if (location.function == NULL) {
            sn_vector_add(&unnamed)->address = called.items[i].address;
        }
    }
    sn_vector_release(&called);
}

void calls_functions_learned(void) {
    if (called.count > 0) {
        add_entries();
    }
    for (size_t i = 0; i < pieces.count; i++) {
        *sn_vector_add(&unnamed) = pieces.items[i];
    }
    sn_vector_release(&pieces);
    sn_sorted_sort(&unnamed, address);
    sn_sorted_unique(&unnamed, address);
    memset(known, 0, sizeof known); /* a place may belong to another function now */
}

/* ---------------------------------------------------------------------------- contexts */

/** Functions in contexts, by both. */
typedef struct in_context_key {
    const calls_function *function;
    uint64_t context;
} in_context_key;
typedef struct in_context {
    in_context_key key;
    const calls_function *there;
} in_context;
static SN_TABLE(in_context) in_contexts;

/** The names as Callgrind writes them: the function, its level if it is not the first, the callers. */
static const calls_function *make_in_context(const calls_function *function, uint32_t number) {
    calls_context context = calls_context_of(number);
    char *name = NULL;
    size_t size;
    FILE *text = checked(open_memstream(&name, &size));
    fputs(function->name, text);
    if (context.level > 1) {
        fprintf(text, "'%u", context.level);
    }
    for (unsigned i = 1; i < context.count; i++) {
        fprintf(text, "'%s", calls_place_of(context.entries[i]).function->name);
    }
    if (fclose(text) != 0) {
        checked(NULL);
    }
    const calls_function *there = function_of(name, function->object, function->entry, function->has_symbol);
    free(name);
    return there;
}

const calls_function *calls_function_in(const calls_function *function, uint32_t context) {
    if (context == 0) {
        return function;
    }
    const in_context_key key = {function, context};
    const in_context *known = sn_table_find(&in_contexts, key);
    if (known == NULL) {
        const calls_function *there = make_in_context(function, context);
        in_context *made = sn_table_insert(&in_contexts, key, NULL);
        made->there = there;
        known = made;
    }
    return known->there;
}
