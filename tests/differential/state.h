/**
 * @fileoverview The extended state (x87, vectors, masks) in the processor's standard xsave form.
 *
 * Knows where each component lies, makes random initial images, and gives names to the fields for reports. Used by the
 * executor only.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_STATE_H
#define SONDE_TESTS_DIFFERENTIAL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

enum { SN_STATE_X87 = 0, SN_STATE_VECTOR = 1 };

/** The components that this processor and kernel have among those that the test compares: x87 to AVX-512. */
uint32_t sn_state_components(void);

/** An image that puts all components into the state of a fresh process. */
void sn_state_clean(uint8_t *image, uint32_t components);

/** A random image: all registers filled, exceptions mostly masked. */
void sn_state_random(uint8_t *image, uint32_t components, sn_random *random);

/** Write the initial values of components that a saved image left out. */
void sn_state_fill_absent(uint8_t *image, uint64_t absent);

/** Take out what no program may rely on: instruction and operand pointers of the x87 unit, the header, reserved bytes. */
void sn_state_normalise(uint8_t *image);

/** Byte ranges of a group of state; false after the last part. */
bool sn_state_part(unsigned group, unsigned part, uint32_t components, size_t *offset, size_t *size);

/** Numbers of fields: the first register of each kind. */
enum { SN_FIELD_X87 = 4, SN_FIELD_VECTOR = SN_FIELD_X87 + 8, SN_FIELD_MASK = SN_FIELD_VECTOR + 32, SN_FIELDS = SN_FIELD_MASK + 8 };

/** Where a byte (0: the least significant) of a register lies in an image. */
size_t sn_state_offset(unsigned field, unsigned byte);

/** Name of field number `index`, NULL after the last. */
const char *sn_state_field(unsigned index, uint32_t components);

/** Value of a field, at most 64 bytes, most significant byte first; returns its size. */
size_t sn_state_field_value(unsigned index, const uint8_t *image, uint8_t *value);

#endif
