/**
 * @fileoverview The findings of all threads, added up: value_findings.c collects them, value_report.c prints.
 *
 * There may be a million of them, and then they are a good part of the memory that a detector takes: a class has them in an array,
 * without gaps, in the shortest form that holds all of them; a hash table of nothing but numbers finds the one of a pair of places.
 *
 * Changed by finishing threads, one at a time; read at the end.
 */
#ifndef SONDE_SERVICE_VALUE_FINDINGS_H
#define SONDE_SERVICE_VALUE_FINDINGS_H

#include "sonde/value_pairs.h"
#include "sonde/value_report.h"
#include "sonde/vector.h"

/** A finding. */
typedef struct sn_value_finding {
    sn_report_place first, second; /**< site UINT32_MAX: none */
    uint64_t amounts[SN_FINDING_AMOUNTS];
    uint64_t bits;
} sn_value_finding;

/** The findings of a class. */
typedef struct sn_value_finding_list {
    SN_VECTOR(uint64_t) words; /**< of each finding the first `stride` words: the others are zero */
    unsigned stride;           /**< 0: there are none yet */
    sn_value_numbers numbers;  /**< by places */
} sn_value_finding_list;

typedef struct sn_value_thread_totals {
    int thread;
    uint64_t totals[SN_REPORT_TOTALS];
} sn_value_thread_totals;

typedef struct sn_value_findings {
    sn_value_finding_list classes[SN_REPORT_CLASSES];
    SN_VECTOR(sn_value_thread_totals) threads;
} sn_value_findings;
extern sn_value_findings sn_all_findings;

size_t sn_value_finding_count(const sn_value_finding_list *list);
/** A finding of a list, numbered from 0 on. */
sn_value_finding sn_value_finding_at(const sn_value_finding_list *list, size_t number);

/** In a fork's child: what was added is the parent's. */
void sn_report_forget(void);

#endif
