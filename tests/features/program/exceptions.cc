// heavy: yes
// build: g++ -O1 -pthread
// variants: dynamic, static, clang++, no-pie
/* C++ exceptions: through many frames, rethrown, in threads, from a signal-free destructor chain, across a callback. */
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static int destroyed;
struct guard { ~guard() { destroyed++; } };
__attribute__((noinline)) static int deep(int n) {
    guard g;
    if (n == 0)
        throw std::runtime_error("bottom");
    return deep(n - 1) + 1;
}
static int wrong;
static void check(bool holds, const char *text) {
    std::printf("%s %s\n", holds ? "ok" : "WRONG", text);
    wrong |= !holds;
}
int main() {
    try { deep(1000); } catch (const std::exception &e) { check(std::string(e.what()) == "bottom", "caught by base class"); }
    check(destroyed == 1001, "1001 destructors ran");
    int loops = 0;
    for (int i = 0; i < 2000; i++)
        try {
            if (i & 1) throw i; else throw std::string("x");
        } catch (int v) { loops += v == i; } catch (const std::string &) { loops++; }
    check(loops == 2000, "2000 throws in a loop");
    bool outer = false;
    try { try { throw 1; } catch (...) { throw; } } catch (int) { outer = true; }
    check(outer, "rethrow");
    std::vector<std::thread> threads;
    std::vector<int> caught(4);
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&caught, t] { for (int i = 0; i < 200; i++) try { deep(10); } catch (std::runtime_error &) { caught[t]++; } });
    for (auto &t : threads) t.join();
    check(caught == std::vector<int>(4, 200), "exceptions in four threads");
    std::vector<int> v{3, 1, 2};
    bool thrown = false;
    try { std::sort(v.begin(), v.end(), [](int a, int b) { if (a == 2 || b == 2) throw 5; return a < b; }); } catch (int) { thrown = true; }
    check(thrown, "exception through a library callback");
    return wrong;
}
