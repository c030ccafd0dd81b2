/**
 * @fileoverview Compressed text in a page. See page_text.h.
 */
#include "report/page_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK = 3 << 14 }; /* a multiple of three, so that base64 comes out whole */

typedef struct page_text {
    FILE *file;
    z_stream compressor;
    unsigned char bytes[CHUNK]; /**< compressed, not yet written */
} page_text;

/** Three bytes as four characters; fewer only at the end. */
static bool write_base64(FILE *file, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t count = size - i < 3 ? size - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16 | (count > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (count > 2 ? bytes[i + 2] : 0);
        char text[4];
        for (size_t k = 0; k < 4; k++) {
            text[k] = k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
        }
        if (fwrite(text, 1, sizeof text, file) != sizeof text) {
            return false;
        }
    }
    return true;
}

/** Compress what the compressor was given, and write whole chunks. */
static bool compress_input(page_text *text, int flush) {
    int result;
    do {
        if (text->compressor.avail_out == 0) {
            if (!write_base64(text->file, text->bytes, CHUNK)) {
                return false;
            }
            text->compressor.next_out = text->bytes;
            text->compressor.avail_out = CHUNK;
        }
        result = deflate(&text->compressor, flush);
    } while (result == Z_OK && (text->compressor.avail_in > 0 || text->compressor.avail_out == 0 || flush == Z_FINISH));
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size) {
    page_text *text = cookie;
    text->compressor.next_in = (unsigned char *)(uintptr_t)bytes;
    text->compressor.avail_in = (unsigned)size;
    return compress_input(text, Z_NO_FLUSH) ? (ssize_t)size : 0;
}

static int finish(void *cookie) {
    page_text *text = cookie;
    text->compressor.avail_in = 0;
    bool is_good = compress_input(text, Z_FINISH) &&
                   write_base64(text->file, text->bytes, CHUNK - text->compressor.avail_out);
    deflateEnd(&text->compressor);
    free(text);
    return is_good ? 0 : EOF;
}

FILE *sn_page_text_open(FILE *file) {
    page_text *text = calloc(1, sizeof *text);
    if (text == NULL || deflateInit(&text->compressor, 6) != Z_OK) {
        free(text);
        return NULL;
    }
    text->file = file;
    text->compressor.next_out = text->bytes;
    text->compressor.avail_out = CHUNK;
    FILE *stream = fopencookie(text, "w", (cookie_io_functions_t){.write = write_some, .close = finish});
    if (stream != NULL) {
        setvbuf(stream, NULL, _IOFBF, 1 << 16);
    }
    return stream;
}
