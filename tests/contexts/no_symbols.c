// Without symbols functions are known by being called.
// build: -s
// cut: none
// expect: frames 3
// expect: frames 2
// expect: frames 4
// expect: frames 2
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
APART void middle(void) { leaf(); NOT_LAST; }
APART void through(void (*f)(void)) { f(); NOT_LAST; }
int main(void) {
    middle();
    leaf();
    through(middle);
    leaf();
    return 0;
}
