/**
 * @fileoverview Findings of threads, and adding them up: see <sonde/value_report.h> and value_findings.h.
 */
#include "service/value_findings.h"

#include <string.h>

#include "service/value_objects.h"

sn_value_findings sn_all_findings;

sn_finding *sn_findings_of(sn_findings *findings, uint32_t first, uint32_t second, uint32_t class_number) {
    return sn_table_insert(findings, ((sn_finding_key){first, second, class_number}), NULL);
}

/* ------------------------------------------------------------------- all threads */

static sn_report_place place_of_spot(const void *state, uint32_t number) {
    sn_report_place place = {UINT32_MAX, SN_NO_CONTEXT};
    if (number) sn_values_spot(state, number, &place.site, &place.context);
    return place;
}

static void merge(const void *state, const sn_finding *finding) {
    bool is_new;
    const sn_value_finding_key key = {place_of_spot(state, finding->key.first), place_of_spot(state, finding->key.second),
                                      finding->key.class_number};
    sn_value_finding *entry = sn_table_insert(&sn_all_findings.table, key, &is_new);
    if (is_new) {
        entry->finding = *finding;
        return;
    }
    for (unsigned i = 0; i < SN_FINDING_AMOUNTS; i++) entry->finding.amounts[i] += finding->amounts[i];
    entry->finding.bits |= finding->bits;
}

void sn_report_add(const void *state, int thread, const uint64_t *totals, sn_findings *findings) {
    sn_value_thread_totals *its = sn_vector_add(&sn_all_findings.threads);
    its->thread = thread;
    memcpy(its->totals, totals, sizeof its->totals);
    sn_table_each(findings, finding) merge(state, finding);
    sn_table_release(findings);
}

void sn_report_forget(void) {
    memset(&sn_all_findings, 0, sizeof sn_all_findings);
    sn_value_objects_forget();
}
