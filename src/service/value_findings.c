/**
 * @fileoverview Findings of threads, and adding them up: see <sonde/value_report.h> and value_findings.h.
 */
#include "service/value_findings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "service/value_objects.h"

sn_value_findings sn_all_findings;

static void *checked(void *memory) {
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for findings");
    return memory;
}

/* -------------------------------------------------------------------- one thread */

static uint64_t mixed(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ b * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static bool is_free(const sn_finding *entry) { return !entry->first && !entry->second; }

static sn_finding *place_of(const sn_findings *findings, uint32_t first, uint32_t second, uint32_t class_number) {
    for (size_t i = mixed((uint64_t)first << 32 | second, class_number);; i++) {
        sn_finding *entry = &findings->entries[i & (findings->room - 1)];
        if (is_free(entry) || (entry->first == first && entry->second == second && entry->class_number == class_number))
            return entry;
    }
}

static void grow(sn_findings *findings) {
    sn_finding *old = findings->entries;
    size_t old_room = findings->room;
    findings->room = old_room ? 2 * old_room : 1024;
    findings->entries = checked(calloc(findings->room, sizeof *findings->entries));
    for (size_t i = 0; i < old_room; i++)
        if (!is_free(&old[i])) *place_of(findings, old[i].first, old[i].second, (uint32_t)old[i].class_number) = old[i];
    free(old);
}

sn_finding *sn_findings_of(sn_findings *findings, uint32_t first, uint32_t second, uint32_t class_number) {
    if (4 * (findings->count + 1) > 3 * findings->room) grow(findings);
    sn_finding *entry = place_of(findings, first, second, class_number);
    if (is_free(entry)) {
        entry->first = first;
        entry->second = second;
        entry->class_number = class_number;
        findings->count++;
    }
    return entry;
}

/* ------------------------------------------------------------------- all threads */

static bool is_same_place(const sn_report_place *a, const sn_report_place *b) {
    return a->site == b->site && a->context == b->context;
}

static sn_value_finding *merged_place(const sn_value_finding *like) {
    uint64_t key = mixed((uint64_t)like->first.site << 32 | like->first.context,
                         ((uint64_t)like->second.site << 32 | like->second.context) + like->finding.class_number);
    for (size_t i = key;; i++) {
        sn_value_finding *entry = &sn_all_findings.entries[i & (sn_all_findings.room - 1)];
        if (!entry->is_used || (is_same_place(&entry->first, &like->first) && is_same_place(&entry->second, &like->second) &&
                                entry->finding.class_number == like->finding.class_number))
            return entry;
    }
}

/** Room for so many more, at once: a thread may have millions. */
static void make_room(size_t more) {
    sn_value_finding *old = sn_all_findings.entries;
    size_t old_room = sn_all_findings.room, room = old_room ? old_room : 4096;
    while (4 * (sn_all_findings.count + more) > 3 * room) room *= 2;
    if (room == old_room) return;
    sn_all_findings.room = room;
    sn_all_findings.entries = checked(calloc(sn_all_findings.room, sizeof *old));
    for (size_t i = 0; i < old_room; i++)
        if (old[i].is_used) *merged_place(&old[i]) = old[i];
    free(old);
}

static sn_report_place place_of_spot(const void *state, uint32_t number) {
    sn_report_place place = {UINT32_MAX, SN_NO_CONTEXT};
    if (number) sn_values_spot(state, number, &place.site, &place.context);
    return place;
}

static void merge(const void *state, const sn_finding *finding) {
    sn_value_finding like = {.is_used = true, .first = place_of_spot(state, finding->first),
                             .second = place_of_spot(state, finding->second), .finding = *finding};
    sn_value_finding *entry = merged_place(&like);
    if (!entry->is_used) {
        *entry = like;
        sn_all_findings.count++;
        return;
    }
    for (unsigned i = 0; i < SN_FINDING_AMOUNTS; i++) entry->finding.amounts[i] += finding->amounts[i];
    entry->finding.bits |= finding->bits;
}

void sn_report_add(const void *state, int thread, const uint64_t *totals, sn_findings *findings) {
    sn_all_findings.threads = checked(realloc(sn_all_findings.threads,
                                              (sn_all_findings.thread_count + 1) * sizeof *sn_all_findings.threads));
    sn_value_thread_totals *its = &sn_all_findings.threads[sn_all_findings.thread_count++];
    its->thread = thread;
    memcpy(its->totals, totals, sizeof its->totals);
    make_room(findings->count);
    for (size_t i = 0; i < findings->room; i++)
        if (!is_free(&findings->entries[i])) merge(state, &findings->entries[i]);
    free(findings->entries);
    memset(findings, 0, sizeof *findings);
}

void sn_report_forget(void) {
    memset(&sn_all_findings, 0, sizeof sn_all_findings);
    sn_value_objects_forget();
}
