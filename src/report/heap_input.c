/**
 * @fileoverview The bytes of a heap file. See heap_input.h. zlib tells plain and compressed files apart.
 */
#include "report/heap_input.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "sonde/arena.h"
#include "base/log.h"

void sn_heapfile_input_open(sn_heapfile_input *input, int descriptor) {
    memset(input, 0, sizeof *input);
    input->file = gzdopen(descriptor, "rb");
    if (input->file == NULL)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    gzbuffer(input->file, SN_HEAPFILE_WINDOW / 4);
    input->window = sn_pages_allocate(SN_HEAPFILE_WINDOW + SN_HEAPFILE_AHEAD);
    input->at = input->end = input->window;
}

void sn_heapfile_input_close(sn_heapfile_input *input) {
    gzclose(input->file);
    sn_pages_release(input->window, SN_HEAPFILE_WINDOW + SN_HEAPFILE_AHEAD);
    memset(input, 0, sizeof *input);
}

void sn_heapfile_input_seek(sn_heapfile_input *input, uint64_t place) {
    if (gzseek(input->file, (z_off_t)place, SEEK_SET) < 0)
        input->wrong = "the place in it cannot be found again";
    input->passed = place;
    input->at = input->end = input->window;
}

void sn_heapfile_input_pause(sn_heapfile_input *input) {
    if (input->mark != NULL)
        input->taker(input->taker_data, input->mark, (size_t)(input->at - input->mark));
    input->mark = NULL;
}

void sn_heapfile_input_resume(sn_heapfile_input *input, unsigned char *from) {
    if (input->taker != NULL)
        input->mark = from;
}

static void move_to_beginning(sn_heapfile_input *input) {
    size_t left = (size_t)(input->end - input->at);
    bool is_copied = input->mark != NULL;
    sn_heapfile_input_pause(input);
    input->passed += (uint64_t)(input->at - input->window);
    memmove(input->window, input->at, left);
    input->at = input->window;
    input->end = input->window + left;
    if (is_copied)
        input->mark = input->at;
}

/** Why zlib stopped, or nothing if the file just ended. */
static const char *trouble(sn_heapfile_input *input) {
    int number;
    gzerror(input->file, &number);
    switch (number) {
    case Z_OK:
    case Z_STREAM_END:
        return NULL;
    case Z_ERRNO:
        return strerror(errno);
    case Z_BUF_ERROR:
        return "the compressed data end too early";
    default:
        return "the compressed data are damaged";
    }
}

bool sn_heapfile_input_fill(sn_heapfile_input *input, size_t size) {
    if ((size_t)(input->end - input->at) >= size)
        return true;
    if (!input->is_over)
        move_to_beginning(input);
    while ((size_t)(input->end - input->at) < size && !input->is_over) {
        int got = gzread(input->file, input->end, (unsigned)(input->window + SN_HEAPFILE_WINDOW - input->end));
        if (got > 0) {
            input->end += got;
        } else {
            input->is_over = true;
            input->wrong = trouble(input);
            memset(input->end, 0, SN_HEAPFILE_AHEAD);
        }
    }
    return (size_t)(input->end - input->at) >= size;
}
