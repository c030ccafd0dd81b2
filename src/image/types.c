/**
 * @fileoverview Variables and types of an ELF file, by libelf and libdw. See types.h.
 *
 * What is walked is walked to a limited depth and length, whatever the file says.
 */
#include "image/types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "sonde/hash.h"
#include "sonde/vector.h"
#include "image/demangle.h"
#include "image/elf_file.h"

enum { MOST_DEPTH = 60, MOST_MEMBERS = 20000, NAME_SIZE = 1024 };

/** A variable that points to a type. */
typedef struct pointer {
    const char *file; /**< interned; as recorded */
    unsigned line;
    uint64_t type;    /**< place in the DWARF information */
} pointer;

struct sn_data_image {
    sn_elf_file *file, *debug;
    Dwarf *dwarf;
    bool are_objects_read, are_types_read;
    SN_VECTOR(sn_data_object) objects; /**< by address; names raw until they are asked for */
    SN_VECTOR(sn_data_type) types;
    SN_VECTOR(pointer) pointers;
    sn_hash by_name, by_place;         /**< types: 1 + number */
    size_t entries_left;               /**< so many entries of the DWARF information are still looked at */
};

sn_data_image *sn_data_image_open(const char *path) {
    sn_elf_file *file = sn_elf_file_open(path);
    sn_data_image *image = file == NULL ? NULL : calloc(1, sizeof *image);
    if (image == NULL) {
        sn_elf_file_close(file);
        return NULL;
    }
    image->file = file;
    image->debug = sn_elf_file_open_debug(file);
    return image;
}

void sn_data_image_close(sn_data_image *image) {
    if (image == NULL) {
        return;
    }
    dwarf_end(image->dwarf);
    sn_elf_file_close(image->debug);
    sn_elf_file_close(image->file);
    sn_vector_release(&image->objects);
    sn_vector_release(&image->types);
    sn_vector_release(&image->pointers);
    sn_hash_release(&image->by_name);
    sn_hash_release(&image->by_place);
    free(image);
}

bool sn_data_image_span(const sn_data_image *image, uint64_t *low, uint64_t *high) {
    bool has_first = false;
    GElf_Phdr header;
    *high = 0;
    for (size_t next = 0; sn_elf_file_next_segment(image->file, &next, &header);) {
        if (!has_first) {
            *low = header.p_vaddr - header.p_offset;
            has_first = true;
        }
        uint64_t end = header.p_vaddr + header.p_memsz;
        *high = end > *high ? end : *high;
    }
    return has_first && *high > *low;
}

/* ---------------------------------------------------------------------------- variables */

static void add_objects(sn_data_image *image, const sn_elf_file *file, uint32_t type) {
    GElf_Shdr header;
    Elf_Data *data = sn_elf_section_data(sn_elf_file_section(file, NULL, type, &header));
    size_t count = data == NULL || header.sh_entsize == 0 ? 0 : data->d_size / header.sh_entsize;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
            symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) {
            continue;
        }
        const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);
        if (name != NULL && *name != '\0') {
            *sn_vector_add(&image->objects) = (sn_data_object){name, symbol.st_value, symbol.st_size};
        }
    }
}

static int by_address(const void *left, const void *right) {
    const sn_data_object *a = left, *b = right;
    if (a->address != b->address) {
        return a->address < b->address ? -1 : 1;
    }
    return (a->size < b->size) - (a->size > b->size);
}

static void read_objects(sn_data_image *image) {
    image->are_objects_read = true;
    add_objects(image, image->file, SHT_SYMTAB);
    if (image->debug != NULL) {
        add_objects(image, image->debug, SHT_SYMTAB);
    }
    if (image->objects.count == 0) {
        add_objects(image, image->file, SHT_DYNSYM);
    }
    if (image->objects.count > 0) {
        qsort(image->objects.items, image->objects.count, sizeof *image->objects.items, by_address);
    }
}

bool sn_data_image_object(sn_data_image *image, uint64_t address, sn_data_object *object) {
    if (!image->are_objects_read) {
        read_objects(image);
    }
    size_t low = 0, high = image->objects.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->objects.items[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const sn_data_object *found = low == 0 ? NULL : &image->objects.items[low - 1];
    if (found == NULL || address - found->address >= found->size) {
        return false;
    }
    char *shown = sn_demangle(found->name, false);
    *object = *found;
    object->name = sn_intern(shown != NULL ? shown : found->name);
    free(shown);
    return true;
}

/* -------------------------------------------------------------------------------- types */

/** What a DIE says its type is, without typedefs and qualifiers. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL || dwarf_formref_die(&attribute, type) == NULL) {
        return false;
    }
    for (unsigned steps = 0; steps < MOST_DEPTH; steps++) {
        int tag = dwarf_tag(type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type && tag != DW_TAG_atomic_type) {
            return true;
        }
        if (dwarf_attr_integrate(type, DW_AT_type, &attribute) == NULL || dwarf_formref_die(&attribute, type) == NULL) {
            return false;
        }
    }
    return false;
}

static bool is_structure(Dwarf_Die *die) {
    int tag = dwarf_tag(die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static void add_type(sn_data_image *image, Dwarf_Die *die, const char *name) {
    Dwarf_Word size;
    Dwarf_Attribute attribute;
    if (dwarf_hasattr(die, DW_AT_declaration) || dwarf_attr(die, DW_AT_byte_size, &attribute) == NULL ||
        dwarf_formudata(&attribute, &size) != 0 || size == 0 || size > INT64_MAX) {
        return;
    }
    bool is_new;
    const char *kept = sn_intern(name);
    sn_hash_set(&image->by_place, dwarf_dieoffset(die), image->types.count + 1);
    uint64_t *first = sn_hash_insert(&image->by_name, (uintptr_t)kept, &is_new);
    if (is_new) {
        *first = image->types.count + 1;
    }
    *sn_vector_add(&image->types) = (sn_data_type){kept, size, dwarf_dieoffset(die)};
}

static void add_pointer(sn_data_image *image, Dwarf_Die *die) {
    Dwarf_Die type, target;
    int line;
    const char *file = dwarf_decl_file(die);
    if (file != NULL && dwarf_decl_line(die, &line) == 0 && line > 0 && type_of(die, &type) &&
        dwarf_tag(&type) == DW_TAG_pointer_type && type_of(&type, &target) && is_structure(&target)) {
        *sn_vector_add(&image->pointers) = (pointer){sn_intern(file), (unsigned)line, dwarf_dieoffset(&target)};
    }
}

/** All types and pointers below a DIE. `scope` is the name of what encloses them, with "::" behind, or empty. */
static void walk(sn_data_image *image, Dwarf_Die *parent, const char *scope, unsigned depth) {
    Dwarf_Die die;
    if (depth > MOST_DEPTH || dwarf_child(parent, &die) != 0) {
        return;
    }
    do {
        char name[NAME_SIZE];
        const char *own = dwarf_diename(&die);
        int tag = dwarf_tag(&die);
        bool is_scope = is_structure(&die) || tag == DW_TAG_namespace;
        if (image->entries_left == 0) {
            return;
        }
        image->entries_left--;
        snprintf(name, sizeof name, "%s%s", scope, own != NULL ? own : "(anonymous)");
        if (is_structure(&die)) {
            add_type(image, &die, name);
        } else if (tag == DW_TAG_variable) {
            add_pointer(image, &die);
        }
        if (is_scope || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block) {
            size_t length = strlen(name);
            snprintf(name + length, sizeof name - length, "::");
            walk(image, &die, is_scope ? name : "", depth + 1);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void read_types(sn_data_image *image) {
    Dwarf_Off offset = 0, next;
    size_t header_size;
    image->are_types_read = true;
    image->entries_left = image->file->size + (image->debug != NULL ? image->debug->size : 0); /* each takes a byte at least */
    image->dwarf = dwarf_begin_elf(image->file->elf, DWARF_C_READ, NULL);
    if (image->dwarf == NULL && image->debug != NULL) {
        image->dwarf = dwarf_begin_elf(image->debug->elf, DWARF_C_READ, NULL);
    }
    while (image->dwarf != NULL && dwarf_nextcu(image->dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0 &&
           next > offset) {
        Dwarf_Die die;
        if (dwarf_offdie(image->dwarf, offset + header_size, &die) != NULL) {
            walk(image, &die, "", 0);
        }
        offset = next;
    }
}

const sn_data_type *sn_data_image_type(sn_data_image *image, const char *name) {
    if (!image->are_types_read) {
        read_types(image);
    }
    uint64_t number = sn_hash_get(&image->by_name, (uintptr_t)sn_intern(name), 0);
    return number == 0 ? NULL : &image->types.items[number - 1];
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

const sn_data_type *sn_data_image_type_at_line(sn_data_image *image, const char *file, unsigned line, uint64_t size) {
    const sn_data_type *found = NULL;
    if (!image->are_types_read) {
        read_types(image);
    }
    for (size_t i = 0; i < image->pointers.count; i++) {
        const pointer *pointer = &image->pointers.items[i];
        const char *recorded = strchr(file, '/') == NULL ? base_name(pointer->file) : pointer->file;
        bool is_file = strcmp(recorded, file) == 0;
        uint64_t number = pointer->line == line && is_file ? sn_hash_get(&image->by_place, pointer->type, 0) : 0;
        const sn_data_type *type = number == 0 ? NULL : &image->types.items[number - 1];
        if (type == NULL || size == 0 || size % type->size != 0) {
            continue;
        }
        if (found != NULL && strcmp(found->name, type->name) != 0) {
            return NULL;
        }
        found = type;
    }
    return found;
}

/* ------------------------------------------------------------------------------ members */

/** The text of a member that grows from the outside inwards. */
typedef struct member_text {
    char *text;
    size_t size, length;
} member_text;

static void add_text(member_text *to, const char *separator, const char *name) {
    int more = snprintf(to->text + to->length, to->size - to->length, "%s%s", to->length > 0 ? separator : "", name);
    to->length += more < 0 ? 0 : (size_t)more < to->size - to->length ? (size_t)more : to->size - to->length - 1;
}

static bool size_of(Dwarf_Die *type, uint64_t *size) {
    Dwarf_Word words;
    if (dwarf_aggregate_size(type, &words) != 0 || words == 0) {
        return false;
    }
    *size = words;
    return true;
}

/** Into an array: the element's number, and the offset in it. */
static bool enter_array(Dwarf_Die *type, uint64_t *offset, member_text *to) {
    Dwarf_Die element;
    uint64_t size;
    char number[32];
    if (!type_of(type, &element) || !size_of(&element, &size)) {
        return false;
    }
    snprintf(number, sizeof number, "[%lu]", (unsigned long)(*offset / size));
    add_text(to, "", number);
    *offset %= size;
    *type = element;
    return true;
}

/** Where a member begins in its structure; false where an expression has to be carried out, as for virtual bases. */
static bool start_of(Dwarf_Die *member, uint64_t *start) {
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    Dwarf_Op *operations;
    size_t count;
    *start = 0; /* of a union it is left out */
    if (dwarf_attr(member, DW_AT_data_member_location, &attribute) == NULL) {
        return true;
    }
    if (dwarf_formudata(&attribute, &at) != 0) { /* DWARF 2 has an expression for a number too */
        if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 || operations[0].atom != DW_OP_plus_uconst) {
            return false;
        }
        at = operations[0].number;
    }
    *start = at;
    return true;
}

/** The member of a structure that covers an offset: of several the last that begins there; bases are entered without a name. */
static bool enter_structure(Dwarf_Die *type, uint64_t *offset, member_text *to) {
    Dwarf_Die die, found_type;
    bool is_found = false;
    char name[NAME_SIZE] = "";
    uint64_t start = 0;
    unsigned members_left = MOST_MEMBERS;
    if (dwarf_child(type, &die) != 0) {
        return false;
    }
    do {
        Dwarf_Die member_type;
        uint64_t size, at;
        int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&die, DW_AT_external) ||
            !type_of(&die, &member_type) || !size_of(&member_type, &size) || !start_of(&die, &at)) {
            continue;
        }
        if (*offset >= at && *offset - at < size) {
            const char *own = tag == DW_TAG_inheritance ? "" : dwarf_diename(&die);
            snprintf(name, sizeof name, "%s", own != NULL ? own : "");
            found_type = member_type;
            start = at;
            is_found = true;
        }
    } while (members_left-- > 0 && dwarf_siblingof(&die, &die) == 0);
    if (is_found) {
        add_text(to, name[0] != '\0' ? "." : "", name);
        *offset -= start;
        *type = found_type;
    }
    return is_found;
}

bool sn_data_image_member(sn_data_image *image, const sn_data_type *type, uint64_t offset, char *text, size_t size) {
    Dwarf_Die die;
    member_text to = {.text = text, .size = size};
    if (dwarf_offdie(image->dwarf, type->place, &die) == NULL) {
        return false;
    }
    text[0] = '\0';
    if (offset >= type->size) {
        char number[32];
        snprintf(number, sizeof number, "[%lu]", (unsigned long)(offset / type->size));
        add_text(&to, "", number);
        offset %= type->size;
    }
    bool is_found = false;
    for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
        bool goes_on = is_structure(&die) ? enter_structure(&die, &offset, &to)
                       : dwarf_tag(&die) == DW_TAG_array_type && enter_array(&die, &offset, &to);
        if (!goes_on) {
            break;
        }
        is_found = true;
    }
    return is_found && to.length > 0;
}
