/**
 * @fileoverview Prints what src/image knows of addresses in a file: `show_symbols FILE ADDRESS...`, a line each.
 *
 * Function, raw name, start, size, source file, line, file of the function, separated by tabs; "-" where unknown.
 * Compiled and run by tests/test_symbols.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/symbols.h"
#include "sonde/tool.h"

void sn_fail(int status, const char *format, ...) {
    fputs(format, stderr);
    exit(status);
}

static void show(sn_image *image, uint64_t address) {
    sn_symbol symbol = {.name = "-", .raw_name = "-"};
    sn_line line = {.file = "-"};
    sn_image_symbol(image, address, &symbol);
    sn_image_line(image, address, &line);
    const char *file = sn_image_function_file(image, address);
    printf("%s\t%s\t%" PRIx64 "\t%" PRIx64 "\t%s\t%u\t%s\n", symbol.name, symbol.raw_name, symbol.address, symbol.size,
           line.file, line.line, file == NULL ? "-" : file);
}

int main(int argument_count, char **arguments) {
    sn_image *image = argument_count < 2 ? NULL : sn_image_open(arguments[1]);
    if (image == NULL) {
        fprintf(stderr, "show_symbols: no ELF file\n");
        return 1;
    }
    for (int i = 2; i < argument_count; i++) {
        show(image, strtoull(arguments[i], NULL, 16));
    }
    sn_image_close(image);
    return 0;
}
