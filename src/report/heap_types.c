/**
 * @fileoverview Types of blocks. See heap_types.h.
 */
#include "report/heap_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "base/log.h"
#include "report/heap_records.h"

enum { NAME_SIZE = 1024 };

/** Behind the two words of a vtable to which no object points: the offset to the object's top, and its type information. */
enum { VTABLE_HEAD = 16 };

typedef struct module {
    sn_data_image *image;
    bool is_opened;
    uint64_t bias;      /**< address in the process less that in the file */
    uint64_t low, high; /**< in the process */
} module;

struct sn_heapfile_types {
    const sn_heapfile *file;
    module *modules; /**< as many as the file has */
};

sn_heapfile_types *sn_heapfile_types_new(const sn_heapfile *file) {
    sn_heapfile_types *types = calloc(1, sizeof *types);
    module *modules = calloc(file->modules.count + 1, sizeof *modules);
    if (types == NULL || modules == NULL)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    *types = (sn_heapfile_types){file, modules};
    return types;
}

void sn_heapfile_types_free(sn_heapfile_types *types) {
    for (size_t i = 0; i < types->file->modules.count; i++)
        sn_data_image_close(types->modules[i].image);
    free(types->modules);
    free(types);
}

/** The module, with its file opened; NULL if that cannot be read. */
static module *open_module(sn_heapfile_types *types, size_t number) {
    module *module = &types->modules[number];
    const sn_heapfile_module *stated = &types->file->modules.items[number];
    if (!module->is_opened) {
        uint64_t low, high;
        module->is_opened = true;
        module->image = sn_data_image_open(stated->path);
        if (module->image != NULL && sn_data_image_span(module->image, &low, &high)) {
            module->bias = stated->address - low;
            module->low = stated->address;
            module->high = stated->address + (high - low);
        }
    }
    return module->image != NULL ? module : NULL;
}

/** The variable at an address of the process. */
static module *find_object(sn_heapfile_types *types, uint64_t address, sn_data_object *object) {
    for (size_t i = 0; i < types->file->modules.count; i++) {
        module *module = address >= types->file->modules.items[i].address ? open_module(types, i) : NULL;
        if (module != NULL && address >= module->low && address < module->high &&
            sn_data_image_object(module->image, address - module->bias, object)) {
            object->address += module->bias;
            return module;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------- types */

static sn_heapfile_typed type_by_vtable(sn_heapfile_types *types, uint64_t head) {
    static const char mark[] = "vtable for ";
    sn_data_object object;
    module *module = head == 0 ? NULL : find_object(types, head, &object);
    if (module == NULL || strncmp(object.name, mark, sizeof mark - 1) != 0 || head - object.address < VTABLE_HEAD)
        return (sn_heapfile_typed){0};
    const char *name = object.name + sizeof mark - 1;
    for (size_t i = 0; i < types->file->modules.count; i++) { /* its definition may be in another file than its vtable */
        struct module *other = open_module(types, i);
        const sn_data_type *type = other == NULL ? NULL : sn_data_image_type(other->image, name);
        if (type != NULL)
            return (sn_heapfile_typed){other->image, type, false};
    }
    return (sn_heapfile_typed){0};
}

/** "f (a.c:12)" -> the file and the line. */
static bool place_of(const char *frame, char *file, size_t size, unsigned *line) {
    const char *open = strrchr(frame, '('), *colon = strrchr(frame, ':');
    if (open == NULL || colon == NULL || colon < open || (size_t)(colon - open) > size)
        return false;
    snprintf(file, size, "%.*s", (int)(colon - open - 1), open + 1);
    *line = (unsigned)strtoul(colon + 1, NULL, 10);
    return *line > 0;
}

static sn_heapfile_typed type_by_line(sn_heapfile_types *types, const sn_heapfile_block *block) {
    sn_heapfile_stacks stacks = {.max_frames = 1, .ignores_allocators = true};
    char file[NAME_SIZE];
    unsigned line;
    uint32_t number = sn_heapfile_stack_of(&stacks, types->file, block->trace);
    const sn_heapfile_stack *stack = &stacks.items.items[number];
    bool has_place = stack->count > 0 && place_of(stacks.frames.items[stack->first], file, sizeof file, &line);
    sn_heapfile_stacks_release(&stacks);
    for (size_t i = 0; i < types->file->modules.count && has_place; i++) {
        module *module = open_module(types, i);
        const sn_data_type *type =
            module == NULL ? NULL : sn_data_image_type_at_line(module->image, file, line, block->requested);
        if (type != NULL)
            return (sn_heapfile_typed){module->image, type, true};
    }
    return (sn_heapfile_typed){0};
}

sn_heapfile_typed sn_heapfile_type_of(sn_heapfile_types *types, uint32_t number, uint64_t head) {
    const sn_heapfile_block *block = &types->file->blocks.items[number];
    sn_heapfile_typed typed = type_by_vtable(types, head);
    return typed.type != NULL || block->trace == SN_HEAPFILE_NONE ? typed : type_by_line(types, block);
}

bool sn_heapfile_member(const sn_heapfile_typed *typed, uint64_t offset, char *text, size_t size) {
    char member[NAME_SIZE];
    if (typed->type == NULL || !sn_data_image_member(typed->image, typed->type, offset, member, sizeof member))
        return false;
    snprintf(text, size, "%s%s%s", typed->type->name, member[0] == '[' ? "" : "::", member);
    return true;
}

/* -------------------------------------------------------------------------------- roots */

static const char *variable_at(sn_heapfile_types *types, uint64_t address) {
    sn_data_object object;
    char text[NAME_SIZE];
    if (find_object(types, address, &object) == NULL)
        return NULL;
    if (address == object.address)
        return object.name;
    snprintf(text, sizeof text, "%s+%" PRIu64, object.name, address - object.address);
    return sn_intern(text);
}

void sn_heapfile_name_roots(sn_heapfile_types *types, sn_heapfile *file) {
    for (size_t i = 0; i < file->roots.count; i++) {
        sn_heapfile_root *root = &file->roots.items[i];
        if (root->name == NULL && root->address != 0 && strcmp(root->kind, "global") == 0)
            root->name = variable_at(types, root->address);
    }
}
