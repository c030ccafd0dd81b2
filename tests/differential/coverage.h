/**
 * @fileoverview What share of the decoder's instruction forms the generated blocks ran. Used by the generator.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_COVERAGE_H
#define SONDE_TESTS_DIFFERENTIAL_COVERAGE_H

#include <stdbool.h>
#include <stdio.h>

/** Totals by mnemonic, by definition and by form; then the names never run, and why. */
void sn_coverage_print(FILE *out);

/** Is there a form of that mnemonic that may stand in a random block? */
bool sn_coverage_knows(const char *mnemonic);

#endif
