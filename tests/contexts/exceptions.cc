// Exceptions through many frames, with destructors on the way, and thrown again.
// expect: mark_here catcher main
// expect: mark_here Guard::~Guard() thrower thrower again main
// expect: mark_here again main
// expect: mark_here main
extern "C" {
#include "mark.h"
}
extern "C" APART void mark_here(void) { mark(); NOT_LAST; }
struct Guard { bool on; APART ~Guard() { if (on) { mark_here(); NOT_LAST; } } };
extern "C" APART void thrower(int n, bool guard) {
    if (n == 0) throw n;
    Guard here{guard && n == 1};
    thrower(n - 1, guard);
    NOT_LAST;
}
extern "C" APART void catcher() {
    try { thrower(30, false); } catch (int) { mark_here(); NOT_LAST; }
}
extern "C" APART void again() {
    try {
        try { thrower(2, true); } catch (int) { throw; }
    } catch (int) { mark_here(); NOT_LAST; }
}
int main() {
    catcher();
    again();
    mark_here();
    return 0;
}
