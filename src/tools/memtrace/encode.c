/**
 * @fileoverview Coding events against predictions. See encode.h, and format.h for the code.
 *
 * src/report/memtrace_decode.c walks the same steps the other way round.
 */
#include "encode.h"

#include <sonde/tool.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "format.h"
#include "words.h"
#include "write.h"

enum {
    PAYLOAD = 1 << 18,     /**< bytes that make a block full */
    LONGEST_STEP = 64,     /**< bytes that one step other than rows can take */
    ROW = 1 + 2 * MEMTRACE_LONGEST_VARINT,
};

struct memtrace_encoder {
    int thread;
    uint32_t kind;              /**< of the next block */
    const memtrace_block *block;
    memtrace_block_state *its;  /**< of `block` */
    unsigned position;
    unsigned completed;
    bool has_last;              /**< a block was left: */
    bool last_was_cut;          /**< before its end */
    uint32_t last;              /**< its number */
    uint64_t previous;          /**< address accessed last */

    uint64_t hits;              /**< right predictions since the last wrong one */
    uint64_t predictions;       /**< in this payload, those up to the last wrong one */
    uint8_t *out;
    uint8_t *payload;
    size_t room;

    memtrace_site_state *sites;
    uint32_t site_room;
    memtrace_block_state *blocks;
    uint32_t block_room;
    uint32_t first;             /**< the block predicted before any other */
    memtrace_parser parser;
    memtrace_packer *packer;
};

static void *allocated(void *memory) {
    if (!memory)
        sn_fail(125, "memtrace: out of memory");
    return memory;
}

memtrace_encoder *memtrace_encoder_new(int thread) {
    memtrace_encoder *encoder = allocated(calloc(1, sizeof *encoder));
    encoder->thread = thread;
    encoder->kind = MEMTRACE_FIRST_EVENTS;
    encoder->room = PAYLOAD + LONGEST_STEP;
    encoder->payload = encoder->out = allocated(malloc(encoder->room));
    encoder->packer = memtrace_packer_new();
    return encoder;
}

void memtrace_encoder_free(memtrace_encoder *encoder) {
    memtrace_packer_free(encoder->packer);
    free(encoder->payload);
    free(encoder->sites);
    free(encoder->blocks);
    free(encoder);
}

/* ------------------------------------------------------------------- steps */

static void write_out(memtrace_encoder *encoder) {
    uint64_t predictions = encoder->predictions + encoder->hits;
    if (!predictions)
        return;
    encoder->out = memtrace_put(encoder->out, encoder->hits);
    memtrace_write_events(encoder->packer, encoder->kind, encoder->thread, (uint32_t)predictions, encoder->payload,
                          (size_t)(encoder->out - encoder->payload));
    encoder->kind = MEMTRACE_EVENTS;
    encoder->hits = 0;
    encoder->predictions = 0;
    encoder->out = encoder->payload;
}

/** Between two steps: room for another one of `size` bytes. */
static void make_room(memtrace_encoder *encoder, size_t size) {
    if ((size_t)(encoder->out - encoder->payload) + size > encoder->room)
        write_out(encoder);
    if (size + LONGEST_STEP > encoder->room) {
        encoder->room = size + LONGEST_STEP;
        free(encoder->payload);
        encoder->payload = encoder->out = allocated(malloc(encoder->room));
    }
}

static inline void hit(memtrace_encoder *encoder) {
    encoder->hits++;
}

/** Before a block, which asks a limited number of questions. Rows, which it may have any number of, take a lot of room. */
static inline void limit_predictions(memtrace_encoder *encoder) {
    if (__builtin_expect(encoder->predictions + encoder->hits > MEMTRACE_MOST_PREDICTIONS / 2, 0))
        write_out(encoder);
}

/** The prediction was wrong: what came instead follows. */
static inline void miss(memtrace_encoder *encoder, uint64_t instead) {
    if (__builtin_expect((size_t)(encoder->out - encoder->payload) + LONGEST_STEP > encoder->room, 0))
        make_room(encoder, LONGEST_STEP);
    encoder->predictions += encoder->hits + 1;
    encoder->out = memtrace_put(memtrace_put(encoder->out, encoder->hits), instead);
    encoder->hits = 0;
}

/* ------------------------------------------------------------------- blocks */

static void *grown(void *items, uint32_t *room, uint32_t wanted, size_t size) {
    uint32_t more = wanted + wanted / 2 + 1024;
    items = allocated(reallocarray(items, more, size));
    memset((char *)items + *room * size, 0, (more - *room) * size);
    *room = more;
    return items;
}

static void finish_block(memtrace_encoder *encoder) {
    const memtrace_block *block = encoder->block;
    memtrace_block_state *its = encoder->its;
    if (!block)
        return;
    bool through = encoder->position == block->position_count;
    unsigned end = through ? MEMTRACE_RUNS_THROUGH : encoder->position;
    if (!through && its->end == end)
        hit(encoder);
    else if (!through)
        miss(encoder, MEMTRACE_INSTEAD_LEFT);
    else if (block->varying_count)
        hit(encoder); /* at the end, that it ends is predicted */
    its->end = (uint16_t)end;
    if (block->instruction_count && its->completed == encoder->completed + 1)
        hit(encoder);
    else if (block->instruction_count)
        miss(encoder, encoder->completed);
    its->completed = (uint16_t)(encoder->completed + 1);
    encoder->has_last = true;
    encoder->last_was_cut = !through;
    encoder->last = block->number;
    encoder->block = NULL;
}

/** A block's state begins with the prediction that it runs through. */
static void grow_blocks(memtrace_encoder *encoder, uint32_t number) {
    uint32_t old = encoder->block_room;
    encoder->blocks = grown(encoder->blocks, &encoder->block_room, number, sizeof *encoder->blocks);
    for (uint32_t i = old; i < encoder->block_room; i++)
        encoder->blocks[i].end = MEMTRACE_RUNS_THROUGH;
}

static inline void enter(void *data, const memtrace_block *block) {
    memtrace_encoder *encoder = data;
    finish_block(encoder);
    limit_predictions(encoder);
    if (block->number >= encoder->block_room)
        grow_blocks(encoder, block->number);
    if (block->highest_site >= encoder->site_room)
        encoder->sites = grown(encoder->sites, &encoder->site_room, block->highest_site, sizeof *encoder->sites);
    uint32_t *predicted = encoder->has_last ? &encoder->blocks[encoder->last].next[encoder->last_was_cut] : &encoder->first;
    if (*predicted == block->number)
        hit(encoder);
    else
        miss(encoder, block->number);
    *predicted = block->number;
    encoder->block = block;
    encoder->its = &encoder->blocks[block->number];
    encoder->position = 0;
    encoder->completed = block->instruction_count;
}

static inline void left(void *data, unsigned completed) {
    memtrace_encoder *encoder = data;
    if (encoder->block && completed < encoder->completed)
        encoder->completed = completed;
}

/* ---------------------------------------------------------------- addresses */

static void omit(memtrace_encoder *encoder, memtrace_site_state *site, bool is_end_predicted) {
    if (site->by == MEMTRACE_BY_OMISSION && !is_end_predicted)
        hit(encoder);
    else
        miss(encoder, MEMTRACE_INSTEAD_OMITTED);
    site->by = MEMTRACE_BY_OMISSION;
}

static void surprise(memtrace_encoder *encoder, memtrace_site_state *site, uint64_t address) {
    uint32_t by = site->by == MEMTRACE_BY_NEIGHBOUR ? MEMTRACE_BY_NEIGHBOUR : MEMTRACE_BY_STRIDE;
    uint32_t other = by == MEMTRACE_BY_STRIDE ? MEMTRACE_BY_NEIGHBOUR : MEMTRACE_BY_STRIDE;
    if (memtrace_predict(site, encoder->previous, other) == address) {
        miss(encoder, MEMTRACE_INSTEAD_OTHER);
        site->by = other;
    } else {
        uint64_t coded = memtrace_zigzag(address - memtrace_predict(site, encoder->previous, by));
        bool fits = coded <= UINT64_MAX - MEMTRACE_INSTEAD_FIRST_DELTA;
        miss(encoder, fits ? coded + MEMTRACE_INSTEAD_FIRST_DELTA : MEMTRACE_INSTEAD_ADDRESS);
        if (!fits)
            encoder->out = memtrace_put(encoder->out, address);
        site->by = by;
    }
}

/** Any address of a position. */
static void take_address(memtrace_encoder *encoder, uint64_t address) {
    const memtrace_block *block = encoder->block;
    if (!block || encoder->position == block->position_count)
        return; /* of no block: an address that was taken for a mark, or a mark for an address */
    uint32_t number = block->positions[encoder->position].site;
    memtrace_site_state *site = &encoder->sites[number];
    bool is_end_predicted = encoder->position++ == encoder->its->end;
    if (!memtrace_address_is_wanted(address, memtrace_site_at(number)->size)) {
        omit(encoder, site, is_end_predicted);
        return;
    }
    if (site->by != MEMTRACE_BY_OMISSION && !is_end_predicted &&
        memtrace_predict(site, encoder->previous, site->by) == address)
        hit(encoder);
    else
        surprise(encoder, site, address);
    memtrace_learn(site, encoder->previous, address);
    encoder->previous = address;
}

/** The addresses that come as predicted, from `words` on: the loop in which the tool spends its time. Stops at whatever
    needs more thought. */
static const uint64_t *take_predicted(memtrace_encoder *encoder, const uint64_t *words, const uint64_t *end) {
    const memtrace_step *positions = encoder->block->positions;
    memtrace_site_state *sites = encoder->sites;
    unsigned position = encoder->position, stop = encoder->block->position_count;
    if (encoder->its->end < stop && encoder->its->end >= position)
        stop = encoder->its->end;
    uint64_t previous = encoder->previous;
    const uint64_t *word = words;
    for (; word < end && position < stop; word++, position++) {
        memtrace_site_state *site = &sites[positions[position].site];
        uint64_t address = *word;
        if (site->by == MEMTRACE_BY_OMISSION || memtrace_predict(site, previous, site->by) != address)
            break;
        if (memtrace_is_mark(address))
            break;
        memtrace_learn(site, previous, address);
        previous = address;
    }
    encoder->hits += (uint64_t)(word - words);
    encoder->position = position;
    encoder->previous = previous;
    return word;
}

static const uint64_t *addresses(void *data, const uint64_t *words, const uint64_t *end) {
    memtrace_encoder *encoder = data;
    while (words < end && !memtrace_is_mark(*words)) {
        if (encoder->block && !memtrace_filter_current.address_count) {
            words = take_predicted(encoder, words, end);
            if (words == end || memtrace_is_mark(*words))
                break;
        }
        take_address(encoder, *words++);
    }
    return words;
}

/** Keep the rows that pass the filters. */
static unsigned filter_rows(const memtrace_row *rows, unsigned count, memtrace_row *kept) {
    unsigned kept_count = 0;
    for (unsigned i = 0; i < count; i++)
        if (memtrace_size_is_wanted((uint32_t)rows[i].word) && memtrace_address_is_wanted(rows[i].address, (uint32_t)rows[i].word))
            kept[kept_count++] = rows[i];
    return kept_count;
}

static void rows(void *data, unsigned varying, const memtrace_row *rows, unsigned count) {
    memtrace_encoder *encoder = data;
    if (!encoder->block || varying >= encoder->block->varying_count)
        return;
    memtrace_row *kept = (memtrace_row *)encoder->parser.rows; /* over what they are read from */
    count = filter_rows(rows, count, kept);
    if (!count)
        return;
    make_room(encoder, LONGEST_STEP + (size_t)count * ROW);
    miss(encoder, MEMTRACE_INSTEAD_ROWS);
    uint8_t *out = memtrace_put(memtrace_put(encoder->out, varying), count);
    for (unsigned i = 0; i < count; i++) {
        *out++ = (uint8_t)(kept[i].word >> 32);
        out = memtrace_put(out, (uint32_t)kept[i].word);
        out = memtrace_put(out, memtrace_zigzag(kept[i].address - encoder->previous));
        encoder->previous = kept[i].address;
    }
    encoder->out = out;
}

static const memtrace_sink sink = {enter, addresses, left, rows};

void memtrace_encode(memtrace_encoder *encoder, const uint64_t *words, size_t count) {
    memtrace_parse(&encoder->parser, words, count, &sink, encoder);
}

void memtrace_encoder_flush(memtrace_encoder *encoder, bool ends) {
    memtrace_end_rows(&encoder->parser, &sink, encoder);
    if (ends)
        finish_block(encoder);
    write_out(encoder);
}
