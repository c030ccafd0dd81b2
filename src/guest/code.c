/**
 * @fileoverview Client code that changes: discarding blocks when mappings or bytes change, and noticing pages on which it
 * happens so often that watching them costs more than checking.
 */
#include <string.h>

#include "guest/dispatch.h"
#include "guest/space.h"
#include "guest/thread.h"
#include "jit/block.h"
#include "jit/layout.h"

/** After so many writes to a page that held translated code its blocks check themselves instead: a fault costs some 3
    microseconds, a check some nanoseconds each time the block runs. */
#define WRITES_UNTIL_HOT 16
#define PAGE_SLOTS 4096

/** Writes seen a page; a collision only makes a page hot a little earlier. */
static uint8_t writes[PAGE_SLOTS];

/** Whether a block on the page was seen to write to its own page: it may be rewriting what comes next in itself. */
static bool rewrites_itself[PAGE_SLOTS];

static unsigned slot_of(uint64_t address) {
    return (unsigned)((address / SN_PAGE_SIZE * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % PAGE_SLOTS;
}

bool sn_client_code_is_hot(uint64_t address) { return writes[slot_of(address)] >= WRITES_UNTIL_HOT; }

bool sn_client_code_rewrites_itself(uint64_t address) { return rewrites_itself[slot_of(address)]; }

static sn_module_listener *module_listener;

void sn_set_module_listener(sn_module_listener *listener) { module_listener = listener; }

void sn_client_code_used(uint64_t address) {
    sn_region region;
    if (module_listener && sn_space_find(address, &region) && region.path)
        module_listener(region.path, region.start, region.end, region.offset);
}

static unsigned discard(uint64_t start, uint64_t end) {
    sn_lock_acquire(&sn_jit_lock);
    unsigned discarded = sn_blocks_discard_range(start, end);
    sn_lock_release(&sn_jit_lock);
    return discarded;
}

void sn_code_discard(uint64_t start, uint64_t end) { discard(start, end); }

bool sn_code_written(uint64_t address, uint64_t cache, bool *inside) {
    if (!sn_space_unwatch(address)) return false;
    uint32_t block = cache ? sn_block_at_cache(cache) : 0;
    bool was_valid = block && sn_block_record_at(block)->valid;
    uint64_t page = address & ~(SN_PAGE_SIZE - 1);
    if (discard(page, page + SN_PAGE_SIZE) && writes[slot_of(page)] < WRITES_UNTIL_HOT) writes[slot_of(page)]++;
    *inside = was_valid && !sn_block_record_at(block)->valid;
    if (*inside) rewrites_itself[slot_of(page)] = true;
    return true;
}
