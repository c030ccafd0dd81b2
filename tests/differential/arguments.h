/**
 * @fileoverview Words of a command line, for generate.c and flow_flip.c.
 */
#ifndef SONDE_DIFFERENTIAL_ARGUMENTS_H
#define SONDE_DIFFERENTIAL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Whether `text` is `name` ("--seed=") and a number, which is stored. */
static inline bool read_number(const char *text, const char *name, uint64_t *value) {
    size_t length = strlen(name);
    char *end;
    if (strncmp(text, name, length) != 0)
        return false;
    *value = strtoull(text + length, &end, 0);
    return *end == '\0' && end != text + length;
}

#endif
