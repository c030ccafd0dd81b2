/**
 * @fileoverview Growing a random block: instructions in a row, and control structures around them.
 *
 * block.c adds pieces and takes back those that fault; control.c builds the structures, whose bodies block.c grows.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_BLOCK_H
#define SONDE_TESTS_DIFFERENTIAL_BLOCK_H

#include "builder.h"

typedef struct sn_block_options {
    unsigned most_pieces;
    const char *mnemonic; /**< only instructions of this name, or NULL */
    bool straight;        /**< no control structures */
    bool sweep;           /**< every form in turn, instead of random ones */
} sn_block_options;

/** A whole block at `address`, whose memory can be written at `writable`; false when its result was not the same twice (reported on stderr). */
bool sn_block_make(sn_builder *builder, uint64_t number, uint64_t seed, uint64_t address, uint8_t *writable,
                   const sn_block_options *options);

/** Add up to `count` pieces at the current place; returns how many stayed. */
unsigned sn_block_grow(sn_builder *builder, unsigned count);

/** Add one control structure with random bodies; false when it came to nothing (the builder is as before). */
bool sn_control_add(sn_builder *builder);

#endif
