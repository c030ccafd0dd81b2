/**
 * @fileoverview Growth of vectors. See <sonde/vector.h>.
 */
#include "sonde/vector.h"

#include <stdint.h>

#include "base/log.h"

enum { FIRST_BYTES = 4096 };

void sn_vector_grow(void **items, size_t *room, size_t wanted, size_t element_size) {
    size_t new_room = *room ? *room * 2 : FIRST_BYTES / element_size;
    if (new_room < wanted)
        new_room = wanted;
    size_t bytes;
    if (__builtin_mul_overflow(new_room, element_size, &bytes))
        sn_fail(SN_STATUS_ENGINE, "out of memory: a table of %zu entries is too large", new_room);
    *items = *room ? sn_pages_resize(*items, *room * element_size, bytes) : sn_pages_allocate(bytes);
    *room = new_room;
}
