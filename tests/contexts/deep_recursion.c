// A million calls deep, and a jump out of all of them.
// stack: unlimited
// expect: depth 1000003
// expect: leaf main
#include <setjmp.h>
#include "mark.h"
static jmp_buf place;
APART void leaf(void) { mark(); NOT_LAST; }
APART void down(int n) {
    if (n) down(n - 1);
    else {
        leaf();
        longjmp(place, 1);
    }
    NOT_LAST;
}
int main(void) {
    if (!setjmp(place)) down(1000000);
    leaf();
    return 0;
}
