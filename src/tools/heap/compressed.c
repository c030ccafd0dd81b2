/**
 * @fileoverview Compressed streams. See compressed.h.
 */
#define _GNU_SOURCE
#include "compressed.h"

#include <stdlib.h>
#include <zlib.h>

#include <sonde/tool.h>

typedef struct compressing {
    z_stream stream;
    FILE *to;
} compressing;

/** Put in what there is, put out what comes. */
static void deflate_all(compressing *state, int flush) {
    unsigned char room[1 << 16];
    do {
        state->stream.next_out = room;
        state->stream.avail_out = sizeof room;
        deflate(&state->stream, flush);
        fwrite(room, 1, sizeof room - state->stream.avail_out, state->to);
    } while (state->stream.avail_out == 0);
}

static ssize_t write_compressed(void *cookie, const char *bytes, size_t size) {
    compressing *state = cookie;
    state->stream.next_in = (unsigned char *)bytes;
    state->stream.avail_in = (unsigned)size;
    deflate_all(state, Z_NO_FLUSH);
    return (ssize_t)size;
}

static int close_compressed(void *cookie) {
    compressing *state = cookie;
    deflate_all(state, Z_FINISH);
    deflateEnd(&state->stream);
    free(state);
    return 0;
}

FILE *heap_compressed_open(FILE *to) {
    enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 }; /* zlib.h, deflateInit2: 16 more writes gzip's header */
    compressing *state = calloc(1, sizeof *state);
    if (state == NULL ||
        deflateInit2(&state->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        sn_fail(125, "heap: out of memory");
    }
    state->to = to;
    FILE *made = fopencookie(state, "w", (cookie_io_functions_t){.write = write_compressed, .close = close_compressed});
    if (made == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    return made;
}
