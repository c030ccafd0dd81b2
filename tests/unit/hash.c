/**
 * @fileoverview Unit test of <sonde/hash.h>: random operations against a plain array.
 */
#include "sonde/hash.h"

#include <string.h>

#include "unit.h"

enum { KEYS = 3000 };

static uint64_t random_state = 1;

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void behaves_as_an_array(void **state) {
    (void)state;
    static bool present[KEYS];
    static uint64_t values[KEYS];
    sn_hash hash = {0};
    size_t count = 0;
    for (unsigned step = 0; step < 200000; step++) {
        uint64_t number = random_number();
        size_t key = number % KEYS;
        uint64_t *found = sn_hash_find(&hash, key * 4096);
        assert_int_equal(found != NULL, present[key]);
        if (found)
            assert_int_equal(*found, values[key]);
        /* Waves, so that the map fills and empties. */
        bool insert = (number >> 40) % 100 < (step / 20000 % 2 ? 30 : 70);
        if (insert) {
            bool is_new;
            *sn_hash_insert(&hash, key * 4096, &is_new) = values[key] = number;
            assert_int_equal(is_new, !present[key]);
        } else {
            assert_int_equal(sn_hash_remove(&hash, key * 4096), present[key]);
        }
        count += insert - present[key];
        present[key] = insert;
        assert_int_equal(sn_hash_count(&hash), count);
    }
    sn_hash_release(&hash);
}

static void iteration_sees_each_entry_once(void **state) {
    (void)state;
    sn_hash hash = {0};
    static unsigned seen[KEYS];
    for (uint64_t key = 0; key < KEYS; key++)
        sn_hash_set(&hash, key, key * 3);
    size_t position = 0;
    sn_hash_entry entry;
    while (sn_hash_next(&hash, &position, &entry)) {
        assert_true(entry.key < KEYS);
        assert_int_equal(entry.value, entry.key * 3);
        seen[entry.key]++;
    }
    for (size_t key = 0; key < KEYS; key++)
        assert_int_equal(seen[key], 1);
    sn_hash_clear(&hash);
    assert_int_equal(sn_hash_count(&hash), 0);
    position = 0;
    assert_false(sn_hash_next(&hash, &position, &entry));
    assert_null(sn_hash_find(&hash, 0));
    assert_null(sn_hash_find(&hash, 1));
    sn_hash_release(&hash);
}

static void a_new_value_is_zero(void **state) {
    (void)state;
    sn_hash hash = {0};
    for (unsigned key = 0; key < 2; key++) {
        sn_hash_set(&hash, key, 9);
        assert_true(sn_hash_remove(&hash, key));
        assert_int_equal(*sn_hash_insert(&hash, key, NULL), 0);
        assert_int_equal(sn_hash_get(&hash, key, 5), 0);
    }
    assert_int_equal(sn_hash_get(&hash, 77, 5), 5);
    sn_hash_release(&hash);
}

static void byte_hashes_differ(void **state) {
    (void)state;
    sn_hash seen = {0};
    char bytes[64];
    memset(bytes, 'a', sizeof bytes);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        bool is_new;
        sn_hash_insert(&seen, sn_hash_bytes(bytes, size), &is_new);
        assert_true(is_new);
        if (size == 0)
            continue;
        bytes[size - 1] ^= 1;
        sn_hash_insert(&seen, sn_hash_bytes(bytes, size), &is_new);
        assert_true(is_new);
        bytes[size - 1] ^= 1;
        assert_int_equal(sn_hash_bytes(bytes, size), sn_hash_bytes(strndupa(bytes, size), size));
    }
    sn_hash_release(&seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_as_an_array),
        cmocka_unit_test(iteration_sees_each_entry_once),
        cmocka_unit_test(a_new_value_is_zero),
        cmocka_unit_test(byte_hashes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
