/**
 * @fileoverview Printing for the program: Valgrind's VALGRIND_PRINTF, whose format and arguments are the program's and are
 * believed in nothing.
 */
#ifndef SONDE_GUEST_REQUEST_PRINT_H
#define SONDE_GUEST_REQUEST_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Write to the log what printf would make of the format and the va_list at these addresses of the client, each line behind
    the process number as Valgrind has it. Returns how many characters of the program's that were; 0 if it cannot be read. */
uint64_t sn_request_print(int process, uint64_t format, uint64_t list);

/** Copy a string of the client's, at most `size` - 1 characters of it. False if it cannot be read. */
bool sn_request_string(uint64_t from, char *to, size_t size);

#endif
