/**
 * @fileoverview Functions that are several, by who called them and by how often they are being executed: --separate-callers,
 * --separate-recs.
 *
 * A context is a function, the level of its recursion, and those that called it, as far as the options ask for. A call's frame
 * gets the number of its context when the first block is executed in it. Numbers are those of all threads; they stay what they
 * are, 0 being none: not separated, or a call in which nothing was executed.
 */
#ifndef SONDE_TOOLS_CALLS_SEPARATE_H
#define SONDE_TOOLS_CALLS_SEPARATE_H

#include <sonde/tool.h>

#include "cells.h"

/** Most callers in a context, and levels of recursion. */
#define CALLS_MOST_CALLERS 32
#define CALLS_MOST_LEVELS 250

/** From the start callback, behind what watches calls: checks the options. */
void calls_separate_init(void);

/** Whether the options ask for it. May be called from SN_FAST functions. */
bool calls_separates(void);

/** What a thread has for it. */
typedef struct calls_separated {
    const sn_thread *owner; /**< a vfork child has its parent's slots, but is not counted */
    calls_cells cells;
    uint32_t *active; /**< for each function with levels: calls of it that have not returned, as far as known */
} calls_separated;

/** Returns whether there is address space. Nothing is done if nothing is separated. */
bool calls_separated_init(calls_separated *separated, const sn_thread *owner);
void calls_separated_release(calls_separated *separated);

/** A function's number for calls_separate_count(): which function `address` is in. While instrumenting. */
uint32_t calls_separate_function(uint64_t address);

/** Insert at the chosen place: add to a counter in the context that the thread is in, in `function`. */
void calls_separate_count(sn_block *block, uint32_t function, sn_counter counter, sn_value amount);
/** Insert the same for what belongs to no context. */
void calls_separate_count_apart(sn_block *block, sn_counter counter, sn_value amount);

/** Insert the same for 1 where a segment begins. What comes out at run time is the word that traces are to get now, so that they
    tell in which context something happens; 0: they know. */
sn_value calls_separate_enter(sn_block *block, uint32_t function, sn_counter counter);
sn_value calls_separate_enter_apart(sn_block *block, sn_counter counter);

/** Such a word looks like a tag (simulator/words.h), but is none of those that the simulation knows. */
static inline bool calls_word_is_context(uint64_t word) {
    return word >> 60 == 9;
}

/** The context that the thread is in from such a word on, and that of the caller of its frame. Returns whether there are such: an
    address that faults may look like a word of these. */
bool calls_word_contexts(uint64_t word, uint32_t *context, uint32_t *caller);

/** The same for the thread's last frame, from C code of its own. */
void calls_separate_add(sn_thread *thread, sn_counter counter, uint64_t amount);

/** A call ends. SN_FAST. */
void calls_separate_left(calls_separated *separated, const sn_call_frame *frame);

/** What a context is. */
typedef struct calls_context {
    unsigned level;   /**< of recursion, from 1 */
    unsigned count;   /**< of functions: the context's own, and callers */
    uint64_t entries[CALLS_MOST_CALLERS + 1]; /**< where they begin: its own, its caller, and so on */
} calls_context;

calls_context calls_context_of(uint32_t number);

#endif
