/**
 * @fileoverview Reads reports of the tools that look at values. See values.h.
 *
 * Lists are read by the names that "lists" has given before; members that are not known are skipped, so that a later version may
 * have more of them.
 */
#include "report/values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "report/heap_scan.h"
#include "report/report.h"
#include "sonde/intern.h"

enum { VERSION = 1 };
_Static_assert((int)SN_VALUES_WRONG_SIZE >= (int)SN_SCAN_WRONG_SIZE, "what is wrong fits");

/** What the file begins with, but for white space. */
static const char beginning[] = "{\"values_report\":";

bool sn_values_recognises(const char *head, size_t size) {
    size_t seen = 0;
    for (size_t i = 0; i < size && seen < sizeof beginning - 1; i++) {
        if (strchr(" \t\r\n", head[i]) != NULL && head[i] != '\0') continue;
        if (head[i] != beginning[seen++]) return false;
    }
    return seen == sizeof beginning - 1;
}

/* ----------------------------------------------------------------------- pieces */

static const char *text_or_null(sn_scan *scan) { return sn_scan_null(scan) ? NULL : sn_intern(sn_scan_string(scan)); }

static sn_values_span read_texts(sn_scan *scan, sn_values_file *file) {
    sn_values_span span = {.first = (uint32_t)file->texts.count};
    sn_scan_open(scan, '[');
    while (sn_scan_more(scan, ']')) {
        *sn_vector_add(&file->texts) = sn_intern(sn_scan_string(scan));
        span.count++;
    }
    return span;
}

static void add_amount(sn_scan *scan, sn_values_file *file, sn_values_span *span, const char *name) {
    *sn_vector_add(&file->amounts) = (sn_values_amount){name, sn_scan_count(scan)};
    span->count++;
}

static sn_values_span read_totals(sn_scan *scan, sn_values_file *file) {
    sn_values_span span = {.first = (uint32_t)file->amounts.count};
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        const char *name = sn_intern(sn_scan_key(scan));
        add_amount(scan, file, &span, name);
    }
    return span;
}

static void read_threads(sn_scan *scan, sn_values_file *file) {
    sn_scan_open(scan, '[');
    while (sn_scan_more(scan, ']')) {
        sn_values_thread *thread = sn_vector_add(&file->threads);
        sn_scan_open(scan, '{');
        while (sn_scan_more(scan, '}')) {
            const char *name = sn_scan_key(scan);
            if (strcmp(name, "thread") == 0) thread->number = sn_scan_count(scan);
            else if (strcmp(name, "totals") == 0) thread->totals = read_totals(scan, file);
            else sn_scan_skip(scan);
        }
    }
}

static sn_values_place read_place(sn_scan *scan, sn_values_file *file) {
    sn_values_place place = {.is_there = true, .instruction = "", .type = ""};
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        const char *name = sn_scan_key(scan);
        if (strcmp(name, "instruction") == 0) place.instruction = sn_intern(sn_scan_string(scan));
        else if (strcmp(name, "type") == 0) place.type = sn_intern(sn_scan_string(scan));
        else if (strcmp(name, "size") == 0) place.size = sn_scan_count(scan);
        else if (strcmp(name, "function") == 0) place.function = text_or_null(scan);
        else if (strcmp(name, "file") == 0) place.file = text_or_null(scan);
        else if (strcmp(name, "line") == 0) place.line = sn_scan_count(scan);
        else if (strcmp(name, "context") == 0) place.context = read_texts(scan, file);
        else sn_scan_skip(scan);
    }
    return place;
}

/* --------------------------------------------------------------------- findings */

static void read_member(sn_scan *scan, sn_values_file *file, sn_values_finding *finding) {
    const char *name = sn_intern(sn_scan_key(scan));
    int next = sn_scan_peek(scan);
    if (strcmp(name, "share") == 0) sn_scan_skip(scan); /* it follows from the bytes */
    else if (strcmp(name, "remark") == 0) finding->remark = text_or_null(scan);
    else if (strcmp(name, "kind") == 0) finding->kind = text_or_null(scan);
    else if (strcmp(name, "name") == 0) finding->name = text_or_null(scan);
    else if (strcmp(name, "module") == 0) finding->module = text_or_null(scan);
    else if (strcmp(name, "context") == 0) finding->context = read_texts(scan, file);
    else if (strcmp(name, "first") == 0) finding->places[0] = read_place(scan, file);
    else if (strcmp(name, "second") == 0) finding->places[1] = read_place(scan, file);
    else if (next >= '0' && next <= '9') add_amount(scan, file, &finding->amounts, name);
    else sn_scan_skip(scan);
}

static sn_values_span read_findings(sn_scan *scan, sn_values_file *file) {
    sn_values_span span = {.first = (uint32_t)file->findings.count};
    sn_scan_open(scan, '[');
    while (sn_scan_more(scan, ']')) {
        sn_values_finding finding = {.amounts.first = (uint32_t)file->amounts.count};
        sn_scan_open(scan, '{');
        while (sn_scan_more(scan, '}')) read_member(scan, file, &finding);
        if (!finding.amounts.count) sn_scan_fail(scan, "a finding has no amounts");
        *sn_vector_add(&file->findings) = finding;
        span.count++;
    }
    return span;
}

static void read_lists(sn_scan *scan, sn_values_file *file) {
    sn_scan_open(scan, '[');
    while (sn_scan_more(scan, ']')) {
        sn_values_list list = {0};
        sn_scan_open(scan, '{');
        while (sn_scan_more(scan, '}')) {
            const char *name = sn_scan_key(scan);
            if (strcmp(name, "name") == 0) list.name = sn_intern(sn_scan_string(scan));
            else if (strcmp(name, "title") == 0) list.title = sn_intern(sn_scan_string(scan));
            else if (strcmp(name, "first") == 0) list.labels[0] = text_or_null(scan);
            else if (strcmp(name, "second") == 0) list.labels[1] = text_or_null(scan);
            else if (strcmp(name, "count") == 0) list.count = sn_scan_count(scan);
            else if (strcmp(name, "total") == 0) list.total = sn_scan_count(scan);
            else sn_scan_skip(scan);
        }
        if (list.name == NULL || list.title == NULL) sn_scan_fail(scan, "a list has no name or no title");
        else *sn_vector_add(&file->lists) = list;
    }
}

static sn_values_list *list_named(sn_values_file *file, const char *name) {
    for (size_t i = 0; i < file->lists.count; i++)
        if (strcmp(file->lists.items[i].name, name) == 0) return &file->lists.items[i];
    return NULL;
}

/* ------------------------------------------------------------------------- file */

static void read_all(sn_scan *scan, sn_values_file *file) {
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        const char *name = sn_intern(sn_scan_key(scan));
        sn_values_list *list = list_named(file, name);
        if (list != NULL) list->findings = read_findings(scan, file);
        else if (strcmp(name, "lists") == 0) read_lists(scan, file);
        else if (strcmp(name, "tool") == 0) file->tool = sn_intern(sn_scan_string(scan));
        else if (strcmp(name, "title") == 0) file->title = sn_intern(sn_scan_string(scan));
        else if (strcmp(name, "command") == 0) file->command = read_texts(scan, file);
        else if (strcmp(name, "totals") == 0) file->totals = read_totals(scan, file);
        else if (strcmp(name, "threads") == 0) read_threads(scan, file);
        else if (strcmp(name, "values_report") != 0) sn_scan_skip(scan);
        else if (sn_scan_count(scan) != VERSION) sn_scan_fail(scan, "it is of another version");
    }
    sn_scan_finish(scan);
    if (file->tool == NULL || file->title == NULL) sn_scan_fail(scan, "it does not say which tool made it");
}

bool sn_values_parse(sn_values_file *file, int descriptor, char *wrong) {
    sn_scan scan = {0};
    sn_scan_begin(&scan, descriptor);
    read_all(&scan, file);
    bool is_read = !sn_scan_has_failed(&scan);
    if (!is_read) snprintf(wrong, SN_VALUES_WRONG_SIZE, "%s", scan.wrong);
    sn_scan_end(&scan);
    return is_read;
}

void sn_values_read(sn_values_file *file, const char *path) {
    char wrong[SN_VALUES_WRONG_SIZE];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    file->path = path;
    if (!sn_values_parse(file, descriptor, wrong)) sn_fail(SN_REPORT_DAMAGED, "'%s', %s", path, wrong);
}

void sn_values_release(sn_values_file *file) {
    sn_vector_release(&file->texts);
    sn_vector_release(&file->amounts);
    sn_vector_release(&file->threads);
    sn_vector_release(&file->findings);
    sn_vector_release(&file->lists);
}

double sn_values_share(const sn_values_file *file, const sn_values_list *list, const sn_values_finding *finding) {
    return list->total ? (double)file->amounts.items[finding->amounts.first].value / (double)list->total : 0;
}
