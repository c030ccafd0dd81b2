/**
 * @fileoverview The kind "massif" of `sonde report`: options, and what they ask for. A row of the table in report.c.
 */
#include "report/massif.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "report/page.h"
#include "report/report.h"

enum { FORMAT_TEXT, FORMAT_JSON };

static int format = FORMAT_TEXT, trees = SN_MASSIF_ALL_TREES;
static const char *html;

static const sn_option options[] = {
    {"trees", SN_OPTION_CHOICE, &trees, "all", "all|peak|none", "of which detailed snapshots the trees are printed"},
    {"format", SN_OPTION_CHOICE, &format, "text", "text|json", "form of the report"},
    {"html", SN_OPTION_STRING, &html, "none", "FILE", "write a page for browsers instead, with pictures"},
    {0},
};

static void read_file(sn_massif *massif, const char *path) {
    char explanation[SN_MASSIF_EXPLANATION_SIZE];
    FILE *stream = fopen(path, "rb");
    massif->path = path;
    if (stream == NULL)
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    if (!sn_massif_parse(massif, stream, explanation)) {
        if (explanation[0] == '\0')
            sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", path, explanation);
    }
    fclose(stream);
}

static int run(const char *const *files, size_t count) {
    sn_massif massif = {0};
    if (count > 1)
        sn_fail(SN_STATUS_USAGE, "a report on a heap over time takes one file");
    sn_page_check(html, NULL, count, false);
    read_file(&massif, files[0]);
    if (html != NULL)
        sn_massif_page_write(html, &massif);
    else if (format == FORMAT_JSON)
        sn_massif_print_json(&massif);
    else
        sn_massif_print_text(&massif, (sn_massif_trees)trees);
    sn_massif_release(&massif);
    return 0;
}

const sn_report_kind sn_report_massif = {
    .name = "massif",
    .what = "massif.out.*: the heap over time, by sonde heap and by valgrind --tool=massif",
    .options = options,
    .recognises = sn_massif_recognises,
    .run = run,
};
