/**
 * @file sonde/shadow.h
 * Shadow values: what a tool keeps for every byte of the client's memory and registers, and how it follows the client's data.
 *
 * Shadow memory is one range of addresses as long as the client's windows ask for, of which only what was written takes memory.
 * Where the shadow of an address lies follows from the address by shifts and one addition: no table is walked, nothing is checked.
 */
#ifndef SONDE_SHADOW_H
#define SONDE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ------------------------------------------------------------- shadow memory */

/**
 * Shadow of the client's memory: `bits` bits for each byte. For fewer than 8 bits, the shadow of the byte with the lower address
 * lies in the lower bits. All of it is zero at first, and is zero again for memory that is unmapped (before the tool's
 * memory_unmapped callback); where mremap moves memory, its shadow moves too (before memory_moved). A forked child has a copy.
 *
 * Only the client's own memory has a shadow. There is none for the few pages that the kernel maps by itself (vdso).
 *
 * The members are for the functions below, and for a tool that makes the code for an access itself.
 */
typedef struct sn_shadow_memory {
    uint64_t base;     /**< the shadow of address A begins at ((A << left) >> right) + base, for 8 bits and more */
    uint8_t left;      /**< bits to shift left first */
    uint8_t right;     /**< and then right */
    uint8_t bits;      /**< for each byte: 1, 2, 4, 8, 16, 32 or 64 */
    uint8_t bits_log;  /**< 0 to 6 */
} sn_shadow_memory;

/**
 * From the start callback: a new shadow memory. The address space that it takes (memory is taken where it is written):
 * 1, 2, 4 bits: 1, 2, 4 TiB; 8 and 16 bits: 8 and 16 TiB; 32 and 64 bits: 32 TiB, and of the client's 8 TiB those from the
 * 256th GiB to the 4th TiB cannot be mapped with 64 bits. Ends the run with one line if it can't be had, or for another number of
 * bits. At most 4.
 */
const sn_shadow_memory *sn_shadow_memory_new(unsigned bits);

/**
 * In inserted code: the shadow of the `size` bytes (1, 2, 4, 8; any alignment) at `address`, zero-extended: size * bits are at
 * most 64. Before an instruction, when the address has no shadow (it is wild, or belongs to the kernel's pages), the instruction
 * runs without any of the code inserted for it, and faults or not as it would natively. After an instruction, the address must be
 * one that the instruction has accessed.
 */
sn_value sn_shadow_load(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size);

/**
 * In inserted code: set the shadow of `size` bytes. To be used after the instruction, or for an address that is known to be the
 * client's: of a wild address, something else would be overwritten. With fewer than 8 bits a byte it is a function that is called,
 * safe against other threads that write to the same byte of shadow.
 */
void sn_shadow_store(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size, sn_value value);

/** In inserted code: where the shadow of `address` lies; with fewer than 8 bits, the byte that holds it. To load from it before
    the instruction by sn_shadow_load_at(). */
sn_value sn_shadow_address(sn_block *block, const sn_shadow_memory *memory, sn_value address);

/** In inserted code: load `bytes` (1, 2, 4, 8) of shadow from where sn_shadow_address() says, plus `offset`; what is said of wild
    addresses at sn_shadow_load() holds. */
sn_value sn_shadow_load_at(sn_block *block, sn_value place, int32_t offset, unsigned bytes);

/* The functions below may be called from SN_FAST functions, and anywhere else. Addresses are the client's, in its windows
   (sn_shadow_covers()); sizes are in the client's bytes; values are those of one byte's shadow, in the lowest bits. */

/** Whether [address, address + size) lies where the client's memory can be, all in one of its windows. */
bool sn_shadow_covers(uint64_t address, uint64_t size);

/** Where the shadow of `address` begins; with fewer than 8 bits, the byte that holds it. */
static inline SN_FAST void *sn_shadow_at(const sn_shadow_memory *memory, uint64_t address) {
    return (void *)(((address << memory->left) >> memory->right) + memory->base);
}

/** The shadow of one byte. */
static inline SN_FAST uint64_t sn_shadow_get(const sn_shadow_memory *memory, uint64_t address) {
    const void *at = sn_shadow_at(memory, address);
    switch (memory->bits_log) {
    case 3: return *(const uint8_t *)at;
    case 4: return *(const uint16_t *)at;
    case 5: return *(const uint32_t *)at;
    case 6: return *(const uint64_t *)at;
    default: {
        unsigned shift = ((unsigned)address << memory->bits_log) & 7;
        return *(const uint8_t *)at >> shift & ((1u << memory->bits) - 1);
    }
    }
}

/** Give each of `size` bytes the shadow `value`. Large ranges of zero give the memory back. With fewer than 8 bits, safe against
    other threads that write the same byte of shadow. */
void sn_shadow_fill(const sn_shadow_memory *memory, uint64_t address, uint64_t size, uint64_t value);

/** Copy the shadow of `size` bytes; the ranges may overlap. */
void sn_shadow_copy(const sn_shadow_memory *memory, uint64_t to, uint64_t from, uint64_t size);

/** The first address in [address, end) whose shadow is not `value`; `end` if all are. */
uint64_t sn_shadow_find_other(const sn_shadow_memory *memory, uint64_t address, uint64_t end, uint64_t value);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
