/**
 * @fileoverview Errors that the user does not want to hear of: files of Valgrind's format. See suppressions.c.
 */
#ifndef MEMCHECK_SUPPRESSIONS_H
#define MEMCHECK_SUPPRESSIONS_H

#include "memcheck.h"

typedef struct mc_suppression mc_suppression;

/** Read the files that the option names; a mistake ends the run with one line. */
void mc_suppressions_read(const sn_texts *files);

/** The suppression that matches what was found, or NULL. */
const mc_suppression *mc_suppression_of(const mc_finding *finding);

/** It was used so many times more, for a leak of so many bytes and blocks. */
void mc_suppression_used(const mc_suppression *suppression, uint64_t times, uint64_t bytes, uint64_t blocks);

/** A line for each that was used, for -s and -v. */
void mc_suppressions_list(void);
/** Visit those that were used. */
void mc_suppressions_visit(void (*visit)(const char *name, uint64_t count, void *data), void *data);

/** The suppression that would match an error, as --gen-suppressions=all prints it. */
void mc_suppression_write(FILE *file, const mc_finding *finding);
/** The same for Valgrind's XML. */
void mc_suppression_write_xml(FILE *file, const mc_finding *finding);

/** Write text with XML's five characters replaced. */
void mc_write_escaped(FILE *file, const char *text);

#endif
