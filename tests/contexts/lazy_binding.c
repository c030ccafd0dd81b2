// The first call through a stub ends in the function, not in the linker; so do tail calls through stubs.
// build: -Wl,-z,lazy
// library: lazy_library.c
// expect: back given main
// expect: back given main
// expect: back ~given jumps main
// expect: back ~given_too jumps_too main
// expect: back ~given_too jumps_too main
#include "mark.h"
void given(void (*f)(void));
void given_too(void (*f)(void));
APART void back(void) { mark(); NOT_LAST; }
APART void jumps(void) { given(back); }
APART void jumps_too(void) { given_too(back); }
int main(void) {
    given(back);
    given(back);
    jumps();
    jumps_too();
    jumps_too();
    return 0;
}
