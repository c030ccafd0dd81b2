/**
 * @fileoverview Massif's files for people: the heap over time as a graph, a table of the snapshots, their trees. See massif.h.
 */
#include <inttypes.h>
#include <string.h>

#include "report/massif.h"
#include "report/text_form.h"

enum { COLUMNS = 68, ROWS = 20, WHOLE_LINE = 1 << 20 };

typedef struct scale {
    double divisor;
    const char *unit;
} scale;

/** A unit in which the number has up to four digits before the point. */
static scale scale_for(uint64_t most, const char *const *units, unsigned count, double step) {
    scale scale = {1, units[0]};
    for (unsigned i = 1; i < count && (double)most / scale.divisor >= step; i++)
        scale = (struct scale){scale.divisor * step, units[i]};
    return scale;
}

static scale byte_scale(uint64_t most) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    return scale_for(most, units, sizeof units / sizeof *units, 1024);
}

static scale time_scale(const char *unit, uint64_t most) {
    static const char *const instructions[] = {"i", "ki", "Mi", "Gi", "Ti"}, *const milliseconds[] = {"ms", "s"};
    if (strcmp(unit, "B") == 0)
        return byte_scale(most);
    if (strcmp(unit, "i") == 0)
        return scale_for(most, instructions, sizeof instructions / sizeof *instructions, 1000);
    if (strcmp(unit, "ms") == 0)
        return scale_for(most, milliseconds, sizeof milliseconds / sizeof *milliseconds, 1000);
    return (scale){1, unit};
}

/* ------------------------------------------------------------------------------ graph */

typedef struct column {
    uint64_t total;
    char mark;
} column;

/** The largest snapshot of each column; the peak goes before all, a detailed one before others of its size. */
static void fill_columns(const sn_massif *massif, column *columns) {
    uint64_t last_time = massif->snapshots.items[massif->snapshots.count - 1].time, before = 0;
    for (size_t i = 0, x = 0; x < COLUMNS; x++) {
        columns[x] = (column){before, ' '};
        for (; i < massif->snapshots.count; i++) {
            const sn_massif_snapshot *snapshot = &massif->snapshots.items[i];
            size_t place = last_time == 0 ? 0 : (size_t)((double)snapshot->time / (double)last_time * (COLUMNS - 1));
            if (place > x)
                break;
            uint64_t total = sn_massif_total(snapshot);
            char mark = i == massif->peak ? '#' : snapshot->detail == SN_MASSIF_EMPTY ? ':' : '@';
            if (columns[x].mark != '#' && (columns[x].mark == ' ' || total >= columns[x].total || mark == '#'))
                columns[x] = (column){total, mark};
            before = total;
        }
        if (columns[x].mark == ' ')
            columns[x].mark = ':';
    }
}

static void print_graph(const sn_massif *massif) {
    column columns[COLUMNS];
    uint64_t most = 0, last_time = massif->snapshots.items[massif->snapshots.count - 1].time;
    fill_columns(massif, columns);
    for (size_t x = 0; x < COLUMNS; x++)
        most = columns[x].total > most ? columns[x].total : most;
    scale bytes = byte_scale(most), times = time_scale(massif->time_unit, last_time);
    for (unsigned row = ROWS; row > 0; row--) {
        char line[COLUMNS + 1], label[32] = "";
        size_t length = 0;
        for (size_t x = 0; x < COLUMNS; x++) {
            bool is_filled = most > 0 && (double)columns[x].total / (double)most * ROWS > row - 1;
            line[x] = is_filled ? columns[x].mark : ' ';
            length = is_filled ? x + 1 : length;
        }
        if (row == ROWS)
            snprintf(label, sizeof label, "%.1f %s", (double)most / bytes.divisor, bytes.unit);
        printf("%9s |%.*s\n", label, (int)length, line);
    }
    printf("%9s +%.*s\n", "0", COLUMNS, "--------------------------------------------------------------------------");
    char label[48];
    snprintf(label, sizeof label, "%.1f %s", (double)last_time / times.divisor, times.unit);
    printf("%11s0%*s\n", "", COLUMNS - 1, label);
    printf("  snapshots: %zu; @ detailed, # peak\n", massif->snapshots.count);
}

/* ------------------------------------------------------------------------------ table */

static void print_number(uint64_t value, int width) {
    char text[SN_NUMBER_SIZE];
    printf(" %*s", width, sn_form_number((int64_t)value, text));
}

static void print_tree(const sn_massif *massif, const sn_massif_snapshot *snapshot) {
    uint64_t total = sn_massif_total(snapshot);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const sn_massif_node *node = &massif->nodes.items[snapshot->first + i];
        char text[SN_NUMBER_SIZE];
        printf("%*s%6.2f %% %s ", (int)(2 + 2 * node->depth), "", total == 0 ? 0 : 100 * (double)node->bytes / (double)total,
               sn_form_number((int64_t)node->bytes, text));
        sn_form_print(node->name, WHOLE_LINE, SN_FORM_CUT_END);
        putchar('\n');
    }
}

static bool has_tree(const sn_massif *massif, uint32_t number, sn_massif_trees trees) {
    return massif->snapshots.items[number].count > 0 &&
           (trees == SN_MASSIF_ALL_TREES || (trees == SN_MASSIF_PEAK_TREE && number == massif->peak));
}

static void print_table(const sn_massif *massif, sn_massif_trees trees) {
    bool is_begun = false;
    for (uint32_t i = 0; i < massif->snapshots.count; i++) {
        const sn_massif_snapshot *snapshot = &massif->snapshots.items[i];
        if (!is_begun)
            printf("\n   n %15s %13s %13s %11s %11s\n", massif->time_unit, "total", "useful", "extra", "stacks");
        printf("%c%3" PRIu32, i == massif->peak ? '#' : ' ', i);
        print_number(snapshot->time, 15);
        print_number(sn_massif_total(snapshot), 13);
        print_number(snapshot->heap, 13);
        print_number(snapshot->extra, 11);
        print_number(snapshot->stacks, 11);
        putchar('\n');
        is_begun = !has_tree(massif, i, trees);
        if (!is_begun)
            print_tree(massif, snapshot);
    }
}

void sn_massif_print_text(const sn_massif *massif, sn_massif_trees trees) {
    printf("sonde report: %s\n  command: ", massif->path);
    sn_form_print(massif->command, WHOLE_LINE, SN_FORM_CUT_END);
    printf("\n  options: ");
    sn_form_print(massif->description, WHOLE_LINE, SN_FORM_CUT_END);
    printf("\n\n");
    print_graph(massif);
    print_table(massif, trees);
}
