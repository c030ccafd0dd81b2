/**
 * @fileoverview See host_tls.h.
 */
#include "guest/host_tls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/libc_thread.h"
#include "base/log.h"

/** Words of the thread control block that are the same in all threads (glibc's tcbhead_t): itself twice, the stack guard
    and the pointer guard. */
enum { WORD_SELF = 0, WORD_THREAD = 2, WORD_STACK_GUARD = 5, WORD_POINTER_GUARD = 6 };
#define LARGEST_DESCRIPTOR 0x900

static void *(*allocate)(void *);
static void (*release)(void *, bool);
static void (*begin_locale)(void); /**< per-thread pointers to the character tables */
static size_t id_offset;

void *sn_host_tls_current(void) { return __builtin_thread_pointer(); }

/** Where libc's thread descriptor keeps the thread number: it differs between versions, so it is looked up. */
static size_t find_id_offset(void) {
    const char *self = sn_host_tls_current();
    int id = gettid();
    for (size_t offset = 64; offset < LARGEST_DESCRIPTOR; offset += 4)
        if (!memcmp(self + offset, &id, sizeof id)) return offset;
    sn_fail(SN_STATUS_ENGINE, "this C library's thread descriptor is not laid out as expected");
}

static void *nothing(void *argument) { return argument; }

void sn_host_tls_init(void) {
    *(void **)&allocate = dlsym(RTLD_DEFAULT, "_dl_allocate_tls");
    *(void **)&release = dlsym(RTLD_DEFAULT, "_dl_deallocate_tls");
    *(void **)&begin_locale = dlsym(RTLD_DEFAULT, "__ctype_init");
    if (!allocate || !release || !begin_locale)
        sn_fail(SN_STATUS_ENGINE, "this C library offers no _dl_allocate_tls; Sonde needs glibc");
    id_offset = find_id_offset();
}

/** libc takes short cuts in its locks until the first thread was made: make one. */
static void become_threaded(void) {
    static bool done;
    pthread_t thread;
    if (done) return;
    done = true;
    if (!sn_libc_thread_make(&thread, nothing, NULL)) pthread_join(thread, NULL);
}

void *sn_host_tls_new(void) {
    become_threaded();
    void *block = allocate(NULL);
    if (!block) return NULL;
    uintptr_t *words = block;
    const uintptr_t *own = sn_host_tls_current();
    words[WORD_SELF] = words[WORD_THREAD] = (uintptr_t)block;
    words[WORD_STACK_GUARD] = own[WORD_STACK_GUARD];
    words[WORD_POINTER_GUARD] = own[WORD_POINTER_GUARD];
    return block;
}

void sn_host_tls_begin(void) { begin_locale(); }

void sn_host_tls_free(void *block) {
    if (block) release(block, true);
}

void sn_host_tls_set_id(void *block, int id) { memcpy((char *)block + id_offset, &id, sizeof id); }
