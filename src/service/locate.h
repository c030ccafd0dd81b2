/**
 * @fileoverview From a client address to function, source line and module: sn_locate() of sonde/tool.h.
 *
 * Owns the list of modules that ever held code, so that code of a library that was unloaded still has a name, and the
 * open images (src/image), one a file, never closed: the strings given out live to the end of the run.
 * The engine notes modules; tools ask.
 */
#ifndef SONDE_SERVICE_LOCATE_H
#define SONDE_SERVICE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/symbols.h"

/** Listen to the engine for modules; once, before the client starts. */
void sn_locate_init(void);

/** [start, end) of the client has become an executable mapping of `path` from `offset` on. To be called when such a
    mapping appears, by mmap or by mprotect; again for the same is harmless. The file is not read yet. */
void sn_locate_note_module(const char *path, uint64_t start, uint64_t end, uint64_t offset);

/** A function's code in the client, as its symbol says. */
typedef struct sn_function_range {
    uint64_t start, end;
    bool is_stub;    /**< of the linker: leads to a function of another module */
    bool is_a_piece; /**< of another function: the compiler put its rarely executed part apart */
} sn_function_range;

/** The function around `address`; false if none is known. Reads symbols, no debug information. */
bool sn_locate_function(uint64_t address, sn_function_range *function);

/** How to get from a frame at `address` to its caller's (image/unwind.h); false where its module does not say. */
bool sn_locate_unwinding(uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule);

/** A mapping of a file's code. */
typedef struct sn_located_code {
    const char *path;
    uint64_t start, end, offset;
} sn_located_code;

/** Whom to tell, too, of each mapping of code of which a page is about to be used for the first time; once, before the client
    starts. Called under sn_jit_lock. */
void sn_locate_follow(void (*follow)(const char *path, uint64_t start, uint64_t end, uint64_t offset));

/** Visit the names of the functions in a mapping, with their addresses in the client. *soname is set before: NULL if it has
    none. */
void sn_locate_functions(const sn_located_code *code, const char **soname, sn_function_visitor *visit, void *data);

/** For fork: nobody else may hold the lock while the process is copied; the child unlocks too. */
void sn_locate_lock(void);
void sn_locate_unlock(void);

#endif
