/**
 * @fileoverview Options of reports by source line. See line_options.h.
 */
#include "report/line_options.h"

#include "base/log.h"
#include "report/report.h"

sn_line_options sn_line_options_given = {.color = SN_COLOR_AUTO, .annotates = true, .function_limit = 10, .context = 2};

void sn_line_options_check(size_t file_count) {
    const sn_line_options *given = &sn_line_options_given;
    if (given->function_limit < 0) {
        sn_fail(SN_STATUS_USAGE, "--functions must not be negative");
    }
    if (given->context < 0 || given->context > UINT32_MAX) {
        sn_fail(SN_STATUS_USAGE, "--context must be from 0 to %u", UINT32_MAX);
    }
    sn_page_check(given->html, given->page_threshold_text, file_count, given->merges);
    if (file_count > 2 && !given->merges) {
        sn_fail(SN_STATUS_USAGE, "%zu files: two are compared, more are added up by --merge", file_count);
    }
    sn_form_choose_color(given->color);
}

bool sn_line_options_compare(size_t file_count) {
    return file_count == 2 && !sn_line_options_given.merges;
}

sn_profile_view sn_line_options_view(const sn_profile *profile, const char *const *files, size_t count) {
    const sn_line_options *given = &sn_line_options_given;
    sn_profile_view view = {
        .profile = profile,
        .columns = sn_columns_choose(profile, given->show, given->sort),
        .functions = sn_profile_sum_functions(profile),
        .function_limit = (size_t)given->function_limit,
        .annotates = given->annotates,
        .context = (unsigned)given->context,
        .folders = given->folders,
        .files = files,
        .file_count = count,
    };
    sn_columns_sort_functions(&view.functions, &view.columns.sort);
    return view;
}

bool sn_line_options_write_page(const sn_profile_view *view, const sn_call_graph *graph, int64_t chosen) {
    const sn_line_options *given = &sn_line_options_given;
    if (given->html == NULL) {
        return false;
    }
    sn_page_write(&(sn_page_request){.path = given->html, .view = view, .graph = graph, .chosen = chosen,
                                     .threshold = sn_report_percent("page-threshold", given->page_threshold_text, 0.01)});
    return true;
}
