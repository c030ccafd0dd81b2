// build: gcc -O1
/* The same address with other code: munmap and mmap again, MAP_FIXED over it, mremap there, a file mapped over it, a
   private file page rewritten, madvise(MADV_DONTNEED), and read(2) from a file straight into an executable page. */
#include "emit.h"
#include <setjmp.h>
static sigjmp_buf back;
static void leave(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; siglongjmp(back, 1); }
int main(void) {
    handle(SIGSEGV, leave, 0);
    int bad = 0;
    unsigned char *at = pages(4096, RW);
    munmap(at, 4096);
    for (int i = 0; i < 500; i++) {
        unsigned char *again = mmap(at, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        emit_return(again, i);
        mprotect(again, 4096, RX);
        bad += again != at || run(at) != i;
        munmap(at, 4096);
    }
    CHECK(!bad, "munmap and mmap at the same place 500 times");
    volatile int faulted = 0;
    if (sigsetjmp(back, 1))
        faulted = 1;
    else
        run(at);
    CHECK(faulted, "unmapped code no longer runs");
    for (int i = 0; i < 500; i++) {
        mmap(at, 4096, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        emit_return(at, -i);
        bad += run(at) != -i;
    }
    CHECK(!bad, "mapped over without unmapping");
    char name[] = "/tmp/featureXXXXXX";
    int file = mkstemp(name);
    unlink(name);
    unsigned char image[4 * 4096];
    memset(image, 0x90, sizeof image);
    for (int i = 0; i < 4; i++)
        emit_return(image + i * 4096, 100 + i);
    if (write(file, image, sizeof image) != sizeof image)
        return 2;
    for (int i = 0; i < 100; i++) {
        mmap(at, 4096, RX, MAP_PRIVATE | MAP_FIXED, file, i % 4 * 4096);
        bad += run(at) != 100 + i % 4;
    }
    CHECK(!bad, "pages of a file mapped over each other");
    mmap(at, 4096, RWX, MAP_PRIVATE | MAP_FIXED, file, 0);
    patch_return(at, 55);
    bad += run(at) != 55;
    madvise(at, 4096, MADV_DONTNEED);
    bad += run(at) != 100;
    CHECK(!bad, "madvise(MADV_DONTNEED) brings the file's code back");
    for (int i = 0; i < 300; i++) {
        lseek(file, i % 4 * 4096, SEEK_SET);
        bad += read(file, at, 6) != 6 || run(at) != 100 + i % 4;
    }
    CHECK(!bad, "code read from a file into an executable page");
    for (int i = 0; i < 100; i++) {
        lseek(file, i % 4 * 4096, SEEK_SET);
        bad += syscall(SYS_pread64, file, at + 2000, 6, (long)(i % 4 * 4096)) != 6 || run(at + 2000) != 100 + i % 4;
    }
    CHECK(!bad, "and by pread");
    for (int i = 0; i < 200; i++) {
        unsigned char *from = pages(4096, RWX);
        emit_return(from, i);
        bad += run(from) != i;
        unsigned char *moved = mremap(from, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, at);
        bad += moved != at || run(at) != i;
    }
    CHECK(!bad, "mremap of code onto other code");
    faulted = 0;
    unsigned char *from = pages(8192, RWX);
    emit_return(from, 1);
    emit_return(from + 4096, 2);
    bad += run(from) != 1 || run(from + 4096) != 2;
    mprotect(from, 4096, RW);
    if (sigsetjmp(back, 1))
        faulted = 1;
    else
        run(from);
    CHECK(faulted && run(from + 4096) == 2, "execute permission taken from one page of two");
    mprotect(from, 4096, RX);
    CHECK_EQUAL(run(from), 1, "and given back");
    mprotect(from, 8192, RWX); /* one mapping again: mremap takes no two */
    unsigned char *grown = mremap(from, 8192, 1 << 20, MREMAP_MAYMOVE);
    CHECK(grown != MAP_FAILED && run(grown) == 1 && run(grown + 4096) == 2, "a grown mapping of code");
    return finish();
}
