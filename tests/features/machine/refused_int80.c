// build: gcc -O1
// native: yes
/* int $0x80: natively the 32-bit system call (if the kernel has it); Sonde refuses it with one clear line. Tested by
   test_bad_input.py, which looks at that line. */
#include "check.h"
int main(void) {
    say("before");
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid of the 32-bit table */) : "memory");
    say("after, %s", result == getpid() ? "the process id" : "something else");
    return 0;
}
