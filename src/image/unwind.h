/**
 * @fileoverview How to get from a function's frame to its caller's, as call frame information says.
 *
 * Read from .eh_frame (or .debug_frame) by libdw: DWARF 5, 6.4, and the System V ABI for x86-64, 3.6.2 and 3.7. Only two
 * registers are followed, which are enough for what compilers make: the stack pointer and the frame pointer. Used by symbols.c.
 */
#ifndef SONDE_IMAGE_UNWIND_H
#define SONDE_IMAGE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "image/elf_file.h"

/** DWARF's numbers of the registers of an architecture. */
typedef struct sn_unwind_registers {
    int stack, frame, return_address;
} sn_unwind_registers;

/** Where a value of the caller lies. */
typedef enum sn_unwind_place {
    SN_UNWIND_KEPT,     /**< where it was: the callee has not changed it */
    SN_UNWIND_AT_FRAME, /**< in memory, so far from the canonical frame address */
    SN_UNWIND_AT_STACK, /**< in memory, so far from the callee's stack pointer */
    SN_UNWIND_UNKNOWN,
} sn_unwind_place;

/**
 * At an address in a function. The canonical frame address, which is what the caller's stack pointer will be, is the stack
 * pointer (or the frame pointer, if `by_frame_pointer`) and `offset`, or, if `is_loaded`, what lies there.
 */
typedef struct sn_unwind_rule {
    bool by_frame_pointer, is_loaded;
    bool is_signal;      /**< the caller was interrupted, not calling */
    bool is_outermost;   /**< there is no caller */
    uint8_t return_place, frame_place; /**< sn_unwind_place, of the return address and the caller's frame pointer */
    int32_t offset, return_offset, frame_offset;
} sn_unwind_rule;

typedef struct sn_unwind_table sn_unwind_table;

/** `debug` may be NULL; both stay the caller's, and are needed as long as the table. NULL when memory is short. */
sn_unwind_table *sn_unwind_table_open(const sn_elf_file *file, const sn_elf_file *debug);
void sn_unwind_table_close(sn_unwind_table *table);

/** False where nothing is said, or something that needs more than the two registers. */
bool sn_unwind_table_find(sn_unwind_table *table, uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule);

#endif
