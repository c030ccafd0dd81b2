/**
 * @fileoverview Blocks of the heap that come and go, noted for the map of data objects, and for tools that are told what is
 * freed. See value_objects.h. Called from inserted code.
 */
#include "sonde/spin.h"
#include "service/value_objects.h"

/** More than the threads can note before one of them has them worked off: each allocating call begins with that. */
enum { MOST = 1 << 16 };

static sn_value_heap_event events[MOST];
static size_t first, count;
static uint32_t lock;

static SN_FAST void note(const sn_heap_block *block, bool is_freed) {
    uint64_t size = block->usable > block->requested ? block->usable : block->requested;
    sn_spin_acquire(&lock);
    if (count < MOST) {
        sn_value_heap_event *event = &events[(first + count++) % MOST];
        event->address = block->address;
        event->size = size;
        event->context = block->context;
        event->is_freed = is_freed;
    }
    sn_spin_release(&lock);
}

static SN_FAST void allocated(sn_thread *thread, sn_heap_block *block) {
    (void)thread;
    note(block, false);
}

static SN_FAST void freed(sn_thread *thread, sn_heap_block *block) {
    (void)thread;
    note(block, true);
}

size_t sn_value_heap_take(sn_value_heap_event *to, size_t room) {
    size_t taken = 0;
    sn_spin_acquire(&lock);
    for (; taken < room && count; taken++, count--) {
        to[taken].address = events[first].address;
        to[taken].size = events[first].size;
        to[taken].context = events[first].context;
        to[taken].is_freed = events[first].is_freed;
        first = (first + 1) % MOST;
    }
    sn_spin_release(&lock);
    return taken;
}

void sn_value_heap_start(void (*frees)(sn_thread *thread, const sn_heap_block *block)) {
    sn_heap_options options = {.frees = frees, .context_bytes = UINT64_MAX};
    if (sn_values_data_centric)
        options = (sn_heap_options){
            .frees = frees, .allocated = allocated, .freed = freed, .attend = sn_value_objects_attend};
    sn_heap_enable(&options);
    if (sn_values_data_centric) sn_heap_attend();
}
