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

typedef enum sn_fault_kind {
    SN_FAULT_NONE,  /**< never faults */
    SN_FAULT_STACK, /**< only by an access to the stack */
    SN_FAULT_ANY,
} sn_fault_kind;

/** Whether an instruction may fault (and so show its state before to a handler). Conservative. */
sn_fault_kind sn_fault_kind_of(const sn_insn *insn);

/** Whether a single-step trap that the instruction switches on comes only after the next one (Intel SDM volume 3, 17.3.1.4):
    the two belong into one block. */
bool sn_delays_trap(const sn_insn *insn);

/** Whether the instruction, run twice from the same state, once of them under the trap flag, must leave the same state,
    and touches no memory but that of its operands. Not so for what reads clocks, enters the kernel, or shows where the
    code lies. */
bool sn_is_repeatable(const sn_insn *insn);

/** Public kind of an instruction, for tools. */
sn_instruction_kind sn_kind_of(const sn_insn *insn);

/** Disassembly into buffer, NUL-terminated, in AT&T syntax with absolute branch targets. Returns buffer. */
const char *sn_disassemble(const uint8_t *code, size_t length, uint64_t pc, char *buffer, size_t size);

#endif
