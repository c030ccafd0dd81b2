// Coroutines by a few instructions of one's own, a thousand of them, each resumed in the middle of its calls.
// expect: leaf outer coroutine
// expect: leaf main
// expect: leaf outer coroutine
// expect: leaf main
#include <stdlib.h>
#include "mark.h"
#define MANY 1000
void switch_stack(void **save, void *load);
__asm__(".text\n.globl switch_stack\n.type switch_stack, @function\nswitch_stack:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.size switch_stack, . - switch_stack\n");
static void *home, *others[MANY];
static int current;
APART void leaf(void) { mark(); NOT_LAST; }
APART void outer(void) {
    for (;;) {
        if (current == 500) leaf();
        switch_stack(&others[current], home);
    }
}
APART void coroutine(void) { outer(); NOT_LAST; }
int main(void) {
    for (int i = 0; i < MANY; i++) {
        void **stack = (void **)((char *)malloc(8192) + 8192 - 64);
        stack[7] = 0;
        stack[6] = (void *)coroutine;
        others[i] = stack;
    }
    for (int round = 0; round < 2; round++) {
        for (current = 0; current < MANY; current++) switch_stack(&home, others[current]);
        leaf();
    }
    return 0;
}
