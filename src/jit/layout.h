/**
 * @fileoverview The address-space layout: constants only.
 *
 * Low window      [SN_LOW_START, SN_LOW_END)    client code: program, libraries, JIT code; and the code cache.
 * Indirect table  [.., SN_TABLE_END)            one 8-byte entry for each byte of the low window.
 * Another one     [.., + SN_TABLE_DISTANCE)     the same for version 1 of the code, where there are two (versions.h).
 * Data window     [SN_DATA_START, SN_DATA_END)  everything else that the client maps.
 *
 * The data window starts at 16 TiB for one reason: an indirect branch is `jmp [target*8 + table]` without a
 * check, and 8 * (any address from 16 TiB up) is not canonical, so that a branch out of the low window faults on
 * the jump itself and the engine recognises it. It begins 2 GiB further up so that the low 43 bits of an address tell
 * where it lies: wide shadows (service/shadow_memory.c) need one range of 8 TiB for both windows.
 */
#ifndef SONDE_JIT_LAYOUT_H
#define SONDE_JIT_LAYOUT_H

#include <stdint.h>

#define SN_PAGE_SIZE UINT64_C(4096)

#define SN_LOW_START UINT64_C(0x10000)
#define SN_LOW_END UINT64_C(0x7f000000)

/** Where the engine places position-independent client code, bottom up. */
#define SN_CODE_START UINT64_C(0x10000000)
#define SN_CODE_END UINT64_C(0x5f000000)

/** The code cache, inside the low window so that RIP-relative operands reach. */
#define SN_CACHE_START UINT64_C(0x60000000)
#define SN_CACHE_END SN_LOW_END

/** Address of the (virtual) entry for address 0; the entry of address A is at SN_TABLE_BASE + 8 * A. */
#define SN_TABLE_BASE UINT64_C(0x7f000000)
#define SN_TABLE_END (SN_TABLE_BASE + 8 * SN_LOW_END)

/** What indirect branches of version 1 add to their target, so that they find the entries of their own table, which follows
    the first one: 8 times as many bytes lie between an entry and that of the other version. */
#define SN_TABLE_DISTANCE SN_LOW_END

#define SN_DATA_START UINT64_C(0x100080000000)
#define SN_DATA_END UINT64_C(0x180000000000)

/** The program break: a range of its own inside the data window. */
#define SN_BREAK_START (SN_DATA_START + UINT64_C(0x10000000))
#define SN_BREAK_END (SN_DATA_START + UINT64_C(0x4010000000))

/** The main thread's stack ends here. */
#define SN_STACK_END (SN_DATA_END - UINT64_C(0x1000000))

static inline int sn_in_low_window(uint64_t address) {
    return address - SN_LOW_START < SN_LOW_END - SN_LOW_START;
}
static inline int sn_in_data_window(uint64_t address) {
    return address - SN_DATA_START < SN_DATA_END - SN_DATA_START;
}
static inline int sn_in_window(uint64_t address) {
    return sn_in_low_window(address) || sn_in_data_window(address);
}

#endif
