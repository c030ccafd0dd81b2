/**
 * @fileoverview The client's registers out of the image that the exit from the code cache saved (jit/x86_64/switch.S).
 *
 * The image is in the compacted format and leaves out what is in its initial state: zero, for everything that is wanted
 * here. Tiles are no part of it, since the engine does not touch them: they are still in their registers.
 */
#include "guest/x86_64/state.h"

#include <cpuid.h>
#include <string.h>

#include "jit/runtime.h"

/** Components of the processor state (Intel SDM volume 1, 13.1). */
enum { FLOATING, VECTOR_LOW, VECTOR_MIDDLE, MASK = 5, VECTOR_HIGH, VECTOR_UPPER_HALF, TILE_CONFIGURATION = 17 };
/** In the image. */
enum { STATUS_WORD = 2, FLOATING_REGISTERS = 32, VECTOR_REGISTERS = 160, HEADER = 512 };

#define FLAG_DIRECTION 0x400u

typedef struct sn_image {
    const uint8_t *bytes;
    uint64_t present; /**< components that are not in their initial state */
    uint64_t room;    /**< components that the layout counts with */
} sn_image;

static bool has(const sn_image *image, unsigned component) { return image->present >> component & 1; }

static const uint8_t *place_of(const sn_image *image, unsigned component) {
    return image->bytes + sn_state_compacted_offset(image->room, component);
}

/** One part of the first 16 vector registers: `size` bytes of each, one behind the other in the image. */
static void copy_parts(const uint8_t *from, bool present, uint8_t (*to)[64], unsigned offset, unsigned size) {
    for (unsigned i = 0; i < 16; i++) {
        if (present)
            memcpy(to[i] + offset, from + size * i, size);
        else
            memset(to[i] + offset, 0, size);
    }
}

static void copy_vectors(const sn_image *image, sn_state_copy *copy) {
    copy_parts(image->bytes + VECTOR_REGISTERS, has(image, VECTOR_LOW), copy->vector, 0, 16);
    copy_parts(place_of(image, VECTOR_MIDDLE), has(image, VECTOR_MIDDLE), copy->vector, 16, 16);
    copy_parts(place_of(image, VECTOR_HIGH), has(image, VECTOR_HIGH), copy->vector, 32, 32);
    if (has(image, VECTOR_UPPER_HALF))
        memcpy(copy->vector[16], place_of(image, VECTOR_UPPER_HALF), 16 * 64);
    else
        memset(copy->vector[16], 0, 16 * 64);
}

/** The image has the floating-point registers in the order of their stack; short vectors have fixed places in it. */
static void copy_short_vectors(const sn_image *image, sn_state_copy *copy) {
    memset(copy->short_vector, 0, sizeof copy->short_vector);
    if (!has(image, FLOATING)) return;
    uint16_t status;
    memcpy(&status, image->bytes + STATUS_WORD, sizeof status);
    unsigned top = status >> 11 & 7;
    for (unsigned i = 0; i < 8; i++)
        memcpy(&copy->short_vector[i], image->bytes + FLOATING_REGISTERS + 16 * ((i - top) & 7), 8);
}

static uint64_t read_control(uint32_t number) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(number));
    return (uint64_t)high << 32 | low;
}

/** Whether the processor says which components are in use: without, all are taken to be. Both answers stay the same. */
static bool tells_use(void) {
    enum { STATE_LEAF = 13, TELLS_USE = 4, UNKNOWN = 0, YES, NO };
    static uint8_t known;
    if (__atomic_load_n(&known, __ATOMIC_RELAXED) == UNKNOWN) {
        unsigned a, b, c, d;
        __cpuid_count(STATE_LEAF, 1, a, b, c, d);
        __atomic_store_n(&known, a & TELLS_USE ? YES : NO, __ATOMIC_RELAXED);
    }
    return known == YES;
}

void sn_state_for_accesses(const sn_thread *thread, sn_state_copy *copy, sn_access_state *state) {
    sn_image image = {.bytes = thread->save_area};
    memcpy(&image.present, image.bytes + HEADER, 8);
    memcpy(&image.room, image.bytes + HEADER + 8, 8);
    copy_vectors(&image, copy);
    copy_short_vectors(&image, copy);
    memset(copy->mask, 0, sizeof copy->mask);
    if (has(&image, MASK)) memcpy(copy->mask, place_of(&image, MASK), sizeof copy->mask);
    uint64_t enabled = read_control(0);
    uint64_t used = tells_use() ? read_control(1) : enabled;
    bool tiles = (enabled & used) >> TILE_CONFIGURATION & 1;
    if (tiles) __asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x49, 0x07" : : "D"(copy->tiles) : "memory"); /* sttilecfg */
    *state = (sn_access_state){
        .general = thread->general,
        .vector = (const uint8_t(*)[64])copy->vector,
        .mask = copy->mask,
        .short_vector = copy->short_vector,
        .tiles = tiles ? copy->tiles : NULL,
        .bases = {0, thread->client_base, thread->client_base2},
        .backwards = thread->flags & FLAG_DIRECTION,
        .enabled_state = enabled,
        .in_use = (image.present & thread->save_mask) | (used & ~thread->save_mask),
        .copy = sn_copy_safely,
    };
}
