/**
 * @fileoverview The data flow of moves on the floating-point stack. What computes there is left to the rule for all: it is any
 * of its sources.
 *
 * Registers are numbered as operands are: from the top before the instruction, and destinations of what pushes from the new
 * top. Moves are exact only between places of 10 bytes; others convert.
 */
#include "flowing.h"

enum { SHAPE_NONE, SHAPE_MOVE, SHAPE_EXCHANGE, SHAPE_CONDITIONAL, EXTENDED_BYTES = 10 };

/** The first operand that is read, or written. */
static uint8_t find(const sn_flowing *f, uint8_t role) {
    for (uint8_t i = 0; i < f->operand_count; i++) {
        const sn_operand *operand = &f->operands[i];
        if (operand->role & role && operand->size == EXTENDED_BYTES && operand->place != SN_PLACE_CONTROL) return i;
    }
    return SN_NO_ARGUMENT;
}

static bool add_move(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = find(f, SN_ROLE_WRITTEN), from = find(f, SN_ROLE_READ);
    if (to == SN_NO_ARGUMENT || from == SN_NO_ARGUMENT) return false;
    sn_flow_of(f, rule->kind, sn_flow_whole(f, to), sn_flow_whole(f, from));
    return true;
}

static bool add_exchange(sn_flowing *f, const sn_flow_rule *rule) {
    enum { ONE, OTHER };
    if (f->operand_count < 2) return false;
    sn_flow_of(f, rule->kind, sn_flow_whole(f, ONE), sn_flow_whole(f, OTHER));
    sn_flow_of(f, rule->kind, sn_flow_whole(f, OTHER), sn_flow_whole(f, ONE));
    return true;
}

static bool add_conditional(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = f->arguments[0];
    if (f->argument_count != 2 || f->flags == SN_NO_ARGUMENT) return false;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_whole(f, to), sn_flow_whole(f, f->arguments[1]));
    sn_flow_guard_condition(f, flow, rule->source_lane);
    return true;
}

typedef bool shape_function(sn_flowing *f, const sn_flow_rule *rule);

static shape_function *const shapes[] = {
    [SHAPE_MOVE] = add_move,
    [SHAPE_EXCHANGE] = add_exchange,
    [SHAPE_CONDITIONAL] = add_conditional,
};

#define ROW(name, shape_name) [ZYDIS_MNEMONIC_##name] = {.shape = SHAPE_##shape_name, .kind = SN_FLOW_COPY}
/** With a hardware condition code. */
#define CONDITIONAL(name, code) \
    [ZYDIS_MNEMONIC_##name] = {.shape = SHAPE_CONDITIONAL, .kind = SN_FLOW_COPY, .source_lane = (code)}

static const sn_flow_rule rules[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    ROW(FLD, MOVE),
    ROW(FST, MOVE),
    ROW(FSTP, MOVE),
    ROW(FXCH, EXCHANGE),
    CONDITIONAL(FCMOVB, 2),
    CONDITIONAL(FCMOVBE, 6),
    CONDITIONAL(FCMOVE, 4),
    CONDITIONAL(FCMOVNB, 3),
    CONDITIONAL(FCMOVNBE, 7),
    CONDITIONAL(FCMOVNE, 5),
    CONDITIONAL(FCMOVNU, 11),
    CONDITIONAL(FCMOVU, 10),
};

bool sn_flow_x87(sn_flowing *f) {
    const sn_flow_rule *rule = &rules[f->z.mnemonic];
    if (rule->shape == SHAPE_NONE) return false;
    f->count = 0;
    return shapes[rule->shape](f, rule);
}
