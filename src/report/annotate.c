/**
 * @fileoverview Source lines with their counts, for the files that the listed functions are in. See cachegrind.h.
 *
 * A line is shown when its share of one of the columns is not small, with some lines around it. A source that is not
 * there is told in one line on standard error and left out; one that is newer than the profile is told and shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "report/cachegrind.h"
#include "report/text_form.h"

static const double least_share = 0.1;

/** The counts of one line of a file, all functions together. */
typedef struct line_counts {
    uint32_t line;
    int64_t counts[SN_PROFILE_MOST_EVENTS];
} line_counts;

typedef struct source_file {
    const char *name;
    SN_VECTOR(line_counts) lines; /**< in their order */
    int64_t counts[SN_PROFILE_MOST_EVENTS];
} source_file;

static int by_line(const void *left, const void *right) {
    const line_counts *a = left, *b = right;
    return (a->line > b->line) - (a->line < b->line);
}

static void add_counts(int64_t *sums, const int64_t *counts, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        sums[i] += counts[i];
    }
}

/** Rows of a file lie together in a sorted profile, those of a line maybe in several functions. */
static source_file collect(const sn_profile *profile, const char *name) {
    source_file file = {.name = name};
    for (size_t i = 0; i < profile->rows.count; i++) {
        if (profile->rows.items[i].file == name) {
            line_counts *line = sn_vector_add(&file.lines);
            line->line = profile->rows.items[i].line;
            add_counts(line->counts, sn_profile_counts(profile, i), profile->event_count);
            add_counts(file.counts, line->counts, profile->event_count);
        }
    }
    qsort(file.lines.items, file.lines.count, sizeof *file.lines.items, by_line);
    size_t kept = 0;
    for (size_t i = 1; i < file.lines.count; i++) {
        if (file.lines.items[i].line == file.lines.items[kept].line) {
            add_counts(file.lines.items[kept].counts, file.lines.items[i].counts, profile->event_count);
        } else {
            file.lines.items[++kept] = file.lines.items[i];
        }
    }
    file.lines.count = kept + 1;
    return file;
}

/* -------------------------------------------------------------------- the text */

/** Only a regular file is a source: a profile from elsewhere may name a pipe, whose reader would wait for ever. */
static FILE *open_regular(const char *path) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        return NULL;
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        errno = EINVAL;
        return NULL;
    }
    return fdopen(descriptor, "r");
}

FILE *sn_profile_open_source(const sn_profile_view *view, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s", name);
    FILE *stream = open_regular(path);
    for (const char *folder = view->folders; stream == NULL && folder != NULL && *folder != '\0';) {
        size_t length = strcspn(folder, ":");
        const char *const ends[] = {name, sn_form_base_name(name)};
        for (size_t i = 0; i < 2 && stream == NULL && length > 0; i++) {
            snprintf(path, size, "%.*s/%s", (int)length, folder, ends[i]);
            stream = open_regular(path);
        }
        folder += length + (folder[length] == ':');
    }
    return stream;
}

bool sn_profile_source_is_newer(const sn_profile_view *view, FILE *stream) {
    struct stat source, profile;
    if (view->profile->path == NULL || fstat(fileno(stream), &source) != 0 ||
        stat(view->profile->path, &profile) != 0) {
        return false;
    }
    return source.st_mtim.tv_sec > profile.st_mtim.tv_sec ||
           (source.st_mtim.tv_sec == profile.st_mtim.tv_sec && source.st_mtim.tv_nsec > profile.st_mtim.tv_nsec);
}

static void check_age(const sn_profile_view *view, FILE *stream, const char *path) {
    if (sn_profile_source_is_newer(view, stream)) {
        sn_message("the source '%s' is newer than the profile '%s': lines may not match", path, view->profile->path);
    }
}

/** One line without its end and with tabs as spaces, in text[0..size); false at the end of the file. */
static bool read_source_line(FILE *stream, char *text, size_t size) {
    size_t used = 0;
    int character = getc(stream);
    if (character == EOF) {
        return false;
    }
    for (; character != EOF && character != '\n'; character = getc(stream)) {
        size_t width = character == '\t' ? 8 - used % 8 : 1;
        for (; width > 0 && used + 1 < size && character != '\r' && character != '\0'; width--) {
            text[used++] = character == '\t' ? ' ' : (char)character;
        }
    }
    text[used] = '\0';
    return true;
}

/* ------------------------------------------------------------------- printing */

/** What is known while the lines of a file are printed one by one. */
typedef struct annotation {
    const sn_profile_view *view;
    const source_file *file;
    size_t next;          /**< of file->lines: the first not yet passed */
    uint32_t last_shown;
} annotation;

static bool is_large(const annotation *annotation, size_t index) {
    const line_counts *line = &annotation->file->lines.items[index];
    return line->line != 0 && sn_profile_largest_share(annotation->view, line->counts) >= least_share;
}

/** Whether line `number` has large counts, or is near one that has. */
static bool is_shown(const annotation *annotation, uint32_t number) {
    uint64_t context = annotation->view->context;
    for (size_t i = annotation->next; i < annotation->file->lines.count; i++) {
        if (annotation->file->lines.items[i].line > number + context) {
            break;
        }
        if (is_large(annotation, i)) {
            return true;
        }
    }
    for (size_t i = annotation->next; i > 0; i--) {
        if (annotation->file->lines.items[i - 1].line + context < number) {
            break;
        }
        if (is_large(annotation, i - 1)) {
            return true;
        }
    }
    return false;
}

static void print_line(annotation *annotation, uint32_t number, const char *text) {
    static const int64_t none[SN_PROFILE_MOST_EVENTS];
    const sn_profile_view *view = annotation->view;
    const source_file *file = annotation->file;
    bool has_counts = annotation->next < file->lines.count && file->lines.items[annotation->next].line == number;
    unsigned numbers_width = SN_PROFILE_NUMBERS_WIDTH + 7 * view->columns.count;
    if (annotation->last_shown + 1 != number && annotation->last_shown != 0) {
        printf("%*s  ...\n", (int)numbers_width, "");
    }
    double share = 0;
    if (has_counts) {
        share = sn_profile_print_numbers(view, file->lines.items[annotation->next].counts);
    } else {
        share = sn_profile_largest_share(view, none);
        printf("%*s", (int)numbers_width, "");
    }
    printf(" %5u%s", number, *text != '\0' ? "  " : "");
    sn_form_print(text, SN_REPORT_WIDTH - numbers_width - 8, SN_FORM_CUT_END);
    sn_form_end_line(share);
    annotation->last_shown = number;
}

/** With the text; lines of the profile behind the end of the file are left over. */
static void print_with_text(annotation *annotation, FILE *stream) {
    char text[500];
    for (uint32_t number = 1; number != 0 && read_source_line(stream, text, sizeof text); number++) {
        const source_file *file = annotation->file;
        if (is_shown(annotation, number)) {
            print_line(annotation, number, text);
        }
        while (annotation->next < file->lines.count && file->lines.items[annotation->next].line <= number) {
            annotation->next++;
        }
    }
}

/** Lines that the source does not have: it is another version. */
static void print_behind_end(annotation *annotation) {
    for (; annotation->next < annotation->file->lines.count; annotation->next++) {
        if (is_large(annotation, annotation->next)) {
            print_line(annotation, annotation->file->lines.items[annotation->next].line, "");
        }
    }
}

/** Code of a file whose line is not known. */
static void print_line_zero(annotation *annotation) {
    const line_counts *first = annotation->file->lines.items;
    if (first->line == 0) {
        if (sn_profile_largest_share(annotation->view, first->counts) >= least_share) {
            double share = sn_profile_print_numbers(annotation->view, first->counts);
            printf("     ?  (line not known)");
            sn_form_end_line(share);
        }
        annotation->next++;
    }
}

static void annotate_file(const sn_profile_view *view, const source_file *file) {
    char path[5000];
    annotation annotation = {.view = view, .file = file};
    FILE *stream = sn_profile_open_source(view, file->name, path, sizeof path);
    if (stream == NULL) {
        sn_message("the source '%s' cannot be read: %s", file->name, strerror(errno));
        return;
    }
    check_age(view, stream, path);
    printf("\nSource: ");
    sn_form_print(path, SN_REPORT_WIDTH - 8, SN_FORM_CUT_BEGINNING);
    putchar('\n');
    sn_profile_print_heading(view, " Line  Source");
    print_line_zero(&annotation);
    print_with_text(&annotation, stream);
    print_behind_end(&annotation);
    fclose(stream);
}

/* ------------------------------------------------------------------ which files */

static int by_sort_column(const void *left, const void *right, void *column) {
    const source_file *a = left, *b = right;
    int64_t value_a = sn_column_value(column, a->counts), value_b = sn_column_value(column, b->counts);
    return value_a != value_b ? (value_a < value_b ? 1 : -1) : strcmp(a->name, b->name);
}

static bool has_large_line(const sn_profile_view *view, const source_file *file) {
    annotation annotation = {.view = view, .file = file};
    for (size_t i = 0; i < file->lines.count; i++) {
        if (is_large(&annotation, i)) {
            return true;
        }
    }
    return false;
}

void sn_profile_annotate(const sn_profile_view *view) {
    SN_VECTOR(source_file) files = {0};
    for (size_t i = 0; i < view->functions.count && i < view->function_limit; i++) {
        const char *name = view->functions.items[i].file;
        bool is_known = strcmp(name, "???") == 0;
        for (size_t k = 0; k < files.count && !is_known; k++) {
            is_known = files.items[k].name == name;
        }
        if (!is_known) {
            source_file file = collect(view->profile, name);
            *sn_vector_add(&files) = file;
        }
    }
    if (files.count > 0) {
        qsort_r(files.items, files.count, sizeof *files.items, by_sort_column, (void *)(uintptr_t)&view->columns.sort);
    }
    fflush(stdout);
    for (size_t i = 0; i < files.count; i++) {
        if (has_large_line(view, &files.items[i])) {
            annotate_file(view, &files.items[i]);
        }
        sn_vector_release(&files.items[i].lines);
    }
    sn_vector_release(&files);
}
