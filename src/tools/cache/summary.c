/**
 * @fileoverview The summary of a run. See summary.h.
 *
 * Each line is a label, a number, and for data in brackets its parts: reads and writes. Numbers of one column are as wide
 * as its first, the largest.
 */
#include "summary.h"

#include <inttypes.h>
#include <string.h>

#include "simulator/settings.h"

enum { NUMBER_SIZE = 32, LABEL_SIZE = 24, LABEL_WIDTH = 15 };

/** A line to come: all, and up to two parts. */
typedef struct numbers {
    int64_t all, parts[2];
} numbers;

/** How the parts of a group of lines are called, and how wide its columns are. */
typedef struct layout {
    FILE *stream;
    const char *names[2]; /**< NULL: no parts are shown */
    int widths[3];
} layout;

static const char *grouped(int64_t value, char text[NUMBER_SIZE]) {
    char digits[NUMBER_SIZE];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

static layout layout_for(FILE *stream, const char *first, const char *second, numbers largest) {
    char text[NUMBER_SIZE];
    return (layout){
        .stream = stream,
        .names = {first, second},
        .widths = {(int)strlen(grouped(largest.all, text)), (int)strlen(grouped(largest.parts[0], text)),
                   (int)strlen(grouped(largest.parts[1], text))},
    };
}

static void print_counts(const layout *layout, const char *label, numbers numbers) {
    char all[NUMBER_SIZE], first[NUMBER_SIZE], second[NUMBER_SIZE];
    fprintf(layout->stream, "%-*s%*s", LABEL_WIDTH, label, layout->widths[0], grouped(numbers.all, all));
    if (layout->names[0] != NULL) {
        fprintf(layout->stream, "  (%*s %s + %*s %s)", layout->widths[1], grouped(numbers.parts[0], first),
                layout->names[0], layout->widths[2], grouped(numbers.parts[1], second), layout->names[1]);
    }
    fputc('\n', layout->stream);
}

static const char *share(int64_t part, int64_t whole, char text[NUMBER_SIZE], int digits) {
    snprintf(text, NUMBER_SIZE, "%.*f%%", digits, whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole);
    return text;
}

static void print_rates(const layout *layout, const char *label, numbers part, numbers whole) {
    char all[NUMBER_SIZE], first[NUMBER_SIZE], second[NUMBER_SIZE];
    int width = layout->widths[0];
    if (layout->names[0] == NULL) {
        fprintf(layout->stream, "%-*s%*s\n", LABEL_WIDTH, label, width, share(part.all, whole.all, all, 2));
        return;
    }
    fprintf(layout->stream, "%-*s%*s  (%*s %*s + %*s %*s)\n", LABEL_WIDTH, label, width,
            share(part.all, whole.all, all, 1), layout->widths[1], share(part.parts[0], whole.parts[0], first, 1),
            (int)strlen(layout->names[0]), "", layout->widths[2],
            share(part.parts[1], whole.parts[1], second, 1), (int)strlen(layout->names[1]), "");
}

static int64_t total_at(const cache_profile *profile, cache_kind kind, unsigned place) {
    return profile->totals[cache_profile_references(kind) + place];
}

/** References (place 0) or misses of a level of the data caches. */
static numbers data_numbers(const cache_profile *profile, unsigned place) {
    int64_t reads = total_at(profile, CACHE_READ, place), writes = total_at(profile, CACHE_WRITE, place);
    return (numbers){.all = reads + writes, .parts = {reads, writes}};
}

/** All kinds together; instructions count as reads. */
static numbers all_numbers(const cache_profile *profile, unsigned place) {
    numbers result = data_numbers(profile, place);
    int64_t fetches = total_at(profile, CACHE_FETCH, place);
    return (numbers){.all = result.all + fetches, .parts = {result.parts[0] + fetches, result.parts[1]}};
}

static numbers instruction_numbers(const cache_profile *profile, unsigned place) {
    return (numbers){.all = total_at(profile, CACHE_FETCH, place)};
}

/** Misses and miss rates of each level: "I1  misses:", "LLi misses:". */
static void print_levels(const layout *layout, const cache_profile *profile, const char *before, const char *behind,
                         numbers (*numbers_of)(const cache_profile *profile, unsigned place)) {
    static const char *const forms[] = {"misses:", "miss rate:"};
    const cache_model *model = cache_current.model;
    for (unsigned form = 0; form < 2; form++) {
        for (unsigned level = 0; level < model->level_count; level++) {
            char name[LABEL_SIZE], label[2 * LABEL_SIZE];
            bool is_first = level == 0, is_last = level + 1 == model->level_count;
            snprintf(name, sizeof name, "%s%s%s", is_first ? before : is_last ? "" : "L", model->level_names[level],
                     is_first ? "" : behind);
            snprintf(label, sizeof label, "%-3s %s", name, forms[form]);
            if (form == 0) {
                print_counts(layout, label, numbers_of(profile, 1 + level));
            } else {
                print_rates(layout, label, numbers_of(profile, 1 + level), numbers_of(profile, 0));
            }
        }
    }
    fputc('\n', layout->stream);
}

static void print_caches(FILE *stream, const cache_profile *profile) {
    const cache_model *model = cache_current.model;
    layout instructions = layout_for(stream, NULL, NULL, instruction_numbers(profile, 0));
    layout data = layout_for(stream, "rd", "wr", data_numbers(profile, 0));
    print_levels(&instructions, profile, "I", "i", instruction_numbers);
    print_counts(&data, "D   refs:", data_numbers(profile, 0));
    print_levels(&data, profile, "D", "d", data_numbers);
    /* What misses the level before is a reference to the last one. */
    print_counts(&data, "LL  refs:", all_numbers(profile, model->level_count - 1));
    print_counts(&data, "LL  misses:", all_numbers(profile, model->level_count));
    print_rates(&data, "LL  miss rate:", all_numbers(profile, model->level_count), all_numbers(profile, 0));
}

static void print_branches(FILE *stream, const cache_profile *profile) {
    const int64_t *counts = profile->totals + cache_profile_branches();
    numbers branches = {.all = counts[0] + counts[2], .parts = {counts[0], counts[2]}};
    numbers wrong = {.all = counts[1] + counts[3], .parts = {counts[1], counts[3]}};
    layout layout = layout_for(stream, "cond", "ind", branches);
    fputc('\n', stream);
    print_counts(&layout, "Branches:", branches);
    print_counts(&layout, "Mispredicts:", wrong);
    print_rates(&layout, "Mispred rate:", wrong, branches);
}

/** Control characters in arguments must not reach a terminal. */
static void print_title(FILE *stream, const sn_tool *tool) {
    const char *const *words;
    int count = sn_client_arguments(&words);
    fprintf(stream, "sonde %s %s (process %d):", tool->name, tool->version, sn_client_process());
    for (int i = 0; i < count; i++) {
        fputc(' ', stream);
        for (const char *at = words[i]; *at != '\0'; at++) {
            fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at, stream);
        }
    }
    fputs("\n\n", stream);
}

void cache_print_summary(const sn_tool *tool, const cache_profile *profile) {
    FILE *stream = sn_output();
    layout instructions = layout_for(stream, NULL, NULL, (numbers){.all = profile->totals[0]});
    print_title(stream, tool);
    print_counts(&instructions, "I   refs:", (numbers){.all = profile->totals[0]});
    if (cache_current.simulates_caches) {
        print_caches(stream, profile);
    }
    if (cache_current.simulates_branches) {
        print_branches(stream, profile);
    }
}
