/**
 * @fileoverview Writing a profile as a page: the form, and in it the profile as compressed JSON. See page.h.
 *
 * Lists of numbers are texts of numbers, one list a property, so that the page decodes only what it shows; each name is held
 * once. Small functions, calls and lines of a large profile are left out, and the page says so. src/report/page/profile.js
 * reads what is written here.
 */
#include "report/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "report/page_file.h"
#include "report/page_source.h"
#include "report/report.h"
#include "report/text_form.h"
#include "sonde/json.h"

/** So many functions and calls are always kept: a page holds them easily. */
enum { FEW_FUNCTIONS = 3000, FEW_ARCS = 20000 };

/** A page being written. */
typedef struct page {
    const sn_page_request *request;
    const sn_profile *lines;
    sn_page_names names;
    size_t function_count;
    SN_VECTOR(uint32_t) functions;   /**< kept, by their numbers in the profile */
    SN_VECTOR(uint32_t) nodes;       /**< the same, and behind them the cycles, by their numbers in the graph */
    SN_VECTOR(uint32_t) arcs;        /**< kept */
    uint32_t *place_of;              /**< of nodes of the graph: place in `nodes`, or SN_PAGE_LEFT_OUT */
    sn_hash first_lines;             /**< of functions, by name and file */
    sn_json json;
} page;

void sn_page_check(const char *html, const char *threshold, size_t file_count, bool merges) {
    size_t size;
    sn_report_percent("page-threshold", threshold, 0);
    if (html == NULL) {
        return;
    }
    if (file_count > 1 && !merges) {
        sn_fail(SN_STATUS_USAGE, "--html is for one profile, or for the sum of several by --merge");
    }
    sn_page_form(&size);
    if (size == 0) {
        sn_fail(SN_STATUS_USAGE, "--html: this sonde was built without npm or its packages, and so without the page");
    }
}

/* ----------------------------------------------------------- functions of both kinds */

static const sn_call_function *call_function(const page *page, size_t number) {
    return &page->request->graph->profile->functions.items[number];
}

static const char *name_of(const page *page, size_t function) {
    return page->request->graph != NULL ? call_function(page, function)->name
                                        : page->request->view->functions.items[function].function;
}

static const char *file_of(const page *page, size_t function) {
    return page->request->graph != NULL ? call_function(page, function)->file
                                        : page->request->view->functions.items[function].file;
}

static const int64_t *self_of(const page *page, size_t function) {
    return page->request->graph != NULL ? sn_call_profile_self(page->request->graph->profile, (uint32_t)function)
                                        : page->request->view->functions.items[function].counts;
}

/** Of a function or cycle. */
static const int64_t *inclusive_of(const page *page, size_t node) {
    return page->request->graph != NULL ? sn_call_graph_inclusive(page->request->graph, (sn_call_node)node)
                                        : self_of(page, node);
}

/* -------------------------------------------------------------------- what is kept */

bool sn_page_is_large(const sn_page_request *request, const int64_t *costs) {
    const sn_profile *lines = request->view->profile;
    for (unsigned event = 0; event < lines->event_count; event++) {
        if ((double)costs[event] * 100 >= (double)lines->totals[event] * request->threshold && costs[event] > 0) {
            return true;
        }
    }
    return false;
}

static void keep_functions(page *page) {
    for (size_t i = 0; i < page->function_count; i++) {
        if (page->function_count <= FEW_FUNCTIONS || sn_page_is_large(page->request, inclusive_of(page, i)) ||
            sn_page_is_large(page->request, self_of(page, i))) {
            page->place_of[i] = (uint32_t)page->functions.count;
            *sn_vector_add(&page->functions) = (uint32_t)i;
            *sn_vector_add(&page->nodes) = (uint32_t)i;
        }
    }
}

/** All cycles that have a member here. */
static void keep_cycles(page *page) {
    const sn_call_graph *graph = page->request->graph;
    for (sn_call_node node = graph->function_count; node < graph->node_count; node++) {
        const sn_call_cycle *cycle = sn_call_graph_cycle(graph, node);
        bool has_member = false;
        for (uint32_t i = cycle->first; i < cycle->first + cycle->count; i++) {
            has_member |= page->place_of[graph->members.items[i]] != SN_PAGE_LEFT_OUT;
        }
        if (has_member) {
            page->place_of[node] = (uint32_t)page->nodes.count;
            *sn_vector_add(&page->nodes) = node;
        }
    }
}

static void keep_arcs(page *page) {
    const sn_call_profile *profile = page->request->graph->profile;
    for (size_t i = 0; i < profile->arcs.count; i++) {
        const sn_call_arc *arc = &profile->arcs.items[i];
        bool has_ends = page->place_of[arc->caller] != SN_PAGE_LEFT_OUT && page->place_of[arc->callee] != SN_PAGE_LEFT_OUT;
        if (has_ends && (profile->arcs.count <= FEW_ARCS || sn_page_is_large(page->request, sn_call_profile_arc_costs(profile, i)))) {
            *sn_vector_add(&page->arcs) = (uint32_t)i;
        }
    }
}

/** The first line of each kept function in its own file. Rows of a function follow each other. */
static void find_first_lines(page *page) {
    const sn_profile *lines = page->lines;
    for (size_t i = 0; i < page->functions.count; i++) {
        sn_page_name(&page->names, name_of(page, page->functions.items[i]));
        sn_page_name(&page->names, file_of(page, page->functions.items[i]));
    }
    for (size_t i = 0; i < lines->rows.count; i++) {
        const sn_profile_row *row = &lines->rows.items[i];
        bool is_first = i == 0 || row[-1].line == 0 || row[-1].function != row->function || row[-1].file != row->file;
        const uint64_t *file = is_first && row->line != 0 ? sn_hash_find(&page->names.places, (uintptr_t)row->file) : NULL;
        const uint64_t *name = file != NULL ? sn_hash_find(&page->names.places, (uintptr_t)row->function) : NULL;
        if (name != NULL) {
            sn_hash_set(&page->first_lines, *file << 32 | *name, row->line);
        }
    }
}

/* -------------------------------------------------------------------------- lists */

/** A number of an item; costs are of an event. */
typedef int64_t (*item_value)(page *page, size_t item, unsigned event);

static int64_t name_value(page *page, size_t item, unsigned event) {
    (void)event;
    return sn_page_name(&page->names, name_of(page, item));
}

static int64_t file_value(page *page, size_t item, unsigned event) {
    (void)event;
    return sn_page_name(&page->names, file_of(page, item));
}

static int64_t object_value(page *page, size_t item, unsigned event) {
    (void)event;
    return sn_page_name(&page->names, page->request->graph != NULL ? call_function(page, item)->object : "???");
}

static int64_t line_value(page *page, size_t item, unsigned event) {
    (void)event;
    return (int64_t)sn_hash_get(&page->first_lines,
                                (uint64_t)file_value(page, item, 0) << 32 | (uint64_t)name_value(page, item, 0), 0);
}

static int64_t self_value(page *page, size_t item, unsigned event) {
    return self_of(page, item)[event];
}

static int64_t cycle_value(page *page, size_t item, unsigned event) {
    (void)event;
    const sn_call_graph *graph = page->request->graph;
    return page->place_of[graph == NULL || sn_call_graph_is_cycle(graph, (sn_call_node)item) ? item : graph->cycle_of[item]];
}

/** Counts of calls are shown as numbers of 53 bits at most. */
static int64_t limited(uint64_t count) {
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static int64_t called_value(page *page, size_t item, unsigned event) {
    (void)event;
    return page->request->graph == NULL ? 0 : limited(page->request->graph->called[item]);
}

static int64_t recursion_value(page *page, size_t item, unsigned event) {
    (void)event;
    return page->request->graph == NULL ? 0 : limited(page->request->graph->recursions[item]);
}

static int64_t inclusive_value(page *page, size_t item, unsigned event) {
    return inclusive_of(page, item)[event];
}

static int64_t incoming_value(page *page, size_t item, unsigned event) {
    return page->request->graph == NULL ? 0 : sn_call_graph_incoming(page->request->graph, (sn_call_node)item)[event];
}

static int64_t caller_value(page *page, size_t item, unsigned event) {
    (void)event;
    return page->place_of[page->request->graph->profile->arcs.items[item].caller];
}

static int64_t callee_value(page *page, size_t item, unsigned event) {
    (void)event;
    return page->place_of[page->request->graph->profile->arcs.items[item].callee];
}

static int64_t arc_calls_value(page *page, size_t item, unsigned event) {
    (void)event;
    return limited(page->request->graph->profile->arcs.items[item].calls);
}

static int64_t arc_value(page *page, size_t item, unsigned event) {
    return sn_call_profile_arc_costs(page->request->graph->profile, item)[event];
}

static void write_list(page *page, const char *name, const uint32_t *items, size_t count, item_value value, unsigned event) {
    sn_page_list list = sn_page_list_begin();
    for (size_t i = 0; i < count; i++) {
        sn_page_list_add(&list, value(page, items[i], event));
    }
    sn_page_list_write(&list, &page->json, name);
}

typedef struct property {
    const char *name;
    item_value value;
    bool is_cost; /**< one list an event */
} property;

static void write_properties(page *page, const property *properties, const uint32_t *items, size_t count) {
    for (; properties->name != NULL; properties++) {
        if (!properties->is_cost) {
            write_list(page, properties->name, items, count, properties->value, 0);
            continue;
        }
        sn_json_array(&page->json, properties->name);
        for (unsigned event = 0; event < page->lines->event_count; event++) {
            write_list(page, NULL, items, count, properties->value, event);
        }
        sn_json_close(&page->json);
    }
}

static const property function_properties[] = {
    {"names", name_value, false},   {"files", file_value, false}, {"objects", object_value, false},
    {"lines", line_value, false},   {"self", self_value, true},   {0},
};

static const property node_properties[] = {
    {"cycles", cycle_value, false},       {"called", called_value, false},    {"recursions", recursion_value, false},
    {"inclusive", inclusive_value, true}, {"incoming", incoming_value, true}, {0},
};

static const property arc_properties[] = {
    {"callers", caller_value, false}, {"callees", callee_value, false}, {"calls", arc_calls_value, false},
    {"costs", arc_value, true},       {0},
};

/* ------------------------------------------------------------------- the whole of it */

/** What is not in the page, in words. */
static void write_left_out(page *page, const sn_page_left_out *sources) {
    char text[300], number[SN_NUMBER_SIZE];
    const sn_call_graph *graph = page->request->graph;
    size_t functions = page->function_count - page->functions.count;
    size_t arcs = graph == NULL ? 0 : graph->profile->arcs.count - page->arcs.count;
    sn_json_array(&page->json, "left_out");
    if (functions > 0) {
        snprintf(text, sizeof text, "Left out: %s functions with less than %g %% of every total.",
                 sn_form_number((int64_t)functions, number), page->request->threshold);
        sn_json_string(&page->json, NULL, text);
    }
    if (arcs > 0) {
        snprintf(text, sizeof text, "Left out: the calls between %s pairs of functions.", sn_form_number((int64_t)arcs, number));
        sn_json_string(&page->json, NULL, text);
    }
    if (sources->lines > 0) {
        snprintf(text, sizeof text, "Left out: the costs of %s lines, in files that cannot be read or that cost little.",
                 sn_form_number((int64_t)sources->lines, number));
        sn_json_string(&page->json, NULL, text);
    }
    if (sources->texts > 0) {
        snprintf(text, sizeof text, "Left out: the text of %s large source files.",
                 sn_form_number((int64_t)sources->texts, number));
        sn_json_string(&page->json, NULL, text);
    }
    sn_json_close(&page->json);
}

static void write_head(page *page) {
    const sn_profile *lines = page->lines;
    const sn_profile_view *view = page->request->view;
    sn_json_string(&page->json, "kind", page->request->graph != NULL ? "callgrind" : "cachegrind");
    sn_json_strings(&page->json, "files", view->files, view->file_count);
    sn_json_string(&page->json, "command", lines->command != NULL ? lines->command : "");
    sn_json_strings(&page->json, "descriptions", lines->descriptions.items, lines->descriptions.count);
    sn_json_strings(&page->json, "events", lines->events, lines->event_count);
    sn_json_strings(&page->json, "meanings", lines->meanings, lines->event_count);
    sn_json_number(&page->json, "event", (uint64_t)__builtin_ctzll(view->columns.sort.events));
    if (page->request->chosen >= 0 && page->place_of[page->request->chosen] != SN_PAGE_LEFT_OUT) {
        sn_json_number(&page->json, "chosen", page->place_of[page->request->chosen]);
    }
    sn_page_list totals = sn_page_list_begin();
    for (unsigned event = 0; event < lines->event_count; event++) {
        sn_page_list_add(&totals, lines->totals[event]);
    }
    sn_page_list_write(&totals, &page->json, "totals");
}

static void write_data(page *page) {
    static const property no_arcs[] = {{"callers", NULL, false}, {"callees", NULL, false}, {"calls", NULL, false},
                                       {"costs", NULL, true}, {0}};
    sn_page_left_out left_out = {0};
    write_head(page);
    sn_json_object(&page->json, "functions");
    write_properties(page, function_properties, page->functions.items, page->functions.count);
    write_properties(page, node_properties, page->nodes.items, page->nodes.count);
    sn_json_close(&page->json);
    sn_json_object(&page->json, "arcs");
    write_properties(page, page->request->graph != NULL ? arc_properties : no_arcs, page->arcs.items, page->arcs.count);
    sn_json_close(&page->json);
    sn_page_write_sources(page->request, page->place_of, &page->names, &page->json, &left_out);
    write_left_out(page, &left_out);
    sn_page_names_end(&page->names, &page->json);
}

static void choose(page *page) {
    const sn_call_graph *graph = page->request->graph;
    page->function_count = graph != NULL ? graph->function_count : page->request->view->functions.count;
    size_t node_count = graph != NULL ? graph->node_count : page->function_count;
    page->place_of = malloc((node_count + 1) * sizeof *page->place_of);
    if (page->place_of == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    memset(page->place_of, 0xff, (node_count + 1) * sizeof *page->place_of);
    keep_functions(page);
    if (graph != NULL) {
        keep_cycles(page);
        keep_arcs(page);
    }
    find_first_lines(page);
}

static void release(page *page) {
    sn_vector_release(&page->functions);
    sn_vector_release(&page->nodes);
    sn_vector_release(&page->arcs);
    sn_hash_release(&page->first_lines);
    free(page->place_of);
}

void sn_page_write(const sn_page_request *request) {
    page page = {.request = request, .lines = request->view->profile};
    sn_page_file file = sn_page_file_begin(request->path, &page.json);
    choose(&page);
    write_data(&page);
    sn_page_file_end(&file, &page.json);
    release(&page);
}
