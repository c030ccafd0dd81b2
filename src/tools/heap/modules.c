/**
 * @fileoverview The files that are mapped into the program, for a scan: so that a report finds vtables, variables and types. See
 * modules.h.
 */
#include "modules.h"

#include "traces.h"

typedef struct module_writer {
    FILE *file;
    bool has_some;
} module_writer;

/** Where a file's beginning is mapped, the rest follows. */
static void write_module(const sn_memory_range *range, void *data) {
    module_writer *writer = data;
    if (range->path == NULL || range->path[0] != '/' || range->offset != 0) {
        return;
    }
    fprintf(writer->file, "%s\n  {\"path\": ", writer->has_some ? "," : "");
    heap_print_string(writer->file, range->path);
    fprintf(writer->file, ", \"addr\": \"%lx\"}", range->start);
    writer->has_some = true;
}

void heap_modules_write(FILE *file) {
    module_writer writer = {.file = file};
    fputs(" \"modules\": [", file);
    sn_memory_visit(write_module, &writer);
    fputs("\n ],\n", file);
}
