/**
 * @fileoverview The functions of one ELF file by address: read once, sorted, without aliases.
 *
 * Names point into the file, which must stay open. Used by symbols.c.
 */
#ifndef SONDE_IMAGE_SYMBOL_TABLE_H
#define SONDE_IMAGE_SYMBOL_TABLE_H

#include "image/elf_file.h"
#include "image/symbols.h"

typedef struct sn_symbol_entry {
    uint64_t address, end;
    uint64_t farthest_end; /**< of all entries up to this one: how far back one must look */
    const char *name;      /**< raw */
    char *shown_name;      /**< demangled when first asked for; NULL before */
    uint8_t rank;          /**< which alias is preferred: lower is better */
    bool is_sized;         /**< the file states the size */
    bool is_stub;          /**< `name` is that of the function which the stub leads to */
} sn_symbol_entry;

typedef struct sn_symbol_table {
    sn_symbol_entry *entries;
    size_t count, room;
} sn_symbol_table;

/** Read the symbols of `file`, or where it has only dynamic ones and `debug` is not NULL, of `debug`; and the names of
    the stubs in .plt. What can't be read is left out. */
void sn_symbol_table_read(sn_symbol_table *table, const sn_elf_file *file, const sn_elf_file *debug);
/** The same of variables: those that have a size. */
void sn_symbol_table_read_variables(sn_symbol_table *table, const sn_elf_file *file, const sn_elf_file *debug);
void sn_symbol_table_free(sn_symbol_table *table);

/** The innermost function that covers `address`, or NULL; the answer is the same for all addresses from there to *until. */
sn_symbol_entry *sn_symbol_table_find(const sn_symbol_table *table, uint64_t address, uint64_t *until);

/** As sn_image_functions() of symbols.h. */
void sn_symbol_table_visit(const sn_elf_file *file, const sn_elf_file *debug, sn_function_visitor *visit, void *data);

#endif
