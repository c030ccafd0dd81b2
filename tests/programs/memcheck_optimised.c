/**
 * @fileoverview What compilers make of ordinary loops and structures with all that the processor has: nothing here uses a value that
 * nobody has set, though padding, other fields, other bits of the same byte and neighbouring bytes have none. For memcheck: silent.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))
enum { COUNT = 203 };
static volatile uint64_t sum;
#define SEE(what) do { if (what) sum++; } while (0)

static APART void *unset(size_t size) {
    void *made = malloc(size);
    __asm__ volatile("" : "+r"(made));
    return made;
}

/* ---------------------------------------------------------------------------------------------- structures and padding */

typedef struct mixed { char letter; int number; short small; double real; char last; } mixed;
typedef struct packed { unsigned a : 3, b : 7, c : 12, d : 1, e : 9; } packed;
typedef struct bytes { uint8_t used[3], unused, more[2], hole[2]; } bytes;
typedef struct flags { uint16_t on : 1, level : 5, rest : 10; uint16_t word; } flags;

static APART long add_mixed(const mixed *items, int count) {
    long total = 0;
    for (int i = 0; i < count; i++) total += items[i].letter + items[i].number * 3 + items[i].small + (items[i].last == 'z');
    return total;
}

static APART double add_real(const mixed *items, int count) {
    double total = 0;
    for (int i = 0; i < count; i++) if (items[i].number > 50) total += items[i].real;
    return total;
}

static APART unsigned add_packed(const packed *items, int count) {
    unsigned total = 0;
    for (int i = 0; i < count; i++) total += items[i].a * 5u + items[i].c + (items[i].d ? 100 : 0);
    return total;
}

static APART void change_packed(packed *items, int count) {
    for (int i = 0; i < count; i++) {
        items[i].c += 3;
        items[i].d ^= 1;
        items[i].a = (unsigned)i & 7;
    }
}

static APART unsigned add_bytes(const bytes *items, int count) {
    unsigned total = 0;
    for (int i = 0; i < count; i++) total += items[i].used[0] + items[i].used[2] * 2u + items[i].more[1];
    return total;
}

static APART int count_on(const flags *items, int count) {
    int on = 0;
    for (int i = 0; i < count; i++) on += items[i].on && items[i].level > 3;
    return on;
}

static void structures(void) {
    mixed *first = unset(COUNT * sizeof *first), *second = unset(COUNT * sizeof *second);
    packed *fields = unset(COUNT * sizeof *fields);
    bytes *rows = unset(COUNT * sizeof *rows);
    flags *states = unset(COUNT * sizeof *states);
    for (int i = 0; i < COUNT; i++) {
        first[i].letter = (char)i, first[i].number = i, first[i].small = (short)-i, first[i].real = i * 0.5, first[i].last = 'z';
        fields[i].a = (unsigned)i & 7, fields[i].c = (unsigned)i, fields[i].d = i & 1;
        rows[i].used[0] = rows[i].used[2] = rows[i].more[1] = (uint8_t)i;
        states[i].on = i & 1, states[i].level = (unsigned)i & 31;
    }
    for (int i = 0; i < COUNT; i++) second[i] = first[i];
    SEE(add_mixed(second, COUNT) == 7);
    SEE(add_real(second, COUNT) > 1e9);
    SEE(add_packed(fields, COUNT) == 7);
    change_packed(fields, COUNT);
    SEE(add_packed(fields, COUNT) == 7);
    SEE(add_bytes(rows, COUNT) == 7);
    SEE(count_on(states, COUNT) == 7);
}

/* ------------------------------------------------------------------------------------------ every other element is unset */

static APART unsigned add_even(const uint8_t *items, int count) {
    unsigned total = 0;
    for (int i = 0; i < count; i++) total += items[2 * i];
    return total;
}

static APART int masked(const uint32_t *items, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) total += (int)(items[i] & 0x00ff00ff) - (int)((items[i] >> 16) & 0xff);
    return total;
}

static APART uint32_t merged(uint32_t *to, const uint32_t *low, const uint32_t *high, int count) {
    uint32_t total = 0;
    for (int i = 0; i < count; i++) {
        to[i] = (low[i] & 0xffff) | (high[i] & 0xffff0000);
        total ^= to[i];
    }
    return total;
}

static APART int where_set(const int *items, const uint8_t *is_set, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) if (is_set[i]) total += items[i];
    return total;
}

static APART int largest_set(const int *items, const uint8_t *is_set, int count) {
    int most = -1;
    for (int i = 0; i < count; i++) if (is_set[i] && items[i] > most) most = items[i];
    return most;
}

static APART void copy_set(short *to, const int *items, const uint8_t *is_set, int count) {
    for (int i = 0; i < count; i++) to[i] = is_set[i] ? (short)items[i] : 0;
}

static APART unsigned high_nibbles(const uint8_t *items, int count) {
    unsigned total = 0;
    for (int i = 0; i < count; i++) total += items[i] >> 4;
    return total;
}

static void elements(void) {
    uint8_t *every = unset(2 * COUNT), *is_set = unset(COUNT), *nibbles = unset(COUNT);
    uint32_t *words = unset(COUNT * 4), *low = unset(COUNT * 4), *high = unset(COUNT * 4), *to = unset(COUNT * 4);
    int *items = unset(COUNT * sizeof *items);
    short *small = unset(COUNT * sizeof *small);
    for (int i = 0; i < COUNT; i++) {
        every[2 * i] = (uint8_t)i;
        ((uint8_t *)&words[i])[0] = ((uint8_t *)&words[i])[2] = (uint8_t)i;
        *(uint16_t *)&low[i] = (uint16_t)i, ((uint16_t *)&high[i])[1] = (uint16_t)i;
        is_set[i] = i % 3 == 0;
        if (is_set[i]) items[i] = i;
        nibbles[i] = (uint8_t)((nibbles[i] & 0x0f) | (i << 4));
    }
    SEE(add_even(every, COUNT) == 7);
    SEE(masked(words, COUNT) == 7);
    SEE(merged(to, low, high, COUNT) == 7);
    SEE(where_set(items, is_set, COUNT) == 7);
    SEE(largest_set(items, is_set, COUNT) == 7);
    copy_set(small, items, is_set, COUNT);
    for (int i = 0; i < COUNT; i++) SEE(small[i] == 7);
    SEE(high_nibbles(nibbles, COUNT) == 7);
}

/* ------------------------------------------------------------------------------------- carries, parts of registers, searches */

static APART int compare_wide(const uint64_t *left, const uint64_t *right, int count) {
    unsigned char borrow = 0;
    for (int i = 0; i < count; i++) {
        unsigned long long difference;
        borrow = (unsigned char)(__builtin_sub_overflow(left[i], right[i], &difference) | __builtin_sub_overflow(difference, borrow, &difference));
    }
    return borrow ? -1 : 1;
}

static APART unsigned __int128 add_wide(const uint64_t *items, int count) {
    unsigned __int128 total = 0;
    for (int i = 0; i < count; i++) total = total * 3 + items[i];
    return total;
}

static APART int sign_of(long value) { return (value > 0) - (value < 0); }
static APART unsigned is_digit(unsigned char letter) { return (unsigned)(letter - '0') < 10; }
static APART uint8_t low_of(uint64_t value) { return (uint8_t)(value + 1); }

static APART int own_length(const char *text) {
    int length = 0;
    while (text[length]) length++;
    return length;
}

static APART int own_compare(const char *left, const char *right) {
    while (*left && *left == *right) left++, right++;
    return (unsigned char)*left - (unsigned char)*right;
}

static APART const char *own_find(const char *text, char wanted, int size) {
    for (int i = 0; i < size; i++) if (text[i] == wanted) return text + i;
    return NULL;
}

/** Eight bytes at a time, which may lie behind the end. */
static APART int words_length(const char *text) {
    for (int at = 0;; at += 8) {
        uint64_t word, zeros;
        memcpy(&word, text + at, 8);
        zeros = (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
        if (zeros) return at + __builtin_ctzll(zeros) / 8;
    }
}

static void scalars(void) {
    uint64_t *left = unset(9 * 8), *right = unset(9 * 8);
    for (int i = 0; i < 8; i++) left[i] = (uint64_t)i, right[i] = (uint64_t)i + (i == 7);
    SEE(compare_wide(left, right, 8) > 0);
    SEE((uint64_t)(add_wide(left, 8) >> 64) == 7);
    uint64_t half = 0x1234;
    __asm__("movb %b1, %b0" : "+r"(half) : "q"(*(uint8_t *)left));
    SEE(sign_of((long)half) == 7);
    SEE(is_digit((unsigned char)left[3]) && low_of(left[5]) == 7);
    for (int size = 0; size < 40; size++) {
        char *text = unset(64), *other = unset(64);
        for (int i = 0; i < size; i++) text[i] = other[i] = 'a';
        text[size] = other[size] = 0;
        SEE(own_length(text) != size || own_compare(text, other) != 0 || own_find(text, 'b', size) != NULL);
        SEE(words_length(text) != size);
        free(text);
        free(other);
    }
}

/* ---------------------------------------------------------------------------------------------------- floating point */

static APART float add_some(const float *items, const int *chosen, int count) {
    float total = 0;
    for (int i = 0; i < count; i++) total += items[chosen[i]];
    return total;
}

static APART void scale(float *items, int count) {
    for (int i = 0; i < count; i++) items[i] = items[i] * 0.5f + 1;
}

static APART int rounded(const double *items, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) total += (int)(items[i] + 0.5);
    return total;
}

static void numbers(void) {
    float *items = unset(COUNT * 2 * sizeof *items);
    int *chosen = unset(COUNT * sizeof *chosen);
    double *wide = unset(COUNT * sizeof *wide);
    for (int i = 0; i < COUNT; i++) items[2 * i] = (float)i, chosen[i] = 2 * (COUNT - 1 - i), wide[i] = i;
    SEE(add_some(items, chosen, COUNT) == 7);
    scale(items, 2 * COUNT); /* those that are not set become something that is not set */
    SEE(add_some(items, chosen, COUNT) == 7);
    SEE(rounded(wide, COUNT) == 7);
}

int main(void) {
    structures();
    elements();
    scalars();
    numbers();
    puts("sound");
    return 0;
}
