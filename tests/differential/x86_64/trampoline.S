/*
 * @fileoverview Entering a block with every register set and leaving it with every register saved.
 *
 * sn_executor_enter loads sn_executor_start and jumps; the block jumps to the gate, which jumps to sn_executor_leave.
 * After a fault the handler has saved the state already and continues at sn_executor_recover. Absolute addresses are
 * used throughout because no register is free at either end: the program is linked without position independence.
 */
#define REGISTER(n) ((n) * 8)
#define FLAGS 128
#define START_ENTRY 136
#define START_FS 144
#define START_GS 152
#define START_SEGMENTS 160
#define FINISH_FS 136
#define FINISH_GS 144
#define FINISH_EXTENDED 192

#define SYS_ARCH_PRCTL 158
#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

        .text
        .globl sn_executor_enter
        .type sn_executor_enter, @function
sn_executor_enter:
        push %rbx
        push %rbp
        push %r12
        push %r13
        push %r14
        push %r15
        mov %rsp, host_stack
        cmpq $0, sn_executor_start+START_SEGMENTS
        je 1f
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_GET_FS, %edi
        mov $host_fs, %esi
        syscall
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_SET_FS, %edi
        mov sn_executor_start+START_FS, %rsi
        syscall
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_SET_GS, %edi
        mov sn_executor_start+START_GS, %rsi
        syscall
1:      mov sn_executor_components, %eax
        xor %edx, %edx
        xrstor64 sn_executor_image
        pushq sn_executor_start+FLAGS
        popfq
        mov sn_executor_start+REGISTER(0), %rax
        mov sn_executor_start+REGISTER(1), %rcx
        mov sn_executor_start+REGISTER(2), %rdx
        mov sn_executor_start+REGISTER(3), %rbx
        mov sn_executor_start+REGISTER(4), %rsp
        mov sn_executor_start+REGISTER(5), %rbp
        mov sn_executor_start+REGISTER(6), %rsi
        mov sn_executor_start+REGISTER(7), %rdi
        mov sn_executor_start+REGISTER(8), %r8
        mov sn_executor_start+REGISTER(9), %r9
        mov sn_executor_start+REGISTER(10), %r10
        mov sn_executor_start+REGISTER(11), %r11
        mov sn_executor_start+REGISTER(12), %r12
        mov sn_executor_start+REGISTER(13), %r13
        mov sn_executor_start+REGISTER(14), %r14
        mov sn_executor_start+REGISTER(15), %r15
        jmp *sn_executor_start+START_ENTRY
        .size sn_executor_enter, .-sn_executor_enter

        .globl sn_executor_leave
        .type sn_executor_leave, @function
sn_executor_leave:
        mov %rsp, sn_executor_finish+REGISTER(4)
        mov host_stack, %rsp
        pushfq
        popq sn_executor_finish+FLAGS
        mov %rax, sn_executor_finish+REGISTER(0)
        mov %rcx, sn_executor_finish+REGISTER(1)
        mov %rdx, sn_executor_finish+REGISTER(2)
        mov %rbx, sn_executor_finish+REGISTER(3)
        mov %rbp, sn_executor_finish+REGISTER(5)
        mov %rsi, sn_executor_finish+REGISTER(6)
        mov %rdi, sn_executor_finish+REGISTER(7)
        mov %r8, sn_executor_finish+REGISTER(8)
        mov %r9, sn_executor_finish+REGISTER(9)
        mov %r10, sn_executor_finish+REGISTER(10)
        mov %r11, sn_executor_finish+REGISTER(11)
        mov %r12, sn_executor_finish+REGISTER(12)
        mov %r13, sn_executor_finish+REGISTER(13)
        mov %r14, sn_executor_finish+REGISTER(14)
        mov %r15, sn_executor_finish+REGISTER(15)
        mov sn_executor_components, %eax
        xor %edx, %edx
        xsave64 sn_executor_finish+FINISH_EXTENDED
        /* Fall through. */

        .globl sn_executor_recover
sn_executor_recover:
        mov host_stack, %rsp
        mov sn_executor_components, %eax
        xor %edx, %edx
        xrstor64 sn_executor_clean_image
        cmpq $0, sn_executor_start+START_SEGMENTS
        je 1f
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_GET_FS, %edi
        mov $sn_executor_finish+FINISH_FS, %esi
        syscall
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_GET_GS, %edi
        mov $sn_executor_finish+FINISH_GS, %esi
        syscall
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_SET_FS, %edi
        mov host_fs, %rsi
        syscall
        mov $SYS_ARCH_PRCTL, %eax
        mov $ARCH_SET_GS, %edi
        xor %esi, %esi
        syscall
1:      pushq $2
        popfq
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbp
        pop %rbx
        ret
        .size sn_executor_leave, .-sn_executor_leave

        .bss
        .balign 8
host_stack:
        .skip 8
host_fs:
        .skip 8
        .section .note.GNU-stack,"",@progbits
