// Ordinary calls, recursion, calls through pointers.
// expect: leaf middle main
// expect: leaf main
// expect: down down down main
// expect: leaf through main
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
APART void middle(void) { leaf(); NOT_LAST; }
APART void down(int n) { if (n) down(n - 1); else mark(); NOT_LAST; }
APART void through(void (*f)(void)) { f(); NOT_LAST; }
int main(void) {
    middle();
    leaf();
    down(2);
    through(leaf);
    return 0;
}
