/**
 * @fileoverview Fuzz target: reading a hostile file of Massif's must neither crash nor hang, and of what is accepted, trees are
 * whole.
 *
 * Two forms of one file: with clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise
 * `fuzz_massif FIRST_SEED COUNT` makes files that are in order, spoils most of them, and reads all.
 * tests/test_report_massif.py builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/massif.h"

static unsigned long accepted, refused;

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

static void check(const sn_massif *massif) {
    require(massif->peak < massif->snapshots.count);
    for (size_t i = 0; i < massif->snapshots.count; i++) {
        const sn_massif_snapshot *snapshot = &massif->snapshots.items[i];
        require((snapshot->count > 0) == (snapshot->detail != SN_MASSIF_EMPTY));
        for (uint32_t node = 0; node < snapshot->count; node++) {
            const sn_massif_node *at = &massif->nodes.items[snapshot->first + node];
            require(node == 0 ? at->depth == 0 : at->depth > 0 && at->depth <= at[-1].depth + 1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char explanation[SN_MASSIF_EXPLANATION_SIZE];
    sn_massif massif = {.path = "input"};
    sn_massif_recognises((const char *)bytes, size);
    if (size == 0) { /* no stream can be made of it; sonde report tells it before it is read */
        refused++;
        return 0;
    }
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, size, "r");
    if (sn_massif_parse(&massif, stream, explanation)) {
        accepted++;
        check(&massif);
        sn_massif_print_text(&massif, SN_MASSIF_ALL_TREES);
        sn_massif_print_json(&massif);
    } else {
        refused++;
        require(explanation[0] != '\0' && strchr(explanation, '\n') == NULL);
    }
    fclose(stream);
    sn_massif_release(&massif);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "texts.h"

/** Lines of a tree that are of `bytes` together. */
static void add_tree(text *to, unsigned depth, uint64_t bytes) {
    uint64_t children = depth < 5 ? below(3) : 0;
    add(to, "%*sn%llu: %llu 0x%x: f%u (a.c:%u)\n", (int)depth, "", (unsigned long long)children, (unsigned long long)bytes,
        (unsigned)below(999), (unsigned)below(9), (unsigned)below(99));
    for (; children > 0; children--) {
        uint64_t part = below(bytes + 1);
        bytes -= part;
        add_tree(to, depth + 1, part);
    }
}

static void make_good(text *to) {
    static const char *const units[] = {"i", "ms", "B", "x"};
    uint64_t time = 0;
    to->size = 0;
    add(to, "desc: --a\ncmd: ./a\ntime_unit: %s\n", units[below(4)]);
    for (uint64_t count = 1 + below(6), i = 0; i < count && to->size < MOST_SIZE - 2000; i++) {
        uint64_t heap = next_random() >> (4 + below(60)), detail = below(3);
        time += below(1000);
        add(to, "#-----------\nsnapshot=%llu\n#-----------\ntime=%llu\nmem_heap_B=%llu\n"
                "mem_heap_extra_B=%u\nmem_stacks_B=%u\nheap_tree=%s\n",
            (unsigned long long)i, (unsigned long long)time, (unsigned long long)heap, (unsigned)below(99), (unsigned)below(99),
            detail == 0 ? "empty" : detail == 1 ? "detailed" : "peak");
        if (detail > 0)
            add_tree(to, 0, heap);
    }
}

int main(int argument_count, char **arguments) {
    static const char *const pieces[] = {"\n", "n1: 5 x\n", "n0: 5 x\n", " ", "#-", "snapshot=0\n", "heap_tree=peak\n",
                                         "99999999999999999999",
                                         "=", "n4294967296: 0 x\n", "-1", "time=", "\xff", ":"};
    static const text_target target = {"fuzz_massif", make_good, pieces, sizeof pieces / sizeof *pieces};
    FILE *quiet = freopen("/dev/null", "w", stdout); /* what is printed is not looked at */
    int status = quiet != NULL ? run_texts(&target, argument_count, arguments) : 2;
    fprintf(stderr, "%lu accepted, %lu refused\n", accepted, refused);
    return status;
}

#endif
