// makecontext and swapcontext: each side keeps its own chain; a third one is begun by the second.
// expect: leaf main
// expect: leaf inner first
// expect: leaf goes_on main
// expect: leaf second
// expect: leaf inner first
// expect: leaf main
#include <stdlib.h>
#include <ucontext.h>
#include "mark.h"
static ucontext_t home, one, two;
APART void leaf(void) { mark(); NOT_LAST; }
APART void inner(void) { leaf(); swapcontext(&one, &home); swapcontext(&one, &two); leaf(); NOT_LAST; }
APART void first(void) { inner(); NOT_LAST; }
APART void second(void) { leaf(); swapcontext(&two, &one); NOT_LAST; }
APART void goes_on(void) { leaf(); NOT_LAST; swapcontext(&home, &one); NOT_LAST; }
static void make(ucontext_t *context, void (*function)(void)) {
    getcontext(context);
    context->uc_stack.ss_sp = malloc(65536);
    context->uc_stack.ss_size = 65536;
    context->uc_link = &home;
    makecontext(context, function, 0);
}
int main(void) {
    make(&one, first);
    make(&two, second);
    leaf();
    swapcontext(&home, &one);
    goes_on();
    leaf();
    return 0;
}
