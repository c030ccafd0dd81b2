/*
 * The crossing to one instruction and back, see ../native.h.
 *
 * void native_enter(const native_state *state): loads the state, jumps to native_target; the code there ends with a jump
 * to native_back, as does the signal handler.
 */
#define GENERAL(n) (8 * (n))
#define FLAGS 128
#define BASE1 136
#define BASE2 144
#define MASK(n) (152 + 8 * (n))
#define SHORT(n) (216 + 8 * (n))
#define VECTOR(n) (320 + 64 * (n))

        .data
        .balign 8
        .globl  native_target, native_counter
native_target:  .quad 0
native_counter: .quad 0
saved_stack:    .quad 0
saved_base1:    .quad 0
saved_base2:    .quad 0

        .text
        .globl  native_enter
        .type   native_enter, @function
native_enter:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, saved_stack(%rip)
        rdfsbase %rax
        movq    %rax, saved_base1(%rip)
        rdgsbase %rax
        movq    %rax, saved_base2(%rip)
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7
        movq    SHORT(\n)(%rdi), %mm\n
        kmovq   MASK(\n)(%rdi), %k\n
        .endr
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqa64 VECTOR(\n)(%rdi), %zmm\n
        .endr
        .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovdqa64 VECTOR(\n)(%rdi), %zmm\n
        .endr
        pushq   FLAGS(%rdi)
        movq    BASE2(%rdi), %rax
        wrgsbase %rax
        movq    BASE1(%rdi), %rax
        wrfsbase %rax
        popfq
        movq    GENERAL(0)(%rdi), %rax
        movq    GENERAL(1)(%rdi), %rcx
        movq    GENERAL(2)(%rdi), %rdx
        movq    GENERAL(3)(%rdi), %rbx
        movq    GENERAL(5)(%rdi), %rbp
        movq    GENERAL(6)(%rdi), %rsi
        movq    GENERAL(8)(%rdi), %r8
        movq    GENERAL(9)(%rdi), %r9
        movq    GENERAL(10)(%rdi), %r10
        movq    GENERAL(11)(%rdi), %r11
        movq    GENERAL(12)(%rdi), %r12
        movq    GENERAL(13)(%rdi), %r13
        movq    GENERAL(14)(%rdi), %r14
        movq    GENERAL(15)(%rdi), %r15
        movq    GENERAL(7)(%rdi), %rdi
        jmp     *native_target(%rip)

        .globl  native_back
native_back:
        movq    saved_stack(%rip), %rsp
        movq    %rcx, native_counter(%rip)
        cld
        movq    saved_base2(%rip), %rax
        wrgsbase %rax
        movq    saved_base1(%rip), %rax
        wrfsbase %rax
        emms
        vzeroupper
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret

        .section .note.GNU-stack, "", @progbits
