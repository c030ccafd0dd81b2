/**
 * @fileoverview Symbols and source lines of one ELF file on disk, by libelf and libdw.
 *
 * Knows files, not processes: addresses are those of the file (virtual addresses before relocation). Opened lazily and
 * once a file by service/locate.c. A corrupt file gives fewer answers, never a crash; what is read is checked by a fuzzer.
 * Also looks for separate debug files (.gnu_debuglink and build id under /usr/lib/debug) and, without a symbol table,
 * uses the dynamic one. Also .gnu_debugdata is not read.
 */
#ifndef SONDE_IMAGE_SYMBOLS_H
#define SONDE_IMAGE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/unwind.h"

typedef struct sn_image sn_image;

typedef struct sn_symbol {
    const char *name;      /**< demangled (C++, Rust); owned by the image */
    const char *raw_name;  /**< as in the file */
    uint64_t address;
    uint64_t size;         /**< up to the next symbol where the file says 0 */
    bool is_stub;          /**< of the linker: the name is that of the function it leads to, with "@plt" */
    uint64_t until;        /**< the answer is the same for addresses up to here */
} sn_symbol;

typedef struct sn_line {
    const char *file;      /**< full path as recorded (directory joined); owned by the image */
    unsigned line;
    uint64_t until;        /**< the answer is the same for addresses up to here */
} sn_line;

/** Never NULL except when memory is short or the file is no ELF file. */
sn_image *sn_image_open(const char *path);
void sn_image_close(sn_image *image);

/** The function that covers `address`. Returns false when there is none: then only `until` is set. */
bool sn_image_symbol(sn_image *image, uint64_t address, sn_symbol *symbol);
/** The source line of `address`. Returns false when none is known: then only `until` is set. */
bool sn_image_line(sn_image *image, uint64_t address, sn_line *line);
/** A function around an address. */
typedef struct sn_frame {
    const char *function;  /**< demangled; owned by the image; NULL if unknown */
    const char *file;      /**< full path as recorded, or NULL */
    unsigned line;
} sn_frame;

/** The functions inlined at `address`, the innermost first, and at the end the one that holds the code, each with the place
    in it. Returns how many, at most `capacity`; 0 where there is no line information. */
unsigned sn_image_inlined(sn_image *image, uint64_t address, sn_frame *frames, unsigned capacity);

/** Who may see a function: other modules too, if it is global. */
typedef enum sn_function_kind {
    SN_FUNCTION_LOCAL,
    SN_FUNCTION_GLOBAL,
    SN_FUNCTION_RESOLVER, /**< the symbol is an indirect function's (STT_GNU_IFUNC): it returns which one is meant */
} sn_function_kind;

/** `name` is the raw name. */
typedef void sn_function_visitor(void *data, const char *name, uint64_t address, sn_function_kind kind);

/** Visit every name of every function: those for the dynamic linker, and those of the symbol table, which stripped files
    have in their debug file. Aliases are told each, some names twice. */
void sn_image_functions(sn_image *image, sn_function_visitor *visit, void *data);

/** How to get from a frame at `address` to its caller's: false where the file does not say. */
bool sn_image_unwind(sn_image *image, uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule);

/** The variable that covers `address`; `is_stub` has no meaning. */
bool sn_image_variable(sn_image *image, uint64_t address, sn_symbol *symbol);

/** The name that the dynamic linker knows the file by (DT_SONAME); NULL if it has none. */
const char *sn_image_soname(sn_image *image);

/** Source file where the function at `address` is defined (DW_AT_decl_file, else the line table). NULL if unknown. */
const char *sn_image_function_file(sn_image *image, uint64_t address);
/** File offset -> virtual address by the program headers (a mapping's offset is how a process address is related). */
bool sn_image_address_of_offset(sn_image *image, uint64_t offset, uint64_t *address);

#endif
