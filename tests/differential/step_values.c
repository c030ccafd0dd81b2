/**
 * @fileoverview Values of operands by single-stepping: what the framework of <sonde/values.h> records is compared with it.
 *
 *     differential-step OUTPUT ENTER PROGRAM [ARGUMENTS]
 *
 * Runs the runner of the differential test natively and steps through its blocks: from each arrival at the address ENTER (of
 * sn_executor_enter, hexadecimal) until it has left the places of blocks (layout.h). Writes a line for each value of memory, of
 * registers, and of the program counter that an instruction reads, or has written; those of a place are in the order of
 * tests/tools/show_values.c:
 *
 *     INSTRUCTION r|w memory|general|vector|mask|flags|x87|control|counter WHERE SIZE VALUE
 *
 * Of an instruction whose accesses vary, and of processor state, there is a line `INSTRUCTION skip`.
 * The values are what ptrace shows, before and after the step; only which operands there are is asked of src/isa.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/isa.h"
#include "layout.h"

enum { MOST_OPERANDS = 32, COUNTER = 1 }; /* the program counter comes behind the others */

static pid_t child;
static FILE *output;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "differential-step: %s: %s\n", what, strerror(errno));
    if (child > 0) kill(child, SIGKILL);
    exit(2);
}

static bool read_memory(uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(child, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static uint64_t general(const struct user_regs_struct *r, unsigned number) {
    const uint64_t all[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
                            r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    return number < 16 ? all[number] : 0;
}

/* ------------------------------------------------------------------- vectors and masks */

typedef struct vectors {
    uint8_t bytes[32][64];
    uint64_t masks[8];
    uint8_t legacy[512]; /**< with the x87 unit and control words */
} vectors;

/** The XSAVE area's components (Intel SDM, volume 1, chapter 13): where they are says CPUID, leaf 13. */
enum { CONTROL_WORD = 0, STATUS_WORD = 2, VECTOR_CONTROL = 24, LEGACY_X87 = 32, LEGACY_XMM = 160, LEGACY_FEATURES = 464 };
enum { AVX = 2, MASKS = 5, UPPER_ZMM = 6, HIGH_ZMM = 7 };

/** Copy the elements of a component, as far as the processor and the kernel have it. */
static void copy_component(const uint8_t *area, unsigned component, void *to, size_t step, unsigned count, size_t size) {
    uint64_t features;
    uint32_t length = 0, offset = 0, more, flags;
    memcpy(&features, area + LEGACY_FEATURES, sizeof features); /* where the kernel says which it has put there */
    if (!(features >> component & 1) || !__get_cpuid_count(13, component, &length, &offset, &more, &flags)) return;
    for (unsigned i = 0; i < count; i++) memcpy((uint8_t *)to + i * step, area + offset + i * size, size);
}

static vectors read_vectors(void) {
    static uint8_t area[16384];
    vectors now = {0};
    struct iovec all = {area, sizeof area};
    if (ptrace(PTRACE_GETREGSET, child, (void *)(uintptr_t)NT_X86_XSTATE, &all)) fail("vector registers");
    memcpy(now.legacy, area, sizeof now.legacy);
    for (unsigned i = 0; i < 16; i++) memcpy(now.bytes[i], area + LEGACY_XMM + i * 16, 16);
    copy_component(area, AVX, now.bytes[0] + 16, sizeof now.bytes[0], 16, 16);
    copy_component(area, UPPER_ZMM, now.bytes[0] + 32, sizeof now.bytes[0], 16, 32);
    copy_component(area, HIGH_ZMM, now.bytes[16], sizeof now.bytes[0], 16, 64);
    copy_component(area, MASKS, now.masks, sizeof now.masks[0], 8, sizeof now.masks[0]);
    return now;
}

/* ----------------------------------------------------------------------- one instruction */

typedef struct step {
    struct user_regs_struct before, after;
    vectors vectors_before, vectors_after;
    sn_insn insn;
    sn_operand operands[MOST_OPERANDS];
    int count;
} step;

static bool has_short_addresses(const sn_insn *insn) {
    for (unsigned i = 0; i < insn->prefix_length; i++)
        if (insn->bytes[i] == 0x67) return true;
    return false;
}

static uint64_t address_of(const step *s, const sn_operand *operand) {
    uint64_t bases[] = {0, s->before.fs_base, s->before.gs_base}, address = (uint64_t)operand->displacement;
    if (operand->base != SN_NO_REGISTER) address += general(&s->before, operand->base);
    if (operand->index != SN_NO_REGISTER) address += general(&s->before, operand->index) * operand->scale;
    if (has_short_addresses(&s->insn)) address = (uint32_t)address;
    return address + bases[operand->segment <= 2 ? operand->segment : 0];
}

static unsigned top_of(const vectors *now) { return now->legacy[STATUS_WORD + 1] >> 3 & 7; }

/** A register of the x87 unit. What is written is counted from where the stack's top is then if the instruction has pushed, else
    from where it was. The image begins with the register at the top. */
static const uint8_t *x87_register(const step *s, const sn_operand *operand, bool is_write) {
    enum { EXTENDED_BYTES = 10 };
    const vectors *now = is_write ? &s->vectors_after : &s->vectors_before;
    unsigned before = top_of(&s->vectors_before), top = top_of(now), number = operand->reg;
    bool has_pushed = is_write && top == (before - 1) % 8;
    if (operand->size == EXTENDED_BYTES) number += has_pushed ? top : before;
    return now->legacy + LEGACY_X87 + 16 * ((number - top) % 8);
}

/** A control register; NULL: one that is not compared. */
static const void *control_register(const vectors *now, const struct user_regs_struct *general_now, unsigned number) {
    switch (number) {
    case SN_CONTROL_X87_CONTROL: return now->legacy + CONTROL_WORD;
    case SN_CONTROL_X87_STATUS: return now->legacy + STATUS_WORD;
    case SN_CONTROL_VECTOR: return now->legacy + VECTOR_CONTROL;
    case SN_CONTROL_ENABLED_STATE: return now->legacy + LEGACY_FEATURES;
    case SN_CONTROL_SEGMENTS: return &general_now->es;
    case SN_CONTROL_SEGMENTS + 1: return &general_now->cs;
    case SN_CONTROL_SEGMENTS + 2: return &general_now->ss;
    case SN_CONTROL_SEGMENTS + 3: return &general_now->ds;
    case SN_CONTROL_SEGMENTS + 4: return &general_now->fs;
    case SN_CONTROL_SEGMENTS + 5: return &general_now->gs;
    default: return NULL;
    }
}

/** Where the value of an operand that is in a register was copied from; `room` holds what has to be made. NULL: nowhere. */
static const void *register_place(const step *s, const sn_operand *operand, bool is_write, uint64_t *room) {
    enum { TRAP_FLAG = 0x100, RESUME_FLAG = 0x10000 }; /* those of stepping */
    const vectors *now = is_write ? &s->vectors_after : &s->vectors_before;
    const struct user_regs_struct *general_now = is_write ? &s->after : &s->before;
    switch (operand->place) {
    case SN_PLACE_VECTOR: return now->bytes[operand->reg % 32];
    case SN_PLACE_MASK: return &now->masks[operand->reg % 8];
    case SN_PLACE_X87: return x87_register(s, operand, is_write);
    case SN_PLACE_CONTROL: return control_register(now, general_now, operand->reg);
    case SN_PLACE_FLAGS: *room = general_now->eflags & ~(uint64_t)(TRAP_FLAG | RESUME_FLAG); return room;
    case SN_PLACE_PROGRAM_COUNTER: *room = is_write ? s->after.rip : s->insn.pc + s->insn.length; return room;
    default: *room = general(general_now, operand->reg); return room;
    }
}

/** Print the value; false if it is in memory that can't be read. */
static bool print(const step *s, const sn_operand *operand, bool is_write) {
    static const char *const names[] = {
        [SN_PLACE_MEMORY] = "memory", [SN_PLACE_GENERAL] = "general", [SN_PLACE_VECTOR] = "vector", [SN_PLACE_MASK] = "mask",
        [SN_PLACE_FLAGS] = "flags", [SN_PLACE_X87] = "x87", [SN_PLACE_CONTROL] = "control", [SN_PLACE_PROGRAM_COUNTER] = "counter"};
    uint8_t bytes[64];
    uint64_t where = operand->reg == SN_NO_REGISTER ? 0 : operand->reg, room;
    if (operand->place == SN_PLACE_MEMORY) {
        where = address_of(s, operand);
        if (!read_memory(where, bytes, operand->size)) return false;
    } else {
        const uint8_t *from = register_place(s, operand, is_write, &room);
        if (!from) return true;
        memcpy(bytes, from + (operand->place == SN_PLACE_GENERAL ? operand->displacement : 0), operand->size);
    }
    fprintf(output, "%" PRIx64 " %c %s %" PRIx64 " %u ", s->insn.pc, is_write ? 'w' : 'r',
            names[operand->place], where, operand->size);
    for (unsigned i = 0; i < operand->size; i++) fprintf(output, "%02x", bytes[i]);
    putc('\n', output);
    return true;
}

static bool is_recorded(const sn_operand *operand, unsigned role) {
    return operand->place != SN_PLACE_IMMEDIATE && operand->role != SN_ROLE_ADDRESS && (operand->role & role) && operand->size && operand->size <= 64;
}

static bool is_recorded_behind(const sn_operand *operand) {
    return operand->place == SN_PLACE_FLAGS || operand->place == SN_PLACE_X87 || operand->place == SN_PLACE_CONTROL ||
           operand->place == SN_PLACE_PROGRAM_COUNTER;
}

static bool goes_on(const sn_insn *insn) {
    sn_instruction_kind kind = sn_kind_of(insn);
    return kind == SN_KIND_OTHER || kind == SN_KIND_CONDITIONAL;
}

/** The program counter is an operand of near branches, calls and returns: src/isa does not list it. */
static void add_program_counter(step *s) {
    bool is_written = false, is_read = false;
    switch (s->insn.class) {
    case SN_INSN_CONDITIONAL: case SN_INSN_LOOP: case SN_INSN_JUMP: case SN_INSN_CALL: case SN_INSN_CALL_INDIRECT:
        is_read = is_written = true;
        break;
    case SN_INSN_JUMP_INDIRECT: case SN_INSN_RETURN: is_written = true; break;
    default: return;
    }
    s->operands[s->count++] = (sn_operand){.place = SN_PLACE_PROGRAM_COUNTER, .size = 8,
                                           .role = (is_read ? SN_ROLE_READ : 0) | (is_written ? SN_ROLE_WRITTEN : 0)};
}

/** Processor state, in which there are places in code: that is the copy's, when it runs in the code cache. */
static bool is_state(const sn_operand *operand) {
    return operand->place == SN_PLACE_MEMORY && (operand->size > 64 || operand->size == 14 || operand->size == 28);
}

static bool begin_step(step *s) {
    uint8_t code[15];
    size_t size = sizeof code;
    while (size && !read_memory(s->before.rip, code, size)) size--;
    if (!sn_decode(code, size, s->before.rip, &s->insn)) return false;
    s->count = sn_operands(&s->insn, s->operands, MOST_OPERANDS - COUNTER);
    if (s->count >= 0) add_program_counter(s);
    bool skips = sn_accesses_vary(&s->insn);
    for (int i = 0; i < s->count; i++) skips |= is_state(&s->operands[i]);
    s->vectors_before = read_vectors();
    if (skips) {
        fprintf(output, "%" PRIx64 " skip\n", s->insn.pc);
        return s->count = 0, true;
    }
    /* Where a load faults, the registers that are recorded behind loads are not. */
    for (int behind = 0; behind < 2; behind++)
        for (int i = 0; i < s->count; i++) {
            const sn_operand *operand = &s->operands[i];
            if (is_recorded_behind(operand) != behind || !is_recorded(operand, SN_ROLE_READ)) continue;
            if (!print(s, operand, false)) return false;
        }
    return true;
}

/** An instruction that stores the flags (pushf, and 16 bits of them) sees the trap flag that the step has set. */
static void hide_trap_flag(const step *s) {
    enum { STORE_FLAGS = 0x9c, TRAP_FLAG_BYTE = 0x01 };
    uint8_t byte;
    uint64_t at = s->after.rsp + 1;
    if (s->insn.bytes[s->insn.opcode_offset] != STORE_FLAGS || !read_memory(at, &byte, 1)) return;
    byte &= (uint8_t)~TRAP_FLAG_BYTE;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)at, 1};
    if (process_vm_writev(child, &here, 1, &there, 1, 0) != 1) fail("the stored flags");
}

/** A system call leaves the flags, with that one, in a register. */
static void hide_trap_flag_of_call(step *s) {
    enum { SYSCALL = 0x050f, TRAP_FLAG = 0x100 };
    uint16_t code;
    memcpy(&code, s->insn.bytes, sizeof code);
    if (code != SYSCALL || !(s->after.r11 & TRAP_FLAG)) return;
    s->after.r11 &= ~(unsigned long long)TRAP_FLAG;
    if (ptrace(PTRACE_SETREGS, child, NULL, &s->after)) fail("the flags in a register");
}

static void end_step(step *s) {
    hide_trap_flag(s);
    hide_trap_flag_of_call(s);
    s->vectors_after = read_vectors();
    for (int i = 0; i < s->count; i++) {
        const sn_operand *operand = &s->operands[i];
        bool is_known_before = operand->place == SN_PLACE_MEMORY || operand->place == SN_PLACE_PROGRAM_COUNTER;
        bool wanted = is_recorded(operand, SN_ROLE_WRITTEN) && (is_known_before || goes_on(&s->insn));
        if (wanted) print(s, operand, true);
    }
}

/* ------------------------------------------------------------------------------- the run */

static bool in_block(uint64_t pc) { return pc - SN_LOW_CODE < SN_CODE_SPAN || pc - SN_HIGH_CODE < SN_CODE_SPAN; }

/** Make a request that goes on, and wait. */
static int go(int request, int signal) {
    int status;
    if (ptrace(request, child, NULL, (void *)(intptr_t)signal) || waitpid(child, &status, 0) != child) fail("go on");
    return status;
}

/** Whether a stop is by the step or breakpoint of ours, not a signal of the program's. */
static bool is_ours(int status) {
    siginfo_t info;
    if (WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_GETSIGINFO, child, NULL, &info)) return false;
    /* A step over a system call ends with TRAP_BRKPT; breakpoint instructions of the program's send SI_KERNEL. */
    return info.si_code == TRAP_TRACE || info.si_code == TRAP_HWBKPT || info.si_code == TRAP_BRKPT;
}

/** From the entry through the block. Returns the status of the stop that ended it. */
static int step_block(void) {
    bool entered = false;
    for (step s = {0};;) {
        if (ptrace(PTRACE_GETREGS, child, NULL, &s.before)) fail("registers");
        bool inside = in_block(s.before.rip);
        if (entered && !inside) return go(PTRACE_CONT, 0);
        entered |= inside;
        bool recorded = inside && begin_step(&s);
        int status = go(PTRACE_SINGLESTEP, 0);
        if (!WIFSTOPPED(status) || !is_ours(status)) return status;
        if (ptrace(PTRACE_GETREGS, child, NULL, &s.after)) fail("registers");
        if (recorded) end_step(&s);
    }
}

static int run(uint64_t enter) {
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) fail("start");
    if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), enter) ||
        ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), 1))
        fail("breakpoint");
    status = go(PTRACE_CONT, 0);
    while (WIFSTOPPED(status)) {
        struct user_regs_struct registers;
        if (ptrace(PTRACE_GETREGS, child, NULL, &registers)) fail("registers");
        bool ours = is_ours(status);
        status = ours && registers.rip == enter ? step_block() : go(PTRACE_CONT, ours ? 0 : WSTOPSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: differential-step OUTPUT ENTER PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    output = fopen(arguments[1], "w");
    if (!output) fail(arguments[1]);
    child = fork();
    if (child < 0) fail("fork");
    if (!child) {
        personality(ADDR_NO_RANDOMIZE);
        if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL)) execv(arguments[3], arguments + 3);
        fail(arguments[3]);
    }
    int status = run(strtoull(arguments[2], NULL, 16));
    if (fclose(output)) fail(arguments[1]);
    return status;
}
