/**
 * @fileoverview Unit test of src/base/intern.c and, under contention, of src/base/lock.c.
 */
#include "sonde/intern.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "unit.h"

enum { THREADS = 4, STRINGS = 5000, ADDITIONS = 200000 };

static void equal_text_is_one_pointer(void **state) {
    (void)state;
    char first[] = "/usr/bin/xz", second[] = "/usr/bin/xz";
    const char *interned = sn_intern(first);
    assert_ptr_equal(interned, sn_intern(second));
    assert_ptr_not_equal(interned, first);
    assert_string_equal(interned, "/usr/bin/xz");
    assert_ptr_equal(sn_intern_bytes("/usr/bin/xzcat", 11), interned);
    assert_ptr_not_equal(sn_intern("/usr/bin/x"), interned);
    assert_string_equal(sn_intern(""), "");
}

static void *intern_many(void *results) {
    const char **into = results;
    for (unsigned i = 0; i < STRINGS; i++) {
        char text[32];
        snprintf(text, sizeof text, "string %u", i);
        into[i] = sn_intern(text);
    }
    return NULL;
}

static void threads_agree(void **state) {
    (void)state;
    static const char *results[THREADS][STRINGS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, intern_many, results[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 1; i < THREADS; i++)
        assert_memory_equal(results[0], results[i], sizeof results[0]);
}

static sn_lock lock;
static volatile unsigned long total;

static void *add_many(void *ignored) {
    for (unsigned i = 0; i < ADDITIONS; i++) {
        sn_lock_acquire(&lock);
        total = total + 1;
        sn_lock_release(&lock);
    }
    return ignored;
}

static void a_lock_excludes(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(total, (unsigned long)THREADS * ADDITIONS);
    assert_true(sn_lock_try(&lock));
    assert_false(sn_lock_try(&lock));
    sn_lock_reset(&lock);
    assert_true(sn_lock_try(&lock));
    sn_lock_release(&lock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_text_is_one_pointer),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(a_lock_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
