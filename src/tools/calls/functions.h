/**
 * @fileoverview Which function an address belongs to, for profiles: one entry a function, however many pieces of code it has.
 *
 * A function is a name in an object file. The pieces that compilers put apart (NAME.cold) belong to NAME. Code without
 * symbols belongs to the nearest function before it that was called, and is named by its address in its file; or, from where
 * another function jumps to in it, to that: pieces that are put apart have no names there.
 * A function that is separated by its contexts (separate.h) is several: NAME'2 is the second level of its recursion,
 * NAME'CALLER the one that CALLER called.
 */
#ifndef SONDE_TOOLS_CALLS_FUNCTIONS_H
#define SONDE_TOOLS_CALLS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct calls_function {
    const char *name;
    const char *object;    /**< path of the module; NULL if unknown */
    const char *file;      /**< source file of its entry; NULL if unknown */
    uint64_t entry;        /**< the lowest one that is known */
    bool has_symbol;
    uint32_t number;       /**< from 0, in the order of the file: calls_functions_number() */
} calls_function;

/** Where an address is. */
typedef struct calls_place {
    const calls_function *function;
    const char *file;      /**< NULL if unknown */
    unsigned line;         /**< 0 if unknown */
} calls_place;

/** Learn that a function begins at `entry`, which matters where there are no symbols. What was said of pieces is forgotten. */
void calls_functions_learn(uint64_t entry);
/** From an address in code without symbols on there is a piece of a function that begins elsewhere, up to the next piece or
    function. */
void calls_functions_add_piece(uint64_t address, const calls_function *function);
/** Entries, or pieces, are learned: places can be asked for. */
void calls_functions_learned(void);
/** Whether a function is known to begin at an address, in code without symbols. */
bool calls_functions_is_entry(uint64_t address);

/** Looks the address up; slow the first time, then from a table. */
calls_place calls_place_of(uint64_t address);

/** Number all functions that places were asked for of, in an order that follows from nothing but what they are, so that a program
    which does the same has the same profile, whichever thread was first. */
void calls_functions_number(void);

/** The function as it is in a context; the function itself for context 0. */
const calls_function *calls_function_in(const calls_function *function, uint32_t context);

#endif
