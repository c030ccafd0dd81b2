/**
 * @fileoverview The client's first stack: arguments, environment and auxiliary vector, as the kernel lays them out.
 *
 * Called once by the loader, after the program and its linker are mapped.
 */
#ifndef SONDE_GUEST_INITIAL_STACK_H
#define SONDE_GUEST_INITIAL_STACK_H

#include "guest/loader.h"

typedef struct sn_stack_request {
    const char *const *arguments;
    const char *const *environment;
    const char *file;         /**< AT_EXECFN */
    uint64_t table_address;   /**< AT_PHDR */
    unsigned entry_count;     /**< AT_PHNUM */
    uint64_t linker_bias;     /**< AT_BASE: 0 without a linker */
    bool executable;          /**< PT_GNU_STACK asked for it */
} sn_stack_request;

/** Map the stack and fill it; sets stack_pointer, the argument and environment ranges and the auxiliary vector of
    `program` (whose program_entry is set). 0, -E2BIG or -ENOMEM. */
long sn_initial_stack_build(const sn_stack_request *request, sn_program *program);

#endif
