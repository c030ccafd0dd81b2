/**
 * @fileoverview The core options of a run, parsed by src/cli and read everywhere.
 *
 * One global, written before the client starts and constant from then on.
 */
#ifndef SONDE_BASE_SETTINGS_H
#define SONDE_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/tool.h"

/** How returns are made (jit/translate.c). */
typedef enum sn_return_prediction {
    SN_RETURNS_AUTO, /**< as indirect jumps, until the program turns out to be a large one */
    SN_RETURNS_PREDICTED,
    SN_RETURNS_INDIRECT,
} sn_return_prediction;

typedef struct sn_settings {
    bool trace_children;              /**< --trace-children=yes|no: follow execve. */
    const char *trace_children_skip;  /**< --trace-children-skip=PATTERNS: comma-separated globs of paths, or NULL. */
    const char *log_file;             /**< --log-file=, unexpanded, or NULL for standard error. */
    const char *output;               /**< --output=, unexpanded, or NULL: where the tool's report goes. */
    sn_texts only, skip;              /**< --only=PATTERN, --skip=PATTERN: see service/select.h. */
    bool quiet;                       /**< -q */
    unsigned verbose;                 /**< number of -v */
    bool denies_valgrind;             /**< --running-on-valgrind=no: a program that asks is told that it runs natively. */
    bool stats;                       /**< --stats=yes: the engine's own counters at exit. */

    /* For who works on Sonde itself; listed by --help-debug. */
    uint64_t bisect_blocks;           /**< --debug-bisect=N: from block N on, translate one instruction a block and
                                           without instrumentation; UINT64_MAX when off. */
    uint64_t dump_block;              /**< --debug-dump-block=N: print block N's client code, analysis and emitted
                                           code; UINT64_MAX when off. */
    bool dump_blocks;                 /**< --debug-dump-blocks=yes: the same for every block. */
    bool verify_blocks;               /**< --debug-verify=yes: check every block against single-stepping. */
    uint64_t break_block;             /**< --debug-break-block=N: translate block N wrongly, for the test of
                                           verify_blocks; UINT64_MAX when off. */
    unsigned block_limit;             /**< --debug-block-limit=N: most instructions in a superblock (default 40). */
    unsigned analysis_threads;        /**< --analysis-threads=N: threads that handle full trace buffers; 0: none. */
    int return_prediction;            /**< --debug-return-prediction=auto|yes|no (sn_return_prediction). */
    bool no_superblocks;              /**< --debug-superblocks=no: end a block at its first branch. */
    bool no_links;                    /**< --debug-links=no: every block exit goes through the dispatcher. */
    bool no_fsgsbase;                 /**< --debug-fsgsbase=no: use arch_prctl even where wrfsbase works. */
    bool no_bmi2;                     /**< --debug-bmi2=no: no instructions of BMI2 in analysis code. */
    bool no_fast_decode;              /**< --debug-fast-decode=no: the decoding library for every instruction. */
    uint64_t cache_size;              /**< --debug-cache-size=BYTES: code cache size; 0 for the default. */

    const char *const *engine_arguments; /**< tool (by path) and options, NULL-terminated: repeated for traced children. */
    const char *engine_path;             /**< absolute path of the command to execute for a traced child. Its arguments
                                              are: this path, engine_arguments, --exec-path=FILE, "--", and the
                                              client's arguments from argument zero on. */
    bool following_exec;                 /**< --exec-path= was given: another Sonde follows an execve with this one.
                                              The program is that exact file (no PATH search), and report files
                                              are appended to. */
    int exec_filters;                    /**< --exec-filters=N: the seccomp filters of the program that made the execve,
                                              in a file that is open as N; -1 without. */
    int exec_program;                 /**< --exec-program=N: the program is open as N (it was executed by a descriptor),
                                              and --exec-path= is what it calls itself; -1 without. */
} sn_settings;

extern sn_settings sn_settings_current;

#endif
