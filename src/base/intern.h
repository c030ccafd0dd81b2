/**
 * @fileoverview Strings kept once, for the life of the process: equal text, equal pointer. Thread-safe; no malloc.
 */
#ifndef SONDE_BASE_INTERN_H
#define SONDE_BASE_INTERN_H

#include <stddef.h>

/** The one copy of `text`. */
const char *sn_intern(const char *text);

/** The one copy of the string of `size` bytes at `text`, which holds no zero byte. */
const char *sn_intern_bytes(const char *text, size_t size);

/** For fork: nobody else may hold the lock while the process is copied; the child unlocks too. */
void sn_intern_lock(void);
void sn_intern_unlock(void);

#endif
