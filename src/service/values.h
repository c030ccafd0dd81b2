/**
 * @fileoverview The framework of <sonde/values.h>: what its files share.
 *
 * value_sites.c numbers what is constant; value_insert.c puts recording into blocks, value_varying.c does it for what is known
 * only when it runs, in C, and value_state.c for registers that inserted code does not read; value_stream.c takes the words apart
 * that all of them leave in the thread's trace, and owns threads; value_sampling.c switches recording on and off.
 *
 * The stream is one of 64-bit words, in the order of the thread. Client code appends, for each record, its address (or number
 * of a register) and its value in whole words, then the value before. Which record it is follows from the segment of the block
 * that it belongs to: a segment begins with a tag, which lies where no address of a program can, and with the context. A
 * branch, fault or signal that ends a segment early needs no word: the next tag stands where an address was expected. One
 * stream in order costs less than a buffer a type would: its pointer stays in a register, and sorting by type is done where
 * the words are taken apart.
 */
#ifndef SONDE_SERVICE_VALUES_H
#define SONDE_SERVICE_VALUES_H

#include "sonde/values.h"

/** The request, and what follows from it. Constant once the client runs. */
typedef struct sn_values_setup {
    sn_values_request request;
    sn_trace *trace;
    sn_slot scratch;     /**< of each thread: SN_VALUES_SCRATCH bytes for operands that no virtual register holds */
    bool has_bytes, has_context;
    uint32_t last_words; /**< words of a segment's tag, with the context */
} sn_values_setup;
extern sn_values_setup sn_values;

enum {
    SN_VALUES_LARGEST = 64,        /**< bytes of the largest value of one record; larger ones are several */
    SN_VALUES_OLD_SCRATCH = 0,     /**< of operand N: at 64 N, the value before */
    SN_VALUES_NEW_SCRATCH = 2048,
    SN_VALUES_SCRATCH = 2048 + 64,
    SN_VALUES_MOST_WORDS = 32,     /**< of one record or row */
    SN_VALUES_MOST_STATE = 8,      /**< operands of an instruction that value_state.c looks at, */
    SN_VALUES_LARGEST_STATE = 16,  /**< and bytes of such a one */
};

/* ------------------------------------------------------------------------ words */

#define SN_VALUES_TAGS UINT64_C(0xffffffff80000000) /**< a store can extend them from 32 bits */
#define SN_VALUES_NUMBERS UINT64_C(0x20000000)      /**< for segments, and for sites of rows */
#define SN_VALUES_ROWS SN_VALUES_NUMBERS            /**< + site: context, address, size and moment, value, value before */
#define SN_VALUES_UNMAPPED (2 * SN_VALUES_NUMBERS)  /**< start, end */
#define SN_VALUES_CALLED (SN_VALUES_UNMAPPED + 1)   /**< stack pointer in front of the call, context of who calls; for data objects */
#define SN_VALUES_FAULTED (SN_VALUES_UNMAPPED + 2)  /**< address of the instruction, which has not ended */
#define SN_VALUES_FREED (SN_VALUES_UNMAPPED + 3)    /**< start, end */
#define SN_VALUES_TAG_COUNT (SN_VALUES_UNMAPPED + 4)
enum { SN_VALUES_ROW_WORDS = 4, SN_VALUES_UNMAPPED_WORDS = 3, SN_VALUES_CALLED_WORDS = 3, SN_VALUES_FAULTED_WORDS = 2 };

static inline bool sn_values_is_tag(uint64_t word) { return word - SN_VALUES_TAGS < SN_VALUES_TAG_COUNT; }

/** The third word behind a row's tag. */
static inline uint64_t sn_values_row_word(uint32_t size, uint8_t moment, bool has_bytes) {
    return size | (uint64_t)moment << 16 | (uint64_t)has_bytes << 24;
}

static inline uint32_t sn_values_words_of(uint32_t bytes) { return (bytes + 7) / 8; }

/* ------------------------------------------------------------- sites and segments */

/** The number of a site like this one. Takes a lock. */
uint32_t sn_value_site_number(const sn_value_site *like);
sn_value_type sn_value_type_of(uint32_t size, uint32_t element_size, bool is_float);
/** What a site has of an operand. */
sn_value_site sn_value_site_of(const sn_instruction *instruction, const sn_operand *operand, unsigned number, uint8_t moment,
                               uint32_t size, uint64_t information);

/** Where a segment may end: that many of its records, which are so many words. */
typedef struct sn_value_exit {
    uint32_t count, words;
} sn_value_exit;

/** A stretch of a block with one context. Its records as the stream has them. */
typedef struct sn_value_segment {
    uint32_t number, count;
    sn_value_record *records; /**< all but address, value, context; `spot` is its place in the segment */
    uint8_t *words;           /**< of each, with that of the address */
    uint16_t *offsets;        /**< of each: words of those before it */
    sn_value_exit *exits;     /**< in order; where branches leave it: a signal may end it anywhere */
    uint32_t exit_count;
    uint32_t total_words;     /**< of all */
} sn_value_segment;

/** A new segment without records. Serialised by Sonde. */
sn_value_segment *sn_value_segment_new(void);
void sn_value_segment_add(sn_value_segment *segment, uint32_t site, uint8_t moment, unsigned words);
/** What comes next may be a tag, before the segment's next record. */
void sn_value_segment_may_end(sn_value_segment *segment);
/** Nothing will be added to the segments from this number on: give back what they have too much. */
void sn_value_segments_trim(uint32_t first);
enum { SN_VALUES_PIECE = 4096, SN_VALUES_PIECES = 1 << 16 };
extern sn_value_segment *sn_value_segment_pieces[SN_VALUES_PIECES];
extern _Atomic uint32_t sn_value_segment_count;

/** NULL if there is no such. */
static inline const sn_value_segment *sn_value_segment_at(uint32_t number) {
    return number < sn_value_segment_count ? &sn_value_segment_pieces[number / SN_VALUES_PIECE][number % SN_VALUES_PIECE] : NULL;
}

/* --------------------------------------------------------------------- inserting */

/** Which moments of the operand are wanted: SN_VALUES_* ; 0: none. */
uint8_t sn_values_wanted(const sn_instruction *instruction, const sn_operand *operand, uint64_t *information);

/** Record an instruction whose accesses vary, and operands that have no value in inserted code. */
void sn_values_insert_varying(sn_block *block, unsigned index);
/** The wanted ones among `operands` are in memory, at a known address, but too large for a record. */
void sn_values_insert_bulk(sn_block *block, unsigned index, unsigned operand, uint8_t moment, uint64_t information);
/** An operand of which something is wanted. */
typedef struct sn_value_wanted {
    const sn_operand *operand;
    uint8_t number;  /**< in sn_block_operands() */
    uint8_t moments; /**< SN_VALUES_* */
    uint64_t information;
} sn_value_wanted;

/** Record operands that sn_state_register_is_known(), with their values. Behind the instruction only if it `goes_on`. */
void sn_values_insert_state(sn_block *block, unsigned index, const sn_value_wanted *wanted, unsigned count, bool goes_on);
/** The instruction that was recorded half did not end. */
void sn_values_forget_varying(sn_thread *thread);

/** Append a row for memory of any size. The bytes are read now. `old` (NULL: none) are those before. */
void sn_values_write_row(sn_thread *thread, uint32_t site, uint64_t address, uint32_t size, uint8_t moment, const void *old);
/** Append a row of at most SN_VALUES_LARGEST bytes with this value; NULL: without one. */
void sn_values_put_row(sn_thread *thread, uint32_t site, uint64_t address, uint32_t size, uint8_t moment, const void *value,
                       const void *old);

/* ----------------------------------------------------------------------- threads */

/** What varying accesses of a thread wait for: value_varying.c. */
typedef struct sn_value_waiting sn_value_waiting;
sn_value_waiting *sn_values_waiting_of(sn_thread *thread);
sn_value_waiting *sn_values_waiting_new(void);
void sn_values_waiting_free(sn_value_waiting *waiting);
/** Room for what one of value_state.c's operands held before the instruction, and for where the stack's top was. */
uint8_t *sn_values_waiting_state(sn_value_waiting *waiting, unsigned number);
uint8_t *sn_values_waiting_top(sn_value_waiting *waiting);

/* ---------------------------------------------------------------------- sampling */

void sn_values_sampling_start(void);
/** Whether the block's values are to be recorded. */
bool sn_values_sampling_records(const sn_block *block);
/** Whether what the thread does now is. In the thread itself. */
bool sn_values_sampling_is_recording(const sn_thread *thread);

#endif
