/**
 * @fileoverview Reading the tables of a trace file. See memtrace_code.h.
 */
#include "report/memtrace_code.h"

#include <string.h>

#include "sonde/intern.h"

enum { LONGEST_NAME = 1 << 16 };

typedef struct cursor {
    const uint8_t *at, *end;
    bool is_bad;
} cursor;

/** A number of at most `most`; 0 when there is none. */
static uint64_t number(cursor *from, uint64_t most) {
    uint64_t value = 0;
    if (!from->is_bad && memtrace_get(&from->at, from->end, &value) && value <= most)
        return value;
    from->is_bad = true;
    return 0;
}

static const char *text(cursor *from) {
    size_t length = number(from, LONGEST_NAME);
    if (from->is_bad || (size_t)(from->end - from->at) < length || memchr(from->at, 0, length)) {
        from->is_bad = true;
        return "";
    }
    const char *interned = sn_intern_bytes((const char *)from->at, length);
    from->at += length;
    return interned;
}

static const char *name(cursor *from, sn_memtrace_program *program) {
    uint64_t which = number(from, program->names.count + 1);
    if (!which)
        return NULL;
    if (which > program->names.count) {
        const char *added = text(from);
        *sn_vector_add(&program->names) = added;
    }
    return program->names.items[which - 1];
}

bool sn_memtrace_take_process(sn_memtrace_program *program, const uint8_t *payload, size_t size) {
    cursor from = {payload, payload + size, false};
    program->process.flags = (uint32_t)number(&from, UINT32_MAX);
    for (uint64_t count = number(&from, UINT32_MAX); count && !from.is_bad; count--) {
        const char *argument = text(&from);
        *sn_vector_add(&program->process.arguments) = argument;
    }
    return !from.is_bad && from.at == from.end;
}

static sn_memtrace_site *site(cursor *from, sn_memtrace_program *program, uint64_t previous, sn_arena *arena) {
    sn_memtrace_site *site = sn_arena_allocate(arena, sizeof *site);
    site->address = previous + memtrace_unzigzag(number(from, UINT64_MAX));
    site->kind = (uint8_t)number(from, MEMTRACE_KINDS - 1);
    site->size = (uint32_t)number(from, UINT32_MAX);
    site->module = name(from, program);
    site->offset = number(from, UINT64_MAX);
    site->function = name(from, program);
    site->file = name(from, program);
    site->line = (uint32_t)number(from, UINT32_MAX);
    if (site->kind == MEMTRACE_SYSTEM) {
        site->system_number = number(from, UINT64_MAX);
        site->system_call = name(from, program);
    }
    return site;
}

/** A site that a block refers to, which must be of the kind that `allowed` has a bit for. */
static uint32_t site_number(cursor *from, const sn_memtrace_program *program, unsigned allowed) {
    uint32_t which = (uint32_t)number(from, UINT32_MAX);
    if (from->is_bad || which >= program->sites.count || !(allowed >> program->sites.items[which]->kind & 1))
        from->is_bad = true;
    return which;
}

enum {
    AT_POSITIONS = 1 << MEMTRACE_LOAD | 1 << MEMTRACE_STORE | 1 << MEMTRACE_MODIFY,
    WITH_ROWS = 1 << MEMTRACE_VARYING | 1 << MEMTRACE_SYSTEM,
};

#define READ_STEPS(list, limit, allowed)                                       \
    ({                                                                         \
        uint16_t count = (uint16_t)number(from, limit);                        \
        for (unsigned i = 0; i < count && !from->is_bad; i++) {                \
            sn_memtrace_step step;                                             \
            step.site = site_number(from, program, allowed);                   \
            step.instruction = (uint8_t)number(from, MEMTRACE_MOST_INSTRUCTIONS); \
            *sn_vector_add(list) = step;                                       \
        }                                                                      \
        count;                                                                 \
    })

static void block(cursor *from, sn_memtrace_program *program) {
    sn_memtrace_block block = {(uint32_t)program->positions.count, (uint32_t)program->varying.count,
                               (uint32_t)program->fetches.count, 0, 0, 0};
    block.position_count = READ_STEPS(&program->positions, MEMTRACE_MOST_POSITIONS, AT_POSITIONS);
    block.varying_count = READ_STEPS(&program->varying, MEMTRACE_MOST_INSTRUCTIONS, WITH_ROWS);
    block.instruction_count = (uint16_t)number(from, MEMTRACE_MOST_INSTRUCTIONS);
    for (unsigned i = 0; i < block.instruction_count && !from->is_bad; i++) {
        uint32_t fetched = site_number(from, program, 1 << MEMTRACE_FETCH);
        *sn_vector_add(&program->fetches) = fetched;
    }
    if (!from->is_bad)
        *sn_vector_add(&program->blocks) = block;
}

bool sn_memtrace_take_code(sn_memtrace_program *program, const uint8_t *payload, size_t size, sn_arena *arena,
                           uint32_t *site_total) {
    cursor from = {payload, payload + size, false};
    uint64_t previous = 0;
    for (uint64_t count = number(&from, UINT32_MAX); count && !from.is_bad; count--) {
        sn_memtrace_site *added = site(&from, program, previous, arena);
        if (from.is_bad)
            break;
        added->number = (*site_total)++;
        previous = added->address;
        *sn_vector_add(&program->sites) = added;
    }
    for (uint64_t count = number(&from, UINT32_MAX); count && !from.is_bad; count--)
        block(&from, program);
    return !from.is_bad && from.at == from.end && program->blocks.count <= MEMTRACE_MOST_BLOCKS;
}

void sn_memtrace_program_release(sn_memtrace_program *program) {
    sn_vector_release(&program->process.arguments);
    sn_vector_release(&program->names);
    sn_vector_release(&program->sites);
    sn_vector_release(&program->blocks);
    sn_vector_release(&program->positions);
    sn_vector_release(&program->varying);
    sn_vector_release(&program->fetches);
}
