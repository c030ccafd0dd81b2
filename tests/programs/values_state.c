/**
 * @fileoverview For tests/test_values.py: registers that inserted code does not read, and the program counter. Each instruction of
 * interest has a label; what it reads and writes is known exactly and is in the test.
 */
#include <stdint.h>

/* The x87 unit is as at the start of a program, with zeros in the two registers that are pushed and its stack empty, and becomes so again. */
__asm__(".text\n"
        ".globl state_begin, state_end\n"
        "state_begin:\n"
        "push_one: fld1\n"                  /* 1 */
        "push_memory: fldl two(%rip)\n" /* 2 1 */
        "swap: fxch %st(1)\n"               /* 1 2 */
        "add_pop: faddp %st, %st(1)\n"      /* 3 */
        "store: fstpl result(%rip)\n"
        "set_control: fldcw double_control(%rip)\n"
        "get_status: fnstsw %ax\n"
        "reset_control: fldcw initial_control(%rip)\n"
        "mov $0x7fffffff, %ecx\n"
        "overflow: add $1, %ecx\n"          /* overflow, sign, adjust, parity */
        "mov $0x0100, %eax\n"
        "keep_overflow: sahf\n"             /* carry; all are overwritten before they are read */
        "none: sub %ecx, %ecx\n"
        "not_taken: jne far\n"
        "taken: je near\n"
        "far: ud2\n"
        "near: lea behind(%rip), %rdx\n"
        "indirect: jmp *%rdx\n"
        "behind_indirect: ud2\n"
        "behind: call function\n"
        "returned: lea function(%rip), %rdx\n"
        "call_indirect: call *%rdx\n"
        "again: jmp last\n"
        "function: ret\n"
        "last: nop\n"
        "state_end: ret\n");

/** What the assembly above reads and writes. */
const double two __attribute__((used)) = 2;
const uint16_t double_control __attribute__((used)) = 0x27f, initial_control __attribute__((used)) = 0x37f;
double result;

extern void state_begin(void);

int main(void) {
    uint64_t status = 0;
    __asm__ volatile("fldz; fldz; fstp %%st; fstp %%st; sub %%eax, %%eax; call state_begin" : "+a"(status) : : "rcx", "rdx", "cc", "memory");
    return result != 3 || (status & 0x3800) != 0;
}
