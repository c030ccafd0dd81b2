/**
 * @fileoverview Fuzz target: reading a hostile report of the tools that look at values must neither crash nor hang, and what is
 * accepted is whole: all that it names is in its pools.
 *
 * Two forms of one file: with clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise
 * `fuzz_values FIRST_SEED COUNT` makes reports that are in order, spoils most of them, and reads all.
 * tests/test_report_values.py builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/values.h"

static unsigned long accepted, refused;

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

static void check_span(sn_values_span span, size_t count) { require((uint64_t)span.first + span.count <= count); }

static void check_finding(const sn_values_file *file, const sn_values_finding *finding) {
    check_span(finding->amounts, file->amounts.count);
    require(finding->amounts.count > 0);
    check_span(finding->context, file->texts.count);
    for (unsigned i = 0; i < 2; i++) {
        check_span(finding->places[i].context, file->texts.count);
        require(!finding->places[i].is_there || (finding->places[i].instruction && finding->places[i].type));
    }
}

static void check(const sn_values_file *file) {
    require(file->tool && file->title);
    check_span(file->command, file->texts.count);
    check_span(file->totals, file->amounts.count);
    for (size_t i = 0; i < file->threads.count; i++) check_span(file->threads.items[i].totals, file->amounts.count);
    for (size_t i = 0; i < file->lists.count; i++) {
        const sn_values_list *list = &file->lists.items[i];
        require(list->name && list->title);
        check_span(list->findings, file->findings.count);
        for (uint32_t k = 0; k < list->findings.count; k++) {
            const sn_values_finding *finding = &file->findings.items[list->findings.first + k];
            check_finding(file, finding);
            require(sn_values_share(file, list, finding) >= 0);
        }
    }
    for (size_t i = 0; i < file->amounts.count; i++) require(file->amounts.items[i].name != NULL);
    for (size_t i = 0; i < file->texts.count; i++) require(file->texts.items[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sn_values_file file = {.path = "input"};
    char wrong[SN_VALUES_WRONG_SIZE] = "";
    int descriptor = memfd_create("fuzz_values", 0);
    require(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size && lseek(descriptor, 0, SEEK_SET) == 0);
    sn_values_recognises((const char *)bytes, size);
    if (sn_values_parse(&file, descriptor, wrong)) {
        accepted++;
        check(&file);
    } else {
        refused++;
        require(wrong[0] != '\0' && strchr(wrong, '\n') == NULL);
    }
    sn_values_release(&file);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "texts.h"

static void add_place(text *to, const char *name) {
    add(to, ",\"%s\":{\"instruction\":\"mov %%eax, (%%rdi)\",\"type\":\"int32\",\"size\":%u,\"address\":\"0x%x\",", name,
        (unsigned)below(65), (unsigned)below(1 << 20));
    if (below(4) == 0) add(to, "\"function\":null,\"file\":null,");
    else add(to, "\"function\":\"f%u\",\"file\":\"a.c\",\"line\":%u,", (unsigned)below(9), (unsigned)below(99));
    add(to, "\"context\":[");
    for (uint64_t i = 0, count = below(4); i < count; i++) add(to, "%s\"f%u (a.c:%u)\"", i ? "," : "", (unsigned)below(9), (unsigned)below(99));
    add(to, "]}");
}

static void add_list(text *to, const char *name) {
    add(to, ",\"%s\":[", name);
    for (uint64_t i = 0, count = below(4); i < count && to->size < MOST_SIZE - 1500; i++) {
        add(to, "%s{\"share\":0.%u,\"bytes\":%llu,\"times\":%u", i ? "," : "", (unsigned)below(10),
            (unsigned long long)next_random() >> (1 + below(63)), (unsigned)below(999));
        if (below(2)) add(to, ",\"remark\":\"bytes \\u00e4 \\\"x\\\"\"");
        if (below(3) == 0) add(to, ",\"kind\":\"heap\",\"name\":null,\"module\":\"/bin/a\",\"context\":[\"main\"]");
        else add_place(to, "first");
        if (below(2)) add_place(to, "second");
        add(to, "}");
    }
    add(to, "]");
}

static void add_totals(text *to) {
    add(to, "\"totals\":{\"bytes loaded\":%u,\"redundant bytes\":%u}", (unsigned)below(1 << 30), (unsigned)below(1 << 30));
}

static void make_good(text *to) {
    uint64_t lists = 1 + below(3);
    to->size = 0;
    add(to, "{\"values_report\":1,\"tool\":\"loadspy\",\"title\":\"loads\",\"command\":[\"./a\",\"-x\"],");
    add_totals(to);
    add(to, ",\"threads\":[");
    for (uint64_t i = 0, count = below(3); i < count; i++) {
        add(to, "%s{\"thread\":%u,", i ? "," : "", (unsigned)below(9));
        add_totals(to);
        add(to, "}");
    }
    add(to, "],\"lists\":[");
    for (uint64_t i = 0; i < lists; i++)
        add(to, "%s{\"name\":\"l%u\",\"title\":\"T\",\"first\":\"loaded\",\"second\":%s,\"count\":%u,\"total\":%u}", i ? "," : "",
            (unsigned)i, below(2) ? "null" : "\"again\"", (unsigned)below(9), (unsigned)below(1 << 20));
    add(to, "]");
    for (uint64_t i = 0; i < lists; i++) {
        char name[8];
        snprintf(name, sizeof name, "l%u", (unsigned)i);
        add_list(to, name);
    }
    add(to, "}\n");
}

int main(int argument_count, char **arguments) {
    static const char *const pieces[] = {"{", "}", "[", "]", ",", ":", "\"", "\"lists\":[", "\"l0\":[{\"bytes\":1}],", "null", "-1", "1e999",
                                         "99999999999999999999", "\\u0000", "\\ud800", "\xff", "{\"bytes\":0}", "\"totals\":{},"};
    static const text_target target = {"fuzz_values", make_good, pieces, sizeof pieces / sizeof *pieces};
    int status = run_texts(&target, argument_count, arguments);
    fprintf(stderr, "%lu accepted, %lu refused\n", accepted, refused);
    return status;
}

#endif
