// build: gcc -nostdlib -static -Wl,--build-id=none
// variants: bare, bare-no-headers, bare-pie, bare-rwx, bare-tail
// core: yes
// status: 7
/* No libc at all: the registers, the stack and the flags as the kernel leaves them at _start, then write and exit. */
        .globl _start
        .text
_start:
        /* the psABI leaves rdx zero for static programs under Linux, and all others zero too */
        or      %rcx, %rdx
        or      %rbx, %rdx
        or      %rsi, %rdx
        or      %rdi, %rdx
        or      %rbp, %rdx
        or      %r8, %rdx
        or      %r9, %rdx
        or      %r10, %rdx
        or      %r12, %rdx
        or      %r13, %rdx
        or      %r14, %rdx
        or      %r15, %rdx
        or      %rax, %rdx
        jnz     wrong
        cld
        test    $15, %spl
        jnz     wrong
        cmpq    $1, (%rsp)              /* argc */
        jne     wrong
        cmpq    $0, 16(%rsp)            /* argv ends */
        jne     wrong
        stmxcsr -8(%rsp)
        cmpl    $0x1f80, -8(%rsp)
        jne     wrong
        fnstcw  -8(%rsp)
        cmpw    $0x37f, -8(%rsp)
        jne     wrong
        lea     message(%rip), %rsi
        mov     $(message_end - message), %edx
        mov     $1, %edi
        mov     $1, %eax
        syscall
        cmp     $(message_end - message), %rax
        jne     wrong
        incl    counter(%rip)
        mov     counter(%rip), %edi
        mov     $231, %eax
        syscall
wrong:
        mov     $1, %edi
        mov     $60, %eax
        syscall
        hlt
        .section .rodata
message: .ascii "bare program\n"
message_end:
        .data
counter: .long 6
        .section .note.GNU-stack,"",@progbits
