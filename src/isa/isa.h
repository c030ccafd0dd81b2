/**
 * @fileoverview One instruction as the engine needs it: length, kind, where its fields are, what it reads and writes.
 *
 * sn_decode() is the quick view that the translator uses for every instruction. sn_operands() is the complete view
 * (every operand with role, place, size) that tools see; it costs more and is made only when a tool asks.
 * Register numbers are those of the hardware encoding; their names stay inside src/isa and the files marked per
 * architecture.
 */
#ifndef SONDE_ISA_ISA_H
#define SONDE_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/flow.h"
#include "sonde/tool.h"

/** What the translator must do with an instruction. Everything that is SN_INSN_PLAIN is copied. */
typedef enum sn_insn_class {
    SN_INSN_PLAIN = 0,
    SN_INSN_JUMP,             /**< direct jump; target set */
    SN_INSN_CONDITIONAL,      /**< jcc with a condition code; target and condition set */
    SN_INSN_LOOP,             /**< loop, loope, loopne, jrcxz/jecxz: short form only; target set */
    SN_INSN_CALL,             /**< direct call; target set */
    SN_INSN_JUMP_INDIRECT,    /**< near, through register or memory */
    SN_INSN_CALL_INDIRECT,    /**< near, through register or memory */
    SN_INSN_RETURN,           /**< near, return_pop set */
    SN_INSN_FAR_BRANCH,       /**< far jump, call, return, iret */
    SN_INSN_SYSCALL,          /**< syscall */
    SN_INSN_INTERRUPT,        /**< int imm8, sysenter, into: interrupt_number set (0x80 for sysenter) */
    SN_INSN_BREAKPOINT,       /**< int3, int1 */
    SN_INSN_UNDEFINED,        /**< ud0, ud1, ud2: always faults, ends a block */
    SN_INSN_TRANSACTION_BEGIN,/**< xbegin: falls through, or goes to target on an abort */
    SN_INSN_READ_SEGMENT_BASE,/**< rdfsbase, rdgsbase */
    SN_INSN_WRITE_SEGMENT_BASE,/**< wrfsbase, wrgsbase */
    SN_INSN_WRITE_SEGMENT,    /**< mov or pop to fs or gs, lfs, lgs, swapgs */
} sn_insn_class;

enum { SN_SEGMENT_NONE = 0, SN_SEGMENT_FS = 1, SN_SEGMENT_GS = 2 };

/** Numbers of SN_PLACE_CONTROL whose values the engine can tell; there are more. */
enum {
    SN_CONTROL_SEGMENTS = 0,        /**< the selectors, six */
    SN_CONTROL_X87_CONTROL = 80,    /**< the x87 unit's control word */
    SN_CONTROL_X87_STATUS,          /**< and its status word */
    SN_CONTROL_VECTOR,              /**< control and status of vector instructions */
    SN_CONTROL_ENABLED_STATE,       /**< components of the processor state that the system has switched on */
};

/** The arithmetic flags, as bits of sn_insn.flags_read and flags_written. */
enum {
    SN_FLAG_CARRY = 1,
    SN_FLAG_PARITY = 2,
    SN_FLAG_ADJUST = 4,
    SN_FLAG_ZERO = 8,
    SN_FLAG_SIGN = 16,
    SN_FLAG_OVERFLOW = 32,
    SN_FLAGS_ARITHMETIC = 63,
};

typedef struct sn_insn {
    uint64_t pc;
    uint64_t target;         /**< direct branches: where to */
    uint8_t length;          /**< bytes, 1 to 15 */
    uint8_t class;           /**< sn_insn_class */
    uint8_t condition;       /**< CONDITIONAL: hardware condition code 0 to 15 */
    uint8_t segment;         /**< segment override in effect on the memory operand: SN_SEGMENT_* */
    uint8_t prefix_length;   /**< bytes of legacy prefixes before REX/VEX/EVEX/opcode */
    uint8_t encoding;        /**< 0 legacy, 1 VEX2, 2 VEX3, 3 EVEX, 4 XOP */
    uint8_t rex_offset;      /**< offset of the REX byte plus 1, or 0 */
    uint8_t opcode_offset;   /**< of the first byte after all prefixes (escape bytes included; the VEX/EVEX opcode) */
    uint8_t modrm_offset;    /**< 0: no ModRM */
    uint8_t displacement_offset; /**< 0: none */
    uint8_t displacement_size;   /**< 0, 1, 4 (8 for moffs) */
    uint8_t immediate_size;  /**< total bytes after displacement */
    bool memory;             /**< has an explicit memory operand in ModRM (lea and nop included) */
    bool rip_relative;
    bool repeated;           /**< string instruction with rep, repe or repne */
    uint8_t return_pop_size; /**< RETURN with an immediate: 2 */
    uint16_t return_pop;     /**< bytes popped besides the return address */
    uint8_t interrupt_number;
    uint8_t flags_read;      /**< SN_FLAG_*; when unknown: all */
    uint8_t flags_written;   /**< flags that are surely overwritten (or made undefined); when unknown: none */
    uint32_t registers_read;    /**< bit N: general register N may be read in whole or part; unknown: all */
    uint32_t registers_written; /**< bit N: general register N is surely overwritten in full 64 bits; unknown: none */
    uint32_t registers_touched; /**< bit N: general register N is read, or written in whole or part, implicit ones
                                     included; unknown: all */
    uint8_t bytes[16];       /**< the instruction, copied */
} sn_insn;

/**
 * Decode one instruction from code[0..available). Never reads further. Returns false when the bytes end before the
 * instruction does or no encoding can begin so; `insn` then has length 0. An encoding that is unknown but whose length
 * follows from the encoding rules is decoded as PLAIN with conservative effects: it runs natively, so that the
 * processor, not the decoder, decides what it means. Thread-safe; no allocation; no floating point.
 */
bool sn_decode(const uint8_t *code, size_t available, uint64_t pc, sn_insn *insn);

/** The same through the decoding library only (for tests and --debug-fast-decode=no). */
bool sn_decode_slowly(const uint8_t *code, size_t available, uint64_t pc, sn_insn *insn);

/**
 * All operands of a decoded instruction, explicit ones first, then implicit (stack accesses of push, call, ret and the
 * like included as memory operands). Writes at most `capacity`, returns how many, or -1 when the decoding library does
 * not know the instruction. Thread-safe; no allocation.
 */
int sn_operands(const sn_insn *insn, sn_operand *operands, unsigned capacity);

/**
 * The data flow of a decoded instruction, see <sonde/flow.h>; `operands` are what sn_operands() wrote for it. Writes at most
 * `capacity` flows, returns how many, or -1 when the decoding library does not know the instruction or there is not room
 * for all. Thread-safe; no allocation.
 */
int sn_flows(const sn_insn *insn, const sn_operand *operands, unsigned operand_count, sn_flow *flows, unsigned capacity);

typedef enum sn_fault_kind {
    SN_FAULT_NONE,  /**< never faults */
    SN_FAULT_STACK, /**< only by an access to the stack */
    SN_FAULT_ANY,
} sn_fault_kind;

/** A client request (sonde/client.h) is an instruction that sn_may_be_request() behind bytes that sn_ends_request(). */
#define SN_REQUEST_PREAMBLE 16
bool sn_may_be_request(const sn_insn *insn);
bool sn_ends_request(const uint8_t before[SN_REQUEST_PREAMBLE]);

/** Instructions of which less matters than their data flow says, where values are known. */
typedef enum sn_special_form {
    SN_SPECIAL_NONE,
    SN_SPECIAL_LOW_BIT_CLEARED,  /**< a number without its lowest set bit */
    SN_SPECIAL_LOW_BIT_MASK,     /**< all bits up to that */
    SN_SPECIAL_LOW_BIT_ISOLATED, /**< that alone */
    SN_SPECIAL_BIT_SET, SN_SPECIAL_BIT_CLEARED, SN_SPECIAL_BIT_FLIPPED, /**< the bit that a register says, in a register */
    SN_SPECIAL_TEXT_COMPARED,    /**< texts, which end at a zero byte */
    SN_SPECIAL_NUMBER_COMPARED,  /**< no form of an instruction: the number of a bit, which is compared soon after */
} sn_special_form;
sn_special_form sn_special_form_of(const sn_insn *insn);

/** By how many registers an instruction makes the x87 register stack higher (1: it pushes), or lower (negative); else 0. */
int sn_x87_stack_change(const sn_insn *insn);

/** Whether control can go on to the next instruction in memory. */
bool sn_falls_through(const sn_insn *insn);

/** Base register of the memory operand of a store at `code`, which analysis code was lowered to. */
unsigned sn_store_base(const uint8_t *code, uint64_t pc);

/** Number of the stack pointer among the general registers. */
extern const uint8_t sn_stack_pointer_register;

/** What an instruction does to the stack pointer, besides calls, returns, pushes, pops and constants that are added. */
typedef enum sn_stack_change {
    SN_STACK_KEPT,
    SN_STACK_ADJUSTED, /**< something that is not known was added: it may now be in an older frame (as exceptions do) */
    SN_STACK_REPLACED, /**< by what was not computed from the stack or frame pointer in the block: it may now be in
                            another stack */
} sn_stack_change;
sn_stack_change sn_stack_change_of(const sn_insn *insns, unsigned index);

/** Whether the instruction at `index` is an indirect jump to what the block has popped: a return by other means. */
bool sn_pops_and_jumps(const sn_insn *insns, unsigned index);

/** If a block does nothing but jump to where a constant place in memory says, as the linker's stubs do (System V ABI,
    AMD64 supplement, 5.2): the index of that jump; else `count`. */
unsigned sn_stub_jump(const sn_insn *insns, unsigned count);

/** Whether an instruction may fault (and so show its state before to a handler). Conservative. */
sn_fault_kind sn_fault_kind_of(const sn_insn *insn);

/** Whether a single-step trap that the instruction switches on comes only after the next one (Intel SDM volume 3, 17.3.1.4):
    the two belong into one block. */
bool sn_delays_trap(const sn_insn *insn);

/** Whether the instruction, run twice from the same state, once of them under the trap flag, must leave the same state,
    and touches no memory but that of its operands. Not so for what reads clocks, enters the kernel, or shows where the
    code lies. */
bool sn_is_repeatable(const sn_insn *insn);

/** Whether how much memory the instruction accesses, or where, is known only when it runs: sn_accesses_of() then tells,
    where for every other instruction sn_operands() does. Cheap: looks at the bytes and fields of `insn` only. */
bool sn_accesses_vary(const sn_insn *insn);

/** Whether the function whose code begins there, at `pc`, keeps data below the stack pointer: one that calls no other may. Of code that
    is not all there, as far as it is. */
bool sn_uses_below_stack(const uint8_t *code, size_t size, uint64_t pc);

/** Whether addresses of memory operands, and counts of repetitions, are cut to 32 bits. */
bool sn_has_narrow_addresses(const sn_insn *insn);

/** Whether the address of a memory operand is: that of the stack, where the instruction does not name it, never is. */
bool sn_operand_is_narrow(const sn_operand *operand, const sn_insn *insn);

/** Where a memory operand of the instruction is, counted from its segment's base. */
uint64_t sn_operand_offset(const sn_operand *operand, const sn_insn *insn, const uint64_t *general);

/** What an enumeration of accesses needs of the client's registers. */
typedef struct sn_access_state {
    const uint64_t *general;      /**< 16, hardware order */
    const uint8_t (*vector)[64];  /**< 32 registers of 64 bytes */
    const uint64_t *mask;         /**< 8 */
    const uint64_t *short_vector; /**< the 8 vector registers of 8 bytes that lie in the floating-point unit */
    const uint8_t *tiles;         /**< the tile configuration as its store instruction writes it, 64 bytes; NULL: initial */
    uint64_t bases[3];            /**< by SN_SEGMENT_*: 0, the first and second thread base */
    bool backwards;               /**< direction flag */
    uint64_t enabled_state;       /**< components of the processor state that the system has switched on */
    uint64_t in_use;              /**< those that are not in their initial state, as far as known */
    /** Copy client memory; false where it cannot be read. Loads of processor state depend on what they find. */
    bool (*copy)(void *to, const void *from, size_t size);
} sn_access_state;

/**
 * The accesses that an instruction whose accesses vary makes from this state, in order, as tool.h says of sn_access: an
 * element a row, masked-off lanes and repetitions that do not happen left out, processor state in pieces of 8 bytes.
 * The state is the one before the instruction; `done` is the number of iterations that a repeated one made from there
 * (for others it means nothing). An instruction that faults before it accesses anything has none. Writes those from
 * number `first` on, at most `capacity`, and returns how many. Thread-safe; no allocation.
 */
size_t sn_accesses_of(const sn_insn *insn, const sn_access_state *state, uint64_t done, uint64_t first,
                      sn_access *accesses, size_t capacity);

/** How the accesses of an instruction follow from a few registers. */
typedef enum sn_access_shape_kind {
    SN_SHAPE_NONE,     /**< they don't, or it is not worth it */
    SN_SHAPE_LANES,    /**< elements of a memory operand that a mask register chooses */
    SN_SHAPE_REPEATED, /**< a string instruction's, counted down in a register */
    SN_SHAPE_BIT,      /**< the unit that holds the bit of a number */
    SN_SHAPE_TABLE,    /**< the entry of a number */
} sn_access_shape_kind;

/** Which elements active lanes stand for. */
typedef enum sn_lane_rule {
    SN_LANES_EACH,     /**< lane N for element N modulo their number */
    SN_LANES_PACKED,   /**< as many elements from the first on as lanes are active */
    SN_LANES_TOGETHER, /**< all elements, if any lane is active */
} sn_lane_rule;

#define SN_SHAPE_NO_OPERAND 255

/**
 * What sn_accesses_of() does for most instructions, taken apart so that it can be done by a function that sees no more
 * than the values of `inputs`: the address of a lane's first element and the mask; the count, the source and the
 * destination of a repeated instruction before it; address and number of a bit; start and number of an entry.
 */
typedef struct sn_access_shape {
    uint8_t kind;                /**< sn_access_shape_kind */
    uint8_t size_log;            /**< bytes of an access */
    uint8_t read_operand;        /**< numbers in the list of operands; SN_SHAPE_NO_OPERAND where there is no such access */
    uint8_t other_operand;
    uint8_t other_role;          /**< reading comes first (lanes: there is one of the two) */
    uint8_t rule;                /**< lanes: sn_lane_rule */
    uint8_t lanes_log, elements_log;
    uint8_t input_count;
    uint8_t input_registers[3];  /**< general registers among the inputs */
} sn_access_shape;

/** The shape of an instruction and the operands that are its inputs: memory operands stand for their address. */
void sn_access_shape_of(const sn_insn *insn, sn_access_shape *shape, sn_operand inputs[3]);

/** Where a component of the processor state lies in a saved image. */
typedef struct sn_state_component {
    uint32_t size;   /**< 0: the processor has none of this number */
    uint32_t offset; /**< in the standard format */
    bool aligned;    /**< in the compacted format it begins at a multiple of 64 */
} sn_state_component;

/** Components 2 to 62; 0 and 1 have their fixed places. */
const sn_state_component *sn_state_component_of(unsigned number);

/** Offset of a component in a compacted image that has room for `components`. */
uint32_t sn_state_compacted_offset(uint64_t components, unsigned number);

/** Public kind of an instruction, for tools. */
sn_instruction_kind sn_kind_of(const sn_insn *insn);

/** Disassembly into buffer, NUL-terminated, in AT&T syntax with absolute branch targets. Returns buffer. */
const char *sn_disassemble(const uint8_t *code, size_t length, uint64_t pc, char *buffer, size_t size);

#endif
