/**
 * @fileoverview The emitter: copies a block's instructions into the code cache and rewrites the few that must not run
 * as they are. Per-architecture file; called by jit/translate.c.
 *
 * What runs in the cache, instruction by instruction:
 *  - most instructions: their own bytes; RIP-relative displacements are adjusted (the cache is within 2 GiB);
 *  - direct branches: a jump with a patchable displacement to a stub, later to the target's block;
 *  - calls: push the client's return address, then a jump;
 *  - indirect branches and returns: the target goes to %rcx (spilled), then `jmp *table(,%rcx,8)`; the block that it
 *    reaches reloads %rcx at its indirect entry;
 *  - system calls: passed through unless the table of numbers says that the engine carries them out;
 *  - operands through the second segment base, and RIP-relative ones out of reach: through a scratch register.
 * The map of places that is written along says, for every byte, what client state it stands for.
 */
#include <string.h>

#include "base/settings.h"
#include "isa/x86_64/emit.h"
#include "jit/cache.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/translate.h"
#include "jit/x86_64/builder.h"


/* ------------------------------------------------------------------------ places */

/** Number of the instruction that the client is at; as many as there are: behind the last. */
static unsigned index_of(const builder *b, uint64_t client) {
    const sn_insn *insn = &b->block->insns[b->current];
    return b->current < b->block->count && client == insn->pc + insn->length ? b->current + 1 : b->current;
}

static void add_place(builder *b, const sn_place *row) {
    sn_place_add(b->record, row);
    b->last = *row;
    b->has_last = true;
}

static void add_analysed(builder *b, sn_place_kind kind, unsigned index, uint16_t saved, bool saved_flags) {
    if (b->pin.on) saved |= (uint16_t)(1u << b->pin.pointer | 1u << b->pin.scratch);
    sn_place row = {.analysed = {.saved = saved, .pending = b->pin.pending},
                    .offset = (uint16_t)(sn_emit_address(&b->e) - b->record->start),
                    .kind = (uint8_t)(kind | SN_PLACE_ANALYSED | (b->pin.on ? SN_PLACE_PINNED : 0)),
                    .index = (uint8_t)(index | (saved_flags ? SN_PLACE_FLAGS_SAVED : 0))};
    add_place(b, &row);
}

bool sn_builder_at_boundary(const builder *b) {
    return b->has_last && SN_PLACE_KIND(b->last.kind) == SN_PLACE_BOUNDARY &&
           b->last.offset == (uint16_t)(sn_emit_address(&b->e) - b->record->start);
}

void sn_builder_analysis_place(builder *b, uint16_t saved, bool saved_flags) {
    if (!saved && !saved_flags && sn_builder_at_boundary(b)) return; /* the row after the registers are saved comes next */
    add_analysed(b, SN_PLACE_ANALYSIS, b->current, saved, saved_flags);
}

void sn_builder_reading_place(builder *b, uint16_t saved, bool saved_flags) {
    if (sn_builder_at_boundary(b)) sn_emit_padding(&b->e, 1);
    add_analysed(b, SN_PLACE_READING, b->current, saved, saved_flags);
}

void sn_builder_place(builder *b, sn_place_kind kind, uint64_t client, uint8_t spilled) {
    /* Signals must find a system call, which may wait for them, as it was before it. */
    const sn_insn *current = &b->block->insns[b->current];
    if (b->committed && client == current->pc && (kind == SN_PLACE_VERBATIM || kind == SN_PLACE_BOUNDARY) &&
        current->class != SN_INSN_SYSCALL)
        kind = SN_PLACE_BEGUN;
    if (b->pin.on) {
        add_analysed(b, kind == SN_PLACE_VERBATIM ? SN_PLACE_BOUNDARY : kind, index_of(b, client), 0, false);
        return;
    }
    uint64_t delta = client - b->block->address;
    if ((uint64_t)(int64_t)(int32_t)delta != delta) kind = SN_PLACE_INSIDE, delta = 0;
    sn_place row = {.client = (int32_t)delta,
                    .offset = (uint16_t)(sn_emit_address(&b->e) - b->record->start),
                    .kind = (uint8_t)kind,
                    .spilled = spilled};
    if (b->has_last && kind == SN_PLACE_VERBATIM && b->last.kind == kind &&
        b->last.client + (row.offset - b->last.offset) == row.client)
        return;
    add_place(b, &row);
}

static void place(builder *b, sn_place_kind kind, uint64_t client, uint8_t spilled) {
    sn_builder_place(b, kind, client, spilled);
}
static void inside(builder *b, uint64_t client) { place(b, SN_PLACE_INSIDE, client, NOTHING_SPILLED); }
static void boundary(builder *b, uint64_t client) { place(b, SN_PLACE_BOUNDARY, client, NOTHING_SPILLED); }

/** Padding before a patchable field, if it needs any. */
static void align_patchable(builder *b, unsigned lead, uint64_t client) {
    if (((sn_emit_address(&b->e) + lead) & 63) <= 60) return;
    inside(b, client);
    sn_emit_align_patchable(&b->e, lead);
}

/** mov $value, offset(%rsp) */
static void emit_store_on_stack(builder *b, int8_t offset, uint32_t value) {
    sn_emit_bytes(&b->e, "\x48\xc7\x44\x24", 4);
    sn_emit8(&b->e, (uint8_t)offset);
    sn_emit32(&b->e, value);
}

/** An indirect branch arrives for `client`. A predicted return has put a cache address into the dead stack slot that it
    popped: there must be what the client's own return leaves there. */
static void emit_arrival(builder *b, uint64_t client) {
    place(b, SN_PLACE_INSIDE, client, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
    if (sn_returns_are_predicted() && client <= INT32_MAX) {
        sn_emit_bytes(&b->e, "\x65\x8b\x0c\x25", 4); /* mov by_return, %ecx */
        sn_emit32(&b->e, SN_THREAD_BY_RETURN);
        sn_emit_bytes(&b->e, "\xe3\x09", 2); /* jrcxz over the store */
        emit_store_on_stack(b, -8, (uint32_t)client);
    }
    sn_emit_load_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
}

/* ------------------------------------------------------------------------- exits */

/** The displacement that was just emitted (4 bytes before the cursor) leads out of the block by an exit. */
static void open_exit_here(builder *b, uint32_t number, sn_counter_use taken) {
    open_exit *open = &b->open[b->open_count++];
    *open = (open_exit){.index = b->current, .pin = b->pin};
    open->number = number;
    open->field = sn_emit_address(&b->e) - 4;
    open->taken = taken;
}

/** `client`: where the client is when the jump is reached. Returns the exit's number. */
static uint32_t jump_to_client(builder *b, uint64_t client, uint64_t target) {
    uint32_t number = sn_exit_new(b->number, target);
    sn_lower_leave_pinned(b, number);
    align_patchable(b, 1, client);
    boundary(b, client);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, 0);
    open_exit_here(b, number, (sn_counter_use){0, 0});
    return number;
}

/** mov $number, exit; jmp out */
static void leave_with(builder *b, uint32_t number) {
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_EXIT, number);
    inside(b, b->block->address);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_exit));
}

/** An exit that the dispatcher treats specially: never linked. */
static void special_exit(builder *b, uint64_t client, uint32_t marker) {
    uint32_t number = sn_exit_new(b->number, client);
    sn_exit_record_at(number)->stub = marker;
    boundary(b, client);
    leave_with(b, number);
}

/* -------------------------------------------------------------------- counting code */

/** Add to a counter without touching flags; `reg` may be overwritten, or is spilled to slot 1. */
static void count_with_register(builder *b, sn_counter_use use, unsigned reg, bool spill) {
    if (spill) sn_emit_store_thread(&b->e, reg, SPILL(1));
    sn_emit_load_thread(&b->e, reg, COUNTER(use.counter));
    sn_emit_add_displacement(&b->e, reg, reg, (int32_t)use.amount);
    sn_emit_store_thread(&b->e, reg, COUNTER(use.counter));
    if (spill) sn_emit_load_thread(&b->e, reg, SPILL(1));
}

static void count_with_flags(builder *b, sn_counter_use use) {
    if (use.amount == 1) sn_emit_increment_thread(&b->e, COUNTER(use.counter));
    else sn_emit_add_thread_constant(&b->e, COUNTER(use.counter), (int32_t)use.amount);
}

/** Flags that the code of count_with_flags destroys. */
static unsigned flags_of(sn_counter_use use) {
    return use.amount == 1 ? SN_FLAGS_ARITHMETIC & ~SN_FLAG_CARRY : SN_FLAGS_ARITHMETIC;
}

/** Before which instruction of the first segment the entry counters disturb least, and by which form of code. */
typedef struct counting_place {
    unsigned index;
    bool by_flags;
    unsigned reg; /**< a dead register; SN_NO_REGISTER: spill */
} counting_place;

static bool leaves_block(const sn_insn *insn) {
    return insn->class == SN_INSN_CONDITIONAL || insn->class == SN_INSN_LOOP ||
           insn->class == SN_INSN_TRANSACTION_BEGIN;
}

/** Flags that are live where the block is left at its end. */
static unsigned flags_at_end(const builder *b) {
    const sn_insn *last = &b->block->insns[b->block->count - 1];
    if (last->class == SN_INSN_JUMP || last->class == SN_INSN_CALL) return sn_flags_live_at(last->target);
    return last->class == SN_INSN_PLAIN || leaves_block(last) ? sn_flags_live_at(last->pc + last->length) : SN_FLAGS_ARITHMETIC;
}

static void find_liveness(builder *b) {
    unsigned flags = flags_at_end(b), registers = 0xffff;
    b->live_flags[b->block->count] = (uint8_t)flags;
    b->live_registers[b->block->count] = (uint16_t)registers;
    for (unsigned i = b->block->count; i-- > 0;) {
        const sn_insn *insn = &b->block->insns[i];
        const sn_place_list *places = b->block->analysis.places[i];
        /* What is called behind or before it may look at all registers, as client requests do. */
        if (sn_analysis_leaves(&b->block->analysis, &places[SN_WHEN_AFTER])) b->live_registers[i + 1] = registers = 0xffff;
        if (leaves_block(insn)) flags = SN_FLAGS_ARITHMETIC, registers = 0xffff;
        flags = (flags & ~(unsigned)insn->flags_written) | insn->flags_read;
        registers = (registers & ~insn->registers_written) | insn->registers_read | 1u << SN_RSP;
        /* A fault shows the state before. Stack accesses fault only when the stack overflows: nobody looks at the
           arithmetic flags then (taking that into account as well would cost count a tenth of its speed). */
        sn_fault_kind fault = sn_fault_kind_of(insn);
        if (fault != SN_FAULT_NONE || sn_analysis_leaves(&b->block->analysis, &places[SN_WHEN_BEFORE])) registers = 0xffff;
        if (fault == SN_FAULT_ANY) flags = SN_FLAGS_ARITHMETIC;
        b->live_flags[i] = (uint8_t)flags;
        b->live_registers[i] = (uint16_t)registers;
    }
}

static counting_place find_counting_place(const builder *b) {
    unsigned needed = 0, last = 0;
    for (unsigned i = 0; i < b->block->entry_count; i++) needed |= flags_of(b->block->entry[i]);
    while (last + 1 < b->block->count && !leaves_block(&b->block->insns[last])) last++;
    for (unsigned i = 0; i <= last; i++)
        if (!(b->live_flags[i] & needed)) return (counting_place){i, true, SN_NO_REGISTER};
    for (unsigned i = 0; i <= last; i++) {
        unsigned dead = ~(unsigned)b->live_registers[i] & 0xffff & ~(1u << SN_RSP);
        if (b->stretch.exists) dead &= ~(1u << b->stretch.pointer | 1u << b->stretch.scratch);
        if (dead) return (counting_place){i, false, (unsigned)__builtin_ctz(dead)};
    }
    return (counting_place){0, false, SN_NO_REGISTER};
}

static void emit_entry_counters(builder *b, const counting_place *where, uint64_t client) {
    bool spill = where->reg == SN_NO_REGISTER && !where->by_flags;
    unsigned reg = spill ? SN_RAX : where->reg;
    place(b, SN_PLACE_INSIDE, client, spill ? SN_SPILLED(SN_RAX, SN_NOTHING_SPILLED) : NOTHING_SPILLED);
    if (spill) sn_emit_store_thread(&b->e, reg, SPILL(1));
    for (unsigned i = 0; i < b->block->entry_count; i++) {
        if (where->by_flags) count_with_flags(b, b->block->entry[i]);
        else count_with_register(b, b->block->entry[i], reg, false);
    }
    if (spill) sn_emit_load_thread(&b->e, reg, SPILL(1));
    sn_analysis_record_at(b->analysis)->counted_from = (uint16_t)(sn_emit_address(&b->e) - b->record->start);
}

/** Before a repeated instruction: iterations += count; empty += (count == 0). */
static void emit_before_iterations(builder *b, unsigned index) {
    const sn_iteration_use *use = &b->block->iterations[index];
    place(b, SN_PLACE_INSIDE, b->block->insns[index].pc, SN_SPILLED(SN_RAX, SN_NOTHING_SPILLED));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_load_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_add_registers(&b->e, SN_RAX, SN_RAX, SN_RCX);
    sn_emit_store_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_bytes(&b->e, "\xe3\x02\xeb\x00", 4); /* jrcxz over the next jump; jmp behind the counting */
    uint8_t *skip = b->e.cursor;
    count_with_register(b, (sn_counter_use){use->empty, 1}, SN_RAX, false);
    if (!b->e.overflowed) skip[-1] = (uint8_t)(b->e.cursor - skip);
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(1));
}

/** After it: iterations -= count, by adding the complement and 1, which leaves the flags alone. */
static void emit_after_iterations(builder *b, unsigned index) {
    const sn_iteration_use *use = &b->block->iterations[index];
    const sn_insn *insn = &b->block->insns[index];
    place(b, SN_PLACE_INSIDE, insn->pc + insn->length, SN_SPILLED(SN_RAX, SN_RDX));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_store_thread(&b->e, SN_RDX, SPILL(2));
    sn_emit_load_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_move(&b->e, SN_RDX, SN_RCX);
    sn_emit_bytes(&b->e, "\x48\xf7\xd2", 3); /* not %rdx */
    sn_emit_add_registers(&b->e, SN_RAX, SN_RAX, SN_RDX);
    sn_emit_add_displacement(&b->e, SN_RAX, SN_RAX, 1);
    sn_emit_store_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_load_thread(&b->e, SN_RDX, SPILL(2));
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(1));
}

/* ------------------------------------------------------- operands that can't stay */

static uint64_t rip_target(const sn_insn *insn) {
    int32_t displacement;
    memcpy(&displacement, insn->bytes + insn->displacement_offset, 4);
    return insn->pc + insn->length + (uint64_t)(int64_t)displacement;
}

static bool reaches(uint64_t from, uint64_t to) { return (uint64_t)(int64_t)(int32_t)(to - from) == to - from; }

/** The instruction with its displacement adjusted to where it now lies. */
static void emit_moved(builder *b, const sn_insn *insn) {
    uint8_t bytes[16];
    memcpy(bytes, insn->bytes, insn->length);
    if (insn->rip_relative) {
        int32_t displacement = (int32_t)(rip_target(insn) - (sn_emit_address(&b->e) + insn->length));
        memcpy(bytes + insn->displacement_offset, &displacement, 4);
    }
    sn_emit_bytes(&b->e, bytes, insn->length);
}

static bool is_segment_prefix(uint8_t byte) {
    return byte == 0x65 || byte == 0x64 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26;
}

/** ModRM, SIB and displacement of the client's memory operand with another register field; RIP-relative adjusted so
    that the instruction may end `tail` bytes behind them. */
static void emit_memory_operand(builder *b, const sn_insn *insn, unsigned reg) {
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    sn_emit8(&b->e, (uint8_t)((modrm & 0xc7) | (reg & 7) << 3));
    if (insn->rip_relative) {
        sn_emit32(&b->e, (uint32_t)(rip_target(insn) - (sn_emit_address(&b->e) + 4)));
        return;
    }
    unsigned from = insn->modrm_offset + 1u;
    bool has_sib = (modrm & 7) == 4;
    sn_emit_bytes(&b->e, insn->bytes + from, (unsigned)has_sib + insn->displacement_size);
}

/** EVEX counts an 8-bit displacement in units of the operand (Intel SDM volume 2, 2.7.5): the decoding library knows
    which. */
static int32_t evex_displacement(const sn_insn *insn) {
    sn_operand operands[SN_MOST_OPERANDS];
    int count = sn_operands(insn, operands, SN_MOST_OPERANDS);
    for (int i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_MEMORY) return (int32_t)operands[i].displacement;
    return 0;
}

/** Prefixes and REX for an instruction of ours that uses the client's memory operand. */
static void emit_memory_prefixes(builder *b, const sn_insn *insn, bool keep_segment, unsigned reg) {
    for (unsigned i = 0; i < insn->prefix_length; i++) {
        uint8_t byte = insn->bytes[i];
        if (byte == 0x67 || (keep_segment && is_segment_prefix(byte))) sn_emit8(&b->e, byte);
    }
    unsigned extension = 0; /* REX.X and REX.B of the original */
    if (insn->encoding == 0) {
        if (insn->rex_offset) extension = insn->bytes[insn->rex_offset - 1] & 3;
    } else if (insn->encoding >= 2) {
        /* VEX3 and EVEX keep them inverted in the first payload byte. */
        extension = (unsigned)(~insn->bytes[insn->opcode_offset - (insn->encoding == 3 ? 3 : 2)] >> 5) & 3;
    }
    sn_emit8(&b->e, (uint8_t)(0x48 | (reg >= 8 ? 4 : 0) | extension));
}

/** After a lea with an EVEX operand's 8-bit displacement. */
static void emit_true_displacement(builder *b, const sn_insn *insn, unsigned reg) {
    if (!b->e.overflowed) b->e.cursor[-1] = 0;
    sn_emit_add_displacement(&b->e, reg, reg, evex_displacement(insn));
}

/** lea reg, [client's operand] without its segment */
static void emit_load_address(builder *b, const sn_insn *insn, unsigned reg) {
    if (insn->rip_relative) {
        sn_emit_load_constant(&b->e, reg, rip_target(insn));
        return;
    }
    emit_memory_prefixes(b, insn, false, reg);
    sn_emit8(&b->e, 0x8d);
    emit_memory_operand(b, insn, reg);
    if (insn->encoding == 3 && insn->displacement_size == 1)
        /* The one byte just written is wrong: make it nothing, and add the true displacement. */
        emit_true_displacement(b, insn, reg);
}

/** The client's instruction with its memory operand replaced by [reg], reg one of the first eight and neither the
    stack nor the frame pointer. */
static void emit_with_base(builder *b, const sn_insn *insn, unsigned reg) {
    bool segment_too = insn->segment != SN_SEGMENT_FS;
    for (unsigned i = 0; i < insn->prefix_length; i++) {
        uint8_t byte = insn->bytes[i];
        if (byte == 0x67 || (segment_too && (byte == 0x65 || byte == 0x64))) continue;
        sn_emit8(&b->e, byte);
    }
    uint8_t body[16];
    unsigned from = insn->prefix_length, length = (unsigned)insn->modrm_offset - from;
    memcpy(body, insn->bytes + from, length);
    if (insn->encoding == 0 && insn->rex_offset) body[0] &= 0xfc;
    if (insn->encoding >= 2) body[1] |= 0x60;
    sn_emit_bytes(&b->e, body, length);
    sn_emit8(&b->e, (uint8_t)((insn->bytes[insn->modrm_offset] & 0x38) | reg));
    unsigned tail = insn->immediate_size;
    sn_emit_bytes(&b->e, insn->bytes + insn->length - tail, tail);
}

/** Two registers that the instruction has nothing to do with; the first can be encoded as a base without extension. */
static bool find_scratch(const sn_insn *insn, unsigned scratch[2]) {
    sn_insn exact = *insn;
    if ((insn->registers_touched & 0xff) == 0xff) sn_decode_slowly(insn->bytes, insn->length, insn->pc, &exact);
    unsigned found = 0;
    static const uint8_t candidates[] = {SN_RAX, SN_RDX, SN_RSI, SN_RDI, SN_RBX, SN_RCX, SN_RBP, SN_R8, SN_R9, SN_R10};
    for (unsigned i = 0; i < sizeof candidates && found < 2; i++)
        if (!(exact.registers_touched >> candidates[i] & 1)) scratch[found++] = candidates[i];
    return found == 2 && scratch[0] < SN_R8 && scratch[0] != SN_RBP;
}

/** scratch = address of the client's operand in the flat address space, its second register being free for use */
static void emit_flat_address(builder *b, const sn_insn *insn, unsigned scratch, unsigned second) {
    emit_load_address(b, insn, scratch);
    if (insn->segment != SN_SEGMENT_GS) return;
    sn_emit_load_thread(&b->e, second, SN_THREAD_CLIENT_BASE2);
    sn_emit_add_registers(&b->e, scratch, scratch, second);
}

static void emit_through_scratch(builder *b, const sn_insn *insn) {
    unsigned scratch[2];
    if (!insn->memory || !find_scratch(insn, scratch)) {
        special_exit(b, insn->pc, SN_MARK_REFUSED);
        return;
    }
    uint8_t spilled = SN_SPILLED(scratch[0], scratch[1]);
    boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, scratch[0], SPILL(1));
    sn_emit_store_thread(&b->e, scratch[1], SPILL(2));
    place(b, SN_PLACE_INSIDE, insn->pc, spilled);
    emit_flat_address(b, insn, scratch[0], scratch[1]);
    emit_with_base(b, insn, scratch[0]);
    place(b, SN_PLACE_INSIDE, insn->pc + insn->length, spilled);
    sn_emit_load_thread(&b->e, scratch[1], SPILL(2));
    sn_emit_load_thread(&b->e, scratch[0], SPILL(1));
}

/** How an instruction without ModRM operand reaches memory through the second segment base. */
typedef struct implicit_access {
    uint8_t opcode;
    uint8_t escape;  /**< 0x0f, or 0 */
    uint8_t reg;     /**< the register that holds the address */
} implicit_access;

static const implicit_access implicit_accesses[] = {
    {0xa4, 0, SN_RSI}, {0xa5, 0, SN_RSI}, {0xa6, 0, SN_RSI},    {0xa7, 0, SN_RSI}, {0xac, 0, SN_RSI},
    {0xad, 0, SN_RSI}, {0xd7, 0, SN_RBX}, {0xf7, 0x0f, SN_RDI}, {0x6e, 0, SN_RSI}, {0x6f, 0, SN_RSI},
};

static const implicit_access *find_implicit(const sn_insn *insn) {
    uint8_t first = insn->bytes[insn->opcode_offset];
    bool escaped = insn->encoding == 0 && first == 0x0f;
    uint8_t opcode = escaped ? insn->bytes[insn->opcode_offset + 1] : first;
    /* VEX moves the escape byte into the prefix; there is one such instruction here (vmaskmovdqu). */
    bool wide = escaped || insn->encoding != 0;
    for (size_t i = 0; i < sizeof implicit_accesses / sizeof *implicit_accesses; i++)
        if (implicit_accesses[i].opcode == opcode && (implicit_accesses[i].escape != 0) == wide)
            return &implicit_accesses[i];
    return NULL;
}

/** reg += base, or -= base, by way of the first register that is not reg. */
static void emit_change_base(builder *b, unsigned reg, bool add) {
    unsigned scratch = SN_RAX;
    sn_emit_store_thread(&b->e, scratch, SPILL(3));
    sn_emit_load_thread(&b->e, scratch, SN_THREAD_CLIENT_BASE2);
    if (!add) sn_emit_bytes(&b->e, "\x48\xf7\xd0", 3); /* not %rax */
    sn_emit_add_registers(&b->e, reg, reg, scratch);
    if (!add) sn_emit_add_displacement(&b->e, reg, reg, 1);
    sn_emit_load_thread(&b->e, scratch, SPILL(3));
}

/** String instructions and the like: the base is added to the address register around them. */
static void emit_with_base_added(builder *b, const sn_insn *insn, unsigned reg) {
    boundary(b, insn->pc);
    emit_change_base(b, reg, true);
    place(b, SN_PLACE_INSIDE, insn->pc, SN_BASE_ADDED(reg));
    for (unsigned i = 0; i < insn->length; i++)
        if (i >= insn->prefix_length || insn->bytes[i] != 0x65) sn_emit8(&b->e, insn->bytes[i]);
    inside(b, insn->pc);
    emit_change_base(b, reg, false);
}

/** mov between the accumulator and an absolute address: the same through a register. */
static void emit_absolute_move(builder *b, const sn_insn *insn) {
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    uint64_t address = 0;
    memcpy(&address, insn->bytes + insn->displacement_offset, insn->displacement_size);
    boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, SN_RCX, SPILL(1));
    sn_emit_store_thread(&b->e, SN_RDX, SPILL(2));
    place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(SN_RCX, SN_RDX));
    sn_emit_load_constant(&b->e, SN_RCX, address);
    sn_emit_load_thread(&b->e, SN_RDX, SN_THREAD_CLIENT_BASE2);
    sn_emit_add_registers(&b->e, SN_RCX, SN_RCX, SN_RDX);
    for (unsigned i = 0; i < insn->opcode_offset; i++)
        if (insn->bytes[i] != 0x65 && insn->bytes[i] != 0x67) sn_emit8(&b->e, insn->bytes[i]);
    static const uint8_t by_register[] = {0x8a, 0x8b, 0x88, 0x89};
    sn_emit8(&b->e, by_register[opcode & 3]);
    sn_emit8(&b->e, 0x01); /* (%rcx) */
    place(b, SN_PLACE_INSIDE, insn->pc + insn->length, SN_SPILLED(SN_RCX, SN_RDX));
    sn_emit_load_thread(&b->e, SN_RDX, SPILL(2));
    sn_emit_load_thread(&b->e, SN_RCX, SPILL(1));
}

/** Gathers and scatters: their index is a vector register. */
static bool has_vector_index(const sn_insn *insn) {
    if (insn->encoding < 2 || !insn->memory || (insn->bytes[insn->modrm_offset] & 7) != 4) return false;
    unsigned map = insn->bytes[insn->opcode_offset - (insn->encoding == 3 ? 3 : 2)] & (insn->encoding == 3 ? 7 : 31);
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    bool gathers = (opcode & 0xfc) == 0x90 || (opcode & 0xfc) == 0xa0;
    return map == 2 && (gathers || (insn->encoding == 3 && (opcode == 0xc6 || opcode == 0xc7)));
}

/** A gather through the second segment base: that base, plus the client's base register, becomes the base. */
static void emit_gather(builder *b, const sn_insn *insn) {
    unsigned scratch[2];
    if (!find_scratch(insn, scratch)) {
        special_exit(b, insn->pc, SN_MARK_REFUSED);
        return;
    }
    uint8_t modrm = insn->bytes[insn->modrm_offset], sib = insn->bytes[insn->modrm_offset + 1];
    bool no_base = (modrm & 0xc0) == 0 && (sib & 7) == SN_RBP;
    unsigned extended = ~insn->bytes[insn->opcode_offset - (insn->encoding == 3 ? 3 : 2)] >> 5 & 1;
    unsigned base = (sib & 7u) | (extended ? 8u : 0u);
    uint8_t spilled = SN_SPILLED(scratch[0], scratch[1]);
    boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, scratch[0], SPILL(1));
    sn_emit_store_thread(&b->e, scratch[1], SPILL(2));
    place(b, SN_PLACE_INSIDE, insn->pc, spilled);
    sn_emit_load_thread(&b->e, scratch[0], SN_THREAD_CLIENT_BASE2);
    if (!no_base) {
        sn_emit_move(&b->e, scratch[1], base);
        sn_emit_add_registers(&b->e, scratch[0], scratch[0], scratch[1]);
    }
    for (unsigned i = 0; i < insn->length; i++) {
        uint8_t byte = insn->bytes[i];
        if (i < insn->prefix_length && (byte == 0x65 || byte == 0x67)) continue;
        if (i == insn->opcode_offset - (insn->encoding == 3 ? 3u : 2u)) byte |= 0x20; /* no extension of the base */
        if (i == insn->modrm_offset && no_base) byte = (uint8_t)((byte & 0x3f) | 0x80);
        if (i == insn->modrm_offset + 1u) byte = (uint8_t)((byte & 0xf8) | scratch[0]);
        sn_emit8(&b->e, byte);
    }
    place(b, SN_PLACE_INSIDE, insn->pc + insn->length, spilled);
    sn_emit_load_thread(&b->e, scratch[1], SPILL(2));
    sn_emit_load_thread(&b->e, scratch[0], SPILL(1));
}

static void emit_relocated(builder *b, const sn_insn *insn) {
    const implicit_access *implicit = insn->memory ? NULL : find_implicit(insn);
    bool absolute = insn->encoding == 0 && (insn->bytes[insn->opcode_offset] & 0xfc) == 0xa0;
    if (has_vector_index(insn)) emit_gather(b, insn);
    else if (implicit) emit_with_base_added(b, insn, implicit->reg);
    else if (!insn->memory && absolute) emit_absolute_move(b, insn);
    else emit_through_scratch(b, insn);
}

/** lea computes an address without its segment. */
static bool is_load_address(const sn_insn *insn) {
    return insn->encoding == 0 && insn->bytes[insn->opcode_offset] == 0x8d;
}

static bool can_stay(const builder *b, const sn_insn *insn) {
    if (insn->segment == SN_SEGMENT_GS && !is_load_address(insn)) return false;
    /* 32 bytes of slack: a block is not longer than the distance that this could be wrong by. */
    return !insn->rip_relative || reaches(sn_emit_address(&b->e) + 32, rip_target(insn));
}

static bool pops_flags(const sn_insn *insn) {
    enum { POP_FLAGS = 0x9d };
    return insn->encoding == 0 && insn->bytes[insn->opcode_offset] == POP_FLAGS;
}

/** The instruction may set the trap flag, whose first trap comes behind the next one: where that is must be known. */
static void emit_pop_flags(builder *b, const sn_insn *insn) {
    uint64_t next = insn->pc + insn->length;
    boundary(b, insn->pc);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_STEPPED_TO, (uint32_t)next);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_STEPPED_TO + 4, (uint32_t)(next >> 32));
    sn_emit_bytes(&b->e, insn->bytes, insn->length);
}

static void emit_plain(builder *b, const sn_insn *insn) {
    if (pops_flags(insn)) {
        emit_pop_flags(b, insn);
    } else if (can_stay(b, insn)) {
        place(b, SN_PLACE_VERBATIM, insn->pc, NOTHING_SPILLED);
        emit_moved(b, insn);
    } else {
        emit_relocated(b, insn);
    }
}

/* --------------------------------------------------------------------- branches */

static void emit_conditional(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    align_patchable(b, 2, insn->pc);
    boundary(b, insn->pc);
    if (insn->class == SN_INSN_TRANSACTION_BEGIN) sn_emit_bytes(&b->e, "\xc7\xf8", 2);
    else sn_emit8(&b->e, 0x0f), sn_emit8(&b->e, (uint8_t)(0x80 | insn->condition));
    sn_emit32(&b->e, 0);
    open_exit_here(b, sn_exit_new(b->number, insn->target), b->block->taken[index]);
    b->open[b->open_count - 1].is_branch = true;
}

/** loop and jrcxz have a short form only: they jump over a jump. */
static void emit_loop(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    unsigned prefixed = insn->length - 2u;
    align_patchable(b, prefixed + 5, insn->pc);
    boundary(b, insn->pc);
    sn_emit_bytes(&b->e, insn->bytes, insn->length - 1u);
    sn_emit8(&b->e, 2);
    inside(b, insn->pc);
    sn_emit_bytes(&b->e, "\xeb\x05\xe9", 3);
    sn_emit32(&b->e, 0);
    open_exit_here(b, sn_exit_new(b->number, insn->target), b->block->taken[index]);
    b->open[b->open_count - 1].is_branch = true;
}

static void emit_push_return(builder *b, uint64_t client, uint64_t value, bool branch_spilled) {
    sn_indirect_expect(value);
    if ((uint64_t)(int64_t)(int32_t)value == value) {
        sn_emit8(&b->e, 0x68);
        sn_emit32(&b->e, (uint32_t)value);
        return;
    }
    unsigned reg = branch_spilled ? SN_RAX : SN_RCX;
    sn_emit_store_thread(&b->e, reg, SPILL(1));
    place(b, SN_PLACE_INSIDE, client, SN_SPILLED(reg, SN_NOTHING_SPILLED));
    sn_emit_load_constant(&b->e, reg, value);
    sn_emit8(&b->e, (uint8_t)(0x50 | reg));
    sn_emit_load_thread(&b->e, reg, SPILL(1));
}

/** Whether the block is a call whose return the processor is to predict. */
static bool predicts_return(const builder *b) {
    const sn_insn *insn = &b->block->insns[0];
    return b->block->count == 1 && sn_translates_alone(insn) && !b->block->far;
}

/**
 * Push the return address by a call of our own, so that the processor predicts the return, which emit_return makes by
 * a return (see sn_returns_are_predicted()). It arrives at the landing, behind the call.
 */
static void emit_predicted_push(builder *b, const sn_insn *insn, bool branch_spilled) {
    uint64_t next = insn->pc + insn->length;
    uint8_t spilled = branch_spilled ? SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED) : NOTHING_SPILLED;
    sn_emit8(&b->e, 0xe8);
    uint64_t field = sn_emit_address(&b->e);
    sn_emit32(&b->e, 0);
    b->record->landing = (uint32_t)sn_emit_address(&b->e);
    b->record->landing_delta = insn->length;
    emit_arrival(b, next);
    jump_to_client(b, next, next);
    if (!b->e.overflowed) sn_patch_displacement(field, sn_emit_address(&b->e));
    place(b, SN_PLACE_INSIDE, insn->pc, spilled);
    emit_store_on_stack(b, 0, (uint32_t)next);
}

static void emit_push(builder *b, const sn_insn *insn, bool branch_spilled) {
    if (predicts_return(b)) emit_predicted_push(b, insn, branch_spilled);
    else emit_push_return(b, insn->pc, insn->pc + insn->length, branch_spilled);
}

static void emit_call(builder *b, const sn_insn *insn) {
    boundary(b, insn->pc);
    emit_push(b, insn, false);
}

static void emit_note_return(builder *b, bool by_return) {
    if (sn_returns_are_predicted()) sn_emit_store_thread_constant32(&b->e, SN_THREAD_BY_RETURN, by_return);
}

static void emit_table_jump(builder *b, uint64_t client) {
    emit_note_return(b, false);
    place(b, SN_PLACE_INDIRECT, client, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, "\xff\x24\xcd", 3);
    sn_emit32(&b->e, (uint32_t)SN_TABLE_BASE);
}

bool sn_builder_can_take_branch_register(builder *b, const sn_insn *insn) {
    if (insn->class == SN_INSN_RETURN) return true;
    if (insn->class != SN_INSN_JUMP_INDIRECT && insn->class != SN_INSN_CALL_INDIRECT) return false;
    return !(insn->registers_read >> BRANCH_REGISTER & 1) && (!insn->memory || can_stay(b, insn));
}

/** Branch register = the target of an indirect jump or call. */
static void emit_load_target(builder *b, const sn_insn *insn) {
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    if (!insn->memory) {
        unsigned reg = (modrm & 7u) | (insn->rex_offset && insn->bytes[insn->rex_offset - 1] & 1 ? 8u : 0u);
        if (reg != BRANCH_REGISTER) sn_emit_move(&b->e, BRANCH_REGISTER, reg);
        return;
    }
    if (can_stay(b, insn)) {
        emit_memory_prefixes(b, insn, true, BRANCH_REGISTER);
        sn_emit8(&b->e, 0x8b);
        emit_memory_operand(b, insn, BRANCH_REGISTER);
        return;
    }
    place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(BRANCH_REGISTER, SN_RAX));
    sn_emit_store_thread(&b->e, BRANCH_REGISTER, SPILL(1));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(2));
    emit_flat_address(b, insn, BRANCH_REGISTER, SN_RAX);
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(2));
    sn_emit_bytes(&b->e, "\x48\x8b\x09", 3); /* mov (%rcx), %rcx */
}

/** Save the client's branch register, if analysis code has not left it saved. */
static void save_branch_register(builder *b, const sn_insn *insn) {
    if (b->branch_saved) {
        place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
        b->branch_saved = false;
        return;
    }
    boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
    inside(b, insn->pc);
}

static void emit_indirect(builder *b, const sn_insn *insn) {
    save_branch_register(b, insn);
    emit_load_target(b, insn);
    if (insn->class == SN_INSN_CALL_INDIRECT) {
        /* The push may fault with the target already in the branch register. */
        place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
        emit_push(b, insn, true);
    }
    emit_table_jump(b, insn->pc);
}

static void emit_return(builder *b, const sn_insn *insn) {
    save_branch_register(b, insn);
    sn_emit8(&b->e, 0x59); /* pop %rcx */
    if (insn->return_pop) {
        sn_emit_bytes(&b->e, "\x48\x8d\xa4\x24", 4); /* lea pop(%rsp), %rsp */
        sn_emit32(&b->e, insn->return_pop);
    }
    if (insn->return_pop || b->block->far || !sn_returns_are_predicted()) {
        emit_table_jump(b, insn->pc);
        return;
    }
    emit_note_return(b, true);
    place(b, SN_PLACE_INDIRECT, insn->pc, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, "\xff\x34\xcd", 3); /* push table(,%rcx,8) */
    sn_emit32(&b->e, (uint32_t)SN_TABLE_BASE);
    inside(b, insn->pc);
    sn_emit8(&b->e, 0xc3);
}

/* ----------------------------------------------------------------- system calls */

static void emit_store_pc(builder *b, uint64_t client) {
    if (client <= INT32_MAX) {
        sn_emit_store_thread_constant(&b->e, SN_THREAD_PC, (int32_t)client);
    } else {
        sn_emit_load_constant(&b->e, SN_RCX, client);
        sn_emit_store_thread(&b->e, SN_RCX, SN_THREAD_PC);
    }
}

/**
 * %rcx and %r11 are free: the system call overwrites them. Passed through unless the table says otherwise. EFAULT may
 * be the engine's doing (a watched page): then it looks again.
 */
static void emit_syscall(builder *b, const sn_insn *insn) {
    uint64_t next = insn->pc + insn->length;
    boundary(b, insn->pc);
    sn_emit_bytes(&b->e, "\x0f\xb7\xc8", 3); /* movzwl %ax, %ecx */
    inside(b, insn->pc);
    sn_emit_bytes(&b->e, "\x0f\xb6\x89", 3); /* movzbl table(%rcx), %ecx */
    sn_emit32(&b->e, (uint32_t)sn_syscall_table_address());
    sn_emit_bytes(&b->e, "\xe3\x00", 2); /* jrcxz pass */
    uint8_t *pass = b->e.cursor;
    emit_store_pc(b, next);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_syscall));
    if (!b->e.overflowed) pass[-1] = (uint8_t)(b->e.cursor - pass);
    sn_emit_store_thread(&b->e, SN_RAX, SN_THREAD_LAST_SYSCALL);
    boundary(b, insn->pc);
    sn_emit_bytes(&b->e, "\x0f\x05", 2);
    place(b, SN_PLACE_AFTER_SYSCALL, next, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, "\x48\x8d\x48\x0e", 4); /* lea 14(%rax), %rcx */
    inside(b, next);
    sn_emit_bytes(&b->e, "\xe3\x02\xeb\x00", 4); /* jrcxz over the jump */
    uint8_t *good = b->e.cursor;
    emit_store_pc(b, next);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_bad_address));
    if (!b->e.overflowed) good[-1] = (uint8_t)(b->e.cursor - good);
    sn_emit_load_constant(&b->e, SN_RCX, next);
}

/* -------------------------------------------------------- segment base instructions */

static void emit_segment_base(builder *b, const sn_insn *insn) {
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    bool second = modrm >> 3 & 1;
    if (!second) {
        emit_plain(b, insn);
        return;
    }
    uint8_t rex = insn->rex_offset ? insn->bytes[insn->rex_offset - 1] : 0;
    unsigned reg = (modrm & 7u) | (rex & 1 ? 8u : 0u);
    bool wide = rex & 8, write = insn->class == SN_INSN_WRITE_SEGMENT_BASE;
    boundary(b, insn->pc);
    if (write && !wide) {
        sn_emit_store_thread_constant(&b->e, SN_THREAD_CLIENT_BASE2, 0);
        inside(b, insn->pc);
    }
    sn_emit8(&b->e, 0x65);
    if (wide || reg >= 8) sn_emit8(&b->e, (uint8_t)(0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0)));
    sn_emit8(&b->e, write ? 0x89 : 0x8b);
    sn_emit_thread_operand(&b->e, reg, SN_THREAD_CLIENT_BASE2);
}

/* -------------------------------------------------------------- self-checking blocks */

/** Compare one piece of client code of 8, 4, 2 or 1 bytes; leave by the exit if it differs. Uses %rax and %rcx. */
static void emit_check_piece(builder *b, uint64_t client, const uint8_t *bytes, unsigned size, uint64_t *mismatch) {
    uint64_t value = 0;
    memcpy(&value, bytes, size);
    sn_emit_load_constant(&b->e, SN_RAX, client);
    switch (size) {
    case 8: sn_emit_bytes(&b->e, "\x48\x8b\x08", 3); break; /* mov (%rax), %rcx */
    case 4: sn_emit_bytes(&b->e, "\x8b\x08", 2); break;     /* mov (%rax), %ecx */
    case 2: sn_emit_bytes(&b->e, "\x0f\xb7\x08", 3); break; /* movzwl (%rax), %ecx */
    default: sn_emit_bytes(&b->e, "\x0f\xb6\x08", 3);       /* movzbl (%rax), %ecx */
    }
    sn_emit_load_constant(&b->e, SN_RAX, -value);
    sn_emit_add_registers(&b->e, SN_RCX, SN_RCX, SN_RAX);
    sn_emit_bytes(&b->e, "\xe3\x05", 2);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, (uint32_t)*mismatch); /* a chain through the displacements, resolved at the end */
    *mismatch = sn_emit_address(&b->e) - 4;
}

static void emit_checks(builder *b) {
    place(b, SN_PLACE_INSIDE, b->block->address, SN_SPILLED(SN_RAX, SN_RCX));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_store_thread(&b->e, SN_RCX, SPILL(2));
    uint64_t mismatch = 0;
    for (unsigned i = 0; i < b->block->count; i++) {
        const sn_insn *insn = &b->block->insns[i];
        for (unsigned at = 0; at < insn->length;) {
            unsigned left = insn->length - at, size = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
            emit_check_piece(b, insn->pc + at, insn->bytes + at, size, &mismatch);
            at += size;
        }
    }
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_load_thread(&b->e, SN_RCX, SPILL(2));
    sn_emit_bytes(&b->e, "\xeb\x00", 2);
    uint8_t *body = b->e.cursor;
    uint64_t stub = sn_emit_address(&b->e);
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_load_thread(&b->e, SN_RCX, SPILL(2));
    special_exit(b, b->block->address, SN_MARK_CHANGED);
    if (b->e.overflowed) return;
    body[-1] = (uint8_t)(b->e.cursor - body);
    while (mismatch) {
        uint32_t next = *(uint32_t *)mismatch;
        sn_patch_displacement(mismatch, stub);
        mismatch = next;
    }
}

/* ------------------------------------------------------------------- whole blocks */

/** swapgs: faults wherever it runs. */
static bool is_privileged(const sn_insn *insn) {
    return insn->bytes[insn->opcode_offset] == 0x0f && insn->bytes[insn->opcode_offset + 1] == 0x01;
}

static void emit_instruction(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    switch ((sn_insn_class)insn->class) {
    case SN_INSN_BREAKPOINT:
    case SN_INSN_UNDEFINED:
        /* What the operand would be does not matter: it is never looked at. */
        place(b, SN_PLACE_VERBATIM, insn->pc, NOTHING_SPILLED);
        sn_emit_bytes(&b->e, insn->bytes, insn->length);
        break;
    case SN_INSN_PLAIN:
        if (b->block->iterations[index].present) emit_before_iterations(b, index);
        emit_plain(b, insn);
        if (b->block->iterations[index].present) emit_after_iterations(b, index);
        break;
    case SN_INSN_JUMP:
        break;
    case SN_INSN_CONDITIONAL:
    case SN_INSN_TRANSACTION_BEGIN:
        emit_conditional(b, index);
        break;
    case SN_INSN_LOOP:
        emit_loop(b, index);
        break;
    case SN_INSN_CALL:
        emit_call(b, insn);
        break;
    case SN_INSN_JUMP_INDIRECT:
    case SN_INSN_CALL_INDIRECT:
        emit_indirect(b, insn);
        break;
    case SN_INSN_RETURN:
        emit_return(b, insn);
        break;
    case SN_INSN_SYSCALL:
        emit_syscall(b, insn);
        break;
    case SN_INSN_READ_SEGMENT_BASE:
    case SN_INSN_WRITE_SEGMENT_BASE:
        emit_segment_base(b, insn);
        break;
    case SN_INSN_INTERRUPT:
        if (insn->interrupt_number != 0x80) {
            emit_plain(b, insn);
            break;
        }
        special_exit(b, insn->pc, SN_MARK_REFUSED);
        break;
    case SN_INSN_WRITE_SEGMENT:
        if (is_privileged(insn)) emit_plain(b, insn);
        else special_exit(b, insn->pc, SN_MARK_REFUSED);
        break;
    case SN_INSN_FAR_BRANCH:
        special_exit(b, insn->pc, SN_MARK_REFUSED);
        break;
    }
}

/** The way out at the block's end. */
static void emit_end(builder *b) {
    const sn_insn *last = &b->block->insns[b->block->count - 1];
    uint64_t next = last->pc + last->length;
    if (last->class == SN_INSN_JUMP) {
        /* The code before it has run, and must not run again for a signal at the jump. */
        b->committed = b->analysis && b->block->analysis.places[b->block->count - 1][SN_WHEN_BEFORE].first;
        jump_to_client(b, last->pc, last->target);
        b->committed = false;
    }
    if (b->analysis)
        sn_analysis_record_at(b->analysis)->body_end = (uint16_t)(sn_emit_address(&b->e) - b->record->start);
    switch (last->class) {
    case SN_INSN_JUMP:
        break;
    case SN_INSN_CALL:
        sn_exit_record_at(jump_to_client(b, last->target, last->target))->is_noted_call = b->block->call_is_noted;
        break;
    case SN_INSN_JUMP_INDIRECT:
    case SN_INSN_CALL_INDIRECT:
    case SN_INSN_RETURN:
    case SN_INSN_WRITE_SEGMENT:
    case SN_INSN_FAR_BRANCH:
        break;
    default:
        jump_to_client(b, next, next);
    }
}

static bool has_edge_code(const builder *b, const open_exit *open) {
    return open->taken.amount || open->pin.on ||
           (open->is_branch && b->block->analysis.places[open->index][SN_WHEN_TAKEN].first);
}

/** What runs where a branch is taken, before the block is left: returns the displacement that leads on. */
static uint64_t emit_edge(builder *b, const open_exit *open) {
    const sn_exit_record *exit = sn_exit_record_at(open->number);
    uint64_t edge = sn_emit_address(&b->e);
    b->current = open->index;
    b->pin = open->pin;
    if (open->is_branch) sn_lower_place(b, open->index, SN_WHEN_TAKEN);
    if (open->taken.amount) {
        bool by_flags = !(sn_flags_live_at(exit->target) & flags_of(open->taken));
        place(b, SN_PLACE_INSIDE, b->block->address,
              by_flags ? NOTHING_SPILLED : SN_SPILLED(SN_RAX, SN_NOTHING_SPILLED));
        if (by_flags) count_with_flags(b, open->taken);
        else count_with_register(b, open->taken, SN_RAX, true);
    }
    sn_lower_leave_pinned(b, open->number);
    if (b->e.overflowed) return open->field;
    sn_patch_displacement(open->field, edge);
    align_patchable(b, 1, exit->target);
    boundary(b, exit->target);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, 0);
    return sn_emit_address(&b->e) - 4;
}

/** What a displacement leads to until it is linked: the code of the edge, naming the exit, leaving. */
static void emit_stubs(builder *b) {
    for (unsigned i = 0; i < b->open_count; i++) {
        open_exit *open = &b->open[i];
        sn_exit_record *exit = sn_exit_record_at(open->number);
        uint64_t field = has_edge_code(b, open) ? emit_edge(b, open) : open->field;
        if (b->e.overflowed) return;
        exit->site = (uint32_t)field;
        exit->stub = (uint32_t)sn_emit_address(&b->e);
        sn_patch_displacement(field, exit->stub);
        boundary(b, exit->target);
        leave_with(b, open->number);
    }
}

/** Counters of branches that have other code where they are taken become part of it: what it needs is saved once. */
static void join_taken_counters(sn_block *block) {
    for (unsigned i = 0; i < block->count; i++) {
        sn_counter_use *use = &block->taken[i];
        if (!use->amount || !block->analysis.places[i][SN_WHEN_TAKEN].first) continue;
        sn_insert_taken(block, i);
        sn_count(block, use->counter, sn_constant(block, use->amount));
        use->amount = 0;
    }
}

static void start_analysis(builder *b) {
    sn_block *block = b->block;
    join_taken_counters(block);
    b->analysis = sn_analysis_new(block);
    b->record->analysis = b->analysis;
    find_liveness(b);
    sn_analysis_cut(&b->block->analysis);
    sn_lower_plan(b);
}

/** What only those run who do not come by a noted call. The state stays that of the first instruction's boundary. */
static void emit_at_entry(builder *b) {
    if (!b->block->analysis.places[0][SN_WHEN_ENTERED].first) return;
    boundary(b, b->block->address);
    sn_lower_place(b, 0, SN_WHEN_ENTERED);
    b->record->called_entry = (uint32_t)sn_emit_address(&b->e);
    boundary(b, b->block->address);
}

/** An instruction with the analysis code around it. */
static void emit_analysed(builder *b, unsigned index) {
    const sn_place_list *places = b->block->analysis.places[index];
    if (places[SN_WHEN_BEFORE].first) {
        /* The state before the instruction ends here: what follows has been told of it. */
        boundary(b, b->block->insns[index].pc);
        sn_lower_place(b, index, SN_WHEN_BEFORE);
        b->committed = true;
    }
    bool last = b->stretch.exists && index == b->stretch.last;
    if (last && b->stretch.before_only) sn_lower_unpin(b);
    emit_instruction(b, index);
    b->committed = false;
    b->current = index + 1; /* the client is behind it now */
    sn_lower_place(b, index, SN_WHEN_AFTER);
    if (last && !b->stretch.left) sn_lower_unpin(b);
}

/** --debug-break-block: a register is off by one from here on. */
static void emit_mistake(builder *b, uint64_t client) {
    inside(b, client);
    sn_emit_add_displacement(&b->e, SN_RBX, SN_RBX, 1);
}

bool sn_emit_block(sn_block *block, uint32_t number) {
    static builder state;
    builder *b = &state;
    memset(b, 0, offsetof(builder, rare));
    size_t room;
    uint8_t *start = sn_cache_cursor(&room);
    b->e = (sn_emitter){.start = start, .cursor = start, .limit = start + (room < 0xf000 ? room : 0xf000)};
    b->block = block;
    b->number = number;
    b->record = sn_block_record_at(number);
    b->record->start = (uint32_t)(uint64_t)start;

    emit_arrival(b, block->address);
    b->record->entry = (uint32_t)sn_emit_address(&b->e);
    counting_place counting = {block->count, false, SN_NO_REGISTER};
    if (block->instrumented) start_analysis(b);
    if (block->entry_count) counting = find_counting_place(b);
    if (b->analysis) emit_at_entry(b);
    if (block->checks_itself) emit_checks(b);
    for (unsigned i = 0; i < block->count; i++) {
        b->current = i;
        if (b->analysis) sn_lower_pin(b);
        if (counting.index == i) emit_entry_counters(b, &counting, block->insns[i].pc);
        if (i + 1 == block->count && number == sn_settings_current.break_block) emit_mistake(b, block->insns[i].pc);
        if (b->analysis) emit_analysed(b, i);
        else emit_instruction(b, i);
    }
    b->current = block->count - 1;
    emit_end(b);
    emit_stubs(b);
    sn_lower_rare_calls(b);
    if (b->e.overflowed) return false;
    b->record->size = (uint32_t)(b->e.cursor - start);
    sn_cache_commit(b->e.cursor);
    if (b->record->landing) sn_indirect_land(block->address + b->record->landing_delta, b->record->landing);
    return true;
}

/* ----------------------------------------------------------------------- patching */

void sn_patch_site(uint64_t site, uint64_t target) { sn_patch_displacement(site, target); }

/**
 * Seven bytes become a five-byte jump while other threads may run them: first a breakpoint, whose handler tries again,
 * then the rest, then the first byte (the order of the Linux kernel's text_poke_bp).
 */
void sn_patch_indirect(uint64_t site) {
    uint8_t *code = (uint8_t *)site;
    if (code[0] == 0xe9) return;
    size_t room;
    uint8_t *stub = sn_cache_cursor(&room);
    sn_emitter e = {.start = stub, .cursor = stub, .limit = stub + room};
    sn_emit_store_thread_constant(&e, SN_THREAD_BRANCH_SITE, (int32_t)site);
    sn_emit_jump(&e, sn_runtime_address(sn_runtime_lookup));
    if (e.overflowed) return; /* it faults again until the cache was emptied */
    sn_cache_commit(e.cursor);
    int32_t displacement = (int32_t)((uint64_t)stub - (site + 5));
    __atomic_store_n(&code[0], 0xcc, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < 4; i++)
        __atomic_store_n(&code[1 + i], (uint8_t)((uint32_t)displacement >> 8 * i), __ATOMIC_SEQ_CST);
    __atomic_store_n(&code[0], 0xe9, __ATOMIC_SEQ_CST);
}
