/**
 * @fileoverview What a trace tells of frames (enum sn_frame_word of sonde/tool.h), put together from its words: for the traces that
 * simulate.c and branches.c read, and those who watch them.
 */
#ifndef SONDE_TOOLS_SIMULATOR_FRAMES_H
#define SONDE_TOOLS_SIMULATOR_FRAMES_H

#include <sonde/tool.h>

/** A function has begun in a frame, or a frame has gone, or all of a stack. */
typedef struct cache_frame {
    uint64_t address;  /**< of the frame; only a name for it */
    uint64_t function; /**< SN_FRAME_FUNCTION: where it begins */
    uint32_t site;     /**< SN_FRAME_FUNCTION: where it was called from */
    uint32_t kind;     /**< SN_FRAME_FUNCTION, SN_FRAME_GONE or SN_FRAME_NEW_STACK */
} cache_frame;

/** Put together from words, which may come in several parts of a trace. Returns whether this one completes a frame that something
    is to be told of; those that mean nothing are left out. */
static inline bool cache_frame_take(cache_frame *frame, uint64_t word) {
    uint64_t value = sn_frame_word_value(word);
    uint32_t kind = sn_frame_word_kind(word);
    switch (kind) {
    case SN_FRAME_BEGAN:
        frame->address = value;
        return false;
    case SN_FRAME_SITE:
        frame->site = (uint32_t)value;
        return false;
    case SN_FRAME_FUNCTION:
        frame->function = value;
        break;
    case SN_FRAME_GONE:
    case SN_FRAME_NEW_STACK:
        frame->address = value;
        break;
    default:
        return false;
    }
    frame->kind = kind;
    return true;
}

#endif
