/**
 * @fileoverview Fuzz target: reading a hostile cachegrind profile must neither crash nor take it for something else.
 *
 * What is accepted is written again and read again, and must then say the same. Two forms of one file: with clang
 * -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise `fuzz_cachegrind FIRST_SEED COUNT` makes profiles that
 * are in order, spoils most of them, and reads all. tests/test_report.py builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cachegrind_reader.h"
#include "sonde/tool.h"

static unsigned long accepted, refused;

/** What the engine calls when memory is short. */
void sn_fail(int status, const char *format, ...) {
    fputs(format, stderr);
    exit(status);
}

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

static char *written(const sn_profile *profile, size_t *size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    sn_profile_write(profile, stream);
    fclose(stream);
    return text;
}

static void check_same(const sn_profile *one, const sn_profile *other) {
    require(one->event_count == other->event_count && one->rows.count == other->rows.count);
    require(one->command == other->command && one->descriptions.count == other->descriptions.count);
    require(memcmp(one->events, other->events, sizeof one->events) == 0);
    require(memcmp(one->totals, other->totals, sizeof one->totals) == 0);
    for (size_t i = 0; i < one->rows.count; i++) {
        const sn_profile_row *a = &one->rows.items[i], *b = &other->rows.items[i];
        require(a->file == b->file && a->function == b->function && a->line == b->line);
    }
    require(one->counts.count == other->counts.count);
    require(one->counts.count == 0 ||
            memcmp(one->counts.items, other->counts.items, one->counts.count * sizeof *one->counts.items) == 0);
}

static void check_accepted(sn_profile *profile) {
    char explanation[SN_CACHEGRIND_EXPLANATION_SIZE];
    size_t size;
    sn_profile again = {0};
    sn_profile_sort(profile);
    sn_profile_functions functions = sn_profile_sum_functions(profile);
    for (unsigned event = 0; event < profile->event_count; event++) {
        int64_t sum = 0;
        for (size_t i = 0; i < functions.count; i++) {
            sum += functions.items[i].counts[event];
        }
        require(sum == profile->totals[event]);
    }
    sn_vector_release(&functions);
    char *text = written(profile, &size);
    require(sn_cachegrind_recognises(text, size) && sn_cachegrind_parse(&again, text, size, explanation));
    sn_profile_sort(&again);
    check_same(profile, &again);
    sn_profile_release(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char explanation[SN_CACHEGRIND_EXPLANATION_SIZE] = "";
    sn_profile profile = {0};
    sn_cachegrind_recognises((const char *)bytes, size);
    if (sn_cachegrind_parse(&profile, (const char *)bytes, size, explanation)) {
        accepted++;
        check_accepted(&profile);
    } else {
        refused++;
        require(explanation[0] != '\0' && strchr(explanation, '\n') == NULL);
    }
    sn_profile_release(&profile);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "texts.h"

static void add_rows(text *to, unsigned events, int64_t *totals) {
    static const char *const names[] = {"???", "main", "a b", "/x/y.c", "operator<", ""};
    for (uint64_t rows = below(12); rows > 0 && to->size < MOST_SIZE / 2; rows--) {
        if (below(3) == 0 || rows == 1) {
            add(to, "fl=%s\n", names[below(6)]);
            add(to, "fn=%s\n", names[below(6)]);
        }
        if (to->bytes[to->size - 1] != '\n' || strstr(to->bytes, "fn=") == NULL) {
            continue;
        }
        add(to, "%u", (unsigned)below(40));
        unsigned given = below(4) ? events : (unsigned)below(events + 1);
        for (unsigned event = 0; event < given; event++) {
            int64_t count = (int64_t)below(1000) - (int64_t)below(2) * 500;
            bool is_dot = below(8) == 0;
            add(to, is_dot ? " ." : " %lld", (long long)count);
            totals[event] += is_dot ? 0 : count;
        }
        add(to, "\n");
    }
}

/** A profile that is in order, of a shape that the seed decides. */
static void make_good(text *to) {
    int64_t totals[8] = {0};
    unsigned events = 1 + (unsigned)below(8);
    memset(to, 0, sizeof *to);
    for (uint64_t count = below(3); count > 0; count--) {
        add(to, "desc: something %u\n", (unsigned)below(9));
    }
    add(to, below(2) ? "cmd: ./program with words\n" : "cmd:\n");
    add(to, "events:");
    for (unsigned event = 0; event < events; event++) {
        add(to, " E%u", event);
    }
    add(to, below(2) ? "\n" : " \n");
    add_rows(to, events, totals);
    add(to, "summary:");
    for (unsigned event = 0; event < events; event++) {
        add(to, " %lld", (long long)totals[event]);
    }
    add(to, below(4) ? "\n" : "");
}

static const char *const pieces[] = {"fl=", "fn=", "summary:", "events:", "desc:", "cmd:", "\n", " ", "-", ".",
                                     "18446744073709551616", "9223372036854775807", "4294967296", "0", "\t", "x"};

int main(int argument_count, char **arguments) {
    static const text_target target = {"fuzz_cachegrind", make_good, pieces, sizeof pieces / sizeof *pieces};
    return run_texts(&target, argument_count, arguments);
}

#endif
