// heavy: yes
// build: gcc -O1
// libraries: dlopen_body.c:VALUE=1, dlopen_body.c:VALUE=2
// link: -ldl
/* Two libraries of the same layout loaded in turn (natively at the same address, most likely; remap.c has code of two files
   at one address for certain): stale code would give the other's value. Also a library overwritten in place by its successor's file (rename) between loads. */
#include "check.h"
#include <dlfcn.h>
int main(int argc, char **argv) {
    (void)argc;
    int bad = 0;
    for (int i = 0; i < 200; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d.so", argv[0], i % 2 + 1);
        void *library = dlopen(path, RTLD_NOW);
        if (!library) {
            CHECK(0, "%s", dlerror());
            break;
        }
        int (*value)(void) = (int (*)(void))dlsym(library, "value");
        int (*sum)(int) = (int (*)(int))dlsym(library, "sum");
        bad += value() != i % 2 + 1 || sum(10) != 55 * (i % 2 + 1);
        dlclose(library);
    }
    CHECK(!bad, "200 loads of two libraries in turn");
    return finish();
}
