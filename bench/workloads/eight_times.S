/* The frame of what bench/form_costs.py measures with: argument count - 1 times ten million rounds of an instruction eight
   times, the macro `form` with the offset of a word of its own from %rsi, after a comparison each, so that the flags are needed
   at none of them. %r8 is 1. Included by additions.S and bit_tests.S. */
        .globl _start
_start: mov     (%rsp), %rdx
        imul    $10000000, %rdx, %rdx
        lea     words(%rip), %rsi
        xor     %eax, %eax
        mov     $1, %r8d
1:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        form    64*\n
        xor     %eax, %eax
        .endr
        dec     %rdx
        jnz     1b
        mov     $60, %eax
        xor     %edi, %edi
        syscall
        .bss
        .balign 64
words:  .skip   512
