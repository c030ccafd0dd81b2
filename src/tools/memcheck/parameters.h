/**
 * @fileoverview The names of system calls' parameters, and how much of them the kernel looks at: see parameters.c.
 */
#ifndef MEMCHECK_PARAMETERS_H
#define MEMCHECK_PARAMETERS_H

#include "memcheck.h"

/** What is known of a parameter. */
typedef struct mc_parameter {
    bool is_value;    /**< it is one in each use of the call: the value itself must be defined */
    bool is_short;    /**< of that, the low 4 bytes */
    char *name;       /**< "write(fd)": the caller's, to be freed */
} mc_parameter;

/** Parameter `number` (from 0) of a call; what is not known is named by its number. */
mc_parameter mc_parameter_of(const char *call, unsigned number);

/** A range of memory that a call is given: the `number`-th (from 0) of those that its parameter leads to. */
typedef struct mc_given {
    const sn_system_call *call;
    const sn_system_range *range;
    unsigned number;
} mc_given;

/** The parts that the kernel looks at, in bytes from the range's beginning to *start and *end: the `piece`-th (from 0); false if there
    are no more. The range must be readable. */
bool mc_given_part(const mc_given *given, unsigned piece, uint64_t *start, uint64_t *end);
/** The name of a part, "bind(my_addr.sin_port)", or of the whole range with a `piece` that is none; the caller's, to be freed. */
char *mc_given_name(const mc_given *given, unsigned piece);

#endif
