/**
 * @fileoverview An ELF file's symbols and lines, each read when first asked for. See symbols.h.
 *
 * Puts together elf_file.c, symbol_table.c, lines.c and demangle.c. Not thread-safe: service/locate.c has the lock.
 */
#include "image/symbols.h"

#include <stdlib.h>

#include "sonde/hash.h"
#include "sonde/intern.h"
#include "image/demangle.h"
#include "image/elf_file.h"
#include "image/lines.h"
#include "image/symbol_table.h"

struct sn_image {
    sn_elf_file *file;
    sn_elf_file *debug; /**< separate debug information, NULL when there is none */
    sn_symbol_table symbols, variables;
    sn_line_table *lines;
    sn_unwind_table *frames;
    bool is_debug_searched, are_symbols_read, are_variables_read, are_lines_read, are_frames_read;
    sn_hash shown_names; /**< of inlined functions: from the recorded name (interned) to the demangled one (interned) */
};

sn_image *sn_image_open(const char *path) {
    sn_image *image = calloc(1, sizeof *image);
    if (image == NULL) {
        return NULL;
    }
    image->file = sn_elf_file_open(path);
    if (image->file == NULL) {
        free(image);
        return NULL;
    }
    return image;
}

void sn_image_close(sn_image *image) {
    if (image == NULL) {
        return;
    }
    sn_unwind_table_close(image->frames);
    sn_hash_release(&image->shown_names);
    sn_line_table_free(image->lines);
    sn_symbol_table_free(&image->symbols);
    sn_symbol_table_free(&image->variables);
    sn_elf_file_close(image->debug);
    sn_elf_file_close(image->file);
    free(image);
}

static const sn_elf_file *debug_file(sn_image *image) {
    if (!image->is_debug_searched) {
        image->is_debug_searched = true;
        image->debug = sn_elf_file_open_debug(image->file);
    }
    return image->debug;
}

static bool has_symbol_table(const sn_elf_file *file) {
    GElf_Shdr header;
    return sn_elf_file_section(file, NULL, SHT_SYMTAB, &header) != NULL;
}

/** What is told of an entry, `until` being set; false if there is none. */
static bool show(sn_symbol_entry *entry, sn_symbol *symbol) {
    if (entry == NULL) {
        return false;
    }
    if (entry->shown_name == NULL) {
        entry->shown_name = sn_demangle(entry->name, entry->is_stub);
    }
    *symbol = (sn_symbol){
        .name = entry->shown_name != NULL ? entry->shown_name : entry->name,
        .raw_name = entry->name,
        .address = entry->address,
        .size = entry->end - entry->address,
        .is_stub = entry->is_stub,
        .until = symbol->until,
    };
    return true;
}

bool sn_image_symbol(sn_image *image, uint64_t address, sn_symbol *symbol) {
    if (!image->are_symbols_read) {
        image->are_symbols_read = true;
        const sn_elf_file *debug = has_symbol_table(image->file) ? NULL : debug_file(image);
        sn_symbol_table_read(&image->symbols, image->file, debug);
    }
    return show(sn_symbol_table_find(&image->symbols, address, &symbol->until), symbol);
}

bool sn_image_variable(sn_image *image, uint64_t address, sn_symbol *symbol) {
    if (!image->are_variables_read) {
        image->are_variables_read = true;
        const sn_elf_file *debug = has_symbol_table(image->file) ? NULL : debug_file(image);
        sn_symbol_table_read_variables(&image->variables, image->file, debug);
    }
    return show(sn_symbol_table_find(&image->variables, address, &symbol->until), symbol);
}

bool sn_image_unwind(sn_image *image, uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule) {
    if (!image->are_frames_read) {
        image->are_frames_read = true;
        image->frames = sn_unwind_table_open(image->file, debug_file(image));
    }
    return image->frames != NULL && sn_unwind_table_find(image->frames, address, registers, rule);
}

void sn_image_functions(sn_image *image, sn_function_visitor *visit, void *data) {
    const sn_elf_file *debug = has_symbol_table(image->file) ? NULL : debug_file(image);
    sn_symbol_table_visit(image->file, debug, visit, data);
}

const char *sn_image_soname(sn_image *image) {
    GElf_Shdr header;
    Elf_Data *data = sn_elf_section_data(sn_elf_file_section(image->file, NULL, SHT_DYNAMIC, &header));
    if (data == NULL || header.sh_entsize == 0) {
        return NULL;
    }
    size_t count = data->d_size / header.sh_entsize;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, (int)i, &entry) != NULL && entry.d_tag == DT_SONAME) {
            return elf_strptr(image->file->elf, header.sh_link, entry.d_un.d_val);
        }
    }
    return NULL;
}

static sn_line_table *line_table(sn_image *image) {
    if (!image->are_lines_read) {
        image->are_lines_read = true;
        image->lines = sn_line_table_read(image->file);
        if (image->lines == NULL && debug_file(image) != NULL) {
            image->lines = sn_line_table_read(image->debug);
        }
    }
    return image->lines;
}

bool sn_image_line(sn_image *image, uint64_t address, sn_line *line) {
    sn_line_table *table = line_table(image);
    line->until = UINT64_MAX;
    return table != NULL && sn_line_table_find(table, address, line);
}

/** As sn_demangle(), once a name. */
static const char *shown_name(sn_image *image, const char *recorded) {
    bool is_new;
    uint64_t *shown = sn_hash_insert(&image->shown_names, (uintptr_t)recorded, &is_new);
    if (is_new) {
        char *demangled = sn_demangle(recorded, false);
        *shown = (uintptr_t)(demangled == NULL ? recorded : sn_intern(demangled));
        free(demangled);
    }
    return (const char *)(uintptr_t)*shown;
}

unsigned sn_image_inlined(sn_image *image, uint64_t address, sn_frame *frames, unsigned capacity) {
    enum { MOST_FRAMES = 64 };
    sn_line_frame found[MOST_FRAMES];
    sn_line_table *table = line_table(image);
    unsigned limit = capacity < MOST_FRAMES ? capacity : MOST_FRAMES;
    unsigned count = table == NULL ? 0 : sn_line_table_inlined(table, address, found, limit);
    for (unsigned i = 0; i < count; i++) {
        sn_symbol symbol;
        frames[i] = (sn_frame){.file = found[i].file, .line = found[i].line};
        if (found[i].is_outermost && sn_image_symbol(image, address, &symbol)) {
            frames[i].function = symbol.name; /* which says more: parts and clones of a function have names */
        } else if (found[i].function != NULL) {
            frames[i].function = shown_name(image, found[i].function);
        }
    }
    return count;
}

const char *sn_image_function_file(sn_image *image, uint64_t address) {
    sn_line_table *table = line_table(image);
    sn_line line;
    const char *file = table == NULL ? NULL : sn_line_table_function_file(table, address);
    if (file == NULL && sn_image_line(image, address, &line)) {
        file = line.file;
    }
    return file;
}

/** Segments share file pages at their ends; a mapping of code belongs to the one that is executable. */
bool sn_image_address_of_offset(sn_image *image, uint64_t offset, uint64_t *address) {
    bool found = false;
    GElf_Phdr header;
    for (size_t next = 0; sn_elf_file_next_segment(image->file, &next, &header);) {
        const uint64_t page_mask = 4095;
        uint64_t start = header.p_offset & ~page_mask;
        uint64_t end = (header.p_offset + header.p_filesz + page_mask) & ~page_mask;
        if (offset >= start && offset < end && (!found || (header.p_flags & PF_X) != 0)) {
            *address = header.p_vaddr - header.p_offset + offset;
            found = true;
        }
    }
    return found;
}
