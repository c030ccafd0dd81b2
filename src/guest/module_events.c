/**
 * @fileoverview Modules that come and go: see module_events.h.
 */
#include "guest/module_events.h"

#include <string.h>
#include <sys/mman.h>

#include "sonde/vector.h"
#include "guest/events.h"
#include "guest/loader.h"
#include "guest/thread.h"
#include "image/elf_header.h"
#include "jit/layout.h"
#include "jit/runtime.h"

enum { MOST_SEGMENTS = 16 };

typedef struct segment {
    uint64_t start;              /**< in the client, of a page */
    uint64_t zero_start, end;    /**< pages that hold nothing of the file */
    uint64_t offset;
    int protection;
} segment;

typedef struct module {
    const char *path;            /**< interned */
    uint64_t start, end;
    uint64_t code;               /**< a page that is there as long as the module is */
    bool told;
    unsigned count;
    segment segments[MOST_SEGMENTS];
} module;

/** Those that were told, and those of which not everything is mapped yet. */
static SN_VECTOR(module) modules;

static uint64_t page_up(uint64_t size) { return (size + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1); }
static uint64_t page_down(uint64_t address) { return address & ~(SN_PAGE_SIZE - 1); }

static void add_segment(module *found, const sn_elf_segment *header, uint64_t bias) {
    if (found->count == MOST_SEGMENTS || !header->memory_size) return;
    uint64_t address = header->address + bias;
    segment *new = &found->segments[found->count++];
    *new = (segment){.start = page_down(address),
                     .zero_start = header->file_size ? page_up(address + header->file_size) : page_down(address),
                     .end = page_up(address + header->memory_size),
                     .offset = page_down(header->offset),
                     .protection = header->protection};
    if (header->protection & PROT_EXEC && !found->code) found->code = new->start;
}

/** Read the headers of what is mapped at `start`; false if that is no program. The structure is large. */
static bool read_headers(sn_elf *elf, uint64_t start) {
    char header[SN_ELF_HEADER_SIZE], entries[64 * SN_ELF_ENTRY_SIZE];
    if (!sn_copy_safely(header, (const void *)start, sizeof header)) return false;
    if (sn_elf_read_header(elf, header, sizeof header) != SN_ELF_OK) return false;
    size_t size = (size_t)elf->entry_count * SN_ELF_ENTRY_SIZE;
    if (size > sizeof entries || !sn_copy_safely(entries, (const void *)(start + elf->table_offset), size)) return false;
    return sn_elf_read_segments(elf, entries, size, UINT64_MAX) == SN_ELF_OK;
}

static const sn_elf_segment *first_of_file(const sn_elf *elf) {
    for (unsigned i = 0; i < elf->segment_count; i++)
        if (page_down(elf->segments[i].offset) == 0) return &elf->segments[i];
    return NULL;
}

void sn_module_events_mapped(const sn_region *region) {
    sn_elf elf;
    if (!region->path || region->path[0] == '[' || region->offset || region->flags & MAP_SHARED ||
        !(region->protection & PROT_READ) || !read_headers(&elf, region->start))
        return;
    const sn_elf_segment *first = first_of_file(&elf);
    if (!first) return;
    uint64_t bias = region->start - page_down(first->address);
    for (size_t i = 0; i < modules.count; i++)
        if (!modules.items[i].told && modules.items[i].start == elf.low + bias) return;
    module *found = sn_vector_add(&modules);
    found->path = region->path;
    found->start = elf.low + bias;
    found->end = elf.high + bias;
    for (unsigned i = 0; i < elf.segment_count; i++) add_segment(found, &elf.segments[i], bias);
    if (!found->code) found->code = region->start;
}

static bool segment_is_mapped(const module *owner, const segment *wanted) {
    sn_region region;
    if (wanted->zero_start > wanted->start) {
        if (!sn_space_find(wanted->start, &region) || region.path != owner->path ||
            region.protection != wanted->protection || region.offset + wanted->start - region.start != wanted->offset)
            return false;
    }
    return wanted->zero_start >= wanted->end ||
           (sn_space_find(wanted->zero_start, &region) && !region.path && region.protection & PROT_WRITE);
}

static bool is_complete(const module *found) {
    for (unsigned i = 0; i < found->count; i++)
        if (!segment_is_mapped(found, &found->segments[i])) return false;
    return found->count > 0;
}

static void look_for_news(void) {
    const sn_tool *tool = sn_current_tool();
    for (size_t i = 0; i < modules.count; i++) {
        if (modules.items[i].told || !is_complete(&modules.items[i])) continue;
        modules.items[i].told = true;
        module found = modules.items[i];
        if (tool->module_mapped) SN_TELL_TOOL("module_mapped", tool->module_mapped(found.path, found.start, found.end));
    }
}

/** Gone: what was told and has lost its code; what was not told and has lost its beginning. */
static void look_for_losses(void) {
    const sn_tool *tool = sn_current_tool();
    for (size_t i = 0; i < modules.count;) {
        module old = modules.items[i];
        sn_region region;
        if (sn_space_find(old.told ? old.code : old.start, &region) && region.path == old.path) {
            i++;
            continue;
        }
        sn_vector_remove(&modules, i, 1);
        if (old.told && tool->module_unmapped) SN_TELL_TOOL("module_unmapped", tool->module_unmapped(old.path, old.start, old.end));
    }
}

void sn_module_events_changed(void) {
    look_for_losses();
    look_for_news();
}

static void widen(const sn_region *region, void *data) {
    module *program = data;
    if (!region->path || strcmp(region->path, program->path)) return;
    if (!program->end) program->start = region->start;
    program->end = region->end;
    if (region->protection & PROT_EXEC && !program->code) program->code = region->start;
    program->path = region->path;
}

void sn_module_events_program(void) {
    module program = {.path = sn_program_current.path, .told = true};
    for (size_t i = 0; i < modules.count; i++)
        if (modules.items[i].told && !strcmp(modules.items[i].path, program.path)) return;
    sn_space_visit(widen, &program);
    if (!program.end) return;
    if (!program.code) program.code = program.start;
    *sn_vector_add(&modules) = program;
    if (sn_current_tool()->module_mapped) sn_current_tool()->module_mapped(program.path, program.start, program.end);
}
