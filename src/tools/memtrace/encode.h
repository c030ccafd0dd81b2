/**
 * @fileoverview From the words of one thread to event blocks of the file.
 */
#ifndef SONDE_TOOLS_MEMTRACE_ENCODE_H
#define SONDE_TOOLS_MEMTRACE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct memtrace_encoder memtrace_encoder;

memtrace_encoder *memtrace_encoder_new(int thread);

/** Take in what the thread has appended to its trace. */
void memtrace_encode(memtrace_encoder *encoder, const uint64_t *words, size_t count);

/** Write what is not written yet. `ends`: the thread enters no further blocks: the last one is completed. */
void memtrace_encoder_flush(memtrace_encoder *encoder, bool ends);

void memtrace_encoder_free(memtrace_encoder *encoder);

#endif
