/** mark(): here the tool of the tests prints the calling context. A system call without a function of its own. */
#include <sys/syscall.h>

static inline __attribute__((always_inline)) void mark(void) {
    long result = SYS_getppid;
    __asm__ volatile("syscall" : "+a"(result) : "D"(0) : "rcx", "r11", "memory");
}

#define APART __attribute__((noinline, noclone))
/** Behind a call, so that it is no tail call. */
#define NOT_LAST __asm__ volatile("" ::: "memory")
