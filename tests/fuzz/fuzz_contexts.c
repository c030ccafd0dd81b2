/**
 * @fileoverview Fuzz target: reading a hostile file of calling contexts must neither crash nor hang, and trees of what is
 * accepted must add up.
 *
 * Two forms of one file: with clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise
 * `fuzz_contexts FIRST_SEED COUNT` makes files that are in order, spoils most of them, and reads all.
 * tests/test_context_file.py builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "report/contexts_tree.h"

static unsigned long accepted, refused;

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

/** Only memory that is short ends the run here. */
void sn_fail(int status, const char *format, ...) {
    (void)status, (void)format;
    abort();
}

static bool count_frame(uint32_t frame, bool is_handler, void *data) {
    const sn_contexts_file *file = *(const sn_contexts_file **)data;
    (void)is_handler;
    require(frame > 0 && frame < file->frames.count);
    return true;
}

/** A node costs what it did itself and what is below it; the root costs everything. */
static void check_tree(const sn_contexts_file *file, unsigned event, unsigned depth, bool is_bottom_up) {
    sn_contexts_tree tree = sn_contexts_tree_make(file, event, depth, is_bottom_up);
    require(tree.nodes.items[0].cost == file->totals[event]);
    for (uint32_t i = 0; i < tree.nodes.count; i++) {
        int64_t below = tree.nodes.items[i].self;
        for (uint32_t child = tree.nodes.items[i].first; child != 0; child = tree.nodes.items[child].next) {
            require(tree.nodes.items[child].parent == i && child > i);
            below += tree.nodes.items[child].cost;
        }
        require(below == tree.nodes.items[i].cost);
    }
    sn_contexts_tree_release(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char explanation[SN_CONTEXTS_EXPLANATION_SIZE] = "";
    sn_contexts_file file = {0};
    sn_contexts_recognises((const char *)bytes, size);
    if (size == 0) { /* no stream can be made of it */
        refused++;
        return 0;
    }
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, size, "r");
    if (sn_contexts_parse(&file, stream, explanation)) {
        accepted++;
        for (size_t i = 0; i < file.values.count; i++) {
            const sn_contexts_file *data = &file;
            sn_contexts_walk(&file, &file.values.items[i], count_frame, &data);
        }
        for (unsigned event = 0; event < file.event_count; event++) {
            check_tree(&file, event, 3, false);
            check_tree(&file, event, 100, true);
        }
    } else {
        refused++;
        require(explanation[0] != '\0' && strchr(explanation, '\n') == NULL);
    }
    fclose(stream);
    sn_contexts_release(&file);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "texts.h"

/** What was written so far. */
static unsigned names, frames, contexts, events;
static uint64_t totals[4];

static void add_place(text *to) {
    for (uint64_t count = 1 + below(3); count > 0; count--) {
        add(to, " %u", 1 + (unsigned)below(frames));
    }
}

static void add_line(text *to) {
    switch (below(5)) {
    case 0:
        add(to, "n name %u\n", ++names);
        break;
    case 1:
        add(to, "f %u %u %u %u\n", (unsigned)below(names + 1), (unsigned)below(names + 1), (unsigned)below(99),
            (unsigned)below(names + 1));
        frames++;
        break;
    case 2:
        if (frames > 0) {
            unsigned caller = (unsigned)below(contexts + 1);
            char how = caller == 0 ? "fc"[below(2)] : "cjs"[below(3)];
            add(to, "c %u %c %u", caller, how, 1 + (unsigned)below(frames));
            if (how == 'c') {
                add_place(to);
            }
            add(to, "\n");
            contexts++;
        }
        break;
    default:
        add(to, "v %u", (unsigned)below(contexts + 1));
        for (unsigned event = 0; event < events; event++) {
            uint64_t count = below(1000);
            totals[event] += count;
            add(to, " %llu", (unsigned long long)count);
        }
        if (frames > 0 && below(2)) {
            add(to, " @");
            add_place(to);
        }
        add(to, "\n");
    }
}

/** A file that is in order, of a shape that the seed decides. */
static void make_good(text *to) {
    memset(to, 0, sizeof *to);
    memset(totals, 0, sizeof totals);
    names = frames = contexts = 0;
    events = 1 + (unsigned)below(4);
    add(to, "# sonde contexts\nversion: 1\ntool: fuzz\npid: 1\ncmd: ./a\nevents:");
    for (unsigned event = 0; event < events; event++) {
        add(to, " E%u", event);
    }
    add(to, "\n");
    for (uint64_t lines = below(60); lines > 0 && to->size < MOST_SIZE - 200; lines--) {
        add_line(to);
    }
    add(to, "totals:");
    for (unsigned event = 0; event < events; event++) {
        add(to, " %llu", (unsigned long long)totals[event]);
    }
    add(to, "\n");
}

static const char *const pieces[] = {"n ", "f 1 1 1 1\n", "c 1 c", "v 0 1", "@", "totals:", "events:", "\n", " ", "-", "0",
                                     "18446744073709551616", "9223372036854775807", "4294967296", "# sonde contexts\n"};

int main(int argument_count, char **arguments) {
    static const text_target target = {"fuzz_contexts", make_good, pieces, sizeof pieces / sizeof *pieces};
    return run_texts(&target, argument_count, arguments);
}

#endif
