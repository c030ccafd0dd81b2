// A vfork child goes on in its parent's functions and leaves them alone.
// expect: leaf child_of main
// expect: leaf child_of main
// expect: leaf main
#include <sys/wait.h>
#include <unistd.h>
#include "mark.h"
APART void leaf(void) { mark(); NOT_LAST; }
APART void child_of(void) {
    int status;
    if (vfork() == 0) {
        for (int i = 0; i < 3; i++) getpid();
        leaf();
        _exit(0);
    }
    wait(&status);
    leaf();
    NOT_LAST;
}
int main(void) {
    child_of();
    leaf();
    return 0;
}
