/**
 * @fileoverview Unit test of <sonde/vector.h>.
 */
#include "sonde/vector.h"

#include "unit.h"

typedef struct odd_size {
    uint32_t number;
    char rest[9];
} odd_size;

static void elements_survive_growth(void **state) {
    (void)state;
    SN_VECTOR(odd_size) vector = {0};
    for (uint32_t i = 0; i < 100000; i++) {
        odd_size *added = sn_vector_add(&vector);
        assert_int_equal(added->number, 0);
        assert_int_equal(added->rest[8], 0);
        added->number = i;
        added->rest[8] = (char)i;
    }
    assert_int_equal(vector.count, 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(vector.items[i].number, i);
        assert_int_equal(vector.items[i].rest[8], (char)i);
    }
    sn_vector_release(&vector);
    assert_null(vector.items);
    assert_int_equal(vector.room, 0);
}

static void added_elements_are_zero_after_clear(void **state) {
    (void)state;
    SN_VECTOR(uint64_t) vector = {0};
    *sn_vector_add(&vector) = 5;
    sn_vector_clear(&vector);
    assert_int_equal(*sn_vector_add(&vector), 0);
    assert_int_equal(vector.count, 1);
    sn_vector_release(&vector);
}

static void insertion_and_removal_keep_the_order(void **state) {
    (void)state;
    SN_VECTOR(int) vector = {0};
    for (int i = 0; i < 10; i++)
        *sn_vector_add(&vector) = i;
    *sn_vector_insert(&vector, 0) = 100;
    *sn_vector_insert(&vector, 5) = 101;
    *sn_vector_insert(&vector, 12) = 102;
    static const int expected[] = {100, 0, 1, 2, 3, 101, 4, 5, 6, 7, 8, 9, 102};
    assert_int_equal(vector.count, 13);
    assert_memory_equal(vector.items, expected, sizeof expected);
    sn_vector_remove(&vector, 1, 5);
    sn_vector_remove(&vector, 7, 1);
    static const int left[] = {100, 4, 5, 6, 7, 8, 9};
    assert_int_equal(vector.count, 7);
    assert_memory_equal(vector.items, left, sizeof left);
    sn_vector_release(&vector);
}

static void extending_adds_zeros(void **state) {
    (void)state;
    SN_VECTOR(uint64_t) vector = {0};
    sn_vector_extend(&vector, 3000);
    assert_int_equal(vector.count, 3000);
    for (size_t i = 0; i < 3000; i++)
        vector.items[i] = 7;
    sn_vector_extend(&vector, 10);
    assert_int_equal(vector.count, 3000);
    sn_vector_clear(&vector);
    sn_vector_extend(&vector, 100000);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(vector.items[i], 0);
    sn_vector_release(&vector);
}

static void reserved_room_moves_nothing(void **state) {
    (void)state;
    SN_VECTOR(uint64_t) vector = {0};
    sn_vector_reserve(&vector, 50000);
    uint64_t *before = vector.items;
    for (uint64_t i = 0; i < 50000; i++)
        *sn_vector_add(&vector) = i;
    assert_ptr_equal(vector.items, before);
    sn_vector_release(&vector);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_survive_growth),
        cmocka_unit_test(added_elements_are_zero_after_clear),
        cmocka_unit_test(insertion_and_removal_keep_the_order),
        cmocka_unit_test(extending_adds_zeros),
        cmocka_unit_test(reserved_room_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
