// build: gcc -O1
/* Memory protection keys where there are any: wrpkru and rdpkru, a fault with SEGV_PKUERR; PKRU in a handler. */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>
static sigjmp_buf back;
static volatile int code;
static void note(int n, siginfo_t *i, void *c) { (void)n, (void)c; code = i->si_code; siglongjmp(back, 1); }
int main(void) {
    int key = pkey_alloc(0, 0);
    if (key < 0)
        skip("no protection keys");
    handle(SIGSEGV, note, 0);
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pkey_mprotect((void *)page, 4096, PROT_READ | PROT_WRITE, key) == 0, "pkey_mprotect");
    page[0] = 1;
    pkey_set(key, PKEY_DISABLE_WRITE);
    CHECK(page[0] == 1 && pkey_get(key) == PKEY_DISABLE_WRITE, "readable");
    if (!sigsetjmp(back, 1))
        page[0] = 2;
    CHECK_EQUAL(code, 4, "SEGV_PKUERR");
    pkey_set(key, 0);
    page[0] = 3;
    CHECK(page[0] == 3, "writable again");
    return finish();
}
