/**
 * @file sonde/vector.h
 * Growable arrays of any type, on pages of their own: no malloc, no lock.
 *
 *     SN_VECTOR(uint64_t) addresses = {0};
 *     *sn_vector_add(&addresses) = 5;
 *     for (size_t i = 0; i < addresses.count; i++) use(addresses.items[i]);
 *     sn_vector_release(&addresses);
 *
 * A vector of all zero bytes is valid and empty; a struct that holds SN_VECTOR members may be copied as a whole, after
 * which only one copy may be used. Elements are zero when added. Growth moves elements: keep indexes, not pointers.
 * Memory grows by doubling, by moving page tables rather than bytes. Meant for few and large arrays: each takes whole
 * pages. No memory ends the run with one line. Who shares a vector must lock it. Adding is not for SN_FAST functions.
 */
#ifndef SONDE_VECTOR_H
#define SONDE_VECTOR_H

#include <stddef.h>
#include <string.h>

#include <sonde/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The type of a vector of such elements. */
#define SN_VECTOR(type) \
    struct {            \
        type *items;    \
        size_t count;   \
        size_t room;    \
    }

#pragma GCC visibility push(default)

/** Make room for `wanted` elements altogether. Used by the macros below. */
void sn_vector_grow(void **items, size_t *room, size_t wanted, size_t element_size);

#pragma GCC visibility pop

/** Room for at least `wanted` elements, so that adding up to there moves nothing. */
#define sn_vector_reserve(vector, wanted)                                                             \
    do {                                                                                              \
        if ((vector)->room < (wanted)) {                                                              \
            void *sn_vector_moved = (vector)->items;                                                  \
            sn_vector_grow(&sn_vector_moved, &(vector)->room, (wanted), sizeof *(vector)->items);     \
            (vector)->items = (__typeof__((vector)->items))sn_vector_moved;                                                  \
        }                                                                                             \
    } while (0)

/** Pointer to a new zeroed element at the end. */
#define sn_vector_add(vector)                                                    \
    ({                                                                           \
        __typeof__(vector) sn_vector_self = (vector);                            \
        sn_vector_reserve(sn_vector_self, sn_vector_self->count + 1);            \
        __typeof__(sn_vector_self->items) sn_vector_new =                        \
            sn_vector_self->items + sn_vector_self->count++;                     \
        memset(sn_vector_new, 0, sizeof *sn_vector_new);                         \
        sn_vector_new;                                                           \
    })

/** Let there be at least `wanted` elements: new ones are zero. */
#define sn_vector_extend(vector, wanted)                                                              \
    do {                                                                                              \
        __typeof__(vector) sn_vector_self = (vector);                                                 \
        size_t sn_vector_end = (wanted);                                                              \
        if (sn_vector_self->count < sn_vector_end) {                                                  \
            sn_vector_reserve(sn_vector_self, sn_vector_end);                                         \
            memset(sn_vector_self->items + sn_vector_self->count, 0,                                  \
                   (sn_vector_end - sn_vector_self->count) * sizeof *sn_vector_self->items);          \
            sn_vector_self->count = sn_vector_end;                                                    \
        }                                                                                             \
    } while (0)

/** Pointer to a new zeroed element before the one at `position` (at most count). */
#define sn_vector_insert(vector, position)                                       \
    ({                                                                           \
        __typeof__(vector) sn_vector_into = (vector);                            \
        size_t sn_vector_at = (position);                                        \
        sn_vector_reserve(sn_vector_into, sn_vector_into->count + 1);            \
        __typeof__(sn_vector_into->items) sn_vector_hole =                       \
            sn_vector_into->items + sn_vector_at;                                \
        memmove(sn_vector_hole + 1, sn_vector_hole,                              \
                (sn_vector_into->count++ - sn_vector_at) * sizeof *sn_vector_hole); \
        memset(sn_vector_hole, 0, sizeof *sn_vector_hole);                       \
        sn_vector_hole;                                                          \
    })

/** Remove `how_many` elements from `position` on; those behind move up. */
#define sn_vector_remove(vector, position, how_many)                             \
    do {                                                                         \
        __typeof__(vector) sn_vector_self = (vector);                            \
        size_t sn_vector_at = (position), sn_vector_gone = (how_many);           \
        memmove(sn_vector_self->items + sn_vector_at,                            \
                sn_vector_self->items + sn_vector_at + sn_vector_gone,           \
                (sn_vector_self->count - sn_vector_at - sn_vector_gone) * sizeof *sn_vector_self->items); \
        sn_vector_self->count -= sn_vector_gone;                                 \
    } while (0)

/** Forget the elements, keep the memory. */
#define sn_vector_clear(vector) ((void)((vector)->count = 0))

/** Give the memory back; the vector is empty. */
#define sn_vector_release(vector)                                                        \
    do {                                                                                 \
        __typeof__(vector) sn_vector_self = (vector);                                    \
        if (sn_vector_self->room)                                                        \
            sn_pages_release(sn_vector_self->items,                                      \
                             sn_vector_self->room * sizeof *sn_vector_self->items);      \
        memset(sn_vector_self, 0, sizeof *sn_vector_self);                               \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
