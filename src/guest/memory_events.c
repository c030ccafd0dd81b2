/**
 * @fileoverview Memory events: see memory_events.h.
 */
#include "guest/memory_events.h"

#include <asm/unistd.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "base/lock.h"
#include "sonde/vector.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/events.h"
#include "guest/module_events.h"
#include "guest/space.h"
#include "guest/thread.h"
#include "jit/layout.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

typedef SN_VECTOR(sn_region) region_list;

/** Held from before a change until the tool was told. What follows belongs to who holds it. */
static sn_lock order;
static region_list before, now;

/** Waiting is done outside the engine's gate: the holder may be in a callback that stops the world. */
static void acquire(sn_thread *thread) {
    if (sn_lock_try(&order)) return;
    sn_engine_pause(thread);
    sn_lock_acquire(&order);
    sn_engine_resume(thread);
}

void sn_memory_events_after_fork(void) { sn_lock_reset(&order); }

/* -------------------------------------------------------------------- what is there */

typedef struct clip {
    region_list *list;
    uint64_t start, end;
} clip;

static void add_clipped(const sn_region *region, void *data) {
    const clip *wanted = data;
    sn_region *piece = sn_vector_add(wanted->list);
    *piece = *region;
    if (piece->start < wanted->start) {
        piece->offset += wanted->start - piece->start;
        piece->start = wanted->start;
    }
    if (piece->end > wanted->end) piece->end = wanted->end;
}

/** Add the pieces of regions within [start, end). */
static void add_regions(region_list *list, uint64_t start, uint64_t end) {
    sn_space_visit_within(start, end, add_clipped, &(clip){list, start, end});
}

/* -------------------------------------------------------------------------- telling */

static sn_memory_range range_of(const sn_region *region) {
    return (sn_memory_range){.start = region->start,
                             .end = region->end,
                             .protection = region->protection,
                             .path = region->path,
                             .offset = region->path ? region->offset : 0,
                             .is_stack = region->kind == SN_REGION_STACK,
                             .is_break = region->kind == SN_REGION_BREAK};
}

typedef struct range_visit {
    void (*visit)(const sn_memory_range *range, void *data);
    void *data;
} range_visit;

static void visit_range(const sn_region *region, void *data) {
    const range_visit *to = data;
    sn_memory_range range = range_of(region);
    to->visit(&range, to->data);
}

void sn_memory_visit(void (*visit)(const sn_memory_range *range, void *data), void *data) {
    sn_space_visit(visit_range, &(range_visit){visit, data});
}

void sn_memory_visit_within(uint64_t start, uint64_t end, void (*visit)(const sn_memory_range *range, void *data), void *data) {
    sn_space_visit_within(start, end, visit_range, &(range_visit){visit, data});
}

static void tell_mapped(const sn_region *region) {
    const sn_tool *tool = sn_current_tool();
    sn_memory_range range = range_of(region);
    if (sn_memory_listening.mapped) sn_memory_listening.mapped(range.start, range.end);
    if (tool->memory_mapped) SN_TELL_TOOL("memory_mapped", tool->memory_mapped(&range));
    if (sn_events_wanted.modules) sn_module_events_mapped(region);
}

static void tell_unmapped(uint64_t start, uint64_t end) {
    const sn_tool *tool = sn_current_tool();
    if (sn_memory_listening.unmapped && start < end) sn_memory_listening.unmapped(start, end);
    if (tool->memory_unmapped && start < end) SN_TELL_TOOL("memory_unmapped", tool->memory_unmapped(start, end));
}

/** All that is in [start, end) now. */
static void tell_mapped_within(uint64_t start, uint64_t end) {
    sn_vector_clear(&now);
    add_regions(&now, start, end);
    for (size_t i = 0; i < now.count; i++) tell_mapped(&now.items[i]);
}

/** A range that grows as long as what is added follows it, and is told when something else comes. */
typedef struct run {
    uint64_t start, end;
} run;

static void extend(run *gone, uint64_t start, uint64_t end) {
    if (start >= end) return;
    if (gone->end != start) {
        tell_unmapped(gone->start, gone->end);
        gone->start = start;
    }
    gone->end = end;
}

/** What was in [start, end) and is replaced. */
static void tell_replaced(uint64_t start, uint64_t end) {
    run gone = {0};
    for (size_t i = 0; i < before.count; i++) {
        const sn_region *old = &before.items[i];
        extend(&gone, old->start > start ? old->start : start, old->end < end ? old->end : end);
    }
    tell_unmapped(gone.start, gone.end);
}

/** What was in [start, end) and is there no more. */
static void tell_vanished(uint64_t start, uint64_t end) {
    run gone = {0};
    sn_vector_clear(&now);
    add_regions(&now, start, end);
    size_t next = 0;
    for (size_t i = 0; i < before.count; i++) {
        const sn_region *old = &before.items[i];
        uint64_t at = old->start > start ? old->start : start, old_end = old->end < end ? old->end : end;
        while (at < old_end) {
            while (next < now.count && now.items[next].end <= at) next++;
            uint64_t there = next < now.count ? now.items[next].start : UINT64_MAX;
            extend(&gone, at, there < old_end ? there : old_end);
            at = next < now.count && there < old_end ? now.items[next].end : old_end;
        }
    }
    tell_unmapped(gone.start, gone.end);
}

/** The protection that an address had before; -1 if there was nothing. */
static int protection_before(uint64_t address, uint64_t *end) {
    for (size_t i = 0; i < before.count; i++) {
        const sn_region *old = &before.items[i];
        if (address < old->start || address >= old->end) continue;
        *end = old->end;
        return old->protection;
    }
    return -1;
}

/** Where the protection is another one now, in runs of the same. */
static void tell_protected(uint64_t start, uint64_t end) {
    const sn_tool *tool = sn_current_tool();
    run changed = {0};
    int protection = 0;
    sn_vector_clear(&now);
    add_regions(&now, start, end);
    for (size_t i = 0; i < now.count; i++) {
        for (uint64_t at = now.items[i].start, part; at < now.items[i].end; at = part) {
            part = now.items[i].end;
            uint64_t old_end = part;
            int old = protection_before(at, &old_end);
            if (old_end < part) part = old_end;
            if (old < 0 || old == now.items[i].protection) continue;
            if (changed.end == at && protection == now.items[i].protection) {
                changed.end = part;
                continue;
            }
            if (changed.end && tool->memory_protected)
                SN_TELL_TOOL("memory_protected", tool->memory_protected(changed.start, changed.end, protection));
            changed = (run){at, part};
            protection = now.items[i].protection;
        }
    }
    if (changed.end && tool->memory_protected)
        SN_TELL_TOOL("memory_protected", tool->memory_protected(changed.start, changed.end, protection));
}

/* ------------------------------------------------------------------------ the calls */

static uint64_t page_up(uint64_t size) { return (size + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1); }
static uint64_t page_down(uint64_t address) { return address & ~(SN_PAGE_SIZE - 1); }

/** address + size in whole pages, without running over. */
static uint64_t end_of(uint64_t address, uint64_t size) {
    uint64_t end = address + page_up(size);
    return end < address ? UINT64_MAX & ~(SN_PAGE_SIZE - 1) : end;
}

static bool failed(int64_t result) { return result < 0 && result >= -4095; }

static void note_range(const uint64_t a[6]) { add_regions(&before, page_down(a[0]), end_of(page_down(a[0]), a[1])); }

static void note_fixed(const uint64_t a[6]) {
    if (a[3] & MAP_FIXED) note_range(a);
}

static void note_all(const uint64_t a[6]) {
    (void)a;
    add_regions(&before, 0, UINT64_MAX);
}

static void note_protected(const uint64_t a[6]) {
    /* PROT_GROWSDOWN reaches down to where the mapping begins. */
    if (a[2] & PROT_GROWSDOWN) note_all(a);
    else note_range(a);
}

static void note_break(const uint64_t a[6]) {
    (void)a;
    add_regions(&before, SN_BREAK_START, SN_BREAK_END);
}

static void note_moved(const uint64_t a[6]) {
    uint64_t old_end = end_of(a[0], a[1]), new_end = end_of(a[4], a[2]);
    bool fixed = a[3] & MREMAP_FIXED;
    /* In the order of addresses, as the list is kept. */
    if (fixed && a[4] < a[0]) add_regions(&before, a[4], new_end);
    add_regions(&before, a[0], old_end);
    if (fixed && a[4] >= a[0]) add_regions(&before, a[4] > old_end ? a[4] : old_end, new_end);
}

static void tell_mmap(const uint64_t a[6], int64_t result) {
    if (failed(result)) return;
    sn_region region;
    if (!sn_space_find((uint64_t)result, &region)) return;
    uint64_t end = end_of((uint64_t)result, a[1]);
    /* Huge pages are longer than what was asked for. */
    if (a[3] & MAP_HUGETLB) end = region.end;
    tell_replaced((uint64_t)result, end);
    tell_mapped_within((uint64_t)result, end);
}

static void tell_munmap(const uint64_t a[6], int64_t result) {
    (void)result;
    tell_vanished(a[0], end_of(a[0], a[1]));
}

static void tell_shmdt(const uint64_t a[6], int64_t result) {
    (void)a;
    if (!failed(result)) tell_vanished(0, UINT64_MAX);
}

static void tell_mprotect(const uint64_t a[6], int64_t result) {
    (void)result; /* what lies before a hole is changed although the call fails */
    tell_protected(a[2] & PROT_GROWSDOWN ? 0 : a[0], end_of(a[0], a[1]));
}

static void tell_brk(const uint64_t a[6], int64_t result) {
    (void)a;
    uint64_t old_end = before.count ? before.items[before.count - 1].end : SN_BREAK_START;
    uint64_t new_end = page_up((uint64_t)result);
    if (new_end > old_end) tell_mapped_within(old_end, new_end);
    else tell_vanished(new_end, old_end);
}

static void tell_shmat(const uint64_t a[6], int64_t result) {
    (void)a;
    sn_region region;
    if (failed(result) || !sn_space_find((uint64_t)result, &region)) return;
    tell_replaced((uint64_t)result, region.end);
    tell_mapped_within((uint64_t)result, region.end);
}

static void tell_remap_file_pages(const uint64_t a[6], int64_t result) {
    uint64_t start = page_down(a[0]), end = start + page_down(a[1]);
    if (failed(result)) return;
    tell_replaced(start, end);
    tell_mapped_within(start, end);
}

/** Memory that is elsewhere now: first what it replaced there, then the move, then what it gained or lost. */
static void tell_move(uint64_t from, uint64_t old_end, uint64_t to, uint64_t new_end, bool stays) {
    const sn_tool *tool = sn_current_tool();
    uint64_t old_size = old_end - from, new_size = new_end - to, size = old_size < new_size ? old_size : new_size;
    tell_replaced(to, new_end);
    if (sn_memory_listening.moved && size) sn_memory_listening.moved(from, to, size);
    if (tool->memory_moved && size) SN_TELL_TOOL("memory_moved", tool->memory_moved(from, to, size));
    if (new_size > size) tell_mapped_within(to + size, new_end);
    if (stays) tell_mapped_within(from, old_end);
    else tell_vanished(from + size, old_end);
}

static void tell_mremap(const uint64_t a[6], int64_t result) {
    uint64_t from = a[0], old_end = end_of(from, a[1]), to = (uint64_t)result;
    if (failed(result)) {
        tell_vanished(from, old_end); /* it may have been made shorter before it could not be moved */
        return;
    }
    uint64_t new_end = end_of(to, a[2]);
    if (to != from) tell_move(from, old_end, to, new_end, a[3] & MREMAP_DONTUNMAP);
    else if (new_end > old_end) tell_mapped_within(old_end, new_end);
    else tell_vanished(new_end, old_end);
}

/** What to note before a call, and what to tell after it. */
static const struct memory_call {
    uint16_t number;
    void (*note)(const uint64_t arguments[6]);
    void (*tell)(const uint64_t arguments[6], int64_t result);
} calls[] = {
    {__NR_mmap, note_fixed, tell_mmap},
    {__NR_munmap, note_range, tell_munmap},
    {__NR_mprotect, note_protected, tell_mprotect},
    {__NR_pkey_mprotect, note_protected, tell_mprotect},
    {__NR_mremap, note_moved, tell_mremap},
    {__NR_remap_file_pages, note_range, tell_remap_file_pages},
    {__NR_brk, note_break, tell_brk},
    {__NR_shmat, note_all, tell_shmat},
    {__NR_shmdt, note_all, tell_shmdt},
};

static const struct memory_call *call_of(uint64_t number) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number) return &calls[i];
    return NULL;
}

bool sn_memory_events_concern(uint64_t number) { return call_of(number) != NULL; }

void sn_memory_events_before(sn_thread *thread, uint64_t number, const uint64_t arguments[6]) {
    acquire(thread);
    sn_vector_clear(&before);
    call_of(number)->note(arguments);
}

void sn_memory_events_after(uint64_t number, const uint64_t arguments[6], int64_t result) {
    call_of(number)->tell(arguments, result);
    if (sn_events_wanted.modules) sn_module_events_changed();
    sn_lock_release(&order);
}

void sn_memory_events_begin(void) {
    sn_lock_acquire(&order);
    region_list initial = {0};
    add_regions(&initial, 0, UINT64_MAX);
    for (size_t i = 0; i < initial.count; i++) tell_mapped(&initial.items[i]);
    if (sn_events_wanted.modules) {
        sn_module_events_changed();
        sn_module_events_program();
    }
    sn_vector_release(&initial);
    sn_lock_release(&order);
}
