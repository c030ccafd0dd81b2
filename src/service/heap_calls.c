/**
 * @fileoverview Calls of allocating functions, which become blocks: see heap.h.
 *
 * Only the outermost of nested calls counts. A call that frees is done when it begins: afterwards the address may be another
 * thread's. Runs in the code cache: calls nothing outside, compiled for general registers only.
 */
#include "service/context_tree.h"
#include "service/heap.h"
#include "service/unwind.h"

static const sn_heap_function *function_of(const sn_hooked_call *call) { return call->hook->data; }

static const sn_heap_allocator *allocator_of(const sn_hooked_call *call) {
    return ((const sn_hook_record *)call)->place->owner;
}

static uint64_t argument(const sn_hooked_call *call, uint8_t number) {
    return number == SN_HEAP_NO_ARGUMENT ? 0 : call->arguments[number];
}

/** Where the block is that the call has made; 0: there is none. */
static uint64_t made_block(const sn_hooked_call *call) {
    if (function_of(call)->act != SN_HEAP_ALLOCATES_TO) return call->result;
    return (uint32_t)call->result ? 0 : *(const uint64_t *)call->arguments[0];
}

static uint64_t requested_size(const sn_hooked_call *call) {
    const sn_heap_function *function = function_of(call);
    uint64_t size = argument(call, function->size);
    if (function->count != SN_HEAP_NO_ARGUMENT) size *= argument(call, function->count);
    if (function->unit) size = (size + ((UINT64_C(1) << function->unit) - 1)) >> function->unit << function->unit;
    return size;
}

/** Whether the block is what a call made of another one: it may have stayed in place, or have got room to grow into (gperftools,
    mimalloc), so that its size says nothing of the class of sizes that it is in. */
static bool is_remade(const sn_hooked_call *call) {
    const sn_heap_function *function = function_of(call);
    return function->act == SN_HEAP_REALLOCATES && argument(call, function->pointer) != 0;
}

static void ask_later(sn_thread *thread, sn_heap_thread *own, const sn_hooked_call *call, uint64_t address) {
    if (own->unmeasured) return;
    own->unmeasured = address;
    own->unmeasured_size = requested_size(call);
    own->unmeasured_alignment = argument(call, function_of(call)->alignment);
    own->unmeasured_of = allocator_of(call);
    own->unmeasured_is_remade = is_remade(call);
    thread->slots[sn_heap.own_attends] = 1;
}

/* ---------------------------------------------------------------------------------------------- nested calls */

/** The block that holds `address`, of those that were made inside; taken out. False if there is none. */
static bool take_inner(sn_heap_thread *own, uint64_t address, sn_heap_inner *found) {
    for (uint32_t i = own->inner_count; i-- > 0;) {
        const sn_heap_inner *inner = &own->inner[i];
        if (address - inner->address > inner->usable) continue;
        *found = *inner;
        own->inner[i] = own->inner[--own->inner_count];
        return true;
    }
    return false;
}

/** Whether so many bytes have come together, with these, since it was last so. */
static bool is_turn(uint64_t *since, uint64_t size, uint64_t every) {
    *since += size;
    if (*since < every) return false;
    *since = size < every ? *since - every : 0;
    return true;
}

/** The outermost call has made a block, which is seen, or is one of those that a sample stands for. */
static void make_block(sn_thread *thread, sn_heap_thread *own, const sn_heap_inner *made) {
    uint64_t below = sn_heap.options.sample_below;
    bool is_small = made->requested < below;
    if (is_small && !is_turn(&own->unsampled, made->requested, below)) return;
    uint64_t size = is_small ? below : made->requested;
    uint64_t usable = is_small ? size : made->usable;
    if (sn_heap.only_thread) sn_heap_note_begin(thread, own, made->address, size, usable, made->context);
    else sn_heap_add(thread, made->address, size, usable, made->context);
}

static void add_inner(sn_thread *thread, sn_heap_thread *own) {
    while (own->inner_count) {
        const sn_heap_inner inner = own->inner[--own->inner_count];
        make_block(thread, own, &inner);
    }
}

/** The allocator will look at what it keeps in front of the block, which is in no cache if the block is old: that comes while the
    block's record is waited for. A prefetch of memory that is not there does nothing. */
static void free_block(sn_thread *thread, uint64_t address) {
    enum { HEADER = 8 };
    __builtin_prefetch((const void *)(address - HEADER), 1);
    sn_heap_thread *own = sn_heap_thread_of(thread);
    sn_heap_inner inner;
    if (sn_heap.only_thread && !own->depth) {
        if (address) sn_heap_note_end(thread, own, address);
        return;
    }
    sn_heap_settle();
    sn_heap_block *block = address ? sn_heap_take(address) : 0;
    if (block) sn_heap_end(thread, block);
    else if (own->depth) take_inner(own, address, &inner);
}

/** How much of the block is usable, as far as that is known: by what was called inside, else by the allocator whose function has
    just returned. */
static uint64_t usable_size(sn_thread *thread, sn_heap_thread *own, const sn_hooked_call *call, uint64_t address) {
    uint64_t size = requested_size(call), usable = size;
    const sn_heap_allocator *allocator = allocator_of(call);
    sn_heap_inner inner;
    bool is_inner = own->inner_count && take_inner(own, address, &inner);
    if (is_inner) return inner.address + inner.usable - address;
    if (!allocator) return size;
    uint64_t alignment = argument(call, function_of(call)->alignment);
    bool is_known = sn_heap_usable_of_block(allocator, address, &usable) ||
                    (!is_remade(call) && sn_heap_usable_is_known(allocator, size, alignment, &usable));
    if (!is_known) ask_later(thread, own, call, address);
    return usable;
}

/** The context, if it is its turn. */
static sn_context noted_context(sn_thread *thread, sn_heap_thread *own, uint64_t size) {
    uint64_t every = sn_heap.options.context_bytes;
    if (every && !is_turn(&own->unnoted, size, every)) return SN_NO_CONTEXT;
    return sn_context_resolve(thread);
}

/** The call has made a block. */
static void end_making(sn_thread *thread, const sn_hooked_call *call, uint64_t address) {
    sn_heap_thread *own = sn_heap_thread_of(thread);
    uint64_t size = requested_size(call), usable = usable_size(thread, own, call, address);
    sn_heap_inner made;
    made.address = address;
    made.requested = size;
    made.usable = usable;
    made.context = own->depth ? sn_context_resolve(thread) : noted_context(thread, own, size);
    if (!own->depth) {
        make_block(thread, own, &made);
        return;
    }
    if (own->inner_count == SN_HEAP_MOST_INNER) add_inner(thread, own);
    own->inner[own->inner_count++] = made;
}

/* -------------------------------------------------------------------------------------------------- the calls */

void sn_heap_call_frees(sn_thread *thread, const sn_hook_place *place, uint64_t address) {
    if (sn_hook_calling(thread, place->address)) return;
    /* What was made inside of a call that failed, as an exception, is the program's now. */
    if (sn_heap_thread_of(thread)->depth && sn_unwind_steps) sn_hook_unwound_drop_left(thread);
    free_block(thread, address);
}

bool sn_heap_call_begins(sn_thread *thread, sn_hooked_call *call) {
    const sn_heap_function *function = function_of(call);
    sn_heap_thread *own = sn_heap_thread_of(thread);
    if (function->act == SN_HEAP_FREES) {
        free_block(thread, argument(call, function->pointer));
        return false;
    }
    if (!call->frame) return false;
    bool is_inner = own->depth++ > 0;
    uint64_t address = function->act == SN_HEAP_REALLOCATES ? argument(call, function->pointer) : 0;
    sn_heap_inner inner;
    if (address) sn_heap_settle();
    if (address && is_inner) take_inner(own, address, &inner);
    else if (address) call->word = (uint64_t)sn_heap_take(address);
    return true;
}

static void resize(sn_thread *thread, const sn_hooked_call *call) {
    sn_heap_settle();
    uint64_t address = argument(call, function_of(call)->pointer), size = requested_size(call);
    sn_heap_block *block = sn_heap_thread_of(thread)->depth || call->result < size ? 0 : sn_heap_take(address);
    if (!block) return;
    sn_heap_end(thread, block);
    sn_heap_add(thread, address, size, call->result, sn_context_resolve(thread));
}

/** What realloc was given: it is gone, or still there if nothing was done. */
static void end_old(sn_thread *thread, const sn_hooked_call *call, bool has_made) {
    sn_heap_block *old = (sn_heap_block *)call->word;
    if (!old || function_of(call)->act != SN_HEAP_REALLOCATES) return;
    bool is_freed = has_made || (call->has_returned && requested_size(call) == 0);
    if (is_freed) sn_heap_end(thread, old);
    else sn_heap_put_back(old);
}

void sn_heap_call_ends(sn_thread *thread, sn_hooked_call *call) {
    sn_heap_thread *own = sn_heap_thread_of(thread);
    if (own->depth) own->depth--;
    bool resizes = function_of(call)->act == SN_HEAP_RESIZES;
    uint64_t address = call->has_returned && !resizes ? made_block(call) : 0;
    if (resizes && call->has_returned) resize(thread, call);
    end_old(thread, call, address != 0);
    if (address) end_making(thread, call, address);
    if (!own->depth && own->inner_count) add_inner(thread, own);
}
