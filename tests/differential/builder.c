/**
 * @fileoverview The growing block, see builder.h.
 */
#include "builder.h"

#include <string.h>
#include <sys/time.h>

#include "layout.h"

enum { LONGEST_RUN_SECONDS = 2 };

sn_mark sn_builder_mark(const sn_builder *builder) {
    return (sn_mark){builder->block.length, builder->block.group_count, builder->open_count};
}

void sn_builder_back(sn_builder *builder, sn_mark mark) {
    builder->block.length = mark.length;
    builder->block.group_count = mark.groups;
    builder->open_count = mark.open_count;
}

static void add(sn_builder *builder, const void *bytes, unsigned size, bool data) {
    sn_test_block *block = &builder->block;
    block->groups[block->group_count] = (uint16_t)block->length;
    block->data[block->group_count++] = data;
    memcpy(block->code + block->length, bytes, size);
    block->length += size;
}

void sn_builder_add(sn_builder *builder, const void *bytes, unsigned size) {
    add(builder, bytes, size, false);
}

void sn_builder_data(sn_builder *builder, const void *bytes, unsigned size) {
    add(builder, bytes, size, true);
}

uint64_t sn_builder_here(const sn_builder *builder) {
    return builder->block.start.entry + builder->block.length;
}

bool sn_builder_full(const sn_builder *builder) {
    return builder->block.length > SN_BUILD_BYTES || builder->block.group_count > SN_BUILD_GROUPS;
}

void sn_builder_load(sn_builder *builder, unsigned reg, uint64_t value) {
    uint8_t code[10];
    unsigned prefix = 0x40 | (reg >> 3), size = 8, length = 0;
    if (value <= UINT32_MAX && sn_random_percent(&builder->random, 60)) {
        size = 4;
    } else if ((uint64_t)(int64_t)(int32_t)value == value) {
        code[length++] = (uint8_t)(prefix | 8);
        code[length++] = 0xc7;
        code[length++] = (uint8_t)(0xc0 | (reg & 7));
        memcpy(code + length, &value, 4);
        sn_builder_add(builder, code, length + 4);
        return;
    }
    if (size == 8)
        prefix |= 8;
    if (prefix != 0x40)
        code[length++] = (uint8_t)prefix;
    code[length++] = (uint8_t)(0xb8 | (reg & 7));
    memcpy(code + length, &value, size);
    sn_builder_add(builder, code, length + size);
}

void sn_builder_store(sn_builder *builder, uint64_t address, unsigned size, uint32_t value) {
    uint8_t code[16];
    unsigned length = 0;
    if (size == 2)
        code[length++] = 0x66;
    if (size == 8)
        code[length++] = 0x48;
    code[length++] = 0xc7;
    code[length++] = 0x04;
    code[length++] = 0x25;
    memcpy(code + length, &address, 4);
    memcpy(code + length + 4, &value, size == 2 ? 2 : 4);
    sn_builder_add(builder, code, length + (size == 2 ? 6 : 8));
}

bool sn_builder_open(sn_builder *builder, unsigned displacement_at, unsigned size) {
    if (builder->open_count == SN_OPEN_BRANCHES)
        return false;
    builder->open[builder->open_count++] = (sn_open_branch){(uint16_t)displacement_at, (uint8_t)size};
    return true;
}

bool sn_builder_close(sn_builder *builder, unsigned index, unsigned target) {
    const sn_open_branch *branch = &builder->open[index];
    uint8_t *field = builder->block.code + branch->displacement_at;
    int32_t distance = (int32_t)target - (int32_t)(branch->displacement_at + branch->size);
    uint64_t absolute = builder->block.start.entry + target;
    if (branch->size == 1 && (distance < -128 || distance > 127))
        return false;
    if (branch->size == 8)
        memcpy(field, &absolute, 8);
    else
        memcpy(field, &distance, branch->size);
    return true;
}

/** The jump to the gate, with its address behind it where a displacement would not reach. */
static unsigned encode_end(const sn_builder *builder, unsigned offset, uint8_t *code) {
    uint64_t gate = SN_GATE;
    int32_t distance = (int32_t)(gate - (builder->block.start.entry + offset + 5));
    if (!builder->high) {
        code[0] = 0xe9;
        memcpy(code + 1, &distance, 4);
        return 5;
    }
    code[0] = 0xff;
    code[1] = 0x25;
    memset(code + 2, 0, 4);
    memcpy(code + 6, &gate, 8);
    return 14;
}

int sn_builder_run(sn_builder *builder) {
    static const struct itimerval limit = {.it_value.tv_sec = LONGEST_RUN_SECONDS}, off = {0};
    sn_test_block *block = &builder->block;
    encode_end(builder, block->length, block->code + block->length);
    for (unsigned i = 0; i < builder->open_count; i++) {
        if (!sn_builder_close(builder, i, block->length))
            return -1;
    }
    memcpy(builder->writable, block->code, block->length + 14);
    if (builder->depth)
        setitimer(ITIMER_REAL, &limit, NULL);
    sn_executor_run();
    if (builder->depth)
        setitimer(ITIMER_REAL, &off, NULL);
    if (!sn_executor_finish.signal)
        memcpy(builder->registers, sn_executor_finish.registers, sizeof builder->registers);
    return sn_executor_finish.signal;
}

void sn_builder_finish(sn_builder *builder) {
    uint8_t code[16];
    unsigned length = encode_end(builder, builder->block.length, code);
    sn_builder_add(builder, code, length > 6 ? 6 : length);
    if (length > 6)
        sn_builder_data(builder, code + 6, 8);
}
