/**
 * @fileoverview Unit test of <sonde/sorted.h>: against searches through all elements, and a sort that is known to be right.
 */
#include "sonde/sorted.h"

#include <stdlib.h>

#include "unit.h"

typedef struct range {
    uint32_t number; /* in the order of making */
    uint64_t start, end;
} range;

typedef SN_VECTOR(range) range_list;

static uint64_t random_state = 1;

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static range_list random_ranges(size_t count, uint64_t different, uint32_t first) {
    range_list list = {0};
    for (uint32_t i = 0; i < count; i++)
        *sn_vector_add(&list) = (range){.number = first + i, .start = random_number() % different};
    return list;
}

static int by_start(const void *left, const void *right) {
    const range *a = left, *b = right;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start)
                                : (a->number > b->number) - (a->number < b->number);
}

static void assert_as_by_qsort(const range_list *list, const range *unsorted, size_t count) {
    range *expected = calloc(count + 1, sizeof *expected);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        expected[i] = unsorted[i];
    qsort(expected, count, sizeof *expected, by_start);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list->items[i].number, expected[i].number);
        assert_int_equal(list->items[i].start, expected[i].start);
    }
    free(expected);
}

static void sorts_and_keeps_the_order_of_equals(void **state) {
    (void)state;
    for (size_t count = 0; count < 300; count += 1 + count / 20)
        for (uint64_t different = 1; different < 1000; different *= 7) {
            range_list list = random_ranges(count, different, 0), before = {0};
            for (size_t i = 0; i < count; i++)
                *sn_vector_add(&before) = list.items[i];
            sn_sorted_sort(&list, start);
            assert_as_by_qsort(&list, before.items, count);
            sn_vector_release(&list);
            sn_vector_release(&before);
        }
}

static void merges(void **state) {
    (void)state;
    for (size_t first = 0; first < 60; first += 7)
        for (size_t second = 0; second < 60; second += 11) {
            range_list to = random_ranges(first, 20, 0), from = random_ranges(second, 20, 100), all = {0};
            for (size_t i = 0; i < first; i++)
                *sn_vector_add(&all) = to.items[i];
            for (size_t i = 0; i < second; i++)
                *sn_vector_add(&all) = from.items[i];
            sn_sorted_sort(&to, start);
            sn_sorted_sort(&from, start);
            sn_sorted_merge(&to, &from, start);
            assert_as_by_qsort(&to, all.items, first + second);
            assert_int_equal(from.count, second);
            sn_vector_release(&to);
            sn_vector_release(&from);
            sn_vector_release(&all);
        }
}

static void inserts_behind_equals(void **state) {
    (void)state;
    range_list list = {0}, made = random_ranges(500, 50, 0);
    for (size_t i = 0; i < made.count; i++)
        sn_sorted_insert(&list, start, made.items[i].start)->number = made.items[i].number;
    assert_as_by_qsort(&list, made.items, made.count);
    sn_vector_release(&list);
    sn_vector_release(&made);
}

static void keeps_the_first_of_equals(void **state) {
    (void)state;
    range_list list = random_ranges(500, 60, 0);
    sn_sorted_unique(&(range_list){0}, start);
    sn_sorted_sort(&list, start);
    uint32_t first[60];
    for (size_t i = list.count; i-- > 0;)
        first[list.items[i].start] = list.items[i].number;
    sn_sorted_unique(&list, start);
    for (size_t i = 0; i < list.count; i++) {
        assert_true(i == 0 || list.items[i - 1].start < list.items[i].start);
        assert_int_equal(list.items[i].number, first[list.items[i].start]);
    }
    assert_int_equal(list.count, 60);
    sn_vector_release(&list);
}

/** Ranges with and without room in between; at both ends of the numbers. */
static void finds_what_holds_an_address(void **state) {
    (void)state;
    range_list list = {0}, nothing = {0};
    static const range ranges[] = {{0, 0, 3}, {1, 3, 8}, {2, 10, 11}, {3, 20, 20}, {4, 30, 40}, {5, UINT64_MAX - 5, UINT64_MAX}};
    for (size_t i = 6; i-- > 0;)
        *sn_vector_add(&list) = ranges[i];
    sn_sorted_sort(&list, start);
    static const uint64_t asked[] = {0, 1, 2, 3, 7, 8, 9, 10, 11, 19, 20, 21, 29, 30, 39, 40, 41, UINT64_MAX - 6, UINT64_MAX - 5,
                                     UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const range *holds = NULL, *is = NULL, *before = NULL;
        size_t below = 0;
        for (const range *each = ranges; each < ranges + 6; each++) {
            holds = asked[i] >= each->start && asked[i] < each->end ? each : holds;
            is = each->start == asked[i] ? each : is;
            before = each->start <= asked[i] ? each : before;
            below += each->start < asked[i];
        }
        const range *found = sn_sorted_holding(&list, start, end, asked[i]);
        assert_int_equal(found ? (int)found->number : -1, holds ? (int)holds->number : -1);
        found = sn_sorted_find(&list, start, asked[i]);
        assert_int_equal(found ? (int)found->number : -1, is ? (int)is->number : -1);
        found = sn_sorted_before(&list, start, asked[i]);
        assert_int_equal(found ? (int)found->number : -1, before ? (int)before->number : -1);
        assert_int_equal(sn_sorted_position(&list, start, asked[i]), below);
        assert_null(sn_sorted_holding(&nothing, start, end, asked[i]));
        assert_null(sn_sorted_find(&nothing, start, asked[i]));
    }
    sn_vector_release(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_and_keeps_the_order_of_equals),
        cmocka_unit_test(merges),
        cmocka_unit_test(inserts_behind_equals),
        cmocka_unit_test(keeps_the_first_of_equals),
        cmocka_unit_test(finds_what_holds_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
