// A function that returns to another place than where it was called from, and one that drops its caller.
// expect: leaf main
// expect: leaf main
// expect: leaf main
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
void elsewhere(void);
void drops(void);
void dropped(void);
__asm__(".text\n"
        ".globl elsewhere\n.type elsewhere, @function\nelsewhere:\nadd $2, (%rsp)\nret\n.size elsewhere, . - elsewhere\n"
        ".globl drops\n.type drops, @function\ndrops:\nadd $8, %rsp\nret\n.size drops, . - drops\n"
        ".globl dropped\n.type dropped, @function\ndropped:\ncall drops\nud2\n.size dropped, . - dropped\n");
int main(void) {
    __asm__ volatile("sub $128, %%rsp\ncall elsewhere\nud2\nadd $128, %%rsp" ::: "memory", "cc");
    leaf();
    dropped();
    leaf();
    leaf();
    return 0;
}
