/**
 * @fileoverview One enumeration of accesses, as the files that make it share it: accesses.c (which instruction is of which
 * form, and the forms on general registers), access_vectors.c (lanes under masks), access_state.c (processor state).
 */
#ifndef SONDE_ISA_X86_64_ACCESSING_H
#define SONDE_ISA_X86_64_ACCESSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"

/** Rows of sn_insn.encoding. */
enum { ENCODED_LEGACY, ENCODED_VEX2, ENCODED_VEX3, ENCODED_EVEX, ENCODED_XOP };
/** Opcode maps, numbered as VEX and EVEX do. */
enum { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_HALF_A = 5, MAP_HALF_B = 6 };
/** The prefix that is part of the opcode, numbered as VEX and EVEX do. */
enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };

/** The bit fields of an encoding, plain, not inverted. */
typedef struct sn_encoded {
    uint8_t map, opcode, prefix;
    uint8_t reg, rm;       /**< of ModRM, with their fourth bits */
    uint8_t index_high;    /**< 8 or 0: extends the index in SIB */
    uint8_t base_high;     /**< 8 or 0: extends the base */
    uint8_t source;        /**< vvvv, with EVEX's fifth bit */
    uint8_t source_high;   /**< that bit alone, 16 or 0: it extends vector indices too */
    uint8_t mask;          /**< EVEX: number of the mask register */
    uint8_t length;        /**< vector length: 16 bytes shifted left by it */
    bool wide;
    bool broadcast;        /**< EVEX.b */
    bool narrow;           /**< operand-size prefix */
    bool short_address;    /**< address-size prefix */
} sn_encoded;

void sn_encoded_of(const sn_insn *insn, sn_encoded *encoded);

/** A memory operand, without its index register when that is a vector. */
typedef struct sn_address {
    uint64_t start;   /**< base register plus displacement */
    uint64_t segment; /**< base of the segment */
    uint64_t limit;   /**< mask of the bits of an address */
    uint64_t index;   /**< value of a general index register, 0 without one */
    uint8_t vector_index; /**< number of the index register if it is a vector */
    uint8_t shift;
} sn_address;

typedef struct sn_accessing {
    const sn_insn *insn;
    const sn_access_state *state;
    sn_encoded encoded;
    uint64_t done;
    uint64_t number; /**< of the next access */
    uint64_t first;
    sn_access *to;
    size_t capacity;
    size_t count;
} sn_accessing;

/** `scale`: what a displacement of one byte is multiplied by. */
sn_address sn_accessing_address(const sn_accessing *a, unsigned scale);

static inline uint64_t sn_address_with(const sn_address *address, uint64_t index) {
    return address->segment + ((address->start + (index << address->shift)) & address->limit);
}

static inline uint64_t sn_address_plain(const sn_address *address) { return sn_address_with(address, address->index); }

/** Whether there is no room for more. */
static inline bool sn_accessing_is_full(const sn_accessing *a) { return a->count == a->capacity; }

static inline void sn_accessing_add(sn_accessing *a, uint64_t address, uint32_t size, uint8_t role, uint8_t operand) {
    if (a->number++ < a->first || sn_accessing_is_full(a)) return;
    a->to[a->count++] = (sn_access){.address = address, .size = size, .role = role, .operand = operand};
}

/** The enumerations, one a form. */
void sn_access_masked_bytes(sn_accessing *a);
void sn_access_masked_loads(sn_accessing *a);
void sn_access_masked_stores(sn_accessing *a);
void sn_access_gather(sn_accessing *a);
void sn_access_scatter(sn_accessing *a);
void sn_access_lanes(sn_accessing *a);
void sn_access_state_save(sn_accessing *a);
void sn_access_state_save_compacted(sn_accessing *a);
void sn_access_state_save_changed(sn_accessing *a);
void sn_access_state_load(sn_accessing *a);
void sn_access_tile_load(sn_accessing *a);
void sn_access_tile_store(sn_accessing *a);

/** Numbers in the list of operands; SN_SHAPE_NO_OPERAND where the instruction has none such. */
typedef struct sn_string_form {
    uint8_t opcode;                 /**< of the byte form; the next one has larger elements */
    uint8_t source, destination;    /**< at the source and the destination pointer */
    uint8_t destination_role;
} sn_string_form;

const sn_string_form *sn_string_form_of(uint8_t opcode);
/** Bytes of one element. */
unsigned sn_string_element(const sn_encoded *encoded);
/** Bytes that hold a bit that is addressed by number. */
unsigned sn_bit_unit(const sn_encoded *encoded);
/** Of bit instructions: the one that only reads. */
enum { SN_BIT_TEST = 0xa3 };

/** The function that enumerates the accesses of the instruction, NULL when they do not vary. */
typedef void sn_enumeration(sn_accessing *a);
sn_enumeration *sn_enumeration_of(const sn_insn *insn, sn_encoded *encoded);

void sn_access_string(sn_accessing *a);
void sn_access_bit(sn_accessing *a);
void sn_access_table(sn_accessing *a);
/** The part of an instruction's shape that concerns lanes under a mask register; `kind` NONE when it has none. */
void sn_access_lanes_shape(const sn_insn *insn, const sn_encoded *encoded, sn_access_shape *shape);

/** Whether EVEX's mask register leaves the memory operand of this opcode alone: it is accessed as a whole. */
bool sn_access_ignores_mask(const sn_encoded *encoded);

#endif
