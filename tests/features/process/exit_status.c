// build: gcc -O1
// runs: 0=0 1=1 42=42 127=127 255=255 256=0 quick=9 underscore=8 abort=-6 return=3 closed=4 handlers=5
/* Exit statuses by every way out: exit, _exit, quick_exit, return, abort; order of handlers; standard output closed first. */
#include "check.h"
static void one(void) { say("handler one"); }
static void two(void) { say("handler two registers three"); }
static void three(void) { say("handler three"); }
static void registers(void) { two(); atexit(three); }
static void quick(void) { say("quick handler"); }
int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "return";
    atexit(one);
    printf("buffered text of %s\n", kind);
    if (!strcmp(kind, "quick")) {
        at_quick_exit(quick);
        quick_exit(9);
    }
    if (!strcmp(kind, "underscore"))
        _exit(8);
    if (!strcmp(kind, "abort")) {
        no_core();
        abort();
    }
    if (!strcmp(kind, "return"))
        return 3;
    if (!strcmp(kind, "closed")) {
        fclose(stdout);
        close(1);
        close(0);
        close(2);
        exit(4);
    }
    if (!strcmp(kind, "handlers")) {
        atexit(registers);
        exit(5);
    }
    exit(atoi(kind));
}
