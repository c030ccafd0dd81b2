/**
 * @fileoverview Runs of references. See runs.h.
 */
#include "runs.h"

static bool is_written(const sn_operand *operand) {
    return operand->place == SN_PLACE_GENERAL && (operand->role & SN_ROLE_WRITTEN) != 0;
}

/** The one general register that the instruction has to do with without naming it, if there is just one. */
static uint8_t unnamed_register(const sn_operand *operands, unsigned count) {
    uint8_t found = SN_NO_REGISTER;
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].place == SN_PLACE_GENERAL && !operands[i].is_explicit) {
            if (found != SN_NO_REGISTER && found != operands[i].reg) {
                return SN_NO_REGISTER;
            }
            found = operands[i].reg;
        }
    }
    return found;
}

/** Whether it is written, as no operand that the instruction names. */
static bool is_moved(const sn_operand *operands, unsigned count, uint8_t reg) {
    bool moves = false;
    for (unsigned i = 0; i < count; i++) {
        if (is_written(&operands[i]) && operands[i].reg == reg) {
            if (operands[i].is_explicit) {
                return false;
            }
            moves = true;
        }
    }
    return moves;
}

cache_motion cache_motion_of(const sn_operand *operands, unsigned count) {
    cache_motion motion = {.reg = SN_NO_REGISTER};
    uint8_t reg = unnamed_register(operands, count);
    if (reg == SN_NO_REGISTER || !is_moved(operands, count, reg)) {
        return motion;
    }
    for (unsigned i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        if (operand->place != SN_PLACE_MEMORY || operand->is_explicit || operand->base != reg) {
            continue;
        }
        if (motion.reg != SN_NO_REGISTER) {
            return (cache_motion){.reg = SN_NO_REGISTER}; /* twice: not what is meant here */
        }
        if (operand->role == SN_ROLE_WRITTEN && operand->displacement == -(int64_t)operand->size) {
            motion = (cache_motion){reg, -(int64_t)operand->size};
        } else if (operand->role == SN_ROLE_READ && operand->displacement == 0) {
            motion = (cache_motion){reg, operand->size};
        }
    }
    return motion;
}

/** An instruction that moves the register of an address that it names may do so before it refers, or behind. */
static bool is_uncertain(const sn_operand *operand, const cache_motion *motion) {
    return motion->reg != SN_NO_REGISTER && operand->is_explicit &&
           (operand->base == motion->reg || operand->index == motion->reg);
}

void cache_run_begin(cache_run *run, const sn_operand *operand, const cache_motion *motion) {
    *run = (cache_run){.is_open = !is_uncertain(operand, motion), .first = *operand, .high = operand->size};
}

cache_run_place cache_run_take(cache_run *run, const sn_operand *operand, const cache_motion *motion, uint64_t line,
                               int64_t *low) {
    const sn_operand *first = &run->first;
    if (!run->is_open || operand->base != first->base || operand->index != first->index || operand->scale != first->scale ||
        operand->segment != first->segment || is_uncertain(operand, motion)) {
        return CACHE_RUN_OUTSIDE;
    }
    *low = operand->displacement - first->displacement + run->moved;
    int64_t high = *low + operand->size;
    int64_t all_low = *low < run->low ? *low : run->low, all_high = high > run->high ? high : run->high;
    bool goes_one_way = all_low == 0 || all_high == first->size;
    if (!goes_one_way || all_high - all_low > (int64_t)line) {
        return CACHE_RUN_OUTSIDE;
    }
    bool extends = all_low != run->low || all_high != run->high;
    run->low = all_low;
    run->high = all_high;
    return extends ? CACHE_RUN_EXTENDS : CACHE_RUN_WITHIN;
}

void cache_run_follow(cache_run *run, const sn_operand *operands, unsigned count, const cache_motion *motion) {
    run->is_open &= count > 0; /* what the decoder does not know may write anything */
    for (unsigned i = 0; i < count && run->is_open; i++) {
        bool is_of_address = operands[i].reg == run->first.base || operands[i].reg == run->first.index;
        if (is_written(&operands[i]) && is_of_address) {
            run->is_open = motion->reg == run->first.base && run->first.index != motion->reg && operands[i].reg == motion->reg;
        }
    }
    run->moved += motion->reg == run->first.base && motion->reg != SN_NO_REGISTER ? motion->distance : 0;
}
