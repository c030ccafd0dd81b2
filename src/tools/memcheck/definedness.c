/**
 * @fileoverview Which bits of the program's data have a value, and errors where it matters that one has none: conditional jumps,
 * addresses, and what the program gives to the kernel. See definedness.h.
 *
 * Eight bits of shadow for each byte: a bit is set where the byte's bit has no value. <sonde/shadow.h> follows them. Undefined are new
 * blocks of the heap, and the stack where it grows: what the stack pointer passes over. Memory that the kernel gives is zero.
 * A value is reported once: after that it counts as defined, so that what is computed from it is not reported again.
 *
 * What is found while the program's code runs is written down by a leaf function, and reported when the engine is entered next,
 * which it asks for (sn_attend()).
 */
#include "definedness.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/shadow.h>

#include "addressability.h"
#include "blocks.h"
#include "checks.h"
#include "frames.h"
#include "memcheck.h"
#include "repeats.h"
#include "strings.h"

static const sn_shadow_memory *shadow; /**< NULL: nothing is followed */

#define ALL_BITS 0xff

/* ------------------------------------------------------------------------------------------------------ ranges */

static SN_FAST bool is_followed(uint64_t start, uint64_t size) { return shadow != NULL && size != 0 && sn_shadow_covers(start, size); }

SN_FAST void mc_make_defined(uint64_t start, uint64_t size) {
    if (is_followed(start, size)) {
        sn_shadow_fill(shadow, start, size, 0);
    }
}

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

/** Fresh blocks of the heap are written word by word: with sn_shadow_fill(), each took twice as long. */
SN_FAST void mc_define_operand(uint64_t address, uint32_t size) {
    if (shadow == NULL) {
        return;
    }
    uint8_t *at = sn_shadow_at(shadow, address), *end = at + size;
    for (; end - at >= 8; at += 8) {
        *(volatile unaligned_word *)at = 0;
    }
    for (; at < end; at++) {
        *(volatile uint8_t *)at = 0;
    }
}

/** In the engine, for which the C library's function is the fastest; what is shared (sn_shadow_share()) is large. */
static void fill(uint64_t start, uint64_t size) {
    enum { LARGE = 64 << 10 };
    if (size >= LARGE) {
        sn_shadow_fill(shadow, start, size, ALL_BITS);
    } else {
        memset(sn_shadow_at(shadow, start), ALL_BITS, size);
    }
}

void mc_make_undefined(uint64_t start, uint64_t size, mc_origin origin) {
    if (is_followed(start, size)) {
        sn_shadow_fill_origin(start, size, origin);
        fill(start, size);
    }
}

void mc_make_forbidden(uint64_t start, uint64_t size) {
    if (is_followed(start, size)) {
        fill(start, size);
    }
}

SN_FAST void mc_forbid_again(uint64_t start, uint64_t size) {
    uint64_t at = start, end = start + size;
    while (is_followed(start, size) && (at = sn_shadow_find_other(mc_shadow, at, end, 1)) < end) {
        uint64_t allowed = sn_shadow_find_other(mc_shadow, at, end, 0);
        sn_shadow_fill(shadow, at, allowed - at, ALL_BITS);
        at = allowed;
    }
}

/** The first byte that is undefined and may be accessed; `end` if there is none. */
static SN_FAST uint64_t find_undefined(uint64_t address, uint64_t end) {
    while ((address = sn_shadow_find_other(shadow, address, end, 0)) < end && !mc_is_addressable(address)) {
        address++;
    }
    return address;
}

void mc_copy_definedness(uint64_t to, uint64_t from, uint64_t size) {
    if (is_followed(to, size) && is_followed(from, size)) {
        sn_shadow_copy(shadow, to, from, size);
        if (mc_current.track_origins) {
            sn_shadow_copy_origins(to, from, size);
        }
    }
}

bool mc_get_definedness(uint64_t start, uint64_t size, uint8_t *shadows) {
    if (!is_followed(start, size)) {
        return false;
    }
    memcpy(shadows, sn_shadow_at(shadow, start), size);
    return true;
}

bool mc_set_definedness(uint64_t start, uint64_t size, const uint8_t *shadows, mc_origin origin) {
    if (!is_followed(start, size)) {
        return false;
    }
    memcpy(sn_shadow_at(shadow, start), shadows, size);
    for (uint64_t i = 0; mc_current.track_origins && i < size; i++) {
        if (shadows[i] != 0) {
            sn_shadow_fill_origin(start + i, 1, origin);
        }
    }
    return true;
}

mc_origin mc_origin_at(uint64_t start, uint64_t size) { return is_followed(start, size) ? sn_shadow_memory_origin(start, size) : 0; }

bool mc_find_undefined(uint64_t start, uint64_t size, uint64_t *where) {
    if (!is_followed(start, size)) {
        return false;
    }
    *where = find_undefined(start, start + size);
    return *where != start + size;
}

/* --------------------------------------------------------------------------------------------------- reporting */

/** A check in the program's code. Never freed: code refers to it. */
struct mc_value_site {
    sn_shadow_check check;
    uint64_t instruction;
    uint32_t registers;   /**< general registers that become defined when they are reported */
    uint32_t size;        /**< of the value */
    bool is_condition;    /**< flags */
    mc_repeats *repeats;
};
typedef mc_value_site site;

enum { MOST_FOUND = 16 };

/** What a thread has found and not reported yet. */
typedef struct found_values {
    uint64_t count;
    struct {
        const site *at;
        mc_origin origin;
        sn_context context;
    } items[MOST_FOUND];
} found_values;

static sn_slot found_slot;

void mc_definedness_tell(sn_thread *thread) {
    if (shadow == NULL) {
        return;
    }
    found_values *found = (found_values *)(uintptr_t)*sn_slot_of(thread, found_slot);
    for (uint64_t i = 0; found != NULL && i < found->count; i++) {
        const site *at = found->items[i].at;
        mc_error *error = mc_report_undefined(thread, at->instruction, at->size, at->is_condition, found->items[i].origin);
        if (found->items[i].context == sn_context_of(thread)) { /* else the boundary lies in another function */
            mc_repeats_note(&((site *)at)->repeats, found->items[i].context, error);
        }
    }
    if (found != NULL) {
        found->count = 0;
    }
}

static SN_FAST void add_found(sn_thread *thread, const site *of, mc_origin origin, sn_context context) {
    found_values *found = (found_values *)(uintptr_t)*sn_slot_of(thread, found_slot);
    if (found != NULL && found->count < MOST_FOUND && !mc_is_repeat(&of->repeats, context)) {
        found->items[found->count].at = of;
        found->items[found->count].context = context;
        found->items[found->count++].origin = origin;
        sn_attend(thread, mc_checks_tell);
    }
}

static SN_FAST void note(sn_thread *thread, uint64_t data, uint64_t value, sn_context context) {
    const site *of = (const site *)(uintptr_t)data;
    mc_origin origin = 0;
    (void)value;
    if (of->registers == 0 && !of->is_condition && mc_checks_have_found(thread, of->instruction)) {
        return; /* the target's place must not be read at all */
    }
    for (uint32_t left = of->registers; left != 0; left &= left - 1) {
        origin = origin != 0 ? origin : sn_shadow_register_origin(thread, (uint8_t)__builtin_ctz(left));
        sn_shadow_set_register(thread, (uint8_t)__builtin_ctz(left), 0);
    }
    if (of->is_condition) {
        origin = origin != 0 ? origin : sn_shadow_flags_origin(thread);
        sn_shadow_clean_flags(thread);
    }
    add_found(thread, of, origin, context);
}

static site *site_at(uint64_t address, uint32_t registers, uint32_t size, bool is_condition) {
    site *made = malloc(sizeof *made);
    if (made == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    *made = (site){.check = {note, (uint64_t)(uintptr_t)made, registers != 0 || is_condition}, .instruction = address,
                   .registers = registers, .size = size, .is_condition = is_condition};
    return made;
}

static site *new_site(sn_block *block, unsigned index, uint32_t registers, uint32_t size, bool is_condition) {
    return site_at(sn_block_instruction(block, index)->address, registers, size, is_condition);
}

const mc_value_site *mc_definedness_site(uint64_t address) { return site_at(address, 0, 0, true); }

SN_FAST void mc_definedness_look(sn_thread *thread, const mc_value_site *of, uint64_t start, uint64_t size) {
    if (shadow != NULL && size != 0 && sn_shadow_covers(start, size) && find_undefined(start, start + size) != start + size) {
        add_found(thread, of, sn_shadow_memory_origin(start, size), sn_call_frame_of(thread)->context);
    }
}

void mc_definedness_thread_start(sn_thread *thread) {
    if (shadow == NULL) {
        return;
    }
    mc_frames_thread_start(thread);
    found_values *found = calloc(1, sizeof *found);
    if (found == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    *sn_slot_of(thread, found_slot) = (uint64_t)(uintptr_t)found;
}

void mc_definedness_thread_end(sn_thread *thread) {
    if (shadow != NULL) {
        free((void *)(uintptr_t)*sn_slot_of(thread, found_slot));
        *sn_slot_of(thread, found_slot) = 0;
    }
}

/* ------------------------------------------------------------------------------------------------------ checks */

static uint32_t bit_of(uint8_t reg) { return reg == SN_NO_REGISTER ? 0 : UINT32_C(1) << reg; }

/** Registers that make the addresses of what the instruction accesses. */
static bool check_addresses(sn_block *block, unsigned index) {
    unsigned count;
    uint32_t registers = 0;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].place == SN_PLACE_MEMORY && operands[i].role != SN_ROLE_ADDRESS) {
            registers |= bit_of(operands[i].base) | bit_of(operands[i].index);
        }
    }
    if (registers != 0) {
        sn_shadow_check_registers(block, registers, &new_site(block, index, registers, 8, false)->check);
    }
    return registers != 0;
}

/** Where control goes. */
static bool check_target(sn_block *block, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        const sn_operand operand = operands[i];
        if (operand.is_explicit && (operand.role & SN_ROLE_READ) && operand.place == SN_PLACE_GENERAL) {
            sn_shadow_check_registers(block, bit_of(operand.reg), &new_site(block, index, bit_of(operand.reg), 8, false)->check);
            return true;
        }
        if (operand.is_explicit && (operand.role & SN_ROLE_READ) && operand.place == SN_PLACE_MEMORY && operand.size == 8) {
            sn_shadow_check_value(block, sn_shadow_of_operand(block, i), &new_site(block, index, 0, 8, false)->check);
            return true;
        }
    }
    return false;
}

/** Flags that decide; of those forms that look at a register instead, that one. */
static bool check_condition(sn_block *block, unsigned index) {
    unsigned count, flags = sn_block_flags_read(block, index);
    if (flags != 0) {
        sn_shadow_check_flags(block, flags, &new_site(block, index, 0, 0, true)->check);
        return true;
    }
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].place == SN_PLACE_GENERAL && (operands[i].role & SN_ROLE_READ)) {
            uint32_t reg = bit_of(operands[i].reg);
            sn_shadow_check_value(block, sn_shadow_of_operand(block, i), &new_site(block, index, reg, 0, true)->check);
            return true;
        }
    }
    return false;
}

/** Whether the block is of a function of the C library that looks at more than counts: what it is given was looked at when it began. */
static bool looks_behind(const sn_block *block) {
    return mc_checks_is_library(sn_block_address(block)) && mc_strings_look_behind(sn_block_reached_in(block));
}

static bool check(sn_block *block, unsigned index) {
    unsigned kind = sn_block_instruction(block, index)->kind;
    mc_checks_insert_at(block, index);
    sn_insert_before(block, index);
    bool any = !looks_behind(block) && check_addresses(block, index);
    switch (kind) {
    case SN_KIND_CONDITIONAL:
        return (!looks_behind(block) && check_condition(block, index)) || any;
    case SN_KIND_JUMP_INDIRECT:
    case SN_KIND_CALL_INDIRECT: return check_target(block, index) || any;
    default: return any;
    }
}

/** Where all that is read is defined, it may be read as well, and nothing needs a check. A return's address is nobody's data. */
static bool check_nothing(sn_block *block, unsigned index) {
    if (index == 0) {
        mc_checks_begin(block);
    }
    return sn_block_instruction(block, index)->kind != SN_KIND_RETURN;
}

/** Memory that must not be accessed has undefined bits, so that accesses of it are found (addressability.c). But who reads it all the same
    is told of that, and of nothing else. */
static SN_FAST void loaded(sn_thread *thread, uint64_t address, uint8_t *bits, unsigned size, uint64_t stack_pointer) {
    if (mc_checks_allow_operand(thread, address, size, stack_pointer)) {
        return;
    }
    for (unsigned i = 0; i < size; i++) {
        if (bits[i] != 0 && !mc_checks_allow(thread, address + i, stack_pointer)) {
            *(volatile uint8_t *)&bits[i] = 0;
        }
    }
}

/* ------------------------------------------------------------------------------------------------ system calls */

SN_FAST void mc_define_result(sn_thread *thread) {
    if (shadow != NULL) {
        sn_shadow_set_register(thread, sn_shadow_result_register(), 0);
    }
}

uint64_t mc_undefined_argument(sn_thread *thread, unsigned argument, mc_origin *origin) {
    uint8_t reg = sn_shadow_system_call_register(argument);
    uint64_t undefined = shadow != NULL ? sn_shadow_register(thread, reg) : 0;
    *origin = undefined != 0 ? sn_shadow_register_origin(thread, reg) : 0;
    return undefined;
}

void mc_define_argument(sn_thread *thread, unsigned argument) {
    sn_shadow_set_register(thread, sn_shadow_system_call_register(argument), 0);
}

void mc_definedness_call_after(sn_thread *thread, const sn_system_call *call) {
    (void)thread;
    if (shadow != NULL) {
        sn_shadow_system_call(call);
    }
    for (size_t i = 0; shadow != NULL && i < call->range_count; i++) { /* the kernel does not ask */
        const sn_system_range *range = &call->ranges[i];
        uint64_t where;
        if (range->role == SN_ROLE_WRITTEN && mc_find_unaddressable(range->start, range->size, &where)) {
            mc_forbid_again(range->start, range->size);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- start */

void mc_definedness_insert(sn_block *block) {
    if (shadow != NULL) {
        mc_frames_insert(block);
        sn_shadow_instrument(block);
    }
}

/** What the processor tells of itself has a value, whatever else has been asked for: programs leave registers as they are that do not
    matter for what they want to know. Valgrind does the same. */
static SN_FAST void define_told(sn_thread *thread, const sn_shadow_step *step) {
    (void)thread;
    for (unsigned i = 0; i < step->size; i++) {
        ((volatile uint8_t *)step->destination)[i] = 0;
    }
}

void mc_definedness_init(void) {
    static sn_shadow_rules rules = {.kind = SN_SHADOW_BITS, .watches_branches = true, .check = check, .clean = check_nothing, .written = mc_checks_written, .may_write = mc_checks_allow_range,
                                    .loaded = loaded, .unknown_origin = mc_block_origin_of_large, .left_frame = ALL_BITS, .functions[SN_FLOW_TOLD] = define_told};
    if (!mc_current.undef_value_errors) {
        return;
    }
    found_slot = sn_slot_new();
    rules.memory = shadow = sn_shadow_memory_new(8);
    sn_shadow_share(shadow, ALL_BITS);
    rules.origins = mc_current.track_origins ? sn_shadow_memory_new(8) : NULL;
    sn_shadow_follow(&rules);
    mc_frames_init(shadow, rules.origins);
}
