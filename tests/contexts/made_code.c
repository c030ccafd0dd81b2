// Code that the program writes itself: calls into it, out of it, and a tail call out of it.
// expect: leaf ? main
// expect: ~leaf ? main
// expect: leaf main
#include <string.h>
#include <sys/mman.h>
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
int main(void) {
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *function = (void *)leaf;
    /* sub $8, %rsp; movabs $leaf, %rax; call *%rax; add $8, %rsp; ret */
    memcpy(code, "\x48\x83\xec\x08\x48\xb8", 6);
    memcpy(code + 6, &function, 8);
    memcpy(code + 14, "\xff\xd0\x48\x83\xc4\x08\xc3", 7);
    /* movabs $leaf, %rax; jmp *%rax */
    memcpy(code + 64, "\x48\xb8", 2);
    memcpy(code + 66, &function, 8);
    memcpy(code + 74, "\xff\xe0", 2);
    ((void (*)(void))code)();
    ((void (*)(void))(code + 64))();
    leaf();
    return 0;
}
