/**
 * @fileoverview Loading the client: finds the program, follows #!, maps it and its interpreter, builds the first stack.
 *
 * Called once by guest/run.c before the first translation. Follows the kernel's binfmt_elf and binfmt_script.
 */
#ifndef SONDE_GUEST_LOADER_H
#define SONDE_GUEST_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Where the kernel says that a program executed by a descriptor lies. */
#define SN_DESCRIPTORS "/dev/fd/"

typedef struct sn_program {
    const char *path;          /**< absolute path of the ELF file that was mapped: what /proc/self/exe names */
    const char *name;          /**< what the kernel calls the process: the last part of the path that was executed */
    const char *const *arguments; /**< as the client sees them (after #!), NULL-terminated */
    uint64_t entry;            /**< where execution begins: the interpreter's entry, or the program's */
    uint64_t program_entry;    /**< AT_ENTRY */
    uint64_t load_bias;        /**< of the program */
    uint64_t stack_pointer;    /**< at entry: argc, argv, envp, auxv as the psABI says */
    uint64_t arguments_start, arguments_end;     /**< argument strings, for /proc/self/cmdline */
    uint64_t environment_start, environment_end;
    const void *auxiliary;     /**< auxv as given, for /proc/self/auxv (host copy) */
    uint64_t auxiliary_size;
    uint64_t start_code, end_code, start_data, end_data; /**< as in /proc/self/stat */
} sn_program;

extern sn_program sn_program_current;

/**
 * Find and check `file` without mapping anything: searched in PATH if `search` and without a slash; ELF class, machine,
 * type and program headers; #! lines up to 5 deep; the interpreter's existence. Returns 0, or the exit status that a
 * shell gives (127 not found, 126 found but cannot be run) after storing one line of explanation (without newline) in
 * `explanation`. `argument_zero` may be NULL.
 */
int sn_program_check(const char *file, bool search, char *explanation, size_t size);

/** A program that is executed by a descriptor. */
typedef struct sn_opened_program {
    int descriptor;    /**< -1: none, the name says all */
    bool name_ends;    /**< the name leads nowhere once the program runs, since a descriptor in it closes on execve */
} sn_opened_program;

/** What execve(file) would fail with: 0 or -errno. Unlike sn_program_check, a text without #! is -ENOEXEC: the client's own
    execvp or shell then decides. */
int sn_program_exec_error(const char *file, sn_opened_program opened);

/** The same, then map everything and build the stack. On failure prints one line and exits with the status. */
void sn_program_load(const char *file, bool search, const char *const *arguments, const char *const *environment,
                     sn_program *program);

#endif
