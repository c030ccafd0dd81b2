/**
 * @fileoverview Checking and running classic packet filters: see packet_filter.h.
 *
 * The rules are those of the kernel's bpf_check_classic and seccomp_check_filter (Documentation/networking/filter.rst and
 * Documentation/userspace-api/seccomp_filter.rst).
 */
#include "guest/packet_filter.h"

#include <string.h>

/** Cells are tracked in 16 bits. */
_Static_assert(BPF_MEMWORDS == 16, "cells");

/* ----------------------------------------------------------------------- checking */

static bool is_conditional(uint16_t code) {
    switch (code) {
    case BPF_JMP | BPF_JEQ | BPF_K:
    case BPF_JMP | BPF_JEQ | BPF_X:
    case BPF_JMP | BPF_JGE | BPF_K:
    case BPF_JMP | BPF_JGE | BPF_X:
    case BPF_JMP | BPF_JGT | BPF_K:
    case BPF_JMP | BPF_JGT | BPF_X:
    case BPF_JMP | BPF_JSET | BPF_K:
    case BPF_JMP | BPF_JSET | BPF_X:
        return true;
    default:
        return false;
    }
}

/** Instructions that are right whatever their operand. */
static bool is_always_right(uint16_t code) {
    switch (code) {
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_W | BPF_LEN:
    case BPF_LD | BPF_IMM:
    case BPF_LDX | BPF_IMM:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA:
    case BPF_ALU | BPF_NEG:
    case BPF_ALU | BPF_ADD | BPF_K:
    case BPF_ALU | BPF_ADD | BPF_X:
    case BPF_ALU | BPF_SUB | BPF_K:
    case BPF_ALU | BPF_SUB | BPF_X:
    case BPF_ALU | BPF_MUL | BPF_K:
    case BPF_ALU | BPF_MUL | BPF_X:
    case BPF_ALU | BPF_AND | BPF_K:
    case BPF_ALU | BPF_AND | BPF_X:
    case BPF_ALU | BPF_OR | BPF_K:
    case BPF_ALU | BPF_OR | BPF_X:
    case BPF_ALU | BPF_XOR | BPF_K:
    case BPF_ALU | BPF_XOR | BPF_X:
    case BPF_ALU | BPF_DIV | BPF_X:
    case BPF_ALU | BPF_LSH | BPF_X:
    case BPF_ALU | BPF_RSH | BPF_X:
        return true;
    default:
        return false;
    }
}

/** One instruction, with `left` instructions behind it. */
static bool instruction_is_right(const struct sock_filter *at, unsigned left) {
    switch (at->code) {
    case BPF_LD | BPF_W | BPF_ABS:
        return at->k % 4 == 0 && at->k < sizeof(struct seccomp_data);
    case BPF_ALU | BPF_DIV | BPF_K:
        return at->k != 0;
    case BPF_ALU | BPF_LSH | BPF_K:
    case BPF_ALU | BPF_RSH | BPF_K:
        return at->k < 32;
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
        return at->k < BPF_MEMWORDS;
    case BPF_JMP | BPF_JA:
        return at->k < left;
    default:
        return is_conditional(at->code) ? at->jt < left && at->jf < left : is_always_right(at->code);
    }
}

/** Every cell is written on all ways to where it is read. Jumps only lead forward, so that one pass will do. */
static bool cells_are_written(const struct sock_filter *program, unsigned length) {
    uint16_t at_entry[BPF_MAXINSNS]; /* what every jump to the instruction has written */
    uint16_t written = 0;
    memset(at_entry, 0xff, length * sizeof *at_entry);
    for (unsigned i = 0; i < length; i++) {
        const struct sock_filter *at = &program[i];
        written &= at_entry[i];
        if (at->code == BPF_ST || at->code == BPF_STX) {
            written |= (uint16_t)(1u << at->k);
        } else if (at->code == (BPF_LD | BPF_MEM) || at->code == (BPF_LDX | BPF_MEM)) {
            if (!(written & 1u << at->k)) return false;
        } else if (at->code == (BPF_JMP | BPF_JA)) {
            at_entry[i + 1 + at->k] &= written;
            written = 0xffff;
        } else if (is_conditional(at->code)) {
            at_entry[i + 1 + at->jt] &= written;
            at_entry[i + 1 + at->jf] &= written;
            written = 0xffff;
        }
    }
    return true;
}

bool sn_packet_filter_check(const struct sock_filter *program, unsigned length) {
    if (length == 0 || length > BPF_MAXINSNS || BPF_CLASS(program[length - 1].code) != BPF_RET) return false;
    for (unsigned i = 0; i < length; i++)
        if (!instruction_is_right(&program[i], length - i - 1)) return false;
    return cells_are_written(program, length);
}

/* ------------------------------------------------------------------------ running */

typedef struct machine {
    uint32_t a, x, cells[BPF_MEMWORDS];
} machine;

/** The second operand of arithmetic and of comparisons. */
static uint32_t operand_of(const struct sock_filter *at, const machine *m) {
    return BPF_SRC(at->code) == BPF_X ? m->x : at->k;
}

/** Returns false for a division by zero, which ends the program. */
static bool calculate(const struct sock_filter *at, machine *m) {
    uint32_t operand = operand_of(at, m);
    switch (BPF_OP(at->code)) {
    case BPF_ADD: m->a += operand; break;
    case BPF_SUB: m->a -= operand; break;
    case BPF_MUL: m->a *= operand; break;
    case BPF_AND: m->a &= operand; break;
    case BPF_OR: m->a |= operand; break;
    case BPF_XOR: m->a ^= operand; break;
    case BPF_LSH: m->a <<= operand & 31; break;
    case BPF_RSH: m->a >>= operand & 31; break;
    case BPF_NEG: m->a = -m->a; break;
    case BPF_DIV:
        if (operand == 0) return false;
        m->a /= operand;
        break;
    }
    return true;
}

/** How many instructions a jump skips. */
static uint32_t jump_distance(const struct sock_filter *at, const machine *m) {
    uint32_t operand = operand_of(at, m);
    bool holds = false;
    switch (BPF_OP(at->code)) {
    case BPF_JA: return at->k;
    case BPF_JEQ: holds = m->a == operand; break;
    case BPF_JGT: holds = m->a > operand; break;
    case BPF_JGE: holds = m->a >= operand; break;
    case BPF_JSET: holds = m->a & operand; break;
    }
    return holds ? at->jt : at->jf;
}

static uint32_t load(const struct sock_filter *at, const machine *m, const struct seccomp_data *data) {
    uint32_t word;
    switch (BPF_MODE(at->code)) {
    case BPF_ABS:
        memcpy(&word, (const char *)data + at->k, sizeof word);
        return word;
    case BPF_MEM: return m->cells[at->k];
    case BPF_LEN: return sizeof *data;
    default: return at->k; /* BPF_IMM */
    }
}

uint32_t sn_packet_filter_run(const struct sock_filter *program, const struct seccomp_data *data) {
    machine m = {0};
    for (const struct sock_filter *at = program;; at++) {
        switch (BPF_CLASS(at->code)) {
        case BPF_LD: m.a = load(at, &m, data); break;
        case BPF_LDX: m.x = load(at, &m, data); break;
        case BPF_ST: m.cells[at->k] = m.a; break;
        case BPF_STX: m.cells[at->k] = m.x; break;
        case BPF_ALU:
            if (!calculate(at, &m)) return 0;
            break;
        case BPF_JMP: at += jump_distance(at, &m); break;
        case BPF_MISC:
            if (at->code == (BPF_MISC | BPF_TAX)) m.x = m.a;
            else m.a = m.x;
            break;
        case BPF_RET: return BPF_RVAL(at->code) == BPF_A ? m.a : at->k;
        }
    }
}
