/**
 * @fileoverview The client's address space: which mapping is where, with the protection that the client asked for.
 *
 * Owns the list of the client's mappings. All mapping system calls of the client end here (guest/syscall.c), the loader
 * places the program here, the translator asks what is executable, /proc/self/maps is printed from here.
 * The client's executable pages are mapped without execute permission on the host: a wild jump out of the code cache
 * faults instead of running unseen. Pages that hold translated code and are writable for the client are write-protected
 * on the host (sn_space_watch_code).
 * All functions take the space's own lock; none may be called from a signal handler unless said so.
 */
#ifndef SONDE_GUEST_SPACE_H
#define SONDE_GUEST_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jit/client_code.h"

typedef enum sn_region_kind {
    SN_REGION_PLAIN,
    SN_REGION_STACK,  /**< main thread's stack */
    SN_REGION_BREAK,  /**< program break ("[heap]") */
    SN_REGION_VDSO,   /**< kernel's own code page, outside the window */
} sn_region_kind;

typedef struct sn_region {
    uint64_t start, end;
    int protection;    /**< PROT_* as the client sees it */
    int flags;         /**< MAP_SHARED, MAP_ANONYMOUS, MAP_GROWSDOWN, ... as asked for */
    sn_region_kind kind;
    uint64_t offset;   /**< in the file */
    dev_t device;      /**< 0 for anonymous memory */
    ino_t inode;
    const char *path;  /**< absolute, interned for the life of the process; NULL for anonymous memory */
} sn_region;

/** Reserve the low window's indirect table and code cache ranges are not this file's: the translator does it. Called
    once before the loader. */
void sn_space_init(void);

/** How often memory of the client went, or may have become unreadable. Any thread may look, without the lock. */
extern const uint64_t *const sn_space_losses;

/** Copy out the region that holds `address`. */
bool sn_space_find(uint64_t address, sn_region *region);

/** Visit all regions in address order, under the lock: `visit` must not call back. */
void sn_space_visit(void (*visit)(const sn_region *region, void *data), void *data);

/** The same for the regions that touch [start, end). */
void sn_space_visit_within(uint64_t start, uint64_t end, void (*visit)(const sn_region *region, void *data), void *data);

/** The mapping system calls with the kernel's meaning and results (-errno). */
long sn_space_mmap(uint64_t address, uint64_t length, int protection, int flags, int descriptor, uint64_t offset);
long sn_space_munmap(uint64_t address, uint64_t length);
long sn_space_mprotect(uint64_t address, uint64_t length, int protection);
long sn_space_mremap(uint64_t old_address, uint64_t old_length, uint64_t new_length, int flags, uint64_t new_address);
long sn_space_remap_pages(uint64_t address, uint64_t length, int protection, uint64_t page, int flags);
long sn_space_break(uint64_t address);
long sn_space_shmat(int identifier, uint64_t address, int flags);
long sn_space_shmdt(uint64_t address);

/** A host write fault at `address`: if the page is watched, gives it back its write permission, and returns true (the
    caller then discards the page's blocks and lets the write run again). Callable from the fault handler: takes the lock,
    which is never held while client memory is touched. */
bool sn_space_unwatch(uint64_t address);

/** Take all watches off (before a system call that writes to client memory is tried again). Returns whether there were
    any. */
bool sn_space_unwatch_all(void);

/** The client's limits RLIMIT_AS and RLIMIT_DATA, which the space applies as the kernel would; UINT64_MAX: none. */
void sn_space_set_limits(uint64_t address_space, uint64_t data);

/** After fork in the child: reset the lock. */
void sn_space_after_fork(void);
void sn_space_lock(void);   /**< for fork: nobody else may hold the lock while the process is copied */
void sn_space_unlock(void);

#endif
