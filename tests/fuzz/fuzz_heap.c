/**
 * @fileoverview Fuzz target: reading a hostile heap dump must neither crash nor hang, and what is accepted must add up: records,
 * edges, verdicts, dominators; what is clamped stays as it is when it is clamped again.
 *
 * Two forms of one file: with clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise
 * `fuzz_heap FIRST_SEED COUNT` makes dumps that are in order, spoils most of them, and reads all.
 * tests/test_report_heap.py builds and runs it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/heap_clamp.h"
#include "report/heap_query.h"

static unsigned long accepted, refused;
static int descriptor = -1; /**< of the input, in memory */

/** Each reading has its own place in the file. */
int sn_heapfile_open(const char *path) {
    char name[40];
    if (path[0] == '/')
        return open(path, O_RDONLY);
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    return open(name, O_RDONLY);
}

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

static void check_records(const sn_heapfile *file) {
    static const char *filter[] = {"!main"};
    sn_heapfile_records records = {.stacks = {.max_frames = 2, .ignores_allocators = true}};
    sn_heapfile_sums sums = {0};
    sn_heapfile_records_add(&records, file, -1);
    sn_heapfile_records_add(&records, file, 1);
    sn_heapfile_records_choose(&records, SN_HEAPFILE_BY_SLOP, &(sn_texts){0}, &(sn_texts){0});
    require(records.shown.count == 0 && records.total.usable == 0);
    sn_heapfile_records_add(&records, file, 1);
    sn_heapfile_records_choose(&records, SN_HEAPFILE_BY_BLOCKS, &(sn_texts){.items = filter, .count = 1}, &(sn_texts){0});
    sn_heapfile_records_choose(&records, SN_HEAPFILE_BY_USABLE, &(sn_texts){0}, &(sn_texts){0});
    sn_heapfile_records_list_blocks(&records);
    for (size_t i = 0; i < records.items.count; i++) {
        sums.blocks += records.items.items[i].sums.blocks;
        sums.usable += records.items.items[i].sums.usable;
    }
    require(sums.blocks == (int64_t)file->count && sums.usable == (int64_t)file->usable);
    require(records.first_block.items[records.items.count] == file->blocks.count);
    sn_heapfile_records_release(&records);
}

static void check_graph(const sn_heapfile *file, sn_heapfile_index *index) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_graph graph;
    if (!sn_heapfile_graph_make(&graph, file, index, explanation)) {
        require(explanation[0] != '\0'); /* contents are looked at for the first time */
        return;
    }
    sn_heapfile_reach reach = sn_heapfile_reach_make(&graph);
    sn_heapfile_retained retained = sn_heapfile_retained_make(&graph, &reach);
    uint64_t top = 0;
    for (uint32_t i = 0; i < graph.block_count; i++) {
        require(reach.verdicts[i] < SN_HEAPFILE_VERDICTS && retained.blocks[i] >= 1);
        top += retained.dominators[i] == SN_HEAPFILE_NONE ? retained.blocks[i] : 0;
        sn_heapfile_path path = sn_heapfile_graph_path(&graph, i);
        require((path.count > 0) == (reach.verdicts[i] >= SN_HEAPFILE_INTERIOR));
        sn_vector_release(&path);
    }
    require(top == graph.block_count);
    sn_heapfile_retained_release(&retained);
    sn_heapfile_reach_release(&reach);
    sn_heapfile_graph_release(&graph);
}

static void check_clamping(const sn_heapfile *file, sn_heapfile_index *index) {
    char name[60], again[60], explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_clamp_stats first = {0}, second = {0};
    snprintf(name, sizeof name, "/tmp/fuzz_heap.%d", (int)getpid());
    snprintf(again, sizeof again, "/tmp/fuzz_heap.%d.again", (int)getpid());
    if (sn_heapfile_clamp(file, index, "input", name, &first, explanation)) {
        sn_heapfile clamped = {.path = name};
        require(sn_heapfile_read(&clamped, open(name, O_RDONLY), NULL, explanation) && clamped.usable == file->usable);
        require(sn_heapfile_clamp(&clamped, index, name, again, &second, explanation));
        require(second.insides == 0 && second.others == 0 && second.starts == first.starts + first.insides);
        sn_heapfile_release(&clamped);
        unlink(again);
    }
    unlink(name);
}

static void check(const sn_heapfile *file) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_index index;
    check_records(file);
    if (sn_heapfile_index_make(&index, file, explanation)) {
        for (size_t i = 0; i < file->blocks.count; i++)
            require(sn_heapfile_index_find(&index, file->blocks.items[i].address, NULL) == i);
        check_graph(file, &index);
        check_clamping(file, &index);
        sn_heapfile_index_release(&index);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE] = "";
    sn_heapfile file = {.path = "input"};
    sn_heapfile_watch watch = sn_heapfile_watch_for(0x1008);
    sn_heapfile_listener listener = sn_heapfile_watch_listener(&watch);
    descriptor = memfd_create("input", 0);
    require(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size);
    sn_heapfile_recognises((const char *)bytes, size);
    if (sn_heapfile_read(&file, sn_heapfile_open("input"), size % 2 ? &listener : NULL, explanation)) {
        accepted++;
        check(&file);
    } else {
        refused++;
        require(explanation[0] != '\0' && strchr(explanation, '\n') == NULL);
    }
    sn_vector_release(&watch.sightings);
    sn_heapfile_release(&file);
    close(descriptor);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "texts.h"

static void add_words(text *to) {
    add(to, "\"contents\":[");
    for (uint64_t words = below(6), i = 0; i < words; i++) {
        unsigned long long near = 0x1000ULL + below(4) * 0x100 + 8 * below(3), any = next_random() >> below(64);
        add(to, "%s\"%llx\"%s", i > 0 ? "," : "", below(3) ? near : any,
            below(9) == 0 ? " " : "");
    }
    add(to, "]");
}

static void add_block(text *to, uint64_t number, const char *mode) {
    static const char *const traces[] = {"A", "B", "longer than eight"};
    add(to, "%s{\"req\":%u", number > 0 ? ",\n" : "", (unsigned)below(200));
    if (mode[0] == 's') {
        add(to, ",\"addr\":\"%llx\",", 0x1000ULL + number * 0x100);
        add_words(to);
    } else if (below(2)) {
        add(to, ",\"num\":%u,\"freed\":%u,\"lived\":%u", 7 + (unsigned)below(20), (unsigned)below(8), (unsigned)below(1000));
    }
    if (below(4) == 0) {
        add(to, ",\"read\":%u,\"written\":%u,\"unread\":%u,\"unused\":%u", (unsigned)below(1000), (unsigned)below(1000),
            (unsigned)below(2), (unsigned)below(2));
    }
    if (below(4)) {
        add(to, ",\"slop\":%u,\"alloc\":\"%s\"", (unsigned)below(40), traces[below(3)]);
    }
    if (mode[0] == 'd' && below(3)) {
        add(to, below(2) ? ",\"reps\":[\"A\"]" : ",\"reps\":[\"A\",\"B\"]");
    }
    add(to, "}");
}

static void make_good(text *to) {
    static const char *const modes[] = {"live", "cumulative", "dark-matter", "scan", "scan", "scan"};
    const char *mode = modes[below(6)];
    to->size = 0;
    add(to, "{\"version\":5,\"invocation\":{\"dmdEnvVar\":%s,\"mode\":\"%s\"},\"blockList\":[",
        below(2) ? "null" : "\"a\\u00e9\"", mode);
    for (uint64_t blocks = below(9), i = 0; i < blocks; i++) {
        add_block(to, i, mode);
    }
    add(to, "],\n\"traceTable\":{\"A\":[\"f\",\"m\"],\"B\":[\"m\"],\"longer than eight\":[]},\"frameTable\":"
            "{\"f\":\"#00: malloc (a.c:1)\",\"m\":\"main\"}");
    if (mode[0] == 's' && below(2)) {
        add(to, ",\"roots\":[{\"kind\":\"global\",\"name\":null,\"addr\":\"40\",");
        add_words(to);
        add(to, "},{\"kind\":\"register\",\"name\":\"rax\",\"thread\":1,");
        add_words(to);
        add(to, "}]");
    }
    add(to, "}");
}

int main(int argument_count, char **arguments) {
    static const char *const pieces[] = {
        "\"", ",", ":", "[", "]", "{", "}", "\\", "\\u12", "\"0\",\"0\",", "\"contents\":[", "\"req\":", "18446744073709551615",
        "-1", "1e5", "null", "\"addr\":\"1000\",", "\"alloc\":\"Q\",", "\xff", "\t", "9223372036854775807",
        "\"num\":9223372036854775807,", "\"1\u00e9\""};
    static const text_target target = {"fuzz_heap", make_good, pieces, sizeof pieces / sizeof *pieces};
    return run_texts(&target, argument_count, arguments);
}

#endif
