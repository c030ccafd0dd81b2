/**
 * @fileoverview The parts of abi.h that need the decoder.
 */
#include "guest/x86_64/abi.h"

#include "isa/isa.h"
#include "jit/client_code.h"
#include "jit/runtime.h"

int64_t sn_abi_branch_pop(uint64_t client) {
    uint8_t bytes[16] = {0};
    sn_insn insn;
    size_t size = sn_space_executable(client);
    if (size > 15) size = 15;
    if (!sn_copy_safely(bytes, (const void *)client, size) || !sn_decode(bytes, size, client, &insn)) return 0;
    if (insn.class == SN_INSN_RETURN) return 8 + (int64_t)insn.return_pop;
    return insn.class == SN_INSN_CALL_INDIRECT ? -8 : 0;
}
