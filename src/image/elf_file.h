/**
 * @fileoverview One ELF file in memory, and the search for the file with its debug information.
 *
 * Owns the mapping of the file: no descriptor stays open, for a client may close or count them. Should somebody cut
 * the file short while it is mapped, reading it faults, as it would for the client that runs it.
 * Used by symbols.c, symbol_table.c, lines.c and types.c.
 */
#ifndef SONDE_IMAGE_ELF_FILE_H
#define SONDE_IMAGE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_elf_file {
    Elf *elf;
    void *bytes;
    size_t size;
    char *path;
} sn_elf_file;

/** NULL when `path` can't be read or is no 64-bit little-endian ELF file. */
sn_elf_file *sn_elf_file_open(const char *path);
void sn_elf_file_close(sn_elf_file *file);

/** First section with this name, or of this type when `name` is NULL; NULL if there is none or its header is broken. */
Elf_Scn *sn_elf_file_section(const sn_elf_file *file, const char *name, uint32_t type, GElf_Shdr *header);

/** Go on to the next loadable segment: start with *next 0. False behind the last one. */
bool sn_elf_file_next_segment(const sn_elf_file *file, size_t *next, GElf_Phdr *header);

/** Data of a section, decompressed; NULL when it has none in the file or is broken. */
Elf_Data *sn_elf_section_data(Elf_Scn *section);

/** The file that holds what was stripped from `file`: by build id under /usr/lib/debug/.build-id, else by the name in
    .gnu_debuglink beside the file, in .debug, and under /usr/lib/debug. NULL when there is none that fits. */
sn_elf_file *sn_elf_file_open_debug(const sn_elf_file *file);

/** File /usr/lib/debug/.build-id/xx/yyyy.debug of a build id, NULL when it is missing. */
sn_elf_file *sn_elf_file_open_build_id(const void *id, size_t size);

#endif
