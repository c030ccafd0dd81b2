/**
 * @fileoverview What blocks are: their types, and the names of the members at offsets, from the program's files.
 *
 * A block's type is that whose C++ vtable its first word points to; otherwise, as a guess, that to which a variable points
 * that is
 * declared in the line which allocated it. Needs the modules that Sonde's dumps name, with their debug information. Made by
 * heap.c.
 */
#ifndef SONDE_REPORT_HEAP_TYPES_H
#define SONDE_REPORT_HEAP_TYPES_H

#include "image/types.h"
#include "report/heap_file.h"

typedef struct sn_heapfile_types sn_heapfile_types;

/** For a file that was read, which must outlive it. */
sn_heapfile_types *sn_heapfile_types_new(const sn_heapfile *file);
void sn_heapfile_types_free(sn_heapfile_types *types);

/** The type of a block, whose first word is `head`. */
typedef struct sn_heapfile_typed {
    sn_data_image *image;
    const sn_data_type *type; /**< NULL: not known */
    bool is_guess;
} sn_heapfile_typed;

sn_heapfile_typed sn_heapfile_type_of(sn_heapfile_types *types, uint32_t block, uint64_t head);

/** "Window::mDocument": the member at an offset. False: it has none, or the type is not known. */
bool sn_heapfile_member(const sn_heapfile_typed *typed, uint64_t offset, char *text, size_t size);

/** Give global roots without a name that of their variable. */
void sn_heapfile_name_roots(sn_heapfile_types *types, sn_heapfile *file);

#endif
