/**
 * @fileoverview The extended state, see state.h.
 */
#include "state.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

enum {
    COMPONENT_X87 = 1,
    COMPONENT_SSE = 2,
    COMPONENT_AVX = 4,
    COMPONENT_MASKS = 0x20,
    COMPONENT_ZMM_HIGH = 0x40,
    COMPONENT_ZMM_UPPER = 0x80,
    COMPONENTS_COMPARED = 0xe7,

    CONTROL_WORD = 0,
    STATUS_WORD = 2,
    TAG_WORD = 4,
    LAST_INSTRUCTION = 6, /* its opcode in two bytes, its address in eight, its operand's address in eight */
    MXCSR = 24,
    X87_REGISTERS = 32,
    XMM_REGISTERS = 160,
    HEADER = 512,
};

/** Offset of a component of the standard form, from the processor's own table. */
static size_t component_offset(unsigned component) {
    static size_t offsets[8];
    if (!offsets[component]) {
        unsigned size, offset, c, d;
        __cpuid_count(13, component, size, offset, c, d);
        offsets[component] = offset;
    }
    return offsets[component];
}

uint32_t sn_state_components(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low & COMPONENTS_COMPARED;
}

static void put16(uint8_t *image, size_t offset, unsigned value) {
    image[offset] = (uint8_t)value;
    image[offset + 1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *image, size_t offset, uint32_t value) {
    put16(image, offset, value & 0xffff);
    put16(image, offset + 2, value >> 16);
}

void sn_state_clean(uint8_t *image, uint32_t components) {
    uint64_t present = components;
    memset(image, 0, HEADER + 64);
    sn_state_fill_absent(image, components);
    put32(image, MXCSR, 0x1f80);
    memcpy(image + HEADER, &present, sizeof present);
}

void sn_state_fill_absent(uint8_t *image, uint64_t absent) {
    static const struct {
        uint32_t component;
        unsigned number;
        size_t size;
    } extended[] = {{COMPONENT_AVX, 2, 256}, {COMPONENT_MASKS, 5, 64}, {COMPONENT_ZMM_HIGH, 6, 512},
                    {COMPONENT_ZMM_UPPER, 7, 1024}};
    if (absent & COMPONENT_X87) {
        memset(image, 0, MXCSR);
        memset(image + X87_REGISTERS, 0, 128);
        put16(image, CONTROL_WORD, 0x37f);
    }
    if (absent & COMPONENT_SSE)
        memset(image + XMM_REGISTERS, 0, 256);
    for (unsigned i = 0; i < sizeof extended / sizeof *extended; i++) {
        if (absent & extended[i].component)
            memset(image + component_offset(extended[i].number), 0, extended[i].size);
    }
}

/** An extended-precision number: mostly normal and near one, sometimes any bits. */
static void put_extended_number(uint8_t *image, size_t offset, sn_random *random) {
    uint64_t significand = sn_random_value(random);
    unsigned exponent = (unsigned)sn_random_below(random, 0x10000);
    if (!sn_random_percent(random, 25)) {
        significand |= UINT64_C(1) << 63;
        exponent = (exponent & 0x8000) | (16383 - 20 + sn_random_below(random, 40));
    }
    memcpy(image + offset, &significand, 8);
    put16(image, offset + 8, exponent);
}

static void random_x87(uint8_t *image, sn_random *random) {
    static const unsigned precisions[] = {0, 2, 3, 3, 3, 3};
    unsigned masks = sn_random_percent(random, 95) ? 0x3f : (unsigned)sn_random_below(random, 64);
    unsigned control = 0x40 | masks | precisions[sn_random_below(random, 6)] << 8 | sn_random_below(random, 4) << 10;
    unsigned status = (unsigned)sn_random_next(random) & 0x477f; /* condition codes and sticky flags */
    status |= sn_random_below(random, 8) << 11;                  /* top of stack */
    if (status & ~control & 0x3f)
        status &= ~0x3fu; /* no exception pending at the start */
    put16(image, CONTROL_WORD, control);
    put16(image, STATUS_WORD, status);
    image[TAG_WORD] = sn_random_percent(random, 50) ? (uint8_t)sn_random_next(random) : (uint8_t)(0xffu >> sn_random_below(random, 8));
    for (unsigned i = 0; i < 8; i++)
        put_extended_number(image, X87_REGISTERS + 16 * i, random);
}

static uint32_t random_mxcsr(sn_random *random) {
    uint32_t masks = sn_random_percent(random, 95) ? 0x1f80 : sn_random_below(random, 64) << 7;
    uint32_t control = sn_random_below(random, 4) << 13;
    control |= sn_random_percent(random, 10) ? 0x8000 : 0; /* flush to zero */
    control |= sn_random_percent(random, 10) ? 0x40 : 0;   /* denormals are zero */
    return masks | control | sn_random_below(random, 64);
}

void sn_state_random(uint8_t *image, uint32_t components, sn_random *random) {
    sn_state_clean(image, components);
    random_x87(image, random);
    put32(image, MXCSR, random_mxcsr(random));
    sn_random_fill(random, image + XMM_REGISTERS, 256);
    if (components & COMPONENT_AVX)
        sn_random_fill(random, image + component_offset(2), 256);
    if (components & COMPONENT_MASKS)
        sn_random_fill(random, image + component_offset(5), 64);
    if (components & COMPONENT_ZMM_HIGH)
        sn_random_fill(random, image + component_offset(6), 512);
    if (components & COMPONENT_ZMM_UPPER)
        sn_random_fill(random, image + component_offset(7), 1024);
}

void sn_state_normalise(uint8_t *image) {
    memset(image + LAST_INSTRUCTION, 0, 18); /* the code cache's own; an operand out of reach changes the opcode */
    memset(image + MXCSR + 4, 0, 4); /* the mask of valid bits, which xsave writes and a frame may not */
    memset(image + HEADER, 0, 64);
    for (unsigned i = 0; i < 8; i++)
        memset(image + X87_REGISTERS + 16 * i + 10, 0, 6);
}

bool sn_state_part(unsigned group, unsigned part, uint32_t components, size_t *offset, size_t *size) {
    static const struct {
        unsigned group;
        uint32_t component;
        unsigned number; /* 0: in the legacy area, at `offset` */
        size_t offset, size;
    } parts[] = {
        {SN_STATE_X87, COMPONENT_X87, 0, 0, MXCSR},
        {SN_STATE_X87, COMPONENT_X87, 0, X87_REGISTERS, 128},
        {SN_STATE_VECTOR, COMPONENT_SSE, 0, MXCSR, 8},
        {SN_STATE_VECTOR, COMPONENT_SSE, 0, XMM_REGISTERS, 256},
        {SN_STATE_VECTOR, COMPONENT_AVX, 2, 0, 256},
        {SN_STATE_VECTOR, COMPONENT_MASKS, 5, 0, 64},
        {SN_STATE_VECTOR, COMPONENT_ZMM_HIGH, 6, 0, 512},
        {SN_STATE_VECTOR, COMPONENT_ZMM_UPPER, 7, 0, 1024},
    };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].group != group || !(components & parts[i].component) || part-- != 0)
            continue;
        *offset = parts[i].number ? component_offset(parts[i].number) : parts[i].offset;
        *size = parts[i].size;
        return true;
    }
    return false;
}

enum { FIELD_X87 = SN_FIELD_X87, FIELD_VECTOR = SN_FIELD_VECTOR, FIELD_MASK = SN_FIELD_MASK, FIELDS = SN_FIELDS };

size_t sn_state_offset(unsigned field, unsigned byte) {
    if (field >= FIELD_MASK)
        return component_offset(5) + 8 * (field - FIELD_MASK) + byte;
    if (field < FIELD_VECTOR)
        return X87_REGISTERS + 16 * (field - FIELD_X87) + byte;
    unsigned number = field - FIELD_VECTOR;
    if (number >= 16)
        return component_offset(7) + 64 * (number - 16) + byte;
    if (byte < 16)
        return XMM_REGISTERS + 16 * number + byte;
    return byte < 32 ? component_offset(2) + 16 * number + byte - 16 : component_offset(6) + 32 * number + byte - 32;
}

const char *sn_state_field(unsigned index, uint32_t components) {
    static const char *const controls[] = {"x87 control", "x87 status", "x87 tags", "mxcsr"};
    static char name[16];
    if (index < FIELD_X87)
        return controls[index];
    if (index >= FIELDS || (index >= FIELD_MASK && !(components & COMPONENT_MASKS)))
        return NULL;
    if (index >= FIELD_MASK)
        snprintf(name, sizeof name, "k%u", index - FIELD_MASK);
    else if (index >= FIELD_VECTOR)
        snprintf(name, sizeof name, "vector %u", index - FIELD_VECTOR);
    else
        snprintf(name, sizeof name, "st%u", index - FIELD_X87);
    return name;
}

static void gather_vector(unsigned number, const uint8_t *image, uint8_t *value) {
    uint32_t components = sn_state_components();
    memset(value, 0, 64);
    if (number >= 16) {
        if (components & COMPONENT_ZMM_UPPER)
            memcpy(value, image + component_offset(7) + 64 * (number - 16), 64);
        return;
    }
    memcpy(value, image + XMM_REGISTERS + 16 * number, 16);
    if (components & COMPONENT_AVX)
        memcpy(value + 16, image + component_offset(2) + 16 * number, 16);
    if (components & COMPONENT_ZMM_HIGH)
        memcpy(value + 32, image + component_offset(6) + 32 * number, 32);
}

static void reverse(uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t swapped = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = swapped;
    }
}

size_t sn_state_field_value(unsigned index, const uint8_t *image, uint8_t *value) {
    static const struct {
        size_t offset, size;
    } controls[] = {{CONTROL_WORD, 2}, {STATUS_WORD, 2}, {TAG_WORD, 2}, {MXCSR, 4}};
    size_t size;
    if (index < FIELD_X87) {
        size = controls[index].size;
        memcpy(value, image + controls[index].offset, size);
    } else if (index < FIELD_VECTOR) {
        size = 10;
        memcpy(value, image + X87_REGISTERS + 16 * (index - FIELD_X87), size);
    } else if (index < FIELD_MASK) {
        size = 64;
        gather_vector(index - FIELD_VECTOR, image, value);
    } else {
        size = 8;
        memcpy(value, image + component_offset(5) + 8 * (index - FIELD_MASK), size);
    }
    reverse(value, size);
    return size;
}
