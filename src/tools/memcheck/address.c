/**
 * @fileoverview What lies at an address. See address.h. The sentences are Valgrind's (coregrind/m_addrinfo.c), as scripts and people
 * know them.
 */
#include "address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "custom_blocks.h"
#include "named_blocks.h"

static bool is_custom(const mc_block *block) { return block->kind == MC_CUSTOM; }

const mc_stack *mc_allocation_stack(const mc_block *block) {
    bool is_kept = mc_current.keep_stacktraces == MC_KEEP_ALLOC || mc_current.keep_stacktraces == MC_KEEP_BOTH ||
                   (mc_current.keep_stacktraces == MC_KEEP_THEN && block->state == MC_BLOCK_LIVE);
    return is_kept ? mc_stack_of(block->allocated, is_custom(block) ? mc_custom_places_of((mc_block *)block)->allocated : 0) : NULL;
}

const mc_stack *mc_free_stack(const mc_block *block) {
    bool is_kept = mc_current.keep_stacktraces == MC_KEEP_FREE || mc_current.keep_stacktraces == MC_KEEP_BOTH ||
                   mc_current.keep_stacktraces == MC_KEEP_THEN;
    if (!is_kept || block->state != MC_BLOCK_FREED) {
        return NULL;
    }
    return mc_stack_of(block->freed, is_custom(block) ? mc_custom_places_of((mc_block *)block)->freed : 0);
}

static unsigned describe_block(const mc_block *block, uint64_t address, mc_note notes[]) {
    bool is_freed = block->state == MC_BLOCK_FREED;
    const char *where = "inside";
    uint64_t distance = address - block->address;
    if (address < block->address) {
        where = "before";
        distance = block->address - address;
    } else if (distance >= block->size) {
        where = "after";
        distance -= block->size;
    }
    notes[0].text = mc_text("Address 0x%lx is %s bytes %s a block of size %s %s", address, mc_number(distance), where,
                            mc_number(block->size), is_freed ? "free'd" : "alloc'd");
    notes[0].stack = is_freed ? mc_free_stack(block) : mc_allocation_stack(block);
    const mc_stack *allocated = is_freed ? mc_allocation_stack(block) : NULL;
    if (allocated == NULL) {
        return 1;
    }
    notes[1].text = mc_text("Block was alloc'd at");
    notes[1].stack = allocated;
    return 2;
}

/* ------------------------------------------------------------------------------------------- stacks of threads */

typedef struct mapping_search {
    uint64_t address;
    sn_memory_range found; /**< start 0: none */
    char path[4096];
    char before[4096]; /**< of the mapping before it, if that ends where it begins: of a module's zeroes */
    uint64_t end_before;
} mapping_search;

static void look_for_mapping(const sn_memory_range *range, void *data) {
    mapping_search *search = data;
    if (search->address >= range->start && search->address < range->end) {
        search->found = *range;
        snprintf(search->path, sizeof search->path, "%s", range->path != NULL ? range->path : "");
        if (search->end_before != range->start) {
            search->before[0] = 0;
        }
    } else if (search->found.start == 0) {
        search->end_before = range->end;
        snprintf(search->before, sizeof search->before, "%s", range->path != NULL ? range->path : "");
    }
}

typedef struct thread_search {
    const sn_memory_range *mapping;
    const sn_thread *running;
    uint64_t address, stack_pointer;
    unsigned number; /**< 0: none */
} thread_search;

static void look_for_thread(sn_thread *thread, void *data) {
    thread_search *search = data;
    uint64_t stack_pointer = sn_thread_stack_pointer(thread);
    bool is_there = stack_pointer >= search->mapping->start && stack_pointer <= search->mapping->end;
    if (is_there && (search->number == 0 || thread == search->running)) {
        search->number = mc_thread_number(thread);
        search->stack_pointer = stack_pointer;
    }
}

/** The thread that runs is looked at: the registers of others change while they run. */
static unsigned describe_stack(sn_thread *thread, uint64_t address, const sn_memory_range *mapping, mc_note notes[]) {
    thread_search search = {.mapping = mapping, .running = thread, .address = address};
    look_for_thread(thread, &search);
    if (search.number == 0) {
        return 0;
    }
    notes[0].text = mc_text("Address 0x%lx is on thread %u's stack", address, search.number);
    if (address >= search.stack_pointer) {
        return 1;
    }
    notes[1].text = mc_text("%s bytes below stack pointer", mc_number(search.stack_pointer - address));
    return 2;
}

/* ------------------------------------------------------------------------------------------------------ others */

static unsigned describe_variable(uint64_t address, const mapping_search *search, mc_note notes[]) {
    const char *module = search->path[0] != 0 ? search->path : search->before;
    sn_variable variable;
    if (module[0] != '/' || !sn_locate_variable(address, module, &variable)) {
        return 0;
    }
    notes[0].text = mc_text("Address 0x%lx is %s bytes inside data symbol \"%s\"", address, mc_number(address - variable.address),
                            variable.name);
    return 1;
}

static unsigned describe_mapping(uint64_t address, const mapping_search *search, mc_note notes[]) {
    int protection = search->found.protection;
    const char kind[] = {protection & PROT_READ ? 'r' : '-', protection & PROT_WRITE ? 'w' : '-', protection & PROT_EXEC ? 'x' : '-', 0};
    if (search->path[0] == '/') {
        notes[0].text = protection & PROT_EXEC ? mc_text("Address 0x%lx is in the Text segment of %s", address, search->path)
                                               : mc_text("Address 0x%lx is in a %s mapped file %s segment", address, kind, search->path);
    } else {
        notes[0].text = mc_text("Address 0x%lx is in a %s anonymous segment", address, kind);
    }
    return 1;
}

unsigned mc_describe_address(sn_thread *thread, uint64_t address, mc_note notes[MC_MOST_NOTES]) {
    const mc_block *block = mc_custom_around(address);
    if (mc_named_describe(address, notes)) {
        return 1;
    }
    if (block == NULL) {
        block = mc_block_around(address);
    }
    if (block != NULL) {
        return describe_block(block, address, notes);
    }
    mapping_search *search = calloc(1, sizeof *search);
    unsigned count = 0;
    if (search != NULL && !mc_is_heap(address)) {
        search->address = address;
        sn_memory_visit(look_for_mapping, search);
        if (search->found.start != 0) {
            search->found.path = search->path;
            count = describe_stack(thread, address, &search->found, notes);
            count = count != 0 ? count : describe_variable(address, search, notes);
            count = count != 0 ? count : describe_mapping(address, search, notes);
        }
    }
    free(search);
    if (count == 0) {
        notes[0].text = mc_text("Address 0x%lx is not stack'd, malloc'd or (recently) free'd", address);
        count = 1;
    }
    return count;
}
