/**
 * @fileoverview The code cache and the ways into it: memory for blocks, the table of indirect targets, the copied
 * runtime code, the table of system calls that the engine carries out.
 *
 * Owns the cache's address range and the indirect table. Writers hold sn_jit_lock; readers are emitted code.
 */
#ifndef SONDE_JIT_CACHE_H
#define SONDE_JIT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reserve the ranges and copy the runtime code. Ends the run with one line when the address space is taken. */
void sn_cache_init(void);

/** Room for the next block: its first byte; *room bytes are free. */
uint8_t *sn_cache_cursor(size_t *room);
/** The block ends before `end`. */
void sn_cache_commit(const uint8_t *end);
/** Whether the cache is so full that it should be emptied before the next translation. */
bool sn_cache_full(void);
/** Whether there is room for one more block, be it so full. */
bool sn_cache_has_room(void);
/** Empty it: no thread may be in it or come back to it. */
void sn_cache_clear(void);
bool sn_in_cache(uint64_t address);
size_t sn_cache_used(void);

/** Where a label of x86_64/switch.S (between sn_runtime_start and sn_runtime_end) was copied to. */
uint64_t sn_runtime_address(const void *label);
bool sn_in_runtime(uint64_t address);

/** Make the table of indirect targets for version 1 of the code (versions.h). Ends the run with one line when there is no room. */
void sn_indirect_second_table(void);
/* `version`: of the code that branches, and that is led to. */
/** A block with its indirect entry at `start` exists for `client`: indirect branches go straight to it. */
void sn_indirect_publish(unsigned version, uint64_t client, uint64_t start);
/** The block is gone. */
void sn_indirect_forget(unsigned version, uint64_t client, uint64_t start);
/** `client` will be the target of a return, of either version: make the tables say "no block yet" instead of faulting. */
void sn_indirect_expect(uint64_t client);
/** Returns to `client` arrive at `landing`, also after a block for `client` is published. */
void sn_indirect_land(unsigned version, uint64_t client, uint64_t landing);
/** The same as publish, for the general lookup. */
void sn_general_publish(unsigned version, uint64_t client, uint64_t start);
/** The general lookup's table. */
uint64_t sn_general_table(unsigned version);
/** After the cache was emptied. */
void sn_indirect_clear(void);

/** Whether the engine carries out a system call itself (one byte a number, read by emitted code). */
void sn_emulate_syscall(unsigned number, bool emulate);
/** The engine carries out all of them from now on. */
void sn_emulate_all_syscalls(void);
/** Its address, below 4 GiB. */
uint64_t sn_syscall_table_address(void);
#define SN_SYSCALL_TABLE_SIZE 65536

/** Let the patchable jump whose displacement is at `site` lead to `target`. */
void sn_patch_site(uint64_t site, uint64_t target);
/** Turn the indirect jump at `site` (found by a fault on it) into a jump to the general lookup, by way of a stub that
    leaves the site's address in the thread's branch_site. `version`: of its block. */
void sn_patch_indirect(uint64_t site, unsigned version);

#endif
