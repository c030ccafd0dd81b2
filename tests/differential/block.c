/**
 * @fileoverview Growing a random block, see block.h: which forms, what is kept, how a block ends.
 */
#include "block.h"

#include <signal.h>
#include <string.h>

#include "instruction.h"
#include "layout.h"

enum { STACK_POINTER = 4, TRIES_A_PIECE = 30, HOPELESS_TRIES = 12 };

static sn_block_options options;

/** Indices of the forms of each kind, made once. */
static struct {
    uint32_t *members;
    uint32_t count;
} kinds[SN_KINDS], last;

static bool wanted(const sn_form *form) {
    return !options.mnemonic || strcmp(ZydisMnemonicGetString(form->mnemonic), options.mnemonic) == 0;
}

static void collect_forms(void) {
    static uint32_t store[SN_KINDS + 1][40000];
    for (unsigned kind = 0; kind < SN_KINDS; kind++) {
        kinds[kind].members = store[kind];
        kinds[kind].count = 0;
    }
    last.members = store[SN_KINDS];
    last.count = 0;
    for (uint32_t i = 0; i < sn_forms_count(); i++) {
        const sn_form *form = &sn_forms()[i];
        if (form->policy == SN_FORM_RANDOM && wanted(form))
            kinds[form->kind].members[kinds[form->kind].count++] = i;
        if (form->policy == SN_FORM_LAST)
            last.members[last.count++] = i;
    }
}

static bool hopeless(const sn_form *form) {
    return form->executed == 0 && form->tried >= HOPELESS_TRIES;
}

/** The next form of all: goes on when the present one ran, or can't. */
static sn_form *next_form(void) {
    static uint32_t current, tries, executed_before;
    sn_form *form = &sn_forms()[current];
    bool allowed = form->policy == SN_FORM_RANDOM && wanted(form);
    if (allowed && form->executed == executed_before && tries++ < TRIES_A_PIECE)
        return form;
    do
        current = (current + 1) % (uint32_t)sn_forms_count();
    while (sn_forms()[current].policy != SN_FORM_RANDOM || !wanted(&sn_forms()[current]));
    executed_before = sn_forms()[current].executed;
    tries = 0;
    return &sn_forms()[current];
}

/** A form of a kind by weight; of two drawn the one that ran less often, so that all are reached. */
static sn_form *pick_form(sn_builder *builder) {
    static const unsigned weights[SN_KINDS] = {46, 20, 15, 19};
    if (options.sweep)
        return next_form();
    for (;;) {
        unsigned pick = sn_random_below(&builder->random, 100), kind = 0;
        while (pick >= weights[kind])
            pick -= weights[kind++];
        if (kinds[kind].count == 0)
            continue;
        sn_form *one = &sn_forms()[kinds[kind].members[sn_random_below(&builder->random, kinds[kind].count)]];
        sn_form *other = &sn_forms()[kinds[kind].members[sn_random_below(&builder->random, kinds[kind].count)]];
        sn_form *form = other->executed < one->executed && !hopeless(other) ? other : one;
        if (!hopeless(form) || sn_random_percent(&builder->random, 3))
            return form;
        if (options.mnemonic)
            return form;
    }
}

static void account(sn_builder *builder, sn_form *form, int signal) {
    form->tried++;
    if (signal == SIGILL)
        form->undefined++;
    else if (signal)
        form->faulted++;
    else if (builder->open_count == 0) /* under an open branch it may have been skipped */
        form->executed++;
}

static bool stack_pointer_usable(uint64_t pointer) {
    const uint64_t margin = 1536;
    return (pointer >= SN_LOW_STACK + margin && pointer < SN_LOW_STACK + SN_STACK_SIZE - margin) ||
           (pointer >= SN_HIGH_STACK + margin && pointer < SN_HIGH_STACK + SN_STACK_SIZE - margin);
}

static uint64_t fresh_stack_pointer(sn_builder *builder) {
    uint64_t pointer = (sn_random_percent(&builder->random, 50) ? SN_LOW_STACK : SN_HIGH_STACK) + SN_STACK_SIZE / 2;
    pointer += 8 * sn_random_below(&builder->random, 64);
    return sn_random_percent(&builder->random, 95) ? pointer : pointer + sn_random_below(&builder->random, 8);
}

/** After a piece: is the stack pointer where pushes and calls may go on? */
static bool settle_stack(sn_builder *builder) {
    if (stack_pointer_usable(builder->registers[STACK_POINTER]))
        return true;
    if (builder->depth)
        return false;
    sn_builder_load(builder, STACK_POINTER, fresh_stack_pointer(builder));
    return sn_builder_run(builder) == 0;
}

static bool add_instruction(sn_builder *builder) {
    sn_form *form = pick_form(builder);
    sn_mark mark = sn_builder_mark(builder);
    uint64_t registers[16];
    if (!sn_instruction_add(builder, form, SN_AIM_DATA))
        return false;
    memcpy(registers, builder->registers, sizeof registers);
    int signal = sn_builder_run(builder);
    if (signal >= 0)
        account(builder, form, signal);
    if (signal == 0 && settle_stack(builder))
        return true;
    sn_builder_back(builder, mark);
    memcpy(builder->registers, registers, sizeof registers);
    return false;
}

unsigned sn_block_grow(sn_builder *builder, unsigned count) {
    unsigned added = 0;
    for (unsigned piece = 0; piece < count && !sn_builder_full(builder); piece++) {
        bool control = !options.straight && sn_random_percent(&builder->random, 16);
        bool done = control && sn_control_add(builder);
        for (unsigned tries = 0; !done && tries < TRIES_A_PIECE; tries++)
            done = add_instruction(builder);
        added += done;
    }
    return added;
}

/** Did the block itself fault, and not what it went astray to? */
static bool fault_inside(const sn_builder *builder) {
    return sn_executor_finish.instruction_pointer - builder->block.start.entry <= builder->block.length;
}

/** Under Sonde a wild access to these addresses finds the engine's table of indirect branches and does not fault
    (docs/limits.md); the bounds are those of src/jit/layout.h. */
static bool is_engine_memory(uint64_t address) {
    return address >= UINT64_C(0x60000000) && address < UINT64_C(0x478000000);
}

/** A last instruction that faults: one that always does, or an operand that does. */
static void add_fault(sn_builder *builder) {
    sn_mark mark = sn_builder_mark(builder);
    for (unsigned tries = 0; tries < TRIES_A_PIECE; tries++) {
        bool always = sn_random_percent(&builder->random, 30);
        sn_form *form = always ? &sn_forms()[last.members[sn_random_below(&builder->random, last.count)]] : pick_form(builder);
        if (!sn_instruction_add(builder, form, always ? SN_AIM_DATA : SN_AIM_FAULT))
            continue;
        int signal = sn_builder_run(builder);
        if (signal > 0 && fault_inside(builder) && !is_engine_memory(sn_executor_finish.fault_address)) {
            account(builder, form, signal);
            return;
        }
        sn_builder_back(builder, mark);
    }
}

static void choose_start(sn_builder *builder) {
    static const uint64_t arenas[] = {SN_LOW_ARENA, SN_HIGH_ARENA};
    sn_start *start = &builder->block.start;
    sn_random *random = &builder->random;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t arena = arenas[sn_random_below(random, 2)];
        bool address = sn_random_percent(random, 35);
        start->registers[i] = address ? arena + SN_ARENA_SIZE / 4 + 8 * sn_random_below(random, SN_ARENA_SIZE / 16)
                                      : sn_random_value(random);
    }
    start->registers[STACK_POINTER] = fresh_stack_pointer(builder);
    start->flags = (sn_random_next(random) & 0x8d5) | 0x202;
    start->flags |= sn_random_percent(random, 15) ? 0x400 : 0; /* direction */
    start->segments = sn_random_percent(random, 25);
    start->fs_base = start->gs_base = 0;
    if (start->segments) {
        start->fs_base = arenas[sn_random_below(random, 2)] + sn_random_below(random, SN_ARENA_SIZE);
        start->gs_base = sn_random_percent(random, 20) ? 0 : arenas[sn_random_below(random, 2)];
    }
}

/** Once more from the start: what differs between two native runs can't be compared with Sonde's. */
static bool same_twice(sn_builder *builder) {
    uint64_t hash = sn_executor_hash();
    sn_executor_run();
    if (sn_executor_hash() == hash)
        return true;
    fprintf(stderr, "differential-generate: block %llu is not the same twice:\n",
            (unsigned long long)builder->block.number);
    for (unsigned i = 0; i < 2; i++) {
        sn_executor_run();
        sn_executor_print(builder->block.number, stderr);
    }
    return false;
}

bool sn_block_make(sn_builder *builder, uint64_t number, uint64_t seed, uint64_t address, uint8_t *writable,
                   const sn_block_options *choices) {
    if (!kinds[0].members || choices->mnemonic != options.mnemonic) {
        options = *choices;
        collect_forms();
    }
    options = *choices;
    memset(builder, 0, sizeof *builder);
    builder->random.state = seed;
    builder->writable = writable;
    builder->high = address >= SN_HIGH_CODE;
    builder->block.number = number;
    choose_start(builder);
    builder->block.start.entry = address;
    builder->block.start.seed = sn_random_next(&builder->random);
    memcpy(builder->registers, builder->block.start.registers, sizeof builder->registers);
    sn_executor_prepare(&builder->block.start);
    sn_block_grow(builder, 1 + sn_random_below(&builder->random, options.most_pieces));
    if (sn_random_percent(&builder->random, 15))
        add_fault(builder);
    sn_builder_run(builder);
    bool same = same_twice(builder);
    sn_builder_finish(builder);
    return same;
}
