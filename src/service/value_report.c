/**
 * @fileoverview Prints what detectors have found, as text or JSON: see <sonde/value_report.h>.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "isa/isa.h"
#include "jit/runtime.h"
#include "service/value_findings.h"
#include "service/value_objects.h"

int64_t sn_report_top = 10;
int sn_report_format;
enum { FORMAT_TEXT, FORMAT_JSON };

/* ---------------------------------------------------------------------- in order */

static int compare(const void *one, const void *other) {
    const sn_value_finding *a = one, *b = other;
    if (a->amounts[0] != b->amounts[0]) return a->amounts[0] > b->amounts[0] ? -1 : 1;
    const uint64_t keys[][2] = {{b->amounts[1], a->amounts[1]},
                                {a->first.site, b->first.site},
                                {a->second.site, b->second.site},
                                {a->first.context, b->first.context},
                                {a->second.context, b->second.context}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int compare_least(const void *one, const void *other) { return compare(other, one); }

static size_t shown(size_t count) { return sn_report_top >= 0 && (uint64_t)sn_report_top < count ? (size_t)sn_report_top : count; }

/** Put a finding into a heap of `count`, whose root is the least, in place of the root. */
static void replace_root(sn_value_finding *heap, size_t count, const sn_value_finding *finding) {
    size_t at = 0;
    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && compare(&heap[below + 1], &heap[below]) > 0) below++;
        if (compare(finding, &heap[below]) >= 0) break;
        heap[at] = heap[below];
    }
    heap[at] = *finding;
}

/** How many findings of a class there are. */
static size_t count_of(unsigned class_number) {
    const sn_value_finding_list *all = &sn_all_findings.classes[class_number];
    size_t count = 0;
    for (size_t i = 0; i < sn_value_finding_count(all); i++) count += sn_value_finding_at(all, i).amounts[0] != 0;
    return count;
}

/** The findings of a class that are shown, the greatest first; *count of how many, of which shown(*count) are there. To be
    freed. There may be millions, of which ten are shown: only these are sorted. */
static sn_value_finding *greatest(unsigned class_number, size_t *count) {
    const sn_value_finding_list *all = &sn_all_findings.classes[class_number];
    size_t most = shown(*count = count_of(class_number)), had = 0;
    sn_value_finding *list = calloc(most + 1, sizeof *list);
    if (!list) sn_fail(SN_STATUS_ENGINE, "no memory for the report");
    for (size_t i = 0; most && i < sn_value_finding_count(all); i++) {
        const sn_value_finding finding = sn_value_finding_at(all, i);
        if (!finding.amounts[0]) continue;
        if (had < most) {
            list[had++] = finding;
            if (had == most) qsort(list, most, sizeof *list, compare_least); /* which is a heap, too */
        } else if (compare(&finding, &list[0]) < 0) {
            replace_root(list, most, &finding);
        }
    }
    qsort(list, most, sizeof *list, compare);
    return list;
}

static void sum_totals(uint64_t *totals) {
    memset(totals, 0, SN_REPORT_TOTALS * sizeof *totals);
    for (size_t i = 0; i < sn_all_findings.threads.count; i++)
        for (unsigned k = 0; k < SN_REPORT_TOTALS; k++) totals[k] += sn_all_findings.threads.items[i].totals[k];
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* ------------------------------------------------------------------------ places */

static const char *instruction_text(const sn_value_site *site, char *text, size_t size) {
    uint8_t code[16];
    if (site->is_system_call) return "system call";
    if (!sn_copy_safely(code, (const void *)site->instruction, site->instruction_length)) return "(code that is gone)";
    return sn_disassemble(code, site->instruction_length, site->instruction, text, size);
}

static void describe(const sn_value_site *site, char *text, size_t size) {
    char code[128];
    snprintf(text, size, "%#lx: %s (%s, %u bytes)", (unsigned long)site->instruction,
             instruction_text(site, code, sizeof code), sn_value_type_name(site->type), site->size);
}

static void print_place(FILE *file, const char *label, const sn_report_place *place) {
    char text[256];
    if (!label || place->site == UINT32_MAX) return;
    const sn_value_site *site = sn_value_site_at(place->site);
    describe(site, text, sizeof text);
    fprintf(file, "   %s by %s\n", label, text);
    sn_context_print(file, place->context, site->instruction, 0, "      ");
}

/** What the tool has to say. */
static void remark_on(const sn_report_form *form, const sn_value_finding *finding, const sn_report_place *place, char *text,
                      size_t size) {
    sn_finding summed = {.bits = finding->bits};
    memcpy(summed.amounts, finding->amounts, sizeof summed.amounts);
    form->remark(&summed, sn_value_site_at(place->site), text, size);
}

/* -------------------------------------------------------------------------- text */

static void print_totals(FILE *file, const sn_report_form *form, const uint64_t *totals) {
    for (unsigned i = 0; i < SN_REPORT_TOTALS && form->totals[i]; i++) {
        fprintf(file, "  %-36s %16lu", form->totals[i], (unsigned long)totals[i]);
        if (form->base[i]) fprintf(file, "  %5.1f %%", 100 * share(totals[i], totals[form->base[i] - 1]));
        putc('\n', file);
    }
}

static void print_finding(FILE *file, const sn_report_form *form, const sn_finding_class *class,
                          const sn_value_finding *finding, size_t rank, const uint64_t *totals) {
    fprintf(file, "%zu. %.1f %%:", rank + 1, 100 * share(finding->amounts[0], totals[class->total]));
    for (unsigned i = 0; i < SN_FINDING_AMOUNTS && form->amounts[i]; i++)
        fprintf(file, "%s %lu %s", i ? "," : "", (unsigned long)finding->amounts[i], form->amounts[i]);
    putc('\n', file);
    const sn_report_place *place = class->first ? &finding->first : &finding->second;
    char remark[512] = "";
    if (form->remark && place->site != UINT32_MAX) remark_on(form, finding, place, remark, sizeof remark);
    if (*remark) fprintf(file, "   %s\n", remark);
    print_place(file, class->first, &finding->first);
    print_place(file, class->second, &finding->second);
}

static void print_text(FILE *file, const sn_report_form *form) {
    uint64_t totals[SN_REPORT_TOTALS];
    sum_totals(totals);
    fprintf(file, "%s: %s\n", form->tool, form->title);
    print_totals(file, form, totals);
    for (size_t i = 0; sn_all_findings.threads.count > 1 && i < sn_all_findings.threads.count; i++) {
        fprintf(file, "thread %d\n", sn_all_findings.threads.items[i].thread);
        print_totals(file, form, sn_all_findings.threads.items[i].totals);
    }
    for (unsigned i = 0; i < SN_REPORT_CLASSES && form->classes[i].name; i++) {
        size_t count;
        sn_value_finding *list = greatest(i, &count);
        if (count) fprintf(file, "\n%s (%zu of %zu)\n", form->classes[i].title, shown(count), count);
        for (size_t k = 0; k < shown(count); k++) print_finding(file, form, &form->classes[i], &list[k], k, totals);
        free(list);
    }
    if (sn_values_data_centric) sn_value_objects_print(file, sn_report_top);
}

/* -------------------------------------------------------------------------- JSON */

static void write_totals(sn_json *json, const sn_report_form *form, const uint64_t *totals) {
    sn_json_object(json, "totals");
    for (unsigned i = 0; i < SN_REPORT_TOTALS && form->totals[i]; i++) sn_json_number(json, form->totals[i], totals[i]);
    sn_json_close(json);
}

/** The lines of sn_context_print() as an array. */
static void write_context(sn_json *json, const sn_report_place *place, uint64_t address) {
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for the report");
    sn_context_print(memory, place->context, address, 0, "");
    fclose(memory);
    sn_json_array(json, "context");
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line) sn_json_string(json, NULL, line);
    sn_json_close(json);
    free(text);
}

static void write_place(sn_json *json, const char *name, const sn_report_place *place) {
    char code[128];
    sn_location where = {0};
    if (place->site == UINT32_MAX) return;
    const sn_value_site *site = sn_value_site_at(place->site);
    sn_locate(site->instruction, &where);
    sn_json_object(json, name);
    sn_json_number(json, "address", site->instruction);
    sn_json_string(json, "instruction", instruction_text(site, code, sizeof code));
    sn_json_string(json, "type", sn_value_type_name(site->type));
    sn_json_number(json, "size", site->size);
    sn_json_string(json, "function", where.function);
    sn_json_string(json, "file", where.file);
    sn_json_number(json, "line", where.line);
    write_context(json, place, site->instruction);
    sn_json_close(json);
}

static void write_finding(sn_json *json, const sn_report_form *form, const sn_finding_class *class,
                          const sn_value_finding *finding, const uint64_t *totals) {
    sn_json_object(json, NULL);
    sn_json_real(json, "share", share(finding->amounts[0], totals[class->total]));
    for (unsigned i = 0; i < SN_FINDING_AMOUNTS && form->amounts[i]; i++)
        sn_json_number(json, form->amounts[i], finding->amounts[i]);
    const sn_report_place *place = class->first ? &finding->first : &finding->second;
    char remark[512] = "";
    if (form->remark && place->site != UINT32_MAX) remark_on(form, finding, place, remark, sizeof remark);
    if (*remark) sn_json_string(json, "remark", remark);
    if (class->first) write_place(json, "first", &finding->first);
    if (class->second) write_place(json, "second", &finding->second);
    sn_json_close(json);
}

static void write_classes(sn_json *json, const sn_report_form *form, const uint64_t *totals) {
    for (unsigned i = 0; i < SN_REPORT_CLASSES && form->classes[i].name; i++) {
        size_t count;
        sn_value_finding *list = greatest(i, &count);
        sn_json_array(json, form->classes[i].name);
        for (size_t k = 0; k < shown(count); k++) write_finding(json, form, &form->classes[i], &list[k], totals);
        sn_json_close(json);
        free(list);
    }
}

/** What the lists that follow are. */
static void write_lists(sn_json *json, const sn_report_form *form, const uint64_t *totals) {
    sn_json_array(json, "lists");
    for (unsigned i = 0; i < SN_REPORT_CLASSES && form->classes[i].name; i++) {
        const sn_finding_class *class = &form->classes[i];
        sn_json_object(json, NULL);
        sn_json_string(json, "name", class->name);
        sn_json_string(json, "title", class->title);
        sn_json_string(json, "first", class->first);
        sn_json_string(json, "second", class->second);
        sn_json_number(json, "count", count_of(i));
        sn_json_number(json, "total", totals[class->total]);
        sn_json_close(json);
    }
    if (sn_values_data_centric) sn_value_objects_describe(json);
    sn_json_close(json);
}

static void print_json(FILE *file, const sn_report_form *form) {
    uint64_t totals[SN_REPORT_TOTALS];
    sn_json json;
    sum_totals(totals);
    sn_json_begin(&json, file);
    sn_json_object(&json, NULL);
    sn_json_number(&json, "values_report", 1); /* version: src/report/values_reader.c */
    sn_json_string(&json, "tool", form->tool);
    sn_json_string(&json, "title", form->title);
    const char *const *arguments;
    int count = sn_client_arguments(&arguments);
    sn_json_strings(&json, "command", arguments, (size_t)count);
    sn_json_signed(&json, "process", sn_client_process());
    write_totals(&json, form, totals);
    sn_json_array(&json, "threads");
    for (size_t i = 0; i < sn_all_findings.threads.count; i++) {
        sn_json_object(&json, NULL);
        sn_json_signed(&json, "thread", sn_all_findings.threads.items[i].thread);
        write_totals(&json, form, sn_all_findings.threads.items[i].totals);
        sn_json_close(&json);
    }
    sn_json_close(&json);
    write_lists(&json, form, totals);
    write_classes(&json, form, totals);
    if (sn_values_data_centric) sn_value_objects_write(&json, sn_report_top);
    sn_json_close(&json);
    sn_json_finish(&json);
}

void sn_report_print(const sn_report_form *form) {
    if (sn_report_format == FORMAT_JSON) print_json(sn_output(), form);
    else print_text(sn_output(), form);
}
