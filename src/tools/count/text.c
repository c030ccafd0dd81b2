/**
 * @fileoverview The report of the tool `count` as text, at most 80 columns wide. Called by count.c.
 *
 * Headings are bold when the report goes to a terminal. Names are shortened to fit: functions at their end, files at
 * their beginning.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { WIDTH = 80, NUMBER_SIZE = 32, NUMBER_WIDTH = 20, LABEL_WIDTH = 28, THREAD_WIDTH = 17 };

/** A report being written. */
typedef struct page {
    FILE *stream;
    bool is_terminal;
} page;

static const char *grouped(uint64_t value, char text[NUMBER_SIZE]) {
    char digits[NUMBER_SIZE];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = 0;
    return text;
}

static void heading(const page *page, const char *text) {
    fprintf(page->stream, page->is_terminal ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

static void row(const page *page, const char *label, uint64_t value) {
    char text[NUMBER_SIZE];
    fprintf(page->stream, "  %-*s%*s\n", LABEL_WIDTH, label, NUMBER_WIDTH, grouped(value, text));
}

/** A row whose share of `whole` is given. */
static void share_row(const page *page, const char *label, uint64_t value, uint64_t whole) {
    char text[NUMBER_SIZE];
    double percent = whole == 0 ? 0 : 100.0 * (double)value / (double)whole;
    fprintf(page->stream, "  %-*s%*s  %5.1f %%\n", LABEL_WIDTH, label, NUMBER_WIDTH, grouped(value, text), percent);
}

/** Control characters in arguments must not reach a terminal. */
static int printable(int character) {
    return (unsigned char)character < 0x20 || character == 0x7f ? '?' : character;
}

static void print_title(const page *page, const sn_tool *tool) {
    char number[NUMBER_SIZE], command[WIDTH * 2];
    const char *const *arguments;
    int count = sn_client_arguments(&arguments);
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        for (const char *c = i == 0 ? arguments[i] : " "; *c != 0 && length < sizeof command - 1; c++) {
            command[length++] = (char)printable(*c);
        }
        for (const char *c = i == 0 ? "" : arguments[i]; *c != 0 && length < sizeof command - 1; c++) {
            command[length++] = (char)printable(*c);
        }
    }
    command[length] = 0;
    snprintf(number, sizeof number, "%d", sn_client_process());
    size_t used = strlen("sonde   (process ): ") + strlen(tool->name) + strlen(tool->version) + strlen(number);
    int room = used < WIDTH ? (int)(WIDTH - used) : 0;
    bool is_long = length > (size_t)room;
    fprintf(page->stream, "sonde %s %s (process %s): %.*s%s\n", tool->name, tool->version, number,
            is_long && room > 3 ? room - 3 : room, command, is_long ? "..." : "");
}

static void print_totals(const page *page, const count_tally *total) {
    uint64_t branches = total->taken + total->not_taken;
    heading(page, "Executed");
    row(page, "instructions", total->instructions);
    share_row(page, "  string iterations", total->string_iterations, total->instructions);
    row(page, "basic blocks", total->basic_blocks);
    row(page, "conditional branches", branches);
    share_row(page, "  taken", total->taken, branches);
    share_row(page, "  not taken", total->not_taken, branches);
    row(page, "calls", total->calls + total->indirect_calls);
    share_row(page, "  indirect", total->indirect_calls, total->calls + total->indirect_calls);
}

static void print_accesses(const page *page, const count_tally *total) {
    char loads[NUMBER_SIZE], stores[NUMBER_SIZE];
    heading(page, "Memory accesses by size in bytes                   loads              stores");
    for (unsigned class = 0; class < COUNT_SIZES; class++) {
        if (total->loads[class] == 0 && total->stores[class] == 0) {
            continue;
        }
        fprintf(page->stream, "  %-*s%*s%*s\n", LABEL_WIDTH + 6, count_size_names[class], NUMBER_WIDTH,
                grouped(total->loads[class], loads), NUMBER_WIDTH, grouped(total->stores[class], stores));
    }
    fprintf(page->stream, "  %-*s%*s%*s\n", LABEL_WIDTH + 6, "all", NUMBER_WIDTH,
            grouped(count_all_sizes(total->loads), loads), NUMBER_WIDTH,
            grouped(count_all_sizes(total->stores), stores));
}

static void print_thread(const page *page, const char *name, const count_tally *tally) {
    char texts[4][NUMBER_SIZE];
    fprintf(page->stream, "  %-8s%*s%*s%*s%*s\n", name, THREAD_WIDTH, grouped(tally->instructions, texts[0]),
            THREAD_WIDTH, grouped(tally->calls + tally->indirect_calls, texts[1]), THREAD_WIDTH,
            grouped(count_all_sizes(tally->loads), texts[2]), THREAD_WIDTH,
            grouped(count_all_sizes(tally->stores), texts[3]));
}

/** A single thread has nothing that the totals do not say. */
static void print_threads(const page *page, const count_summary *summary) {
    char name[NUMBER_SIZE];
    if (summary->threads.count + summary->unlisted_count < 2) {
        return;
    }
    heading(page, "Thread         instructions            calls            loads           stores");
    for (size_t i = 0; i < summary->threads.count; i++) {
        snprintf(name, sizeof name, "%d", summary->threads.items[i].id);
        print_thread(page, name, &summary->threads.items[i].tally);
    }
    if (summary->unlisted_count != 0) {
        print_thread(page, "others", &summary->unlisted);
        fprintf(page->stream, "  (others: %s threads that ended after the first %d)\n",
                grouped(summary->unlisted_count, name), COUNT_LISTED_THREADS);
    }
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/** "file.c:12", or the module's name in brackets where the source is not known. */
static void describe_place(const count_function *function, char *text, size_t size) {
    if (function->file != NULL) {
        snprintf(text, size, function->line == 0 ? "%s" : "%s:%u", last_part(function->file), function->line);
    } else if (function->module != NULL) {
        snprintf(text, size, "[%s]", last_part(function->module));
    } else {
        snprintf(text, size, "[not from a file]");
    }
}

static void print_function(const page *page, const count_function *function, uint64_t all) {
    enum { NAME_WIDTH = 28, PLACE_WIDTH = 23 };
    char number[NUMBER_SIZE], place[256];
    const char *name = function->name == NULL ? "(no symbol)" : function->name;
    bool is_long = strlen(name) > NAME_WIDTH;
    describe_place(function, place, sizeof place);
    size_t length = strlen(place);
    fprintf(page->stream, "%17s %5.1f %%  %.*s%s%*s  %s%s\n", grouped(function->instructions, number),
            all == 0 ? 0 : 100.0 * (double)function->instructions / (double)all, is_long ? NAME_WIDTH - 3 : NAME_WIDTH,
            name, is_long ? "..." : "", is_long ? 0 : NAME_WIDTH - (int)strlen(name), "",
            length > PLACE_WIDTH ? "..." : "", length > PLACE_WIDTH ? place + length - (PLACE_WIDTH - 3) : place);
}

static void print_functions(const page *page, const count_report *report) {
    char number[NUMBER_SIZE];
    if (report->functions->listed == 0) {
        return;
    }
    heading(page, "     Instructions          Function                      Source");
    for (size_t i = 0; i < report->functions->listed; i++) {
        print_function(page, &report->functions->list.items[i], report->summary->total.instructions);
    }
    size_t rest = report->functions->list.count - report->functions->listed;
    if (rest != 0) {
        fprintf(page->stream, "  (%s more; --functions=N lists more)\n", grouped(rest, number));
    }
}

void count_print_text(const count_report *report) {
    page page = {.stream = sn_output()};
    page.is_terminal = isatty(fileno(page.stream));
    print_title(&page, report->tool);
    print_totals(&page, &report->summary->total);
    print_accesses(&page, &report->summary->total);
    print_threads(&page, report->summary);
    print_functions(&page, report);
}
