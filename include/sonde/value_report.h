/**
 * @file sonde/value_report.h
 * What detectors of wasted work find, and their report: amounts by places in the program or by pairs of them.
 *
 * A detector on <sonde/values.h> adds to a thread's findings while records come in (no locks: they are part of the thread's
 * state), and gives them to its report when the thread is finished. The report adds up threads, sorts, and prints text or
 * JSON with calling contexts, source lines and disassembled instructions.
 */
#ifndef SONDE_VALUE_REPORT_H
#define SONDE_VALUE_REPORT_H

#include <sonde/json.h>
#include <sonde/table.h>
#include <sonde/value_objects.h>
#include <sonde/values.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum { SN_FINDING_AMOUNTS = 4, SN_REPORT_TOTALS = 12, SN_REPORT_CLASSES = 6 };

/** What a finding is of. */
typedef struct sn_finding_key {
    uint32_t first, second; /**< spots (sn_value_record); 0: none */
    uint64_t class_number;  /**< which of the tool's classes of findings */
} sn_finding_key;

/** What was found at a place, or of a pair of places. */
typedef struct sn_finding {
    sn_finding_key key;
    uint64_t amounts[SN_FINDING_AMOUNTS]; /**< added up; the first one is bytes and decides over the order */
    uint64_t bits;                        /**< combined by "or" */
} sn_finding;

/** Findings of one thread. All zero is empty; the members are its own. */
typedef SN_TABLE(sn_finding) sn_findings;

/** The entry of a pair and class, made if there is none: add to it at once, the next call may move it. */
sn_finding *sn_findings_of(sn_findings *findings, uint32_t first, uint32_t second, uint32_t class_number);

/** A kind of findings that is listed by itself. */
typedef struct sn_finding_class {
    const char *name;    /**< for JSON: "dead" */
    const char *title;   /**< heading of the list */
    const char *first;   /**< what the first place is: "stored"; NULL: there is none */
    const char *second;  /**< "stored again"; NULL: there is none */
    unsigned total;      /**< number of the total that shares are of */
} sn_finding_class;

/** A place of a finding when threads were added up. */
typedef struct sn_report_place {
    uint32_t site;       /**< one of those of the same instruction and operand */
    sn_context context;
} sn_report_place;

/** A line of text about a finding, for the tool to say what follows from it. Writes nothing when there is nothing to say. What
    threads found is added up: the finding's spots mean nothing. */
typedef void sn_finding_remark(const sn_finding *finding, const sn_value_site *site, char *text, size_t size);

/** What a tool's report is made of. Constant. */
typedef struct sn_report_form {
    const char *tool;
    const char *title;                              /**< "redundant loads" */
    const char *totals[SN_REPORT_TOTALS];           /**< names; up to the first NULL */
    unsigned base[SN_REPORT_TOTALS];                /**< fraction of which total, plus 1; 0: print no fraction */
    const char *amounts[SN_FINDING_AMOUNTS];        /**< names */
    sn_finding_class classes[SN_REPORT_CLASSES];    /**< up to one without name */
    sn_finding_remark *remark;                      /**< or NULL */
} sn_report_form;

/** Rows for a tool's option table: --top=N, --format=text|json, --data-centric=yes|no. */
#define SN_REPORT_OPTIONS                                                                                  \
    {"top", SN_OPTION_NUMBER, &sn_report_top, "10", NULL, "findings that are printed of each kind"},       \
    {"format", SN_OPTION_CHOICE, &sn_report_format, "text", "text|json", "form of the report"},            \
    {"data-centric", SN_OPTION_FLAG, &sn_values_data_centric, "no", NULL,                                  \
     "report by data object too: heap blocks by where they were allocated, variables, frames, files"}

extern int64_t sn_report_top;
extern int sn_report_format;

/** From the tool's `finish`: add a finding of the thread to the report, without a table of the thread's. One call at a time. */
void sn_report_finding(const void *state, const sn_finding *finding);

/** From the tool's `finish`: add a thread's totals and findings (NULL: none), whose memory is given back. One call at a
    time. */
void sn_report_add(const void *state, int thread, const uint64_t *totals, sn_findings *findings);

/** From the tool's `end`, behind sn_values_end(): print to sn_output(). */
void sn_report_print(const sn_report_form *form);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
