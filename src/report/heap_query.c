/**
 * @fileoverview Questions about one block. See heap_query.h.
 *
 * Who points to the block alone is answered at the first reading of the file, which keeps all words near the address: a graph of
 * all pointers takes five times as long, and is made only for the other questions.
 */
#include "report/heap_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "report/heap_scan.h"
#include "report/report.h"
#include "report/text_form.h"

void sn_heapfile_root_name(const sn_heapfile_root *root, char *text, size_t size) {
    int used = snprintf(text, size, "%s", root->kind);
    char thread[40] = "";
    if (root->has_thread)
        snprintf(thread, sizeof thread, " of thread %" PRIu64, root->thread);
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s%s%s%s%s%s", root->name != NULL ? " " : "",
                 root->name != NULL ? root->name : "", thread, root->module != NULL ? " (" : "",
                 root->module != NULL ? sn_form_base_name(root->module) : "", root->module != NULL ? ")" : "");
}

sn_heapfile_graph sn_heapfile_graph_read(const sn_heapfile *file, sn_heapfile_index *index) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_graph graph;
    if (!sn_heapfile_graph_make(&graph, file, index, explanation))
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", file->path, explanation);
    return graph;
}

/* --------------------------------------------------------------------------- watching */

/** Words that point into the same so many bytes are kept: all these begin with the same digits. The referrers of a block that does
    not lie within are looked for again: of one that is large, or happens to lie across such a border. */
enum { NEAR = 1 << 20 };

sn_heapfile_watch sn_heapfile_watch_for(uint64_t address) {
    uint64_t first = address & ~(uint64_t)(NEAR - 1);
    return (sn_heapfile_watch){.address = address, .range = sn_scan_range_of(first, NEAR), .block = SN_HEAPFILE_NONE};
}

static void watch_word(void *data, uint32_t owner, uint64_t number, uint64_t word, uint64_t head) {
    sn_heapfile_watch *watch = data;
    *sn_vector_add(&watch->sightings) = (sn_heapfile_sighting){owner, (uint32_t)number, word, head};
}

static inline uint64_t size_of(const sn_heapfile_block *block) {
    return block->requested > 0 ? block->requested : 1;
}

static void watch_block(void *data, uint32_t number, const sn_heapfile_block *block, uint64_t contents) {
    sn_heapfile_watch *watch = data;
    if (watch->address - block->address < size_of(block)) {
        watch->block = number;
        watch->contents = contents;
    }
}

sn_heapfile_listener sn_heapfile_watch_listener(sn_heapfile_watch *watch) {
    return (sn_heapfile_listener){.data = watch, .range = &watch->range, .found = watch_word, .block = watch_block};
}

/** Whether all pointers to the block that holds the address were seen. */
static bool has_seen_all(const sn_heapfile_watch *watch, const sn_heapfile_block *block) {
    const sn_scan_range *range = &watch->range;
    return block->address >= range->first && block->address - range->first + size_of(block) <= range->span;
}

/** Watch again, for the whole of a large block. */
static sn_heapfile_watch watch_again(const sn_heapfile_answer *answer, const sn_heapfile_block *block) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_watch watch = {.range = sn_scan_range_of(block->address, size_of(block))};
    sn_heapfile_listener listener = {.data = &watch, .range = &watch.range, .found = watch_word};
    if (!sn_heapfile_contents(answer->file, sn_heapfile_open(answer->file->path), &listener, explanation))
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", answer->file->path, explanation);
    return watch;
}

/* -------------------------------------------------------------------------- referrers */

static void add_pointer(sn_heapfile_referrers *referrers, uint32_t owner, sn_heapfile_edge edge, uint64_t head) {
    sn_heapfile_path *pointers = &referrers->pointers;
    referrers->owners += pointers->count == 0 || pointers->items[pointers->count - 1].owner != owner;
    *sn_vector_add(pointers) = (sn_heapfile_step){owner, edge, head};
}

static void add_sightings(sn_heapfile_answer *answer, const sn_heapfile_watch *watch, const sn_heapfile_block *block) {
    sn_heapfile_referrers *referrers = sn_vector_add(&answer->referrers);
    referrers->block = answer->block;
    for (size_t i = 0; i < watch->sightings.count; i++) {
        const sn_heapfile_sighting *seen = &watch->sightings.items[i];
        if (seen->value - block->address < size_of(block))
            add_pointer(referrers, sn_heapfile_owner_place(answer->file, seen->owner),
                        (sn_heapfile_edge){answer->block, seen->word << 1 | (seen->value != block->address)}, seen->head);
    }
}

static void read_words(sn_heapfile_answer *answer, uint64_t contents) {
    uint64_t words[256];
    sn_scan scan;
    sn_scan_begin(&scan, sn_heapfile_open(answer->file->path));
    sn_heapfile_input_seek(&scan.input, contents);
    sn_scan_open(&scan, '[');
    for (size_t count; (count = sn_scan_words(&scan, words, sizeof words / sizeof *words)) > 0;)
        for (size_t i = 0; i < count; i++)
            *sn_vector_add(&answer->words) = words[i];
    if (sn_scan_has_failed(&scan))
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", answer->file->path, scan.wrong);
    sn_scan_end(&scan);
}

static void find_referrers(sn_heapfile_answer *answer, const sn_heapfile_watch *watch) {
    const sn_heapfile_block *block = &answer->file->blocks.items[answer->block];
    if (has_seen_all(watch, block)) {
        add_sightings(answer, watch, block);
    } else {
        sn_heapfile_watch again = watch_again(answer, block);
        add_sightings(answer, &again, block);
        sn_vector_release(&again.sightings);
    }
    if (watch->contents != 0)
        read_words(answer, watch->contents);
}

/* ------------------------------------------------------------------------------ chain */

static sn_heapfile_referrers referrers_of(const sn_heapfile_graph *graph, uint32_t block) {
    sn_heapfile_referrers referrers = {.block = block};
    for (uint32_t owner = 0; owner < graph->owner_count; owner++) {
        for (uint64_t i = 0; i < graph->of[owner].count; i++) {
            const sn_heapfile_edge *edge = &graph->edges.items[graph->of[owner].first + i];
            if (edge->target == block)
                add_pointer(&referrers, owner, *edge, graph->heads[owner]);
        }
    }
    return referrers;
}

/** The next block of the chain; or SN_HEAPFILE_NONE, and why it ends. */
static uint32_t next_of(sn_heapfile_answer *answer, const sn_heapfile_graph *graph) {
    const sn_heapfile_referrers *last = &answer->referrers.items[answer->referrers.count - 1];
    uint32_t owner = last->owners == 1 ? last->pointers.items[0].owner : (uint32_t)SN_HEAPFILE_NONE;
    answer->end = last->owners == 0  ? SN_HEAPFILE_CHAIN_NONE
                  : last->owners > 1 ? SN_HEAPFILE_CHAIN_SEVERAL
                  : owner >= graph->block_count ? SN_HEAPFILE_CHAIN_ROOT : SN_HEAPFILE_CHAIN_LOOP;
    if (answer->end != SN_HEAPFILE_CHAIN_LOOP)
        return SN_HEAPFILE_NONE;
    for (size_t i = 0; i < answer->referrers.count; i++)
        if (answer->referrers.items[i].block == owner)
            return SN_HEAPFILE_NONE;
    return owner;
}

/** A search through all pointers for every step; a chain is as long as somebody reads. */
static void follow_chain(sn_heapfile_answer *answer, const sn_heapfile_graph *graph) {
    for (uint32_t block; (block = next_of(answer, graph)) != SN_HEAPFILE_NONE;) {
        sn_heapfile_referrers referrers = referrers_of(graph, block);
        *sn_vector_add(&answer->referrers) = referrers;
    }
}

/* -------------------------------------------------------------------------- questions */

static void ask_graph(sn_heapfile_answer *answer) {
    sn_heapfile_graph graph = sn_heapfile_graph_read(answer->file, answer->index);
    if (answer->question.follows_chain)
        follow_chain(answer, &graph);
    if (answer->question.asks_why)
        answer->path = sn_heapfile_graph_path(&graph, answer->block);
    if (answer->question.asks_why || answer->question.asks_retained) {
        sn_heapfile_reach reach = sn_heapfile_reach_make(&graph);
        answer->verdict = (sn_heapfile_verdict)reach.verdicts[answer->block];
        if (answer->question.asks_retained) {
            sn_heapfile_retained retained = sn_heapfile_retained_make(&graph, &reach);
            answer->retained = (sn_heapfile_count){retained.blocks[answer->block], retained.bytes[answer->block]};
            sn_heapfile_retained_release(&retained);
        }
        sn_heapfile_reach_release(&reach);
    }
    sn_heapfile_graph_release(&graph);
}

sn_heapfile_answer sn_heapfile_ask(const sn_heapfile *file, sn_heapfile_index *index, sn_heapfile_stacks *stacks,
                                   sn_heapfile_types *types, const sn_heapfile_watch *watch,
                                   const sn_heapfile_question *question) {
    sn_heapfile_answer answer = {.file = file, .index = index, .stacks = stacks, .types = types, .question = *question};
    answer.block = watch->block;
    if (answer.block == SN_HEAPFILE_NONE)
        sn_fail(SN_STATUS_USAGE, "--block: 0x%" PRIx64 " lies in no block of '%s'", question->address, file->path);
    find_referrers(&answer, watch);
    if (question->follows_chain || question->asks_why || question->asks_retained)
        ask_graph(&answer);
    return answer;
}

void sn_heapfile_answer_release(sn_heapfile_answer *answer) {
    for (size_t i = 0; i < answer->referrers.count; i++)
        sn_vector_release(&answer->referrers.items[i].pointers);
    sn_vector_release(&answer->referrers);
    sn_vector_release(&answer->words);
    sn_vector_release(&answer->path);
}
