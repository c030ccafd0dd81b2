/**
 * @fileoverview Source lines of one ELF file's code, from its DWARF information (versions 2 to 5) by libdw.
 *
 * Strings belong to the table. Used by symbols.c.
 */
#ifndef SONDE_IMAGE_LINES_H
#define SONDE_IMAGE_LINES_H

#include "image/elf_file.h"

typedef struct sn_line_table sn_line_table;

/** NULL when `file` has no DWARF information. `file` must stay open. */
sn_line_table *sn_line_table_read(const sn_elf_file *file);
void sn_line_table_free(sn_line_table *table);

bool sn_line_table_find(sn_line_table *table, uint64_t address, const char **file, unsigned *line);

/** Source file in which the outermost function around `address` is declared; NULL when that is not recorded. */
const char *sn_line_table_function_file(sn_line_table *table, uint64_t address);

#endif
