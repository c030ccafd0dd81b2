/**
 * @fileoverview Names of report files with %p, %n, %q{VAR} and %%, as in Valgrind.
 */
#ifndef SONDE_BASE_FILENAME_H
#define SONDE_BASE_FILENAME_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Expand `template` into result[0..size): %p is the process number, %n `sequence`, %q{VAR} the environment variable, %%
 * a per cent sign. Returns NULL if all is well, otherwise what is wrong, in one static text without newline.
 */
const char *sn_filename_expand(const char *template, unsigned sequence, char *result, size_t size);

/** `template` with the folder of the moment in front, if it is relative: the client may change its folder before a name is
    used. For the life of the process. */
const char *sn_filename_absolute(const char *template);

/** Whether another process gets another name: the template holds %p. */
bool sn_filename_is_per_process(const char *template);

#endif
