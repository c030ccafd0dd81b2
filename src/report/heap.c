/**
 * @fileoverview The kind "heap" of `sonde report`: dumps of sonde heap, and of Firefox's DMD.
 *
 * Options, reading files, and which question is answered. A row of the table in report.c.
 */
#include "report/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "report/heap_clamp.h"
#include "report/heap_page.h"
#include "report/heap_query.h"
#include "report/page.h"
#include "report/report.h"

enum { FORMAT_TEXT, FORMAT_JSON };

static int format = FORMAT_TEXT, sort_by = SN_HEAPFILE_BY_USABLE;
static int64_t max_frames = 8, record_limit = 1000;
static bool ignores_allocators, clamps, prints_clamp_stats, follows_chain, asks_why, asks_retained, finds_leaks = true;
static sn_texts filters, filters_out;
static const char *block_text, *clamped_output, *clamped_text, *html;

static const sn_option options[] = {
    {"max-frames", SN_OPTION_NUMBER, &max_frames, "8", NULL, "frames of a stack that tell records apart and are shown"},
    {"sort-by", SN_OPTION_CHOICE, &sort_by, "usable", "usable|req|slop|num-blocks|read|written|never-used",
     "what records are sorted by"},
    {"ignore-alloc-fns", SN_OPTION_FLAG, &ignores_allocators, "no", NULL,
     "leave out allocation functions at the inner end of stacks"},
    {"filter", SN_OPTION_LIST, &filters, "none", "TEXT",
     "only records with a frame that holds this text, or with !TEXT none that does; may be given again: all must match"},
    {"filter-out", SN_OPTION_LIST, &filters_out, "none", "TEXT", "no records with a frame that holds this text"},
    {"records", SN_OPTION_NUMBER, &record_limit, "1000", NULL, "show this many records of each kind"},
    {"leaks", SN_OPTION_FLAG, &finds_leaks, "yes", NULL, "of a file with roots, say which blocks are leaked"},
    {"clamp-contents", SN_OPTION_FLAG, &clamps, "no", NULL,
     "replace each word of contents by the start of the block it points into, or by zero, in the file itself"},
    {"clamped-output", SN_OPTION_STRING, &clamped_output, "the file", "FILE", "where --clamp-contents writes instead"},
    {"print-clamp-stats", SN_OPTION_FLAG, &prints_clamp_stats, "no", NULL, "with --clamp-contents, say how many words were what"},
    {"clamp-text", SN_OPTION_STRING, &clamped_text, "none", "FILE",
     "print this text with each address replaced by the start of the block that it lies in"},
    {"block", SN_OPTION_STRING, &block_text, "none", "ADDRESS",
     "the block that holds this address: its stack, contents, and who points to it"},
    {"chain", SN_OPTION_FLAG, &follows_chain, "no", NULL, "with --block, go on to the referrer as long as there is one"},
    {"why-alive", SN_OPTION_FLAG, &asks_why, "no", NULL, "with --block, the shortest way from a root to it"},
    {"retained", SN_OPTION_FLAG, &asks_retained, "no", NULL,
     "with --block, what it alone keeps alive; without, the blocks that keep the most alive"},
    {"html", SN_OPTION_STRING, &html, "none", "FILE",
     "write a page for browsers instead, with --block also of the blocks around it"},
    {"format", SN_OPTION_CHOICE, &format, "text", "text|json", "form of the report"},
    {0},
};

/* ---------------------------------------------------------------------------- options */

static uint64_t parse_address(const char *text) {
    char *end;
    const char *digits = strncasecmp(text, "0x", 2) == 0 ? text + 2 : text;
    errno = 0;
    uint64_t address = strtoull(digits, &end, 16);
    if (strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) || *digits == '\0' || errno != 0)
        sn_fail(SN_STATUS_USAGE, "--block needs an address, not '%s'", text);
    return address;
}

static void check_options(size_t file_count) {
    sn_page_check(html, NULL, 1, false); /* a difference has a page too */
    bool asks = block_text != NULL || asks_retained || clamps || clamped_text != NULL;
    if (max_frames < 1 || max_frames > 100000)
        sn_fail(SN_STATUS_USAGE, "--max-frames must be from 1 to 100000");
    if (record_limit < 0)
        sn_fail(SN_STATUS_USAGE, "--records must not be negative");
    if (file_count > 2)
        sn_fail(SN_STATUS_USAGE, "%zu files: one is reported, two are compared", file_count);
    if (file_count == 2 && asks)
        sn_fail(SN_STATUS_USAGE, "--block, --retained, --clamp-contents and --clamp-text are for one file");
    if ((follows_chain || asks_why) && block_text == NULL)
        sn_fail(SN_STATUS_USAGE, "--chain and --why-alive need --block=ADDRESS");
    if (html != NULL && (clamps || clamped_text != NULL || (asks_retained && block_text == NULL)))
        sn_fail(SN_STATUS_USAGE, "--html is for records and --block");
    if ((clamped_output != NULL || prints_clamp_stats) && !clamps)
        sn_fail(SN_STATUS_USAGE, "--clamped-output and --print-clamp-stats are for --clamp-contents");
}

/* ------------------------------------------------------------------------------ files */

int sn_heapfile_open(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    return descriptor;
}

/** With a watch (NULL: none) the contents too. */
static void read_file(sn_heapfile *file, const char *path, sn_heapfile_watch *watch) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_listener listener;
    file->path = path;
    if (watch != NULL)
        listener = sn_heapfile_watch_listener(watch);
    if (!sn_heapfile_read(file, sn_heapfile_open(path), watch != NULL ? &listener : NULL, explanation))
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", path, explanation);
}

static sn_heapfile_index index_of(const sn_heapfile *file) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_index index;
    if (file->mode != SN_HEAPFILE_SCAN)
        sn_fail(SN_STATUS_USAGE, "'%s' was written in mode %s, and only mode scan has addresses and contents", file->path,
                sn_heapfile_mode_names[file->mode]);
    if (!sn_heapfile_index_make(&index, file, explanation))
        sn_fail(SN_REPORT_DAMAGED, "'%s': %s", file->path, explanation);
    return index;
}

/* ---------------------------------------------------------------------------- records */

static sn_heapfile_stacks empty_stacks(void) {
    return (sn_heapfile_stacks){.max_frames = (uint32_t)max_frames, .ignores_allocators = ignores_allocators};
}

/** The leaks of a scan with roots. */
static bool has_leaks(const sn_heapfile *file, const sn_heapfile_records *records, sn_heapfile_leaks *leaks) {
    if (!finds_leaks || file->mode != SN_HEAPFILE_SCAN || !file->has_roots)
        return false;
    sn_heapfile_index index = index_of(file);
    sn_heapfile_graph graph = sn_heapfile_graph_read(file, &index);
    sn_heapfile_reach reach = sn_heapfile_reach_make(&graph);
    *leaks = sn_heapfile_leaks_sum(&graph, &reach, records->record_of.items, records->items.count);
    sn_heapfile_reach_release(&reach);
    sn_heapfile_graph_release(&graph);
    sn_heapfile_index_release(&index);
    return true;
}

/** The answer (NULL: none) is for the page only. */
static void print_records(const char *const *paths, const sn_heapfile *files, size_t count, const sn_heapfile_answer *answer) {
    sn_heapfile_records records = {.stacks = empty_stacks()};
    sn_heapfile_leaks leaks = {0};
    for (size_t i = 0; i < count; i++)
        sn_heapfile_records_add(&records, &files[i], i + 1 < count ? -1 : 1);
    sn_heapfile_records_choose(&records, (sn_heapfile_order)sort_by, &filters, &filters_out);
    if (count == 1 && files[0].mode == SN_HEAPFILE_SCAN)
        sn_heapfile_records_list_blocks(&records);
    sn_heapfile_view view = {.paths = paths, .files = files, .file_count = count, .records = &records,
                         .limit = (size_t)record_limit};
    if (count == 1 && html == NULL && has_leaks(&files[0], &records, &leaks))
        view.leaks = &leaks;
    if (html != NULL)
        sn_heapfile_page_write(html, &view, answer);
    else if (format == FORMAT_JSON)
        sn_heapfile_print_json(&view);
    else
        sn_heapfile_print_text(&view);
    sn_vector_release(&leaks.rows);
    sn_heapfile_records_release(&records);
}

/* -------------------------------------------------------------------------- questions */

static void clamp(const sn_heapfile *file, sn_heapfile_index *index) {
    char explanation[SN_HEAPFILE_EXPLANATION_SIZE];
    sn_heapfile_clamp_stats stats = {0};
    if (!sn_heapfile_clamp(file, index, file->path, clamped_output != NULL ? clamped_output : file->path, &stats, explanation))
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", file->path, explanation);
    const struct {
        const char *name, *meaning;
        uint64_t count;
    } rows[] = {{"starts", "pointed to the start of a block", stats.starts},
                {"insides", "pointed to the inside of a block, and point to its start now", stats.insides},
                {"others", "pointed into no block, and are zero now", stats.others},
                {"zeros", "were zero", stats.zeros}};
    sn_json json;
    if (!prints_clamp_stats)
        return;
    if (format == FORMAT_JSON) {
        sn_json_begin(&json, stdout);
        sn_json_object(&json, NULL);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            sn_json_number(&json, rows[i].name, rows[i].count);
        sn_json_close(&json);
        sn_json_finish(&json);
        return;
    }
    printf("Words of contents that\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("  %-62s %14lu\n", rows[i].meaning, (unsigned long)rows[i].count);
}

static void ask_about_block(sn_heapfile *file, sn_heapfile_index *index, sn_heapfile_stacks *stacks,
                            const sn_heapfile_watch *watch) {
    sn_heapfile_types *types = sn_heapfile_types_new(file);
    sn_heapfile_name_roots(types, file);
    sn_heapfile_question question = {watch->address, follows_chain, asks_why, asks_retained};
    sn_heapfile_answer answer = sn_heapfile_ask(file, index, stacks, types, watch, &question);
    if (html != NULL)
        print_records(&file->path, file, 1, &answer);
    else if (format == FORMAT_JSON)
        sn_heapfile_answer_print_json(&answer);
    else
        sn_heapfile_answer_print_text(&answer);
    sn_heapfile_answer_release(&answer);
    sn_heapfile_types_free(types);
}

/** What needs addresses. */
static void ask(sn_heapfile *file, const sn_heapfile_watch *watch) {
    sn_heapfile_stacks stacks = empty_stacks();
    sn_heapfile_index index = index_of(file);
    if (clamped_text != NULL)
        sn_heapfile_clamp_text(&index, clamped_text);
    if (block_text != NULL)
        ask_about_block(file, &index, &stacks, watch);
    else if (asks_retained)
        sn_heapfile_retained_print(file, &index, &stacks, (size_t)record_limit, format == FORMAT_JSON);
    if (clamps) /* last: the file may become another */
        clamp(file, &index);
    sn_heapfile_index_release(&index);
    sn_heapfile_stacks_release(&stacks);
}

static int run(const char *const *paths, size_t count) {
    sn_heapfile files[2] = {0};
    check_options(count);
    sn_heapfile_watch watch = sn_heapfile_watch_for(block_text != NULL ? parse_address(block_text) : 0);
    for (size_t i = 0; i < count; i++)
        read_file(&files[i], paths[i], block_text != NULL ? &watch : NULL);
    if (count == 2 && files[0].mode != files[1].mode)
        sn_fail(SN_REPORT_DAMAGED, "'%s' was written in mode %s, '%s' in mode %s: they cannot be compared", paths[0],
                sn_heapfile_mode_names[files[0].mode], paths[1], sn_heapfile_mode_names[files[1].mode]);
    if (block_text != NULL || asks_retained || clamps || clamped_text != NULL)
        ask(&files[0], &watch);
    else
        print_records(paths, files, count, NULL);
    sn_vector_release(&watch.sightings);
    for (size_t i = 0; i < count; i++)
        sn_heapfile_release(&files[i]);
    return 0;
}

const sn_report_kind sn_report_heap = {
    .name = "heap",
    .what = "dumps of a heap as DMD's JSON, by sonde heap or Firefox's DMD, plain or gzipped",
    .options = options,
    .recognises = sn_heapfile_recognises,
    .run = run,
};
