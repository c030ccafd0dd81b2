/**
 * @fileoverview What the tool `count` counts: the numbers of one thread, or of the whole run.
 *
 * Shared by all files of the tool; owns the list of access sizes.
 */
#ifndef SONDE_TOOLS_COUNT_TALLY_H
#define SONDE_TOOLS_COUNT_TALLY_H

#include <stdint.h>

/** Memory accesses are sorted by these sizes in bytes; what has another size, or one that varies, is in the last. */
enum {
    COUNT_SIZE_1,
    COUNT_SIZE_2,
    COUNT_SIZE_4,
    COUNT_SIZE_8,
    COUNT_SIZE_10,
    COUNT_SIZE_16,
    COUNT_SIZE_32,
    COUNT_SIZE_64,
    COUNT_SIZE_OTHER,
    COUNT_SIZES
};

/** Every member is a uint64_t, so that tallies are added member by member in a loop. */
typedef struct count_tally {
    uint64_t instructions;      /**< each iteration of a repeated string instruction counts as one */
    uint64_t string_iterations; /**< those iterations alone */
    uint64_t basic_blocks;      /**< runs of instructions up to a branch, call, return or system call */
    uint64_t taken;             /**< conditional branches */
    uint64_t not_taken;
    uint64_t calls;             /**< direct */
    uint64_t indirect_calls;
    uint64_t loads[COUNT_SIZES];
    uint64_t stores[COUNT_SIZES];
} count_tally;

/** Name of a size class: "1", "2", ..., "other". */
extern const char *const count_size_names[COUNT_SIZES];

/** Class of an access of `size` bytes. */
unsigned count_size_class(uint32_t size);

void count_tally_add(count_tally *sum, const count_tally *part);

/** All sizes together. */
uint64_t count_all_sizes(const uint64_t accesses[COUNT_SIZES]);

#endif
