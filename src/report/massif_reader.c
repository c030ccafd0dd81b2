/**
 * @fileoverview Reading Massif's files. See massif.h.
 *
 * The format, as Massif writes it and ms_print reads it (Valgrind's manual describes the numbers): three lines "desc:", "cmd:",
 * "time_unit:"; then for each snapshot its number between two lines of "#---", five lines KEY=VALUE, and, for a detailed one,
 * lines
 * "nCHILDREN: BYTES TEXT", each indented by its depth.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "report/massif.h"

typedef struct reader {
    FILE *stream;
    sn_massif *massif;
    char *line;
    size_t room, number;
    bool is_over;
    char *explanation;
    uint32_t children[SN_MASSIF_MOST_DEPTH]; /**< of the nodes above the next line: still to come */
    uint64_t left[SN_MASSIF_MOST_DEPTH];     /**< bytes of those that are of no child yet */
} reader;

bool sn_massif_recognises(const char *head, size_t size) {
    return size > 5 && memcmp(head, "desc:", 5) == 0 &&
           (memmem(head, size, "\ntime_unit:", 11) != NULL || memmem(head, size, "\n#-----------\nsnapshot=", 23) != NULL);
}

static bool fail(reader *reader, const char *what) {
    if (reader->explanation[0] == '\0')
        snprintf(reader->explanation, SN_MASSIF_EXPLANATION_SIZE, "line %zu: %s", reader->number, what);
    return false;
}

/** The next line without its end; false when there is none. A last line without an end is cut off. */
static bool next(reader *reader) {
    ssize_t length = getline(&reader->line, &reader->room, reader->stream);
    if (length < 0) {
        reader->is_over = true;
        return false;
    }
    reader->number++;
    if (reader->line[length - 1] != '\n')
        return fail(reader, "the file ends within a line");
    reader->line[length - 1] = '\0';
    return true;
}

static bool need(reader *reader) {
    return next(reader) || fail(reader, "the file ends too early");
}

/** A line that begins with `key`: the text behind it. */
static const char *text_of(reader *reader, const char *key) {
    size_t length = strlen(key);
    if (!need(reader))
        return NULL;
    if (strncmp(reader->line, key, length) != 0) {
        char text[80];
        snprintf(text, sizeof text, "%s is expected", key);
        fail(reader, text);
        return NULL;
    }
    return reader->line + length + strspn(reader->line + length, " ");
}

/** Digits alone; true with the number and the place behind. */
static bool number_at(const char **text, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return *value <= INT64_MAX / 4; /* sums of three are numbers too */
}

static bool number_of(reader *reader, const char *key, uint64_t *value) {
    const char *text = text_of(reader, key);
    if (text == NULL)
        return false;
    return (number_at(&text, value) && *text == '\0') || fail(reader, "a number is expected");
}

/* ------------------------------------------------------------------------------ trees */

/** "0x1234: main (a.c:5)" -> "main (a.c:5)". */
static const char *without_address(const char *text) {
    if (strncmp(text, "0x", 2) != 0)
        return text;
    const char *end = text + 2 + strspn(text + 2, "0123456789abcdefABCDEF");
    return end > text + 2 && end[0] == ':' && end[1] == ' ' ? end + 2 : text;
}

static bool read_node(reader *reader, uint32_t depth) {
    const char *at = reader->line + strspn(reader->line, " ");
    uint64_t children, bytes;
    if ((size_t)(at - reader->line) != depth || *at++ != 'n')
        return fail(reader, "a line of the tree is expected, at its depth");
    if (!number_at(&at, &children) || strncmp(at, ": ", 2) != 0 || (at += 2, !number_at(&at, &bytes)) || *at++ != ' ' ||
        children > UINT32_MAX)
        return fail(reader, "a line of the tree needs its children, bytes and text");
    if (depth > 0 && bytes > reader->left[depth - 1])
        return fail(reader, "the children of a line have more bytes than it");
    if (depth > 0) {
        reader->left[depth - 1] -= bytes;
        reader->children[depth - 1]--;
    }
    reader->children[depth] = (uint32_t)children;
    reader->left[depth] = bytes;
    *sn_vector_add(&reader->massif->nodes) = (sn_massif_node){bytes, sn_intern(without_address(at)), depth};
    return true;
}

static bool read_tree(reader *reader, sn_massif_snapshot *snapshot) {
    uint32_t depth = 0;
    bool is_whole = false;
    snapshot->first = (uint32_t)reader->massif->nodes.count;
    while (!is_whole) {
        if (!need(reader) || !read_node(reader, depth))
            return false;
        if (reader->children[depth] > 0 && ++depth == SN_MASSIF_MOST_DEPTH)
            return fail(reader, "the tree is too deep");
        while (depth > 0 && reader->children[depth - 1] == 0)
            depth--;
        is_whole = depth == 0;
    }
    snapshot->count = (uint32_t)(reader->massif->nodes.count - snapshot->first);
    return true;
}

/* -------------------------------------------------------------------------- snapshots */

static bool read_detail(reader *reader, sn_massif_snapshot *snapshot) {
    static const char *const names[] = {
        [SN_MASSIF_EMPTY] = "empty", [SN_MASSIF_DETAILED] = "detailed", [SN_MASSIF_PEAK] = "peak"};
    const char *text = text_of(reader, "heap_tree=");
    for (unsigned i = 0; text != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            snapshot->detail = (sn_massif_detail)i;
            return i == SN_MASSIF_EMPTY || read_tree(reader, snapshot);
        }
    }
    return fail(reader, "the heap_tree is none of empty, detailed, peak");
}

/** Behind the first line of "#---". */
static bool read_snapshot(reader *reader) {
    sn_massif *massif = reader->massif;
    sn_massif_snapshot snapshot = {0};
    uint64_t number;
    if (!number_of(reader, "snapshot=", &number) || text_of(reader, "#-") == NULL ||
        !number_of(reader, "time=", &snapshot.time) || !number_of(reader, "mem_heap_B=", &snapshot.heap) ||
        !number_of(reader, "mem_heap_extra_B=", &snapshot.extra) || !number_of(reader, "mem_stacks_B=", &snapshot.stacks) ||
        !read_detail(reader, &snapshot))
        return false;
    if (number != massif->snapshots.count)
        return fail(reader, "snapshots are not numbered one by one");
    if (number > 0 && snapshot.time < massif->snapshots.items[number - 1].time)
        return fail(reader, "time goes backwards");
    *sn_vector_add(&massif->snapshots) = snapshot;
    return true;
}

static void find_peak(sn_massif *massif) {
    const sn_massif_snapshot *snapshots = massif->snapshots.items;
    for (uint32_t i = 0; i < massif->snapshots.count; i++) {
        if (snapshots[i].detail == SN_MASSIF_PEAK) {
            massif->peak = i;
            return;
        }
        if (sn_massif_total(&snapshots[i]) > sn_massif_total(&snapshots[massif->peak]))
            massif->peak = i;
    }
}

static bool read_head(reader *reader) {
    static const struct {
        const char *key;
        size_t place;
    } lines[] = {{"desc:", offsetof(sn_massif, description)}, {"cmd:", offsetof(sn_massif, command)},
                 {"time_unit:", offsetof(sn_massif, time_unit)}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *text = text_of(reader, lines[i].key);
        if (text == NULL)
            return false;
        *(const char **)((char *)reader->massif + lines[i].place) = sn_intern(text);
    }
    return true;
}

static bool read_all(reader *reader) {
    if (!read_head(reader))
        return false;
    while (next(reader)) {
        if (strncmp(reader->line, "#-", 2) != 0)
            return fail(reader, "a line of #--- is expected");
        if (!read_snapshot(reader))
            return false;
    }
    if (reader->explanation[0] != '\0')
        return false;
    return reader->massif->snapshots.count > 0 || fail(reader, "there are no snapshots");
}

bool sn_massif_parse(sn_massif *massif, FILE *stream, char *explanation) {
    static reader reader;
    reader = (struct reader){.stream = stream, .massif = massif, .explanation = explanation};
    explanation[0] = '\0';
    bool is_good = read_all(&reader);
    free(reader.line);
    if (ferror(stream)) {
        explanation[0] = '\0';
        return false;
    }
    if (is_good)
        find_peak(massif);
    return is_good;
}

void sn_massif_release(sn_massif *massif) {
    sn_vector_release(&massif->snapshots);
    sn_vector_release(&massif->nodes);
}
