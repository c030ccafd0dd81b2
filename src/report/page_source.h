/**
 * @fileoverview The parts of a page's data that are more than lists of functions: names, lists, source files.
 *
 * Used by page.c, which owns the page; names and lists by heap_page.c and massif_page.c too.
 */
#ifndef SONDE_REPORT_PAGE_SOURCE_H
#define SONDE_REPORT_PAGE_SOURCE_H

#include "report/page.h"
#include "sonde/json.h"

enum { SN_PAGE_LEFT_OUT = UINT32_MAX };

/** Each name once: what is written elsewhere is its place. Names are interned. */
typedef struct sn_page_names {
    SN_VECTOR(const char *) items;
    sn_hash places;
} sn_page_names;

/** Place of a name, a new one if there was none. */
uint32_t sn_page_name(sn_page_names *names, const char *name);
/** The last of a page's members: "names", behind all that refers to it. The names are released. */
void sn_page_names_end(sn_page_names *names, sn_json *json);

/** A list of numbers as a text: "1 2 3". */
typedef struct sn_page_list {
    SN_VECTOR(char) text;
} sn_page_list;

sn_page_list sn_page_list_begin(void);
void sn_page_list_add(sn_page_list *list, int64_t number);
/** Write it as a string, and release it. */
void sn_page_list_write(sn_page_list *list, sn_json *json, const char *name);

/** Whether the costs are not small: at least the threshold's share of some total. */
bool sn_page_is_large(const sn_page_request *request, const int64_t *costs);

typedef struct sn_page_left_out {
    size_t lines, texts;
} sn_page_left_out;

/** Write the member "sources": files with their text where it can be read, costs and calls of their lines. `place_of` says of
    functions what number they have in the page. */
void sn_page_write_sources(const sn_page_request *request, const uint32_t *place_of, sn_page_names *names, sn_json *json,
                           sn_page_left_out *left_out);

#endif
