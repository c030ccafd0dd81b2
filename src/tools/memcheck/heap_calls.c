/**
 * @fileoverview malloc's family and the operators new and delete. See heap_calls.h.
 *
 * Their hooks do the work: the functions themselves do not run, but where an operator new finds no memory: then it runs, asks malloc,
 * and does what it does when that fails. errno is the program's, so that its own __errno_location() is asked for it.
 *
 * Sources: malloc(3), posix_memalign(3), malloc_usable_size(3); the Itanium C++ ABI 5.1.5 for the operators; Valgrind's manual 4.2
 * for what is an error.
 */
#include "heap_calls.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <sonde/hooks.h>

#include "address.h"
#include "blocks.h"
#include "definedness.h"
#include "memcheck.h"

typedef enum action { ALLOCATE, ALLOCATE_CLEARED, ALLOCATE_TO, REALLOCATE, FREE, MEASURE } action;

#define NONE 0xff /* no such argument */
#define PAGE 4096

typedef struct function {
    const char *name;       /**< of the symbol */
    uint8_t action, kind;   /**< kind: mc_block_kind */
    uint8_t size, count, alignment; /**< numbers of arguments; `count`: a factor */
    bool rounds_to_pages;   /**< size and alignment are whole pages */
    uint64_t named;         /**< address at which the name is known */
} function;

#define MALLOCS(name, size, count, alignment) {name, ALLOCATE, MC_MALLOC, size, count, alignment, false, 0}
#define REALLOCS(name, size, count) {name, REALLOCATE, MC_MALLOC, size, count, NONE, false, 0}
#define NEW(name, kind, alignment) {name, ALLOCATE, kind, 0, NONE, alignment, false, 0}
#define FREES(name, kind) {name, FREE, kind, NONE, NONE, NONE, false, 0}

static function functions[] = {
    MALLOCS("malloc", 0, NONE, NONE),
    {"calloc", ALLOCATE_CLEARED, MC_MALLOC, 1, 0, NONE, false, 0},
    REALLOCS("realloc", 1, NONE),
    REALLOCS("reallocarray", 2, 1),
    MALLOCS("memalign", 1, NONE, 0),
    MALLOCS("aligned_alloc", 1, NONE, 0),
    {"posix_memalign", ALLOCATE_TO, MC_MALLOC, 2, NONE, 1, false, 0},
    {"valloc", ALLOCATE, MC_MALLOC, 0, NONE, NONE, true, 0},
    {"pvalloc", ALLOCATE, MC_MALLOC, 0, NONE, NONE, true, 0},
    FREES("free", MC_MALLOC),
    FREES("cfree", MC_MALLOC),
    FREES("free_sized", MC_MALLOC),
    FREES("free_aligned_sized", MC_MALLOC),
    {"malloc_usable_size", MEASURE, MC_MALLOC, NONE, NONE, NONE, false, 0},
    NEW("_Znwm", MC_NEW, NONE),
    NEW("_Znam", MC_NEW_ARRAY, NONE),
    NEW("_ZnwmRKSt9nothrow_t", MC_NEW, NONE),
    NEW("_ZnamRKSt9nothrow_t", MC_NEW_ARRAY, NONE),
    NEW("_ZnwmSt11align_val_t", MC_NEW, 1),
    NEW("_ZnamSt11align_val_t", MC_NEW_ARRAY, 1),
    NEW("_ZnwmSt11align_val_tRKSt9nothrow_t", MC_NEW, 1),
    NEW("_ZnamSt11align_val_tRKSt9nothrow_t", MC_NEW_ARRAY, 1),
    FREES("_ZdlPv", MC_NEW),
    FREES("_ZdaPv", MC_NEW_ARRAY),
    FREES("_ZdlPvm", MC_NEW),
    FREES("_ZdaPvm", MC_NEW_ARRAY),
    FREES("_ZdlPvRKSt9nothrow_t", MC_NEW),
    FREES("_ZdaPvRKSt9nothrow_t", MC_NEW_ARRAY),
    FREES("_ZdlPvSt11align_val_t", MC_NEW),
    FREES("_ZdaPvSt11align_val_t", MC_NEW_ARRAY),
    FREES("_ZdlPvmSt11align_val_t", MC_NEW),
    FREES("_ZdaPvmSt11align_val_t", MC_NEW_ARRAY),
    FREES("_ZdlPvSt11align_val_tRKSt9nothrow_t", MC_NEW),
    FREES("_ZdaPvSt11align_val_tRKSt9nothrow_t", MC_NEW_ARRAY),
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
static sn_hook hooks[FUNCTIONS];

/* ------------------------------------------------------------------------------------------------------- errors */

static const mc_stack *stack_here(sn_thread *thread) { return mc_stack_of(sn_context_of(thread), 0); }

static void report_free(sn_thread *thread, mc_kind kind, const char *what, uint64_t address) {
    mc_finding finding = {.kind = kind, .what = mc_text("%s", what), .stack = stack_here(thread)};
    finding.note_count = mc_describe_address(thread, address, finding.notes);
    mc_report(thread, &finding);
}

static void report_size(sn_thread *thread, const function *of, const char *argument, int64_t value) {
    mc_finding finding = {.kind = MC_FISHY_SIZE, .stack = stack_here(thread), .detail = mc_text("%s(%s)", of->name, argument)};
    finding.what = mc_text("Argument '%s' of function %s has a fishy (possibly negative) value: %ld", argument, of->name, value);
    mc_report(thread, &finding);
}

/** Sizes are signed for this: what is negative was meant to be something else. */
static bool check_sizes(sn_thread *thread, const function *of, const sn_hooked_call *call) {
    bool is_sane = true;
    if (of->count != NONE && (int64_t)call->arguments[of->count] < 0) {
        report_size(thread, of, "nmemb", (int64_t)call->arguments[of->count]);
        is_sane = false;
    }
    if ((int64_t)call->arguments[of->size] < 0) {
        report_size(thread, of, "size", (int64_t)call->arguments[of->size]);
        is_sane = false;
    }
    return is_sane;
}

/* --------------------------------------------------------------------------------------------------- allocating */

/** The size that is asked for; false if there is no such number. */
static bool size_of(const function *of, const sn_hooked_call *call, uint64_t *size) {
    *size = call->arguments[of->size];
    uint64_t count = of->count != NONE ? call->arguments[of->count] : 1;
    if (__builtin_mul_overflow(*size, count, size)) {
        return false;
    }
    if (of->rounds_to_pages) {
        return !__builtin_add_overflow(*size, (uint64_t)PAGE - 1, size) && (*size &= ~(uint64_t)(PAGE - 1), true);
    }
    return true;
}

static uint64_t alignment_of(const function *of, const sn_hooked_call *call) {
    uint64_t wanted = of->rounds_to_pages ? PAGE : of->alignment != NONE ? call->arguments[of->alignment] : 0, alignment = 16;
    while (alignment < wanted && alignment <= UINT64_MAX / 4) {
        alignment *= 2; /* memalign rounds up to a power of two */
    }
    return alignment;
}

static mc_block *allocate(sn_thread *thread, const function *of, const sn_hooked_call *call) {
    uint64_t size;
    if (!check_sizes(thread, of, call) || !size_of(of, call, &size)) {
        return NULL;
    }
    return mc_block_allocate(thread, size, alignment_of(of, call), of->kind, of->action == ALLOCATE_CLEARED);
}

/** The call returns NULL, with an errno: the program is asked where that is. */
static void fail(sn_thread *thread, sn_hooked_call *call, int error) {
    static uint64_t errno_location;
    if (errno_location == 0) {
        errno_location = sn_find_function("__errno_location", 0);
    }
    call->word = (uint64_t)error;
    if (errno_location == 0 || !sn_hook_call(thread, call, errno_location, NULL, 0)) {
        sn_hook_return(call, 0);
    }
}

static bool write_pointer(uint64_t to, uint64_t value) {
    struct iovec here = {&value, sizeof value}, there = {(void *)(uintptr_t)to, sizeof value};
    mc_make_defined(to, sizeof value);
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof value;
}

static void allocate_to(sn_thread *thread, const function *of, sn_hooked_call *call) {
    uint64_t alignment = call->arguments[of->alignment];
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
        sn_hook_return(call, EINVAL);
        return;
    }
    const mc_block *block = allocate(thread, of, call);
    if (block == NULL) {
        sn_hook_return(call, ENOMEM);
    } else if (write_pointer(call->arguments[0], block->address)) {
        sn_hook_return(call, 0);
    } /* else the function itself runs, and faults as it would have */
}

/* ------------------------------------------------------------------------------------------------------ freeing */

/** The live block that a function of this kind may free; NULL, after a report, if there is none. */
static mc_block *block_to_free(sn_thread *thread, uint64_t address, mc_block_kind kind) {
    mc_block *block = mc_block_at(address);
    if (block == NULL || block->state != MC_BLOCK_LIVE || block->kind == MC_CUSTOM) {
        report_free(thread, MC_INVALID_FREE, "Invalid free() / delete / delete[] / realloc()", address);
        return NULL;
    }
    if (block->kind != kind && mc_current.shows_mismatched_frees) {
        report_free(thread, MC_MISMATCHED_FREE, "Mismatched free() / delete / delete []", address);
    }
    return block;
}

static void free_block(sn_thread *thread, uint64_t address, mc_block_kind kind) {
    mc_block *block = address != 0 ? block_to_free(thread, address, kind) : NULL;
    if (block != NULL && !mc_block_free(thread, block)) { /* another thread was quicker */
        report_free(thread, MC_INVALID_FREE, "Invalid free() / delete / delete[] / realloc()", address);
    }
}

static void reallocate(sn_thread *thread, const function *of, sn_hooked_call *call) {
    uint64_t size, address = call->arguments[0];
    if (address == 0) {
        const mc_block *made = allocate(thread, of, call);
        made != NULL ? sn_hook_return(call, made->address) : fail(thread, call, ENOMEM);
        return;
    }
    if (!check_sizes(thread, of, call) || !size_of(of, call, &size)) {
        fail(thread, call, ENOMEM);
        return;
    }
    mc_block *old = block_to_free(thread, address, MC_MALLOC);
    if (old == NULL || size == 0) { /* glibc's realloc(p, 0) frees */
        if (old != NULL) {
            mc_block_free(thread, old);
        }
        sn_hook_return(call, 0);
        return;
    }
    mc_block *made = mc_block_allocate(thread, size, 16, MC_MALLOC, false);
    if (made == NULL) {
        fail(thread, call, ENOMEM);
        return;
    }
    mc_block_copy(made, old);
    mc_block_free(thread, old);
    sn_hook_return(call, made->address);
}

/* -------------------------------------------------------------------------------------------------------- calls */

static void answer(sn_thread *thread, function *of, sn_hooked_call *call) {
    const mc_block *block;
    switch (of->action) {
    case ALLOCATE:
    case ALLOCATE_CLEARED:
        block = allocate(thread, of, call);
        if (block != NULL) {
            sn_hook_return(call, block->address);
        } else if (of->kind == MC_MALLOC) {
            fail(thread, call, ENOMEM);
        }
        return;
    case ALLOCATE_TO:
        allocate_to(thread, of, call);
        return;
    case REALLOCATE:
        reallocate(thread, of, call);
        return;
    case FREE:
        free_block(thread, call->arguments[0], of->kind);
        sn_hook_return(call, 0);
        return;
    case MEASURE:
        block = mc_block_at(call->arguments[0]);
        sn_hook_return(call, block != NULL && block->state == MC_BLOCK_LIVE ? block->size : 0);
        return;
    }
}

static bool begin(sn_thread *thread, sn_hooked_call *call) {
    function *of = call->hook->data;
    uint64_t location;
    if (of->named != sn_hook_function(call)) {
        of->named = sn_hook_function(call);
        mc_name_function(of->named, of->name);
    }
    if (sn_hook_answer(call, &location)) { /* __errno_location() */
        int error = (int)call->word;
        struct iovec here = {&error, sizeof error}, there = {(void *)(uintptr_t)location, sizeof error};
        process_vm_writev(getpid(), &here, 1, &there, 1, 0);
        mc_make_defined(location, sizeof error);
        sn_hook_return(call, 0);
    } else {
        answer(thread, of, call);
    }
    return false;
}

void mc_heap_calls_init(void) {
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        hooks[i] = (sn_hook){.function = functions[i].name, .only_global = true, .way = SN_HOOK_SLOW, .begin = begin, .data = &functions[i]};
        sn_hook_add(&hooks[i]);
    }
}
