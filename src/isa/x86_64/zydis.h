/**
 * @fileoverview What the files of src/isa that use the decoding library share: one decoder, set up once.
 */
#ifndef SONDE_ISA_X86_64_ZYDIS_H
#define SONDE_ISA_X86_64_ZYDIS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Decode with all operands, hidden ones included; `operands` has room for ZYDIS_MAX_OPERAND_COUNT. Instructions of the
 * first Xeon Phi, which the library knows in every mode and no processor of today does, are refused.
 */
bool sn_zydis_decode(const uint8_t *code, size_t available, ZydisDecodedInstruction *instruction,
                     ZydisDecodedOperand *operands);

/** Number of the 64-bit general register that holds `reg`, or -1 when it is none. */
int sn_zydis_general_register(ZydisRegister reg);

#endif
