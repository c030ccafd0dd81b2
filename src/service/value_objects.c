/**
 * @fileoverview The map of data objects, and what was found in each. See value_objects.h.
 *
 * The number of an object is kept for each byte: of blocks when they are allocated, of variables and mapped memory when they are
 * first asked about. Frames are looked up each time. Everything is behind one lock.
 */
#include "service/value_objects.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "sonde/table.h"
#include "sonde/value_shadow.h"
#include "sonde/vector.h"

bool sn_values_data_centric;

typedef enum object_kind { OBJECT_HEAP, OBJECT_VARIABLE, OBJECT_FRAMES, OBJECT_FILE, OBJECT_MEMORY } object_kind;

/** Names of kinds, for JSON, and what the text says before the name. */
static const struct {
    const char *name, *words;
} kinds[] = {
    [OBJECT_HEAP] = {"heap", "heap blocks allocated by"},
    [OBJECT_VARIABLE] = {"variable", "variable"},
    [OBJECT_FRAMES] = {"frames", "frames of"},
    [OBJECT_FILE] = {"file", "mapped file"},
    [OBJECT_MEMORY] = {"memory", "memory:"},
};

typedef struct object {
    object_kind kind;
    const char *name;   /**< of the variable, function or file; what memory it is */
    const char *module; /**< of a variable or function; or NULL */
    sn_context context; /**< OBJECT_HEAP: of the allocating function */
    uint64_t bytes, times;
} object;

/** An object by what makes it one: a context, an address, or a text that lives on. */
typedef struct object_place {
    struct {
        uint64_t kind, value;
    } key;
    uint64_t number;
} object_place;

typedef struct mapping {
    uint64_t start, end;
    const char *path; /**< or NULL; lives on */
    bool is_stack, is_break;
} mapping;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SN_VECTOR(object) objects; /**< number 0 is none */
static SN_TABLE(object_place) places;
static SN_VECTOR(mapping) mappings;
static SN_VECTOR(char *) paths;
static sn_value_shadow map; /**< sn_value_cells: numbers of objects */
static void (*flush_trace)(sn_thread *thread);

/* ---------------------------------------------------------------------- objects */

static uint32_t object_of(object_kind kind, uint64_t value, const object *like) {
    bool is_new;
    object_place *place = sn_table_insert(&places, ((__typeof__(place->key)){kind + 1, value}), &is_new);
    if (!is_new) return (uint32_t)place->number;
    if (!objects.count) sn_vector_add(&objects);
    uint32_t number = (uint32_t)objects.count;
    place->number = number;
    *sn_vector_add(&objects) = *like;
    return number;
}

static uint32_t named_object(object_kind kind, const char *name) {
    object like = {.kind = kind, .name = name};
    return object_of(kind, (uint64_t)(uintptr_t)name, &like);
}

static uint32_t frames_of(sn_context context) {
    sn_context_info info;
    sn_location where = {0};
    if (!sn_context_describe(context, &info)) return named_object(OBJECT_FRAMES, "unknown functions");
    sn_locate(info.function, &where);
    object like = {.kind = OBJECT_FRAMES, .name = where.function ? where.function : "a function without a name",
                   .module = where.module};
    return object_of(OBJECT_FRAMES, info.function, &like);
}

static void set_range(uint64_t start, uint64_t size, uint32_t number) {
    for (uint64_t done = 0, part; done < size; done += part) {
        unsigned offset = (start + done) % SN_VALUE_SHADOW_PAGE, room = SN_VALUE_SHADOW_PAGE - offset;
        part = size - done < room ? size - done : room;
        sn_value_cells_set(sn_value_shadow_page(&map, start + done), offset, (unsigned)part, number);
    }
}

/* ------------------------------------------------------------------------- heap */

static void update(void) {
    enum { MOST = 256 };
    sn_value_heap_event events[MOST];
    for (size_t count; (count = sn_value_heap_take(events, MOST)) > 0;)
        for (size_t i = 0; i < count; i++) {
            object like = {.kind = OBJECT_HEAP, .context = events[i].context};
            uint32_t number = events[i].is_freed ? 0 : object_of(OBJECT_HEAP, events[i].context, &like);
            set_range(events[i].address, events[i].size, number);
        }
}

void sn_value_objects_update(void) {
    pthread_mutex_lock(&lock);
    update();
    pthread_mutex_unlock(&lock);
}

void sn_value_objects_attend(sn_thread *thread) {
    sn_heap_attend();
    flush_trace(thread); /* what was recorded until now happened before */
    sn_value_objects_update();
}

void sn_value_objects_start(void (*flush)(sn_thread *thread)) {
    if (sn_settings_current.analysis_threads > 0)
        sn_fail(2, "--data-centric=yes needs to see the heap as the program leaves it: not with --analysis-threads");
    flush_trace = flush;
    sn_value_shadow_begin(&map, sizeof(sn_value_cells));
}

/* ---------------------------------------------------------------------- mappings */

static const char *lasting(const char *path) {
    for (size_t i = 0; i < paths.count; i++)
        if (!strcmp(paths.items[i], path)) return paths.items[i];
    char *copy = strdup(path);
    if (!copy) sn_fail(SN_STATUS_ENGINE, "no memory for data objects");
    *sn_vector_add(&paths) = copy;
    return copy;
}

void sn_value_objects_mapped(const sn_memory_range *range) {
    pthread_mutex_lock(&lock);
    *sn_vector_add(&mappings) = (mapping){.start = range->start, .end = range->end, .is_stack = range->is_stack,
                                          .path = range->path ? lasting(range->path) : NULL, .is_break = range->is_break};
    pthread_mutex_unlock(&lock);
}

void sn_value_objects_unmapped(uint64_t start, uint64_t end) {
    pthread_mutex_lock(&lock);
    for (size_t i = mappings.count; i-- > 0;) {
        mapping *one = &mappings.items[i], rest = *one;
        if (one->end <= start || one->start >= end) continue;
        if (one->start < start) one->end = start;
        else if (one->end > end) one->start = end;
        else *one = mappings.items[--mappings.count];
        if (rest.start < start && rest.end > end) { /* a hole */
            rest.start = end;
            *sn_vector_add(&mappings) = rest;
        }
    }
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        sn_value_cells *cells = sn_value_shadow_find(&map, at);
        if (cells) sn_value_cells_clear(cells);
    }
    pthread_mutex_unlock(&lock);
}

/** The newest one: what was mapped over older memory is told after it. */
static const mapping *mapping_at(uint64_t address) {
    for (size_t i = mappings.count; i-- > 0;)
        if (address >= mappings.items[i].start && address < mappings.items[i].end) return &mappings.items[i];
    return NULL;
}

/** The module whose data it is: memory without a file that begins where a file's ends is the rest of that. */
static const char *module_of(const mapping *at) {
    const mapping *before = at->path || at->is_break || at->is_stack ? at : mapping_at(at->start - 1);
    return before ? before->path : NULL;
}

/* ------------------------------------------------------------------------ finding */

static uint32_t static_object(uint64_t address, const mapping *at) {
    const char *module = module_of(at);
    sn_variable variable;
    if (module && sn_locate_variable(address, module, &variable)) {
        object like = {.kind = OBJECT_VARIABLE, .name = variable.name, .module = module};
        uint32_t number = object_of(OBJECT_VARIABLE, variable.address, &like);
        set_range(variable.address, variable.size, number);
        return number;
    }
    if (at->path) return named_object(OBJECT_FILE, at->path);
    return named_object(OBJECT_MEMORY, at->is_break ? "in the heap, of no block" : "mapped without a file");
}

static uint32_t object_at(const void *state, uint64_t address) {
    const sn_value_cells *cells = sn_value_shadow_page(&map, address);
    uint32_t number = sn_value_cells_at(cells, address % SN_VALUE_SHADOW_PAGE);
    if (number) return number;
    const mapping *at = mapping_at(address);
    if (!at) return named_object(OBJECT_MEMORY, "not known to be mapped");
    uint64_t outermost;
    sn_context context = sn_values_frame_at(state, address, &outermost);
    if (outermost > at->start && outermost <= at->end && context != SN_NO_CONTEXT) return frames_of(context);
    if (at->is_stack) return named_object(OBJECT_FRAMES, "what calls the first function that was seen");
    return static_object(address, at);
}

void sn_value_objects_add(const void *state, uint64_t address, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    uint32_t number = object_at(state, address); /* which may move them */
    object *found = &objects.items[number];
    found->bytes += bytes;
    found->times++;
    pthread_mutex_unlock(&lock);
}

void sn_value_objects_forget(void) {
    for (size_t i = 0; i < objects.count; i++) objects.items[i].bytes = objects.items[i].times = 0;
}

/* ------------------------------------------------------------------------- report */

static int compare(const void *one, const void *other) {
    const object *a = *(const object *const *)one, *b = *(const object *const *)other;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return a < b ? -1 : a > b;
}

/** Objects in which something was found, the greatest first; to be freed. */
static const object **sorted(size_t *count, uint64_t *bytes) {
    const object **list = calloc(objects.count + 1, sizeof *list);
    if (!list) sn_fail(SN_STATUS_ENGINE, "no memory for the report");
    *count = *bytes = 0;
    for (size_t i = 0; i < objects.count; i++) {
        *bytes += objects.items[i].bytes;
        if (objects.items[i].bytes) list[(*count)++] = &objects.items[i];
    }
    qsort(list, *count, sizeof *list, compare);
    return list;
}

/** The lines that lead to an allocation: from where the allocating function was called. */
static void print_allocation(FILE *file, sn_context context, const char *indent) {
    sn_context_info info;
    if (sn_context_describe(context, &info)) sn_context_print(file, info.caller, info.call_site, 0, indent);
}

static void print_object(FILE *file, const object *of) {
    fprintf(file, "   %s%s%s\n", kinds[of->kind].words, of->name ? " " : "", of->name ? of->name : "");
    if (of->module) fprintf(file, "      in %s\n", of->module);
    if (of->kind == OBJECT_HEAP) print_allocation(file, of->context, "      ");
}

void sn_value_objects_print(FILE *file, int64_t most) {
    size_t count;
    uint64_t bytes;
    const object **list = sorted(&count, &bytes);
    size_t shown = most >= 0 && (uint64_t)most < count ? (size_t)most : count;
    fprintf(file, "\nData objects, by bytes (%zu of %zu)\n", shown, count);
    for (size_t i = 0; i < shown; i++) {
        double share = 100 * (double)list[i]->bytes / (double)bytes;
        fprintf(file, "%zu. %.1f %%: %lu bytes, %lu times\n", i + 1, share, (unsigned long)list[i]->bytes,
                (unsigned long)list[i]->times);
        print_object(file, list[i]);
    }
    free(list);
}

void sn_value_objects_describe(sn_json *json) {
    size_t count;
    uint64_t bytes;
    free(sorted(&count, &bytes));
    sn_json_object(json, NULL);
    sn_json_string(json, "name", "objects");
    sn_json_string(json, "title", "Data objects, by bytes");
    sn_json_string(json, "first", NULL);
    sn_json_string(json, "second", NULL);
    sn_json_number(json, "count", count);
    sn_json_number(json, "total", bytes);
    sn_json_close(json);
}

static void write_allocation(sn_json *json, sn_context context) {
    char *text = NULL, *rest;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for the report");
    print_allocation(memory, context, "");
    fclose(memory);
    sn_json_array(json, "context");
    rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line) sn_json_string(json, NULL, line);
    sn_json_close(json);
    free(text);
}

void sn_value_objects_write(sn_json *json, int64_t most) {
    size_t count;
    uint64_t bytes;
    const object **list = sorted(&count, &bytes);
    sn_json_array(json, "objects");
    for (size_t i = 0; i < count && (most < 0 || i < (uint64_t)most); i++) {
        sn_json_object(json, NULL);
        sn_json_string(json, "kind", kinds[list[i]->kind].name);
        sn_json_string(json, "name", list[i]->name);
        sn_json_string(json, "module", list[i]->module);
        sn_json_real(json, "share", (double)list[i]->bytes / (double)bytes);
        sn_json_number(json, "bytes", list[i]->bytes);
        sn_json_number(json, "times", list[i]->times);
        if (list[i]->kind == OBJECT_HEAP) write_allocation(json, list[i]->context);
        sn_json_close(json);
    }
    sn_json_close(json);
    free(list);
}
