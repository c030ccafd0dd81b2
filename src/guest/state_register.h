/**
 * @fileoverview Values of the registers that inserted code does not read: those of the x87 unit, flags, and control registers.
 *
 * Implemented per architecture (x86_64/state_register.c); service/value_state.c asks.
 */
#ifndef SONDE_GUEST_STATE_REGISTER_H
#define SONDE_GUEST_STATE_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sonde/tool.h"

/** Bytes of the largest. */
enum { SN_STATE_REGISTER_LARGEST = 16 };

/** Whether sn_state_register() tells the value of such an operand. Any thread. */
bool sn_state_register_is_known(const sn_operand *operand);

/**
 * Copy the value that register `number` of a known operand's place has now: `size` bytes. The number is as in sn_operand.reg; of a
 * register of the x87 stack it is counted from the top as it is now. In the thread itself, in a function that inserted code has
 * called, before anything but general registers was changed on the client's behalf.
 */
void sn_state_register(const sn_thread *thread, uint8_t place, unsigned number, uint32_t size, uint8_t *bytes);

/** Where the top of the x87 stack is now: the number, modulo 8, gets smaller as the stack is pushed. As above. */
unsigned sn_state_stack_top(const sn_thread *thread);

#endif
