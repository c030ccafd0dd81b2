/**
 * @fileoverview Which file's code was where, also when it is there no more.
 *
 * Profiles count by address, and addresses are named at the end. So code of one file does not go where that of another one
 * was while there is room elsewhere; code of the same file goes back where it was. placement.c asks, space_map.c tells; the
 * address space's lock is held.
 */
#ifndef SONDE_GUEST_FORMER_CODE_H
#define SONDE_GUEST_FORMER_CODE_H

#include <stdbool.h>
#include <stdint.h>

/** A file, by what the kernel tells it by. */
typedef struct sn_file_identity {
    uint64_t device, inode; /**< inode 0: no file */
} sn_file_identity;

/** Code of `file` is now in [start, end). Of very many the oldest are forgotten. */
void sn_former_code_note(uint64_t start, uint64_t end, sn_file_identity file);

/** Where exactly `length` bytes of `file` begun before, the latest such place; 0: nowhere. It need not be free. */
uint64_t sn_former_code_place(uint64_t length, sn_file_identity file);

/** If code of another file was in [start, end): the end of what is in the way; else 0. */
uint64_t sn_former_code_obstacle(uint64_t start, uint64_t end, sn_file_identity file);

#endif
