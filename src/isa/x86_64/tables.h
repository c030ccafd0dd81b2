/**
 * @fileoverview The opcode tables of the quick decoder: shape, rule and effect of every opcode.
 *
 * Owned by tables.c (the data) and used by decode.c (shapes and rules) and effects.h (effects) only. A shape says how
 * many bytes follow an opcode, a rule names what needs a closer look than a table gives, and an effect says which
 * general registers and flags an instruction reads and writes.
 */
#ifndef SONDE_ISA_X86_64_TABLES_H
#define SONDE_ISA_X86_64_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/** The general registers by hardware number. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/** What follows an opcode. The low bits are an immediate kind, SHAPE_MODRM is a flag. */
enum {
    IMMEDIATE_NONE,
    IMMEDIATE_8,
    IMMEDIATE_16,
    IMMEDIATE_Z,       /**< 4 bytes, 2 with the operand-size prefix */
    IMMEDIATE_V,       /**< 4 bytes, 2 with the operand-size prefix, 8 with REX.W */
    IMMEDIATE_32,      /**< near branches: the operand-size prefix is ignored */
    IMMEDIATE_16_8,    /**< enter */
    IMMEDIATE_ADDRESS, /**< an absolute address, held as the displacement */
    IMMEDIATE_KINDS,
    SHAPE_IMMEDIATE_MASK = 0x0f,
    SHAPE_MODRM = 0x10,
    SHAPE_SEGMENT = 0x20, /**< an implicit memory operand that a segment prefix applies to */
};

/** What needs a look at more than the opcode. */
enum {
    RULE_NONE,
    RULE_CONDITIONAL_8,
    RULE_CONDITIONAL_32,
    RULE_LOOP,
    RULE_JUMP_8,
    RULE_JUMP_32,
    RULE_CALL,
    RULE_RETURN,
    RULE_FAR,
    RULE_SYSCALL,
    RULE_SYSENTER,
    RULE_INTERRUPT,
    RULE_BREAKPOINT,
    RULE_UNDEFINED,
    RULE_CONDITION,        /**< setcc, cmovcc: flags read by condition */
    RULE_STRING,
    RULE_SEGMENT_MOVE,     /**< 8E */
    RULE_SEGMENT_WRITE,    /**< pop fs, pop gs, lfs, lgs */
    RULE_ADDRESS,          /**< lea */
    RULE_ZERO_IDIOM,       /**< xor r,r and sub r,r */
    RULE_SHIFT_IMMEDIATE,  /**< C0, C1 */
    RULE_DOUBLE_SHIFT,     /**< shld and shrd by an immediate */
    RULE_MOVE_IMMEDIATE,   /**< C6, C7: xabort and xbegin hide here */
    RULE_UNARY,            /**< F6, F7: an immediate for test only */
    RULE_BRANCH_GROUP,     /**< FF */
    RULE_NOP,              /**< 90: nop, pause, xchg r8 */
    RULE_X87,
    RULE_SYSTEM,           /**< 0F 01 */
    RULE_CONTROL_REGISTER, /**< 0F 20 to 23: the mode bits of ModRM are ignored */
    RULE_EXTRACT,          /**< 0F 78: two immediate bytes in the SSE4a form */
    RULE_STATE,            /**< 0F AE */
    RULE_COMPARE_EXCHANGE, /**< 0F C7 */
    RULE_HINT,             /**< 0F 1E */
};

/** How an operand uses a general register. */
enum {
    USE_NONE = 0,
    USE_READ = 1,
    USE_WRITE = 2,
    USE_BYTE = 4,     /**< an 8-bit register: never a full write */
    USE_VARIABLE = 8, /**< of operand size: not a full write with 16 bits */
    USE_WORD = 16,    /**< never a full write */
};

typedef struct sn_opcode {
    uint8_t shape;
    uint8_t rule;
    uint8_t effect; /**< EFFECT_*, or a choice by prefix or by ModRM.reg */
} sn_opcode;

typedef struct sn_effect {
    uint8_t rm;            /**< USE_*: register operand in ModRM.rm, or in the opcode's low bits */
    uint8_t reg;           /**< USE_*: register operand in ModRM.reg */
    uint8_t vvvv;          /**< USE_*: register operand in VEX.vvvv */
    uint8_t flags_read;
    uint8_t flags_written;
    bool narrow;           /**< with 16-bit operands `written` is written in part only */
    uint16_t read;         /**< implicit registers */
    uint16_t written;      /**< implicit registers, in full */
} sn_effect;

enum {
    EFFECT_UNKNOWN,
    EFFECT_NONE,
    EFFECT_ALU_RM_REG_B,
    EFFECT_ALU_RM_REG_V,
    EFFECT_ALU_REG_RM_B,
    EFFECT_ALU_REG_RM_V,
    EFFECT_ALU_ACCUMULATOR_B,
    EFFECT_ALU_ACCUMULATOR_V,
    EFFECT_ALU_RM_B,
    EFFECT_ALU_RM_V,
    EFFECT_CARRY_RM_REG_B,
    EFFECT_CARRY_RM_REG_V,
    EFFECT_CARRY_REG_RM_B,
    EFFECT_CARRY_REG_RM_V,
    EFFECT_CARRY_ACCUMULATOR_B,
    EFFECT_CARRY_ACCUMULATOR_V,
    EFFECT_CARRY_RM_B,
    EFFECT_CARRY_RM_V,
    EFFECT_COMPARE_B,
    EFFECT_COMPARE_V,
    EFFECT_COMPARE_ACCUMULATOR,
    EFFECT_COMPARE_RM_B,
    EFFECT_COMPARE_RM_V,
    EFFECT_CLEAR_V,
    EFFECT_PUSH_REGISTER,
    EFFECT_POP_REGISTER,
    EFFECT_STACK,
    EFFECT_STACK_RM,
    EFFECT_PUSH_FLAGS,
    EFFECT_POP_FLAGS,
    EFFECT_FRAME,
    EFFECT_MULTIPLY_IMMEDIATE,
    EFFECT_MULTIPLY_REG,
    EFFECT_EXCHANGE_B,
    EFFECT_EXCHANGE_V,
    EFFECT_EXCHANGE_ACCUMULATOR,
    EFFECT_ADD_EXCHANGE_B,
    EFFECT_ADD_EXCHANGE_V,
    EFFECT_STORE_B,
    EFFECT_STORE_V,
    EFFECT_LOAD_B,
    EFFECT_LOAD_V,
    EFFECT_EXTEND_FROM_B,
    EFFECT_EXTEND,
    EFFECT_STORE_SEGMENT,
    EFFECT_RM_READ,
    EFFECT_RM_WRITE,
    EFFECT_REG_WRITE,
    EFFECT_REG_READ,
    EFFECT_REG_ADDRESS,
    EFFECT_MOVE_IMMEDIATE_B,
    EFFECT_MOVE_IMMEDIATE_V,
    EFFECT_LOAD_ACCUMULATOR_B,
    EFFECT_LOAD_ACCUMULATOR_V,
    EFFECT_ACCUMULATOR_READ,
    EFFECT_WIDEN_ACCUMULATOR,
    EFFECT_WIDEN_TO_RDX,
    EFFECT_SAVE_FLAGS,
    EFFECT_RESTORE_FLAGS,
    EFFECT_SET_CARRY,
    EFFECT_COMPLEMENT_CARRY,
    EFFECT_FLAGS_WRITTEN,
    EFFECT_STRING_MOVE,
    EFFECT_STRING_COMPARE,
    EFFECT_STRING_STORE,
    EFFECT_STRING_LOAD,
    EFFECT_STRING_SCAN,
    EFFECT_STRING_INPUT,
    EFFECT_STRING_OUTPUT,
    EFFECT_TRANSLATE,
    EFFECT_COUNT_REGISTER,
    EFFECT_ROTATE_B,
    EFFECT_ROTATE_V,
    EFFECT_ROTATE_ONE_B,
    EFFECT_ROTATE_ONE_V,
    EFFECT_ROTATE_CARRY_B,
    EFFECT_ROTATE_CARRY_V,
    EFFECT_ROTATE_CARRY_ONE_B,
    EFFECT_ROTATE_CARRY_ONE_V,
    EFFECT_VARIABLE_SHIFT_B,
    EFFECT_VARIABLE_SHIFT_V,
    EFFECT_VARIABLE_CARRY_B,
    EFFECT_VARIABLE_CARRY_V,
    EFFECT_NOT_B,
    EFFECT_NOT_V,
    EFFECT_MULTIPLY_B,
    EFFECT_MULTIPLY_V,
    EFFECT_DIVIDE_B,
    EFFECT_DIVIDE_V,
    EFFECT_INCREMENT_B,
    EFFECT_INCREMENT_V,
    EFFECT_INPUT_PORT,
    EFFECT_CONDITIONAL_MOVE,
    EFFECT_SET_BYTE,
    EFFECT_BIT_TEST,
    EFFECT_BIT_CHANGE,
    EFFECT_BIT_TEST_RM,
    EFFECT_BIT_CHANGE_RM,
    EFFECT_BIT_SCAN,
    EFFECT_COUNT_BITS,
    EFFECT_DOUBLE_SHIFT,
    EFFECT_DOUBLE_SHIFT_VARIABLE,
    EFFECT_COMPARE_EXCHANGE_B,
    EFFECT_COMPARE_EXCHANGE_V,
    EFFECT_COMPARE_EXCHANGE_WIDE,
    EFFECT_SWAP_BYTES,
    EFFECT_IDENTIFY,
    EFFECT_TIME_STAMP,
    EFFECT_TIME_STAMP_CPU,
    EFFECT_READ_BY_COUNT,
    EFFECT_STATE_MASK,
    EFFECT_SYSTEM_CALL,
    EFFECT_RANDOM,
    EFFECT_STORE_WORD,
    EFFECT_CONDITIONAL_X87,
    EFFECT_MASKED_STORE,
    EFFECT_CHECKSUM_B,
    EFFECT_CHECKSUM_V,
    EFFECT_ADD_CARRY_ONLY,
    EFFECT_ADD_OVERFLOW_ONLY,
    EFFECT_STRING_SEARCH_EXPLICIT,
    EFFECT_STRING_SEARCH_EXPLICIT_INDEX,
    EFFECT_STRING_SEARCH_INDEX,
    EFFECT_REGISTERS_3_FLAGS,
    EFFECT_REGISTERS_3,
    EFFECT_LOWEST_BIT,
    EFFECT_MULTIPLY_NO_FLAGS,
    EFFECT_REGISTERS_2,
    EFFECT_VECTOR_INDEX, /**< the index register of the SIB byte is a vector */
    EFFECT_COUNT,

    /** From here: sn_effect_by_prefix[value - this], by none, 66, F3, F2. */
    BY_PREFIX = EFFECT_COUNT,
    BY_PREFIX_CONVERT_FROM = BY_PREFIX,
    BY_PREFIX_CONVERT_TO,
    BY_PREFIX_COMPARE,
    BY_PREFIX_MASK_OF_SIGNS,
    BY_PREFIX_MOVE_FROM,
    BY_PREFIX_MOVE_TO,
    BY_PREFIX_VECTOR,
    BY_PREFIX_VECTOR_66,
    BY_PREFIX_INSERT,
    BY_PREFIX_MASKED_STORE,
    BY_PREFIX_COUNT_BITS,
    BY_PREFIX_FLAGS_66,
    BY_PREFIX_LOAD_SWAPPED,
    BY_PREFIX_STORE_SWAPPED,
    BY_PREFIX_ADD_SINGLE_FLAG,
    BY_PREFIX_DIRECT_STORE_64,
    BY_PREFIX_REG_READ_NONE,
    BY_PREFIX_RM_WRITE_66,
    BY_PREFIX_RM_READ_66,
    BY_PREFIX_SEARCH_0,
    BY_PREFIX_SEARCH_1,
    BY_PREFIX_SEARCH_2,
    BY_PREFIX_SEARCH_3,
    BY_PREFIX_BIT_FIELD_F5,
    BY_PREFIX_BIT_FIELD_F6,
    BY_PREFIX_BIT_FIELD_F7,
    BY_PREFIX_AND_NOT,
    BY_PREFIX_LOWEST_BIT,
    BY_PREFIX_ROTATE,
    BY_PREFIX_MASK_FROM,
    BY_PREFIX_MASK_TO,
    BY_PREFIX_MASK_FLAGS,
    BY_PREFIX_CONVERT_UNSIGNED_TO,
    BY_PREFIX_CONVERT_UNSIGNED_FROM,
    BY_PREFIX_BROADCAST,
    BY_PREFIX_GATHER,
    BY_PREFIX_HALF_CONVERT_TO,
    BY_PREFIX_END,

    /** From here: sn_effect_by_reg[value - this], by ModRM.reg. */
    BY_REG = BY_PREFIX_END,
    BY_REG_ALU_B = BY_REG,
    BY_REG_ALU_V,
    BY_REG_SHIFT_B,
    BY_REG_SHIFT_V,
    BY_REG_SHIFT_ONE_B,
    BY_REG_SHIFT_ONE_V,
    BY_REG_SHIFT_COUNT_B,
    BY_REG_SHIFT_COUNT_V,
    BY_REG_UNARY_B,
    BY_REG_UNARY_V,
    BY_REG_INCREMENT,
    BY_REG_BRANCH,
    BY_REG_POP,
    BY_REG_MOVE_B,
    BY_REG_MOVE_V,
    BY_REG_BIT_TEST,
    BY_REG_DESCRIPTOR,
    BY_REG_END,
};

extern const sn_opcode sn_opcodes_primary[256];
extern const sn_opcode sn_opcodes_secondary[256];    /**< 0F */
extern const uint8_t sn_effects_0f38[256];
extern const uint8_t sn_effects_0f3a[256];
extern const uint8_t sn_effects_vex[3][256];         /**< maps 1 to 3 */
extern const uint8_t sn_effects_evex[6][256];        /**< maps 1 to 6 (4 empty) */
extern const uint8_t sn_effect_by_prefix[BY_PREFIX_END - BY_PREFIX][4];
extern const uint8_t sn_effect_by_reg[BY_REG_END - BY_REG][8];
extern const sn_effect sn_effects[EFFECT_COUNT];

/** Flags that a hardware condition code reads. */
extern const uint8_t sn_condition_flags[16];

#endif
