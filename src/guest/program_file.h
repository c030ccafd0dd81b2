/**
 * @fileoverview Finding the file that an exec of a name ends at: PATH, #! lines, the ELF file, its interpreter.
 *
 * Nothing is mapped for the client here. The loader maps what was found; the emulation of execve asks first whether it
 * would succeed. Memory comes from the kernel, not from libc: the caller may be a thread that libc does not know.
 */
#ifndef SONDE_GUEST_PROGRAM_FILE_H
#define SONDE_GUEST_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "image/elf_header.h"

/** The kernel's bounds: nested scripts, and bytes of a file that are looked at. */
enum { SN_SCRIPT_DEPTH = 5, SN_SCRIPT_LINE = 256 };

/** What a #! line names. */
typedef struct sn_script {
    char interpreter[SN_SCRIPT_LINE];
    char argument[SN_SCRIPT_LINE]; /**< empty when there is none */
} sn_script;

typedef struct sn_program_file {
    /* When it can't be run: */
    int error;                /**< as execve would set errno, 0 when it can be run */
    int status;               /**< as a shell would exit, 0 when it can be run */
    char explanation[PATH_MAX + 128]; /**< "NAME: reason" */
    /* When it can: */
    char given[PATH_MAX];     /**< the file as the kernel would be given it: after the search in PATH */
    char path[PATH_MAX];      /**< absolute path of the ELF file, without symbolic links */
    bool by_shell;            /**< a text without #!, to be run by the shell as execvp does */
    unsigned script_count;
    sn_script scripts[SN_SCRIPT_DEPTH + 1]; /**< from the file given inwards */
    int descriptor;           /**< of the ELF file; -1 when closed */
    int linker_descriptor;    /**< of its PT_INTERP; -1 when there is none */
    char linker_name[PATH_MAX];
    sn_elf elf, linker_elf;
} sn_program_file;

/** Whether texts without #! are run by /bin/sh (as shells do) or refused (as the kernel does). */
typedef enum sn_text_policy { SN_TEXT_BY_SHELL, SN_TEXT_REFUSED } sn_text_policy;

/** Find `name`, in the list of folders `search_path` if that is not NULL and the name has no slash. If `descriptor` is not
    -1, the file is what that leads to, whatever the name. Returns NULL only when there is no memory; `error` tells whether
    it can be run. */
sn_program_file *sn_program_file_open(const char *name, int descriptor, const char *search_path, sn_text_policy policy);

/** Close what is open and give the memory back. */
void sn_program_file_close(sn_program_file *file);

/** Parse a #! line from the first bytes of a file (without the NUL that ends them); false if it is malformed. */
bool sn_script_parse(sn_script *script, const char *bytes, size_t size);

#endif
