/**
 * @fileoverview Data of one ELF file: the variables of its symbol tables, and the types of its DWARF information with their
 * members.
 *
 * For reports: which variable is at an address, which type has this name, which member is at an offset. Everything is read
 * when it is
 * first asked for. Addresses are those of the file. Used by src/report.
 */
#ifndef SONDE_IMAGE_TYPES_H
#define SONDE_IMAGE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_data_image sn_data_image;

/** A structure, class or union that the file defines. */
typedef struct sn_data_type {
    const char *name; /**< with its namespaces; interned */
    uint64_t size;
    uint64_t place;   /**< in the DWARF information */
} sn_data_type;

/** A variable, or other data with a symbol. */
typedef struct sn_data_object {
    const char *name; /**< demangled; interned */
    uint64_t address, size;
} sn_data_object;

/** NULL when the file can't be read or is none of ELF's. */
sn_data_image *sn_data_image_open(const char *path);
void sn_data_image_close(sn_data_image *image);

/** The addresses of the file from its beginning on (*low, that of the mapped byte 0) to the end of its data. False: it is
    not loaded so. */
bool sn_data_image_span(const sn_data_image *image, uint64_t *low, uint64_t *high);

/** The data that covers an address. */
bool sn_data_image_object(sn_data_image *image, uint64_t address, sn_data_object *object);

/** The type with a name; NULL: none. */
const sn_data_type *sn_data_image_type(sn_data_image *image, const char *name);

/** The type to which a variable points that is declared in this line of a source file (whose full path, or the part
    behind its last slash, is given), if `size` bytes are one or several of it; NULL: none, or several different ones. */
const sn_data_type *sn_data_image_type_at_line(sn_data_image *image, const char *file, unsigned line, uint64_t size);

/** The member at an offset: "next", "title._M_dataplus", "slots[3]". Offsets behind the first element of an array of
    the type are in a later element: "[2].next". False: there is none. */
bool sn_data_image_member(sn_data_image *image, const sn_data_type *type, uint64_t offset, char *text, size_t size);

#endif
