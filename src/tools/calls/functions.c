/**
 * @fileoverview Functions and places by address. See functions.h.
 */
#include "functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

#include "separate.h"

enum { CHAINS = 1 << 14 };

static calls_function *chains[CHAINS];
static uint32_t function_count;

/** Where functions without symbols begin, and pieces of functions in code without symbols: sorted. */
typedef struct beginning {
    uint64_t address;
    uint64_t owner;   /**< an address in the function that it is a piece of; 0: a function begins */
} beginning;
static beginning *unnamed;
static size_t unnamed_count, unnamed_room;

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
    uint64_t hash = 5381;
    for (const char *letter = name; *letter != 0; letter++) {
        hash = hash * 33 + (unsigned char)*letter;
    }
    calls_function **chain = &chains[hash % CHAINS];
    for (calls_function *function = *chain; function != NULL; function = function->next) {
        if (is_same(function->name, name) && is_same(function->object, object)) {
            function->entry = entry < function->entry ? entry : function->entry;
            return function;
        }
    }
    sn_location location;
    calls_function *function = checked(malloc(sizeof *function));
    sn_locate(entry, &location);
    *function = (calls_function){.next = *chain, .name = checked(strdup(name)), .object = object, .file = location.file,
                                 .entry = entry, .has_symbol = has_symbol, .number = function_count++};
    return *chain = function;
}

/** What begins last at or before an address in code that has no symbols, NULL if nothing does. The next one ends what is the
    same, if it lies before *until. */
static const beginning *unnamed_before(uint64_t address, const char *module, uint64_t *until) {
    size_t low = 0, high = unnamed_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (unnamed[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < unnamed_count && unnamed[low].address < *until) {
        *until = unnamed[low].address;
    }
    sn_location location;
    bool is_near = low > 0 && sn_locate(unnamed[low - 1].address, &location) == (module != NULL) &&
                   is_same(location.module, module);
    return is_near ? &unnamed[low - 1] : NULL;
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
static uint64_t *called;
static size_t called_count, called_room;

void calls_functions_learn(uint64_t entry) {
    if (called_count == called_room) {
        called_room = called_room == 0 ? 1 << 12 : 2 * called_room;
        called = checked(reallocarray(called, called_room, sizeof *called));
    }
    called[called_count++] = entry;
}

static int by_value(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/** Sort them, and keep each once. Returns how many are left. */
static size_t sorted_once(uint64_t *values, size_t count) {
    size_t kept = 0;
    if (count > 0) {
        qsort(values, count, sizeof *values, by_value);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || values[kept - 1] != values[i]) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

static void add_beginning(uint64_t address, uint64_t owner) {
    if (unnamed_count == unnamed_room) {
        unnamed_room = unnamed_room == 0 ? 1 << 10 : 2 * unnamed_room;
        unnamed = checked(reallocarray(unnamed, unnamed_room, sizeof *unnamed));
    }
    unnamed[unnamed_count++] = (beginning){.address = address, .owner = owner};
}

/** Functions before pieces: what is called is no piece. */
static int by_address(const void *left, const void *right) {
    const beginning *a = left, *b = right;
    int order = (a->address > b->address) - (a->address < b->address);
    return order != 0 ? order : (a->owner > b->owner) - (a->owner < b->owner);
}

static void sort_beginnings(void) {
    size_t kept = 0;
    if (unnamed_count > 0) {
        qsort(unnamed, unnamed_count, sizeof *unnamed, by_address);
    }
    for (size_t i = 0; i < unnamed_count; i++) {
        if (kept == 0 || unnamed[kept - 1].address != unnamed[i].address) {
            unnamed[kept++] = unnamed[i];
        }
    }
    unnamed_count = kept;
}

/** Pieces that were found; they are put among the beginnings when all have been looked for. */
static beginning *pieces;
static size_t piece_count, piece_room;

/** Whether something is known to begin at an address in code that has no symbols. */
static bool begins(uint64_t address, const char *module) {
    uint64_t until = UINT64_MAX;
    const beginning *last = unnamed_before(address, module, &until);
    return last != NULL && last->address == address;
}

bool calls_functions_learn_jump(uint64_t from, uint64_t to) {
    const calls_function *function = calls_place_of(from).function, *there = calls_place_of(to).function;
    if (function == there || there->has_symbol || begins(to, there->object)) {
        return false;
    }
    if (!function->has_symbol && !begins(function->entry, function->object)) {
        return false; /* code that belongs to nothing */
    }
    if (piece_count == piece_room) {
        piece_room = piece_room == 0 ? 1 << 10 : 2 * piece_room;
        pieces = checked(reallocarray(pieces, piece_room, sizeof *pieces));
    }
    pieces[piece_count++] = (beginning){.address = to, .owner = function->entry};
    return true;
}

void calls_functions_learned(void) {
    sn_location location;
    called_count = sorted_once(called, called_count);
    for (size_t i = 0; i < called_count; i++) {
        sn_locate(called[i], &location);
        if (location.function == NULL) {
            add_beginning(called[i], 0);
        }
    }
    for (size_t i = 0; i < piece_count; i++) {
        add_beginning(pieces[i].address, pieces[i].owner);
    }
    sort_beginnings();
    free(called);
    free(pieces);
    called = NULL;
    pieces = NULL;
    called_count = called_room = piece_count = piece_room = 0;
    memset(known, 0, sizeof known); /* a place may belong to another function now */
}

/* ---------------------------------------------------------------------------- contexts */

/** Functions in contexts, by both: open addressing. */
typedef struct in_context {
    const calls_function *function; /**< NULL: free */
    const calls_function *there;
    uint32_t context;
} in_context;
static in_context *in_contexts;
static size_t in_context_count, in_context_room;

static in_context *in_context_slot(const calls_function *function, uint32_t context) {
    uint64_t at = ((uint64_t)context << 32 | function->number) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    in_context *slot = &in_contexts[at & (in_context_room - 1)];
    while (slot->function != NULL && (slot->function != function || slot->context != context)) {
        slot = &in_contexts[++at & (in_context_room - 1)];
    }
    return slot;
}

static void grow_in_contexts(void) {
    in_context *old = in_contexts;
    size_t old_room = in_context_room;
    in_context_room = old_room == 0 ? 1 << 10 : 2 * old_room;
    in_contexts = checked(calloc(in_context_room, sizeof *in_contexts));
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].function != NULL) {
            *in_context_slot(old[i].function, old[i].context) = old[i];
        }
    }
    free(old);
}

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
    if (2 * in_context_count >= in_context_room) {
        grow_in_contexts();
    }
    in_context *slot = in_context_slot(function, context);
    if (slot->function == NULL) {
        *slot = (in_context){.function = function, .context = context, .there = make_in_context(function, context)};
        in_context_count++;
    }
    return slot->there;
}
