/**
 * @fileoverview Source lines of one ELF file's code, from its DWARF information (versions 2 to 5) by libdw.
 *
 * Strings belong to the table. Used by symbols.c.
 */
#ifndef SONDE_IMAGE_LINES_H
#define SONDE_IMAGE_LINES_H

#include "image/elf_file.h"
#include "image/symbols.h"

typedef struct sn_line_table sn_line_table;

/** NULL when `file` has no DWARF information. `file` must stay open. */
sn_line_table *sn_line_table_read(const sn_elf_file *file);
void sn_line_table_free(sn_line_table *table);

/** As sn_image_line(). */
bool sn_line_table_find(sn_line_table *table, uint64_t address, sn_line *line);

/** A function around an address: inlined there, or the one that holds the code. */
typedef struct sn_line_frame {
    const char *function; /**< interned; as in symbols where that is recorded; NULL if unknown */
    const char *file;     /**< where in it the code is; NULL if unknown */
    unsigned line;
    bool is_outermost;    /**< the function that holds the code */
} sn_line_frame;

/** The functions around `address`, the innermost first; returns how many, 0 where there is no line. */
unsigned sn_line_table_inlined(sn_line_table *table, uint64_t address, sn_line_frame *frames, unsigned capacity);

/** Source file in which the outermost function around `address` is declared; NULL when that is not recorded. */
const char *sn_line_table_function_file(sn_line_table *table, uint64_t address);

#endif
