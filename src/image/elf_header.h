/**
 * @fileoverview What is needed of an ELF file to map it, read from bytes that nobody has checked.
 *
 * Pure functions over buffers: the loader and the check before exec read the bytes, a fuzzer feeds them others. Accepts
 * what the kernel's binfmt_elf accepts for x86-64, and refuses what it would crash on.
 */
#ifndef SONDE_IMAGE_ELF_HEADER_H
#define SONDE_IMAGE_ELF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sn_elf_error {
    SN_ELF_OK = 0,
    SN_ELF_NOT_ELF,
    SN_ELF_32_BIT,
    SN_ELF_OTHER_MACHINE,
    SN_ELF_NOT_A_PROGRAM,  /**< an object file, a core file */
    SN_ELF_BAD_HEADER,     /**< the file header contradicts itself */
    SN_ELF_BAD_SEGMENT,    /**< a program header contradicts itself */
    SN_ELF_TRUNCATED,      /**< the file ends before what its headers name */
} sn_elf_error;

/** The kernel's own bound: a table of 64 KiB. */
enum { SN_ELF_HEADER_SIZE = 64, SN_ELF_ENTRY_SIZE = 56, SN_ELF_ENTRIES_LIMIT = 65536 / SN_ELF_ENTRY_SIZE };

/** A PT_LOAD entry. */
typedef struct sn_elf_segment {
    uint64_t address, offset, file_size, memory_size, alignment;
    int protection; /**< PROT_* */
} sn_elf_segment;

typedef struct sn_elf {
    bool movable;              /**< ET_DYN */
    uint64_t entry;
    uint64_t table_offset;     /**< of the program headers in the file */
    unsigned entry_count;      /**< program headers */
    /* From the program headers: */
    uint64_t low, high;        /**< the span of all segments: whole pages, low before any shift */
    uint64_t alignment;        /**< greatest of all segments, at least a page, a power of two */
    uint64_t table_address;    /**< of the program headers once mapped, 0 if no segment holds them */
    uint64_t interpreter_offset, interpreter_size; /**< PT_INTERP with its NUL; size 0 when there is none */
    bool executable_stack;     /**< PT_GNU_STACK asks for it */
    unsigned segment_count;
    sn_elf_segment segments[SN_ELF_ENTRIES_LIMIT];
} sn_elf;

/** Read the file header: fills what comes before the program headers. */
sn_elf_error sn_elf_read_header(sn_elf *elf, const void *bytes, size_t size);

/** Read the program headers (`bytes`: entry_count of them) of a file of `file_size` bytes. */
sn_elf_error sn_elf_read_segments(sn_elf *elf, const void *bytes, size_t size, uint64_t file_size);

/** Whether the interpreter's name as read from the file (interpreter_size bytes) is usable: not empty, NUL at its end. */
bool sn_elf_interpreter_name_valid(const sn_elf *elf, const char *name);

/** A few words, without a full stop. */
const char *sn_elf_error_text(sn_elf_error error);

#endif
