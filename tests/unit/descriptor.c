/**
 * @fileoverview Unit test of src/base/descriptor.c.
 */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"

static void set_limit(rlim_t soft) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = soft;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

static void taken_ones_are_high_and_close_on_exec(void **state) {
    (void)state;
    set_limit(1024);
    int low = open("/dev/null", O_WRONLY), first, second;
    assert_true(low >= 0 && low < 200);
    assert_true(sn_descriptor_take_copy(&first, low) > 200);
    assert_true(is_open(low));
    assert_true(sn_descriptor_take(&second, low) > 200);
    assert_false(is_open(low));
    assert_int_not_equal(first, second);
    assert_int_equal(fcntl(first, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(second, F_GETFD), FD_CLOEXEC);
    assert_true(sn_descriptor_is_taken(first));
    assert_true(sn_descriptor_is_taken(second));
    assert_false(sn_descriptor_is_taken(low));
    assert_false(sn_descriptor_is_taken(-1));
    int number = first;
    assert_int_equal(sn_descriptor_close(&first), 0);
    assert_int_equal(first, -1);
    assert_false(is_open(number));
    assert_false(sn_descriptor_is_taken(number));
    assert_int_equal(sn_descriptor_close(&second), 0);
}

static void limits_are_respected(void **state) {
    (void)state;
    static const rlim_t limits[] = {1024, 256, 64, 12};
    for (size_t i = 0; i < 4; i++) {
        set_limit(limits[i]);
        int holder;
        assert_true(sn_descriptor_take(&holder, open("/dev/null", O_WRONLY)) >= 0);
        assert_true((rlim_t)holder < limits[i]);
        assert_int_equal(write(holder, "x", 1), 1);
        sn_descriptor_close(&holder);
    }
    set_limit(1024);
}

static void one_gives_way(void **state) {
    (void)state;
    int ends[2], holder;
    assert_int_equal(pipe(ends), 0);
    sn_descriptor_take(&holder, ends[1]);
    int number = holder;
    assert_true(sn_descriptor_give_way(number));
    assert_int_not_equal(holder, number);
    assert_false(sn_descriptor_is_taken(number));
    assert_int_equal(dup2(STDERR_FILENO, number), number);
    char byte = 0;
    assert_int_equal(write(holder, "y", 1), 1);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_true(sn_descriptor_give_way(5)); /* not the engine's */
    close(number);
    close(ends[0]);
    sn_descriptor_close(&holder);
}

static void bad_ones_are_refused(void **state) {
    (void)state;
    int holder = 3;
    assert_int_equal(sn_descriptor_take(&holder, -1), -1);
    assert_int_equal(holder, -1);
    assert_int_equal(sn_descriptor_take_copy(&holder, 900), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(sn_descriptor_close(&holder), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_ones_are_high_and_close_on_exec),
        cmocka_unit_test(limits_are_respected),
        cmocka_unit_test(one_gives_way),
        cmocka_unit_test(bad_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
