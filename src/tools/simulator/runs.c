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
    *run = (cache_run){.is_open = !is_uncertain(operand, motion), .first = *operand, .high = operand->size, .window_count = 1};
    run->windows[0].high = operand->size;
}

static int64_t least(int64_t one, int64_t other) {
    return one < other ? one : other;
}

static int64_t most(int64_t one, int64_t other) {
    return one > other ? one : other;
}

/** What becomes of the window if bytes are added. Those that reach beyond both of its ends are apart. */
static cache_run_where grow(cache_window *window, int64_t low, int64_t high, int64_t longest) {
    cache_window grown = {window->first, least(window->low, low), most(window->high, high)};
    bool is_lower = grown.low != window->low, is_higher = grown.high != window->high;
    if (grown.high - grown.low > longest || (is_lower && is_higher)) {
        return CACHE_RUN_APART;
    }
    *window = grown;
    return is_lower ? CACHE_RUN_BELOW : is_higher ? CACHE_RUN_ABOVE : CACHE_RUN_WITHIN;
}

/** The bytes are less than a run away from all others. */
static cache_run_place place_bytes(cache_run *run, int64_t low, int64_t high, int64_t longest) {
    unsigned first = run->window_count > CACHE_RUN_WINDOWS ? run->window_count - CACHE_RUN_WINDOWS : 0;
    for (unsigned number = first; number < run->window_count; number++) {
        cache_window *window = &run->windows[number % CACHE_RUN_WINDOWS];
        if (window->low <= low && high <= window->high) {
            return (cache_run_place){CACHE_RUN_WITHIN, number, low - window->first};
        }
    }
    for (unsigned number = first; number < run->window_count; number++) {
        cache_window *window = &run->windows[number % CACHE_RUN_WINDOWS];
        cache_run_where where = grow(window, low, high, longest);
        if (where != CACHE_RUN_APART) {
            return (cache_run_place){where, number, low - window->first};
        }
    }
    run->windows[run->window_count % CACHE_RUN_WINDOWS] = (cache_window){low, low, high};
    return (cache_run_place){CACHE_RUN_APART, run->window_count++, 0};
}

cache_run_place cache_run_take(cache_run *run, const sn_operand *operand, const cache_motion *motion, const cache_reach *reach) {
    const sn_operand *first = &run->first;
    if (!run->is_open || operand->base != first->base || operand->index != first->index || operand->scale != first->scale ||
        operand->segment != first->segment || is_uncertain(operand, motion)) {
        return (cache_run_place){.where = CACHE_RUN_OUTSIDE};
    }
    int64_t low = operand->displacement - first->displacement + run->moved, high = low + operand->size;
    int64_t all_low = least(run->low, low), all_high = most(run->high, high);
    if (all_high - all_low > reach->run) {
        return (cache_run_place){.where = CACHE_RUN_OUTSIDE};
    }
    run->low = all_low;
    run->high = all_high;
    return place_bytes(run, low, high, reach->window);
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
