/**
 * @fileoverview The program's heap. See blocks.h.
 *
 * Memory is cut into slabs of slots of one size (a class), and what is known of a slot's block lies beside it in memory of the
 * tool, where the program cannot harm it; a block that is larger than the largest class is a slab with one slot. A directory by
 * 64 KiB finds the slab of any address, so that blocks are found from pointers into them without a search or a lock. A slot is a
 * red zone, the block, what rounding leaves over, and another red zone. Freed blocks wait in a queue, of which the oldest are used
 * again when it holds more than --freelist-vol bytes: those of at least --freelist-big-blocks first, as Valgrind's manual says.
 */
#include "blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <sonde/client_memory.h>

#include "addressability.h"
#include "definedness.h"
#include "custom_blocks.h"
#include "memcheck.h"

#define GRAIN_BITS 16
#define GRAIN (UINT64_C(1) << GRAIN_BITS)
#define CHUNK (UINT64_C(1) << 22) /* is asked for at once, and cut into slabs */
#define PAGE UINT64_C(4096)
#define LEAST_ALIGNMENT UINT64_C(16) /* malloc's, by the ABI */

#define SMALL_ROOM UINT64_C(1024)        /* up to here classes are LEAST_ALIGNMENT apart, then there are 8 to each doubling */
#define LARGEST_ROOM (UINT64_C(1) << 17)
#define SMALL_CLASSES (SMALL_ROOM / LEAST_ALIGNMENT + 1)
#define CLASSES (SMALL_CLASSES + 7 * 8)
#define SLOTS_OF_LARGE_CLASSES 8

typedef struct slab {
    uint64_t start, size; /**< of the memory */
    uint64_t stride;
    uint32_t count, used; /**< slots; those from `used` on have never been used */
    mc_block *blocks;
    struct slab *next;    /**< of the class; or among unused records of large blocks */
} slab;

/** Slots of one size. */
typedef struct size_class {
    pthread_mutex_t lock;
    mc_block *unused; /**< were used before */
    slab *slabs;      /**< the newest first: only that one may have slots that were never used */
} size_class;

/** Freed blocks, the oldest first. */
typedef struct block_queue {
    mc_block *first, **end;
} block_queue;

static size_class classes[CLASSES];

static struct {
    pthread_mutex_t lock;
    uint64_t at, end; /**< what is left of the newest chunk */
    slab *large;      /**< all that were ever made, with `blocks[0]` unused if it is free */
    slab *spare;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    block_queue ordinary, big;
    uint64_t volume;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static mc_heap_totals totals;
static uint64_t redzone;

uint64_t mc_redzone(void) { return redzone; }

void mc_blocks_init(void) {
    redzone = ((uint64_t)mc_current.redzone_size + LEAST_ALIGNMENT - 1) & ~(LEAST_ALIGNMENT - 1);
    for (unsigned i = 0; i < CLASSES; i++) {
        pthread_mutex_init(&classes[i].lock, NULL);
    }
    queue.ordinary.end = &queue.ordinary.first;
    queue.big.end = &queue.big.first;
}

static void *tool_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        sn_fail(125, "memcheck: out of memory");
    }
    return memory;
}

/* --------------------------------------------------------------------------------------------------- directory */

/** Slabs by the number of their grains, in two steps; addresses of user space have 47 bits. */
#define LEAF_BITS 18
#define LEAVES (1u << (47 - GRAIN_BITS - LEAF_BITS))

static slab **directory[LEAVES];

static SN_FAST slab *slab_of(uint64_t address) {
    uint64_t leaf = address >> (GRAIN_BITS + LEAF_BITS);
    slab **entries = leaf < LEAVES ? __atomic_load_n(&directory[leaf], __ATOMIC_ACQUIRE) : NULL;
    return entries == NULL ? NULL : __atomic_load_n(&entries[(address >> GRAIN_BITS) & ((1u << LEAF_BITS) - 1)], __ATOMIC_ACQUIRE);
}

/** Under memory.lock. */
static void enter_slab(const slab *of, slab *entry) {
    for (uint64_t at = of->start; at < of->start + of->size; at += GRAIN) {
        slab ***leaf = &directory[at >> (GRAIN_BITS + LEAF_BITS)];
        if (*leaf == NULL) {
            __atomic_store_n(leaf, tool_memory(sizeof(slab *) << LEAF_BITS), __ATOMIC_RELEASE);
        }
        __atomic_store_n(&(*leaf)[(at >> GRAIN_BITS) & ((1u << LEAF_BITS) - 1)], entry, __ATOMIC_RELEASE);
    }
}

bool mc_is_heap(uint64_t address) {
    const slab *of = slab_of(address);
    return of != NULL && address - of->start < of->size;
}

uint64_t mc_heap_stretch(uint64_t address, uint64_t end) {
    bool is_heap = mc_is_heap(address);
    while (address < end && mc_is_heap(address) == is_heap) {
        const slab *of = slab_of(address);
        uint64_t grain_end = (address | (GRAIN - 1)) + 1, slab_end = of != NULL ? of->start + of->size : grain_end;
        address = slab_end > address && slab_end < grain_end ? slab_end : grain_end;
    }
    return address < end ? address : end;
}

/* ------------------------------------------------------------------------------------------------------- slabs */

static unsigned class_of(uint64_t room, uint64_t *stride) {
    if (room <= SMALL_ROOM) {
        *stride = (room + LEAST_ALIGNMENT - 1) & ~(LEAST_ALIGNMENT - 1);
        return (unsigned)(*stride / LEAST_ALIGNMENT);
    }
    unsigned doubling = 63 - (unsigned)__builtin_clzll(room - 1);
    uint64_t step = UINT64_C(1) << (doubling - 3);
    *stride = (room + step - 1) & ~(step - 1);
    return (unsigned)(SMALL_CLASSES + (doubling - 10) * 8 + (*stride - 1 - (UINT64_C(1) << doubling)) / step);
}

/** Under memory.lock: `size` bytes of whole grains; 0 if there are none. */
static uint64_t cut_chunk(uint64_t size) {
    if (memory.end - memory.at < size) {
        uint64_t chunk = sn_client_memory_new(CHUNK, GRAIN);
        if (chunk == 0) {
            return 0;
        }
        memory.at = chunk;
        memory.end = chunk + CHUNK;
    }
    memory.at += size;
    return memory.at - size;
}

/** Under the class's lock. */
static slab *add_slab(size_class *to, uint64_t stride) {
    uint64_t size = stride * SLOTS_OF_LARGE_CLASSES < GRAIN ? GRAIN : (stride * SLOTS_OF_LARGE_CLASSES + GRAIN - 1) & ~(GRAIN - 1);
    pthread_mutex_lock(&memory.lock);
    uint64_t start = cut_chunk(size);
    slab *made = start != 0 ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        *made = (slab){.start = start, .size = size, .stride = stride, .count = (uint32_t)(size / stride), .next = to->slabs};
        made->blocks = tool_memory(made->count * sizeof *made->blocks);
        __atomic_store_n(&to->slabs, made, __ATOMIC_RELEASE);
        enter_slab(made, made);
        mc_make_unaddressable(start, size);
    }
    pthread_mutex_unlock(&memory.lock);
    return made;
}

/** An unused slot; *slot: where it begins. */
static mc_block *take_slot(uint64_t room, uint64_t *slot, bool *is_fresh) {
    uint64_t stride;
    size_class *from = &classes[class_of(room, &stride)];
    pthread_mutex_lock(&from->lock);
    mc_block *block = from->unused;
    slab *of = from->slabs;
    *is_fresh = block == NULL;
    if (block != NULL) {
        from->unused = block->next;
        of = slab_of(block->address);
    } else if ((of != NULL && of->used < of->count) || (of = add_slab(from, stride)) != NULL) {
        block = &of->blocks[of->used++];
    }
    pthread_mutex_unlock(&from->lock);
    if (block != NULL) {
        *slot = of->start + (uint64_t)(block - of->blocks) * of->stride;
    }
    return block;
}

/** The same for a block that needs a slab of its own. */
static mc_block *take_large(uint64_t room, uint64_t *slot, bool *is_fresh) {
    uint64_t size = (room + PAGE - 1) & ~(PAGE - 1);
    uint64_t start = size >= room ? sn_client_memory_new(size, GRAIN) : 0;
    if (start == 0) {
        return NULL;
    }
    pthread_mutex_lock(&memory.lock);
    slab *of = memory.spare;
    if (of != NULL) {
        memory.spare = of->next;
    } else {
        of = calloc(1, sizeof *of);
        mc_block *block = calloc(1, sizeof *block);
        if (of == NULL || block == NULL) {
            sn_fail(125, "memcheck: out of memory");
        }
        of->blocks = block;
        of->count = of->used = 1;
    }
    of->start = start;
    of->size = of->stride = size;
    of->next = memory.large;
    memory.large = of;
    enter_slab(of, of);
    pthread_mutex_unlock(&memory.lock);
    mc_forbid_access(start, size);
    *slot = start;
    *is_fresh = true;
    return of->blocks;
}

/** Give back the memory of a large block. */
static void release_large(slab *of) {
    pthread_mutex_lock(&memory.lock);
    enter_slab(of, NULL);
    slab **link = &memory.large;
    while (*link != of) {
        link = &(*link)->next;
    }
    *link = of->next;
    uint64_t start = of->start, size = of->size;
    of->blocks[0].state = MC_BLOCK_UNUSED;
    of->size = 0;
    of->next = memory.spare;
    memory.spare = of;
    pthread_mutex_unlock(&memory.lock);
    sn_client_memory_free(start, size);
}

/** Let a freed block's room be used again. */
static void release(mc_block *block) {
    slab *of = slab_of(block->address);
    if (of->stride > LARGEST_ROOM) {
        release_large(of);
        return;
    }
    uint64_t stride;
    size_class *to = &classes[class_of(of->stride, &stride)];
    __atomic_store_n(&block->state, MC_BLOCK_UNUSED, __ATOMIC_RELEASE);
    pthread_mutex_lock(&to->lock);
    block->next = to->unused;
    to->unused = block;
    pthread_mutex_unlock(&to->lock);
}

/* ------------------------------------------------------------------------------------------ allocate and free */

mc_block *mc_block_allocate(sn_thread *thread, uint64_t size, uint64_t alignment, mc_block_kind kind, bool cleared) {
    uint64_t spare = alignment > LEAST_ALIGNMENT ? alignment - LEAST_ALIGNMENT : 0, room, slot;
    bool is_fresh;
    if (__builtin_add_overflow(size, 2 * redzone + spare + (size == 0), &room) || room > UINT64_MAX / 2) {
        return NULL;
    }
    mc_block *block = room <= LARGEST_ROOM ? take_slot(room, &slot, &is_fresh) : take_large(room, &slot, &is_fresh);
    if (block == NULL) {
        return NULL;
    }
    uint64_t address = spare != 0 ? (slot + redzone + alignment - 1) & ~(alignment - 1) : slot + redzone;
    *block = (mc_block){.address = address, .size = size, .allocated = sn_context_of(thread), .thread = mc_thread_number(thread),
                        .kind = (uint8_t)kind};
    if (room > LARGEST_ROOM) { /* what is between is said below: there may be much of it */
        const slab *of = slab_of(slot);
        mc_make_forbidden(slot, address - slot);
        mc_make_forbidden(address + size, of->start + of->size - address - size);
    }
    mc_make_addressable(address, size);
    if (cleared) {
        mc_make_defined(address, size);
    } else if (room > LARGEST_ROOM) { /* who wants to know its origin asks for it */
        mc_make_forbidden(address, size);
    } else {
        mc_make_undefined(address, size, mc_origin_of_heap(block->allocated));
    }
    if (cleared && !is_fresh) {
        memset((void *)(uintptr_t)address, 0, size);
    } else if (!cleared && mc_current.malloc_fill >= 0) {
        memset((void *)(uintptr_t)address, (int)mc_current.malloc_fill, size);
    }
    __atomic_fetch_add(&totals.allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&totals.bytes, size, __ATOMIC_RELAXED);
    __atomic_store_n(&block->state, MC_BLOCK_LIVE, __ATOMIC_RELEASE);
    return block;
}

SN_FAST uint32_t mc_block_origin_of_large(uint64_t address) {
    const slab *of = slab_of(address);
    return of != NULL && of->stride > LARGEST_ROOM ? mc_origin_of_heap(of->blocks[0].allocated) : 0;
}

static mc_block *take_first(block_queue *from) {
    mc_block *block = from->first;
    if (block != NULL) {
        from->first = block->next;
        if (from->first == NULL) {
            from->end = &from->first;
        }
    }
    return block;
}

/** Queue a block, and take out those that are too many: a list by `next`. */
static mc_block *queue_block(mc_block *block) {
    mc_block *out = NULL, *oldest;
    pthread_mutex_lock(&queue.lock);
    block_queue *to = block->size >= (uint64_t)mc_current.freelist_big ? &queue.big : &queue.ordinary;
    block->next = NULL;
    *to->end = block;
    to->end = &block->next;
    queue.volume += block->size + 1; /* so that blocks of no size go out too */
    while (queue.volume > (uint64_t)mc_current.freelist_volume &&
           ((oldest = take_first(&queue.big)) != NULL || (oldest = take_first(&queue.ordinary)) != NULL)) {
        queue.volume -= oldest->size + 1;
        oldest->next = out;
        out = oldest;
    }
    pthread_mutex_unlock(&queue.lock);
    return out;
}

bool mc_block_free(sn_thread *thread, mc_block *block) {
    uint8_t live = MC_BLOCK_LIVE;
    if (!__atomic_compare_exchange_n(&block->state, &live, MC_BLOCK_FREED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return false;
    }
    block->freed = sn_context_of(thread);
    block->free_thread = mc_thread_number(thread);
    if (mc_current.free_fill >= 0) {
        memset((void *)(uintptr_t)block->address, (int)mc_current.free_fill, block->size);
    }
    mc_make_unaddressable(block->address, block->size);
    __atomic_fetch_add(&totals.frees, 1, __ATOMIC_RELAXED);
    for (mc_block *out = queue_block(block), *next; out != NULL; out = next) {
        next = out->next;
        release(out);
    }
    return true;
}

/** Pages that have the same already are not written: of a large block, nobody may ever have written them. */
static void copy_memory(uint64_t to, uint64_t from, uint64_t size) {
    for (uint64_t at = 0, step; at < size; at += step) {
        step = PAGE - (to + at) % PAGE < size - at ? PAGE - (to + at) % PAGE : size - at;
        void *there = (void *)(uintptr_t)(to + at);
        const void *here = (const void *)(uintptr_t)(from + at);
        if (step < PAGE || memcmp(there, here, step) != 0) {
            memcpy(there, here, step);
        }
    }
}

void mc_block_copy(const mc_block *to, const mc_block *from) {
    uint64_t size = to->size < from->size ? to->size : from->size;
    mc_copy_definedness(to->address, from->address, size);
    copy_memory(to->address, from->address, size);
}

mc_block *mc_block_add(sn_thread *thread, uint64_t address, uint64_t size, uint64_t pool) {
    mc_block *block = mc_custom_make(address);
    *block = (mc_block){.address = address, .size = size, .allocated = sn_context_of(thread), .thread = mc_thread_number(thread),
                        .kind = MC_CUSTOM, .pool = pool, .state = MC_BLOCK_LIVE};
    mc_custom_places_of(block)->allocated = sn_thread_program_counter(thread);
    __atomic_fetch_add(&totals.allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&totals.bytes, size, __ATOMIC_RELAXED);
    return block;
}

bool mc_block_end(sn_thread *thread, mc_block *block) {
    uint8_t live = MC_BLOCK_LIVE;
    if (!__atomic_compare_exchange_n(&block->state, &live, MC_BLOCK_FREED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return false;
    }
    block->freed = sn_context_of(thread);
    mc_custom_places_of(block)->freed = sn_thread_program_counter(thread);
    block->free_thread = mc_thread_number(thread);
    __atomic_fetch_add(&totals.frees, 1, __ATOMIC_RELAXED);
    return true;
}

mc_heap_totals mc_heap_totals_now(void) {
    return (mc_heap_totals){__atomic_load_n(&totals.allocations, __ATOMIC_RELAXED), __atomic_load_n(&totals.frees, __ATOMIC_RELAXED),
                            __atomic_load_n(&totals.bytes, __ATOMIC_RELAXED)};
}

/* ----------------------------------------------------------------------------------------------------- finding */

/** The slot of an address, if it was ever used. */
static mc_block *slot_block(const slab *of, uint64_t address) {
    uint64_t index = (address - of->start) / of->stride;
    if (address - of->start >= of->size || index >= of->used) {
        return NULL;
    }
    mc_block *block = &of->blocks[index];
    return __atomic_load_n(&block->state, __ATOMIC_ACQUIRE) != MC_BLOCK_UNUSED ? block : NULL;
}

mc_block *mc_block_at(uint64_t address) {
    mc_block *custom = mc_custom_at(address);
    if (custom != NULL && custom->state == MC_BLOCK_LIVE) {
        return custom;
    }
    const slab *of = slab_of(address);
    mc_block *block = of != NULL ? slot_block(of, address) : NULL;
    return block != NULL && block->address == address ? block : custom;
}

mc_block *mc_block_holding(uint64_t address) {
    const slab *of = slab_of(address);
    mc_block *block = of != NULL ? slot_block(of, address) : NULL;
    if (block == NULL || block->state != MC_BLOCK_LIVE || address < block->address) {
        return NULL;
    }
    return address - block->address < block->size + (block->size == 0) ? block : NULL;
}

/** How far an address is from a block: 0 inside of it. */
static uint64_t distance(const mc_block *block, uint64_t address) {
    if (address < block->address) {
        return block->address - address;
    }
    return address - block->address < block->size ? 0 : address - block->address - block->size + 1;
}

mc_block *mc_block_around(uint64_t address) {
    const slab *of = slab_of(address);
    if (of == NULL) {
        return NULL;
    }
    mc_block *best = NULL;
    for (int step = -1; step <= 1; step++) {
        uint64_t at = address + (uint64_t)((int64_t)of->stride * step);
        mc_block *block = at - of->start < of->size ? slot_block(of, at) : NULL;
        /* The room behind a block ends with its slot's red zone, and the next one's belongs to that one if it is used. */
        if (block != NULL && (best == NULL || distance(block, address) < distance(best, address))) {
            best = block;
        }
    }
    return best;
}

static void visit_slab(slab *of, mc_block_state state, void (*visit)(mc_block *block, void *data), void *data) {
    for (uint32_t i = 0; i < of->used; i++) {
        if (of->blocks[i].state == state) {
            visit(&of->blocks[i], data);
        }
    }
}

void mc_blocks_visit(mc_block_state state, void (*visit)(mc_block *block, void *data), void *data) {
    for (unsigned i = 0; i < CLASSES; i++) {
        for (slab *of = classes[i].slabs; of != NULL; of = of->next) {
            visit_slab(of, state, visit, data);
        }
    }
    for (slab *of = memory.large; of != NULL; of = of->next) {
        visit_slab(of, state, visit, data);
    }
    mc_custom_visit(state, visit, data);
}
