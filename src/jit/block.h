/**
 * @fileoverview Blocks: the records of what was translated, and finding them by client address, by cache address and
 * by page. Also the exits of blocks and how they are linked.
 *
 * All tables are reserved once and grow in place. Everything here is under sn_jit_lock, except sn_block_at_cache(),
 * which the signal handler calls: records are complete before their code can run.
 */
#ifndef SONDE_JIT_BLOCK_H
#define SONDE_JIT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

struct sn_block;
struct sn_thread;

/** What a stretch of emitted code means for a reader of the program counter. */
typedef enum sn_place_kind {
    SN_PLACE_VERBATIM, /**< client code, byte for byte: each byte's client address follows from the start's */
    SN_PLACE_BOUNDARY, /**< the first byte is an instruction boundary with the client's exact state; later bytes belong
                            to the same client instruction */
    SN_PLACE_INSIDE,   /**< in the middle of a client instruction's emulation, or of analysis code */
    SN_PLACE_INDIRECT, /**< the jump of an indirect branch: its target is in the branch register */
    SN_PLACE_ANALYSIS, /**< analysis code: a fault in it is the tool's */
    SN_PLACE_READING,  /**< analysis code that reads client memory: a fault in it is none of the client's yet */
    SN_PLACE_STORING,  /**< a store of analysis code to where there may be nothing: then nothing is stored */
    SN_PLACE_BEGUN,    /**< the first byte is the client's instruction behind its analysis code, with the exact state: a
                            boundary only when a repeated instruction comes back here between two iterations */
    SN_PLACE_AFTER_SYSCALL, /**< boundary behind a system call: the register that holds the return address is set */
} sn_place_kind;

/**
 * Added to a kind: the row is one of a block with analysis code, which may use any register. Its fields are those of
 * `analysed`; the client's values of the registers in `saved` are in the thread's saved registers.
 */
#define SN_PLACE_ANALYSED 0x80
/** And the block's pinned pointer, plus `pending`, is where the trace's next record goes. */
#define SN_PLACE_PINNED 0x40
#define SN_PLACE_KIND(kind) ((sn_place_kind)((kind) & 0x3f))
/** In `index`: the client's arithmetic flags are in the thread's saved flags. */
#define SN_PLACE_FLAGS_SAVED 0x80

/** In the 4-bit fields of `spilled`: no register. (Register 15 is never spilled.) */
#define SN_NOTHING_SPILLED 15
/** In those fields: the branch register, whose value is in its place among the saved registers. (The stack pointer's number: it is never spilled.) */
#define SN_BRANCH_SPILLED 4

/** One row of a block's map. The rows are in the order of `offset`. */
typedef struct sn_place {
    union {
        int32_t client;      /**< client address minus the block's */
        struct {
            uint16_t saved;
            uint16_t pending;
        } analysed;
    };
    uint16_t offset;         /**< from the block's start */
    uint8_t kind;            /**< sn_place_kind, SN_PLACE_ANALYSED, SN_PLACE_PINNED */
    union {
        uint8_t spilled;     /**< registers that spill slots 0 (low half) and 1 (high half) hold; SN_NOTHING_SPILLED
                                  or SN_BRANCH_SPILLED */
        uint8_t index;       /**< analysed: the instruction that the client is at (as many as there are: behind the
                                  last), SN_PLACE_FLAGS_SAVED */
    };
} sn_place;

/** The register has the second segment base added to it. */
#define SN_BASE_ADDED(reg) SN_SPILLED(reg, reg)
#define SN_SPILLED(first, second) ((uint8_t)((first) | (second) << 4))

typedef struct sn_block_record {
    uint64_t client;       /**< address of the first instruction */
    uint32_t start;        /**< cache address of the indirect entry; the first byte that belongs to the block */
    uint32_t entry;        /**< cache address of the direct entry */
    uint32_t size;         /**< bytes in the cache */
    uint32_t first_exit;
    uint32_t incoming;     /**< first of the exits that are linked to this block, 0 if none */
    uint32_t first_place;
    uint16_t place_count;
    uint16_t exit_count;
    uint16_t instructions;
    bool valid;
    bool checks_itself;    /**< compares its client code at entry */
    uint8_t version;       /**< of the code that it belongs to: it leads to blocks of the same only */
    bool is_head : 1;      /**< it counts down in both versions */
    bool is_full : 1;      /**< the full variant of a block that has a clean one, on its own */
    uint32_t landing;      /**< a block that is one call: cache address where its return arrives, 0 if it has none */
    uint32_t landing_delta;/**< its return address minus the block's */
    uint32_t analysis;     /**< index of its analysis record, 0 if none */
    uint32_t full;         /**< of a block of which only the clean variant is there: the block with the full one, 0 if that was not
                                made yet */
    uint32_t called_entry; /**< cache address of the direct entry for exits that are noted calls; 0: `entry` */
    uint32_t pinned_entry; /**< cache address of the direct entry for exits that are `pinned_as` this block; 0: none */
    uint16_t pinned_as;    /**< which registers are pinned there, and for what: comparable, 0 if none */
} sn_block_record;

/** `stub` of an exit record whose `site` is 0: what the dispatcher does with it. */
enum {
    SN_MARK_CHANGED = 1, /**< a self-checking block found its code changed */
    SN_MARK_DUE = 3,     /**< the thread changes to the other version of the code */
    SN_MARK_REFUSED = 2, /**< an instruction that can't be translated */
};

typedef struct sn_exit_record {
    uint64_t target;       /**< client address */
    uint32_t site;         /**< address of the displacement to patch, 0 if the exit is never linked */
    uint32_t stub;         /**< where the displacement leads while it is not linked */
    uint32_t next;         /**< next exit linked to the same block */
    uint32_t block;        /**< whose exit this is */
    uint32_t pinned_site;  /**< address of the displacement of a jump that is reached with registers pinned, which leads
                                to behind it while it is not linked; 0: none */
    uint16_t pinned_as;    /**< as in the record of blocks */
    bool goes_back : 1;    /**< to this instruction, or to one at a lower address */
    bool is_noted_call : 1;/**< inserted code has noted the call that leads here */
    bool to_full : 1;      /**< leads into the full variant of the same block, to the label in front of instruction `index` */
    uint8_t index;
} sn_exit_record;

typedef struct sn_entry_counter {
    uint32_t counter, amount;
} sn_entry_counter;

typedef struct sn_iteration_counter {
    uint32_t index; /**< of the repeated instruction */
    uint32_t iterations, empty;
} sn_iteration_counter;

/** What is needed to keep a tool's counts right when a block is left early. Followed by its arrays. */
typedef struct sn_analysis_record {
    void *data;            /**< the tool's word for the block */
    uint16_t counted_from; /**< offset in the block from which on the entry counters have been added to */
    uint16_t body_end;     /**< offset of the first byte that is no instruction's: the exits */
    uint16_t counter_count;
    uint16_t iteration_count;
    uint16_t instruction_count;
    bool has_labels;
    uint8_t pinned_pointer, pinned_scratch, pinned_trace; /**< in rows that are SN_PLACE_PINNED */
} sn_analysis_record;

sn_entry_counter *sn_analysis_counters(sn_analysis_record *record);
sn_iteration_counter *sn_analysis_iterations(sn_analysis_record *record);
/** Each instruction's address minus the block's, and where the last one ends. */
int32_t *sn_analysis_clients(sn_analysis_record *record);
/** Of a full variant on its own: for each instruction, where its label is that the clean one leads to, from the block's start; 0: none. */
uint16_t *sn_analysis_labels(sn_analysis_record *record);

/** Behind a tool call in a block: where to go on. */
typedef struct sn_call_record {
    void *function;
    void *data;
    uint64_t instruction;  /**< address of the instruction that the call stands at */
    uint64_t client;       /**< where the client is at the call: there, or behind it, or where its branch leads */
    uint32_t resume;       /**< cache address behind the call */
    uint32_t block;
    uint8_t index;         /**< of the instruction */
    bool after;            /**< behind the instruction, not before it */
    bool enumerates;       /**< it is for the instruction's accesses */
} sn_call_record;

extern sn_lock sn_jit_lock;

void sn_blocks_init(void);
/** Forget all blocks (the cache is being emptied, or a child starts afresh). */
void sn_blocks_clear(void);

uint32_t sn_block_count(void);
sn_block_record *sn_block_record_at(uint32_t number);
sn_exit_record *sn_exit_record_at(uint32_t number);
sn_analysis_record *sn_analysis_record_at(uint32_t number);
sn_call_record *sn_call_record_at(uint32_t number);
const sn_place *sn_places_of(const sn_block_record *block);

/** A new record. Exits, places, analysis and calls of a block are added right after it, before it is published. */
uint32_t sn_block_new(void);
uint32_t sn_exit_new(uint32_t block, uint64_t target);
void sn_place_add(sn_block_record *block, const sn_place *place);
uint32_t sn_analysis_new(const struct sn_block *block);
uint32_t sn_call_new(void);
bool sn_exit_is_call(uint32_t exit);
uint32_t sn_exit_of_call(uint32_t call);
uint32_t sn_call_of_exit(uint32_t exit);

/** Enter the block into the tables by client address and by page. `pages`: first and last byte of each stretch of client
    code in it. */
void sn_block_publish(uint32_t number);
/** Returns whether any of the pages held no code of a block before. */
bool sn_block_note_code(uint32_t number, uint64_t start, uint64_t end);

/** The valid block of a version that begins at a client address; 0 if none (block numbers begin at 1). */
uint32_t sn_block_find(unsigned version, uint64_t client);

/** The block whose code holds a cache address, valid or not; 0 if none. Async-signal-safe. */
uint32_t sn_block_at_cache(uint64_t cache);

/** The client address that a row stands for (of verbatim rows: that of its first byte). */
uint64_t sn_place_client(const sn_block_record *block, const sn_place *place);

/** Row of the block's map that holds a cache address. */
const sn_place *sn_place_of(const sn_block_record *block, uint64_t cache);

/** Where an exit arrives at a block. */
uint32_t sn_exit_arrival(const sn_exit_record *exit, const sn_block_record *block);
/** Let an exit lead straight to a block. */
void sn_exit_link(uint32_t exit, uint32_t block);

/** Take a block out of all tables and unlink what leads to it. Threads inside it leave at its next exit. */
void sn_block_discard(uint32_t number);

/** Discard the blocks with client code in a range of pages; returns how many. */
unsigned sn_blocks_discard_range(uint64_t start, uint64_t end);

#endif
