/* @fileoverview Where the kernel enters the launcher: passes the initial stack (argument count, arguments, environment)
   to sn_launch(), which does not return. */
    .globl _start
    .type _start, @function
_start:
    xorl %ebp, %ebp
    movq %rsp, %rdi
    andq $-16, %rsp
    call sn_launch
    hlt
    .size _start, . - _start
    .section .note.GNU-stack, "", @progbits
