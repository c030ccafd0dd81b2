/* What bench/form_costs.py measures with where an instruction has to be one whose accesses vary: additions.S, with tests of
   bits that a register numbers in place of the additions. */
        .globl _start
_start: mov     (%rsp), %rdx
        imul    $10000000, %rdx, %rdx
        lea     words(%rip), %rsi
        xor     %eax, %eax
        mov     $1, %r8d
1:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        bt      %r8, 64*\n(%rsi)
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
