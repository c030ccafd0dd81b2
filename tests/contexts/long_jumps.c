// longjmp out of many frames, to a function that calls others afterwards; and again, in a loop.
// expect: leaf catcher main
// expect: leaf catcher main
// expect: leaf catcher main
// expect: leaf main
#include <setjmp.h>
#include "mark.h"
static jmp_buf place;
APART void leaf(void) { mark(); NOT_LAST; }
APART void thrower(int n) { if (n) thrower(n - 1); else longjmp(place, 1); NOT_LAST; }
APART void catcher(void) {
    if (!setjmp(place)) thrower(50);
    leaf();
    NOT_LAST;
}
int main(void) {
    for (int i = 0; i < 3; i++) catcher();
    leaf();
    return 0;
}
