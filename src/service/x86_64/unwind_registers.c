/**
 * @fileoverview The registers that stacks are unwound by: see service/unwind.h. Per-architecture file.
 *
 * Numbers of DWARF: System V ABI, AMD64 supplement, 3.6.2; the frame that a frame pointer makes: 3.2.2.
 */
#include "isa/x86_64/emit.h"
#include "service/unwind.h"

const sn_unwind_registers sn_unwind_registers_here = {.stack = 7, .frame = 6, .return_address = 16};
const uint8_t sn_unwind_frame_register = SN_RBP;

const sn_unwind_rule sn_unwind_by_frame_pointer = {.by_frame_pointer = true,
                                                   .offset = 16,
                                                   .return_place = SN_UNWIND_AT_FRAME,
                                                   .return_offset = -8,
                                                   .frame_place = SN_UNWIND_AT_FRAME,
                                                   .frame_offset = -16};

sn_unwind_start sn_unwind_start_of(const sn_thread *thread) {
    return (sn_unwind_start){.address = thread->pc, .stack = thread->general[SN_RSP], .frame = thread->general[SN_RBP],
                             .is_exact = true};
}
