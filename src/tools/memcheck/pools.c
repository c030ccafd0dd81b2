/**
 * @fileoverview Blocks and pools told by client requests. See pools.h.
 *
 * The requests and their meaning: valgrind.h 3.19, and Memcheck's manual 4.8. They are made one at a time, under a lock.
 */
#include "pools.h"

#include <pthread.h>
#include <stdlib.h>

#include <sonde/client.h>

#include "address.h"
#include "addressability.h"
#include "custom_blocks.h"
#include "definedness.h"

enum { AUTO_FREE = 1, METAPOOL = 2 }; /* flags of a pool */

typedef struct pool {
    struct pool *next;
    uint64_t name, redzone, flags;
    bool is_zeroed;
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pool *pools;

static pool *pool_named(uint64_t name) {
    pool *of = pools;
    while (of != NULL && of->name != name) {
        of = of->next;
    }
    return of;
}

static void report_address(sn_thread *thread, mc_kind kind, const char *what, uint64_t address) {
    mc_finding finding = {.kind = kind, .what = mc_text("%s", what), .stack = mc_stack_here(thread)};
    finding.note_count = mc_describe_address(thread, address, finding.notes);
    mc_report(thread, &finding);
}

/* ------------------------------------------------------------------------------------------------------ blocks */

/** What a block holds when it is new. */
static void set_content(sn_thread *thread, uint64_t address, uint64_t size, bool is_zeroed) {
    if (is_zeroed) {
        mc_make_defined(address, size);
    } else {
        mc_make_undefined(address, size, mc_origin_of_block_request(thread));
    }
}

static void add(sn_thread *thread, uint64_t address, uint64_t size, uint64_t redzone, bool is_zeroed, const pool *of) {
    bool is_superblock = of != NULL && (of->flags & METAPOOL);
    if (address == 0) {
        return;
    }
    mc_block *block = mc_block_add(thread, address, size, of != NULL ? of->name : 0);
    block->is_superblock = is_superblock;
    if (!is_superblock) {
        mc_make_unaddressable(address - redzone, redzone);
        mc_make_unaddressable(address + size, redzone);
        mc_make_addressable(address, size);
    }
    set_content(thread, address, size, is_zeroed);
}

typedef struct range_end {
    sn_thread *thread;
    uint64_t start, end;
    const mc_block *but;
} range_end;

static void end_within(mc_block *block, void *data) {
    const range_end *range = data;
    if (block != range->but && block->kind == MC_CUSTOM && block->address >= range->start && block->address < range->end) {
        mc_block_end(range->thread, block);
    }
}

static void end_block(sn_thread *thread, mc_block *block, const pool *of) {
    mc_block_end(thread, block);
    mc_make_unaddressable(block->address, block->size);
    if (of != NULL && (of->flags & AUTO_FREE)) {
        range_end within = {thread, block->address, block->address + block->size, block};
        mc_custom_visit(MC_BLOCK_LIVE, end_within, &within);
    }
}

static mc_block *live_at(uint64_t address, uint64_t name) {
    mc_block *block = mc_custom_at(address);
    return block != NULL && block->state == MC_BLOCK_LIVE && block->pool == name ? block : NULL;
}

static void free_like(sn_thread *thread, uint64_t address, const pool *of) {
    mc_block *block = live_at(address, of != NULL ? of->name : 0);
    if (block == NULL) {
        report_address(thread, MC_INVALID_FREE, "Invalid free() / delete / delete[] / realloc()", address);
    } else {
        end_block(thread, block, of);
    }
}

static void resize(sn_thread *thread, uint64_t address, uint64_t size, uint64_t redzone) {
    mc_block *block = live_at(address, 0);
    if (block == NULL) {
        report_address(thread, MC_INVALID_FREE, "Invalid free() / delete / delete[] / realloc()", address);
        return;
    }
    if (size < block->size) {
        mc_make_unaddressable(address + size, block->size - size);
    } else {
        mc_make_addressable(address + block->size, size - block->size);
        set_content(thread, address + block->size, size - block->size, false);
        mc_make_unaddressable(address + size, redzone);
    }
    block->size = size;
}

/* ------------------------------------------------------------------------------------------------------- pools */

static void create(const uint64_t arguments[6]) {
    pool *made = pool_named(arguments[1]);
    if (made == NULL) {
        made = calloc(1, sizeof *made);
        if (made == NULL) {
            sn_fail(125, "memcheck: out of memory");
        }
        made->next = pools;
        pools = made;
    }
    made->name = arguments[1];
    made->redzone = arguments[2];
    made->is_zeroed = arguments[3] != 0;
    made->flags = arguments[4];
}

/** A change of the blocks of one pool. */
typedef struct pool_change {
    sn_thread *thread;
    const pool *of;
    uint64_t start, end, new_name;
} pool_change;

static void end_of_pool(mc_block *block, void *data) {
    const pool_change *change = data;
    if (block->kind == MC_CUSTOM && block->pool == change->of->name) {
        end_block(change->thread, block, change->of);
    }
}

static void rename_in_pool(mc_block *block, void *data) {
    const pool_change *change = data;
    if (block->pool == change->of->name) {
        block->pool = change->new_name;
    }
}

static void trim_in_pool(mc_block *block, void *data) {
    const pool_change *change = data;
    uint64_t end = block->address + block->size;
    uint64_t low = block->address > change->start ? block->address : change->start, high = end < change->end ? end : change->end;
    if (block->pool != change->of->name || (low == block->address && high == end)) {
        return;
    }
    if (low >= high || low != block->address) {
        end_block(change->thread, block, change->of);
        return;
    }
    mc_make_unaddressable(high, end - high);
    block->size = high - low;
}

static void destroy(sn_thread *thread, pool *of) {
    mc_custom_visit(MC_BLOCK_LIVE, end_of_pool, &(pool_change){.thread = thread, .of = of});
    pool **link = &pools;
    while (*link != of) {
        link = &(*link)->next;
    }
    *link = of->next;
    free(of);
}

/** A block lies elsewhere, or has another size, from now on; what may be accessed, and what is there, is for the program to say. */
static void change(sn_thread *thread, const pool *of, uint64_t address, uint64_t to, uint64_t size) {
    mc_block *block = live_at(address, of->name);
    if (block == NULL) {
        report_address(thread, MC_INVALID_FREE, "Invalid free() / delete / delete[] / realloc()", address);
        return;
    }
    mc_block_end(thread, block);
    mc_block_add(thread, to, size, of->name);
}

static void change_pool(sn_thread *thread, pool *of, const uint64_t arguments[6]) {
    switch (arguments[0]) {
    case SN_REQUEST_DESTROY_MEMPOOL:
        destroy(thread, of);
        return;
    case SN_REQUEST_MEMPOOL_ALLOC:
        add(thread, arguments[2], arguments[3], of->redzone, of->is_zeroed, of);
        return;
    case SN_REQUEST_MEMPOOL_FREE:
        free_like(thread, arguments[2], of);
        return;
    case SN_REQUEST_MEMPOOL_TRIM:
        mc_custom_visit(MC_BLOCK_LIVE, trim_in_pool,
                        &(pool_change){.thread = thread, .of = of, .start = arguments[2], .end = arguments[2] + arguments[3]});
        return;
    case SN_REQUEST_MOVE_MEMPOOL:
        mc_custom_visit(MC_BLOCK_LIVE, rename_in_pool, &(pool_change){.of = of, .new_name = arguments[2]});
        of->name = arguments[2];
        return;
    case SN_REQUEST_MEMPOOL_CHANGE:
        change(thread, of, arguments[2], arguments[3], arguments[4]);
        return;
    default:
        return;
    }
}

bool mc_pool_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    if (arguments[0] < SN_REQUEST_MALLOCLIKE_BLOCK || arguments[0] > SN_REQUEST_RESIZEINPLACE_BLOCK) {
        return false;
    }
    *result = 0;
    pthread_mutex_lock(&lock);
    pool *of = pool_named(arguments[1]);
    bool is_pools = arguments[0] >= SN_REQUEST_DESTROY_MEMPOOL && arguments[0] <= SN_REQUEST_MEMPOOL_CHANGE;
    switch (arguments[0]) {
    case SN_REQUEST_MALLOCLIKE_BLOCK: add(thread, arguments[1], arguments[2], arguments[3], arguments[4] != 0, NULL); break;
    case SN_REQUEST_FREELIKE_BLOCK: free_like(thread, arguments[1], NULL); break;
    case SN_REQUEST_RESIZEINPLACE_BLOCK: resize(thread, arguments[1], arguments[3], arguments[4]); break;
    case SN_REQUEST_CREATE_MEMPOOL: create(arguments); break;
    case SN_REQUEST_MEMPOOL_EXISTS: *result = of != NULL; break;
    default:
        if (of != NULL) {
            change_pool(thread, of, arguments);
        }
    }
    pthread_mutex_unlock(&lock);
    if (is_pools && of == NULL) {
        report_address(thread, MC_INVALID_POOL, "Illegal memory pool address", arguments[1]);
    }
    return true;
}
