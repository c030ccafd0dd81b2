/**
 * @fileoverview JSON as a stream, piece by piece as the reader asks for it: for heap files, of gigabytes.
 *
 *     sn_scan_open(scan, '{');
 *     while (sn_scan_more(scan, '}')) {
 *         if (strcmp(sn_scan_key(scan), "version") == 0) version = sn_scan_count(scan);
 *         else sn_scan_skip(scan);
 *     }
 *
 * What is wrong stays: from then on every function says that there is nothing more. Nearly all of a large file are words in
 * hexadecimal, for which a general
 * parser makes strings: on a dump of 1.07 GB with two million blocks, yajl with callbacks that make them numbers takes 3.4 s of
 * processor time, and the whole of `sonde report --block=` with this 1.2 s. Used by heap_file.c.
 */
#ifndef SONDE_REPORT_HEAP_SCAN_H
#define SONDE_REPORT_HEAP_SCAN_H

#include "sonde/vector.h"
#include "report/heap_input.h"

enum { SN_SCAN_WRONG_SIZE = 200, SN_SCAN_MOST_DEPTH = 64 };

typedef struct sn_scan {
    sn_heapfile_input input;
    char wrong[SN_SCAN_WRONG_SIZE]; /**< empty, or what is wrong with the file, with the place: for behind its name */
    bool is_fresh;                  /**< an object or array was opened, and nothing of it read */
    bool is_closed;                 /**< sn_scan_words() has found the array's end with the words it returned */
    SN_VECTOR(char) text;           /**< the last string, with a zero byte behind */
} sn_scan;

void sn_scan_begin(sn_scan *scan, int descriptor);
void sn_scan_end(sn_scan *scan);

/** Only the first call has an effect. */
void sn_scan_fail(sn_scan *scan, const char *what);
static inline bool sn_scan_has_failed(const sn_scan *scan) { return scan->wrong[0] != '\0'; }

/** The next byte that is not white space, which is not consumed; -1 at the end. */
int sn_scan_peek(sn_scan *scan);

/** Open an object or array: '{' or '['. */
void sn_scan_open(sn_scan *scan, char bracket);
/** Whether one more value follows in what was opened last and is not closed; otherwise its end, `bracket`, is consumed. */
bool sn_scan_more(sn_scan *scan, char bracket);
/** The name of a member. Valid until the next string is read. */
const char *sn_scan_key(sn_scan *scan);

/** What stands behind a member's name that was read as another string. */
void sn_scan_colon(sn_scan *scan);

/** A text of up to 8 bytes as a number: what members are told apart by where there are millions. */
static inline uint64_t sn_scan_code_of(const char *text, size_t length) {
    uint64_t code = 0;
    memcpy(&code, text, length < sizeof code ? length : sizeof code);
    return length > sizeof code ? 0 : code;
}
/** The name of a member as a number; 0: it has more bytes. */
uint64_t sn_scan_key_code(sn_scan *scan);
/** A string of up to 7 bytes as a number (its code shifted by 7, and its length), or, if it has more, the address of its
    interned text with the highest bit. Identifiers are told apart by it. */
uint64_t sn_scan_identifier(sn_scan *scan);
/** A string; zero bytes in it are U+FFFD. Valid until the next one is read. */
const char *sn_scan_string(sn_scan *scan);
/** Length in bytes of the last string or key. */
static inline size_t sn_scan_length(const sn_scan *scan) { return scan->text.count == 0 ? 0 : scan->text.count - 1; }
/** A whole number from 0 to INT64_MAX. */
uint64_t sn_scan_count(sn_scan *scan);
/** A string of 1 to 16 hexadecimal digits. */
uint64_t sn_scan_hexadecimal(sn_scan *scan);
/** If null follows, consume it. */
bool sn_scan_null(sn_scan *scan);
/** Any value. */
void sn_scan_skip(sn_scan *scan);
/** Nothing but white space may follow. */
void sn_scan_finish(sn_scan *scan);

/** In an array of strings of 1 to 16 hexadecimal digits: the next ones, at most `room`. 0: the array is closed. */
size_t sn_scan_words(sn_scan *scan, uint64_t *words, size_t room);
/** Skip an array of such strings, without a look at them. */
void sn_scan_skip_words(sn_scan *scan);

#endif
