/**
 * @fileoverview The names of allocating functions, what their arguments mean, and the allocators that they belong to: see heap.h.
 *
 * Sources: malloc(3), posix_memalign(3), malloc_usable_size(3); the Itanium C++ ABI 5.1.5 for operators new and delete;
 * jemalloc(3); gperftools' tcmalloc.h; mimalloc.h; Rust's library/alloc/src/alloc.rs.
 */
#include "service/heap.h"

#include <string.h>

#include "sonde/arena.h"
#include "base/lock.h"
#include "guest/request.h"
#include "jit/cache.h"
#include "jit/runtime.h"

#define NONE SN_HEAP_NO_ARGUMENT

#define ALLOCATES(name, size, count, alignment) {name, SN_HEAP_ALLOCATES, NONE, size, count, alignment, 0}
#define REALLOCATES(name, pointer, size, count, alignment) {name, SN_HEAP_REALLOCATES, pointer, size, count, alignment, 0}
#define FREES(name) {name, SN_HEAP_FREES, 0, NONE, NONE, NONE, 0}
#define NEW(name, alignment) ALLOCATES(name, 0, NONE, alignment)
#define PAGES(name) {name, SN_HEAP_ALLOCATES, NONE, 0, NONE, NONE, 12}
#define ALLOCATES_TO(name) {name, SN_HEAP_ALLOCATES_TO, NONE, 2, NONE, 1, 0}

static const sn_heap_function functions[] = {
    ALLOCATES("malloc", 0, NONE, NONE),
    ALLOCATES("calloc", 1, 0, NONE),
    REALLOCATES("realloc", 0, 1, NONE, NONE),
    REALLOCATES("reallocarray", 0, 2, 1, NONE),
    FREES("free"),
    FREES("cfree"),
    FREES("free_sized"),
    FREES("free_aligned_sized"),
    ALLOCATES("memalign", 1, NONE, 0),
    ALLOCATES("aligned_alloc", 1, NONE, 0),
    ALLOCATES_TO("posix_memalign"),
    ALLOCATES("valloc", 0, NONE, NONE),
    PAGES("pvalloc"),
    NEW("_Znwm", NONE),
    NEW("_Znam", NONE),
    NEW("_ZnwmRKSt9nothrow_t", NONE),
    NEW("_ZnamRKSt9nothrow_t", NONE),
    NEW("_ZnwmSt11align_val_t", 1),
    NEW("_ZnamSt11align_val_t", 1),
    NEW("_ZnwmSt11align_val_tRKSt9nothrow_t", 1),
    NEW("_ZnamSt11align_val_tRKSt9nothrow_t", 1),
    FREES("_ZdlPv"),
    FREES("_ZdaPv"),
    FREES("_ZdlPvm"),
    FREES("_ZdaPvm"),
    FREES("_ZdlPvRKSt9nothrow_t"),
    FREES("_ZdaPvRKSt9nothrow_t"),
    FREES("_ZdlPvSt11align_val_t"),
    FREES("_ZdaPvSt11align_val_t"),
    FREES("_ZdlPvmSt11align_val_t"),
    FREES("_ZdaPvmSt11align_val_t"),
    FREES("_ZdlPvSt11align_val_tRKSt9nothrow_t"),
    FREES("_ZdaPvSt11align_val_tRKSt9nothrow_t"),
    NEW("__rust_alloc", 1),
    NEW("__rust_alloc_zeroed", 1),
    {"__rust_realloc", SN_HEAP_REALLOCATES, 0, 3, NONE, 2, 0},
    FREES("__rust_dealloc"),
    NEW("_R*12___rust_alloc", 1),
    NEW("_R*19___rust_alloc_zeroed", 1),
    {"_R*14___rust_realloc", SN_HEAP_REALLOCATES, 0, 3, NONE, 2, 0},
    FREES("_R*14___rust_dealloc"),
    ALLOCATES("mallocx", 0, NONE, 1),
    REALLOCATES("rallocx", 0, 1, NONE, 2),
    {"xallocx", SN_HEAP_RESIZES, 0, 1, NONE, 3, 0},
    FREES("dallocx"),
    FREES("sdallocx"),
    ALLOCATES("_rjem_malloc", 0, NONE, NONE),
    ALLOCATES("_rjem_calloc", 1, 0, NONE),
    REALLOCATES("_rjem_realloc", 0, 1, NONE, NONE),
    FREES("_rjem_free"),
    ALLOCATES_TO("_rjem_posix_memalign"),
    ALLOCATES("_rjem_aligned_alloc", 1, NONE, 0),
    ALLOCATES("_rjem_mallocx", 0, NONE, 1),
    REALLOCATES("_rjem_rallocx", 0, 1, NONE, 2),
    {"_rjem_xallocx", SN_HEAP_RESIZES, 0, 1, NONE, 3, 0},
    FREES("_rjem_dallocx"),
    FREES("_rjem_sdallocx"),
    ALLOCATES("je_malloc", 0, NONE, NONE),
    ALLOCATES("je_calloc", 1, 0, NONE),
    REALLOCATES("je_realloc", 0, 1, NONE, NONE),
    FREES("je_free"),
    ALLOCATES_TO("je_posix_memalign"),
    ALLOCATES("je_aligned_alloc", 1, NONE, 0),
    ALLOCATES("tc_malloc", 0, NONE, NONE),
    ALLOCATES("tc_calloc", 1, 0, NONE),
    REALLOCATES("tc_realloc", 0, 1, NONE, NONE),
    FREES("tc_free"),
    FREES("tc_free_sized"),
    ALLOCATES("tc_memalign", 1, NONE, 0),
    ALLOCATES_TO("tc_posix_memalign"),
    ALLOCATES("tc_valloc", 0, NONE, NONE),
    PAGES("tc_pvalloc"),
    ALLOCATES("tc_new", 0, NONE, NONE),
    ALLOCATES("tc_newarray", 0, NONE, NONE),
    ALLOCATES("tc_new_nothrow", 0, NONE, NONE),
    ALLOCATES("tc_newarray_nothrow", 0, NONE, NONE),
    FREES("tc_delete"),
    FREES("tc_deletearray"),
    FREES("tc_delete_sized"),
    FREES("tc_deletearray_sized"),
    FREES("tc_delete_nothrow"),
    FREES("tc_deletearray_nothrow"),
    ALLOCATES("mi_malloc", 0, NONE, NONE),
    ALLOCATES("mi_zalloc", 0, NONE, NONE),
    ALLOCATES("mi_calloc", 1, 0, NONE),
    ALLOCATES("mi_mallocn", 1, 0, NONE),
    REALLOCATES("mi_realloc", 0, 1, NONE, NONE),
    REALLOCATES("mi_reallocn", 0, 2, 1, NONE),
    FREES("mi_free"),
    FREES("mi_free_size"),
    FREES("mi_free_size_aligned"),
    FREES("mi_free_aligned"),
    ALLOCATES("mi_malloc_aligned", 0, NONE, 1),
    ALLOCATES("mi_zalloc_aligned", 0, NONE, 1),
    ALLOCATES("mi_calloc_aligned", 1, 0, 2),
    REALLOCATES("mi_realloc_aligned", 0, 1, NONE, 2),
    ALLOCATES("mi_memalign", 1, NONE, 0),
    ALLOCATES("mi_aligned_alloc", 1, NONE, 0),
    ALLOCATES_TO("mi_posix_memalign"),
    ALLOCATES("mi_valloc", 0, NONE, NONE),
    PAGES("mi_pvalloc"),
    ALLOCATES("mi_new", 0, NONE, NONE),
    ALLOCATES("mi_new_nothrow", 0, NONE, NONE),
    ALLOCATES("mi_new_aligned", 0, NONE, 1),
    ALLOCATES("mi_new_aligned_nothrow", 0, NONE, 1),
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
static sn_hook hooks[FUNCTIONS];

void sn_heap_functions_hook(void) {
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        hooks[i] = (sn_hook){.function = functions[i].name, .only_global = functions[i].name[0] != '_', .way = SN_HOOK_FAST,
                             .begin = sn_heap_call_begins, .end = sn_heap_call_ends, .data = (void *)&functions[i]};
        sn_hook_add(&hooks[i]);
    }
}

bool sn_heap_function_is_own(const sn_hook *hook) { return hook >= hooks && hook < hooks + FUNCTIONS; }

bool sn_heap_function_needs_frame(const sn_hook *hook) {
    return ((const sn_heap_function *)hook->data)->act != SN_HEAP_FREES || sn_heap.options.death;
}

void (*sn_heap_function_begins_simply(const sn_hook *hook))(sn_thread *thread, const sn_hook_place *place, uint64_t argument) {
    const sn_heap_function *function = hook->data;
    return function->act == SN_HEAP_FREES && function->pointer == 0 ? sn_heap_call_frees : NULL;
}

unsigned sn_heap_function_argument_count(const sn_hook *hook) {
    const sn_heap_function *function = hook->data;
    const uint8_t numbers[] = {function->pointer, function->size, function->count, function->alignment};
    unsigned count = function->act == SN_HEAP_ALLOCATES_TO;
    for (unsigned i = 0; i < sizeof numbers; i++)
        if (numbers[i] != SN_HEAP_NO_ARGUMENT && numbers[i] >= count) count = numbers[i] + 1;
    return count;
}

/* ------------------------------------------------------------------------------------------------ allocators */

/** By what other name an allocator with a prefix has the function that measures. */
static const struct {
    const char *prefix, *measure;
} prefixes[] = {{"_rjem_", "_rjem_malloc_usable_size"}, {"je_", "je_malloc_usable_size"}, {"mi_", "mi_usable_size"},
                {"tc_", "tc_malloc_size"}, {"", "malloc_usable_size"}};

static uint64_t measuring_function(const sn_hook_place *place) {
    for (unsigned i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        uint64_t found = strncmp(place->hook->function, prefixes[i].prefix, strlen(prefixes[i].prefix)) ? 0
                         : sn_hooks_beside(place->address, prefixes[i].measure);
        if (found) return found;
    }
    return 0;
}

const void *sn_heap_allocator_at(const sn_hook_place *place) {
    static sn_heap_allocator *allocators[256];
    static uint32_t count;
    static sn_arena arena;
    sn_heap_allocator found = {.measure = measuring_function(place)};
    /* musl has the first of these too. */
    found.is_glibc = sn_hooks_beside(place->address, "__libc_malloc") && sn_hooks_beside(place->address, "malloc_info");
    if (!found.measure && !found.is_glibc) return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (allocators[i]->measure == found.measure && allocators[i]->is_glibc == found.is_glibc) return allocators[i];
    if (count == sizeof allocators / sizeof allocators[0]) return NULL;
    found.number = count + 1;
    allocators[count] = sn_arena_copy(&arena, &found, sizeof found);
    return allocators[count++];
}

/* ------------------------------------------------------------------------------------------------- attending */

static void note_measured(sn_thread *thread, sn_heap_thread *own, uint64_t usable) {
    sn_heap_block *block = sn_heap_at(own->unmeasured);
    if (usable < own->unmeasured_size) return; /* the allocator is just beginning, and does not know its own block yet */
    if (!own->unmeasured_is_remade)
        sn_heap_usable_learn(own->unmeasured_of, own->unmeasured_size, own->unmeasured_alignment, usable);
    if (!block || block->requested != own->unmeasured_size) return; /* or it is a sample */
    uint64_t before = block->usable;
    block->usable = usable;
    if (sn_heap.options.measured) sn_heap.options.measured(thread, block, before);
}

/** The client is asked by having it call the function: then this function begins again. Returns whether it is. */
static bool measure(sn_thread *thread, sn_heap_thread *own) {
    if (!own->unmeasured) return false;
    if (!own->is_measuring && sn_heap_at(own->unmeasured)) {
        own->is_measuring = sn_client_call(thread, own->unmeasured_of->measure, &own->unmeasured, 1);
        if (own->is_measuring) return true;
    } else if (own->is_measuring) {
        uint64_t usable;
        if (!sn_client_call_returned(thread, &usable)) return false; /* the function that measures calls one of these */
        note_measured(thread, own, usable);
    }
    own->is_measuring = false;
    own->unmeasured = 0;
    thread->slots[sn_heap.own_attends] = 0;
    return false;
}

bool sn_heap_always_attends(const sn_hook_place *place) {
    const sn_heap_function *function = place->hook->data;
    return sn_heap.options.frees && function->act == SN_HEAP_FREES;
}

static void tell_of_free(sn_thread *thread, const sn_heap_function *function) {
    uint64_t address = thread->general[sn_hook_argument_registers[function->pointer]];
    const sn_heap_block *block = address ? sn_heap_at(address) : NULL;
    if (block) sn_heap.options.frees(thread, block);
}

void sn_heap_attend_now(sn_thread *thread, const sn_hook_place *place) {
    sn_heap_settle();
    sn_heap_thread *own = sn_heap_thread_of(thread);
    if (measure(thread, own) || own->is_measuring) return;
    if (own->depth) return;
    if (sn_heap_always_attends(place)) tell_of_free(thread, place->hook->data);
    if (!__atomic_exchange_n(&sn_heap.attends, 0, __ATOMIC_ACQ_REL)) return;
    if (sn_heap.options.attend) sn_heap.options.attend(thread);
}
