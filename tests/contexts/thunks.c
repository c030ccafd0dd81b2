// Calls and jumps by pushing an address and returning to it, as the compiler's retpolines do.
// build: -mindirect-branch=thunk -fcf-protection=none
// expect: ~leaf __x86_indirect_thunk_rdi through main
// expect: ~leaf ~__x86_indirect_thunk_rdi jumps main
// expect: ~leaf pushes main
// expect: leaf main
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
APART void through(void (*f)(void)) { f(); NOT_LAST; }
APART void jumps(void (*f)(void)) { f(); }
void pushes(void (*f)(void));
__asm__(".text\n.globl pushes\n.type pushes, @function\npushes:\npush %rdi\nret\n.size pushes, . - pushes\n");
int main(void) {
    through(leaf);
    jumps(leaf);
    pushes(leaf);
    leaf();
    return 0;
}
