/**
 * @fileoverview Modules by address, images by file. See locate.h.
 *
 * The lock is held while files are read: who asks at the same time waits. It may be taken with none of the address
 * space's locks held.
 */
#include "service/locate.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sonde/arena.h"
#include "sonde/intern.h"
#include "base/lock.h"
#include "guest/dispatch.h"
#include "guest/space.h"
#include "image/symbols.h"
#include "sonde/tool.h"

/** One file, as it was when it was first mapped: another file of the same name is another one. */
typedef struct located_file {
    struct located_file *next;
    const char *path; /**< interned */
    dev_t device;
    ino_t inode;
    sn_image *image;  /**< opened when first asked for; NULL if that failed */
    bool is_opened;
} located_file;

/** A mapping of code, past or present. */
typedef struct module {
    struct module *older;
    uint64_t start, end, offset;
    located_file *file;
} module;

static sn_lock lock;
static sn_arena arena;
static located_file *files;
static module *newest;

void sn_locate_lock(void) {
    sn_lock_acquire(&lock);
}

void sn_locate_unlock(void) {
    sn_lock_release(&lock);
}

/** The entry for what `path` names now; a file that is gone has device and inode 0. */
static located_file *file_of(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        status = (struct stat){0};
    }
    for (located_file *file = files; file != NULL; file = file->next) {
        if (strcmp(file->path, path) == 0 && file->device == status.st_dev && file->inode == status.st_ino) {
            return file;
        }
    }
    located_file *file = sn_arena_allocate(&arena, sizeof *file);
    *file = (located_file){.next = files, .path = sn_intern(path), .device = status.st_dev, .inode = status.st_ino};
    files = file;
    return file;
}

/** Take out the entry for exactly this mapping, if there is one. */
static module *take_out(uint64_t start, uint64_t end, uint64_t offset, const located_file *file) {
    for (module **place = &newest; *place != NULL; place = &(*place)->older) {
        module *found = *place;
        if (found->start == start && found->end == end && found->offset == offset && found->file == file) {
            *place = found->older;
            return found;
        }
    }
    return NULL;
}

static void note(const char *path, uint64_t start, uint64_t end, uint64_t offset) {
    located_file *file = file_of(path);
    module *noted = take_out(start, end, offset, file);
    if (noted == NULL) {
        noted = sn_arena_allocate(&arena, sizeof *noted);
    }
    *noted = (module){.older = newest, .start = start, .end = end, .offset = offset, .file = file};
    newest = noted;
}

void sn_locate_init(void) {
    sn_set_module_listener(sn_locate_note_module);
}

static void (*follower)(const char *path, uint64_t start, uint64_t end, uint64_t offset);

void sn_locate_follow(void (*follow)(const char *path, uint64_t start, uint64_t end, uint64_t offset)) {
    follower = follow;
}

void sn_locate_note_module(const char *path, uint64_t start, uint64_t end, uint64_t offset) {
    sn_locate_lock();
    note(path, start, end, offset);
    sn_locate_unlock();
    if (follower != NULL) {
        follower(path, start, end, offset);
    }
}

static const module *find_noted(uint64_t address) {
    const module *found = newest;
    while (found != NULL && (address < found->start || address >= found->end)) {
        found = found->older;
    }
    return found;
}

/** The mapping that is there now is the answer if it has a file, or is code made at run time; else what was there. */
static const module *find_module(uint64_t address, const sn_region *region) {
    if (region != NULL && region->path == NULL && (region->protection & PROT_EXEC) != 0) {
        return NULL;
    }
    const module *noted = find_noted(address);
    if (region == NULL || region->path == NULL ||
        (noted != NULL && strcmp(noted->file->path, region->path) == 0)) {
        return noted;
    }
    note(region->path, region->start, region->end, region->offset);
    return newest;
}

static bool is_unchanged(const located_file *file) {
    struct stat status;
    return stat(file->path, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
}

static sn_image *image_of(located_file *file) {
    if (!file->is_opened) {
        file->is_opened = true;
        file->image = is_unchanged(file) ? sn_image_open(file->path) : NULL;
    }
    return file->image;
}

static void describe(sn_image *image, uint64_t in_file, uint64_t address, sn_location *location) {
    sn_symbol symbol;
    sn_line line;
    if (sn_image_symbol(image, in_file, &symbol)) {
        location->function = symbol.name;
        location->function_address = address - (in_file - symbol.address);
        location->function_size = symbol.size;
    }
    if (sn_image_line(image, in_file, &line)) {
        location->file = line.file;
        location->line = line.line;
    } else if (location->function != NULL) {
        location->file = sn_image_function_file(image, in_file);
    }
    uint64_t until = symbol.until < line.until ? symbol.until : line.until;
    if (until - in_file < location->same_until - address) {
        location->same_until = address + (until - in_file);
    }
}

/** What there is at an address. */
typedef struct lookup {
    const module *module; /**< NULL: none */
    sn_image *image;      /**< NULL: its file can't be read */
    uint64_t in_file;     /**< the address as the file counts, if there is an image */
    uint64_t until;       /**< where the mapping ends */
} lookup;

/** Takes the lock, which the caller gives back when he needs the images no more. The space, which has locks of its own, is asked
    before. */
static lookup look_up(uint64_t address) {
    sn_region region;
    bool is_mapped = sn_space_find(address, &region);
    sn_locate_lock();
    lookup found = {.module = find_module(address, is_mapped ? &region : NULL)};
    if (found.module == NULL) {
        return found;
    }
    found.until = is_mapped ? region.end : found.module->end;
    found.image = image_of(found.module->file);
    uint64_t offset = address - found.module->start + found.module->offset;
    if (found.image != NULL && !sn_image_address_of_offset(found.image, offset, &found.in_file)) {
        found.image = NULL;
    }
    return found;
}

/** The symbol that an address belongs to; its texts last. */
static bool find_symbol(uint64_t address, sn_symbol *symbol, uint64_t *in_file) {
    lookup at = look_up(address);
    bool is_known = at.image != NULL && sn_image_symbol(at.image, at.in_file, symbol);
    sn_locate_unlock();
    *in_file = at.in_file;
    return is_known;
}

bool sn_locate(uint64_t address, sn_location *location) {
    *location = (sn_location){.same_until = address + 1};
    lookup at = look_up(address);
    if (at.module != NULL) {
        location->module = at.module->file->path;
    }
    if (at.image != NULL) {
        location->file_address = at.in_file;
        location->same_until = at.until;
        describe(at.image, at.in_file, address, location);
    }
    sn_locate_unlock();
    return at.module != NULL;
}

const char *sn_locate_symbol(uint64_t address) {
    sn_symbol symbol;
    uint64_t in_file;
    return find_symbol(address, &symbol, &in_file) ? symbol.raw_name : NULL;
}

/** The compiler's names for such pieces (gcc: gcc/cgraphclones.cc, clone_function_name). */
static bool names_a_piece(const char *name) {
    return strstr(name, ".cold") != NULL;
}

bool sn_locate_function(uint64_t address, sn_function_range *function) {
    sn_symbol symbol;
    uint64_t in_file;
    if (!find_symbol(address, &symbol, &in_file)) {
        return false;
    }
    uint64_t start = address - (in_file - symbol.address);
    *function = (sn_function_range){.start = start,
                                    .end = start + symbol.size,
                                    .is_stub = symbol.is_stub,
                                    .is_a_piece = names_a_piece(symbol.raw_name)};
    return true;
}

bool sn_locate_unwinding(uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule) {
    lookup at = look_up(address);
    bool is_known = at.image != NULL && sn_image_unwind(at.image, at.in_file, registers, rule);
    sn_locate_unlock();
    return is_known;
}

/** Where there are no source lines, the symbol alone. */
static unsigned frame_of_symbol(sn_image *image, uint64_t in_file, sn_frame *frame) {
    sn_symbol symbol;
    if (!sn_image_symbol(image, in_file, &symbol)) {
        return 0;
    }
    *frame = (sn_frame){.function = symbol.name};
    return 1;
}

unsigned sn_locate_inlined(uint64_t address, sn_inlined *frames, unsigned capacity) {
    enum { MOST_FRAMES = 64 };
    sn_frame found[MOST_FRAMES];
    unsigned count = 0, limit = capacity < MOST_FRAMES ? capacity : MOST_FRAMES;
    lookup at = look_up(address);
    if (at.image != NULL && limit > 0) {
        count = sn_image_inlined(at.image, at.in_file, found, limit);
        count = count > 0 ? count : frame_of_symbol(at.image, at.in_file, found);
    }
    sn_locate_unlock();
    for (unsigned i = 0; i < count; i++) {
        frames[i] = (sn_inlined){.function = found[i].function, .file = found[i].file, .line = found[i].line};
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------- by name */

typedef struct name_visit {
    const sn_located_code *code;
    uint64_t start_in_file; /**< where the mapping begins, as the file counts */
    sn_function_visitor *visit;
    void *data;
} name_visit;

static void visit_in_client(void *data, const char *name, uint64_t in_file, sn_function_kind kind) {
    const name_visit *to = data;
    uint64_t distance = in_file - to->start_in_file;
    if (distance < to->code->end - to->code->start) {
        to->visit(to->data, name, to->code->start + distance, kind);
    }
}

void sn_locate_functions(const sn_located_code *code, const char **soname, sn_function_visitor *visit, void *data) {
    name_visit to = {.code = code, .visit = visit, .data = data};
    sn_locate_lock();
    sn_image *image = image_of(file_of(code->path));
    if (image != NULL && sn_image_address_of_offset(image, code->offset, &to.start_in_file)) {
        *soname = sn_image_soname(image);
        sn_image_functions(image, visit_in_client, &to);
    }
    sn_locate_unlock();
}

/* --------------------------------------------------------------------------------------------------- variables */

/** What the file's addresses are less than the client's, seen from a mapping of its code. */
static bool bias_of(const module *code, sn_image *image, uint64_t *bias) {
    uint64_t in_file;
    if (!sn_image_address_of_offset(image, code->offset, &in_file)) {
        return false;
    }
    *bias = code->start - in_file;
    return true;
}

bool sn_locate_variable(uint64_t address, const char *path, sn_variable *variable) {
    sn_symbol symbol;
    uint64_t bias = 0;
    bool is_known = false;
    sn_locate_lock();
    for (const module *code = newest; code != NULL && !is_known; code = code->older) {
        sn_image *image = strcmp(code->file->path, path) == 0 ? image_of(code->file) : NULL;
        is_known = image != NULL && bias_of(code, image, &bias) && sn_image_variable(image, address - bias, &symbol);
    }
    sn_locate_unlock();
    if (is_known) {
        *variable = (sn_variable){.name = symbol.name, .address = symbol.address + bias, .size = symbol.size};
    }
    return is_known;
}
