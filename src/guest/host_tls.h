/**
 * @fileoverview Thread-local storage of the engine's own libc for threads that the client makes.
 *
 * Client threads are made by clone with the client's flags, not by pthread_create, so that the kernel's side of them is
 * exactly what the client asked for. Engine and tool code nevertheless runs on them with the whole of libc, which needs a
 * thread block: it is taken from the dynamic linker (_dl_allocate_tls, as libc itself does).
 */
#ifndef SONDE_GUEST_HOST_TLS_H
#define SONDE_GUEST_HOST_TLS_H

#include <stdint.h>

/** In the first thread, before any other: learn the layout; tell libc that there may be several threads. */
void sn_host_tls_init(void);
/** A new block; NULL when memory is short. Its address is the thread pointer. */
void *sn_host_tls_new(void);
void sn_host_tls_free(void *block);
/** In a new thread, on its block: what libc does at the start of a thread of its own. */
void sn_host_tls_begin(void);
/** Set the thread number that libc's locks compare. */
void sn_host_tls_set_id(void *block, int id);
/** Thread pointer of the calling (libc) thread. */
void *sn_host_tls_current(void);

#endif
