/**
 * @fileoverview Moments at which all that was allocated and freed must be known, though a tool may be told late (--late=yes of
 * tests/tools/heap_events.c). For tests/test_heap_service.py: prints what is to be seen, in order.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sonde/client.h"

#define APART __attribute__((noinline, noclone, noipa))

/* What is printed must not be allocated, nor the end let anything be freed. */
static void say(const char *line) {
    if (write(1, line, strlen(line)) < 0) abort();
}

static void *volatile kept;
static void *volatile stash;

/** An allocator of the program's own, C++'s operator new, that gives something back inside. */
APART void *_Znwm(size_t size) {
    free(stash);
    return malloc(size);
}

APART static void step_realloc(void) {
    kept = malloc(1001);
    kept = realloc(kept, 1002);
    free(kept);
    say("A 1001 1016\nF 1001 1016\nA 1002 1016\nF 1002 1016\n");
}

APART static void step_inside(void) {
    stash = malloc(501); /* another class of sizes than what is made inside */
    kept = _Znwm(1102);
    free(kept);
    say("A 501 504\nF 501 504\nA 1102 1112\nF 1102 1112\n");
}

APART static void step_request(void) {
    static char memory[256];
    kept = malloc(1201);
    sn_client_request(0, SN_REQUEST_MALLOCLIKE_BLOCK, (uint64_t)memory, 200, 0, 0, 0);
    free(kept);
    sn_client_request(0, SN_REQUEST_FREELIKE_BLOCK, (uint64_t)memory, 0, 0, 0, 0);
    say("A 1201 1208\nA 200 200\nF 1201 1208\nF 200 200\n");
}

APART static void step_attend(void) {
    void *volatile blocks[6];
    blocks[0] = malloc(7001);
    for (int i = 1; i < 6; i++) blocks[i] = malloc(1300 + i * 16); /* as many as wait, and the first is told */
    blocks[0] = realloc(blocks[0], 7002);
    say("A 7001 7016\nA 1316 1320\nA 1332 1336\nA 1348 1352\nA 1364 1368\nA 1380 1384\nT 0 0\nF 7001 7016\nA 7002 7016\n");
}

static void *in_thread(void *block) {
    free(block);
    return NULL;
}

APART static void step_thread(void) {
    pthread_t thread;
    kept = malloc(1401);
    pthread_create(&thread, NULL, in_thread, kept);
    pthread_join(thread, NULL);
    say("A 1401 1416\nF 1401 1416\n");
}

extern size_t xallocx(void *block, size_t size, size_t extra, int flags) __attribute__((weak));

/* At the first turn the allocator is asked how much of a block of this size may be used. */
APART static void step_resize(void) {
    for (int i = 0; i < 2; i++) {
        kept = malloc(2001);
        xallocx(kept, 2040, 0, 0);
        free(kept);
        say("A 2001 2048\nF 2001 2048\nA 2040 2048\nF 2040 2048\n");
    }
}

APART static void step_left(void) {
    kept = malloc(1501);
    say("A 1501 1512\n");
}

APART static void step_given_back(void) {
    kept = malloc(1601);
    free(kept);
    say("A 1601 1608\nF 1601 1608\n");
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (!*what) {
        step_realloc();
        step_inside();
        step_request();
        step_attend();
        step_left();
        step_given_back();
    } else if (!strcmp(what, "thread")) {
        step_thread();
    } else if (!strcmp(what, "resize")) {
        step_resize();
    } else {
        step_left();
        step_given_back();
        if (!strcmp(what, "status")) sn_client_control("status");
        if (!strcmp(what, "dump")) sn_client_control("dump");
    }
    syscall(!strcmp(what, "alone") ? SYS_exit : SYS_exit_group, 0); /* the only thread ends, or the process */
}
