/**
 * @fileoverview sn_flows(): an instruction's data flow. The entrance, the rule for what no table has a sharper one for, and
 * what all rules share.
 */
#include "flowing.h"

#include <string.h>

/* -------------------------------------------------------------------------- pieces */

sn_flow_piece sn_flow_part_of(uint8_t operand, unsigned offset, unsigned size) {
    return (sn_flow_piece){.operand = operand, .offset = (uint16_t)offset, .size = (uint16_t)size};
}

sn_flow_piece sn_flow_flags_piece(const sn_flowing *f, uint8_t flags) {
    return (sn_flow_piece){.operand = f->flags, .flags = flags};
}

sn_flow_piece sn_flow_whole(const sn_flowing *f, uint8_t operand) {
    if (operand == f->flags) return sn_flow_flags_piece(f, sn_flow_flags_of(f).read);
    return sn_flow_part_of(operand, 0, f->operands[operand].size);
}

sn_flow_piece sn_flow_constant_piece(unsigned size) {
    return (sn_flow_piece){.operand = SN_FLOW_NO_OPERAND, .size = (uint16_t)size};
}

/* --------------------------------------------------------------------------- flows */

sn_flow *sn_flow_to(sn_flowing *f, unsigned class, sn_flow_piece destination) {
    if (f->count == f->capacity) {
        f->is_whole = false;
        f->count--; /* whoever adds to it has something to write to; the list is given up in the end */
    }
    sn_flow *flow = &f->flows[f->count++];
    memset(flow, 0, sizeof *flow);
    flow->kind = (uint8_t)class;
    flow->amount = SN_FLOW_VARIABLE;
    flow->destination = destination;
    return flow;
}

void sn_flow_from(sn_flow *flow, sn_flow_piece source) {
    flow->sources[flow->source_count++] = source;
}

sn_flow *sn_flow_of(sn_flowing *f, unsigned class, sn_flow_piece destination, sn_flow_piece source) {
    sn_flow *flow = sn_flow_to(f, class, destination);
    sn_flow_from(flow, source);
    return flow;
}

void sn_flow_flags_constant(sn_flowing *f, uint8_t flags) {
    if (flags) sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_flags_piece(f, flags));
}

void sn_flow_flags_undefined(sn_flowing *f, uint8_t flags) {
    if (flags) sn_flow_to(f, SN_FLOW_UNDEFINED, sn_flow_flags_piece(f, flags));
}

/** Bytes of the register up to which a write of the operand reaches: 4-byte general registers clear their upper half, vectors
    in VEX and EVEX encoding all that lies above (Intel SDM volume 1, 3.4.1.1 and 14.1.3). */
static unsigned written_bytes(const sn_flowing *f, const sn_operand *operand) {
    switch (operand->place) {
    case SN_PLACE_GENERAL: return operand->size == 4 ? SN_GENERAL_BYTES : operand->size;
    case SN_PLACE_VECTOR:
        return f->z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? operand->size : SN_VECTOR_BYTES;
    case SN_PLACE_MASK: return SN_MASK_BYTES;
    default: return operand->size;
    }
}

void sn_flow_clear_rest(sn_flowing *f, uint8_t operand) {
    unsigned size = f->operands[operand].size, written = written_bytes(f, &f->operands[operand]);
    if (written > size) sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(operand, size, written - size));
    if (f->operands[operand].place == SN_PLACE_X87 && size == 8) /* exponent and sign of a register of 8 bytes: ones */
        sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(operand, 8, 2))->constant = UINT64_MAX;
}

void sn_flow_apply_mask(const sn_flowing *f, sn_flow *flow) {
    if (f->mask == SN_NO_ARGUMENT) return;
    const sn_operand *to = &f->operands[flow->destination.operand];
    flow->guard.kind = SN_GUARD_MASK;
    flow->guard.lane_size = to->place == SN_PLACE_MASK ? 0 : (uint8_t)to->element_size;
    flow->guard.condition = sn_flow_part_of(f->mask, 0, f->operands[f->mask].size);
    bool zeroes = to->place == SN_PLACE_MASK || f->z.avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
                  f->z.avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING;
    if (!zeroes) flow->guard.otherwise = flow->destination;
}

/* --------------------------------------------------------------------------- flags */

static uint8_t flags_from(uint32_t hardware) {
    static const struct {
        uint32_t hardware;
        uint8_t flag;
    } flags[] = {
        {ZYDIS_CPUFLAG_CF, SN_FLOW_FLAG_CARRY},  {ZYDIS_CPUFLAG_PF, SN_FLOW_FLAG_PARITY},
        {ZYDIS_CPUFLAG_AF, SN_FLOW_FLAG_ADJUST}, {ZYDIS_CPUFLAG_ZF, SN_FLOW_FLAG_ZERO},
        {ZYDIS_CPUFLAG_SF, SN_FLOW_FLAG_SIGN},   {ZYDIS_CPUFLAG_OF, SN_FLOW_FLAG_OVERFLOW},
        {ZYDIS_CPUFLAG_DF, SN_FLOW_FLAG_DIRECTION},
    };
    uint8_t all = 0;
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (hardware & flags[i].hardware) all |= flags[i].flag;
    return all;
}

sn_flow_flag_use sn_flow_flags_of(const sn_flowing *f) {
    const ZydisAccessedFlags *flags = f->z.cpu_flags;
    if (!flags) return (sn_flow_flag_use){0};
    return (sn_flow_flag_use){
        .read = flags_from(flags->tested),
        .result = flags_from(flags->modified),
        .constant = flags_from(flags->set_0 | flags->set_1),
        .undefined = flags_from(flags->undefined),
    };
}

static bool holds(unsigned code, unsigned flags) {
    bool carry = flags & SN_FLOW_FLAG_CARRY, zero = flags & SN_FLOW_FLAG_ZERO, sign = flags & SN_FLOW_FLAG_SIGN;
    bool overflow = flags & SN_FLOW_FLAG_OVERFLOW, parity = flags & SN_FLOW_FLAG_PARITY;
    const bool conditions[8] = {overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};
    return conditions[code / 2 % 8] != (code & 1);
}

void sn_flow_guard_condition(const sn_flowing *f, sn_flow *flow, unsigned code) {
    enum { FLAG_VALUES = 64 };
    flow->guard.kind = SN_GUARD_CONDITION;
    flow->guard.condition = sn_flow_flags_piece(f, sn_flow_flags_of(f).read);
    flow->guard.otherwise = flow->destination;
    for (unsigned flags = 0; flags < FLAG_VALUES; flags++)
        if (holds(code, flags)) flow->guard.truth |= UINT64_C(1) << flags;
}

/* ---------------------------------------------------------------------- any to all */

static bool takes_part(const sn_flowing *f, uint8_t number) {
    const sn_operand *operand = &f->operands[number];
    return operand->role != SN_ROLE_ADDRESS && operand->place != SN_PLACE_CONTROL && number != f->index;
}

/** Writes that the library takes for certain: descriptors that may not exist, a shadow stack that may be off, an empty
    register. */
static bool may_write_nothing(const sn_flowing *f) {
    switch (f->z.mnemonic) {
    case ZYDIS_MNEMONIC_FSTPNCE:
    case ZYDIS_MNEMONIC_LAR:
    case ZYDIS_MNEMONIC_LSL:
    case ZYDIS_MNEMONIC_RDSSPD:
    case ZYDIS_MNEMONIC_RDSSPQ: return true;
    default: return false;
    }
}

/** The destination is a source where it may stay as it is; a write mask, which chooses lanes or elements, is one too. */
static void add_all_sources(const sn_flowing *f, sn_flow *flow, uint8_t destination) {
    for (uint8_t i = 0; i < f->operand_count && flow->source_count < SN_FLOW_MOST_SOURCES; i++) {
        const sn_operand *operand = &f->operands[i];
        bool stays = i == destination && (may_write_nothing(f) || operand->is_conditional);
        if (!takes_part(f, i) || !(operand->role & SN_ROLE_READ || stays)) continue;
        sn_flow_piece piece = sn_flow_whole(f, i);
        if (operand->place == SN_PLACE_FLAGS && !piece.flags) continue;
        sn_flow_from(flow, piece);
    }
}

static void any_to_flags(sn_flowing *f) {
    sn_flow_flag_use use = sn_flow_flags_of(f);
    if (use.result) add_all_sources(f, sn_flow_to(f, SN_FLOW_ANY, sn_flow_flags_piece(f, use.result)), f->flags);
    sn_flow_flags_constant(f, use.constant);
    sn_flow_flags_undefined(f, use.undefined);
}

static void clear_rest_if_written(sn_flowing *f, uint8_t number) {
    unsigned before = f->count;
    sn_flow_clear_rest(f, number);
    if (f->count == before || !may_write_nothing(f)) return;
    sn_flow *flow = &f->flows[before];
    flow->kind = SN_FLOW_ANY;
    sn_flow_from(flow, flow->destination);
    add_all_sources(f, flow, number);
}

static void any_to_operand(sn_flowing *f, uint8_t number) {
    sn_flow *flow = sn_flow_to(f, SN_FLOW_ANY, sn_flow_whole(f, number));
    flow->is_float = f->operands[number].is_float;
    add_all_sources(f, flow, number);
    clear_rest_if_written(f, number);
}

static void any_to_all(sn_flowing *f) {
    for (uint8_t i = 0; i < f->operand_count; i++) {
        if (!(f->operands[i].role & SN_ROLE_WRITTEN) || !takes_part(f, i)) continue;
        if (i == f->flags)
            any_to_flags(f);
        else
            any_to_operand(f, i);
    }
}

/* ------------------------------------------------------------------------ entrance */

static bool is_index(const sn_flowing *f, uint8_t number) {
    return number > 0 && f->operands[number].place == SN_PLACE_VECTOR && f->operands[number].role == SN_ROLE_READ &&
           f->operands[number - 1].place == SN_PLACE_MEMORY &&
           (f->z.meta.category == ZYDIS_CATEGORY_GATHER || f->z.meta.category == ZYDIS_CATEGORY_SCATTER ||
            f->z.meta.category == ZYDIS_CATEGORY_AVX2GATHER);
}

static void find_arguments(sn_flowing *f) {
    bool masked = f->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && f->z.avx.mask.reg != ZYDIS_REGISTER_NONE &&
                  f->z.avx.mask.reg != ZYDIS_REGISTER_K0;
    for (uint8_t i = 0; i < f->operand_count; i++) {
        const sn_operand *operand = &f->operands[i];
        if (operand->place == SN_PLACE_FLAGS)
            f->flags = i;
        else if (masked && i == 1 && operand->place == SN_PLACE_MASK)
            f->mask = i;
        else if (is_index(f, i))
            f->index = i;
        else if (operand->is_explicit && f->argument_count < SN_FLOWING_MOST_ARGUMENTS)
            f->arguments[f->argument_count++] = i;
    }
}

int sn_flows(const sn_insn *insn, const sn_operand *operands, unsigned operand_count, sn_flow *flows, unsigned capacity) {
    ZydisDecodedOperand unused[ZYDIS_MAX_OPERAND_COUNT];
    sn_flowing f = {.insn = insn, .operands = operands, .operand_count = operand_count, .flows = flows, .capacity = capacity,
                    .mask = SN_NO_ARGUMENT, .index = SN_NO_ARGUMENT, .flags = SN_NO_ARGUMENT, .is_whole = true,
                    .arguments = {SN_NO_ARGUMENT}};
    if (!sn_zydis_decode(insn->bytes, insn->length, &f.z, unused)) return -1;
    find_arguments(&f);
    if (!sn_flow_general(&f) && !sn_flow_vector(&f) && !sn_flow_shuffle(&f) && !sn_flow_mask(&f) && !sn_flow_x87(&f))
        any_to_all(&f);
    return f.is_whole ? (int)f.count : -1;
}
