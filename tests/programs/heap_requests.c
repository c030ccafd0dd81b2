/**
 * @fileoverview Blocks of allocators of its own, told by Valgrind's client requests, for tests/test_heap_service.py. Prints what a
 * heap profiler is to say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/valgrind.h>

#define APART __attribute__((noinline, noclone, noipa))

static _Alignas(16) char arena[4096];

APART static void step_blocks(void) {
    VALGRIND_MALLOCLIKE_BLOCK(arena, 100, 0, 0);
    printf("A 100 100 step_blocks\n");
    VALGRIND_MALLOCLIKE_BLOCK(arena + 101, 2, 0, 0); /* two that begin in the same 8 bytes */
    VALGRIND_MALLOCLIKE_BLOCK(arena + 103, 3, 0, 0);
    printf("A 2 2 step_blocks\nA 3 3 step_blocks\n");
    VALGRIND_RESIZEINPLACE_BLOCK(arena, 100, 90, 0);
    printf("F 100 100 step_blocks\nA 90 90 step_blocks\n");
    VALGRIND_FREELIKE_BLOCK(arena + 101, 0);
    VALGRIND_FREELIKE_BLOCK(arena + 101, 0); /* is no block any more */
    printf("F 2 2 step_blocks\n");
    VALGRIND_FREELIKE_BLOCK(arena + 103, 0);
    VALGRIND_FREELIKE_BLOCK(arena, 0);
    printf("F 3 3 step_blocks\nF 90 90 step_blocks\n");
}

APART static void step_pool(void) {
    int pool, other;
    VALGRIND_CREATE_MEMPOOL(&pool, 0, 0);
    VALGRIND_MEMPOOL_ALLOC(&pool, arena, 64);
    VALGRIND_MEMPOOL_ALLOC(&pool, arena + 64, 32);
    printf("A 64 64 step_pool\nA 32 32 step_pool\n");
    VALGRIND_MEMPOOL_CHANGE(&pool, arena + 64, arena + 128, 40);
    printf("F 32 32 step_pool\nA 40 40 step_pool\n");
    VALGRIND_MOVE_MEMPOOL(&pool, &other);
    VALGRIND_MEMPOOL_FREE(&pool, arena); /* the pool has another name now */
    VALGRIND_MEMPOOL_FREE(&other, arena);
    printf("F 64 64 step_pool\n");
    VALGRIND_MEMPOOL_TRIM(&other, arena + 130, 20);
    printf("F 40 40 step_pool\nA 20 20 step_pool\n");
    printf("%s\n", VALGRIND_MEMPOOL_EXISTS(&other) && !VALGRIND_MEMPOOL_EXISTS(&pool) ? "exists" : "wrong");
    VALGRIND_DESTROY_MEMPOOL(&other);
    printf("F 20 20 step_pool\n");
}

int main(void) {
    static char buffer[1 << 14];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    step_blocks();
    step_pool();
    return 0;
}
