// build: gcc -O1 -pthread
/* Code in a shared memfd mapped twice, written through one address and run at the other (as V8 and LuaJIT-like engines
   may): after a system call and an indirect call the new code is seen. Also mapped shared by a parent and its child. */
#include "emit.h"
int main(void) {
    int file = memfd_create("code", 0);
    if (ftruncate(file, 8192))
        return 2;
    unsigned char *writable = mmap(NULL, 8192, RW, MAP_SHARED, file, 0), *runnable = mmap(NULL, 8192, RX, MAP_SHARED, file, 0);
    int bad = 0;
    for (int i = 0; i < 3000; i++) {
        emit_return(writable + i % 1000, i);
        bad += run(runnable + i % 1000) != i;
    }
    CHECK(!bad, "3000 functions written through the other mapping");
    for (int i = 0; i < 3000; i++) {
        patch_return(writable, i);
        emit_return(writable, i);
        bad += run(runnable) != i;
    }
    CHECK(!bad, "one function rewritten 3000 times through the other mapping");
    int ends[2];
    if (pipe(ends))
        return 2;
    emit_return(writable + 4096, 5);
    CHECK_EQUAL(run(runnable + 4096), 5, "before the child writes");
    pid_t child = fork();
    if (child == 0) {
        emit_return(writable + 4096, 6);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQUAL(run(runnable + 4096), 6, "written by another process");
    if (pwrite(file, "\xb8\x07\0\0\0\xc3", 6, 4096) != 6)
        return 2;
    CHECK_EQUAL(run(runnable + 4096), 7, "written by pwrite to the file");
    return finish();
}
