/**
 * @fileoverview The findings of all threads, added up: value_findings.c collects them, value_report.c prints.
 *
 * Changed by finishing threads, one at a time; read at the end.
 */
#ifndef SONDE_SERVICE_VALUE_FINDINGS_H
#define SONDE_SERVICE_VALUE_FINDINGS_H

#include "sonde/value_report.h"
#include "sonde/vector.h"

typedef struct sn_value_finding_key {
    sn_report_place first, second; /**< site UINT32_MAX: none */
    uint64_t class_number;
} sn_value_finding_key;

typedef struct sn_value_finding {
    sn_value_finding_key key;
    sn_finding finding;            /**< its spots mean nothing any more */
} sn_value_finding;

typedef struct sn_value_thread_totals {
    int thread;
    uint64_t totals[SN_REPORT_TOTALS];
} sn_value_thread_totals;

typedef struct sn_value_findings {
    SN_TABLE(sn_value_finding) table;
    SN_VECTOR(sn_value_thread_totals) threads;
} sn_value_findings;
extern sn_value_findings sn_all_findings;

/** In a fork's child: what was added is the parent's. */
void sn_report_forget(void);

#endif
