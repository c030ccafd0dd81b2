/**
 * @fileoverview sn_may_be_request(), sn_ends_request(): the sequence of instructions that is a client request.
 */
#include <string.h>

#include "isa/isa.h"

bool sn_may_be_request(const sn_insn *insn) {
    return insn->length == 3 && !memcmp(insn->bytes, "\x48\x87\xdb", 3); /* xchg %rbx, %rbx */
}

bool sn_ends_request(const uint8_t before[SN_REQUEST_PREAMBLE]) {
    /* rol $3, $13, $61 and $51 of %rdi: two full turns (valgrind.h, __SPECIAL_INSTRUCTION_PREAMBLE for amd64) */
    return !memcmp(before, "\x48\xc1\xc7\x03\x48\xc1\xc7\x0d\x48\xc1\xc7\x3d\x48\xc1\xc7\x33", SN_REQUEST_PREAMBLE);
}
