/**
 * @fileoverview The heap that the program gets in place of its own, and every block of it: see blocks.c.
 */
#ifndef MEMCHECK_BLOCKS_H
#define MEMCHECK_BLOCKS_H

#include <sonde/tool.h>

typedef enum mc_block_kind {
    MC_MALLOC, MC_NEW, MC_NEW_ARRAY,
    MC_CUSTOM, /**< told by client requests: in memory that is not of this heap */
} mc_block_kind;

typedef enum mc_block_state { MC_BLOCK_UNUSED, MC_BLOCK_LIVE, MC_BLOCK_FREED } mc_block_state;

typedef struct mc_block {
    uint64_t address;
    uint64_t size;          /**< that the program asked for */
    sn_context allocated;   /**< the allocating function's */
    sn_context freed;
    uint32_t thread;        /**< number of the thread that allocated it */
    uint32_t free_thread;
    uint8_t state;          /**< mc_block_state */
    uint8_t kind;           /**< mc_block_kind */
    uint8_t mark;           /**< for the search for leaks */
    bool is_superblock;     /**< MC_CUSTOM: only holds other blocks: neither leaks, nor stands for what is in it */
    uint64_t pool;          /**< MC_CUSTOM: the pool that it is in, or 0 */
    struct mc_block *next;  /**< of the queue of freed blocks, or among the free ones */
} mc_block;

void mc_blocks_init(void);

/** SN_FAST. The origin of undefined bytes of a large block, which is not written to each of them (origins.h); 0 in others, where it is. */
uint32_t mc_block_origin_of_large(uint64_t address);

/** A block of `size` bytes at a multiple of `alignment` (a power of two); NULL if there is no memory. Its content is not touched,
    but for memory that is used again: that is cleared if `cleared`. */
mc_block *mc_block_allocate(sn_thread *thread, uint64_t size, uint64_t alignment, mc_block_kind kind, bool cleared);

/** Whether it was live, and is freed now by this caller: then it waits in the queue of freed blocks. */
bool mc_block_free(sn_thread *thread, mc_block *block);

/** Copy what a block holds into another one, as far as both reach: for realloc. */
void mc_block_copy(const mc_block *to, const mc_block *from);

/** The block that begins at an address, live or freed; NULL if there is none. */
mc_block *mc_block_at(uint64_t address);
/** The block in whose room an address lies, its red zones included, live or freed; NULL if there is none. */
mc_block *mc_block_around(uint64_t address);
/** The live block of this heap (of none other) that holds an address, NULL if there is none; a block of no size holds one byte. */
mc_block *mc_block_holding(uint64_t address);
/** Whether an address lies in memory of this heap. */
bool mc_is_heap(uint64_t address);
/** The end of the stretch of memory from `address` on that is of this heap, or is not of it, like `address` itself; at most `end`. */
uint64_t mc_heap_stretch(uint64_t address, uint64_t end);

/** Bytes that belong to a block of the program's before and behind it, at least: no other block begins nearer. */
uint64_t mc_redzone(void);

/** Visit all blocks of a state, those told by requests included, while nobody else allocates or frees. */
void mc_blocks_visit(mc_block_state state, void (*visit)(mc_block *block, void *data), void *data);

/** Blocks told by client requests. */
mc_block *mc_block_add(sn_thread *thread, uint64_t address, uint64_t size, uint64_t pool);
bool mc_block_end(sn_thread *thread, mc_block *block);

/** How many blocks were allocated and freed so far, and how many bytes allocated. */
typedef struct mc_heap_totals {
    uint64_t allocations, frees, bytes;
} mc_heap_totals;
mc_heap_totals mc_heap_totals_now(void);

#endif
