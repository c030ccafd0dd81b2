# How many primes are below 10,000: a small program that is the same on every machine, without libraries.
# docs/count.md shows what `sonde count` says of it. Build: gcc -g -nostdlib -static -o primes examples/primes.s
        .set    limit, 10000

        .bss
composite:
        .skip   limit
digits: .skip   16

        .text
        .globl  _start
        .type   _start, @function
_start: call    sieve
        call    count
        call    print
        xor     %edi, %edi
        mov     $60, %eax               # exit
        syscall
        .size   _start, .-_start

# Mark the multiples of every prime.
        .type   sieve, @function
sieve:  mov     $2, %esi
next:   cmpb    $0, composite(%rsi)
        jne     2f
        mov     %rsi, %rdi
        add     %rdi, %rdi
        jmp     1f
mark:   movb    $1, composite(%rdi)
        add     %rsi, %rdi
1:      cmp     $limit, %rdi
        jb      mark
2:      inc     %rsi
        cmp     $limit, %rsi
        jb      next
        ret
        .size   sieve, .-sieve

# %eax = how many are not marked.
        .type   count, @function
count:  xor     %eax, %eax
        mov     $2, %esi
3:      cmpb    $1, composite(%rsi)
        adc     $0, %eax
        inc     %rsi
        cmp     $limit, %rsi
        jb      3b
        ret
        .size   count, .-count

# Write %eax as a decimal number and a line end; the unused front of `digits` is filled with blanks.
        .type   print, @function
print:  mov     %eax, %edx
        lea     digits(%rip), %rdi
        mov     $15, %ecx
        mov     $' ', %al
        rep stosb
        movb    $'\n', (%rdi)
        mov     %edx, %eax
        mov     $10, %ecx
4:      xor     %edx, %edx
        div     %ecx
        add     $'0', %dl
        dec     %rdi
        mov     %dl, (%rdi)
        test    %eax, %eax
        jnz     4b
        mov     $1, %edi
        lea     digits(%rip), %rsi
        mov     $16, %edx
        mov     $1, %eax                # write
        syscall
        ret
        .size   print, .-print

        .section .note.GNU-stack, "", @progbits
