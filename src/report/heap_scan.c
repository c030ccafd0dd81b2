/**
 * @fileoverview JSON as a stream. See heap_scan.h.
 */
#include "report/heap_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sonde/intern.h"

void sn_scan_begin(sn_scan *scan, int descriptor) {
    memset(scan, 0, sizeof *scan);
    sn_heapfile_input_open(&scan->input, descriptor);
}

void sn_scan_end(sn_scan *scan) {
    sn_heapfile_input_close(&scan->input);
    sn_vector_release(&scan->text);
}

void sn_scan_fail(sn_scan *scan, const char *what) {
    if (sn_scan_has_failed(scan))
        return;
    if (scan->input.wrong != NULL)
        what = scan->input.wrong;
    snprintf(scan->wrong, sizeof scan->wrong, "byte %" PRIu64 ": %s", sn_heapfile_input_place(&scan->input), what);
}

/** The end of the file where it must not be, or what is there is wrong. */
static void fail_here(sn_scan *scan, const char *what) {
    bool is_end = scan->input.at == scan->input.end && !sn_heapfile_input_fill(&scan->input, 1);
    sn_scan_fail(scan, is_end ? "the file ends too early" : what);
}

/** One byte, not consumed; -1 at the end. */
static inline int byte(sn_scan *scan) {
    if (scan->input.at == scan->input.end && !sn_heapfile_input_fill(&scan->input, 1))
        return -1;
    return *scan->input.at;
}

static inline bool is_space(int character) {
    return character == ' ' || character == '\n' || character == '\r' || character == '\t';
}

static inline int peek(sn_scan *scan) {
    int next;
    while (is_space(next = byte(scan)))
        scan->input.at++;
    return next;
}

int sn_scan_peek(sn_scan *scan) {
    return peek(scan);
}

/** Consume `character` if it is next. */
static inline bool take(sn_scan *scan, int character) {
    if (sn_scan_has_failed(scan) || peek(scan) != character)
        return false;
    scan->input.at++;
    return true;
}

void sn_scan_open(sn_scan *scan, char bracket) {
    if (!take(scan, bracket))
        fail_here(scan, bracket == '{' ? "an object is expected" : "an array is expected");
    scan->is_fresh = true;
}

bool sn_scan_more(sn_scan *scan, char bracket) {
    bool is_first = scan->is_fresh;
    scan->is_fresh = false;
    if (sn_scan_has_failed(scan) || take(scan, bracket))
        return false;
    if (!is_first && !take(scan, ',')) {
        fail_here(scan, bracket == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
        return false;
    }
    return true;
}

/* --------------------------------------------------------------- eight bytes at once */

/** Bytes of 0x01 and so on. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t load(const unsigned char *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/** The highest bit of each byte that is `wanted`; bits above the first such byte may be wrong. */
static inline uint64_t bytes_like(uint64_t bytes, unsigned wanted) {
    uint64_t zeros = bytes ^ EACH(wanted);
    return (zeros - EACH(1)) & ~zeros & EACH(0x80);
}

/** The number of bytes before the first quote: at most 8. Bytes are in the order of memory on a little-endian machine. */
static inline unsigned before_quote(uint64_t bytes) {
    uint64_t zeros = bytes_like(bytes, '"');
    return zeros == 0 ? 8 : (unsigned)__builtin_ctzll(zeros) / 8;
}

/** A string of up to 7 bytes without escapes, wholly in the window: consume it. False: it is to be read otherwise. */
static inline bool take_short(sn_scan *scan, uint64_t *code, unsigned *length) {
    const unsigned char *at = scan->input.at;
    if (scan->input.end - at < 16 || at[0] != '"')
        return false;
    uint64_t bytes = load(at + 1);
    unsigned count = before_quote(bytes);
    uint64_t kept = count == 0 ? 0 : bytes & UINT64_MAX >> (64 - 8 * count);
    /* control characters: bytes below 0x20, taken where the byte has no high bit */
    uint64_t controls = (kept - (EACH(0x20) & (count == 0 ? 0 : UINT64_MAX >> (64 - 8 * count)))) & ~kept & EACH(0x80);
    if (count == 8 || bytes_like(kept, '\\') != 0 || controls != 0)
        return false;
    scan->input.at += count + 2;
    *code = kept;
    *length = count;
    return true;
}

/* ------------------------------------------------------------------------ strings */

static void add_bytes(sn_scan *scan, const unsigned char *bytes, size_t size) {
    size_t old = scan->text.count;
    sn_vector_reserve(&scan->text, old + size + 1);
    memcpy(scan->text.items + old, bytes, size);
    scan->text.count = old + size;
}

static void add_character(sn_scan *scan, uint32_t code) {
    unsigned char bytes[4];
    unsigned size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = size - 1; i > 0; i--) {
        bytes[i] = 0x80 | (code & 0x3f);
        code >>= 6;
    }
    bytes[0] = (unsigned char)(leads[size] | code);
    add_bytes(scan, bytes, size);
}

static unsigned digit_value(int character) {
    if (character >= '0' && character <= '9')
        return (unsigned)character - '0';
    character |= 0x20;
    return character >= 'a' && character <= 'f' ? (unsigned)character - 'a' + 10 : 16;
}

/** The four digits of \u. */
static uint32_t read_unit(sn_scan *scan) {
    uint32_t unit = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned digit = digit_value(byte(scan));
        if (digit > 15) {
            fail_here(scan, "\\u needs four hexadecimal digits");
            return 0;
        }
        unit = unit << 4 | digit;
        scan->input.at++;
    }
    return unit;
}

enum { REPLACEMENT = 0xfffd };

/** Behind \u: a character, of two units where it takes them. */
static void read_unicode(sn_scan *scan) {
    uint32_t unit = read_unit(scan), low;
    if (unit >= 0xd800 && unit < 0xdc00 && sn_heapfile_input_fill(&scan->input, 2) && memcmp(scan->input.at, "\\u", 2) == 0) {
        scan->input.at += 2;
        low = read_unit(scan);
        unit = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT;
    }
    bool is_character = unit != 0 && (unit < 0xd800 || unit >= 0xe000);
    add_character(scan, is_character ? unit : REPLACEMENT);
}

static void read_escape(sn_scan *scan) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int name = byte(scan);
    const char *found = name > 0 ? strchr(names, name) : NULL;
    if (found == NULL && name != 'u') {
        fail_here(scan, "an unknown escape in a string");
        return;
    }
    scan->input.at++;
    if (found != NULL)
        add_character(scan, (unsigned char)values[found - names]);
    else
        read_unicode(scan);
}

/** Up to the quote or escape that is next, or the end of what is in the window. */
static void read_plain(sn_scan *scan) {
    unsigned char *from = scan->input.at, *at = from;
    while (at < scan->input.end && *at != '"' && *at != '\\' && *at >= ' ')
        at++;
    add_bytes(scan, from, (size_t)(at - from));
    scan->input.at = at;
}

const char *sn_scan_string(sn_scan *scan) {
    sn_vector_clear(&scan->text);
    if (!take(scan, '"'))
        fail_here(scan, "a string is expected");
    while (!sn_scan_has_failed(scan)) {
        int next = byte(scan);
        if (next == '"') {
            scan->input.at++;
            break;
        }
        if (next == '\\') {
            scan->input.at++;
            read_escape(scan);
        } else if (next < ' ') {
            fail_here(scan, "a control character in a string");
        } else {
            read_plain(scan);
        }
    }
    *sn_vector_add(&scan->text) = '\0';
    return scan->text.items;
}

void sn_scan_colon(sn_scan *scan) {
    if (!take(scan, ':'))
        fail_here(scan, "':' is expected");
}

const char *sn_scan_key(sn_scan *scan) {
    sn_scan_string(scan);
    sn_scan_colon(scan);
    return scan->text.items;
}

uint64_t sn_scan_key_code(sn_scan *scan) {
    uint64_t code;
    unsigned length;
    peek(scan);
    if (sn_scan_has_failed(scan) || !take_short(scan, &code, &length)) {
        const char *text = sn_scan_key(scan);
        return sn_scan_code_of(text, sn_scan_length(scan));
    }
    sn_scan_colon(scan);
    return code;
}

uint64_t sn_scan_identifier(sn_scan *scan) {
    uint64_t code = 0;
    unsigned length;
    peek(scan);
    if (!sn_scan_has_failed(scan) && take_short(scan, &code, &length))
        return code << 8 >> 1 | length;
    const char *text = sn_scan_string(scan);
    if (sn_scan_length(scan) >= sizeof code)
        return (uint64_t)(uintptr_t)sn_intern_bytes(text, sn_scan_length(scan)) | UINT64_C(1) << 63;
    return sn_scan_code_of(text, sn_scan_length(scan)) << 8 >> 1 | sn_scan_length(scan);
}

/* ------------------------------------------------------------------ numbers, others */

uint64_t sn_scan_count(sn_scan *scan) {
    uint64_t value = 0;
    int next = peek(scan);
    if (sn_scan_has_failed(scan) || next < '0' || next > '9') {
        fail_here(scan, "a number is expected that is not negative");
        return 0;
    }
    for (; (next = byte(scan)) >= '0' && next <= '9'; scan->input.at++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (unsigned)next - '0', &value) ||
            value > INT64_MAX) {
            sn_scan_fail(scan, "a number is too large");
            return 0;
        }
    }
    if (next == '.' || next == 'e' || next == 'E') {
        sn_scan_fail(scan, "a whole number is expected");
        return 0;
    }
    return value;
}

/** Bytes below 0x80 that are at least `least`: their highest bits. */
static inline uint64_t at_least(uint64_t bytes, unsigned least) {
    return (bytes + EACH(0x80 - least)) & EACH(0x80);
}

/** The highest bit of each byte that is no hexadecimal digit. */
static inline uint64_t not_digits(uint64_t bytes) {
    uint64_t low = bytes & EACH(0x7f), letters = low | EACH(0x20);
    uint64_t digits = at_least(low, '0') & ~at_least(low, '9' + 1);
    uint64_t letter = at_least(letters, 'a') & ~at_least(letters, 'f' + 1);
    return ((~(digits | letter)) | bytes) & EACH(0x80);
}

/** Eight digits, the first the highest, of which bytes of 0 are zeros. */
static inline uint64_t digits_value(uint64_t bytes) {
    uint64_t values = (bytes & EACH(0x0f)) + 9 * (bytes >> 6 & EACH(1));
    values = __builtin_bswap64(values);
    values = (values | values >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    values = (values | values >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (values | values >> 16) & UINT64_C(0xffffffff);
}

/** `count` digits of 1 to 8 at `bytes`. */
static inline bool read_digits(uint64_t bytes, unsigned count, uint64_t *value) {
    uint64_t kept = count == 8 ? bytes : bytes << (64 - 8 * count);
    uint64_t padded = count == 8 ? kept : kept | EACH('0') >> (8 * count); /* so that all are digits */
    *value = digits_value(padded);
    return not_digits(padded) == 0;
}

/** A word with its quotes; returns the place behind, or NULL. 32 bytes may be loaded. */
static inline __attribute__((always_inline)) const unsigned char *read_word(const unsigned char *at, uint64_t *word) {
    uint64_t first, second = 0;
    if (*at++ != '"')
        return NULL;
    uint64_t high = load(at);
    unsigned count = before_quote(high), more = 0;
    if (count == 0 || !read_digits(high, count, &first))
        return NULL;
    if (count == 8) {
        uint64_t low = load(at + 8);
        more = before_quote(low);
        if (more > 0 && !read_digits(low, more, &second))
            return NULL;
    }
    *word = more == 0 ? first : first << (4 * more) | second;
    at += count + more;
    return *at == '"' ? at + 1 : NULL;
}

uint64_t sn_scan_hexadecimal(sn_scan *scan) {
    uint64_t value = 0;
    peek(scan);
    if (!sn_scan_has_failed(scan) && scan->input.end - scan->input.at >= SN_HEAPFILE_AHEAD / 2) {
        const unsigned char *behind = read_word(scan->input.at, &value);
        if (behind != NULL) {
            scan->input.at += behind - scan->input.at;
            return value;
        }
        value = 0;
    }
    const char *text = sn_scan_string(scan);
    size_t length = sn_scan_length(scan);
    for (size_t i = 0; i < length && length <= 16; i++) {
        unsigned digit = digit_value(text[i]);
        if (digit > 15)
            length = 0;
        value = value << 4 | digit;
    }
    if (length == 0 || length > 16) {
        sn_scan_fail(scan, "up to 16 hexadecimal digits are expected");
        return 0;
    }
    return value;
}

static bool take_word(sn_scan *scan, const char *word) {
    size_t size = strlen(word);
    if (sn_scan_has_failed(scan) || peek(scan) != word[0] || !sn_heapfile_input_fill(&scan->input, size) ||
        memcmp(scan->input.at, word, size) != 0)
        return false;
    scan->input.at += size;
    return true;
}

bool sn_scan_null(sn_scan *scan) {
    return take_word(scan, "null");
}

static void skip_number(sn_scan *scan) {
    unsigned digits = 0;
    for (int next; (next = byte(scan)) > 0 && strchr("0123456789+-.eE", next) != NULL; scan->input.at++)
        digits += next >= '0' && next <= '9';
    if (digits == 0)
        fail_here(scan, "a value is expected");
}

/** A value that holds no others. */
static void skip_simple(sn_scan *scan) {
    uint64_t code;
    unsigned length;
    int next = peek(scan);
    if (next == '"' && !sn_scan_has_failed(scan) && take_short(scan, &code, &length))
        return;
    if (next == '"')
        sn_scan_string(scan);
    else if (!take_word(scan, "null") && !take_word(scan, "true") && !take_word(scan, "false"))
        skip_number(scan);
}

void sn_scan_skip(sn_scan *scan) {
    char open[SN_SCAN_MOST_DEPTH]; /* the brackets that close what is open */
    unsigned depth = 0;
    do {
        int next = peek(scan);
        if (next == '{' || next == '[') {
            if (depth == SN_SCAN_MOST_DEPTH) {
                sn_scan_fail(scan, "too many objects and arrays within each other");
                return;
            }
            open[depth++] = next == '{' ? '}' : ']';
            sn_scan_open(scan, (char)next);
        } else {
            skip_simple(scan);
        }
        while (depth > 0 && !sn_scan_more(scan, open[depth - 1]))
            depth--;
        if (depth > 0 && open[depth - 1] == '}')
            sn_scan_key(scan);
    } while (depth > 0 && !sn_scan_has_failed(scan));
}

void sn_scan_finish(sn_scan *scan) {
    if (sn_scan_has_failed(scan))
        return;
    if (peek(scan) != -1)
        sn_scan_fail(scan, "something follows the end of the object");
    else if (scan->input.wrong != NULL)
        sn_scan_fail(scan, "");
}

/* -------------------------------------------------------------------------- words */

/** The words that are wholly in the window, with what is behind each. */
static size_t read_window(sn_scan *scan, uint64_t *words, size_t room) {
    static const unsigned char zeros[] = {'"', '0', '"', ',', '"', '0', '"', ','};
    const unsigned char *at = scan->input.at, *limit = scan->input.end - SN_HEAPFILE_AHEAD / 2;
    size_t count = 0;
    while (count < room && at < limit && !scan->is_closed) {
        if (memcmp(at, zeros, sizeof zeros) == 0 && count + 2 <= room) { /* most words are zero, and side by side */
            words[count] = words[count + 1] = 0;
            count += 2;
            at += sizeof zeros;
        } else if (memcmp(at, zeros, sizeof zeros / 2) == 0) {
            words[count++] = 0;
            at += sizeof zeros / 2;
        } else {
            const unsigned char *behind = read_word(at, &words[count]);
            if (behind == NULL || (*behind != ',' && *behind != ']'))
                break;
            count++;
            scan->is_closed = *behind == ']';
            at = behind + 1;
        }
        while (*at <= ' ' && is_space(*at) && !scan->is_closed) /* it stops at the file's end, where zeros are */
            at++;
    }
    scan->input.at += at - scan->input.at;
    return count;
}

/** One word, wherever it is, and what is behind it. */
static void read_slowly(sn_scan *scan, uint64_t *word) {
    *word = sn_scan_hexadecimal(scan);
    scan->is_closed = take(scan, ']');
    if (!scan->is_closed && !take(scan, ','))
        fail_here(scan, "',' or ']' is expected");
}

size_t sn_scan_words(sn_scan *scan, uint64_t *words, size_t room) {
    size_t count = 0;
    if (scan->is_fresh)
        scan->is_closed = take(scan, ']');
    scan->is_fresh = false;
    while (count < room && !scan->is_closed && !sn_scan_has_failed(scan)) {
        size_t some = 0;
        if (sn_heapfile_input_fill(&scan->input, SN_HEAPFILE_AHEAD))
            some = read_window(scan, words + count, room - count);
        if (some == 0)
            read_slowly(scan, &words[count + some++]);
        count += some;
    }
    if (count == 0)
        scan->is_closed = false;
    return sn_scan_has_failed(scan) ? 0 : count;
}

void sn_scan_skip_words(sn_scan *scan) {
    sn_scan_open(scan, '[');
    while (!sn_scan_has_failed(scan)) {
        sn_heapfile_input *input = &scan->input;
        unsigned char *end = memchr(input->at, ']', (size_t)(input->end - input->at));
        input->at = end != NULL ? end + 1 : input->end;
        if (end != NULL)
            break;
        if (!sn_heapfile_input_fill(input, 1))
            fail_here(scan, "");
    }
    scan->is_fresh = false;
}
