/**
 * @fileoverview The hooks that tools have asked for, and the functions of modules that they are at. See hooks.h.
 *
 * A module's names are read when its code is about to be translated for the first time, so that a hook is there before the
 * function runs. All under sn_jit_lock, but for what happens before the client starts.
 */
#include <fnmatch.h>
#include <string.h>

#include "sonde/arena.h"
#include "sonde/hash.h"
#include "sonde/intern.h"
#include "base/log.h"
#include "sonde/vector.h"
#include "jit/client_code.h"
#include "jit/runtime.h"
#include "service/contexts.h"
#include "service/hooks.h"
#include "service/locate.h"
#include "service/select.h"
#include "service/unwind.h"

/** A mapping of code whose names were read. */
typedef struct known_code {
    const char *path; /**< interned */
    uint64_t start, end, offset;
} known_code;

/** Hooks by exact name, of those with the same hash. */
typedef struct named_hook {
    const sn_hook *hook;
    struct named_hook *next;
} named_hook;

static bool is_on, wants_returns;
static sn_arena arena;
static sn_hash by_name;                       /**< hash of a name -> named_hook */
static SN_VECTOR(const sn_hook *) by_pattern; /**< of names */
static SN_VECTOR(const sn_hook *) all;
static sn_hash orders;                        /**< hook -> how many were added before */
static sn_hash places;                        /**< address -> the first sn_hook_place */
static SN_VECTOR(known_code) known;

const sn_hook_service *sn_hooks_service;

bool sn_hooks_are_on(void) { return is_on; }
bool sn_hooks_want_returns(void) { return wants_returns; }

sn_hook_place *sn_hooks_at(uint64_t address) {
    return is_on ? (sn_hook_place *)(uintptr_t)sn_hash_get(&places, address, 0) : NULL;
}

/* --------------------------------------------------------------------------------------------- at addresses */

/** Whether a hook at an address makes another one needless: functions have several names. */
static bool stands_for(const sn_hook *there, const sn_hook *hook) {
    if (there == hook) return true;
    return sn_hooks_service && sn_hooks_service->is_own(there) && sn_hooks_service->is_own(hook);
}

/** Once for each hook and address, whatever names lead there, and one of the service's own; in the order in which hooks were
    added. */
static void put(const sn_hook *hook, uint64_t address) {
    bool is_new;
    uint64_t *first = sn_hash_insert(&places, address, &is_new);
    sn_hook_place **link = (sn_hook_place **)first;
    for (; *link; link = &(*link)->next)
        if (stands_for((*link)->hook, hook)) return;
    uint64_t order = sn_hash_get(&orders, (uint64_t)(uintptr_t)hook, 0);
    link = (sn_hook_place **)first;
    while (*link && sn_hash_get(&orders, (uint64_t)(uintptr_t)(*link)->hook, 0) < order) link = &(*link)->next;
    sn_hook_place *place = sn_arena_allocate(&arena, sizeof *place);
    bool is_service = sn_hooks_service && sn_hooks_service->is_own(hook);
    *place = (sn_hook_place){.hook = hook, .address = address, .next = *link,
                             .needs_frame = !is_service || sn_hooks_service->needs_frame(hook)};
    *link = place;
}

static bool is_by_name(const sn_hook *hook) { return hook->function != NULL; }

/** The code that was at [start, end) is gone, with the hooks that were found by name. */
static void remove_between(uint64_t start, uint64_t end) {
    size_t position = 0;
    sn_hash_entry entry;
    SN_VECTOR(uint64_t) gone = {0};
    while (sn_hash_next(&places, &position, &entry))
        if (entry.key >= start && entry.key < end) *sn_vector_add(&gone) = entry.key;
    for (size_t i = 0; i < gone.count; i++) sn_hash_remove(&places, gone.items[i]);
    sn_vector_release(&gone);
    for (size_t i = 0; i < all.count; i++)
        if (!is_by_name(all.items[i]) && all.items[i]->address >= start && all.items[i]->address < end)
            put(all.items[i], all.items[i]->address);
}

/* -------------------------------------------------------------------------------------------------- by name */

/** The module whose names are being read. */
typedef struct reading {
    const char *path, *soname;
    const sn_hook *only; /**< NULL: all hooks */
} reading;

static bool matches_module(const sn_hook *hook, const reading *of) {
    if (!hook->module) return true;
    return sn_select_matches_path(hook->module, of->path) || (of->soname && fnmatch(hook->module, of->soname, 0) == 0);
}

static void consider(const sn_hook *hook, const reading *of, uint64_t address, sn_function_kind kind) {
    if (of->only && of->only != hook) return;
    if (hook->resolvers != (kind == SN_FUNCTION_RESOLVER)) return;
    if ((kind != SN_FUNCTION_LOCAL || !hook->only_global) && matches_module(hook, of)) put(hook, address);
}

/** Most names differ from the pattern in the first letters. */
static bool matches_name(const char *pattern, const char *name) {
    size_t literal = strcspn(pattern, "*?[\\");
    return !strncmp(pattern, name, literal) && !fnmatch(pattern, name, 0);
}

static void found_name(void *data, const char *name, uint64_t address, sn_function_kind kind) {
    const reading *of = data;
    named_hook *named = (named_hook *)(uintptr_t)sn_hash_get(&by_name, sn_hash_bytes(name, strlen(name)), 0);
    for (; named; named = named->next)
        if (!strcmp(named->hook->function, name)) consider(named->hook, of, address, kind);
    for (size_t i = 0; i < by_pattern.count; i++)
        if (matches_name(by_pattern.items[i]->function, name)) consider(by_pattern.items[i], of, address, kind);
}

static void read_names(const known_code *code, const sn_hook *only) {
    reading of = {.path = code->path, .only = only};
    sn_locate_functions(&(sn_located_code){code->path, code->start, code->end, code->offset}, &of.soname, found_name, &of);
}

/** Code at [start, end) is used: sn_locate_follow(). */
static void code_is_used(const char *path, uint64_t start, uint64_t end, uint64_t offset) {
    path = sn_intern(path);
    for (size_t i = 0; i < known.count;) {
        known_code *old = &known.items[i];
        if (old->path == path && old->start == start && old->end == end && old->offset == offset) return;
        if (old->start < end && start < old->end) sn_vector_remove(&known, i, 1);
        else i++;
    }
    remove_between(start, end);
    if (sn_contexts_are_unwound()) sn_unwind_forget(start, end);
    *sn_vector_add(&known) = (known_code){path, start, end, offset};
    read_names(&known.items[known.count - 1], NULL);
}

/* ------------------------------------------------------------------------------------------------- services */

void sn_hooks_serve(const sn_hook_service *service) { sn_hooks_service = service; }

typedef struct search {
    const char *name;
    uint64_t address;
} search;

static void compare_name(void *data, const char *name, uint64_t address, sn_function_kind kind) {
    search *wanted = data;
    if (kind == SN_FUNCTION_GLOBAL && !strcmp(name, wanted->name)) wanted->address = address;
}

/** In the code that holds `address`, or, if that is 0, in any. */
static uint64_t find_name(const char *name, uint64_t address) {
    search wanted = {.name = name};
    for (size_t i = 0; i < known.count && !wanted.address; i++) {
        const known_code *code = &known.items[i];
        const char *soname;
        if (address && (address < code->start || address >= code->end)) continue;
        sn_locate_functions(&(sn_located_code){code->path, code->start, code->end, code->offset}, &soname, compare_name, &wanted);
    }
    return wanted.address;
}

uint64_t sn_hooks_beside(uint64_t address, const char *name) { return find_name(name, address); }

uint64_t sn_find_function(const char *name, uint64_t beside) {
    sn_lock_acquire(&sn_jit_lock);
    uint64_t found = find_name(name, beside);
    sn_lock_release(&sn_jit_lock);
    return found;
}

/* ------------------------------------------------------------------------------------------------- hooking */

static void enter_name(const sn_hook *hook) {
    if (strpbrk(hook->function, "*?[")) {
        *sn_vector_add(&by_pattern) = hook;
        return;
    }
    bool is_new;
    uint64_t *first = sn_hash_insert(&by_name, sn_hash_bytes(hook->function, strlen(hook->function)), &is_new);
    named_hook *named = sn_arena_allocate(&arena, sizeof *named);
    *named = (named_hook){.hook = hook, .next = (named_hook *)(uintptr_t)*first};
    *first = (uint64_t)(uintptr_t)named;
}

static void begin(void) {
    if (is_on) return;
    sn_contexts_enable();
    sn_hook_slot = sn_slot_new();
    sn_locate_follow(code_is_used);
    is_on = true;
}

void sn_hook_add(const sn_hook *hook) {
    enum { MOST_HOOKS = 65536 };
    if (!hook->begin || all.count == MOST_HOOKS)
        sn_fail(SN_STATUS_ENGINE, hook->begin ? "the tool hooks more than 65536 functions" : "the tool's hook has no `begin`");
    begin();
    sn_lock_acquire(&sn_jit_lock);
    sn_hash_set(&orders, (uint64_t)(uintptr_t)hook, all.count);
    *sn_vector_add(&all) = hook;
    if (hook->way == SN_HOOK_SLOW && hook->end) wants_returns = true;
    if (is_by_name(hook)) enter_name(hook);
    else put(hook, hook->address);
    for (size_t i = 0; i < known.count && is_by_name(hook); i++) read_names(&known.items[i], hook);
    if (known.count && is_by_name(hook)) sn_instrumentation_renew();
    sn_lock_release(&sn_jit_lock);
    if (known.count && !is_by_name(hook)) sn_code_discard(hook->address, hook->address + 1);
}
