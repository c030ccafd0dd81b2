/**
 * @fileoverview Unit test of <sonde/arena.h>.
 */
#include <string.h>

#include "sonde/arena.h"
#include "unit.h"

static void memory_is_zero_aligned_and_apart(void **state) {
    (void)state;
    sn_arena arena = {0};
    unsigned char *blocks[2000];
    static const unsigned char zeros[300];
    for (size_t i = 0; i < 2000; i++) {
        size_t size = 1 + i % 300;
        blocks[i] = sn_arena_allocate(&arena, size);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        assert_memory_equal(blocks[i], zeros, size);
        memset(blocks[i], (int)(i & 255), size);
    }
    for (size_t i = 0; i < 2000; i++)
        for (size_t at = 0; at < 1 + i % 300; at++)
            assert_int_equal(blocks[i][at], i & 255);
    sn_arena_release(&arena);
}

static void large_objects_fit(void **state) {
    (void)state;
    sn_arena arena = {0};
    char *small = sn_arena_allocate(&arena, 10);
    char *large = sn_arena_allocate(&arena, 20 << 20);
    small[9] = 1;
    large[0] = large[(20 << 20) - 1] = 1;
    assert_true(arena.total >= 20 << 20);
    sn_arena_release(&arena);
    assert_int_equal(arena.total, 0);
    assert_null(arena.newest);
}

static void copies_are_equal_and_terminated(void **state) {
    (void)state;
    sn_arena arena = {0};
    char text[] = "a text";
    char *copy = sn_arena_copy_string(&arena, text);
    text[0] = 'x';
    assert_string_equal(copy, "a text");
    char *part = sn_arena_copy(&arena, "abcdef", 3);
    assert_string_equal(part, "abc");
    char *full = sn_arena_copy_string(&arena, "0123456789abcdef");
    memset(sn_arena_allocate(&arena, 16), 'x', 16);
    assert_string_equal(full, "0123456789abcdef");
    sn_arena_release(&arena);
}

static void pages_keep_their_content_when_resized(void **state) {
    (void)state;
    unsigned char *pages = sn_pages_allocate(5000);
    memset(pages, 7, 8192);
    pages = sn_pages_resize(pages, 5000, 1 << 20);
    for (size_t i = 0; i < 1 << 20; i++)
        assert_int_equal(pages[i], i < 8192 ? 7 : 0);
    sn_pages_release(pages, 1 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zero_aligned_and_apart),
        cmocka_unit_test(large_objects_fit),
        cmocka_unit_test(copies_are_equal_and_terminated),
        cmocka_unit_test(pages_keep_their_content_when_resized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
