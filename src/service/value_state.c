/**
 * @fileoverview Values of registers that inserted code does not read: of the x87 unit, flags, and control registers. Noted in C,
 * as rows, before the instruction and behind it. See values.h; guest/state_register.h knows the values.
 *
 * Each instruction that has such an operand leaves the code cache once or twice: it costs only tools that ask for these places.
 * Of branches nothing is noted behind them; they write none of these.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "guest/state_register.h"
#include "guest/thread.h"
#include "isa/isa.h"
#include "jit/insert.h"
#include "service/values.h"

typedef struct state_operand {
    uint8_t place, moments;
    uint8_t number;                 /**< as the record has it */
    bool is_on_stack;               /**< numbered from its top */
    uint32_t size;
    uint32_t read_site, write_site; /**< those of its moments */
} state_operand;

/** One instruction, once for each block that it is in. Never freed: code may run until the end. */
typedef struct state_instruction {
    unsigned count;
    bool writes_stack; /**< a register of the stack is written, and wanted */
    bool pushes;       /**< it is to become higher */
    state_operand operands[SN_VALUES_MOST_STATE];
} state_instruction;

_Static_assert((int)SN_STATE_REGISTER_LARGEST <= (int)SN_VALUES_LARGEST_STATE, "there is room for the values before");

static void note_before(sn_thread *thread, const state_instruction *state) {
    sn_value_waiting *waiting = sn_values_waiting_of(thread);
    uint8_t bytes[SN_STATE_REGISTER_LARGEST];
    if (!waiting) return; /* a process that shares its parent's memory */
    if (state->writes_stack) *sn_values_waiting_top(waiting) = (uint8_t)sn_state_stack_top(thread);
    for (unsigned i = 0; i < state->count; i++) {
        const state_operand *operand = &state->operands[i];
        if (operand->moments & SN_VALUES_OVERWRITTEN) {
            unsigned number = operand->is_on_stack && state->pushes ? operand->number - 1u : operand->number;
            sn_state_register(thread, operand->place, number, operand->size, sn_values_waiting_state(waiting, i));
        }
        if (!(operand->moments & SN_VALUES_READ)) continue;
        sn_state_register(thread, operand->place, operand->number, operand->size, bytes);
        sn_values_put_row(thread, operand->read_site, operand->number, operand->size, SN_VALUES_READ, bytes, NULL);
    }
}

/** How much greater the numbers of written registers of the stack are now than when they were named: those that an instruction
    which pushes has written are named as they are now. Whether the stack has changed tells the stack: an exception may have kept it. */
static unsigned stack_shift(sn_thread *thread, const state_instruction *state, sn_value_waiting *waiting, bool *has_pushed) {
    unsigned now = sn_state_stack_top(thread), before = *sn_values_waiting_top(waiting);
    *has_pushed = state->pushes && now != before;
    return *has_pushed ? 0 : before - now;
}

static void note_behind(sn_thread *thread, const state_instruction *state) {
    sn_value_waiting *waiting = sn_values_waiting_of(thread);
    uint8_t bytes[SN_STATE_REGISTER_LARGEST];
    bool has_pushed = false;
    if (!waiting) return;
    unsigned shift = state->writes_stack ? stack_shift(thread, state, waiting, &has_pushed) : 0;
    for (unsigned i = 0; i < state->count; i++) {
        const state_operand *operand = &state->operands[i];
        uint8_t moment = operand->moments & (SN_VALUES_WRITTEN | SN_VALUES_OVERWRITTEN);
        if (!(moment & SN_VALUES_WRITTEN)) continue;
        unsigned number = operand->number + (operand->is_on_stack ? shift : 0);
        sn_state_register(thread, operand->place, number, operand->size, bytes);
        const void *old = moment & SN_VALUES_OVERWRITTEN ? sn_values_waiting_state(waiting, i) : NULL;
        if (old && operand->is_on_stack && state->pushes && !has_pushed) old = bytes; /* nothing was overwritten */
        sn_values_put_row(thread, operand->write_site, operand->number, operand->size, moment, bytes, old);
    }
}

/* --------------------------------------------------------------------- inserting */

/** Short vectors, which are smaller, are not. */
static bool is_on_stack(const sn_operand *operand) {
    enum { EXTENDED_BYTES = 10 };
    return operand->place == SN_PLACE_X87 && operand->size == EXTENDED_BYTES;
}

static void describe(state_instruction *state, const sn_block *block, unsigned index, const sn_operand *operand, unsigned number,
                     uint8_t moments, uint64_t information) {
    const sn_instruction *instruction = sn_block_instruction(block, index);
    if (state->count == SN_VALUES_MOST_STATE) sn_fail(SN_STATUS_ENGINE, "an instruction has too many operands in its state");
    state_operand *made = &state->operands[state->count++];
    *made = (state_operand){.place = operand->place, .moments = moments, .size = operand->size,
                            .number = operand->reg == SN_NO_REGISTER ? 0 : operand->reg};
    made->is_on_stack = is_on_stack(operand);
    state->writes_stack |= made->is_on_stack && moments & SN_VALUES_WRITTEN;
    static const uint8_t of_site[] = {SN_VALUES_READ, SN_VALUES_WRITTEN};
    for (unsigned i = 0; i < 2; i++) {
        if (!(moments & of_site[i])) continue;
        sn_value_site site = sn_value_site_of(instruction, operand, number, of_site[i], operand->size, information);
        *(i ? &made->write_site : &made->read_site) = sn_value_site_number(&site);
    }
}

static void insert_call(sn_block *block, void *function, const state_instruction *state) {
    sn_value arguments[] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)state)};
    sn_call(block, function, 2, arguments);
}

void sn_values_insert_state(sn_block *block, unsigned index, const sn_value_wanted *wanted, unsigned count, bool goes_on) {
    state_instruction *state = calloc(1, sizeof *state);
    if (!state) sn_fail(SN_STATUS_ENGINE, "no memory for what is known of values");
    state->pushes = sn_x87_stack_change(&block->insns[index]) > 0;
    uint8_t all = 0;
    for (unsigned i = 0; i < count; i++) {
        uint8_t moments = wanted[i].moments & (goes_on ? UINT8_MAX : SN_VALUES_READ);
        if (!moments) continue;
        all |= moments;
        describe(state, block, index, wanted[i].operand, wanted[i].number, moments, wanted[i].information);
    }
    if (!all) {
        free(state);
        return;
    }
    if (all & (SN_VALUES_READ | SN_VALUES_OVERWRITTEN) || state->writes_stack) {
        sn_insert_before(block, index);
        insert_call(block, (void *)note_before, state);
    }
    if (all & SN_VALUES_WRITTEN) {
        sn_insert_after(block, index);
        insert_call(block, (void *)note_behind, state);
    }
    sn_insert_before(block, index);
}
