/**
 * @file tests/programs/cache_runs.S
 * References near to each other, by instructions that go up, down and both ways from the first, push and pop, move the register
 * that they refer through, name it while they move it, and leave in the middle: each time in memory that was not used before,
 * at another alignment, so that each of them comes to be the first in a line. For tests/test_cache.py.
 */
    .globl _start
    .bss
    .balign 4096
area:
    .skip 160 * 4103

    .text
_start:
    xor %ebx, %ebx
    mov %rsp, %r14
again:
    lea area+4096(%rip), %r13
    imul $4103, %rbx, %rax
    add %rax, %r13

    /* up, with what lies between */
    mov (%r13), %rax
    mov %rax, 8(%r13)
    mov 20(%r13), %ecx
    mov %cl, 30(%r13)
    mov 26(%r13), %rdx
    mov %rdx, 55(%r13)

    /* down; the first one is inside of the second */
    mov 300(%r13), %ax
    mov %rax, 296(%r13)
    mov 290(%r13), %cx
    mov %cl, 280(%r13)
    mov 270(%r13), %rax

    /* both ways */
    mov 624(%r13), %al
    mov %al, 634(%r13)
    mov %al, 616(%r13)
    mov 600(%r13), %rax

    /* the register is written in between, once in a run's middle and once by its own reference */
    mov 908(%r13), %rax
    lea 24(%r13), %r13
    mov 908(%r13), %rax
    mov %rax, 916(%r13)
    lea 900(%r13), %rdi
    mov %rdi, 960(%r13)
    mov 960(%r13), %rdi
    mov (%rdi), %rdi
    mov 8(%r13), %rdi
    lea -24(%r13), %r13

    /* with an index */
    mov 1200(%r13,%rbx,4), %eax
    mov %eax, 1216(%r13,%rbx,4)
    mov 1232(%r13,%rbx,4), %ecx
    mov %ecx, 1232(%r13,%rbx,2)

    /* the stack, which is anywhere */
    lea 2600(%r13), %rsp
    push %rax
    push %rbx
    push 8(%rsp)
    pushw $3
    push $1
    pushf
    popf
    mov %rax, 16(%rsp)
    call function
    pop 8(%rsp)
    pop %rcx
    mov (%rsp), %rax
    enter $32, $0
    push %rcx
    mov 8(%rsp), %rax
    leave
    push 2800(%r13)
    pop 2816(%r13)
    popw %ax

    /* what nobody has pushed */
    lea 2200(%r13), %rsp
    pop %rax
    pop %rcx
    mov %rax, 6(%rsp)
    popw %cx
    lea 2000(%r13), %rsp
    pop 20(%rsp)
    mov 27(%rsp), %rax
    mov %rax, 34(%rsp)
    pop %rcx

    /* string instructions move their registers, forwards and backwards */
    lea 1800(%r13), %rsi
    std
    lodsq
    mov (%rsi), %rcx
    mov %rcx, 16(%rsi)
    lodsq
    lea 1700(%r13), %rdi
    scasq
    mov %rcx, (%rdi)
    mov (%rdi), %rax
    cld
    lea 3000(%r13), %rsi
    lea 3100(%r13), %rdi
    lodsq
    lodsl
    mov 8(%rsi), %rax
    std
    lodsq
    mov 8(%rsi), %rax
    mov %rax, 24(%rsi)
    stosq
    stosq
    mov %rax, 16(%rdi)
    cld
    movsq
    scasl

    /* left in the middle, one time in two */
    mov 3400(%r13), %rax
    mov %rax, 3408(%r13)
    test $1, %bl
    jnz left
    mov %rax, 3430(%r13)
    mov 3440(%r13), %rcx
    test $2, %bl
    jnz left
    mov %rcx, 3456(%r13)

    /* several places in turn, each to both sides, and what is in both of two */
    mov 3540(%r13), %rax
    mov 3700(%r13), %rcx
    mov %rax, 3550(%r13)
    mov %rcx, 3690(%r13)
    mov 3530(%r13), %al
    mov 3600(%r13), %ecx
    mov %al, 3590(%r13)
    mov 3717(%r13), %rax
    mov 3576(%r13), %rcx
    mov %rax, 3696(%r13)
    movups 3586(%r13), %xmm0
    mov 3536(%r13), %ecx

    /* one beyond both ends of another */
    mov 3844(%r13), %al
    movups %xmm0, 3838(%r13)
    mov 3860(%r13), %rax
    mov 3832(%r13), %rcx

    /* on behind branches, whichever way these go */
    mov 3900(%r13), %rax
    test $4, %bl
    jnz 1f
    mov %rax, 3910(%r13)
1:  mov 3905(%r13), %rcx
    test $2, %bl
    jnz left
    mov 3890(%r13), %rdx
    mov %rdx, 3920(%r13)
    test $8, %bl
    jnz left
    mov 3896(%r13), %al
    mov 3940(%r13), %al

    /* more places than are kept, and so far apart that small caches have them in one set */
    mov 100(%r13), %al
    mov 240(%r13), %al
    mov 400(%r13), %al
    mov 700(%r13), %al
    mov 1000(%r13), %al
    mov 1100(%r13), %al
    mov 1300(%r13), %al
    mov 1500(%r13), %al
    mov 1600(%r13), %al
    mov 110(%r13), %al
    mov 2400(%r13), %al
    mov 250(%r13), %rcx
    mov 4050(%r13), %rcx
    mov 96(%r13), %rcx
    mov 1310(%r13), %rcx
left:
    inc %ebx
    cmp $150, %ebx
    jb again

    mov %r14, %rsp
    mov $60, %eax
    xor %edi, %edi
    syscall

function:
    push %rbp
    push %rbx
    push %r12
    mov 16(%rsp), %rbp
    pop %r12
    pop %rbx
    pop %rbp
    ret
