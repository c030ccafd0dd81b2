// build: gcc -O1
// variants: dynamic, static, static-pie, no-pie
/* Indirect functions (resolved by relocation before main), weak symbols, function pointers compared across objects. */
#include "check.h"
static int fast(int x) { return x + 1; }
static int (*choose(void))(int) { return fast; }
int chosen(int) __attribute__((ifunc("choose")));
extern int absent(void) __attribute__((weak));
int (*volatile pointer)(int) = chosen;
int main(void) {
    CHECK_EQUAL(chosen(41), 42, "ifunc");
    CHECK_EQUAL(pointer(1), 2, "ifunc through a pointer in data");
    CHECK(absent == NULL, "weak undefined function is NULL");
    char buffer[300];
    memset(buffer, 'x', 299);
    buffer[299] = 0;
    CHECK_EQUAL(strlen(buffer), 299, "string function chosen for this processor");
    return finish();
}
