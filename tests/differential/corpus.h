/**
 * @fileoverview The file of blocks that the generator writes and the runner reads: text, one block a line.
 *
 *     batch ADDRESS SIZE
 *     block NUMBER at=ADDRESS seed=HEX flags=HEX segments=0|1 fs=HEX gs=HEX registers=16 HEX,... code=HEX HEX .HEX ...
 *
 * Blocks after a batch line are mapped together, run in turn and unmapped. A group of code is one instruction, or data
 * when it begins with a full stop. The code includes the jump to the gate.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_CORPUS_H
#define SONDE_TESTS_DIFFERENTIAL_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "executor.h"

enum { SN_BLOCK_BYTES = 4096, SN_BLOCK_GROUPS = 512 };

typedef struct sn_test_block {
    uint64_t number;
    sn_start start; /**< start.entry is the block's address */
    uint8_t code[SN_BLOCK_BYTES];
    unsigned length;
    uint16_t groups[SN_BLOCK_GROUPS]; /**< where each instruction or datum begins */
    bool data[SN_BLOCK_GROUPS];
    unsigned group_count;
} sn_test_block;

void sn_corpus_write_batch(FILE *out, uint64_t address, uint64_t size);
void sn_corpus_write(FILE *out, const sn_test_block *block);

typedef enum sn_corpus_line { SN_CORPUS_BATCH, SN_CORPUS_BLOCK, SN_CORPUS_END, SN_CORPUS_BAD } sn_corpus_line;

/** Read the next line, into *address and *size or into *block. */
sn_corpus_line sn_corpus_read(FILE *in, uint64_t *address, uint64_t *size, sn_test_block *block);

#endif
