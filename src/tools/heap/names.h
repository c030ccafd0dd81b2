/**
 * @fileoverview What is printed of places in the program: functions, source lines, modules; and chains of calls as places.
 */
#ifndef HEAP_NAMES_H
#define HEAP_NAMES_H

#include <sonde/tool.h>

/** One call of a chain: where, in which function. */
typedef struct heap_place {
    uint64_t address;  /**< of the call; if that is not known, of the function */
    uint64_t function; /**< where control entered the function that calls */
} heap_place;

/** The calls of a context, innermost first, from the one that called its own function on; at most `most`. Returns how many. */
unsigned heap_places_of(sn_context context, heap_place *places, unsigned most);

/** Print the `inlined`-th function at an address, innermost first: `name (file:line)`, or `name (in module)`, the file with its
    folders or without. Returns whether there is such a one. */
bool heap_print_frame(FILE *file, uint64_t address, unsigned inlined, bool with_folders);

/** How many functions stand at an address, at least 1. */
unsigned heap_frame_functions(uint64_t address);

/** Whether the function's name, without its arguments, is one of these. */
bool heap_is_named(uint64_t address, const sn_texts *names);

#endif
