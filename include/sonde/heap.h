/**
 * @file sonde/heap.h
 * The client's heap, for tools: every block, from its allocation to its end.
 *
 * Blocks come from the functions of malloc's family, C++'s operators new and delete, Rust's allocator, the functions of
 * jemalloc, tcmalloc and mimalloc that have names of their own, in whatever module they are, static programs included; and
 * from client requests. The client's own allocator does the work; nothing is placed elsewhere than natively. A call inside
 * of another one (operator new calls malloc) is part of that, and its block is the outer one's.
 */
#ifndef SONDE_HEAP_H
#define SONDE_HEAP_H

#include <sonde/hooks.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef enum sn_heap_state {
    SN_HEAP_NONE,  /**< the record is not used */
    SN_HEAP_LIVE,
    SN_HEAP_FREED, /**< in the callback `freed`, or kept (sn_heap_options.kept) */
} sn_heap_state;

/** A block. Times are sn_heap_clock()'s. */
typedef struct sn_heap_block {
    uint64_t address;
    uint64_t requested;    /**< bytes that the program asked for */
    uint64_t usable;       /**< bytes that it may use, as malloc_usable_size() tells it; at least `requested` */
    uint64_t born, died;   /**< `died`: 0 while it lives */
    uint64_t word;         /**< the tool's; 0 at first */
    sn_context context : 30; /**< that allocated it; the allocating function's */
    uint32_t state : 2;      /**< sn_heap_state */
    union {
        sn_context death;    /**< SN_HEAP_FREED: that freed it, SN_NO_CONTEXT if sn_heap_options.death is not set */
        uint32_t next;       /**< else: for Sonde */
    };
    int32_t thread;          /**< kernel's number of the thread that allocated it */
    int32_t death_thread;    /**< SN_HEAP_FREED: that freed it */
} sn_heap_block;

/** What a tool wants to know. Callbacks are SN_FAST, are called in the thread that does it, and may be NULL. Blocks are those
    of the service; a callback may change `word`. */
typedef struct sn_heap_options {
    void (*allocated)(sn_thread *thread, sn_heap_block *block);
    /** Before the allocator gets it back. A block that realloc moves, or gives another size, is freed and allocated. */
    void (*freed)(sn_thread *thread, sn_heap_block *block);
    /** In the engine, where sn_trace_write() may be called: a function that frees begins, of this block, outside of other
        allocating functions. Not when realloc moves a block. Each such call then costs some hundred nanoseconds more. */
    void (*frees)(sn_thread *thread, const sn_heap_block *block);
    /** How much of a block is usable became known later; `before` is what was taken for it until then. */
    void (*measured)(sn_thread *thread, sn_heap_block *block, uint64_t before);
    /** In the engine, at the beginning of a call of an allocating function, after sn_heap_attend() asked for it. */
    void (*attend)(sn_thread *thread);
    uint64_t (*clock)(sn_thread *thread); /**< for `born` and `died`; NULL: bytes allocated so far */
    bool death;            /**< note where blocks are freed */
    /** Smaller blocks are not seen but for one in so many bytes, which then stands for these: `requested` and `usable` are this
        number. 0: all blocks are seen. */
    uint64_t sample_below;
    /** The context is noted of one block in so many bytes, SN_NO_CONTEXT of the others. 0: of all. */
    uint64_t context_bytes;
    /** While the process has one thread, `allocated` and `freed` may be called a few calls later, in the order in which it
        happened, and much sooner than otherwise where memory is slow. What the tool has made of them it looks at after
        sn_heap_settle(); the functions below that tell of blocks, and `attend`, find all told. Not with `death`, `frees` or `clock`. */
    bool may_be_late;
    uint32_t kept;         /**< so many freed blocks stay known: sn_heap_freed_at() */
} sn_heap_options;

/** From the start callback: follow the heap. Once. */
void sn_heap_enable(const sn_heap_options *options);

/** Have `attend` called soon, in any thread that allocates or frees. May be called from SN_FAST functions. */
void sn_heap_attend(void);

/** Have `allocated` and `freed` called for all that has happened: sn_heap_options.may_be_late. From callbacks in the engine. */
void sn_heap_settle(void);

/** Bytes requested by all allocations of the process so far. May be called from SN_FAST functions. */
uint64_t sn_heap_allocated(void);

/** For the tool's `request` callback: requests about blocks and pools, of valgrind.h: VALGRIND_MALLOCLIKE_BLOCK,
    VALGRIND_FREELIKE_BLOCK, VALGRIND_RESIZEINPLACE_BLOCK, and those of memory pools. False if it is none of these. */
bool sn_heap_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);

/** A number that no other block has while this one lives: from 1 on, small ones first. May be called from SN_FAST functions. */
uint32_t sn_heap_number(const sn_heap_block *block);

/** Whether the thread is in an allocating function, whose accesses are not the program's own. May be called from SN_FAST
    functions. */
bool sn_heap_is_allocating(sn_thread *thread);

/** The live block that begins at `address`, or NULL. It is the caller's business that nobody frees it meanwhile. May be
    called from SN_FAST functions. */
sn_heap_block *sn_heap_at(uint64_t address);
/** With sn_heap_options.kept: the block that was at `address` and was freed last, copied to *block. */
bool sn_heap_freed_at(uint64_t address, sn_heap_block *block);

/** Visit all live blocks, in no particular order, while all other threads stand still at instructions. From callbacks in the
    engine. */
void sn_heap_visit(void (*visit)(sn_heap_block *block, void *data), void *data);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
