/**
 * @fileoverview `sonde report` on the trace files of `sonde memtrace`: options, and what they ask for.
 *
 * A row of the table in report.c.
 */
#include "report/memtrace.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "report/report.h"

enum { FORMAT_TEXT, FORMAT_JSON };

static int view = SN_VIEW_SUMMARY, format = FORMAT_TEXT;
static int64_t limit = 20, page_size = 4096, line_size = 64;

static const sn_option options[] = {
    {"view", SN_OPTION_CHOICE, &view, "summary", "summary|trace|functions|lines|pages|strides|reuse",
     "what to print: the accesses themselves, or sums of them"},
    {"format", SN_OPTION_CHOICE, &format, "text", "text|json", "form of the report"},
    {"limit", SN_OPTION_NUMBER, &limit, "20", NULL, "rows of each table"},
    {"page-size", SN_OPTION_NUMBER, &page_size, "4096", "BYTES", "of the pages in --view=pages"},
    {"line-size", SN_OPTION_NUMBER, &line_size, "64", "BYTES", "of the cache lines in --view=reuse"},
    {0},
};

static bool recognises(const char *head, size_t size) {
    return size >= MEMTRACE_VERSION_AT && memcmp(head, MEMTRACE_MAGIC, MEMTRACE_VERSION_AT) == 0;
}

static void check_size(const char *name, int64_t size) {
    if (size < 1 || size > INT64_C(1) << 30 || size & (size - 1))
        sn_fail(SN_STATUS_USAGE, "--%s must be a power of two, at most 1G", name);
}

static void note_process(void *data, const sn_memtrace_process *process) {
    sn_memtrace_tally *tally = data;
    *sn_vector_add(&tally->processes) = process;
}

static void note_event(void *data, const sn_memtrace_event *event) {
    sn_memtrace_tally_event(data, event);
}

/** What each view needs besides what is always summed. */
static const unsigned wanted[] = {
    [SN_VIEW_SUMMARY] = SN_TALLY_STRIDES | SN_TALLY_PAGES, [SN_VIEW_TRACE] = 0,
    [SN_VIEW_FUNCTIONS] = 0,                               [SN_VIEW_LINES] = 0,
    [SN_VIEW_PAGES] = SN_TALLY_PAGES,                      [SN_VIEW_STRIDES] = SN_TALLY_STRIDES,
    [SN_VIEW_REUSE] = SN_TALLY_REUSE,
};

static const char *print_sums(sn_memtrace_reader *reader, FILE *stream, const char *file) {
    sn_memtrace_tally tally = {
        .wanted = wanted[view], .page_size = (unsigned)page_size, .line_size = (unsigned)line_size};
    const char *wrong = sn_memtrace_read(reader, stream, &(sn_memtrace_listener){note_process, note_event, &tally});
    sn_memtrace_report report = {(sn_memtrace_view)view, file, wrong, (size_t)limit, &tally};
    if (format == FORMAT_JSON)
        sn_memtrace_print_json(&report);
    else
        sn_memtrace_print_text(&report);
    sn_memtrace_tally_release(&tally);
    return wrong;
}

static int run(const char *const *files, size_t count) {
    if (count > 1)
        sn_fail(SN_STATUS_USAGE, "a report on a trace of memory accesses takes one file");
    if (limit < 0)
        sn_fail(SN_STATUS_USAGE, "--limit must not be negative");
    check_size("page-size", page_size);
    check_size("line-size", line_size);
    FILE *stream = fopen(files[0], "rb");
    if (!stream)
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", files[0], strerror(errno));
    sn_memtrace_reader *reader = sn_memtrace_reader_new();
    const char *wrong;
    if (view != SN_VIEW_TRACE)
        wrong = print_sums(reader, stream, files[0]);
    else if (format == FORMAT_JSON)
        wrong = sn_memtrace_print_events(reader, stream, files[0]);
    else
        wrong = sn_memtrace_print_lines(reader, stream);
    if (wrong)
        sn_message("'%s' %s", files[0], wrong);
    int status = wrong ? SN_REPORT_DAMAGED : 0;
    sn_memtrace_reader_free(reader);
    fclose(stream);
    return status;
}

const sn_report_kind sn_report_memtrace = {
    .name = "memtrace",
    .what = "traces of memory accesses, by sonde memtrace",
    .options = options,
    .recognises = recognises,
    .run = run,
};
