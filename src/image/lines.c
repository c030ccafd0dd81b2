/**
 * @fileoverview Finds the compilation unit of an address and asks libdw for its line. See lines.h.
 *
 * The ranges of all units are collected once: .debug_aranges is not enough, some compilers do not write it. What is
 * walked here is walked to a limited depth and length, whatever the file says.
 */
#include "image/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "image/inlined.h"

enum { MOST_SCOPES = 32, MOST_OVERLAPS = 64, PATH_SIZE = 4096 };

typedef struct unit_range {
    uint64_t low, high;
    uint32_t unit; /**< in `units` */
} unit_range;

/** A compilation unit: where its line table hangs, and where its functions are (another place with split DWARF). */
typedef struct unit {
    Dwarf_Die die;
    Dwarf_Die contents;
    Dwarf_Lines *rows;        /**< of its line table, read when first asked for */
    size_t row_count;
    bool are_rows_read;
    sn_inlined_scopes scopes; /**< the same */
} unit;

struct sn_line_table {
    Dwarf *dwarf;
    sn_elf_file *shared_file; /**< what several files have in common (made by dwz), or NULL */
    Dwarf *shared_dwarf;
    unit *units;
    size_t unit_count, unit_room;
    unit_range *ranges;
    size_t range_count, range_room;
    size_t most_ranges; /**< more can't honestly be in a file of its size */
};

/** Room for one element more in a growing array. Returns false when memory is short. */
static bool make_room(void **elements, size_t count, size_t *room, size_t size) {
    if (count < *room) {
        return true;
    }
    size_t more = *room == 0 ? 64 : *room * 2;
    void *moved = reallocarray(*elements, more, size);
    if (moved == NULL) {
        return false;
    }
    *elements = moved;
    *room = more;
    return true;
}

/** A range of the unit that is about to be added. Returns false when there may be no more. */
static bool add_range(sn_line_table *table, uint64_t low, uint64_t high) {
    if (low >= high) {
        return true;
    }
    if (table->range_count >= table->most_ranges ||
        !make_room((void **)&table->ranges, table->range_count, &table->range_room, sizeof *table->ranges)) {
        return false;
    }
    table->ranges[table->range_count++] = (unit_range){.low = low, .high = high, .unit = (uint32_t)table->unit_count};
    return true;
}

/** The ranges that the unit states. */
static void add_stated_ranges(sn_line_table *table, Dwarf_Die *die) {
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        if (!add_range(table, low, high)) {
            return;
        }
    }
}

/** DWARF 2 has no means to state several: then those of the sequences in the unit's line table. */
static void add_line_ranges(sn_line_table *table, Dwarf_Die *die) {
    Dwarf_Lines *lines;
    size_t count;
    Dwarf_Addr low = 0, address;
    bool is_inside = false, is_end;
    if (dwarf_getsrclines(die, &lines, &count) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &is_end) != 0) {
            return;
        }
        if (is_end && is_inside && !add_range(table, low, address)) {
            return;
        }
        if (!is_end && !is_inside) {
            low = address;
        }
        is_inside = !is_end;
    }
}

static int by_low_address(const void *left, const void *right) {
    const unit_range *a = left, *b = right;
    if (a->low != b->low) {
        return a->low > b->low ? 1 : -1;
    }
    return (a->unit > b->unit) - (a->unit < b->unit);
}

static void read_units(sn_line_table *table) {
    Dwarf_CU *cursor = NULL;
    Dwarf_Die die, contents;
    uint8_t type;
    while (dwarf_get_units(table->dwarf, cursor, &cursor, NULL, &type, &die, &contents) == 0) {
        if ((type != DW_UT_compile && type != DW_UT_skeleton) || table->unit_count == UINT32_MAX ||
            !make_room((void **)&table->units, table->unit_count, &table->unit_room, sizeof *table->units)) {
            continue;
        }
        size_t before = table->range_count;
        add_stated_ranges(table, &die);
        if (table->range_count == before) {
            add_line_ranges(table, &die);
        }
        if (table->range_count != before) {
            bool is_split = type == DW_UT_skeleton && contents.cu != NULL;
            table->units[table->unit_count++] = (unit){.die = die, .contents = is_split ? contents : die};
        }
    }
    if (table->range_count != 0) {
        qsort(table->ranges, table->range_count, sizeof *table->ranges, by_low_address);
    }
}

static bool has_build_id(const sn_elf_file *file, const void *id, size_t size) {
    const void *its;
    return dwelf_elf_gnu_build_id(file->elf, &its) == (ssize_t)size && memcmp(its, id, size) == 0;
}

/** .gnu_debugaltlink names a file by build id and by a path, which may be relative to that of `file`. */
static sn_elf_file *open_shared(const sn_elf_file *file, Dwarf *dwarf) {
    const char *name;
    const void *id;
    char path[PATH_SIZE];
    ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
    if (size <= 0) {
        return NULL;
    }
    sn_elf_file *shared = sn_elf_file_open_build_id(id, (size_t)size);
    const char *slash = strrchr(file->path, '/');
    int folder_length = *name == '/' || slash == NULL ? 0 : (int)(slash + 1 - file->path);
    if (shared == NULL && snprintf(path, sizeof path, "%.*s%s", folder_length, file->path, name) < PATH_SIZE) {
        shared = sn_elf_file_open(path);
    }
    if (shared != NULL && !has_build_id(shared, id, (size_t)size)) {
        sn_elf_file_close(shared);
        return NULL;
    }
    return shared;
}

/** Given here, since libdw would open it by itself and keep a descriptor. */
static void attach_shared(sn_line_table *table, const sn_elf_file *file) {
    table->shared_file = open_shared(file, table->dwarf);
    if (table->shared_file != NULL) {
        table->shared_dwarf = dwarf_begin_elf(table->shared_file->elf, DWARF_C_READ, NULL);
    }
    if (table->shared_dwarf != NULL) {
        dwarf_setalt(table->dwarf, table->shared_dwarf);
    }
}

/** libdw decompresses all sections that it knows, whatever is asked of it. Those that say nothing of lines and functions are made
    empty in our copy of the file; what is hidden is read by no one else from this one: types.c has its own. */
static void hide_unused_sections(const sn_elf_file *file) {
    static const char *const unused[] = {".debug_loclists", ".debug_loc", ".debug_macro", ".debug_macinfo", ".debug_aranges"};
    GElf_Shdr header;
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        Elf_Scn *section = sn_elf_file_section(file, unused[i], SHT_PROGBITS, &header);
        if (section != NULL && (header.sh_flags & SHF_COMPRESSED) != 0) {
            header.sh_type = SHT_NOBITS;
            header.sh_flags = 0;
            gelf_update_shdr(section, &header);
        }
    }
}

sn_line_table *sn_line_table_read(const sn_elf_file *file) {
    sn_line_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    table->most_ranges = file->size;
    hide_unused_sections(file);
    table->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (table->dwarf != NULL) {
        attach_shared(table, file);
        read_units(table);
    }
    if (table->range_count == 0) {
        sn_line_table_free(table);
        return NULL;
    }
    return table;
}

void sn_line_table_free(sn_line_table *table) {
    if (table == NULL) {
        return;
    }
    if (table->dwarf != NULL) {
        dwarf_end(table->dwarf);
    }
    if (table->shared_dwarf != NULL) {
        dwarf_end(table->shared_dwarf);
    }
    sn_elf_file_close(table->shared_file);
    for (size_t i = 0; i < table->unit_count; i++) {
        sn_inlined_release(&table->units[i].scopes);
    }
    free(table->units);
    free(table->ranges);
    free(table);
}

/** Ranges of units seldom overlap: where they do, the one that begins last is taken. It is the same up to *until. */
static unit *find_unit(const sn_line_table *table, uint64_t address, uint64_t *until) {
    size_t low = 0, high = table->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->ranges[middle].low <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *until = low < table->range_count ? table->ranges[low].low : UINT64_MAX;
    for (size_t looked = 0; low-- > 0 && looked < MOST_OVERLAPS; looked++) {
        if (address < table->ranges[low].high) {
            *until = table->ranges[low].high < *until ? table->ranges[low].high : *until;
            return &table->units[table->ranges[low].unit];
        }
    }
    return NULL;
}

/** Names are recorded relative to the folder in which the compiler ran; where that is not known, they stay so. */
static const char *full_path(Dwarf_Die *unit_die, const char *name) {
    char path[PATH_SIZE];
    Dwarf_Attribute attribute;
    if (name == NULL || *name == '/') {
        return name;
    }
    const char *folder = dwarf_formstring(dwarf_attr(unit_die, DW_AT_comp_dir, &attribute));
    if (folder == NULL || *folder != '/' || snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_SIZE) {
        return name;
    }
    return sn_intern(path);
}

/** The last row of the unit's line table that begins at or before the address, NULL if none does; rows are sorted. *until
    becomes where the next one begins, if that is earlier. */
static Dwarf_Line *find_row(unit *unit, uint64_t address, uint64_t *until) {
    if (!unit->are_rows_read) {
        unit->are_rows_read = true;
        if (dwarf_getsrclines(&unit->die, &unit->rows, &unit->row_count) != 0) {
            unit->row_count = 0;
        }
    }
    size_t low = 0, high = unit->row_count;
    Dwarf_Addr begin;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dwarf_lineaddr(dwarf_onesrcline(unit->rows, middle), &begin) == 0 && begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < unit->row_count && dwarf_lineaddr(dwarf_onesrcline(unit->rows, low), &begin) == 0 && begin < *until) {
        *until = begin;
    }
    return low == 0 ? NULL : dwarf_onesrcline(unit->rows, low - 1);
}

bool sn_line_table_find(sn_line_table *table, uint64_t address, sn_line *line) {
    unit *unit = find_unit(table, address, &line->until);
    Dwarf_Line *found = unit == NULL ? NULL : find_row(unit, address, &line->until);
    int number;
    bool is_end;
    if (found == NULL || dwarf_lineendsequence(found, &is_end) != 0 || is_end || dwarf_lineno(found, &number) != 0) {
        return false;
    }
    line->file = full_path(&unit->die, dwarf_linesrc(found, NULL, NULL));
    line->line = number > 0 ? (unsigned)number : 0;
    return line->file != NULL;
}

/** Whether functions may be declared inside. */
static bool is_scope(Dwarf_Die *die) {
    static const int scopes[] = {
        DW_TAG_namespace, DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_module,
        DW_TAG_interface_type, DW_TAG_common_block,
    };
    int tag = dwarf_tag(die);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (tag == scopes[i]) {
            return true;
        }
    }
    return false;
}

/** The function around `address` among what is inside `scope`; false when there is none. */
static bool find_function(Dwarf_Die *scope, uint64_t address, unsigned depth, Dwarf_Die *function) {
    Dwarf_Die child;
    if (depth == MOST_SCOPES || dwarf_child(scope, &child) != 0) {
        return false;
    }
    do {
        if (dwarf_tag(&child) == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0) {
            *function = child;
            return true;
        }
        if (is_scope(&child) && find_function(&child, address, depth + 1, function)) {
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/** As dwarf_decl_file(), which ends the process where a file's name table can't be read. */
static const char *declared_file(Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Die unit_die;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attribute), &index) != 0 || index == 0 ||
        dwarf_cu_die(attribute.cu, &unit_die, NULL, NULL, NULL, NULL, NULL, NULL) == NULL ||
        dwarf_getsrcfiles(&unit_die, &files, &count) != 0 || index >= count) {
        return NULL;
    }
    return dwarf_filesrc(files, index, NULL, NULL);
}

const char *sn_line_table_function_file(sn_line_table *table, uint64_t address) {
    uint64_t until;
    unit *unit = find_unit(table, address, &until);
    Dwarf_Die function;
    if (unit == NULL || !find_function(&unit->contents, address, 0, &function)) {
        return NULL;
    }
    return full_path(&unit->die, declared_file(&function));
}

unsigned sn_line_table_inlined(sn_line_table *table, uint64_t address, sn_line_frame *frames, unsigned capacity) {
    sn_line line;
    uint64_t until;
    unit *unit = find_unit(table, address, &until);
    if (unit == NULL || !sn_line_table_find(table, address, &line)) {
        return 0;
    }
    sn_line_frame frame = {.file = line.file, .line = line.line};
    if (!unit->scopes.is_read) {
        sn_inlined_read(&unit->scopes, &unit->contents, table->most_ranges);
    }
    unsigned count = 0;
    uint32_t scope = sn_inlined_find(&unit->scopes, address);
    while (scope != UINT32_MAX && unit->scopes.items[scope].is_inlined && count < capacity) {
        const sn_inlined_scope *found = &unit->scopes.items[scope];
        frame.function = found->function;
        frames[count++] = frame;
        frame = (sn_line_frame){.file = full_path(&unit->die, found->call_file), .line = found->call_line};
        scope = found->parent;
    }
    if (count < capacity) {
        frame.function = scope == UINT32_MAX ? NULL : unit->scopes.items[scope].function;
        frame.is_outermost = true;
        frames[count++] = frame;
    }
    return count;
}
