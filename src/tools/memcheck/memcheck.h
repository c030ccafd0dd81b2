/**
 * @fileoverview What all files of the tool memcheck know of each other: settings, stacks, errors.
 *
 * memcheck.c is the descriptor. heap_calls.c replaces the program's allocating functions, by the allocator of blocks.c,
 * which knows every block; strings.c looks at the arguments of functions that copy and search; checks.c puts checks of
 * accesses into the program's code, by what addressability.c keeps, definedness.c those of undefined values, with frames.c,
 * which makes undefined what the stack gives up, and origins.c, which knows where undefined values were made.
 * system_calls.c looks at what the kernel is given, with the names of parameters.c; descriptors.c follows open files;
 * requests.c answers client requests, with pools.c and custom_blocks.c for the program's own allocators, named_blocks.c for
 * memory that has a name, ignored_ranges.c for what is not to be reported; leaks.c looks for blocks that nothing points to.
 * What any of these finds (again at the same place: repeats.c only counts) goes to errors.c, which keeps it once (stacks.c), asks
 * suppressions.c, and has report_text.c or report_xml.c print it; address.c says in words what lies at an address.
 *
 * Where behaviour is Valgrind's: its manual, chapters 2 (core) and 4 (Memcheck), and docs/internals/xml-output-protocol4.txt.
 */
#ifndef MEMCHECK_H
#define MEMCHECK_H

#include <sonde/tool.h>

typedef enum mc_leak_check { MC_LEAKS_NO, MC_LEAKS_SUMMARY, MC_LEAKS_FULL } mc_leak_check;
typedef enum mc_keep { MC_KEEP_ALLOC, MC_KEEP_FREE, MC_KEEP_BOTH, MC_KEEP_THEN, MC_KEEP_NONE } mc_keep;
typedef enum mc_generate { MC_GENERATE_NO, MC_GENERATE_ALL } mc_generate;

/** Kinds of leaks; sets of them are bits by these numbers. */
typedef enum mc_leak_kind { MC_REACHABLE, MC_POSSIBLE, MC_INDIRECT, MC_DEFINITE, MC_LEAK_KINDS } mc_leak_kind;

/** Ways to take a pointer into a block for one to its start; sets of them are bits. */
typedef enum mc_heuristic {
    MC_STDSTRING = 1, MC_LENGTH64 = 2, MC_NEWARRAY = 4, MC_MULTIPLE_INHERITANCE = 8, MC_ALL_HEURISTICS = 15,
} mc_heuristic;

typedef struct mc_settings {
    int64_t redzone_size, freelist_volume, freelist_big, num_callers, error_exitcode;
    int64_t malloc_fill, free_fill; /**< a byte; -1: none */
    bool error_limit, exit_on_first_error, shows_below_main, lists_errors, runs_freeres, undef_value_errors,
        partial_loads_ok, track_origins, is_xml, shows_mismatched_frees;
    int track_descriptors; /**< mc_track */
    int leak_check, leak_resolution, keep_stacktraces, generate;
    unsigned shown_leaks, counted_leaks, heuristics;
    const char *xml_file, *xml_user_comment;
    sn_texts suppressions;
} mc_settings;

extern mc_settings mc_current;

/* ------------------------------------------------------------------------------------------------- stacks.c */

#define MC_MOST_CALLERS 500

/** Where somebody was: code addresses, innermost first; those behind the first one are call instructions. Kept once, for ever. */
typedef struct mc_stack {
    uint32_t count;
    uint32_t number;  /**< from 1 on, in the order in which they were kept */
    uint64_t addresses[];
} mc_stack;

/** The stack of the instruction at `address` (0: the beginning of the innermost function) in a context; at most --num-callers. */
const mc_stack *mc_stack_of(sn_context context, uint64_t address);
/** The one that has this number. */
const mc_stack *mc_stack_numbered(uint32_t number);
/** The stack of just one instruction: who has called it is not known. */
const mc_stack *mc_stack_alone(uint64_t address);
/** The stack of the running thread's callback: of the request or system call that it is in. */
const mc_stack *mc_stack_here(sn_thread *thread);
/** Whether the `most` innermost addresses are the same. */
bool mc_stacks_agree(const mc_stack *left, const mc_stack *right, unsigned most);
/** A function's name that replaces what symbols say: of several names of one function, that by which users know it. */
void mc_name_function(uint64_t address, const char *name);

/** A line of a stack: a function, maybe inlined. */
typedef struct mc_frame {
    uint64_t address;
    const char *function; /**< demangled; NULL: unknown */
    const char *symbol;   /**< as in the file; of inlined functions the same as `function` */
    const char *path;     /**< of the source file, as recorded; NULL: unknown */
    const char *file;     /**< its last part */
    unsigned line;
    const char *module;   /**< path; NULL: unknown */
} mc_frame;

/** The lines of a stack: at most `capacity`; those below main are left out but with --show-below-main=yes. Returns how many. */
unsigned mc_stack_frames(const mc_stack *stack, mc_frame *frames, unsigned capacity);

/* ------------------------------------------------------------------------------------------------- errors.c */

typedef enum mc_kind {
    MC_INVALID_READ, MC_INVALID_WRITE, MC_INVALID_JUMP, MC_UNDEFINED_CONDITION, MC_UNDEFINED_VALUE, MC_SYSTEM_CALL, MC_CHECKED,
    MC_INVALID_FREE, MC_MISMATCHED_FREE, MC_OVERLAP, MC_FISHY_SIZE, MC_INVALID_POOL,
    MC_LEAK_REACHABLE, MC_LEAK_POSSIBLE, MC_LEAK_INDIRECT, MC_LEAK_DEFINITE,
} mc_kind;

/** Something to say beside an error: a text (NULL: none), and a stack (NULL: none). */
typedef struct mc_note {
    char *text;
    const mc_stack *stack;
} mc_note;

#define MC_MOST_NOTES 4

/** An error as it is found. Texts are the error's own, from the moment on that it is given to mc_report(). */
typedef struct mc_finding {
    mc_kind kind;
    uint64_t size;         /**< of the access, or of the value; leaks: bytes */
    uint64_t blocks;       /**< leaks */
    char *what;            /**< the line that says it */
    const char *detail;    /**< for suppressions: the system call's parameter, or the argument; NULL: none */
    const mc_stack *stack; /**< NULL: none */
    mc_note notes[MC_MOST_NOTES];
    unsigned note_count;
    bool is_shown, is_counted; /**< leaks may be only one of these */
} mc_finding;

typedef struct mc_error mc_error;

/** Report what the thread that runs has found; the error that it is, or NULL if it is not kept. */
mc_error *mc_report(sn_thread *thread, const mc_finding *finding);
/** A known error was found so many times more. */
void mc_report_again(mc_error *error, uint64_t times);

/** Whether a suppression matches it. */
bool mc_report_is_suppressed(const mc_finding *finding);

/** Whether errors are still wanted (--error-limit). */
bool mc_wants_errors(void);
/** Errors are not wanted any more: for SN_FAST functions, which read it. */
extern bool mc_errors_are_over;

/** An access of the running thread to memory that it must not access: by the instruction at `instruction`. */
void mc_report_access(sn_thread *thread, uint64_t instruction, uint64_t address, uint64_t size, bool is_write);
/** The same in a context that is not the current one. */
mc_error *mc_report_access_in(sn_thread *thread, sn_context context, uint64_t instruction, uint64_t address, uint64_t size, bool is_write);
/** The function that begins at `function` was given overlapping memory: to, from, and bytes, if it has such an argument. */
void mc_report_overlap(sn_thread *thread, sn_context context, uint64_t function, const uint64_t arguments[3], bool has_size);
/** An undefined value of `size` bytes was used by the instruction at `instruction`: for a conditional jump (or move) if
    `is_condition`, else as an address. `origin`: of origins.h. Returns the error that it is; NULL if it is not kept. */
mc_error *mc_report_undefined(sn_thread *thread, uint64_t instruction, uint64_t size, bool is_condition, uint32_t origin);
/** A system call's parameter, "write(buf)": memory at `address`, which is unaddressable, or undefined; address 0 with
    `is_undefined`: the value itself is undefined. `origin`: of what is undefined. */
void mc_report_parameter(sn_thread *thread, const char *parameter, uint64_t address, bool is_undefined, uint32_t origin);

/** Errors found so far, and in how many contexts; suppressed ones not counted. */
uint64_t mc_error_count(void);

/** Of the end: the list of errors with -s, and ERROR SUMMARY. */
void mc_errors_print_summary(void);
/** In a forked child, errors go on as the parent's were. */
void mc_errors_fork_child(void);

/* ------------------------------------------------------------------------------------------------ printing */

/** The number of a thread, from 1 in the order in which they began. */
unsigned mc_thread_number(const sn_thread *thread);

/** Format to memory of its own. */
char *mc_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** A number with commas between thousands; one of some buffers that are used in turn, for one line of text. */
const char *mc_number(uint64_t number);

/** Words of an option that takes several, with commas between; the last one's word is NULL, its bits 0. */
typedef struct mc_set_word {
    const char *word;
    unsigned bits;
} mc_set_word;

/** The bits of a list of words; false if one is unknown. */
bool mc_parse_set(const char *text, const mc_set_word *words, unsigned *set);
/** "definite,possible" to a set of mc_leak_kind. */
bool mc_parse_leak_kinds(const char *text, unsigned *set);

/** Give an array of `*room` items of `size` bytes room for `count`. */
void mc_grow(void *items, size_t *room, size_t count, size_t size);

#endif
