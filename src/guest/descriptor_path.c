/**
 * @fileoverview The paths of descriptors: see descriptor_path.h.
 */
#include "guest/descriptor_path.h"

#include <limits.h>
#include <sys/syscall.h>

#include "sonde/intern.h"
#include "base/text.h"
#include "base/x86_64/raw_syscall.h"

void sn_descriptor_link(int descriptor, char *buffer, size_t size) {
    sn_text text = sn_text_in(buffer, size);
    /* The thread's own table: it may have been unshared. */
    sn_text_add(&text, "/proc/thread-self/fd/");
    sn_text_add_decimal(&text, (uint64_t)descriptor, 0);
}

size_t sn_descriptor_path(int descriptor, char *buffer, size_t size) {
    char link[64];
    sn_descriptor_link(descriptor, link, sizeof link);
    long length = sn_syscall(SYS_readlink, link, buffer, size - 1);
    if (length <= 0) {
        length = 0;
    }
    buffer[length] = '\0';
    return (size_t)length;
}

const char *sn_descriptor_path_interned(int descriptor) {
    char path[PATH_MAX];
    size_t length = sn_descriptor_path(descriptor, path, sizeof path);
    return length ? sn_intern_bytes(path, length) : NULL;
}
