// build: gcc -O1 -mrtm
/* Transactional memory, where the processor has it: xbegin may always abort; xtest is false outside; the fall-back path
   counts exactly. */
#include "check.h"
#include <cpuid.h>
#include <immintrin.h>
int main(void) {
    unsigned a, b, c, d;
    __cpuid_count(7, 0, a, b, c, d);
    if (!(b >> 11 & 1))
        skip("no RTM");
    volatile long counter = 0;
    CHECK(_xtest() == 0, "xtest outside");
    for (int i = 0; i < 1000; i++)
        if (_xbegin() == _XBEGIN_STARTED) {
            counter++;
            _xend();
        } else
            counter++;
    CHECK_EQUAL(counter, 1000, "counted by transactions or fall-back");
    return finish();
}
