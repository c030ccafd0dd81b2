/**
 * @fileoverview Control structures of a random block: branches of every kind, loops, calls, tables, system calls.
 *
 * Each builder adds its branches around a body that block.c grows, runs the whole, and takes it back when it faults.
 */
#include <string.h>

#include "block.h"
#include "layout.h"

enum { STACK_POINTER = 4, MOST_DEPTH = 3 };

static uint32_t below(sn_builder *builder, uint32_t limit) {
    return sn_random_below(&builder->random, limit);
}

static bool percent(sn_builder *builder, unsigned chance) {
    return sn_random_percent(&builder->random, chance);
}

static bool free_register(const sn_builder *builder, unsigned reg) {
    return reg != STACK_POINTER && !(builder->forbidden >> reg & 1);
}

static unsigned pick_register(sn_builder *builder) {
    unsigned reg;
    do
        reg = below(builder, 16);
    while (!free_register(builder, reg));
    return reg;
}

static void grow_body(sn_builder *builder, unsigned most, uint32_t also_forbidden) {
    uint32_t forbidden = builder->forbidden;
    builder->forbidden |= also_forbidden;
    sn_block_grow(builder, 1 + below(builder, most));
    builder->forbidden = forbidden;
}

/** Random bytes that are never executed. */
static void add_junk(sn_builder *builder) {
    uint8_t junk[16];
    unsigned size = below(builder, sizeof junk);
    for (unsigned i = 0; i < size; i++)
        junk[i] = (uint8_t)sn_random_next(&builder->random);
    if (size)
        sn_builder_data(builder, junk, size);
}

static unsigned here(const sn_builder *builder) {
    return builder->block.length;
}

/** Close the branch that was opened last. */
static bool close_last(sn_builder *builder) {
    bool reached = sn_builder_close(builder, builder->open_count - 1, here(builder));
    builder->open_count--;
    return reached;
}

/** jmp, jcc: opcode as in the short form; opens it. */
static bool open_branch(sn_builder *builder, uint8_t opcode, bool near_form) {
    uint8_t code[8];
    unsigned length = 0;
    if (near_form && opcode != 0xeb) {
        code[length++] = 0x0f;
        code[length++] = (uint8_t)(opcode + 0x10);
    } else {
        code[length++] = near_form ? 0xe9 : opcode;
    }
    memset(code + length, 0, 4);
    sn_builder_add(builder, code, length + (near_form ? 4 : 1));
    return sn_builder_open(builder, here(builder) - (near_form ? 4 : 1), near_form ? 4 : 1);
}

static bool forward_conditional(sn_builder *builder) {
    uint8_t opcode = (uint8_t)(0x70 + below(builder, 16));
    if (!open_branch(builder, opcode, percent(builder, 40)))
        return false;
    grow_body(builder, 3, 0);
    return close_last(builder);
}

/** loopne, loope, loop, jrcxz, with a 32-bit counter now and then. */
static bool forward_count(sn_builder *builder) {
    uint8_t opcode = (uint8_t)(0xe0 + below(builder, 4)), code[3] = {0x67, opcode, 0};
    bool narrow = percent(builder, 30);
    if (opcode != 0xe3 && !free_register(builder, 1))
        return false;
    if (free_register(builder, 1) && percent(builder, 50))
        sn_builder_load(builder, 1, below(builder, 3));
    sn_builder_add(builder, code + !narrow, 2 + narrow);
    if (!sn_builder_open(builder, here(builder) - 1, 1))
        return false;
    grow_body(builder, 2, 0);
    return close_last(builder);
}

static bool forward_jump(sn_builder *builder) {
    if (!open_branch(builder, 0xeb, percent(builder, 40)))
        return false;
    add_junk(builder);
    return close_last(builder);
}

/** A conditional branch back to `start`. */
static bool branch_back(sn_builder *builder, uint8_t opcode, unsigned start) {
    bool near_form = here(builder) + 2 - start > 128 || percent(builder, 30);
    if (!open_branch(builder, opcode, near_form))
        return false;
    bool reached = sn_builder_close(builder, builder->open_count - 1, start);
    builder->open_count--;
    return reached;
}

static uint64_t counter_slot(sn_builder *builder) {
    return SN_COUNTERS + 8 * (builder->counters++ % (SN_COUNTERS_SIZE / 8));
}

static unsigned iterations(sn_builder *builder) {
    return builder->depth == 1 && percent(builder, 8) ? 50 + below(builder, 200) : 1 + below(builder, 5);
}

/** dec dword [slot]; jnz start */
static bool count_down(sn_builder *builder, uint64_t slot, unsigned start) {
    uint8_t code[7] = {0xff, 0x0c, 0x25};
    memcpy(code + 3, &slot, 4);
    sn_builder_add(builder, code, sizeof code);
    return branch_back(builder, percent(builder, 50) ? 0x75 : 0x7f, start);
}

static bool memory_loop(sn_builder *builder) {
    uint64_t slot = counter_slot(builder);
    sn_builder_store(builder, slot, 4, iterations(builder));
    unsigned start = here(builder);
    grow_body(builder, 4, 0);
    return count_down(builder, slot, start);
}

static bool register_loop(sn_builder *builder) {
    uint8_t code[3] = {0x67, (uint8_t)(0xe0 + below(builder, 3)), 0};
    bool narrow = percent(builder, 30);
    if (!free_register(builder, 1))
        return false;
    sn_builder_load(builder, 1, 1 + below(builder, 6));
    unsigned start = here(builder);
    grow_body(builder, 2, 2);
    sn_builder_add(builder, code + !narrow, 2 + narrow);
    if (!sn_builder_open(builder, here(builder) - 1, 1))
        return false;
    bool reached = sn_builder_close(builder, builder->open_count - 1, start);
    builder->open_count--;
    return reached;
}

/* ---- indirect branches ---- */

/** mov reg, imm64, whose value is set later; returns where the value stands. */
static unsigned load_later(sn_builder *builder, unsigned reg) {
    uint8_t code[10] = {(uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7))};
    sn_builder_add(builder, code, sizeof code);
    return here(builder) - 8;
}

static void put_address(sn_builder *builder, unsigned offset, uint64_t value) {
    memcpy(builder->block.code + offset, &value, 8);
}

static uint64_t address_of(const sn_builder *builder, unsigned offset) {
    return builder->block.start.entry + offset;
}

/** Where an indirect branch takes its target from; filled in when the target's place is known. */
typedef struct indirect {
    unsigned register_at; /* offset of an immediate that must become the target's address, or 0 */
    unsigned table_at;    /* offset of an immediate that must become the table's address, or 0 */
    int32_t bias;         /* the table's address is stored less this */
    unsigned literal_at;  /* offset of the RIP-relative displacement that must reach the table, or 0 */
    unsigned entries, index;
} indirect;

/** jmp or call (ModRM.reg 4 or 2) through a register. */
static indirect through_register(sn_builder *builder, unsigned operation) {
    unsigned reg = pick_register(builder), length = 0;
    indirect branch = {.register_at = load_later(builder, reg)};
    uint8_t code[4];
    if (percent(builder, 20))
        code[length++] = 0x3e; /* notrack */
    if (reg >= 8)
        code[length++] = 0x41;
    code[length++] = 0xff;
    code[length++] = (uint8_t)(0xc0 | operation << 3 | (reg & 7));
    sn_builder_add(builder, code, length);
    return branch;
}

/** Through a literal behind the branch. */
static indirect through_literal(sn_builder *builder, unsigned operation) {
    uint8_t code[6] = {0xff, (uint8_t)(operation << 3 | 5)};
    sn_builder_add(builder, code, sizeof code);
    return (indirect){.literal_at = here(builder) - 4, .entries = 1};
}

/** Through [table + index * 8 + bias]. */
static indirect through_table(sn_builder *builder, unsigned operation) {
    unsigned base = pick_register(builder), index = pick_register(builder);
    if (base == index)
        return through_literal(builder, operation);
    indirect branch = {.entries = 1 + below(builder, 4), .bias = (int32_t)(int8_t)below(builder, 256)};
    uint8_t code[5] = {(uint8_t)(0x40 | (index >> 3) << 1 | base >> 3), 0xff, (uint8_t)(0x44 | operation << 3),
                       (uint8_t)(0xc0 | (index & 7) << 3 | (base & 7)), (uint8_t)branch.bias};
    branch.index = below(builder, branch.entries);
    branch.table_at = load_later(builder, base);
    sn_builder_load(builder, index, branch.index);
    sn_builder_add(builder, code, sizeof code);
    return branch;
}

static indirect add_indirect(sn_builder *builder, unsigned operation) {
    switch (below(builder, 3)) {
    case 0: return through_register(builder, operation);
    case 1: return through_literal(builder, operation);
    default: return through_table(builder, operation);
    }
}

/** The table at the current place: the entry in use leads to `target` bytes behind the table, others to wild places. */
static void add_table(sn_builder *builder, const indirect *branch) {
    uint64_t entries[4], after = sn_builder_here(builder) + 8 * branch->entries;
    unsigned table = here(builder);
    for (unsigned i = 0; i < branch->entries; i++)
        entries[i] = i == branch->index ? after : sn_random_next(&builder->random);
    if (branch->register_at)
        put_address(builder, branch->register_at, after);
    if (branch->table_at)
        put_address(builder, branch->table_at, address_of(builder, table) - (uint64_t)(int64_t)branch->bias);
    if (branch->literal_at) {
        int32_t distance = (int32_t)(table - (branch->literal_at + 4));
        memcpy(builder->block.code + branch->literal_at, &distance, 4);
    }
    if (branch->entries)
        sn_builder_data(builder, entries, 8 * branch->entries);
}

static bool indirect_jump(sn_builder *builder) {
    indirect branch = add_indirect(builder, 4);
    add_junk(builder);
    add_table(builder, &branch);
    return true;
}

/** push target; ret */
static bool return_jump(sn_builder *builder) {
    unsigned reg = pick_register(builder);
    indirect branch = {.register_at = load_later(builder, reg)};
    uint8_t push[2] = {0x41, (uint8_t)(0x50 | (reg & 7))}, ret = 0xc3;
    sn_builder_add(builder, push + (reg < 8), 1 + (reg >= 8));
    sn_builder_add(builder, &ret, 1);
    add_junk(builder);
    add_table(builder, &branch);
    return true;
}

/** ret, rep ret, bnd ret, ret imm16 */
static void add_return(sn_builder *builder) {
    uint8_t code[3] = {0xc3, 0, 0};
    unsigned length = 1;
    if (percent(builder, 25)) {
        code[0] = percent(builder, 50) ? 0xf3 : 0xf2;
        code[1] = 0xc3;
        length = 2;
    } else if (percent(builder, 35)) {
        code[0] = 0xc2;
        code[1] = (uint8_t)(percent(builder, 80) ? 8 * below(builder, 9) : below(builder, 70));
        length = 3;
    }
    sn_builder_add(builder, code, length);
}

/** call function; jmp over; function: body, ret; over: */
static bool call(sn_builder *builder) {
    uint64_t stack = builder->registers[STACK_POINTER] - 8;
    bool direct = percent(builder, 50);
    indirect branch = {0};
    if (direct) {
        uint8_t code[5] = {0xe8, 5};
        sn_builder_add(builder, code, sizeof code);
    } else {
        branch = add_indirect(builder, 2);
    }
    if (!open_branch(builder, 0xeb, true))
        return false;
    if (!direct)
        add_table(builder, &branch);
    if (sn_builder_run(builder) != 0)
        return false;
    grow_body(builder, 3, 0);
    if (builder->registers[STACK_POINTER] != stack)
        sn_builder_load(builder, STACK_POINTER, stack);
    add_return(builder);
    return close_last(builder);
}

/** One indirect jump with a different target in each round of a loop. */
static bool switch_loop(sn_builder *builder) {
    enum { CASES = 4 };
    unsigned index = pick_register(builder), base = pick_register(builder), table_at, starts[CASES];
    uint64_t slot = counter_slot(builder);
    uint8_t load[8] = {(uint8_t)(0x40 | (index >> 3) << 2), 0x8b, (uint8_t)(0x04 | (index & 7) << 3), 0x25};
    uint8_t mask[4] = {(uint8_t)(0x40 | index >> 3), 0x83, (uint8_t)(0xe0 | (index & 7)), CASES - 1};
    uint8_t jump[5] = {(uint8_t)(0x40 | (index >> 3) << 1 | base >> 3), 0xff, 0x64,
                       (uint8_t)(0xc0 | (index & 7) << 3 | (base & 7)), 0};
    if (base == index || builder->open_count + CASES > SN_OPEN_BRANCHES)
        return false;
    memcpy(load + 4, &slot, 4);
    sn_builder_store(builder, slot, 4, 2 + below(builder, 8));
    unsigned start = here(builder), first_open = builder->open_count;
    sn_builder_add(builder, load, sizeof load);
    sn_builder_add(builder, mask, sizeof mask);
    table_at = load_later(builder, base);
    sn_builder_add(builder, jump, sizeof jump);
    uint64_t table[CASES] = {0};
    unsigned table_offset = here(builder);
    put_address(builder, table_at, address_of(builder, table_offset));
    sn_builder_data(builder, table, sizeof table);
    for (unsigned i = 0; i < CASES; i++) {
        starts[i] = here(builder);
        for (unsigned later = i; later < CASES; later++)
            put_address(builder, table_offset + 8 * later, address_of(builder, starts[i]));
        grow_body(builder, 1, 0);
        if (!open_branch(builder, 0xeb, true))
            return false;
    }
    for (unsigned i = first_open; i < builder->open_count; i++) {
        if (!sn_builder_close(builder, i, here(builder)))
            return false;
    }
    builder->open_count = first_open;
    return count_down(builder, slot, start);
}

/** System calls with a result that is the same everywhere: unknown numbers, and sched_yield. */
static bool system_call(sn_builder *builder) {
    static const uint32_t numbers[] = {0x7fffffff, 1000000, 24};
    static const uint8_t code[] = {0x0f, 0x05};
    if (!free_register(builder, 0) || !free_register(builder, 1) || !free_register(builder, 11))
        return false;
    sn_builder_load(builder, 0, numbers[below(builder, 3)]);
    sn_builder_add(builder, code, sizeof code);
    return true;
}

bool sn_control_add(sn_builder *builder) {
    static const struct {
        bool (*build)(sn_builder *builder);
        unsigned weight;
    } structures[] = {
        {forward_conditional, 30}, {forward_count, 8}, {forward_jump, 8}, {memory_loop, 12}, {register_loop, 8},
        {indirect_jump, 10},       {return_jump, 4},   {call, 14},        {switch_loop, 4},  {system_call, 2},
    };
    unsigned pick = below(builder, 100), choice = 0;
    if (builder->depth >= MOST_DEPTH)
        return false;
    while (pick >= structures[choice].weight)
        pick -= structures[choice++].weight;
    sn_mark mark = sn_builder_mark(builder);
    uint64_t registers[16];
    memcpy(registers, builder->registers, sizeof registers);
    uint32_t forbidden = builder->forbidden;
    builder->depth++;
    bool built = structures[choice].build(builder) && builder->open_count == mark.open_count;
    built = built && !sn_builder_full(builder) && sn_builder_run(builder) == 0;
    builder->depth--;
    builder->forbidden = forbidden;
    if (!built) {
        sn_builder_back(builder, mark);
        memcpy(builder->registers, registers, sizeof registers);
    }
    return built;
}
