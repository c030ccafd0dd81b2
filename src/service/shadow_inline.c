/**
 * @fileoverview Shadow memory in inserted code: see <sonde/shadow.h>.
 */
#include "base/log.h"
#include "jit/insert.h"
#include "jit/layout.h"
#include "service/shadow.h"

static sn_value number(sn_block *block, uint64_t value) { return sn_constant(block, value); }

static sn_value shifted(sn_block *block, sn_operator how, sn_value value, unsigned bits) {
    return bits ? sn_compute(block, how, value, number(block, bits)) : value;
}

sn_value sn_shadow_address(sn_block *block, const sn_shadow_memory *memory, sn_value address) {
    sn_value place = shifted(block, SN_SHIFT_LEFT, address, memory->left);
    place = shifted(block, SN_SHIFT_RIGHT, place, memory->right);
    return sn_compute(block, SN_ADD, place, number(block, memory->base));
}

sn_value sn_shadow_load_at(sn_block *block, sn_value place, int32_t offset, unsigned bytes) {
    return sn_load_bravely(block, place, offset, bytes);
}

static void check_size(const sn_shadow_memory *memory, unsigned size) {
    if (!size || size > 8 || size & (size - 1) || size * memory->bits > 64)
        sn_fail(SN_STATUS_ENGINE, "the tool asks for the shadow, %u bits a byte, of %u bytes at once", memory->bits, size);
}

/** A function in the place of code. */
static sn_value call(sn_block *block, void *function, const sn_shadow_memory *memory, sn_value address, unsigned size, sn_value value,
                     unsigned count) {
    sn_value arguments[4] = {number(block, (uint64_t)(uintptr_t)memory), address, number(block, size), value};
    return sn_call_fast(block, function, count, arguments);
}

/** Bits of shadow that need not begin at a byte of it: at most 32. */
static sn_value load_bits(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size) {
    sn_value place = sn_shadow_address(block, memory, address);
    unsigned wanted = size << memory->bits_log, reach = (wanted + 14) / 8;
    unsigned first = reach > 4 ? 8 : reach > 2 ? 4 : reach > 1 ? 2 : 1;
    sn_value shift = shifted(block, SN_SHIFT_LEFT, address, memory->bits_log);
    shift = sn_compute(block, SN_AND, shift, number(block, 7));
    sn_value result = sn_compute(block, SN_SHIFT_RIGHT, sn_load_bravely(block, place, 0, first), shift);
    return sn_compute(block, SN_AND, result, number(block, (UINT64_C(1) << wanted) - 1));
}

sn_value sn_shadow_load(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size) {
    check_size(memory, size);
    bool by_kernel = !sn_in_window(sn_block_address(block)); /* its code looks at pages of its own */
    if (by_kernel) return call(block, (void *)sn_shadow_load_anywhere, memory, address, size, 0, 3);
    if (memory->bits < 8) return load_bits(block, memory, address, size);
    return sn_load_bravely(block, sn_shadow_address(block, memory, address), 0, size << (memory->bits_log - 3));
}

void sn_shadow_store(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size, sn_value value) {
    check_size(memory, size);
    if (memory->bits < 8) call(block, (void *)sn_shadow_store_bits, memory, address, size, value, 4);
    else sn_store_bravely(block, sn_shadow_address(block, memory, address), 0, value, size << (memory->bits_log - 3));
}
