/**
 * @fileoverview Accesses to blocks. See accesses.h.
 */
#include "accesses.h"

#include <sonde/shadow.h>
#include <sys/mman.h>

#include "settings.h"

enum {
    GRANULE = 8,        /**< bytes: what allocators align blocks to, at least */
    BITS = 32 / GRANULE /**< of shadow for a byte: a number for each granule */
};

/** What was done to a block, by the number of its record. */
typedef struct use {
    uint64_t read, written; /**< bytes */
} use;

static const sn_shadow_memory *owners;
static use *uses;

void heap_accesses_init(void) {
    if (!heap_current.accesses) {
        return;
    }
    owners = sn_shadow_memory_new(BITS);
    uses = mmap(NULL, sizeof *uses << 32, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (uses == MAP_FAILED) {
        sn_fail(125, "heap: no address space: see vm.overcommit_memory");
    }
}

/* ---------------------------------------------------------------------------------------- in the code cache */

SN_FAST static void add_to(uint64_t *sum, uint64_t amount) {
    if (heap_is_shared) {
        __atomic_fetch_add(sum, amount, __ATOMIC_RELAXED);
    } else {
        *sum += amount;
    }
}

/** An access to the block with this number; for inserted code, too. */
SN_FAST static void count(sn_thread *thread, uint64_t number, uint64_t size, uint64_t role) {
    if (sn_heap_is_allocating(thread)) {
        return;
    }
    if (role & SN_ROLE_READ) {
        add_to(&uses[number].read, size);
    }
    if (role & SN_ROLE_WRITTEN) {
        add_to(&uses[number].written, size);
    }
}

/** Of a block that begins and ends anywhere in a granule, the granule is. */
SN_FAST static void own(const sn_heap_block *block, uint32_t number) {
    uint32_t *owner = sn_shadow_at(owners, block->address & ~(uint64_t)(GRANULE - 1));
    const uint32_t *end = sn_shadow_at(owners, (block->address + block->requested + GRANULE - 1) & ~(uint64_t)(GRANULE - 1));
    for (; owner < end; owner++) {
        __atomic_store_n(owner, number, __ATOMIC_RELAXED);
    }
}

SN_FAST void heap_accesses_begin(const sn_heap_block *block) {
    if (owners == NULL) {
        return;
    }
    uint32_t number = sn_heap_number(block);
    uses[number].read = uses[number].written = 0;
    own(block, number);
}

/** One more block of a cell, of which that much was read and written. */
SN_FAST static void add_use(heap_uses *sum, const use *of) {
    add_to(&sum->read, of->read);
    add_to(&sum->written, of->written);
    add_to(&sum->never_read, of->read == 0);
    add_to(&sum->never_used, of->read == 0 && of->written == 0);
}

SN_FAST void heap_accesses_end(const sn_heap_block *block, heap_cell *cell) {
    if (owners == NULL) {
        return;
    }
    own(block, 0);
    add_use(&cell->uses, &uses[sn_heap_number(block)]);
}

/* ------------------------------------------------------------------------------------------------ in the engine */

static uint32_t owner_of(uint64_t address) {
    return sn_shadow_covers(address, 1) ? *(const uint32_t *)sn_shadow_at(owners, address & ~(uint64_t)(GRANULE - 1)) : 0;
}

static void count_varying(sn_thread *thread, const sn_access *accesses, size_t number_of, void *data) {
    (void)data;
    for (size_t i = 0; i < number_of; i++) {
        uint32_t number = owner_of(accesses[i].address);
        if (number != 0) {
            count(thread, number, accesses[i].size, accesses[i].role);
        }
    }
}

static void count_operand(sn_block *block, unsigned number, const sn_operand *operand) {
    sn_value address = sn_operand_address(block, number);
    sn_value granule = sn_compute(block, SN_AND, address, sn_constant(block, ~(uint64_t)(GRANULE - 1)));
    sn_value owner = sn_shadow_load_at(block, sn_shadow_address(block, owners, granule), 0, sizeof(uint32_t));
    sn_label is_elsewhere = sn_label_new(block);
    sn_branch_if(block, SN_EQUAL, owner, sn_constant(block, 0), is_elsewhere);
    sn_value arguments[] = {sn_current_thread(block), owner, sn_constant(block, operand->size), sn_constant(block, operand->role)};
    sn_call_fast(block, (void *)count, 4, arguments);
    sn_label_here(block, is_elsewhere);
}

void heap_accesses_instrument(sn_block *block) {
    for (unsigned i = 0; owners != NULL && i < sn_block_size(block); i++) {
        if (sn_block_instruction(block, i)->accesses_vary) {
            sn_insert_accesses(block, i, count_varying, NULL);
            continue;
        }
        unsigned number_of;
        const sn_operand *operands = sn_block_operands(block, i, &number_of);
        sn_insert_before(block, i);
        for (unsigned number = 0; number < number_of; number++) {
            if (operands[number].place == SN_PLACE_MEMORY && (operands[number].role & SN_ROLE_BOTH) != 0) {
                count_operand(block, number, &operands[number]);
            }
        }
    }
}

/** A buffer may be part of one block only: it is the first one's. */
static void count_ranges(sn_thread *thread, const sn_system_call *call, unsigned role) {
    for (size_t i = 0; owners != NULL && i < call->range_count; i++) {
        const sn_system_range *range = &call->ranges[i];
        uint32_t number = range->size != 0 && range->role == role ? owner_of(range->start) : 0;
        if (number != 0) {
            count(thread, number, range->size, role);
        }
    }
}

void heap_accesses_system_call_begins(sn_thread *thread, const sn_system_call *call) {
    count_ranges(thread, call, SN_ROLE_READ);
}

void heap_accesses_system_call_ends(sn_thread *thread, const sn_system_call *call) {
    count_ranges(thread, call, SN_ROLE_WRITTEN);
}

static void add_live(sn_heap_block *block, void *data) {
    (void)data;
    add_use(&heap_cell_at((uint32_t)block->word)->now, &uses[sn_heap_number(block)]);
}

void heap_accesses_of_live(void) {
    if (owners == NULL) {
        return;
    }
    for (uint32_t number = 1; number <= heap_cell_count(); number++) {
        heap_cell_at(number)->now = (heap_uses){0};
    }
    sn_heap_visit(add_live, NULL);
}
