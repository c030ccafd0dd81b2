/**
 * @fileoverview The calling conventions of system calls, signal handlers and program entry on this architecture, as
 * operations on a thread's saved state. Per-architecture file of the guest layer.
 */
#ifndef SONDE_GUEST_X86_64_ABI_H
#define SONDE_GUEST_X86_64_ABI_H

#include <linux/audit.h>
#include <stdint.h>
#include <string.h>

#include "isa/x86_64/emit.h"
#include "jit/thread.h"

#define SN_SYSCALL_INSTRUCTION_SIZE 2
#define SN_ABI_AUDIT_ARCHITECTURE AUDIT_ARCH_X86_64

static inline uint64_t sn_abi_syscall_number(const sn_thread *thread) { return thread->general[SN_RAX]; }

static inline void sn_abi_syscall_arguments(const sn_thread *thread, uint64_t arguments[6]) {
    static const uint8_t order[6] = {SN_RDI, SN_RSI, SN_RDX, SN_R10, SN_R8, SN_R9};
    for (unsigned i = 0; i < 6; i++) arguments[i] = thread->general[order[i]];
}

/** What the instruction itself leaves in registers (Intel SDM, SYSCALL): the return address and the flags. */
static inline void sn_abi_syscall_begin(sn_thread *thread) {
    thread->general[SN_RCX] = thread->pc;
    thread->general[SN_R11] = thread->flags;
}

static inline void sn_abi_set_result(sn_thread *thread, uint64_t value) { thread->general[SN_RAX] = value; }

/** Make the thread execute the system call `number` again. */
static inline void sn_abi_restart_syscall(sn_thread *thread, uint64_t number) {
    thread->pc -= SN_SYSCALL_INSTRUCTION_SIZE;
    thread->general[SN_RAX] = number;
}

static inline uint64_t sn_abi_stack_pointer(const sn_thread *thread) { return thread->general[SN_RSP]; }
static inline void sn_abi_set_stack_pointer(sn_thread *thread, uint64_t value) { thread->general[SN_RSP] = value; }

/** Whether an address is one that the processor can branch to at all. */
static inline bool sn_abi_is_canonical(uint64_t address) {
    return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

/** How many bytes the indirect branch at a client address pops (negative: pushes). */
int64_t sn_abi_branch_pop(uint64_t client);

/** Have the thread stepped to the next boundary once it goes on (host_signal.c). The client's own trap flag is kept for the
    end of that; no instruction of the cache was executed yet. */
static inline void sn_abi_single_step(sn_thread *thread, sn_stepping why) {
    enum { FLAG_TRAP_BIT = 0x100 };
    if (!thread->stepping) thread->steps_itself = thread->flags & FLAG_TRAP_BIT;
    thread->stepping = (uint8_t)why;
    thread->stepped_at = 0;
    thread->flags |= FLAG_TRAP_BIT;
}

/** The state in which the kernel starts a program: all zero but the stack pointer. */
static inline void sn_abi_start_program(sn_thread *thread, uint64_t entry, uint64_t stack) {
    memset(thread->general, 0, sizeof thread->general);
    thread->general[SN_RSP] = stack;
    thread->flags = 0x202;
    thread->pc = entry;
    thread->client_base = thread->client_base2 = 0;
}

#endif
