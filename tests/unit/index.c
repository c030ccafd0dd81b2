/**
 * @fileoverview Unit test of <sonde/index.h>: strings found by their numbers, also when hash values fall together.
 */
#include "sonde/index.h"

#include <stdio.h>
#include <string.h>

#include "sonde/hash.h"
#include "unit.h"

enum { TEXTS = 5000, LENGTH = 16 };

static char texts[TEXTS][LENGTH];

static void prepare(void) {
    for (unsigned i = 0; i < TEXTS; i++)
        snprintf(texts[i], LENGTH, "text %u", i);
}

static uint64_t well_mixed(const char *text) { return sn_hash_bytes(text, strlen(text)); }
static uint64_t badly_mixed(const char *text) { return strlen(text); }

/** UINT32_MAX if it is not there. */
static uint32_t number_of(const sn_index *index, uint64_t (*hash)(const char *), const char *text) {
    uint32_t number;
    sn_index_each(index, hash(text), number)
        if (strcmp(texts[number], text) == 0) return number;
    return UINT32_MAX;
}

static void finds(uint64_t (*hash)(const char *), uint32_t count) {
    sn_index index = {0};
    assert_int_equal(number_of(&index, hash, texts[0]), UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(number_of(&index, hash, texts[i]), UINT32_MAX);
        sn_index_add(&index, hash(texts[i]), i);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(number_of(&index, hash, texts[i]), i);
    assert_int_equal(number_of(&index, hash, "text"), UINT32_MAX);
    assert_int_equal(index.count, count);
    sn_index_clear(&index);
    assert_int_equal(number_of(&index, hash, texts[1]), UINT32_MAX);
    sn_index_add(&index, hash(texts[1]), 1);
    assert_int_equal(number_of(&index, hash, texts[1]), 1);
    sn_index_release(&index);
    assert_null(index.places);
}

static void finds_strings(void **state) {
    (void)state;
    finds(well_mixed, TEXTS);
}

static void finds_among_equal_hash_values(void **state) {
    (void)state;
    finds(badly_mixed, 700);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_strings),
        cmocka_unit_test(finds_among_equal_hash_values),
    };
    prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
