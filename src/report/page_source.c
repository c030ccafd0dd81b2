/**
 * @fileoverview Names, lists and source files in a page. See page_source.h.
 */
#include "report/page_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "base/log.h"
#include "report/page_instructions.h"

/** Sources are embedded up to these sizes, the costliest files first. */
enum { MOST_TEXT = 4 << 20, MOST_TEXTS = 16 << 20 };
/** Lines of so few files are always kept. */
enum { FEW_LINES = 20000 };
/** Instructions of so few are always kept. */
enum { MOST_INSTRUCTIONS = 100000 };

uint32_t sn_page_name(sn_page_names *names, const char *name) {
    bool is_new;
    uint64_t *place = sn_hash_insert(&names->places, (uintptr_t)sn_intern(name), &is_new);
    if (is_new) {
        *place = names->items.count;
        *sn_vector_add(&names->items) = name;
    }
    return (uint32_t)*place;
}

void sn_page_names_end(sn_page_names *names, sn_json *json) {
    sn_json_strings(json, "names", names->items.items, names->items.count);
    sn_vector_release(&names->items);
    sn_hash_release(&names->places);
}

/* ---------------------------------------------------------------------------- lists */

sn_page_list sn_page_list_begin(void) {
    return (sn_page_list){0};
}

void sn_page_list_add(sn_page_list *list, int64_t number) {
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%s%" PRId64, list->text.count > 0 ? " " : "", number);
    sn_vector_reserve(&list->text, list->text.count + length + 1);
    memcpy(list->text.items + list->text.count, digits, length + 1);
    list->text.count += length;
}

void sn_page_list_write(sn_page_list *list, sn_json *json, const char *name) {
    sn_json_string(json, name, list->text.count > 0 ? list->text.items : "");
    sn_vector_release(&list->text);
}

/* ------------------------------------------------------------------------- the files */

/** One source file of the profile. */
typedef struct source {
    const char *name;
    size_t first, count;           /**< rows of the profile's lines, which are sorted by file */
    size_t first_site, site_count; /**< calls made in it: of `sites` below */
    int64_t costs[SN_PROFILE_MOST_EVENTS];
} source;

typedef struct sources {
    const sn_page_request *request;
    const uint32_t *place_of;
    sn_page_names *names;
    sn_json *json;
    sn_page_left_out *left_out;
    SN_VECTOR(source) files;
    SN_VECTOR(uint32_t) sites;     /**< numbers of the calls whose callees are in the page, by file and line */
    sn_page_instructions instructions;
    size_t text_size;              /**< embedded so far */
} sources;

static void collect_files(sources *sources) {
    const sn_profile *lines = sources->request->view->profile;
    for (size_t i = 0; i < lines->rows.count; i++) {
        const char *name = lines->rows.items[i].file;
        if (i == 0 || lines->rows.items[i - 1].file != name) {
            *sn_vector_add(&sources->files) = (source){.name = name, .first = i};
        }
        source *file = &sources->files.items[sources->files.count - 1];
        file->count++;
        for (unsigned event = 0; event < lines->event_count; event++) {
            file->costs[event] += sn_profile_counts(lines, i)[event];
        }
    }
}

static int by_place(const void *left, const void *right, void *profile) {
    const sn_call_site *sites = ((const sn_call_profile *)profile)->sites.items;
    const sn_call_site *a = &sites[*(const uint32_t *)left], *b = &sites[*(const uint32_t *)right];
    if (a->file != b->file) {
        return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
    }
    return (a->line > b->line) - (a->line < b->line);
}

static void collect_sites(sources *sources) {
    const sn_call_profile *profile = sources->request->graph->profile;
    sn_hash first = {0};
    for (size_t i = 0; i < profile->sites.count; i++) {
        if (sources->place_of[profile->arcs.items[profile->sites.items[i].arc].callee] != SN_PAGE_LEFT_OUT) {
            *sn_vector_add(&sources->sites) = (uint32_t)i;
        }
    }
    if (sources->sites.count > 0) {
        qsort_r(sources->sites.items, sources->sites.count, sizeof *sources->sites.items, by_place, (void *)(uintptr_t)profile);
    }
    for (size_t i = sources->sites.count; i > 0; i--) {
        sn_hash_set(&first, (uintptr_t)profile->sites.items[sources->sites.items[i - 1]].file, i - 1);
    }
    for (size_t i = 0; i < sources->files.count; i++) {
        source *file = &sources->files.items[i];
        file->first_site = sn_hash_get(&first, (uintptr_t)file->name, sources->sites.count);
        for (size_t at = file->first_site;
             at < sources->sites.count && profile->sites.items[sources->sites.items[at]].file == file->name; at++) {
            file->site_count++;
        }
    }
    sn_hash_release(&first);
}

/** The costliest by the event sorted by first: they get their text first. */
static int by_cost(const void *left, const void *right, void *column) {
    const source *a = left, *b = right;
    int64_t cost_a = sn_column_value(column, a->costs), cost_b = sn_column_value(column, b->costs);
    return cost_a != cost_b ? (cost_a < cost_b ? 1 : -1) : strcmp(a->name, b->name);
}

/* -------------------------------------------------------------------------- the text */

/** All of a file, without zero bytes, which a JSON text cannot hold; NULL when it is too large or cannot be read. */
static char *read_text(sources *sources, FILE *stream) {
    char *text = malloc(MOST_TEXT + 1);
    if (text == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    size_t size = fread(text, 1, MOST_TEXT + 1, stream), kept = 0;
    if (ferror(stream) || size > MOST_TEXT || sources->text_size + size > MOST_TEXTS) {
        sources->left_out->texts += !ferror(stream);
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\0') {
            text[kept++] = text[i];
        }
    }
    text[kept] = '\0';
    sources->text_size += kept;
    return text;
}

/** Returns whether the text is there. */
static bool write_text(sources *sources, const source *file) {
    char path[5000];
    const sn_profile_view *view = sources->request->view;
    FILE *stream = strcmp(file->name, "???") == 0 ? NULL : sn_profile_open_source(view, file->name, path, sizeof path);
    char *text = stream == NULL ? NULL : read_text(sources, stream);
    bool has_text = text != NULL, is_newer = stream != NULL && sn_profile_source_is_newer(view, stream);
    sn_json_string(sources->json, "text", text);
    sn_json_string(sources->json, "note", !has_text ? "The source could not be read, or is too large, when the page was made."
                                          : is_newer ? "The source is newer than the profile: lines may not match."
                                                     : NULL);
    if (stream != NULL) {
        fclose(stream);
    }
    free(text);
    return has_text;
}

/* ------------------------------------------------------------------------- the lines */

/** Which of the rows of a file are in the page. */
typedef SN_VECTOR(uint32_t) row_list;

static void write_lines(sources *sources, const row_list *rows) {
    const sn_profile *lines = sources->request->view->profile;
    sn_page_list list = sn_page_list_begin();
    for (size_t i = 0; i < rows->count; i++) {
        sn_page_list_add(&list, lines->rows.items[rows->items[i]].line);
    }
    sn_page_list_write(&list, sources->json, "lines");
    sn_json_array(sources->json, "self");
    for (unsigned event = 0; event < lines->event_count; event++) {
        list = sn_page_list_begin();
        for (size_t i = 0; i < rows->count; i++) {
            sn_page_list_add(&list, sn_profile_counts(lines, rows->items[i])[event]);
        }
        sn_page_list_write(&list, sources->json, NULL);
    }
    sn_json_close(sources->json);
}

static void write_calls(sources *sources, const row_list *sites) {
    const sn_call_profile *profile = sources->request->graph == NULL ? NULL : sources->request->graph->profile;
    sn_page_list lines = sn_page_list_begin(), callees = sn_page_list_begin(), calls = sn_page_list_begin();
    sn_json_object(sources->json, "calls");
    for (size_t i = 0; i < sites->count; i++) {
        const sn_call_site *site = &profile->sites.items[sites->items[i]];
        sn_page_list_add(&lines, site->line);
        sn_page_list_add(&callees, sources->place_of[profile->arcs.items[site->arc].callee]);
        sn_page_list_add(&calls, site->calls > INT64_MAX ? INT64_MAX : (int64_t)site->calls);
    }
    sn_page_list_write(&lines, sources->json, "lines");
    sn_page_list_write(&callees, sources->json, "callees");
    sn_page_list_write(&calls, sources->json, "calls");
    sn_json_array(sources->json, "costs");
    for (unsigned event = 0; event < sources->request->view->profile->event_count; event++) {
        sn_page_list costs = sn_page_list_begin();
        for (size_t i = 0; i < sites->count; i++) {
            sn_page_list_add(&costs, sn_call_profile_site_costs(profile, sites->items[i])[event]);
        }
        sn_page_list_write(&costs, sources->json, NULL);
    }
    sn_json_close(sources->json);
    sn_json_close(sources->json);
}

/** Lines of a source that is shown are all there; of others those that cost something worth telling. */
static void write_costs(sources *sources, const source *file, bool has_text) {
    const sn_profile *lines = sources->request->view->profile;
    bool keeps_all = has_text || lines->rows.count <= FEW_LINES;
    row_list rows = {0}, sites = {0};
    for (size_t i = file->first; i < file->first + file->count; i++) {
        if (keeps_all || sn_page_is_large(sources->request, sn_profile_counts(lines, i))) {
            *sn_vector_add(&rows) = (uint32_t)i;
        }
    }
    sources->left_out->lines += file->count - rows.count;
    for (size_t i = file->first_site; i < file->first_site + file->site_count; i++) {
        uint32_t site = sources->sites.items[i];
        if (keeps_all || sn_page_is_large(sources->request, sn_call_profile_site_costs(sources->request->graph->profile, site))) {
            *sn_vector_add(&sites) = site;
        }
    }
    write_lines(sources, &rows);
    write_calls(sources, &sites);
    /* There are several for each line, which is why they have a limit of their own. */
    keeps_all = sources->instructions.instructions.count <= MOST_INSTRUCTIONS;
    sn_page_instructions_write(&sources->instructions, sources->request, file->name, keeps_all, sources->json);
    sn_vector_release(&rows);
    sn_vector_release(&sites);
}

void sn_page_write_sources(const sn_page_request *request, const uint32_t *place_of, sn_page_names *names, sn_json *json,
                           sn_page_left_out *left_out) {
    sources sources = {.request = request, .place_of = place_of, .names = names, .json = json, .left_out = left_out};
    collect_files(&sources);
    if (request->graph != NULL) {
        collect_sites(&sources);
        sn_page_instructions_collect(&sources.instructions, request->graph->profile);
    }
    if (sources.files.count > 0) {
        qsort_r(sources.files.items, sources.files.count, sizeof *sources.files.items, by_cost,
                (void *)(uintptr_t)&request->view->columns.sort);
    }
    sn_json_array(json, "sources");
    for (size_t i = 0; i < sources.files.count; i++) {
        const source *file = &sources.files.items[i];
        if (request->view->profile->rows.count > FEW_LINES && !sn_page_is_large(request, file->costs)) {
            left_out->lines += file->count;
            continue;
        }
        sn_json_object(json, NULL);
        sn_json_number(json, "name", sn_page_name(names, file->name));
        write_costs(&sources, file, write_text(&sources, file));
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_vector_release(&sources.files);
    sn_vector_release(&sources.sites);
    sn_page_instructions_release(&sources.instructions);
}
