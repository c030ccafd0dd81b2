/**
 * @fileoverview Prints what src/image knows of functions inlined at addresses: `cache_inlined FILE ADDRESS...`.
 *
 * For each address a line: function, file and line, innermost first, separated by tabs; "?" where unknown. Compiled and
 * run by tests/test_cache_inlined.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "image/symbols.h"
#include "sonde/tool.h"

void sn_fail(int status, const char *format, ...) {
    fputs(format, stderr);
    exit(status);
}

static void show(sn_image *image, uint64_t address) {
    sn_frame frames[32];
    unsigned count = sn_image_inlined(image, address, frames, 32);
    for (unsigned i = 0; i < count; i++) {
        printf("%s%s\t%s\t%u", i > 0 ? "\t" : "", frames[i].function != NULL ? frames[i].function : "?",
               frames[i].file != NULL ? frames[i].file : "?", frames[i].line);
    }
    putchar('\n');
}

int main(int argument_count, char **arguments) {
    sn_image *image = argument_count < 2 ? NULL : sn_image_open(arguments[1]);
    if (image == NULL) {
        fprintf(stderr, "cache_inlined: no ELF file\n");
        return 1;
    }
    for (int i = 2; i < argument_count; i++) {
        show(image, strtoull(arguments[i], NULL, 16));
    }
    sn_image_close(image);
    return 0;
}
