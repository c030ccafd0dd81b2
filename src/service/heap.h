/**
 * @fileoverview What the files of the heap service know of each other: <sonde/heap.h> is what tools see.
 *
 * heap_blocks.c owns the records of blocks and the table that finds them by address; heap_calls.c is what happens in calls of
 * allocating functions, whose names and arguments heap_functions.c knows; heap_late.c lets what they tell wait a little;
 * heap_usable.c finds out how large blocks really are; heap_requests.c answers client requests; heap_setup.c switches it on.
 */
#ifndef SONDE_SERVICE_HEAP_H
#define SONDE_SERVICE_HEAP_H

#include "service/hooks.h"
#include "sonde/heap.h"

/** At most so many blocks at a time; more are not seen. */
#define SN_HEAP_MOST_BLOCKS (UINT32_C(1) << 28)

/** Bytes that an entry of the table of blocks is for: glibc's blocks are never nearer to each other. */
#define SN_HEAP_GRANULE 32

/** How many locks there are for all entries. */
#define SN_HEAP_LOCKS 4096

/** What a function does. */
typedef enum sn_heap_act {
    SN_HEAP_ALLOCATES,
    SN_HEAP_ALLOCATES_TO, /**< stores the address where its first argument says, returns 0 */
    SN_HEAP_REALLOCATES,
    SN_HEAP_RESIZES,      /**< in place; returns how much it is now */
    SN_HEAP_FREES,
} sn_heap_act;

#define SN_HEAP_NO_ARGUMENT 0xff

/** An allocating function: the numbers of its arguments. */
typedef struct sn_heap_function {
    const char *name;  /**< may be a pattern */
    uint8_t act;       /**< sn_heap_act */
    uint8_t pointer;   /**< to the block */
    uint8_t size, count, alignment;
    uint8_t unit;      /**< size in pages: rounds up (pvalloc); 0: bytes */
} sn_heap_function;

/** An allocator: the functions of a module. */
typedef struct sn_heap_allocator {
    uint32_t number;  /**< from 1 on */
    bool is_glibc;
    uint64_t measure; /**< its malloc_usable_size, 0: none */
} sn_heap_allocator;

/** A block that was allocated inside of a call of another allocating function. */
typedef struct sn_heap_inner {
    uint64_t address, requested, usable;
    sn_context context;
} sn_heap_inner;

#define SN_HEAP_MOST_INNER 8

/** A block has begun, or ended. */
typedef struct sn_heap_event {
    uint64_t address, requested, usable;
    sn_context context;
    bool is_end;
} sn_heap_event;

#define SN_HEAP_MOST_LATE 8

/** What the service knows of a thread. */
typedef struct sn_heap_thread {
    uint32_t depth;             /**< calls of allocating functions in progress */
    uint32_t free_first, free_count; /**< records for it alone */
    bool is_measuring;          /**< the client runs the allocator's measuring function for `unmeasured` */
    uint64_t unsampled, unnoted; /**< bytes since a block was seen as a sample; since a context was noted */
    uint32_t inner_count;
    sn_heap_inner inner[SN_HEAP_MOST_INNER]; /**< made in the calls in progress: the outermost one's block is one of them, or lies
                                                  in it; those that are left then are the program's as well */
    uint32_t late_first, late_end; /**< numbers of the events that are not worked off, in a ring */
    sn_heap_event late[SN_HEAP_MOST_LATE];
    uint64_t unmeasured;        /**< a block whose usable size is to be asked; 0: none */
    uint64_t unmeasured_size, unmeasured_alignment;
    const sn_heap_allocator *unmeasured_of;
    bool unmeasured_is_remade;  /**< it was made of another block: its size says nothing of others of that size */
} sn_heap_thread;

typedef struct sn_heap_shared {
    sn_heap_options options;
    sn_slot slot;               /**< the thread's sn_heap_thread */
    uint64_t attends;           /**< 1: the tool has something to do in the engine */
    sn_slot own_attends;        /**< 1: the thread has */
    sn_thread *only_thread;     /**< whose events may wait: as long as there is one thread, and the tool may be told late; else NULL */
    bool is_shared;             /**< there has been more than one thread: before, nothing needs to be atomic */
    uint64_t allocated;         /**< bytes, ever */
    sn_heap_block *records;     /**< number 0 is not used */
    uint32_t *table;            /**< the record of the first block that begins in a granule of the data window */
    uint32_t *low_table;        /**< and of the low window */
    uint32_t locks[SN_HEAP_LOCKS]; /**< spin: of entries and what they lead to */
    uint32_t next_record;
    uint32_t lock;              /**< spins: of `pool` */
    uint32_t pool;              /**< batches of free records: the first of the first one */
    uint32_t *kept;             /**< freed blocks, options.kept of them, in a ring */
    uint64_t kept_position;
} sn_heap_shared;

extern sn_heap_shared sn_heap;

static inline sn_heap_thread *sn_heap_thread_of(sn_thread *thread) { return (sn_heap_thread *)thread->slots[sn_heap.slot]; }

/* ------------------------------------------------------------------------------- heap_blocks.c: in the code cache too */

/** A new live block. The tool is told. NULL if there is no room. */
sn_heap_block *sn_heap_add(sn_thread *thread, uint64_t address, uint64_t requested, uint64_t usable, sn_context context);
/** Take the block that begins at `address` out of the table: NULL if there is none. The tool is not told. */
sn_heap_block *sn_heap_take(uint64_t address);
/** Put it back. */
void sn_heap_put_back(sn_heap_block *block);
/** A block that was taken out has ended: the tool is told, and the record is free. */
void sn_heap_end(sn_thread *thread, sn_heap_block *block);
/** Have the processor fetch what finds the block at `address`; and, once that is there, the block's record. */
void sn_heap_prefetch_entry(uint64_t address);
void sn_heap_prefetch_record(uint64_t address);
/** Give a thread's free records to all. */
void sn_heap_give_records(sn_heap_thread *own);

/* ---------------------------------------------------------------------------------- heap_late.c: in the code cache */

/** While sn_heap.only_thread is set: the thread has a new block, as sn_heap_add() is told of; or one has ended. */
void sn_heap_note_begin(sn_thread *thread, sn_heap_thread *own, uint64_t address, uint64_t requested, uint64_t usable,
                        sn_context context);
void sn_heap_note_end(sn_thread *thread, sn_heap_thread *own, uint64_t address);

/* -------------------------------------------------------------------------------- heap_calls.c: in the code cache */

bool sn_heap_call_begins(sn_thread *thread, sn_hooked_call *call);
void sn_heap_call_ends(sn_thread *thread, sn_hooked_call *call);
/** A call begins that frees the block at `address`. */
void sn_heap_call_frees(sn_thread *thread, const sn_hook_place *place, uint64_t address);

/* --------------------------------------------------------------------------------------------------- heap_usable.c */

/** From the code cache: how much of a block is usable, as far as its allocator needs no asking (one without a function to ask
    leaves `usable`); else false. */
bool sn_heap_usable_of_block(const sn_heap_allocator *allocator, uint64_t address, uint64_t *usable);

/** From the code cache: how much is usable of a new block of this size; false if that must be asked. */
bool sn_heap_usable_is_known(const sn_heap_allocator *allocator, uint64_t size, uint64_t alignment, uint64_t *usable);
/** In the engine: it is now known for blocks of this size. */
void sn_heap_usable_learn(const sn_heap_allocator *allocator, uint64_t size, uint64_t alignment, uint64_t usable);

/* -------------------------------------------------------------------------------------------------- heap_functions.c */

/** Hook all allocating functions. */
void sn_heap_functions_hook(void);
bool sn_heap_function_is_own(const sn_hook *hook);
bool sn_heap_function_needs_frame(const sn_hook *hook);
void (*sn_heap_function_begins_simply(const sn_hook *hook))(sn_thread *thread, const sn_hook_place *place, uint64_t argument);
unsigned sn_heap_function_argument_count(const sn_hook *hook);

/** In the engine, when an allocating function begins: see sn_hook_service. */
void sn_heap_attend_now(sn_thread *thread, const sn_hook_place *place);
/** Whether that is wanted at each call of the function. */
bool sn_heap_always_attends(const sn_hook_place *place);
/** The allocator whose function this is: of the same module. NULL for functions that call another module's. */
const void *sn_heap_allocator_at(const sn_hook_place *place);

#endif
