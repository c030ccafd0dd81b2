/**
 * @fileoverview Stacks: made of calling contexts when something is reported, kept once each, and named when they are printed. See
 * memcheck.h.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memcheck.h"

/** Stacks by their hash, and names of functions by their address. */
typedef struct table {
    void **slots;
    size_t size, count;
} table;

typedef struct named_function {
    uint64_t address;
    const char *name;
} named_function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static table stacks;
static struct {
    const mc_stack **items; /**< number N at N - 1 */
    size_t count, room;
} numbered;

static struct {
    named_function *items;
    size_t count, room;
} names;

/* ------------------------------------------------------------------------------------------------ keeping them */

static size_t hash_of(const mc_stack *stack) {
    uint64_t hash = stack->count;
    for (uint32_t i = 0; i < stack->count; i++) {
        hash = (hash ^ stack->addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_stack(const mc_stack *left, const mc_stack *right) {
    return left->count == right->count && memcmp(left->addresses, right->addresses, left->count * sizeof(uint64_t)) == 0;
}

static mc_stack **find(const mc_stack *stack) {
    size_t at = hash_of(stack) & (stacks.size - 1);
    while (stacks.slots[at] != NULL && !same_stack(stacks.slots[at], stack)) {
        at = (at + 1) & (stacks.size - 1);
    }
    return (mc_stack **)&stacks.slots[at];
}

static void make_room(void) {
    if (2 * stacks.count < stacks.size) {
        return;
    }
    table old = stacks;
    stacks.size = old.size != 0 ? 2 * old.size : 256;
    stacks.slots = calloc(stacks.size, sizeof *stacks.slots);
    if (stacks.slots == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    for (size_t i = 0; i < old.size; i++) {
        if (old.slots[i] != NULL) {
            *find(old.slots[i]) = old.slots[i];
        }
    }
    free(old.slots);
}

static const mc_stack *keep(const mc_stack *stack) {
    pthread_mutex_lock(&lock);
    make_room();
    mc_stack **slot = find(stack);
    if (*slot == NULL) {
        size_t size = sizeof *stack + stack->count * sizeof(uint64_t);
        *slot = malloc(size);
        if (*slot == NULL) {
            sn_fail(125, "memcheck: out of memory");
        }
        memcpy(*slot, stack, size);
        stacks.count++;
        mc_grow(&numbered.items, &numbered.room, numbered.count + 1, sizeof *numbered.items);
        numbered.items[numbered.count++] = *slot;
        (*slot)->number = (uint32_t)numbered.count;
    }
    const mc_stack *kept = *slot;
    pthread_mutex_unlock(&lock);
    return kept;
}

/* ------------------------------------------------------------------------------------------------- making them */

const mc_stack *mc_stack_of(sn_context context, uint64_t address) {
    uint64_t room[1 + MC_MOST_CALLERS]; /* the count's, then the addresses */
    mc_stack *made = (mc_stack *)room;
    uint64_t *addresses = made->addresses;
    uint32_t count = 0, most = (uint32_t)mc_current.num_callers;
    sn_context_info info;
    if (address != 0) {
        addresses[count++] = address;
    } else if (sn_context_describe(context, &info)) {
        addresses[count++] = info.function;
    }
    while (count < most && sn_context_describe(context, &info)) {
        sn_context_info caller;
        if (info.call_site != 0) {
            addresses[count++] = info.call_site;
        } else if (info.is_handler && sn_context_describe(info.caller, &caller)) {
            addresses[count++] = caller.function; /* where in it is not known */
        }
        context = info.caller; /* what made a tail call is no longer there */
    }
    made->count = count;
    return keep(made);
}

const mc_stack *mc_stack_numbered(uint32_t number) {
    pthread_mutex_lock(&lock);
    const mc_stack *stack = number - 1 < numbered.count ? numbered.items[number - 1] : NULL;
    pthread_mutex_unlock(&lock);
    return stack;
}

const mc_stack *mc_stack_alone(uint64_t address) {
    uint64_t room[2];
    mc_stack *made = (mc_stack *)room;
    made->count = 1;
    made->addresses[0] = address;
    return keep(made);
}

const mc_stack *mc_stack_here(sn_thread *thread) { return mc_stack_of(sn_context_of(thread), sn_thread_program_counter(thread)); }

bool mc_stacks_agree(const mc_stack *left, const mc_stack *right, unsigned most) {
    if (left == right || left == NULL || right == NULL) {
        return left == right;
    }
    unsigned count = left->count < most ? left->count : most;
    if (count != (right->count < most ? right->count : most)) {
        return false;
    }
    return memcmp(left->addresses, right->addresses, count * sizeof(uint64_t)) == 0;
}

/* ------------------------------------------------------------------------------------------------- naming them */

void mc_name_function(uint64_t address, const char *name) {
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < names.count && names.items[i].address != address) {
        i++;
    }
    if (i == names.count) {
        mc_grow(&names.items, &names.room, names.count + 1, sizeof *names.items);
        names.items[names.count++] = (named_function){address, name};
    }
    pthread_mutex_unlock(&lock);
}

static const char *given_name(uint64_t address) {
    const char *name = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < names.count && name == NULL; i++) {
        name = names.items[i].address == address ? names.items[i].name : NULL;
    }
    pthread_mutex_unlock(&lock);
    return name;
}

static const char *file_name(const char *path) {
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path;
}

/** The lines of one address, innermost first. */
static unsigned frames_of(uint64_t address, mc_frame *frames, unsigned capacity) {
    enum { MOST_INLINED = 32 };
    sn_inlined inlined[MOST_INLINED];
    sn_location location;
    const char *symbol = sn_locate_symbol(address), *given = given_name(address);
    bool is_known = sn_locate(address, &location);
    unsigned count = sn_locate_inlined(address, inlined, MOST_INLINED);
    if (count == 0) {
        inlined[count++] = (sn_inlined){is_known ? location.function : NULL, is_known ? location.file : NULL, location.line};
    }
    if (count > capacity) {
        count = capacity;
    }
    for (unsigned i = 0; i < count; i++) {
        frames[i] = (mc_frame){.address = address, .function = inlined[i].function, .symbol = inlined[i].function,
                               .path = inlined[i].file, .file = file_name(inlined[i].file), .line = inlined[i].line,
                               .module = is_known ? location.module : NULL};
        if (i + 1 == count && symbol != NULL) {
            frames[i].symbol = symbol;
        }
        if (i + 1 == count && given != NULL) {
            frames[i].symbol = given;
            frames[i].function = given[0] == '_' ? frames[i].function : given;
        }
    }
    return count;
}

/** What calls main, by the C library's own names. */
static bool is_below_main(const char *function) {
    static const char *const callers[] = {"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
                                          "__libc_start_main@@GLIBC_2.34", "generic_start_main", "_start"};
    for (size_t i = 0; function != NULL && i < sizeof callers / sizeof callers[0]; i++) {
        if (strcmp(function, callers[i]) == 0) {
            return true;
        }
    }
    return false;
}

unsigned mc_stack_frames(const mc_stack *stack, mc_frame *frames, unsigned capacity) {
    unsigned count = 0;
    for (uint32_t i = 0; stack != NULL && i < stack->count && count < capacity; i++) {
        unsigned more = frames_of(stack->addresses[i], frames + count, capacity - count);
        mc_frame *last = &frames[count + more - 1];
        count += more;
        if (mc_current.shows_below_main) {
            continue;
        }
        if (is_below_main(last->function)) {
            last->function = last->symbol = "(below main)";
            break;
        }
        if (last->function != NULL && strcmp(last->function, "main") == 0) {
            break;
        }
    }
    return count;
}
