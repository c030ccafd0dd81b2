/**
 * @fileoverview Findings of threads, and adding them up: see <sonde/value_report.h> and value_findings.h.
 */
#include "service/value_findings.h"

#include <string.h>

#include "base/log.h"
#include "service/value_numbers.h"
#include "service/value_objects.h"

sn_value_findings sn_all_findings;

enum {
    WORDS = sizeof(sn_value_finding) / sizeof(uint64_t),
    NARROW_AMOUNTS = 2, /* as many as most tools have */
    NARROW_WORDS = offsetof(sn_value_finding, amounts) / sizeof(uint64_t) + NARROW_AMOUNTS,
};

sn_finding *sn_findings_of(sn_findings *findings, uint32_t first, uint32_t second, uint32_t class_number) {
    return sn_table_insert(findings, ((sn_finding_key){first, second, class_number}), NULL);
}

/* ------------------------------------------------------------------------- lists */

size_t sn_value_finding_count(const sn_value_finding_list *list) { return list->stride ? list->words.count / list->stride : 0; }

sn_value_finding sn_value_finding_at(const sn_value_finding_list *list, size_t number) {
    sn_value_finding finding = {0};
    memcpy(&finding, list->words.items + number * list->stride, list->stride * sizeof(uint64_t));
    return finding;
}

static void set(sn_value_finding_list *list, size_t number, const sn_value_finding *finding) {
    memcpy(list->words.items + number * list->stride, finding, list->stride * sizeof(uint64_t));
}

static void append(sn_value_finding_list *list, const sn_value_finding *finding) {
    size_t number = sn_value_finding_count(list);
    sn_vector_reserve(&list->words, list->words.count + list->stride);
    list->words.count += list->stride;
    set(list, number, finding);
}

static bool is_wide(const sn_value_finding *finding) {
    uint64_t any = finding->bits;
    for (unsigned i = NARROW_AMOUNTS; i < SN_FINDING_AMOUNTS; i++) any |= finding->amounts[i];
    return any;
}

/** Let there be room for all of a finding's words. */
static void widen(sn_value_finding_list *list) {
    sn_value_finding_list wide = {.stride = WORDS, .numbers = list->numbers};
    for (size_t i = 0; i < sn_value_finding_count(list); i++) {
        const sn_value_finding finding = sn_value_finding_at(list, i);
        append(&wide, &finding);
    }
    sn_vector_release(&list->words);
    *list = wide;
}

/* ------------------------------------------------------------------- all threads */

static sn_report_place place_of_spot(const void *state, uint32_t number) {
    sn_report_place place = {UINT32_MAX, SN_NO_CONTEXT};
    if (number) sn_values_spot(state, number, &place.site, &place.context);
    return place;
}

static bool is_same(const sn_report_place *one, const sn_report_place *other) {
    return one->site == other->site && one->context == other->context;
}

static uint64_t hash_of(const sn_value_finding *finding) {
    return sn_hash_combine((uint64_t)finding->first.site << 32 | finding->first.context,
                           (uint64_t)finding->second.site << 32 | finding->second.context);
}

static bool is_finding(const void *list, uint32_t number, const void *like) {
    const sn_value_finding known = sn_value_finding_at(list, number), *wanted = like;
    return is_same(&known.first, &wanted->first) && is_same(&known.second, &wanted->second);
}

static uint64_t hash_of_number(const void *list, uint32_t number) {
    const sn_value_finding known = sn_value_finding_at(list, number);
    return hash_of(&known);
}

/** Add a finding to the one of the same places. */
static void add(sn_value_finding_list *list, const sn_value_finding *more) {
    sn_value_numbers_reserve(&list->numbers, sn_value_finding_count(list), hash_of_number, list);
    uint32_t *slot = sn_value_numbers_find(&list->numbers, hash_of(more), is_finding, list, more);
    if (!*slot) {
        append(list, more);
        *slot = (uint32_t)sn_value_finding_count(list);
        return;
    }
    sn_value_finding finding = sn_value_finding_at(list, *slot - 1);
    for (unsigned i = 0; i < SN_FINDING_AMOUNTS; i++) finding.amounts[i] += more->amounts[i];
    finding.bits |= more->bits;
    set(list, *slot - 1, &finding);
}

void sn_report_finding(const void *state, const sn_finding *finding) {
    if (finding->key.class_number >= SN_REPORT_CLASSES) sn_fail(SN_STATUS_ENGINE, "a tool has findings of too many classes");
    sn_value_finding_list *list = &sn_all_findings.classes[finding->key.class_number];
    sn_value_finding more = {.first = place_of_spot(state, finding->key.first), .second = place_of_spot(state, finding->key.second),
                             .bits = finding->bits};
    memcpy(more.amounts, finding->amounts, sizeof more.amounts);
    if (is_wide(&more) && list->stride < WORDS) widen(list);
    else if (!list->stride) list->stride = NARROW_WORDS;
    add(list, &more);
}

void sn_report_add(const void *state, int thread, const uint64_t *totals, sn_findings *findings) {
    sn_value_thread_totals *its = sn_vector_add(&sn_all_findings.threads);
    its->thread = thread;
    memcpy(its->totals, totals, sizeof its->totals);
    if (!findings) return;
    sn_table_each(findings, finding) sn_report_finding(state, finding);
    sn_table_release(findings);
}

void sn_report_forget(void) {
    memset(&sn_all_findings, 0, sizeof sn_all_findings);
    sn_value_objects_forget();
}
