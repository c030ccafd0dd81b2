/**
 * @fileoverview Switching the heap service on, its memory, its threads; and looking at all blocks. See heap.h.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "sonde/spin.h"
#include "guest/thread.h"
#include "jit/layout.h"
#include "service/contexts.h"
#include "service/heap.h"

/** Address space that is committed as it is touched: by large pages where all of it will be, one part behind the other. Records and
    entries are looked at in no order, and with small pages the processor would have to look for each of these first: a program
    that does nothing but allocate took a third longer. */
static void *reserve(uint64_t size, int advice) {
    void *memory = sn_contexts_reserve(size);
    madvise(memory, size, advice);
    return memory;
}

/** Before there is another thread. A process that goes on with one again stays as it is. */
static void thread_is_made(void) {
    sn_heap_settle();
    sn_heap.only_thread = NULL;
    sn_heap.is_shared = true;
}

/** Neither what is asked for at the moment itself, nor the tool's time, would be told late. */
static bool may_be_late(void) {
    return sn_heap.options.may_be_late && !sn_heap.options.death && !sn_heap.options.frees && !sn_heap.options.clock;
}

static void thread_begins(sn_thread *thread) {
    static bool has_begun;
    sn_heap_thread *own = mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "out of memory for a thread's heap");
    thread->slots[sn_heap.slot] = (uint64_t)own;
    if (!has_begun && may_be_late()) sn_heap.only_thread = thread;
    has_begun = true;
}

static void thread_ends(sn_thread *thread) {
    sn_heap_thread *own = sn_heap_thread_of(thread);
    if (thread == sn_heap.only_thread) sn_heap.only_thread = NULL; /* the tool's end has been told */
    sn_heap_give_records(own);
    munmap(own, sizeof *own);
    thread->slots[sn_heap.slot] = 0;
}

static void thread_forgets(sn_thread *thread) {
    sn_heap_thread *own = sn_heap_thread_of(thread);
    own->depth = 0;
    own->inner_count = 0;
}

static void before_fork(void) {
    sn_spin_acquire(&sn_heap.lock);
    for (unsigned i = 0; i < SN_HEAP_LOCKS; i++) sn_spin_acquire(&sn_heap.locks[i]);
}

static void after_fork(void) {
    for (unsigned i = 0; i < SN_HEAP_LOCKS; i++) sn_spin_release(&sn_heap.locks[i]);
    sn_spin_release(&sn_heap.lock);
}

static sn_hook_service service = {
    .is_own = sn_heap_function_is_own,
    .prepare = sn_heap_allocator_at,
    .needs_frame = sn_heap_function_needs_frame,
    .begins_simply = sn_heap_function_begins_simply,
    .argument_count = sn_heap_function_argument_count,
    .attends = &sn_heap.attends,
    .attend = sn_heap_attend_now,
    .always_attends = sn_heap_always_attends,
    .thread_is_made = thread_is_made,
    .thread_begins = thread_begins,
    .thread_ends = thread_ends,
    .thread_forgets = thread_forgets,
    .before_fork = before_fork,
    .after_fork = after_fork,
};

void sn_heap_enable(const sn_heap_options *options) {
    if (sn_heap.records) return;
    sn_heap.options = *options;
    sn_heap.records = reserve(SN_HEAP_MOST_BLOCKS * sizeof *sn_heap.records, MADV_HUGEPAGE);
    sn_heap.next_record = 1;
    sn_heap.table = reserve((SN_DATA_END - SN_DATA_START) / SN_HEAP_GRANULE * sizeof *sn_heap.table, MADV_HUGEPAGE);
    sn_heap.low_table = reserve(SN_LOW_END / SN_HEAP_GRANULE * sizeof *sn_heap.low_table, MADV_NOHUGEPAGE);
    if (options->kept) sn_heap.kept = reserve(options->kept * sizeof *sn_heap.kept, MADV_NOHUGEPAGE);
    sn_heap.slot = sn_slot_new();
    service.own_attends = sn_heap.own_attends = sn_slot_new();
    sn_hooks_serve(&service);
    sn_heap_functions_hook();
}

bool sn_heap_freed_at(uint64_t address, sn_heap_block *block) {
    sn_heap_settle();
    uint64_t end = __atomic_load_n(&sn_heap.kept_position, __ATOMIC_ACQUIRE);
    for (uint64_t back = 1; back <= sn_heap.options.kept && back <= end; back++) {
        uint32_t number = __atomic_load_n(&sn_heap.kept[(end - back) % sn_heap.options.kept], __ATOMIC_ACQUIRE);
        if (!number || sn_heap.records[number].address != address) continue;
        *block = sn_heap.records[number];
        return block->state == SN_HEAP_FREED;
    }
    return false;
}

typedef struct visiting {
    void (*visit)(sn_heap_block *block, void *data);
    void *data;
} visiting;

static void visit_all(void *data) {
    const visiting *to = data;
    uint32_t count = __atomic_load_n(&sn_heap.next_record, __ATOMIC_ACQUIRE);
    for (uint32_t number = 1; number < count; number++)
        if (sn_heap.records[number].state == SN_HEAP_LIVE) to->visit(&sn_heap.records[number], to->data);
}

void sn_heap_visit(void (*visit)(sn_heap_block *block, void *data), void *data) {
    sn_heap_settle();
    sn_while_still(visit_all, &(visiting){visit, data});
}
