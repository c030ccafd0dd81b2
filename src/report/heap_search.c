/**
 * @fileoverview Words in a range. See heap_search.h.
 */
#include "report/heap_search.h"

#include <string.h>

enum { FEWEST_DIGITS = 3, MOST_DIGITS = 16, CHUNK = 16, CASE = 0x20 /* sets small letters apart; digits have it */ };

sn_scan_range sn_scan_range_of(uint64_t first, uint64_t span) {
    static const char names[] = "0123456789abcdef";
    sn_scan_range range = {.first = first, .span = span};
    uint64_t last = span == 0 ? first : first + span - 1;
    for (unsigned shift = 4 * (MOST_DIGITS - 1);; shift -= 4) {
        if (first >> shift != last >> shift)
            break;
        if (first >> shift != 0)
            range.digits[range.count++] = (unsigned char)names[first >> shift & 15];
        if (shift == 0)
            break;
    }
    return range;
}

/** What is known of the array that is read. */
typedef struct search {
    const sn_scan_range *range;
    sn_scan_found *found;
    void *data;
    uint64_t number;              /**< of the word at `counted` */
    const unsigned char *counted;
    uint64_t head;
} search;

static unsigned digit_value(unsigned character) {
    if (character - '0' < 10)
        return character - '0';
    character |= CASE;
    return character - 'a' < 6 ? character - 'a' + 10 : 16;
}

/** The digits from `at` on, up to a quote: how many; 0 if that is none of these words. At most 17 bytes are looked at. */
static unsigned read_digits(const unsigned char *at, uint64_t *word) {
    unsigned count = 0;
    *word = 0;
    for (; at[count] != '"'; count++) {
        unsigned digit = digit_value(at[count]);
        if (digit > 15 || count == MOST_DIGITS)
            return 0;
        *word = *word << 4 | digit;
    }
    return count;
}

typedef unsigned char chunk __attribute__((vector_size(CHUNK)));
typedef uint64_t halves __attribute__((vector_size(CHUNK)));

static inline chunk load(const unsigned char *at) {
    chunk bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

static uint64_t count_commas(const unsigned char *from, const unsigned char *to) {
    enum { MOST_ADDED = 255 };
    const chunk none = {0}, comma = none | (unsigned char)',';
    uint64_t count = 0;
    while (to - from >= CHUNK) {
        chunk sums = none;
        for (unsigned i = 0; i < MOST_ADDED && to - from >= CHUNK; i++, from += CHUNK)
            sums -= (chunk)(load(from) == comma);
        for (unsigned i = 0; i < CHUNK; i++)
            count += sums[i];
    }
    for (; from < to; from++)
        count += *from == ',';
    return count;
}

/** Whether the digits end here: `at` is the last but one of them. */
static bool has_digits(const sn_scan_range *range, const unsigned char *from, const unsigned char *at) {
    if (at - from < (ptrdiff_t)range->count - 2)
        return false;
    at -= range->count - 2;
    for (unsigned i = 0; i < range->count; i++)
        if ((at[i] | CASE) != range->digits[i])
            return false;
    return true;
}

/** The word around `at`, if it is in the range. Returns from where on others may be. */
static const unsigned char *look_at_word(search *search, const unsigned char *from, const unsigned char *at) {
    uint64_t word;
    unsigned count = 0;
    const unsigned char *start = at;
    while (start > from && at - start <= MOST_DIGITS && start[-1] != '"')
        start--;
    if (start > from && start[-1] == '"')
        count = read_digits(start, &word);
    if (count == 0 || word - search->range->first >= search->range->span)
        return at + 1;
    search->number += count_commas(search->counted, start);
    search->counted = start;
    search->found(search->data, search->number, word, search->head);
    return start + count;
}

/** Words that are wholly in [from, to); behind it SN_HEAPFILE_AHEAD bytes may be loaded. */
static void search_text(search *search, const unsigned char *from, const unsigned char *to) {
    const sn_scan_range *range = search->range;
    const unsigned char *digits = range->digits + range->count - FEWEST_DIGITS, *next = from;
    const chunk none = {0}, small = none | (unsigned char)CASE;
    const chunk first = none | digits[0], second = none | digits[1], third = none | digits[2];
    for (const unsigned char *at = from; at < to; at += CHUNK) {
        halves hits = (halves)(((load(at) | small) == first) & ((load(at + 1) | small) == second) & ((load(at + 2) | small) == third));
        if (__builtin_expect((hits[0] | hits[1]) == 0, 1))
            continue;
        for (unsigned i = 0; i < CHUNK && at + i < to; i++)
            if (at + i >= next && has_digits(range, from, at + i + 1))
                next = look_at_word(search, from, at + i + 1);
    }
}

/** All words are made numbers of. */
static void read_all(sn_scan *scan, search *search) {
    uint64_t words[256], number = 0;
    sn_scan_open(scan, '[');
    for (size_t count; (count = sn_scan_words(scan, words, sizeof words / sizeof *words)) > 0; number += count) {
        search->head = number == 0 ? words[0] : search->head;
        for (size_t i = 0; i < count; i++)
            if (words[i] - search->range->first < search->range->span)
                search->found(search->data, number + i, words[i], search->head);
    }
}

/** The last comma, behind which the next part of the array begins; or `from`. */
static unsigned char *last_part(unsigned char *from, unsigned char *to) {
    while (to > from && to[-1] != ',')
        to--;
    return to;
}

void sn_scan_search_words(sn_scan *scan, const sn_scan_range *range, sn_scan_found *found, void *data) {
    sn_heapfile_input *input = &scan->input;
    search search = {.range = range, .found = found, .data = data};
    if (sn_scan_peek(scan) != '[' || range->count < FEWEST_DIGITS || !sn_heapfile_input_fill(input, SN_HEAPFILE_AHEAD) ||
        input->at[1] != '"' || read_digits(input->at + 2, &search.head) == 0) {
        read_all(scan, &search);
        return;
    }
    sn_scan_open(scan, '[');
    for (bool is_over = false; !is_over && !sn_scan_has_failed(scan);) {
        unsigned char *end = memchr(input->at, ']', (size_t)(input->end - input->at));
        unsigned char *to = end != NULL ? end : last_part(input->at, input->end);
        search.counted = input->at;
        search_text(&search, input->at, to);
        search.number += count_commas(search.counted, end != NULL ? search.counted : to);
        input->at = end != NULL ? end + 1 : to;
        is_over = end != NULL;
        if (!is_over && !sn_heapfile_input_fill(input, (size_t)(input->end - input->at) + 1))
            sn_scan_fail(scan, "the file ends too early");
    }
    scan->is_fresh = false;
}
