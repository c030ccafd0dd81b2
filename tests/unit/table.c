/**
 * @fileoverview Unit test of <sonde/table.h>: random operations against plain arrays, with keys of one and of several words.
 */
#include "sonde/table.h"

#include <string.h>

#include "unit.h"

enum { KEYS = 2000, STEPS = 100000 };

typedef struct wide_key {
    uint64_t address;
    uint32_t line, column;
    const char *name;
} wide_key;

typedef struct wide_entry {
    wide_key key;
    uint64_t value, more[4];
} wide_entry;

typedef struct pointer_entry {
    const char *key;
    uint32_t number;
} pointer_entry;

static uint64_t random_state = 1;

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/** The key zero is among them; neighbours differ in one member only. */
static wide_key key_of(size_t number) {
    return (wide_key){.address = (number & 3) << 48, .line = (uint32_t)(number >> 2 & 15), .column = (uint32_t)(number >> 6) << 4};
}

static void behaves_as_an_array(void **state) {
    (void)state;
    static bool present[KEYS];
    static uint64_t values[KEYS];
    SN_TABLE(wide_entry) table = {0};
    size_t count = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t number = random_number();
        size_t key = number % KEYS;
        wide_entry *found = sn_table_find(&table, key_of(key));
        assert_int_equal(found != NULL, present[key]);
        if (found)
            assert_int_equal(found->value, values[key]);
        bool insert = (number >> 40) % 100 < (step / 20000 % 2 ? 30 : 70); /* in waves: it fills and empties */
        if (insert) {
            bool is_new;
            wide_entry *made = sn_table_insert(&table, key_of(key), &is_new);
            assert_int_equal(is_new, !present[key]);
            assert_int_equal(made->more[3], present[key] ? values[key] : 0);
            made->value = made->more[3] = values[key] = number;
        } else {
            assert_int_equal(sn_table_remove(&table, key_of(key)), present[key]);
        }
        count += insert - present[key];
        present[key] = insert;
        assert_int_equal(sn_table_count(&table), count);
    }
    sn_table_release(&table);
    assert_null(table.entries);
}

static void the_loop_sees_each_entry_once(void **state) {
    (void)state;
    SN_TABLE(wide_entry) table = {0};
    sn_table_each(&table, entry) assert_null(entry);
    for (size_t key = 0; key < KEYS; key++)
        sn_table_insert(&table, key_of(key), NULL)->value = key;
    static unsigned seen[KEYS];
    const __typeof__(table) constant = table;
    sn_table_each(&constant, entry) {
        wide_key expected = key_of(entry->value);
        assert_memory_equal(&entry->key, &expected, sizeof expected);
        seen[entry->value]++;
    }
    for (size_t key = 0; key < KEYS; key++)
        assert_int_equal(seen[key], 1);
    sn_table_clear(&table);
    assert_int_equal(sn_table_count(&table), 0);
    sn_table_each(&table, entry) assert_null(entry);
    for (size_t key = 0; key < KEYS; key++)
        assert_int_equal(sn_table_insert(&table, key_of(key), NULL)->value, 0);
    sn_table_release(&table);
}

static void pointers_are_keys(void **state) {
    (void)state;
    static const char text[300];
    SN_TABLE(pointer_entry) table = {0};
    for (unsigned i = 0; i < 300; i++)
        sn_table_insert(&table, &text[i], NULL)->number = i;
    sn_table_insert(&table, NULL, NULL)->number = 1000;
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(sn_table_find(&table, &text[i])->number, i);
    assert_int_equal(sn_table_find(&table, NULL)->number, 1000);
    assert_int_equal(sn_table_count(&table), 301);
    sn_table_release(&table);
}

/** As in code that runs while vector registers are the client's: the function may call nothing. */
SN_FAST static bool insert_fast(void *data, wide_key key, uint64_t value) {
    typedef SN_TABLE(wide_entry) wide_table;
    wide_table *table = data;
    wide_entry *entry = sn_table_insert_fast(table, key, NULL);
    if (entry)
        entry->value = value;
    return entry;
}

static void a_reserved_table_grows_and_ends(void **state) {
    (void)state;
    SN_TABLE(wide_entry) table = {0};
    assert_true(sn_table_reserve(&table, KEYS));
    const void *reserved = table.core.reserved;
    size_t size = table.core.reserved_size;
    for (size_t key = 0; key < KEYS; key++)
        assert_true(insert_fast(&table, key_of(key), key));
    for (size_t key = 0; key < KEYS; key++)
        assert_int_equal(sn_table_find(&table, key_of(key))->value, key);
    assert_ptr_equal(table.core.reserved, reserved);
    assert_true((char *)&table.entries[table.core.room + 1] <= (const char *)reserved + size);
    __typeof__(table) seen = sn_table_view(&table);
    size_t seen_count = 0;
    sn_table_each(&seen, entry) seen_count += entry->value < KEYS;
    assert_int_equal(seen_count, KEYS);
    /* What is there can be had again, but nothing more. */
    size_t key = KEYS;
    while (insert_fast(&table, (wide_key){.address = key, .column = 1}, key))
        key++;
    assert_true(key < 4 * KEYS);
    assert_int_equal(sn_table_count(&table), key);
    assert_true(insert_fast(&table, key_of(7), 70));
    assert_int_equal(sn_table_find(&table, key_of(7))->value, 70);
    assert_true(insert_fast(&table, (wide_key){0}, 5));
    /* Outside of such code it grows on. */
    for (size_t more = key; more < 3 * key; more++)
        sn_table_insert(&table, ((wide_key){.address = more, .column = 1}), NULL)->value = more;
    assert_int_equal(sn_table_count(&table), 3 * key);
    assert_int_equal(sn_table_find(&table, key_of(0))->value, 5);
    sn_table_release(&table);
}

/** Room made before: the table is where it was, and does not grow. */
static void room_is_made_at_once(void **state) {
    (void)state;
    SN_TABLE(wide_entry) table = {0}, reserved = {0};
    sn_table_prepare(&table, 0);
    assert_int_equal(table.core.room, 0);
    assert_true(sn_table_reserve(&reserved, KEYS));
    for (size_t done = 0; done < KEYS; done += KEYS / 2) { /* at first they are empty, and then not */
        sn_table_prepare(&table, KEYS / 2);
        sn_table_prepare(&reserved, KEYS / 2);
        const void *entries = table.entries, *reserved_entries = reserved.entries;
        assert_true(done || reserved_entries == reserved.core.reserved);
        for (size_t key = done; key < done + KEYS / 2; key++) {
            sn_table_insert(&table, key_of(key), NULL)->value = key;
            assert_true(insert_fast(&reserved, key_of(key), key));
        }
        assert_ptr_equal(table.entries, entries);
        assert_ptr_equal(reserved.entries, reserved_entries);
    }
    for (size_t key = 0; key < KEYS; key++) {
        assert_int_equal(sn_table_find(&table, key_of(key))->value, key);
        assert_int_equal(sn_table_find(&reserved, key_of(key))->value, key);
    }
    sn_table_release(&table);
    sn_table_release(&reserved);
}

/** Keys as programs have them: what differs in few bits, high ones alone included, must not fall together. */
static void common_keys_do_not_fall_together(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    for (unsigned shift = 0; shift <= 52; shift++) {
        static bool taken[2 * COUNT];
        unsigned homes[2] = {0};
        for (unsigned words = 1; words <= 2; words++) {
            memset(taken, 0, sizeof taken);
            for (uint64_t i = 0; i < COUNT; i++) {
                uint64_t key[] = {words == 1 ? i << shift : 77, i << shift};
                bool *home = &taken[sn_table_hash(key, words) & (2 * COUNT - 1)];
                homes[words - 1] += !*home;
                *home = true;
            }
            /* At random, 79 of 100 would have a home of their own. */
            assert_true(homes[words - 1] > COUNT * 7 / 10);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_as_an_array),
        cmocka_unit_test(the_loop_sees_each_entry_once),
        cmocka_unit_test(pointers_are_keys),
        cmocka_unit_test(a_reserved_table_grows_and_ends),
        cmocka_unit_test(room_is_made_at_once),
        cmocka_unit_test(common_keys_do_not_fall_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
