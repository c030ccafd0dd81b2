/**
 * @file sonde/intern.h
 * Strings kept once, for the life of the process: equal text, equal pointer, so that strings can be parts of keys.
 *
 * Thread-safe; no malloc. Not for SN_FAST functions.
 */
#ifndef SONDE_INTERN_H
#define SONDE_INTERN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The one copy of `text`. No memory ends the run with one line. */
const char *sn_intern(const char *text);

/** The one copy of the string of `size` bytes at `text`, which holds no zero byte. */
const char *sn_intern_bytes(const char *text, size_t size);

#pragma GCC visibility pop

/** For Sonde's fork, not for tools: nobody else may hold the lock while the process is copied; the child unlocks too. */
void sn_intern_lock(void);
void sn_intern_unlock(void);

#ifdef __cplusplus
}
#endif

#endif
