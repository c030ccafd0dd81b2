/**
 * @fileoverview Reports of the tools that look at values (loadspy, deadspy, redspy, zerospy; --format=json) as `sonde report` reads
 * them. src/service/value_report.c writes them.
 *
 * values_reader.c reads, values.c prints text and is the row of the table in report.c, values_page.c writes a page.
 */
#ifndef SONDE_REPORT_VALUES_H
#define SONDE_REPORT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/vector.h"

/** Some neighbours of a pool. */
typedef struct sn_values_span {
    uint32_t first, count;
} sn_values_span;

typedef struct sn_values_amount {
    const char *name;
    uint64_t value;
} sn_values_amount;

/** One of the two places of a finding. */
typedef struct sn_values_place {
    const char *instruction, *type, *function, *file; /**< the last two may be NULL */
    uint64_t size, line;
    sn_values_span context; /**< lines, innermost first */
    bool is_there;
} sn_values_place;

/** A finding; or a data object, which has a kind and no places. */
typedef struct sn_values_finding {
    sn_values_span amounts;       /**< the first one is bytes and decides over the order */
    const char *remark;           /**< or NULL */
    const char *kind, *name, *module;
    sn_values_span context;       /**< of a data object */
    sn_values_place places[2];
} sn_values_finding;

/** Findings of one kind. */
typedef struct sn_values_list {
    const char *name, *title;
    const char *labels[2];        /**< what its places are; NULL: there is no such */
    uint64_t count, total;        /**< how many there were, of which the file has the first; bytes of which shares are */
    sn_values_span findings;
} sn_values_list;

typedef struct sn_values_thread {
    uint64_t number;
    sn_values_span totals;
} sn_values_thread;

/** A report. Texts live until the end of the process. */
typedef struct sn_values_file {
    const char *path, *tool, *title;
    sn_values_span command, totals;
    SN_VECTOR(const char *) texts;             /**< pool: words of the command, lines of contexts */
    SN_VECTOR(sn_values_amount) amounts;       /**< pool */
    SN_VECTOR(sn_values_thread) threads;
    SN_VECTOR(sn_values_finding) findings;     /**< pool */
    SN_VECTOR(sn_values_list) lists;
} sn_values_file;

bool sn_values_recognises(const char *head, size_t size);
enum { SN_VALUES_WRONG_SIZE = 200 };
/** Read from a descriptor, which is closed then. False: `wrong`, of SN_VALUES_WRONG_SIZE bytes, says for behind the file's name
    what is; what was read until then must be released as well. */
bool sn_values_parse(sn_values_file *file, int descriptor, char *wrong);
/** Read a file. What is wrong with it ends the run with one line. */
void sn_values_read(sn_values_file *file, const char *path);
void sn_values_release(sn_values_file *file);

/** The share of a finding's bytes in its list's. */
double sn_values_share(const sn_values_file *file, const sn_values_list *list, const sn_values_finding *finding);

/** Write the page. What cannot be written ends the run with one line. */
void sn_values_page_write(const char *path, const sn_values_file *file);

#endif
