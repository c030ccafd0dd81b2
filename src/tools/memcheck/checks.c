/**
 * @fileoverview Checks of the program's accesses. See checks.h.
 *
 * In front of an instruction, in the full variant of its code (<sonde/shadow.h>), the shadow of what it accesses is loaded and compared; where a bit is missing, a leaf function looks
 * closer, writes down what is an error with its calling context, and asks for the engine (sn_attend()), where it is reported. The
 * instruction runs in any case.
 *
 * Memory that must not be accessed has undefined bits as well (definedness.c), so that the variant which is run while all is defined
 * comes to no such access without leaving for the full one; or, where it writes, calling a function.
 *
 * Accesses by the stack pointer and a constant are the function's own and are not checked. Memory below the stack pointer, but for
 * the 128 bytes that the ABI gives to functions, is nobody's: where an address is checked, it is compared with the stack pointer, too.
 *
 * What may be read beyond the end of a block without being used: vector code reads whole vectors. Of loads of 8 bytes and more that are
 * aligned to their size one addressable byte is enough (--partial-loads-ok=yes). Vector loads of the C library and of the dynamic
 * linker, by halves as well, are not checked at all: they read ahead of the end that they look for, never into a page that they may not read; what
 * their functions are given is looked at when they are called (strings.c).
 */
#include "checks.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/shadow.h>

#include "addressability.h"
#include "definedness.h"
#include "ignored_ranges.h"
#include "memcheck.h"
#include "repeats.h"
#include "strings.h"

#define RED_ZONE 128               /* System V ABI for x86-64, 3.2.2 */
#define STACK_REACH_BITS 16        /* so far below the stack pointer accesses are looked at: 64 KiB */
#define MOST_FOUND 16              /* errors of a thread until the engine is entered: more are not told */
#define VECTOR 16                  /* bytes of the smallest vector */

/** An access of an instruction. Never freed: code refers to it. */
struct mc_site {
    uint64_t instruction;
    uint32_t size;
    bool is_write;
    bool writes;         /**< it, or something else besides reading */
    bool is_call;        /**< behind it, the thread is in another function */
    bool may_be_partial; /**< if aligned, one addressable byte is enough */
    bool is_silent;      /**< nothing is told */
    bool reads_ahead;    /**< of varying ones: only writes are checked */
    mc_repeats *repeats;
    sn_shadow_write write; /**< in the clean variant */
};

/** An error that was found in the code cache. */
typedef struct found {
    const mc_site *of;
    const sn_call_frame *frame; /**< the thread's, then */
    uint64_t address;
    uint64_t size;         /**< of what was accessed */
    bool is_overlap, has_size;
    bool is_told;          /**< only the bits of the memory have to be seen to */
    bool is_below;         /**< the stack pointer */
    uint64_t arguments[3]; /**< of the function, if its arguments overlap */
} found;

typedef struct thread_state {
    uint64_t stack_low, stack_high; /**< the mapping that the thread began to use as its stack; 0: unknown */
    uint32_t count;
    found items[MOST_FOUND];
} thread_state;

static sn_slot state_slot;

static void look_at_unreadable(sn_thread *thread, uint64_t instruction, unsigned how);

void mc_checks_init(void) {
    state_slot = sn_slot_new();
    sn_on_unreadable(look_at_unreadable);
}

/** The mapping that the stack pointer points into, or to the end of, becomes the stack. */
static void look_for_stack(const sn_memory_range *range, void *data) {
    thread_state *state = data;
    if (range->path == NULL) {
        state->stack_low = range->start;
        state->stack_high = range->end;
    }
}

void mc_checks_thread_start(sn_thread *thread) {
    thread_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    *sn_slot_of(thread, state_slot) = (uint64_t)(uintptr_t)state;
    state->stack_low = sn_thread_stack_pointer(thread);
    sn_memory_visit_within(state->stack_low - 1, state->stack_low, look_for_stack, state);
}

static SN_FAST thread_state *state_of(sn_thread *thread) { return (thread_state *)(uintptr_t)*sn_slot_of(thread, state_slot); }

void mc_checks_thread_end(sn_thread *thread) {
    thread_state *state = state_of(thread);
    *sn_slot_of(thread, state_slot) = 0;
    free(state);
}

/* --------------------------------------------------------------------------------------------------- reporting */

static void tell(sn_thread *thread, const found *item) {
    const mc_site *of = item->of;
    sn_context_info info;
    sn_context context = sn_context_of(thread);
    bool is_behind = item->frame != sn_call_frame_of(thread); /* of what was called, or of the handler of a fault */
    if (is_behind && sn_context_describe(context, &info)) {
        context = info.caller;
    }
    if (item->is_overlap) {
        mc_report_overlap(thread, context, of->instruction, item->arguments, item->has_size);
    } else {
        mc_error *error = mc_report_access_in(thread, context, of->instruction, item->address, of->size, of->is_write);
        mc_repeats_note(&((mc_site *)of)->repeats, context, error);
    }
}

/** What must not be written to has been: its bits are undefined again, so that the next access is found, too. */
static void forbid_again(const found *item) {
    if (item->is_below) {
        mc_make_forbidden(item->address, item->size);
    } else if (!item->is_overlap) {
        mc_forbid_again(item->address, item->size);
    }
}

void mc_checks_tell(sn_thread *thread) {
    thread_state *state = state_of(thread);
    if (state == NULL) {
        return;
    }
    for (uint32_t i = 0; i < state->count; i++) {
        const found *item = &state->items[i];
        if (!item->is_told) {
            tell(thread, item);
        }
        forbid_again(item);
    }
    state->count = 0;
    mc_definedness_tell(thread);
}

/** Room for one more; NULL: it is not told. */
static SN_FAST found *new_found(sn_thread *thread, const mc_site *of) {
    thread_state *state = state_of(thread);
    if (state == NULL || state->count == MOST_FOUND || mc_errors_are_over) {
        return NULL;
    }
    found *item = &state->items[state->count++];
    item->of = of;
    item->frame = sn_call_frame_of(thread);
    item->is_overlap = item->is_told = item->is_below = false;
    sn_attend(thread, mc_checks_tell);
    return item;
}

/** Whether the same was told before, in the context that the thread is in: then it is counted. A context that nobody has asked for is
    another one. */
static SN_FAST bool is_repeat(sn_thread *thread, const mc_site *of) {
    return !of->is_call && mc_is_repeat(&of->repeats, sn_call_frame_of(thread)->context);
}

static SN_FAST void note(sn_thread *thread, const mc_site *of, uint64_t address, bool is_below) {
    bool is_told = is_repeat(thread, of);
    found *item = is_told && !of->writes ? NULL : new_found(thread, of);
    if (item != NULL) {
        item->address = address;
        item->size = of->size;
        item->is_told = is_told;
        item->is_below = is_below;
    }
}

SN_FAST void mc_checks_note(sn_thread *thread, const mc_site *of, uint64_t address) {
    if (!mc_is_ignored(address)) {
        note(thread, of, address, false);
    }
}

SN_FAST bool mc_checks_have_found(sn_thread *thread, uint64_t instruction) {
    const thread_state *state = state_of(thread);
    for (uint32_t i = 0; state != NULL && i < state->count; i++) {
        if (state->items[i].of->instruction == instruction) {
            return true;
        }
    }
    return false;
}

SN_FAST void mc_checks_note_overlap(sn_thread *thread, const mc_site *of, const uint64_t *arguments, bool has_size) {
    found *item = new_found(thread, of);
    if (item != NULL) {
        item->is_overlap = true;
        item->has_size = has_size;
        for (unsigned i = 0; i < 3; i++) {
            item->arguments[i] = arguments[i];
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- deciding */

/** Whether an access at an address is one. What is told is the access's own address, as Valgrind does. */
static SN_FAST bool is_error(const mc_site *of, uint64_t address) {
    uint64_t good = 0;
    for (uint64_t i = 0; i < of->size; i++) {
        good += mc_is_addressable(address + i);
    }
    bool suffices = of->may_be_partial && (address & (of->size - 1)) == 0;
    return good != of->size && !(suffices && good != 0);
}

static SN_FAST void look_closer(sn_thread *thread, uint64_t of, uint64_t address) {
    if (is_error((const mc_site *)(uintptr_t)of, address)) {
        mc_checks_note(thread, (const mc_site *)(uintptr_t)of, address);
    }
}

/** Whether memory is of the thread's stack, and nobody's. */
static SN_FAST bool is_below(sn_thread *thread, uint64_t address, uint64_t stack_pointer) {
    if (stack_pointer - (RED_ZONE + 1) - address >= UINT64_C(1) << STACK_REACH_BITS) {
        return false;
    }
    const thread_state *state = state_of(thread);
    return state != NULL && address >= state->stack_low && stack_pointer < state->stack_high;
}

SN_FAST bool mc_checks_allow(sn_thread *thread, uint64_t address, uint64_t stack_pointer) {
    return mc_is_addressable(address) && !is_below(thread, address, stack_pointer);
}

static SN_FAST void look_below_stack(sn_thread *thread, uint64_t of, uint64_t address, uint64_t stack_pointer) {
    bool is_own = is_below(thread, address, stack_pointer);
    if (is_own && mc_is_addressable(address) && !mc_is_ignored(address)) { /* else it is another error, and told already */
        note(thread, (const mc_site *)(uintptr_t)of, address, true);
    }
}

/** 64 bits of addressability, of bytes from a multiple of 64 on. */
static SN_FAST uint64_t addressable_from(uint64_t address) { return *(const uint64_t *)sn_shadow_at(mc_shadow, address); }

/** Whether all of at most 64 bytes may be accessed. */
static SN_FAST bool are_addressable(uint64_t address, uint32_t size) {
    unsigned first = address & 63;
    if (size > 64 || !sn_shadow_covers(address, size)) {
        return false;
    }
    uint64_t found = addressable_from(address - first) >> first;
    if (first + size > 64) {
        found |= addressable_from(address - first + 64) << (64 - first);
    }
    uint64_t wanted = size < 64 ? (UINT64_C(1) << size) - 1 : UINT64_MAX;
    return (found & wanted) == wanted;
}

SN_FAST bool mc_checks_allow_operand(sn_thread *thread, uint64_t address, uint32_t size, uint64_t stack_pointer) {
    return are_addressable(address, size) && !is_below(thread, address, stack_pointer) && !is_below(thread, address + size - 1, stack_pointer);
}

SN_FAST bool mc_checks_allow_range(sn_thread *thread, uint64_t start, uint64_t size, uint64_t stack_pointer) {
    return !is_below(thread, start, stack_pointer) && sn_shadow_find_other(mc_shadow, start, start + size, 1) == start + size;
}

/** In the clean variant of code (<sonde/shadow.h>), something that has values is about to be written where some are missing. */
static SN_FAST void write_begins(sn_thread *thread, uint64_t data, uint64_t address, uint64_t stack_pointer) {
    const mc_site *of = (const mc_site *)(uintptr_t)data;
    bool is_dead = !of->is_silent && is_below(thread, address, stack_pointer);
    if (are_addressable(address, of->size) && !is_dead) {
        mc_define_operand(address, of->size);
        return;
    }
    if (!of->is_silent) {
        look_closer(thread, data, address);
        look_below_stack(thread, data, address, stack_pointer);
    }
    for (uint64_t i = 0; i < of->size && !is_dead; i++) {
        if (mc_is_addressable(address + i)) {
            mc_make_defined(address + i, 1);
        }
    }
}

/** Called where a bit is missing, or an address lies not far below the stack pointer. */
static SN_FAST void look_at_both(sn_thread *thread, uint64_t of, uint64_t address, uint64_t sum, uint64_t stack_pointer) {
    (void)sum;
    look_closer(thread, of, address);
    look_below_stack(thread, of, address, stack_pointer);
}

/** Called where a bit is missing, and the stack pointer is looked at apart. */
static SN_FAST void look_only_closer(sn_thread *thread, uint64_t of, uint64_t address, uint64_t sum, uint64_t stack_pointer) {
    (void)sum, (void)stack_pointer;
    look_closer(thread, of, address);
}

/** Called where an address lies so, and bits have been looked at. */
static SN_FAST void look_below_any(sn_thread *thread, uint64_t of, uint64_t address, uint64_t sum, uint64_t stack_pointer) {
    (void)sum;
    look_below_stack(thread, of, address, stack_pointer);
}

/* --------------------------------------------------------------------------------------------------- inserting */

static mc_site *new_site(const sn_instruction *instruction, uint32_t size, unsigned role, bool in_library) {
    bool is_write = role == SN_ROLE_WRITTEN;
    mc_site *made = malloc(sizeof *made);
    if (made == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    bool is_call = instruction->kind == SN_KIND_CALL || instruction->kind == SN_KIND_CALL_INDIRECT;
    *made = (mc_site){.instruction = instruction->address, .size = size, .is_write = is_write, .writes = role & SN_ROLE_WRITTEN, .is_call = is_call,
                   .may_be_partial = !is_write && mc_current.partial_loads_ok && size >= 8, .reads_ahead = in_library};
    return made;
}

/* The code is made of what leaves the program's flags alone, as far as possible: in front of accesses, they matter. */

/** Zero if all bits that may belong to an access are set; which of them do is left to the function. */
static sn_value missing_wide(sn_block *block, const mc_site *of, sn_value address) {
    sn_value place = sn_shadow_address(block, mc_shadow, address);
    unsigned bytes = of->size > 16 ? 8 : 4;
    sn_value all = sn_constant(block, bytes == 8 ? UINT64_MAX : UINT32_MAX), bits = sn_shadow_load_at(block, place, 0, bytes);
    if (of->size > 32) {
        bits = sn_compute(block, SN_AND, bits, sn_shadow_load_at(block, place, 1, 8));
    }
    return sn_compute(block, SN_SUBTRACT, all, bits);
}

/** Zero if no bit is missing. The bits of 64 bytes of the program are a word; where the access reaches over its end, the function
    has to look. */
static sn_value missing_narrow(sn_block *block, const mc_site *of, sn_value address) {
    sn_value word = sn_compute(block, SN_SHIFT_RIGHT, address, sn_constant(block, 6));
    word = sn_compute(block, SN_SHIFT_LEFT, word, sn_constant(block, 3));
    word = sn_compute(block, SN_ADD, word, sn_constant(block, mc_shadow->base));
    sn_value bits = sn_compute(block, SN_SHIFT_RIGHT, sn_shadow_load_at(block, word, 0, 8), address); /* modulo 64 */
    uint64_t all = (UINT64_C(1) << of->size) - 1;
    bits = sn_compute(block, SN_AND, bits, sn_constant(block, all));
    return sn_compute(block, SN_SUBTRACT, sn_constant(block, all), bits);
}

static void check_any(sn_block *block, const mc_site *of, sn_value address) {
    const sn_value arguments[] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)of), address};
    sn_call_fast(block, (void *)look_closer, 3, arguments);
}

/** One if an address lies not far below the stack pointer, else zero. */
static sn_value is_below_stack(sn_block *block, sn_value address) {
    sn_value end = sn_compute(block, SN_ADD, sn_stack_pointer(block), sn_constant(block, (uint64_t)-(RED_ZONE + 1)));
    sn_value distance = sn_compute(block, SN_SUBTRACT, end, address);
    sn_value far = sn_compute(block, SN_SHIFT_RIGHT, distance, sn_constant(block, STACK_REACH_BITS));
    return sn_compute(block, SN_SHIFT_RIGHT, sn_compute(block, SN_ADD, far, sn_constant(block, UINT64_MAX)), sn_constant(block, 63));
}

/** The function gets the address, and the sum, which is the same if there is nothing to look at. */
static void look_if_other(sn_block *block, const mc_site *of, sn_value address, sn_value sum, void *function) {
    sn_call_fast_if(block, SN_NOT_EQUAL, address, sum, function, (uint64_t)(uintptr_t)of);
}

/** One comparison for both, where what is missing leaves room in a word for one more. */
static void check_operand(sn_block *block, unsigned operand, const mc_site *of) {
    sn_value address = sn_operand_address(block, operand), sum = address;
    bool is_power = (of->size & (of->size - 1)) == 0, is_joined = is_power && of->size <= VECTOR;
    if (!is_power || of->size > 64) {
        check_any(block, of, address);
    } else {
        sum = sn_compute(block, SN_ADD, address, of->size <= 8 ? missing_narrow(block, of, address) : missing_wide(block, of, address));
    }
    if (!is_joined && sum != address) {
        look_if_other(block, of, address, sum, (void *)look_only_closer);
        sum = address;
    }
    sum = sn_compute(block, SN_ADD, sum, is_below_stack(block, address));
    look_if_other(block, of, address, sum, is_joined ? (void *)look_at_both : (void *)look_below_any);
}

/** When the instruction has run, see to the bits of what it must not write. */
static void forbid_behind(sn_thread *thread, const mc_site *of, const sn_access *accesses, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t where;
        bool is_write = accesses[i].role & SN_ROLE_WRITTEN;
        found *item = is_write && mc_find_unaddressable(accesses[i].address, accesses[i].size, &where) ? new_found(thread, of) : NULL;
        if (item != NULL) {
            item->address = accesses[i].address;
            item->size = accesses[i].size;
            item->is_told = true;
        }
    }
}

/** An instruction whose accesses are known only when it runs: each element is told. */
static void check_varying(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    mc_site access = *(const mc_site *)data;
    for (size_t i = 0; i < count; i++) {
        access.size = accesses[i].size;
        access.is_write = accesses[i].role & SN_ROLE_WRITTEN;
        bool is_wanted = access.size != 0 && (access.is_write || !access.reads_ahead);
        if (is_wanted && is_error(&access, accesses[i].address)) {
            mc_report_access(thread, access.instruction, accesses[i].address, access.size, access.is_write);
            forbid_behind(thread, data, accesses, count);
            return; /* the rest of a run would be the same again */
        }
    }
}

static void note_mapped(const sn_memory_range *range, void *data) {
    (void)range;
    *(bool *)data = true;
}

/** Whether an address is the program's, wherever it is. */
static bool is_mapped(uint64_t address) {
    bool answer = false;
    sn_memory_visit_within(address, address + 1, note_mapped, &answer);
    return answer;
}

/** Where the instruction was executed, not the handler of its fault. */
static sn_context context_of_fault(sn_thread *thread, unsigned how) {
    sn_context context = sn_context_of(thread);
    sn_context_info info;
    bool is_handled = (how & SN_UNREADABLE_HANDLED) && sn_context_describe(context, &info) && info.is_handler;
    return is_handled ? info.caller : context;
}

/** The shadow of what the instruction accesses is not there, but what of it lies where shadows are was looked at as usual; or it has
    faulted while it was repeated, and nobody has looked. */
static void look_at_unreadable(sn_thread *thread, uint64_t instruction, unsigned how) {
    enum { MOST = 64 };
    sn_access accesses[MOST];
    size_t count = sn_thread_accesses(thread, instruction, accesses, MOST);
    for (size_t i = 0; i < count; i++) {
        const mc_site access = {.size = accesses[i].size, .is_write = accesses[i].role == SN_ROLE_WRITTEN};
        uint64_t address = accesses[i].address;
        bool has_shadow = sn_shadow_covers(address, access.size);
        if (has_shadow ? (how & SN_UNREADABLE_REPEATED) && is_error(&access, address) : !is_mapped(address)) {
            mc_report_access_in(thread, context_of_fault(thread, how), instruction, address, access.size, access.is_write);
            return;
        }
    }
}

/* -------------------------------------------------------------------------------------------- what needs no check */

static bool checks_constants;

void mc_checks_mind_constants(void) {
    if (!checks_constants) {
        checks_constants = true;
        sn_instrumentation_renew();
    }
}

/** Its own frame, constant places of its module (they stay addressable unless the program says otherwise), its thread's block. */
static bool needs_no_check(const sn_operand *operand) {
    if (operand->index != SN_NO_REGISTER) {
        return false;
    }
    if (operand->base == SN_NO_REGISTER) {
        uint64_t where;
        return operand->segment != 0 ||
               (!checks_constants && !mc_find_unaddressable((uint64_t)operand->displacement, operand->size, &where));
    }
    return operand->base == sn_shadow_stack_register() && operand->segment == 0 && operand->displacement >= -RED_ZONE &&
           operand->displacement < (1 << 20);
}

/* -------------------------------------------------------------------------------------------------- libraries */

/** Code that reads whole vectors, and knows what it does. */
static struct {
    struct {
        uint64_t start, end;
    } items[64];
    unsigned count;
} libraries;
static bool has_linker; /* a program without one has the C library in itself */

void mc_checks_module_mapped(const char *path, uint64_t start, uint64_t end) {
    static const char *const names[] = {"ld-linux", "ld.so", "libc.so", "libc-", "libm.so", "libpthread"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool is_named = strncmp(name, names[i], strlen(names[i])) == 0;
        has_linker |= is_named && i < 2;
        if (is_named && libraries.count < sizeof libraries.items / sizeof libraries.items[0]) {
            libraries.items[libraries.count].start = start;
            libraries.items[libraries.count++].end = end;
            return;
        }
    }
}

mc_site *mc_checks_site(uint64_t address, uint32_t size, bool is_write) {
    mc_site *made = calloc(1, sizeof *made);
    if (made == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    *made = (mc_site){.instruction = address, .size = size, .is_write = is_write};
    return made;
}

bool mc_checks_is_library(uint64_t address) {
    for (unsigned i = 0; i < libraries.count; i++) {
        if (address >= libraries.items[i].start && address < libraries.items[i].end) {
            return true;
        }
    }
    return false;
}

/** Whether code is of these, or may be. */
static bool reads_ahead(uint64_t address) { return !has_linker || mc_checks_is_library(address); }

/* ------------------------------------------------------------------------------------------------------ blocks */

/** What is known of the block whose instructions are looked at one by one. */
static struct {
    bool in_library;
    bool is_known; /* a function that is looked at when it is called */
    bool is_kernels; /* which looks at pages of its own */
} current;

void mc_checks_begin(sn_block *block) {
    current.is_kernels = !sn_shadow_covers(sn_block_address(block), 1);
    current.in_library = !current.is_kernels && reads_ahead(sn_block_address(block));
    /* Which function a block belongs to is known because calls are followed (sn_contexts_enable()). */
    current.is_known = current.in_library && mc_strings_know(sn_block_reached_in(block));
}

static bool is_access(const sn_operand *operand) {
    return operand->place == SN_PLACE_MEMORY && (operand->role & SN_ROLE_BOTH) && operand->size != 0;
}

/** Whether what is read goes, in one or by halves, into a vector. */
static bool is_vector_load(const sn_operand *read, const sn_operand *operands, unsigned count) {
    bool is_half = false;
    for (unsigned i = 0; i < count; i++) {
        is_half |= operands[i].place == SN_PLACE_VECTOR && (operands[i].role & SN_ROLE_WRITTEN) && read->size == VECTOR / 2;
    }
    return read->role == SN_ROLE_READ && (read->size >= VECTOR || is_half);
}

void mc_checks_insert_at(sn_block *block, unsigned index) {
    const sn_instruction *instruction = sn_block_instruction(block, index);
    unsigned count;
    if (index == 0) {
        mc_checks_begin(block);
    }
    if (current.is_kernels || current.is_known) {
        return;
    }
    const sn_operand *operands = sn_block_operands(block, index, &count);
    sn_insert_before(block, index);
    if (instruction->accesses_vary) {
        sn_insert_accesses(block, index, check_varying, new_site(instruction, 0, SN_ROLE_READ, current.in_library && !instruction->repeated));
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        bool is_ahead = current.in_library && is_vector_load(operand, operands, count);
        if (is_access(operand) && !is_ahead && !needs_no_check(operand)) {
            check_operand(block, i, new_site(instruction, operand->size, operand->role, current.in_library));
        }
    }
}

const sn_shadow_write *mc_checks_written(sn_block *block, unsigned index, unsigned number) {
    unsigned count;
    const sn_operand *operand = &sn_block_operands(block, index, &count)[number];
    if (needs_no_check(operand)) {
        return NULL;
    }
    mc_site *of = new_site(sn_block_instruction(block, index), operand->size, operand->role, current.in_library);
    of->is_silent = current.is_known;
    of->write = (sn_shadow_write){write_begins, (uint64_t)(uintptr_t)of};
    return &of->write;
}

void mc_checks_insert(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        mc_checks_insert_at(block, i);
    }
}
