// Jumps into functions: they stand between their caller and what they go on to. A loop of them does not grow.
// expect: ~last ~second first main
// expect: ~last indirect main
// expect: ~last either main
// expect: ~even odd main
// expect: last main
#include "mark.h"
APART void last(void) { mark(); NOT_LAST; }
APART void second(void) { last(); }
APART void first(void) { second(); }
APART void indirect(void (*f)(void)) { f(); }
APART void either(int yes) { if (yes) last(); }
APART void odd(unsigned n);
APART void even(unsigned n) { if (n == 0) { mark(); NOT_LAST; } else odd(n - 1); }
APART void odd(unsigned n) { if (n == 0) { mark(); NOT_LAST; } else even(n - 1); }
int main(void) {
    first();
    indirect(last);
    either(1);
    odd(100001);
    last();
    return 0;
}
