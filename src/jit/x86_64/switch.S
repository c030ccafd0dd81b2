/**
 * @fileoverview Crossing between client code in the code cache and the engine.
 *
 * The part between sn_runtime_start and sn_runtime_end is copied to the start of the code cache (jit/runtime.c), so
 * that blocks reach it with 32-bit displacements; it must not refer to anything outside itself except through the
 * per-thread segment. While it runs, and while blocks run, the second segment base is the thread's state and the
 * first is the client's; from SWAP_TO_ENGINE on the first is the engine's.
 *
 * guest/x86_64/host_signal.c knows the labels: a signal that interrupts the way in (sn_runtime_enter to
 * sn_runtime_enter_end) is taken by starting the way in anew, which is possible since all of the state that is being
 * loaded still lies in the thread's structure.
 */
#include <asm/unistd.h>
#include <asm/prctl.h>

#include "jit/thread_offsets.h"

/* As in layout.h, which is C. */
#define SN_TABLE_DISTANCE 0x7f000000

#define GENERAL(n) (SN_THREAD_GENERAL + 8 * (n))

        .text

/* %rbx: thread. Clobbers %rax, %rcx, %rdx, %rsi, %rdi, %r11. */
.macro SWAP_TO_ENGINE
        cmpq    $0, SN_THREAD_SEGMENT_INSTRUCTIONS(%rbx)
        je      771f
        rdfsbase %rax
        movq    %rax, SN_THREAD_CLIENT_BASE(%rbx)
        movq    SN_THREAD_ENGINE_BASE(%rbx), %rax
        wrfsbase %rax
        jmp     772f
771:    movl    $ARCH_GET_FS, %edi
        leaq    SN_THREAD_CLIENT_BASE(%rbx), %rsi
        movl    $__NR_arch_prctl, %eax
        syscall
        movl    $ARCH_SET_FS, %edi
        movq    SN_THREAD_ENGINE_BASE(%rbx), %rsi
        movl    $__NR_arch_prctl, %eax
        syscall
772:
.endm

.macro LOAD_BASE field
        cmpq    $0, SN_THREAD_SEGMENT_INSTRUCTIONS(%rbx)
        je      771f
        movq    \field(%rbx), %rax
        wrfsbase %rax
        jmp     772f
771:    movl    $ARCH_SET_FS, %edi
        movq    \field(%rbx), %rsi
        movl    $__NR_arch_prctl, %eax
        syscall
772:
.endm

        .balign 64
        .globl  sn_runtime_start
        .hidden sn_runtime_start
sn_runtime_start:

/* The same as below, of version 1 of the code, whose targets have the distance of its table added. */
        .globl  sn_runtime_miss_second
        .hidden sn_runtime_miss_second
sn_runtime_miss_second:
        leaq    -SN_TABLE_DISTANCE(%rcx), %rcx

/* An indirect branch whose table entry says "no block here": %rcx is the target, the client's %rcx is spilled. */
        .globl  sn_runtime_miss
        .hidden sn_runtime_miss
sn_runtime_miss:
        movq    %rcx, %gs:SN_THREAD_PC
        movq    %gs:SN_THREAD_BRANCH_SPILL, %rcx
        movl    $SN_EXIT_INDIRECT, %gs:SN_THREAD_EXIT
        jmp     sn_runtime_exit

/*
 * The general way of an indirect branch, for sites that were seen to leave the low window: a hash table of
 * 65536 words, one for each version of the code, indexed by bits 0 to 15 of the client address (cache.c). A word is read at once, since other threads
 * write them at any time: its lower half is the cache address, its upper half, bytes reversed, minus bits 16 to 47 of the
 * client address. Compares without touching the flags. A word that is zero looks like a block at 0 of a page that no
 * program has; the signal handler then goes to sn_runtime_lookup_missed.
 */
        .balign 16
        .globl  sn_runtime_lookup
        .hidden sn_runtime_lookup
sn_runtime_lookup:
        movq    %rax, %gs:SN_THREAD_SPILL
        movq    %rdx, %gs:(SN_THREAD_SPILL + 8)
        movq    %rcx, %gs:SN_THREAD_PC
        movzwl  %cx, %eax
        movq    %gs:SN_THREAD_GENERAL_TABLE, %rdx
        movq    (%rdx,%rax,8), %rdx
        movl    %gs:(SN_THREAD_PC + 2), %eax    /* bits 16 to 47 */
        bswapq  %rdx
        leal    (%rdx,%rax), %ecx
        movzwl  %gs:(SN_THREAD_PC + 6), %eax    /* bits 48 to 63: no block has any of them */
        leaq    (%rcx,%rax), %rcx
        jrcxz   1f
        .globl  sn_runtime_lookup_missed
        .hidden sn_runtime_lookup_missed
sn_runtime_lookup_missed:
        movq    %gs:SN_THREAD_SPILL, %rax
        movq    %gs:(SN_THREAD_SPILL + 8), %rdx
        movq    %gs:SN_THREAD_BRANCH_SPILL, %rcx
        movl    $SN_EXIT_FAR, %gs:SN_THREAD_EXIT
        jmp     sn_runtime_exit
1:      bswapq  %rdx
        movl    %edx, %ecx
        movq    %gs:SN_THREAD_SPILL, %rax
        movq    %gs:(SN_THREAD_SPILL + 8), %rdx
        jmp     *%rcx                            /* the block's indirect entry reloads %rcx */
        .globl  sn_runtime_lookup_end
        .hidden sn_runtime_lookup_end
sn_runtime_lookup_end:

/* Continue at thread->pc, the client's registers being in place. */
        .globl  sn_runtime_resume
        .hidden sn_runtime_resume
sn_runtime_resume:
        movl    $SN_EXIT_RESUME, %gs:SN_THREAD_EXIT
        jmp     sn_runtime_exit

        .globl  sn_runtime_syscall
        .hidden sn_runtime_syscall
sn_runtime_syscall:
        movl    $SN_EXIT_SYSCALL, %gs:SN_THREAD_EXIT
        jmp     sn_runtime_exit

        .globl  sn_runtime_bad_address
        .hidden sn_runtime_bad_address
sn_runtime_bad_address:
        movl    $SN_EXIT_BAD_ADDRESS, %gs:SN_THREAD_EXIT
        /* fall through */

/* All ways out end here, with the client's registers in place and the reason in the thread's exit field. */
        .globl  sn_runtime_exit
        .hidden sn_runtime_exit
sn_runtime_exit:
        movq    %rax, %gs:GENERAL(0)
        movq    %rcx, %gs:GENERAL(1)
        movq    %rdx, %gs:GENERAL(2)
        movq    %rbx, %gs:GENERAL(3)
        movq    %rsp, %gs:GENERAL(4)
        movq    %rbp, %gs:GENERAL(5)
        movq    %rsi, %gs:GENERAL(6)
        movq    %rdi, %gs:GENERAL(7)
        movq    %r8, %gs:GENERAL(8)
        movq    %r9, %gs:GENERAL(9)
        movq    %r10, %gs:GENERAL(10)
        movq    %r11, %gs:GENERAL(11)
        movq    %r12, %gs:GENERAL(12)
        movq    %r13, %gs:GENERAL(13)
        movq    %r14, %gs:GENERAL(14)
        movq    %r15, %gs:GENERAL(15)
        movq    %gs:SN_THREAD_ENGINE_STACK, %rsp
        pushfq
        popq    %gs:SN_THREAD_FLAGS
/* The signal handler enters here when it has stored the general registers itself; %rsp is the engine's stack. */
        .globl  sn_runtime_exit_saved
        .hidden sn_runtime_exit_saved
sn_runtime_exit_saved:
        pushq   $0x202
        popfq
        movq    %gs:SN_THREAD_SELF, %rbx
        SWAP_TO_ENGINE
        movq    SN_THREAD_SAVE_AREA(%rbx), %rdi
        movl    SN_THREAD_SAVE_MASK(%rbx), %eax
        xorl    %edx, %edx
        xsavec64 (%rdi)
        testb   $1, 512(%rdi)   /* XSTATE_BV: else the x87 is as fninit would leave it, which takes as long as the rest */
        jz      4f
        fninit
4:      ldmxcsr 2f(%rip)
        vzeroupper
        movq    %rbx, %rdi
        call    *SN_THREAD_DISPATCH(%rbx)

        .globl  sn_runtime_enter
        .hidden sn_runtime_enter
sn_runtime_enter:
        cmpl    $0, SN_THREAD_RECHECK(%rbx)
        jne     3f
        movq    SN_THREAD_LOAD_AREA(%rbx), %rdi
        movl    SN_THREAD_LOAD_MASK(%rbx), %eax
        movl    (SN_THREAD_LOAD_MASK + 4)(%rbx), %edx
        xrstor64 (%rdi)
        LOAD_BASE SN_THREAD_CLIENT_BASE
        pushq   SN_THREAD_FLAGS(%rbx)
        popfq
        movq    %gs:GENERAL(0), %rax
        movq    %gs:GENERAL(1), %rcx
        movq    %gs:GENERAL(2), %rdx
        movq    %gs:GENERAL(3), %rbx
        movq    %gs:GENERAL(5), %rbp
        movq    %gs:GENERAL(6), %rsi
        movq    %gs:GENERAL(7), %rdi
        movq    %gs:GENERAL(8), %r8
        movq    %gs:GENERAL(9), %r9
        movq    %gs:GENERAL(10), %r10
        movq    %gs:GENERAL(11), %r11
        movq    %gs:GENERAL(12), %r12
        movq    %gs:GENERAL(13), %r13
        movq    %gs:GENERAL(14), %r14
        movq    %gs:GENERAL(15), %r15
        movq    %gs:GENERAL(4), %rsp
        jmp     *%gs:SN_THREAD_RESUME
        .globl  sn_runtime_enter_end
        .hidden sn_runtime_enter_end
sn_runtime_enter_end:

/* A signal came on the way in. */
        .globl  sn_runtime_restart
        .hidden sn_runtime_restart
sn_runtime_restart:
        movq    %gs:SN_THREAD_SELF, %rbx
        movq    %gs:SN_THREAD_ENGINE_STACK, %rsp
        pushq   $0x202
        popfq
        LOAD_BASE SN_THREAD_ENGINE_BASE
        fninit
        ldmxcsr 2f(%rip)
        vzeroupper
3:      movq    %rbx, %rdi
        call    *SN_THREAD_REENTER(%rbx)
        jmp     sn_runtime_enter

        .balign 4
2:      .long   0x1f80

/* Entered with the client's whole state in place in order to have the kernel make a complete signal frame of it. */
        .balign 4
        .globl  sn_runtime_deliver
        .hidden sn_runtime_deliver
sn_runtime_deliver:
        ud2
/* Where a fast call returns to when a signal came meanwhile: the signal handler goes on from there. */
        .balign 4
        .globl  sn_runtime_called
        .hidden sn_runtime_called
sn_runtime_called:
        ud2
        .globl  sn_runtime_end
        .hidden sn_runtime_end
sn_runtime_end:

/*
 * The host's signal handler: runs with whatever thread pointer was in force; C code gets the engine's.
 * void handler(int number, siginfo_t *info, void *context)
 */
        .globl  sn_signal_entry
        .hidden sn_signal_entry
        .type   sn_signal_entry, @function
sn_signal_entry:
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        movq    %rdi, %r8
        movq    %rsi, %r9
        movq    %rdx, %r10
        movq    %gs:SN_THREAD_SELF, %rbx
        cmpq    $0, SN_THREAD_SEGMENT_INSTRUCTIONS(%rbx)
        je      1f
        rdfsbase %r12
        movq    SN_THREAD_ENGINE_BASE(%rbx), %rax
        wrfsbase %rax
        jmp     2f
1:      pushq   $0
        movl    $ARCH_GET_FS, %edi
        movq    %rsp, %rsi
        movl    $__NR_arch_prctl, %eax
        syscall
        popq    %r12
        movl    $ARCH_SET_FS, %edi
        movq    SN_THREAD_ENGINE_BASE(%rbx), %rsi
        movl    $__NR_arch_prctl, %eax
        syscall
2:      movq    %r8, %rdi
        movq    %r9, %rsi
        movq    %r10, %rdx
        movq    %rbx, %rcx
        cld
        call    sn_host_signal
        cmpq    $0, SN_THREAD_SEGMENT_INSTRUCTIONS(%rbx)
        je      3f
        wrfsbase %r12
        jmp     4f
3:      movl    $ARCH_SET_FS, %edi
        movq    %r12, %rsi
        movl    $__NR_arch_prctl, %eax
        syscall
4:      popq    %r13
        popq    %r12
        popq    %rbx
        ret
        .size   sn_signal_entry, .-sn_signal_entry

        .globl  sn_signal_restorer
        .hidden sn_signal_restorer
        .type   sn_signal_restorer, @function
sn_signal_restorer:
        movl    $__NR_rt_sigreturn, %eax
        syscall
        .size   sn_signal_restorer, .-sn_signal_restorer

/* _Noreturn void sn_thread_enter(sn_thread *): the first entry into client code, on the thread's engine stack. */
        .globl  sn_thread_enter
        .hidden sn_thread_enter
        .type   sn_thread_enter, @function
sn_thread_enter:
        movq    %rdi, %rbx
        movq    SN_THREAD_ENGINE_STACK(%rbx), %rsp
        movq    %rbx, %rdi
        call    *SN_THREAD_DISPATCH(%rbx)
        jmp     *sn_runtime_enter_address(%rip)
        .size   sn_thread_enter, .-sn_thread_enter

/*
 * long sn_clone(long number, const long arguments[6], sn_thread *child): clone or clone3; the child, if it has its own
 * engine thread (child != NULL), begins in sn_thread_begin(child) on the stack that the arguments name.
 */
        .globl  sn_clone
        .hidden sn_clone
        .type   sn_clone, @function
sn_clone:
        pushq   %r12
        movq    %rdi, %rax
        movq    %rsi, %r11
        movq    %rdx, %r12
        movq    0(%r11), %rdi
        movq    8(%r11), %rsi
        movq    16(%r11), %rdx
        movq    24(%r11), %r10
        movq    32(%r11), %r8
        syscall
        testq   %rax, %rax
        jne     1f
        testq   %r12, %r12
        je      1f
        xorl    %ebp, %ebp
        movq    %r12, %rdi
        andq    $-16, %rsp
        call    sn_thread_begin
        ud2
1:      popq    %r12
        ret
        .size   sn_clone, .-sn_clone

/*
 * long sn_blocking_syscall(sn_thread *, long number, const long arguments[6]): a system call on the client's behalf that
 * a signal must be able to end. Between the check and the call a signal makes it return SN_INTERRUPTED (-512): the
 * handler moves the program counter from [start, call] to the end.
 */
        .globl  sn_blocking_syscall
        .hidden sn_blocking_syscall
        .type   sn_blocking_syscall, @function
sn_blocking_syscall:
        movq    %rdi, %r9
        movq    %rsi, %rax
        movq    %rdx, %r11
        movq    0(%r11), %rdi
        movq    8(%r11), %rsi
        movq    16(%r11), %rdx
        movq    24(%r11), %r10
        movq    32(%r11), %r8
        movq    40(%r11), %r11
        .globl  sn_blocking_start
        .hidden sn_blocking_start
sn_blocking_start:
        cmpl    $0, SN_THREAD_RECHECK(%r9)
        jne     sn_blocking_interrupted
        movq    %r11, %r9
        .globl  sn_blocking_call
        .hidden sn_blocking_call
sn_blocking_call:
        syscall
        ret
        .globl  sn_blocking_interrupted
        .hidden sn_blocking_interrupted
sn_blocking_interrupted:
        movq    $-512, %rax
        ret
        .size   sn_blocking_syscall, .-sn_blocking_syscall

/*
 * bool sn_copy_safely(void *to, const void *from, size_t size): false if either side cannot be accessed. The handler
 * moves the program counter of a fault in [start, end) to the failure label. Works upwards whatever the direction flag is: it
 * is the client's where functions are called from the code cache.
 */
        .globl  sn_copy_safely
        .hidden sn_copy_safely
        .type   sn_copy_safely, @function
sn_copy_safely:
        xorl    %ecx, %ecx
        .globl  sn_copy_safely_start
        .hidden sn_copy_safely_start
sn_copy_safely_start:
        subq    $8, %rdx
        jb      2f
1:      movq    (%rsi,%rcx), %rax
        movq    %rax, (%rdi,%rcx)
        addq    $8, %rcx
        subq    $8, %rdx
        jae     1b
2:      addq    $8, %rdx
        jz      sn_copy_safely_end
3:      movb    (%rsi,%rcx), %al
        movb    %al, (%rdi,%rcx)
        incq    %rcx
        decq    %rdx
        jnz     3b
        .globl  sn_copy_safely_end
        .hidden sn_copy_safely_end
sn_copy_safely_end:
        movl    $1, %eax
        ret
        .globl  sn_copy_safely_failed
        .hidden sn_copy_safely_failed
sn_copy_safely_failed:
        xorl    %eax, %eax
        ret
        .size   sn_copy_safely, .-sn_copy_safely

        .section .note.GNU-stack,"",@progbits
