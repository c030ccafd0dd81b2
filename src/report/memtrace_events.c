/**
 * @fileoverview Undoing the coding of events. See memtrace_events.h, and tools/memtrace/format.h for the code.
 *
 * Walks the same steps as tools/memtrace/encode.c. A payload may end between any two steps.
 */
#include "report/memtrace_events.h"

#include <stdlib.h>

#include "base/log.h"

enum { AT_BLOCK, AT_POSITION, AT_COMPLETION };

struct sn_memtrace_thread {
    uint32_t id;
    int next;                        /**< AT_... */
    const sn_memtrace_block *block;
    uint32_t number;                 /**< of the block */
    unsigned position;
    unsigned fetched;                /**< instructions told */
    bool has_last, last_was_cut;
    uint32_t last, first;            /**< block before; block predicted before any */
    uint64_t previous;               /**< address accessed last */
    SN_VECTOR(memtrace_site_state) sites;
    SN_VECTOR(memtrace_block_state) blocks;

    /* while a payload is read */
    const sn_memtrace_program *program;
    const sn_memtrace_listener *listener;
    const uint8_t *at, *end;
    uint64_t hits;
    bool is_hit;                     /**< the prediction of this step is right */
};

sn_memtrace_thread *sn_memtrace_thread_new(uint32_t id) {
    sn_memtrace_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    thread->id = id;
    return thread;
}

void sn_memtrace_thread_free(sn_memtrace_thread *thread) {
    sn_vector_release(&thread->sites);
    sn_vector_release(&thread->blocks);
    free(thread);
}

/* ------------------------------------------------------------------- telling */

static void tell(const sn_memtrace_thread *thread, const sn_memtrace_site *site, unsigned kind, uint64_t address,
                 uint32_t size) {
    sn_memtrace_event event = {&thread->program->process, site, address, size, thread->id, (uint8_t)kind};
    thread->listener->event(thread->listener->data, &event);
}

/** Tell the block's instructions before number `end` that were not told yet. */
static void tell_fetches(sn_memtrace_thread *thread, unsigned end) {
    for (; thread->fetched < end && thread->fetched < thread->block->instruction_count; thread->fetched++) {
        uint32_t fetched = thread->program->fetches.items[thread->block->first_fetch + thread->fetched];
        const sn_memtrace_site *site = thread->program->sites.items[fetched];
        tell(thread, site, MEMTRACE_FETCH, site->address, site->size);
    }
}

/* --------------------------------------------------------------------- steps */

static bool get(sn_memtrace_thread *thread, uint64_t *value) {
    return memtrace_get(&thread->at, thread->end, value);
}

/** The block is left: what is asked next. */
static void leave(sn_memtrace_thread *thread) {
    bool through = thread->position == thread->block->position_count;
    thread->blocks.items[thread->number].end = through ? MEMTRACE_RUNS_THROUGH : (uint16_t)thread->position;
    thread->has_last = true;
    thread->last_was_cut = !through;
    thread->last = thread->number;
    thread->next = thread->block->instruction_count ? AT_COMPLETION : AT_BLOCK;
}

/** At a position, or behind the last one, where a block without varying sites ends without being asked. */
static void go_on(sn_memtrace_thread *thread) {
    thread->next = AT_POSITION;
    if (thread->position == thread->block->position_count && !thread->block->varying_count)
        leave(thread);
}

static bool step_block(sn_memtrace_thread *thread) {
    uint32_t *predicted =
        thread->has_last ? &thread->blocks.items[thread->last].next[thread->last_was_cut] : &thread->first;
    uint64_t number = *predicted;
    if ((!thread->is_hit && !get(thread, &number)) || number >= thread->program->blocks.count)
        return false;
    *predicted = (uint32_t)number;
    while (thread->blocks.count <= number) /* moves what `predicted` points to */
        sn_vector_add(&thread->blocks)->end = MEMTRACE_RUNS_THROUGH;
    thread->number = (uint32_t)number;
    thread->block = &thread->program->blocks.items[number];
    thread->position = thread->fetched = 0;
    go_on(thread);
    return true;
}

static void accept_address(sn_memtrace_thread *thread, memtrace_site_state *state, uint64_t address) {
    const sn_memtrace_step *step =
        &thread->program->positions.items[thread->block->first_position + thread->position++];
    const sn_memtrace_site *site = thread->program->sites.items[step->site];
    memtrace_learn(state, thread->previous, address);
    thread->previous = address;
    tell_fetches(thread, step->instruction + 1u);
    tell(thread, site, site->kind, address, site->size);
    go_on(thread);
}

static bool rows(sn_memtrace_thread *thread) {
    uint64_t varying, count, kind, size, difference;
    if (!get(thread, &varying) || varying >= thread->block->varying_count || !get(thread, &count) ||
        count > MEMTRACE_MOST_ROWS)
        return false;
    const sn_memtrace_step *step = &thread->program->varying.items[thread->block->first_varying + varying];
    tell_fetches(thread, step->instruction + 1u);
    while (count--) {
        if (!get(thread, &kind) || kind < MEMTRACE_LOAD || kind > MEMTRACE_MODIFY || !get(thread, &size) || size > UINT32_MAX ||
            !get(thread, &difference))
            return false;
        thread->previous += memtrace_unzigzag(difference);
        tell(thread, thread->program->sites.items[step->site], (unsigned)kind, thread->previous, (uint32_t)size);
    }
    return true;
}

static void omit(sn_memtrace_thread *thread, memtrace_site_state *state) {
    state->by = MEMTRACE_BY_OMISSION;
    thread->position++;
    go_on(thread);
}

/** What came instead of what was predicted at a position. */
static bool instead(sn_memtrace_thread *thread, memtrace_site_state *state, uint64_t code) {
    uint64_t address = 0;
    uint32_t by = state->by == MEMTRACE_BY_NEIGHBOUR ? MEMTRACE_BY_NEIGHBOUR : MEMTRACE_BY_STRIDE;
    switch (code) {
    case MEMTRACE_INSTEAD_LEFT: leave(thread); return true;
    case MEMTRACE_INSTEAD_ROWS: return rows(thread);
    case MEMTRACE_INSTEAD_OMITTED: omit(thread, state); return true;
    case MEMTRACE_INSTEAD_OTHER:
        by = by == MEMTRACE_BY_STRIDE ? MEMTRACE_BY_NEIGHBOUR : MEMTRACE_BY_STRIDE;
        address = memtrace_predict(state, thread->previous, by);
        break;
    case MEMTRACE_INSTEAD_ADDRESS:
        if (!get(thread, &address))
            return false;
        break;
    default:
        address = memtrace_predict(state, thread->previous, by) + memtrace_unzigzag(code - MEMTRACE_INSTEAD_FIRST_DELTA);
    }
    state->by = by;
    accept_address(thread, state, address);
    return true;
}

static bool step_position(sn_memtrace_thread *thread) {
    uint64_t code = 0;
    if (!thread->is_hit && !get(thread, &code))
        return false;
    if (thread->position == thread->block->position_count) {
        if (!thread->is_hit)
            return code == MEMTRACE_INSTEAD_ROWS && rows(thread);
        leave(thread);
        return true;
    }
    uint32_t number = thread->program->positions.items[thread->block->first_position + thread->position].site;
    while (thread->sites.count <= number)
        sn_vector_add(&thread->sites);
    memtrace_site_state *state = &thread->sites.items[number];
    if (!thread->is_hit)
        return instead(thread, state, code);
    if (thread->blocks.items[thread->number].end == thread->position)
        leave(thread);
    else if (state->by == MEMTRACE_BY_OMISSION)
        omit(thread, state);
    else
        accept_address(thread, state, memtrace_predict(state, thread->previous, state->by));
    return true;
}

static bool step_completion(sn_memtrace_thread *thread) {
    memtrace_block_state *its = &thread->blocks.items[thread->number];
    uint64_t completed = its->completed - UINT64_C(1);
    if ((!thread->is_hit && !get(thread, &completed)) || completed > thread->block->instruction_count)
        return false;
    its->completed = (uint16_t)(completed + 1);
    tell_fetches(thread, (unsigned)completed);
    thread->next = AT_BLOCK;
    return true;
}

static bool step(sn_memtrace_thread *thread) {
    thread->is_hit = thread->hits != 0;
    bool is_good;
    switch (thread->next) {
    case AT_BLOCK: is_good = step_block(thread); break;
    case AT_POSITION: is_good = step_position(thread); break;
    default: is_good = step_completion(thread);
    }
    if (thread->is_hit)
        thread->hits--;
    else if (is_good)
        is_good = get(thread, &thread->hits);
    return is_good;
}

bool sn_memtrace_take_events(sn_memtrace_thread *thread, const sn_memtrace_program *program, const uint8_t *payload,
                             size_t size, uint32_t predictions, const sn_memtrace_listener *listener) {
    thread->program = program;
    thread->listener = listener;
    thread->at = payload;
    thread->end = payload + size;
    if (thread->next != AT_BLOCK) /* the list of blocks may have moved */
        thread->block = &program->blocks.items[thread->number];
    if (predictions > MEMTRACE_MOST_PREDICTIONS || !get(thread, &thread->hits))
        return false;
    while (predictions--)
        if (!step(thread))
            return false;
    return !thread->hits && thread->at == thread->end;
}
