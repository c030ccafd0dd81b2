/**
 * @fileoverview Reads and sorts the symbol table of an ELF file. See symbol_table.h.
 */
#include "image/symbol_table.h"

#include <stdlib.h>
#include <string.h>

enum { PLT_ENTRY_SIZE = 16 };

static void append(sn_symbol_table *table, sn_symbol_entry entry) {
    if (table->count == table->room) {
        size_t room = table->room == 0 ? 256 : table->room * 2;
        sn_symbol_entry *entries = reallocarray(table->entries, room, sizeof *entries);
        if (entries == NULL) {
            return;
        }
        table->entries = entries;
        table->room = room;
    }
    table->entries[table->count++] = entry;
}

/** Which sections hold code: indexed by section number. */
typedef struct code_sections {
    GElf_Shdr *headers;
    size_t count;
} code_sections;

static code_sections read_sections(const sn_elf_file *file) {
    code_sections sections = {0};
    size_t count;
    if (elf_getshdrnum(file->elf, &count) != 0 || (sections.headers = calloc(count, sizeof(GElf_Shdr))) == NULL) {
        return sections;
    }
    sections.count = count;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section)) != NULL;) {
        size_t index = elf_ndxscn(section);
        if (index < count && gelf_getshdr(section, &sections.headers[index]) == NULL) {
            sections.headers[index] = (GElf_Shdr){0};
        }
    }
    return sections;
}

static uint8_t rank_of(const GElf_Sym *symbol) {
    static const uint8_t rank_of_binding[16] = {
        [STB_LOCAL] = 3, [STB_GLOBAL] = 1, [STB_WEAK] = 2, [STB_GNU_UNIQUE] = 1,
    };
    bool is_typed = GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE;
    uint8_t binding_rank = rank_of_binding[GELF_ST_BIND(symbol->st_info)];
    return (uint8_t)((is_typed ? 0 : 16) + (symbol->st_size != 0 ? 0 : 8) + binding_rank);
}

static bool is_variable(const GElf_Sym *symbol) {
    return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size != 0;
}

static bool may_be_function(const GElf_Sym *symbol) {
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/** The section that holds the function or variable, or NULL if the symbol is neither, or of another file. */
static const GElf_Shdr *section_of(const code_sections *sections, const GElf_Sym *symbol, size_t section_index,
                                   const char *name) {
    bool is_data = is_variable(symbol);
    if (!(is_data || may_be_function(symbol)) || name == NULL || *name == 0 || strncmp(name, ".L", 2) == 0 ||
        section_index >= sections->count) {
        return NULL;
    }
    const GElf_Shdr *section = &sections->headers[section_index];
    bool is_inside = symbol->st_value >= section->sh_addr && symbol->st_value - section->sh_addr < section->sh_size;
    uint64_t wanted = is_data ? SHF_ALLOC : SHF_EXECINSTR;
    return (section->sh_flags & wanted) != 0 && is_inside ? section : NULL;
}

/** What is done with each function's and variable's symbol of a table. */
typedef void symbol_user(void *data, const GElf_Shdr *section, const GElf_Sym *symbol, const char *name);

static void add_symbol(void *data, const GElf_Shdr *section, const GElf_Sym *symbol, const char *name) {
    sn_symbol_table *table = data;
    if (!may_be_function(symbol)) {
        return;
    }
    uint64_t most = section->sh_size - (symbol->st_value - section->sh_addr);
    bool is_sized = symbol->st_size != 0;
    append(table, (sn_symbol_entry){
        .address = symbol->st_value,
        .end = symbol->st_value + (is_sized && symbol->st_size < most ? symbol->st_size : most),
        .name = name,
        .rank = rank_of(symbol),
        .is_sized = is_sized,
    });
}

/** Returns whether the file has a symbol table of this type. */
static bool each_symbol(const sn_elf_file *file, uint32_t type, symbol_user *use, void *user) {
    GElf_Shdr header;
    Elf_Scn *section = sn_elf_file_section(file, NULL, type, &header);
    Elf_Data *data = sn_elf_section_data(section);
    if (data == NULL || header.sh_entsize == 0) {
        return false;
    }
    GElf_Shdr extended_header;
    Elf_Data *extended =
        sn_elf_section_data(sn_elf_file_section(file, NULL, SHT_SYMTAB_SHNDX, &extended_header));
    code_sections sections = read_sections(file);
    size_t count = data->d_size / header.sh_entsize;
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        Elf32_Word extended_index = 0;
        if (gelf_getsymshndx(data, extended, (int)i, &symbol, &extended_index) != NULL) {
            size_t index = symbol.st_shndx == SHN_XINDEX ? extended_index : symbol.st_shndx;
            const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);
            const GElf_Shdr *holder = section_of(&sections, &symbol, index, name);
            if (holder != NULL) {
                use(user, holder, &symbol, name);
            }
        }
    }
    free(sections.headers);
    return true;
}

/** Name of the function that relocation `index` of the procedure linkage table is for. */
static const char *relocated_name(const sn_elf_file *file, Elf_Data *relocations, Elf_Data *symbols,
                                  size_t strings, size_t index) {
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (gelf_getrela(relocations, (int)index, &relocation) == NULL || GELF_R_SYM(relocation.r_info) == 0 ||
        GELF_R_SYM(relocation.r_info) > INT32_MAX ||
        gelf_getsym(symbols, (int)GELF_R_SYM(relocation.r_info), &symbol) == NULL) {
        return NULL;
    }
    return elf_strptr(file->elf, strings, symbol.st_name);
}

/** The stubs of one section, which has `reserved` entries before the first one that belongs to a relocation. A section
    whose size does not match (another linker's layout) is left alone. */
static void read_stubs(sn_symbol_table *table, const sn_elf_file *file, const char *section_name, size_t reserved) {
    GElf_Shdr stubs, relocation_header, symbol_header;
    Elf_Data *relocations =
        sn_elf_section_data(sn_elf_file_section(file, ".rela.plt", 0, &relocation_header));
    Elf_Data *symbols = sn_elf_section_data(sn_elf_file_section(file, NULL, SHT_DYNSYM, &symbol_header));
    if (sn_elf_file_section(file, section_name, 0, &stubs) == NULL || relocations == NULL || symbols == NULL) {
        return;
    }
    size_t count = relocations->d_size / sizeof(Elf64_Rela);
    if (count > INT32_MAX || stubs.sh_size / PLT_ENTRY_SIZE != count + reserved) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t address = stubs.sh_addr + (i + reserved) * PLT_ENTRY_SIZE;
        const char *name = relocated_name(file, relocations, symbols, symbol_header.sh_link, i);
        if (name != NULL && *name != 0) {
            append(table, (sn_symbol_entry){.address = address, .end = address + PLT_ENTRY_SIZE, .name = name,
                                            .is_sized = true, .is_stub = true});
        }
    }
}

/** By address; of those at one address the preferred name first. */
static int by_address(const void *left, const void *right) {
    const sn_symbol_entry *a = left, *b = right;
    if (a->address != b->address) {
        return a->address > b->address ? 1 : -1;
    }
    if (a->rank != b->rank) {
        return a->rank - b->rank;
    }
    size_t a_length = strlen(a->name), b_length = strlen(b->name);
    if (a_length != b_length) {
        return a_length > b_length ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

/** Leave out aliases, and labels inside a function. */
static void drop_lesser(sn_symbol_table *table) {
    size_t kept = 0;
    uint64_t function_end = 0;
    for (size_t i = 0; i < table->count; i++) {
        const sn_symbol_entry *entry = &table->entries[i];
        bool is_alias = kept > 0 && table->entries[kept - 1].address == entry->address;
        bool is_label = !entry->is_sized && entry->address < function_end;
        if (is_alias || is_label) {
            continue;
        }
        if (entry->is_sized && entry->end > function_end) {
            function_end = entry->end;
        }
        table->entries[kept++] = *entry;
    }
    table->count = kept;
}

static void set_ends(sn_symbol_table *table) {
    uint64_t farthest = 0;
    for (size_t i = 0; i < table->count; i++) {
        sn_symbol_entry *entry = &table->entries[i];
        if (!entry->is_sized && i + 1 < table->count && table->entries[i + 1].address < entry->end) {
            entry->end = table->entries[i + 1].address;
        }
        farthest = entry->end > farthest ? entry->end : farthest;
        entry->farthest_end = farthest;
    }
}

void sn_symbol_table_read(sn_symbol_table *table, const sn_elf_file *file, const sn_elf_file *debug) {
    bool has_symbols = each_symbol(file, SHT_SYMTAB, add_symbol, table);
    if (!has_symbols && debug != NULL) {
        has_symbols = each_symbol(debug, SHT_SYMTAB, add_symbol, table);
    }
    if (!has_symbols) {
        each_symbol(file, SHT_DYNSYM, add_symbol, table);
    }
    read_stubs(table, file, ".plt", 1);
    read_stubs(table, file, ".plt.sec", 0);
    if (table->count != 0) {
        qsort(table->entries, table->count, sizeof *table->entries, by_address);
        drop_lesser(table);
        set_ends(table);
    }
}

void sn_symbol_table_free(sn_symbol_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free(table->entries[i].shown_name);
    }
    free(table->entries);
    *table = (sn_symbol_table){0};
}

sn_symbol_entry *sn_symbol_table_find(const sn_symbol_table *table, uint64_t address, uint64_t *until) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->entries[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *until = low < table->count ? table->entries[low].address : UINT64_MAX;
    while (low-- > 0 && table->entries[low].farthest_end > address) {
        if (table->entries[low].end > address) {
            *until = table->entries[low].end < *until ? table->entries[low].end : *until;
            return &table->entries[low];
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------ by name, for hooks */

typedef struct name_visit {
    sn_function_visitor *visit;
    void *data;
} name_visit;

static void visit_symbol(void *data, const GElf_Shdr *section, const GElf_Sym *symbol, const char *name) {
    const name_visit *to = data;
    (void)section;
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    sn_function_kind kind = GELF_ST_BIND(symbol->st_info) != STB_LOCAL ? SN_FUNCTION_GLOBAL : SN_FUNCTION_LOCAL;
    if (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC) {
        to->visit(to->data, name, symbol->st_value, type == STT_GNU_IFUNC ? SN_FUNCTION_RESOLVER : kind);
    }
}

void sn_symbol_table_visit(const sn_elf_file *file, const sn_elf_file *debug, sn_function_visitor *visit, void *data) {
    name_visit to = {visit, data};
    each_symbol(file, SHT_DYNSYM, visit_symbol, &to);
    if (!each_symbol(file, SHT_SYMTAB, visit_symbol, &to) && debug != NULL) {
        each_symbol(debug, SHT_SYMTAB, visit_symbol, &to);
    }
}

/* ------------------------------------------------------------------------------------------------ variables */

static void add_variable(void *data, const GElf_Shdr *section, const GElf_Sym *symbol, const char *name) {
    (void)section;
    if (is_variable(symbol)) {
        append(data, (sn_symbol_entry){.address = symbol->st_value, .end = symbol->st_value + symbol->st_size, .name = name,
                                       .rank = rank_of(symbol), .is_sized = true});
    }
}

void sn_symbol_table_read_variables(sn_symbol_table *table, const sn_elf_file *file, const sn_elf_file *debug) {
    bool has_symbols = each_symbol(file, SHT_SYMTAB, add_variable, table);
    if (!has_symbols && debug != NULL) {
        has_symbols = each_symbol(debug, SHT_SYMTAB, add_variable, table);
    }
    if (!has_symbols) {
        each_symbol(file, SHT_DYNSYM, add_variable, table);
    }
    if (table->count != 0) {
        qsort(table->entries, table->count, sizeof *table->entries, by_address);
        drop_lesser(table);
        set_ends(table);
    }
}
