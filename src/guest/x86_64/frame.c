/**
 * @fileoverview Building a client's signal frame and returning from it. Layouts: the kernel's
 * arch/x86/include/asm/sigframe.h and arch/x86/include/uapi/asm/sigcontext.h.
 */
#include "guest/events.h"
#include "guest/x86_64/frame.h"

#include <string.h>

#include "guest/thread.h"
#include "guest/x86_64/abi.h"
#include "isa/isa.h"
#include "jit/runtime.h"

#define RED_ZONE 128
#define FLAG_TRAP 0x100u
#define FLAG_DIRECTION 0x400u
#define FLAG_RESUME 0x10000u
/** Flags that a signal return may set (the kernel's FIX_EFLAGS). */
#define RETURNABLE_FLAGS 0x50dd5u

/* In the legacy area of the extended state. */
#define MXCSR_OFFSET 24
#define SOFTWARE_OFFSET 464
#define HEADER_OFFSET 512
#define LEGACY_SIZE 512
#define HEADER_SIZE 64
#define MAGIC1 0x46505853u
#define MXCSR_ALLOWED 0xffffu

const unsigned char sn_context_index[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/** struct ucontext as the kernel has it: glibc's mask is longer. */
typedef struct kernel_context {
    uint64_t flags;
    uint64_t link;
    stack_t stack;
    mcontext_t machine;
    uint64_t mask;
} kernel_context;

typedef struct kernel_frame {
    uint64_t return_address;
    kernel_context context;
    siginfo_t info;
} kernel_frame;

#define KERNEL_MACHINE_SIZE 256
_Static_assert(sizeof(mcontext_t) == KERNEL_MACHINE_SIZE, "sigcontext");

/** _fpx_sw_bytes */
typedef struct software_bytes {
    uint32_t magic1;
    uint32_t extended_size;
    uint64_t features;
    uint32_t state_size;
} software_bytes;

/* ------------------------------------------------------------------- where registers lie */

/** Vectors in components of the extended state: Intel SDM volume 1, 13.4 and 13.5. */
static const struct vector_part {
    uint8_t component, first, count;
    uint16_t offset, size, at;
} vector_parts[] = {
    {1, 0, 16, 0, 16, 160}, {2, 0, 16, 16, 16, 0}, {6, 0, 16, 32, 32, 0}, {7, 16, 16, 0, 64, 0},
};

enum { MASKS = 5, MASK_REGISTERS = 8, FLOATS_AT = 32 };

static void add_row(sn_frame_layout *layout, sn_operand_place place, unsigned reg, unsigned offset, unsigned size, uint64_t address) {
    layout->rows[layout->count++] = (sn_frame_register){(uint8_t)place, (uint8_t)reg, (uint16_t)offset, size, address};
}

/** `area`: the extended state; `size`: of it. */
static void lay_out(sn_frame_layout *layout, uint64_t context, uint64_t area, uint64_t size) {
    uint64_t registers = context + offsetof(kernel_context, machine) + offsetof(mcontext_t, gregs);
    layout->count = 0;
    for (unsigned i = 0; i < 16; i++) add_row(layout, SN_PLACE_GENERAL, i, 0, 8, registers + 8 * sn_context_index[i]);
    add_row(layout, SN_PLACE_FLAGS, 0, 0, 2, registers + 8 * REG_EFL);
    if (!area) return;
    for (unsigned i = 0; i < 8; i++) add_row(layout, SN_PLACE_X87, i, 0, 16, area + FLOATS_AT + 16 * i);
    for (unsigned p = 0; p < sizeof vector_parts / sizeof *vector_parts; p++) {
        const struct vector_part *part = &vector_parts[p];
        uint64_t start = part->component == 1 ? part->at : sn_state_component_of(part->component)->offset;
        bool exists = part->component == 1 || sn_state_component_of(part->component)->size;
        if (!exists || start + (uint64_t)part->count * part->size > size) continue;
        for (unsigned i = 0; i < part->count; i++)
            add_row(layout, SN_PLACE_VECTOR, part->first + i, part->offset, part->size, area + start + (uint64_t)i * part->size);
    }
    const sn_state_component *masks = sn_state_component_of(MASKS);
    if (masks->size && masks->offset + 8 * MASK_REGISTERS <= size)
        for (unsigned i = 0; i < MASK_REGISTERS; i++) add_row(layout, SN_PLACE_MASK, i, 0, 8, area + masks->offset + 8 * i);
}

static void tell_built(sn_thread *thread, uint64_t at, uint64_t area, uint64_t size) {
    sn_frame_layout layout = {.start = at, .end = area + size,
                              .set_general = 1u << SN_RAX | 1u << SN_RDI | 1u << SN_RSI | 1u << SN_RDX | 1u << SN_RSP};
    lay_out(&layout, at + offsetof(kernel_frame, context), area, size);
    sn_frames_listening.built(thread, &layout);
}

static void tell_returned(sn_thread *thread, uint64_t context, uint64_t area) {
    software_bytes software = {0};
    sn_frame_layout layout = {0};
    if (area && !sn_copy_safely(&software, (const void *)(area + SOFTWARE_OFFSET), sizeof software)) return;
    lay_out(&layout, context, area, software.magic1 == MAGIC1 ? software.state_size : LEGACY_SIZE);
    sn_frames_listening.returned(thread, &layout);
}

static uint64_t frame_stack_top(sn_thread *thread, const ucontext_t *context, const sn_signal_action *action) {
    uint64_t stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    const stack_t *alternate = &thread->alternate;
    bool usable = !(alternate->ss_flags & SS_DISABLE) && action->flags & SA_ONSTACK;
    bool on_it = stack - (uint64_t)alternate->ss_sp - 1 < alternate->ss_size &&
                 !(alternate->ss_flags & SN_AUTODISARM);
    if (usable && !on_it) return (uint64_t)alternate->ss_sp + alternate->ss_size;
    return stack - RED_ZONE;
}

/** Initial values of the extended state (Intel SDM volume 1, 13.6: an all-zero state bitmap). */
static void reset_extended_state(void *area) {
    uint8_t *legacy = area;
    const software_bytes *software = (const software_bytes *)(legacy + SOFTWARE_OFFSET);
    static const uint16_t control = 0x37f;
    static const uint32_t mxcsr = 0x1f80;
    if (software->magic1 == MAGIC1) memset(legacy + HEADER_OFFSET, 0, 8);
    memset(legacy, 0, 416);
    memcpy(legacy, &control, 2);
    memcpy(legacy + MXCSR_OFFSET, &mxcsr, 4);
}

static void start_handler(sn_thread *thread, ucontext_t *context, const sn_signal_action *action, int number,
                          uint64_t frame) {
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RSP] = (greg_t)frame;
    registers[REG_RDI] = number;
    registers[REG_RSI] = (greg_t)(frame + offsetof(kernel_frame, info));
    registers[REG_RDX] = (greg_t)(frame + offsetof(kernel_frame, context));
    registers[REG_RAX] = 0;
    registers[REG_EFL] &= ~(greg_t)(FLAG_TRAP | FLAG_DIRECTION | FLAG_RESUME);
    thread->pc = action->handler;
    if (thread->alternate.ss_flags & SN_AUTODISARM)
        thread->alternate = (stack_t){.ss_flags = SS_DISABLE};
}

bool sn_frame_build(sn_thread *thread, ucontext_t *context, const siginfo_t *info, int number,
                    const sn_signal_action *action, uint64_t mask) {
    void *state = context->uc_mcontext.fpregs;
    const software_bytes *software = (const software_bytes *)((const char *)state + SOFTWARE_OFFSET);
    uint64_t size = software->magic1 == MAGIC1 ? software->extended_size : LEGACY_SIZE;
    uint64_t area = (frame_stack_top(thread, context, action) - size) & ~UINT64_C(63);
    uint64_t at = ((area - sizeof(kernel_frame)) & ~UINT64_C(15)) - 8;

    kernel_frame frame = {.return_address = action->restorer,
                          .context = {.flags = (uint64_t)context->uc_flags,
                                      .stack = thread->alternate,
                                      .machine = context->uc_mcontext,
                                      .mask = mask},
                          .info = *info};
    frame.context.machine.gregs[REG_RIP] = (greg_t)thread->pc;
    frame.context.machine.gregs[REG_OLDMASK] = (greg_t)mask;
    frame.context.machine.fpregs = (fpregset_t)area;
    if (!sn_copy_safely((void *)area, state, size) || !sn_copy_safely((void *)at, &frame, sizeof frame)) return false;
    reset_extended_state(state);
    uint64_t interrupted = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    start_handler(thread, context, action, number, at);
    sn_stack_listening.signal(thread, interrupted, at, thread->pc);
    if (sn_frames_listening.built) tell_built(thread, at, area, size);
    return true;
}

/** Copy the frame's extended state to where the next entry can load it from; what the processor would refuse is
    cleared, as the kernel does for frames that a program has changed. */
static bool load_extended_state(sn_thread *thread, uint64_t from) {
    uint8_t *to = (uint8_t *)thread->copied_state;
    memset(to + HEADER_OFFSET, 0, HEADER_SIZE);
    if (!from) {
        memset(to, 0, LEGACY_SIZE);
        static const uint32_t mxcsr = 0x1f80;
        memcpy(to + MXCSR_OFFSET, &mxcsr, 4);
    } else {
        if (!sn_copy_safely(to, (const void *)from, LEGACY_SIZE)) return false;
        software_bytes software;
        memcpy(&software, to + SOFTWARE_OFFSET, sizeof software);
        bool extended = software.magic1 == MAGIC1 && software.state_size >= LEGACY_SIZE + HEADER_SIZE &&
                        software.state_size <= thread->state_size;
        uint64_t present = 3;
        if (extended) {
            if (!sn_copy_safely(to, (const void *)from, software.state_size)) return false;
            memcpy(&present, to + HEADER_OFFSET, 8);
            present &= software.features & thread->load_mask_all;
        }
        memset(to + HEADER_OFFSET, 0, HEADER_SIZE);
        memcpy(to + HEADER_OFFSET, &present, 8);
        uint32_t mxcsr;
        memcpy(&mxcsr, to + MXCSR_OFFSET, 4);
        mxcsr &= MXCSR_ALLOWED;
        memcpy(to + MXCSR_OFFSET, &mxcsr, 4);
    }
    thread->load_area = to;
    thread->load_mask = thread->load_mask_all;
    return true;
}

bool sn_sigreturn(sn_thread *thread) {
    kernel_context context;
    uint64_t from = sn_abi_stack_pointer(thread);
    if (!sn_copy_safely(&context, (const void *)sn_abi_stack_pointer(thread), sizeof context)) return false;
    if (!load_extended_state(thread, (uint64_t)context.machine.fpregs)) return false;
    for (unsigned i = 0; i < 16; i++) thread->general[i] = (uint64_t)context.machine.gregs[sn_context_index[i]];
    thread->pc = (uint64_t)context.machine.gregs[REG_RIP];
    uint64_t flags = (uint64_t)context.machine.gregs[REG_EFL];
    thread->flags = (thread->flags & ~(uint64_t)RETURNABLE_FLAGS) | (flags & RETURNABLE_FLAGS);
    sn_signals_hold_mask(thread);
    sn_set_client_mask(thread, context.mask);
    if (!(context.stack.ss_flags & SS_ONSTACK)) thread->alternate = context.stack;
    if (sn_frames_listening.returned) tell_returned(thread, from, (uint64_t)context.machine.fpregs);
    sn_stack_listening.signal_returned(thread, from, sn_abi_stack_pointer(thread));
    return true;
}
