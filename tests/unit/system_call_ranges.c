/**
 * @fileoverview What is told of system calls' memory: calls whose structures lead on to others, and the table as a whole.
 * Nothing here is called; the structures lie in this program.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "guest/system_call_ranges.h"

/** The number of a call, by its name. */
static uint64_t number_of(const char *name) {
    for (uint64_t number = 0; number < 1024; number++)
        if (sn_system_call_name(number) && strcmp(sn_system_call_name(number), name) == 0) return number;
    fail_msg("no call is named %s", name);
    return 0;
}

static sn_call_ranges list;
static uint64_t words[6];

static void begin(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    sn_call_ranges_release(&list);
    memcpy(words, (uint64_t[]){a, b, c, d, e, f}, sizeof words);
    sn_call_ranges_begin(&list, number_of(name), words);
}

static bool holds(uint64_t start, uint64_t size, unsigned role) {
    for (size_t i = 0; i < list.count; i++)
        if (list.ranges[i].start == start && list.ranges[i].size == size && list.ranges[i].role == role) return true;
    return false;
}

#define IS(place, size, role) assert_true(holds((uint64_t)(place), size, SN_ROLE_##role))
#define IS_NOT(place, size, role) assert_false(holds((uint64_t)(place), size, SN_ROLE_##role))

static void test_read(void **unused) {
    char buffer[100];
    (void)unused;
    begin("read", 0, (uint64_t)buffer, 100, 0, 0, 0);
    assert_int_equal(list.count, 1);
    IS(buffer, 100, WRITTEN);
    assert_int_equal(list.ranges[0].argument, 1);
    sn_call_ranges_end(&list, 30);
    IS(buffer, 30, WRITTEN);
    begin("read", 0, (uint64_t)buffer, 100, 0, 0, 0);
    sn_call_ranges_end(&list, -EIO);
    assert_int_equal(list.count, 0);
}

static void test_sizes_that_run_over(void **unused) {
    (void)unused;
    begin("read", 0, UINT64_MAX - 9, UINT64_MAX, 0, 0, 0);
    IS(UINT64_MAX - 9, 10, WRITTEN);
    begin("setgroups", UINT64_MAX / 2, 4096, 0, 0, 0, 0); /* times 4 */
    IS(4096, UINT64_MAX - 4095, READ);
    begin("readv", 0, 4096, UINT64_MAX, 0, 0, 0);
    assert_int_equal(list.count, 0);
    begin("poll", 4096, UINT64_MAX, 0, 0, 0, 0);
    assert_int_equal(list.count, 0);
}

static void test_spread_over_a_vector(void **unused) {
    char a[10], b[10], c[10];
    struct iovec vector[4] = {{a, 10}, {NULL, 0}, {b, 10}, {c, 10}};
    (void)unused;
    begin("readv", 0, (uint64_t)vector, 4, 0, 0, 0);
    IS(vector, sizeof vector, READ);
    IS(c, 10, WRITTEN);
    sn_call_ranges_end(&list, 13);
    assert_int_equal(list.count, 2);
    IS(a, 10, WRITTEN);
    IS(b, 3, WRITTEN);
    begin("writev", 0, (uint64_t)vector, 4, 0, 0, 0);
    IS(b, 10, READ);
    sn_call_ranges_end(&list, 30);
    assert_int_equal(list.count, 0);
}

static void test_message(void **unused) {
    char name[20], control[40], a[10], b[10];
    struct iovec vector[2] = {{a, 10}, {b, 10}};
    struct msghdr header = {name, 20, vector, 2, control, 40, 0};
    (void)unused;
    begin("recvmsg", 0, (uint64_t)&header, 0, 0, 0, 0);
    IS(name, 20, WRITTEN);
    IS(control, 40, WRITTEN);
    IS_NOT(&header.msg_flags, 4, READ);
    header.msg_namelen = 6;
    header.msg_controllen = 16;
    sn_call_ranges_end(&list, 12);
    IS(name, 6, WRITTEN);
    IS(&header.msg_namelen, 4, WRITTEN);
    IS(control, 16, WRITTEN);
    IS(&header.msg_controllen, 8, WRITTEN);
    IS(&header.msg_flags, 4, WRITTEN);
    IS(a, 10, WRITTEN);
    IS(b, 2, WRITTEN);
    assert_int_equal(list.count, 7);
    begin("sendmsg", 0, (uint64_t)&header, 0, 0, 0, 0);
    IS(name, 6, READ);
    IS(b, 10, READ);
    sn_call_ranges_end(&list, 20);
    assert_int_equal(list.count, 0);
}

static void test_many_messages(void **unused) {
    char text[3][10];
    struct iovec vectors[3] = {{text[0], 10}, {text[1], 10}, {text[2], 10}};
    struct mmsghdr messages[3] = {{{.msg_iov = &vectors[0], .msg_iovlen = 1}, 0},
                                  {{.msg_iov = &vectors[1], .msg_iovlen = 1}, 0},
                                  {{.msg_iov = &vectors[2], .msg_iovlen = 1}, 0}};
    (void)unused;
    begin("recvmmsg", 0, (uint64_t)messages, 3, 0, 0, 0);
    IS(text[2], 10, WRITTEN);
    messages[0].msg_len = 10;
    messages[1].msg_len = 4;
    sn_call_ranges_end(&list, 2);
    IS(text[0], 10, WRITTEN);
    IS(text[1], 4, WRITTEN);
    IS(&messages[1].msg_len, 4, WRITTEN);
    IS_NOT(&messages[2].msg_len, 4, WRITTEN);
}

static void test_length_that_grows(void **unused) {
    char address[10];
    uint32_t length = 10;
    (void)unused;
    begin("getsockname", 0, (uint64_t)address, (uint64_t)&length, 0, 0, 0);
    IS(address, 10, WRITTEN);
    IS(&length, 4, READ);
    length = 16; /* the kernel says how long the name is, and writes what fits */
    sn_call_ranges_end(&list, 0);
    IS(address, 10, WRITTEN);
    IS(&length, 4, WRITTEN);
}

static void test_strings(void **unused) {
    static const char path[] = "/a/path";
    const char *arguments[] = {"one", "two", NULL};
    (void)unused;
    begin("execve", (uint64_t)path, (uint64_t)arguments, 0, 0, 0, 0);
    IS(path, sizeof path, READ);
    IS(arguments, sizeof arguments, READ);
    IS(arguments[1], 4, READ);
    assert_int_equal(list.count, 4);
}

static void test_longer_than_the_room_inside(void **unused) {
    static const char *arguments[501];
    (void)unused;
    for (unsigned i = 0; i < 500; i++) arguments[i] = "word";
    begin("execve", (uint64_t)"x", (uint64_t)arguments, 0, 0, 0, 0);
    assert_int_equal(list.count, 502);
    IS("x", 2, READ);
    IS(arguments, sizeof arguments, READ);
}

static void test_interrupted(void **unused) {
    struct pollfd entry = {0};
    char rest[16];
    (void)unused;
    begin("poll", (uint64_t)&entry, 1, 0, 0, 0, 0);
    sn_call_ranges_end(&list, -EINTR);
    IS(&entry.revents, 2, WRITTEN);
    begin("poll", (uint64_t)&entry, 1, 0, 0, 0, 0);
    sn_call_ranges_end(&list, -EFAULT);
    assert_int_equal(list.count, 0);
    begin("nanosleep", 0, (uint64_t)rest, 0, 0, 0, 0);
    sn_call_ranges_end(&list, -EINTR);
    IS(rest, 16, WRITTEN);
    begin("nanosleep", 0, (uint64_t)rest, 0, 0, 0, 0);
    sn_call_ranges_end(&list, 0);
    assert_int_equal(list.count, 0);
    begin("nanosleep", 0, (uint64_t)rest, 0, 0, 0, 0);
    sn_call_ranges_end(&list, SN_CALL_BEGUN_ANEW);
    IS(rest, 16, WRITTEN);
}

static void test_chosen_by_an_argument(void **unused) {
    struct flock lock;
    char name[64] = "a name that is too long for a thread";
    (void)unused;
    begin("fcntl", 0, F_GETLK, (uint64_t)&lock, 0, 0, 0);
    IS(&lock, sizeof lock, READ);
    IS(&lock, sizeof lock, WRITTEN);
    begin("fcntl", 0, F_DUPFD, 5, 0, 0, 0);
    assert_int_equal(list.count, 0);
    begin("prctl", 15 /* PR_SET_NAME */, (uint64_t)name, 0, 0, 0, 0);
    IS(name, 16, READ);
    begin("ioctl", 0, TIOCGWINSZ, (uint64_t)name, 0, 0, 0);
    IS(name, 8, WRITTEN);
    begin("ioctl", 0, _IOWR('z', 200, char[24]), (uint64_t)name, 0, 0, 0); /* in no table */
    IS(name, 24, READ);
    IS(name, 24, WRITTEN);
    begin("ioctl", 0, _IOW('z', 200, int), 7, 0, 0, 0); /* its argument is a number, whatever it says */
    assert_int_equal(list.count, 0);
}

static void test_unknown(void **unused) {
    (void)unused;
    memset(words, 0xff, sizeof words);
    sn_call_ranges_release(&list);
    sn_call_ranges_begin(&list, 1000, words);
    assert_int_equal(list.count, 0);
    sn_call_ranges_end(&list, 5);
    assert_int_equal(list.count, 0);
}

/** Every call and case with every argument the same odd number, which leads nowhere, or zero: nothing is read. */
static void test_every_row_is_sound(void **unused) {
    (void)unused;
    unsigned rows = 0;
    for (uint64_t number = 0; number < 1024; number++) {
        const char *name = sn_system_call_name(number);
        if (!name) continue;
        const sn_call_row *row = sn_call_row_of(number);
        assert_non_null(row);
        assert_string_equal(row->name, name);
        assert_ptr_equal(row, sn_call_row_named(name));
        assert_true(row->more < SN_MORE_COUNT && (!row->more || sn_call_functions[row->more].begin));
        for (unsigned i = 0; i < 6; i++) {
            const sn_argument *argument = &row->arguments[i];
            if (!argument->kind) continue;
            assert_true(argument->role >= SN_ROLE_READ && argument->role <= SN_ROLE_BOTH);
            assert_true(argument->length < 6);
            if (argument->kind == SN_ARGUMENT_FIXED) assert_true(argument->size > 0);
        }
        memset(words, 0, sizeof words);
        sn_call_ranges_begin(&list, number, words);
        assert_int_equal(list.count, 0);
        sn_call_ranges_end(&list, 0);
        sn_call_ranges_release(&list);
        rows++;
    }
    assert_true(rows > 360);
    for (size_t i = 0; i < sn_call_case_count; i++) {
        assert_true(sn_call_cases[i].set != SN_SET_NONE);
        assert_true(sn_call_cases[i].at < 6);
        assert_true(!sn_call_cases[i].more || sn_call_functions[sn_call_cases[i].more].begin);
    }
}

int main(void) {
    list.ranges = list.inside;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_sizes_that_run_over),
        cmocka_unit_test(test_spread_over_a_vector),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_many_messages),
        cmocka_unit_test(test_length_that_grows),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_longer_than_the_room_inside),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_chosen_by_an_argument),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_every_row_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
