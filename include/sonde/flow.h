/**
 * @fileoverview The data flow of instructions: which bytes and bits of what is written come of which of what is read.
 *
 * For tools that give values a shadow (definedness, taint, provenance) and must carry shadows along as the program carries
 * values. An instruction is a list of flows `destination <- class(sources)`. The list is complete and knows no hardware:
 *
 *  - What no flow of the list names as a destination keeps its value. What hardware clears beside a result (the upper half
 *    of a register, the upper part of a vector) is a flow of its own, of class SN_FLOW_CONSTANT.
 *  - All sources are read before any destination is written. Where two destinations overlap, the later flow wins.
 *  - A class that is less sharp than it could be costs precision and never correctness: SN_FLOW_ANY is always true.
 *  - The registers that make the address of a memory operand are no sources: the value loaded is what memory holds. A tool
 *    that cares looks at the operand (sn_operand.base, .index; vectors of indices are operands of their own). Only where
 *    an address is computed and not used is it a source: see sn_flow_part.
 *  - Of a repeated string instruction the list describes one repetition. Memory operands whose place or extent varies
 *    (sn_instruction.accesses_vary) stand for what sn_insert_accesses() tells: element N of a gathered or scattered operand
 *    is at offset N times element size; size 0 is all that the instruction accesses.
 *  - Registers of the floating-point stack are numbered from its top before the instruction; destinations of instructions
 *    that push, from the new top. Short vectors (SN_PLACE_X87 with size 8) are numbered by themselves.
 *  - Instructions that save and restore the processor's state: the lists know the low 16 bytes of 16 vector registers, which
 *    have one place in all images. What else is restored keeps the shadow that it has; what else is saved is as new.
 *  - Control and status registers (SN_PLACE_CONTROL) take no part: neither the rounding mode in a result nor what is saved
 *    of them. What is stored from them is constant.
 *
 * The table behind the lists is tested against the processor: where flipping an input bit changes an output bit,
 * sn_flow_depends() says that it may (tests/differential/flow_flip.c).
 */
#ifndef SONDE_FLOW_H
#define SONDE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "sonde/tool.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/**
 * What becomes of the sources. With sn_flow.lane_size the class is applied to each lane of the destination, and to the lane
 * of the same number of each source (of source_lane_size bytes); else to the whole.
 */
typedef enum sn_flow_class {
    SN_FLOW_ANY,              /**< every bit of the destination (of a lane) may depend on every bit of the sources (of that
                                   lane) */
    SN_FLOW_CONSTANT,         /**< depends on nothing: the destination is sn_flow.constant, extended with its sign: 0 clears, -1
                                   sets all bits (of flags the value is not told) */
    SN_FLOW_UNDEFINED,        /**< flags only: what is left there has no meaning */
    SN_FLOW_COPY,             /**< bit for bit */
    SN_FLOW_ZERO_EXTEND,      /**< copied; the rest of the destination (lane) is zero. Of flags: 1 or 0, by a condition */
    SN_FLOW_SIGN_EXTEND,      /**< copied; the rest of the destination (lane) is the source's highest bit */
    SN_FLOW_TRUNCATE,         /**< the low bytes of each source lane */
    SN_FLOW_AND,
    SN_FLOW_OR,
    SN_FLOW_XOR,
    SN_FLOW_NOT,
    SN_FLOW_AND_NOT,          /**< (not sources[0]) and sources[1] */
    SN_FLOW_BITWISE,          /**< any other function that makes each bit of the bits in the same place of the sources */
    SN_FLOW_ADD,              /**< sources[0] + sources[1] << scale_shift (+ further sources): a bit depends on bits in the
                                   same place or below (sources[1]: less the shift). A flag among the sources is added to
                                   the lowest bit */
    SN_FLOW_SUBTRACT,         /**< sources[0] - sources[1] (- a flag) */
    SN_FLOW_MULTIPLY,         /**< the low half of a product, or a sum of such: bits depend on bits in the same place or
                                   below, as with SN_FLOW_ADD */
    SN_FLOW_UPWARD,           /**< any other function whose bits depend on bits in the same place or below */
    SN_FLOW_SHIFT_LEFT,       /**< sources[0] by sources[1]; or by sn_flow.amount where that is not SN_FLOW_VARIABLE */
    SN_FLOW_SHIFT_RIGHT,
    SN_FLOW_SHIFT_ARITHMETIC, /**< to the right, with the sign */
    SN_FLOW_ROTATE_LEFT,
    SN_FLOW_ROTATE_RIGHT,
    SN_FLOW_FUNNEL_LEFT,      /**< sources[0] shifted left by `amount`, the bits that become free taken from the high end of
                                   sources[1]; or, with SN_FLOW_VARIABLE, by sources[2] */
    SN_FLOW_FUNNEL_RIGHT,     /**< the same to the right, from the low end of sources[1] */
    SN_FLOW_BIT,              /**< one bit (a flag): bit number sources[1], or `amount`, of sources[0] */
    SN_FLOW_KEEP_LOW,         /**< the bits of sources[0] below bit number sources[1] (its lowest byte); others are zero */
    SN_FLOW_EXTRACT_BITS,     /**< bits of sources[0] from bit number sources[1] (its lowest byte) on, as many as its second byte
                                   says; others are zero */
    SN_FLOW_TRAILING_ZEROS,   /**< the number of zero bits below the lowest set bit, or that bit's number: no bit above it matters */
    SN_FLOW_LEADING_ZEROS,    /**< the number of zero bits above the highest set bit, or that bit's number */
    SN_FLOW_EQUAL,            /**< all bits one where sources[0] equals sources[1], else zero */
    SN_FLOW_GREATER,          /**< all bits one where sources[0] is greater than sources[1], signed, else zero */
    SN_FLOW_MINIMUM,          /**< the lesser of two (signed or not, see is_signed) */
    SN_FLOW_MAXIMUM,
    SN_FLOW_SHUFFLE,          /**< byte N of the destination is byte table[N] of the sources laid end to end, or zero where
                                   that is SN_FLOW_ZERO_BYTE */
    SN_FLOW_PERMUTE,          /**< elements chosen by a register: element N (element_size bytes) of a lane of the destination is
                                   one of the elements in that lane of the sources before the last, or zero: sn_flow_choice()
                                   of element N of the last source */
    SN_FLOW_NARROW,           /**< lane N of the destination is made (saturated, rounded) of the source_lane_size bytes at
                                   table[N] of the sources laid end to end */
    SN_FLOW_SIGN_MASK,        /**< bit N of the destination is the highest bit of lane N (source_lane_size) of the source;
                                   bits without a lane are zero */
    SN_FLOW_LANE_BITS,        /**< bit N of the destination depends on lane N (source_lane_size) of the sources (compares and
                                   tests into masks); bits without a lane are zero */
    SN_FLOW_BIT_LANES,        /**< all bits of lane N are bit N of the source */
    SN_FLOW_TOLD,             /**< as SN_FLOW_ANY, but what the processor tells of itself: the sources only choose what */
    SN_FLOW_CLASSES,
} sn_flow_class;

/** Flags, as bits of sn_flow_piece.flags. */
typedef enum sn_flow_flag {
    SN_FLOW_FLAG_CARRY = 1,
    SN_FLOW_FLAG_PARITY = 2,
    SN_FLOW_FLAG_ADJUST = 4,
    SN_FLOW_FLAG_ZERO = 8,
    SN_FLOW_FLAG_SIGN = 16,
    SN_FLOW_FLAG_OVERFLOW = 32,
    SN_FLOW_FLAG_DIRECTION = 64,
} sn_flow_flag;

/** Which value of a memory operand a source is. */
typedef enum sn_flow_part {
    SN_PART_VALUE, /**< what is in the place */
    SN_PART_BASE,  /**< the general register sn_operand.base itself (lea) */
    SN_PART_INDEX, /**< the general register sn_operand.index itself */
    SN_PART_VECTOR, /**< a vector register that is no operand: sn_flow_piece.operand is its number */
} sn_flow_part;

#define SN_FLOW_NO_OPERAND 0xff /**< as operand: a source that is sn_flow.constant, extended with zeros */
#define SN_FLOW_ZERO_BYTE 0xff
#define SN_FLOW_VARIABLE 0xffff
#define SN_FLOW_MOST_SOURCES 10
#define SN_FLOW_MOST 32 /**< flows of an instruction */

/**
 * Bytes of an operand of sn_block_operands(). Those of a register operand may lie beyond the operand's size, in the same
 * register: what a write clears. Immediates are as long as the operation needs, extended with their sign.
 */
typedef struct sn_flow_piece {
    uint8_t operand;   /**< its number, or SN_FLOW_NO_OPERAND */
    uint8_t part;      /**< sn_flow_part */
    uint8_t flags;     /**< the operand is SN_PLACE_FLAGS: sn_flow_flag of those that it is about (then no offset, no size);
                            else 0 */
    bool every_lane;   /**< a source that each lane of the destination uses as a whole: one element for all, one shift count */
    uint16_t offset;   /**< bytes, from the operand's beginning (a second-byte register begins at that byte) */
    uint16_t size;     /**< bytes; 0 of memory: varies, see above */
} sn_flow_piece;

/** What decides where a flow takes place. */
typedef enum sn_flow_guard_kind {
    SN_GUARD_NONE,      /**< always, everywhere */
    SN_GUARD_MASK,      /**< in lane N if bit N of the condition is set */
    SN_GUARD_HIGH_BITS, /**< in lane N if the highest bit of lane N of the condition (same lane size) is set */
    SN_GUARD_CONDITION, /**< as a whole: if bit number F of `truth` is set, F being the values of the six arithmetic flags, as
                             sn_flow_flag has them. A condition that is not flags: by its bits in some way */
    SN_GUARD_COUNT,     /**< as a whole, unless the condition's low bits (count_mask) are zero: shifts that leave the flags */
    SN_GUARD_NOT_ZERO,  /**< as a whole, unless all of the condition's bits are zero */
} sn_flow_guard_kind;

/**
 * Where the guard lets it, the destination becomes what the class says, elsewhere `otherwise`: the destination's own old
 * value when masks merge, another operand of a blend, or zero (size and flags 0). For most tools the guard's condition is
 * one more source.
 */
typedef struct sn_flow_guard {
    uint8_t kind;            /**< sn_flow_guard_kind */
    uint8_t lane_size;       /**< MASK, HIGH_BITS: bytes of the destination to a lane; 0: a lane is a single bit */
    uint16_t count_mask;     /**< COUNT */
    sn_flow_piece condition;
    sn_flow_piece otherwise;
    uint64_t truth;          /**< CONDITION, by flags */
} sn_flow_guard;

/**
 * One flow. When the destination is flags, they are those of the result of class(sources), or what the class itself says
 * of flags: ZERO depends on all bits of the result, SIGN on its highest, PARITY on its lowest 8, ADJUST on the lowest 4 of the
 * sources and the result's bit 4; CARRY and OVERFLOW on all of the sources, but for shifts: CARRY is the last bit moved
 * out. Of SN_FLOW_AND_NOT and _OR, CARRY tells whether the result is all zeros, or all ones; of counts of zeros, whether the
 * source is zero. A compare is SN_FLOW_SUBTRACT and a test is SN_FLOW_AND with no destination but flags.
 */
typedef struct sn_flow {
    uint8_t kind;            /**< sn_flow_class */
    uint8_t lane_class;      /**< SN_FLOW_LANE_BITS: what is asked of a lane: SN_FLOW_EQUAL (or not equal), SN_FLOW_AND (whether
                                  any bit is left, or none), or SN_FLOW_ANY */
    uint8_t source_count;
    uint8_t lane_size;       /**< bytes of the destination; 0: no lanes */
    uint8_t source_lane_size; /**< bytes; the same as lane_size for most classes */
    uint8_t element_size;    /**< SN_FLOW_PERMUTE */
    uint8_t scale_shift;     /**< SN_FLOW_ADD: sources[1] is shifted left by so many bits before it is added. SN_FLOW_PERMUTE:
                                  so many low bits of what chooses do not count */
    bool is_signed;          /**< SN_FLOW_MINIMUM, _MAXIMUM */
    bool zeroes;             /**< SN_FLOW_PERMUTE: the highest bit of what chooses says that the element is zero */
    bool is_float;           /**< the lanes are floating-point numbers (then the class is ANY or moves bits) */
    uint8_t truth;           /**< SN_FLOW_BITWISE of one to three sources: bit R is the result where the sources' bits are the number
                                  R, the first source's the highest; 0: not told */
    uint16_t amount;         /**< shifts, rotations, SN_FLOW_BIT: bits (already within the size), or SN_FLOW_VARIABLE */
    sn_flow_piece destination;
    sn_flow_piece sources[SN_FLOW_MOST_SOURCES];
    sn_flow_guard guard;
    uint64_t constant;       /**< SN_FLOW_CONSTANT: the value of every byte; and of sources with SN_FLOW_NO_OPERAND */
    uint8_t table[64];       /**< SN_FLOW_SHUFFLE, by byte; SN_FLOW_NARROW, by lane */
} sn_flow;

/**
 * The flows of the instruction at `index`, and their number. They live until the next call for the same block. NULL with
 * *count 0 where the decoder does not know the instruction (it runs all the same: nothing is known of what it does), or it
 * writes nothing.
 */
const sn_flow *sn_block_flows(sn_block *block, unsigned index, unsigned *count);

/**
 * The flags (sn_flow_flag) that the instruction reads as far as the decoder knows, of a conditional instruction just those
 * that its condition needs: of a conditional branch, which has no flows, what it depends on. Any thread.
 */
unsigned sn_block_flags_read(const sn_block *block, unsigned index);

/** For sn_flow_depends(), in place of a source's number. */
#define SN_FLOW_FROM_CONDITION 0xfe
#define SN_FLOW_FROM_OTHERWISE 0xfd

/**
 * Whether a bit of the destination may depend on a bit of a source, for some values of all sources: what a shadow must
 * carry on at least, unless it looks at values. Bits are numbered from the piece's lowest byte; of flags, the number is the
 * flag's position in sn_flow_flag. Immediates are taken into account. `operands` are the instruction's. Any thread.
 */
bool sn_flow_depends(const sn_flow *flow, const sn_operand *operands, unsigned source, unsigned source_bit,
                     unsigned destination_bit);

/**
 * Of a flow of class SN_FLOW_PERMUTE: which element `control`, an element of the last source, chooses: its number among those
 * of a lane of the sources before the last, one source's behind the other's; or SN_FLOW_ZERO_BYTE for zeros. Any thread.
 */
unsigned sn_flow_choice(const sn_flow *flow, uint64_t control);

/** Name of a class, in lower case with hyphens ("shift-left"): for reports and tests. */
const char *sn_flow_class_name(unsigned kind);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
