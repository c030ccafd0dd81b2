/**
 * @fileoverview The bytes of a heap file, plain or compressed by gzip, in a window that moves over it.
 *
 * Nothing is held but the window: files larger than memory are read. What has been read may be copied elsewhere on the way,
 * so that a file is written again with parts of it replaced (heap_clamp.c). Owns the descriptor. Used by heap_scan.c.
 */
#ifndef SONDE_REPORT_HEAP_INPUT_H
#define SONDE_REPORT_HEAP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SN_HEAPFILE_WINDOW = 1 << 18, /**< bytes: the second-level cache holds it */
    SN_HEAPFILE_AHEAD = 64,       /**< bytes behind the end of what was read that may be loaded, and mean nothing */
};

/** Takes bytes that were read. */
typedef void (*sn_heapfile_taker)(void *data, const void *bytes, size_t size);

typedef struct sn_heapfile_input {
    struct gzFile_s *file;
    unsigned char *window;
    unsigned char *at, *end; /**< what is there and not yet read; the reader moves `at` */
    uint64_t passed;         /**< bytes before the window's beginning */
    bool is_over;            /**< nothing follows `end` */
    const char *wrong;       /**< NULL, or why the file cannot be read on: for behind its name */
    sn_heapfile_taker taker;     /**< NULL: nothing is copied */
    void *taker_data;
    unsigned char *mark;     /**< from here to `at` the taker has not got it yet; NULL: it gets nothing for now */
} sn_heapfile_input;

/** Begin to read. The descriptor is closed by sn_heapfile_input_close(). */
void sn_heapfile_input_open(sn_heapfile_input *input, int descriptor);
void sn_heapfile_input_close(sn_heapfile_input *input);

/** Go on reading at a place of the uncompressed file. */
void sn_heapfile_input_seek(sn_heapfile_input *input, uint64_t place);

/** Have at least `size` bytes (at most half a window) between `at` and `end`; false when the file ends before. Moves the
    bytes. */
bool sn_heapfile_input_fill(sn_heapfile_input *input, size_t size);

/** Position of `at` in the (uncompressed) file. */
static inline uint64_t sn_heapfile_input_place(const sn_heapfile_input *input) {
    return input->passed + (uint64_t)(input->at - input->window);
}

/** Give the taker what was read since the mark; it gets nothing more until sn_heapfile_input_resume(). */
void sn_heapfile_input_pause(sn_heapfile_input *input);
/** The taker gets what is read from `from` on, which is in the window. */
void sn_heapfile_input_resume(sn_heapfile_input *input, unsigned char *from);

#endif
