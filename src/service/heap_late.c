/**
 * @fileoverview What a program's only thread has allocated and freed, and is not yet worked off: see heap.h.
 *
 * What is known of a block that is freed is in no near cache if the block is old: its entry in the table, and behind that its record.
 * So a call only notes what happened, and has the entry fetched; two calls later the record, and two more later it is worked
 * off. The order stays, so that all sums and peaks are what they would have been; whoever looks at blocks, or at what tools
 * have made of them, has everything worked off first, by sn_heap_settle(). Runs in the code cache too: calls nothing
 * outside, compiled for general registers only.
 */
#include "service/heap.h"

/** A record is asked for when its entry has come, and worked off when it has come itself: after so many others. */
enum { ENTRY_COMES = 2, RECORD_COMES = 4 };
_Static_assert(RECORD_COMES < SN_HEAP_MOST_LATE, "room for all that wait");

static sn_heap_event *event(sn_heap_thread *own, uint32_t number) { return &own->late[number % SN_HEAP_MOST_LATE]; }

/** Work off the oldest. It is out of the way before: if a tool's function crashes, the rest can still be told. */
static void work_off(sn_thread *thread, sn_heap_thread *own) {
    const sn_heap_event *oldest = event(own, own->late_first++);
    if (!oldest->is_end) {
        sn_heap_add(thread, oldest->address, oldest->requested, oldest->usable, oldest->context);
        return;
    }
    sn_heap_block *block = sn_heap_take(oldest->address);
    if (block) sn_heap_end(thread, block);
}

static sn_heap_event *new_event(sn_thread *thread, sn_heap_thread *own, uint64_t address) {
    if (own->late_end - own->late_first > RECORD_COMES) work_off(thread, own);
    if (own->late_end - own->late_first >= ENTRY_COMES) {
        const sn_heap_event *before = event(own, own->late_end - ENTRY_COMES);
        if (before->is_end) sn_heap_prefetch_record(before->address);
    }
    sn_heap_event *new = event(own, own->late_end++);
    sn_heap_prefetch_entry(address);
    new->address = address;
    return new;
}

void sn_heap_note_begin(sn_thread *thread, sn_heap_thread *own, uint64_t address, uint64_t requested, uint64_t usable,
                        sn_context context) {
    sn_heap_event *new = new_event(thread, own, address);
    new->is_end = false;
    new->requested = requested;
    new->usable = usable;
    new->context = context;
}

void sn_heap_note_end(sn_thread *thread, sn_heap_thread *own, uint64_t address) {
    new_event(thread, own, address)->is_end = true;
}

void sn_heap_settle(void) {
    sn_thread *thread = sn_heap.only_thread;
    if (!thread) return;
    sn_heap_thread *own = sn_heap_thread_of(thread);
    while (own->late_first != own->late_end) work_off(thread, own);
}
