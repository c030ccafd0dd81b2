/**
 * @file sonde/tool.h
 * The interface between Sonde and its tools: all that a tool includes.
 *
 * A tool is a shared object that exports one `const sn_tool sn_tool_descriptor`. Sonde opens it, parses its options
 * from its table, and calls it back: once a block of the client's code to instrument it, and at events. Everything
 * here may be called from any callback unless its text says otherwise. Callbacks may run in several client threads at
 * once; what they share they must lock, except where the text names a lock that Sonde holds.
 */
#ifndef SONDE_TOOL_H
#define SONDE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Changes with every incompatible change of this header. Sonde refuses a tool of another version. */
#define SN_TOOL_INTERFACE 1

#define SN_EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(default)

/* ---------------------------------------------------------------- options */

typedef enum sn_option_type {
    SN_OPTION_FLAG,   /**< --name=yes|no into bool */
    SN_OPTION_NUMBER, /**< --name=N (decimal, 0x, or with suffix k, M, G: powers of 1024) into int64_t */
    SN_OPTION_STRING, /**< --name=TEXT into const char * */
    SN_OPTION_CHOICE, /**< --name=one of `choices` (separated by |) into int: its position */
} sn_option_type;

/** One row of a tool's option table; the table ends with a row whose name is NULL. */
typedef struct sn_option {
    const char *name;         /**< without the leading dashes */
    sn_option_type type;
    void *value;              /**< where the parsed value goes; holds the default before */
    const char *default_text; /**< as shown by --help */
    const char *choices;      /**< SN_OPTION_CHOICE only */
    const char *help;         /**< one line */
} sn_option;

/* ------------------------------------------------- instructions and operands */

typedef enum sn_instruction_kind {
    SN_KIND_OTHER,
    SN_KIND_JUMP,          /**< unconditional, direct */
    SN_KIND_JUMP_INDIRECT,
    SN_KIND_CONDITIONAL,   /**< conditional branch, loop forms included */
    SN_KIND_CALL,
    SN_KIND_CALL_INDIRECT,
    SN_KIND_RETURN,
    SN_KIND_SYSCALL,
    SN_KIND_TRAP,          /**< breakpoints, undefined instructions, interrupts */
} sn_instruction_kind;

typedef enum sn_operand_role {
    SN_ROLE_READ = 1,
    SN_ROLE_WRITTEN = 2,
    SN_ROLE_BOTH = 3,
    SN_ROLE_ADDRESS = 4, /**< address only: lea, prefetch, nop: no access */
} sn_operand_role;

typedef enum sn_operand_place {
    SN_PLACE_MEMORY,
    SN_PLACE_GENERAL,   /**< general-purpose register */
    SN_PLACE_VECTOR,
    SN_PLACE_MASK,
    SN_PLACE_FLAGS,
    SN_PLACE_X87,
    SN_PLACE_IMMEDIATE,
    SN_PLACE_CONTROL,   /**< segment, control, tile and other registers */
} sn_operand_place;

#define SN_NO_REGISTER 0xff

typedef struct sn_operand {
    uint8_t role;          /**< sn_operand_role */
    uint8_t place;         /**< sn_operand_place */
    bool is_explicit;      /**< named in the assembly text */
    bool is_conditional;   /**< may access less than `size`, or nothing: masked, gathered, repeated, conditional */
    bool is_float;         /**< elements are floating-point numbers */
    uint8_t reg;           /**< register number within its place; SN_NO_REGISTER otherwise */
    uint16_t element_size; /**< bytes */
    uint16_t element_count;
    uint32_t size;         /**< bytes; for repeated string instructions, of one element; 0 if it varies (xsave) */
    /* SN_PLACE_MEMORY: address = segment base + base + index * scale + displacement */
    uint8_t base, index;   /**< general registers, SN_NO_REGISTER if absent */
    uint8_t scale;
    uint8_t segment;       /**< 0, or which thread-base register */
    int64_t displacement;  /**< for program-counter-relative operands: the absolute address; for
                                a general register: 1 when the operand is its second byte, else 0 */
    int64_t immediate;     /**< SN_PLACE_IMMEDIATE */
} sn_operand;

/** One instruction of a block. Lives as long as the callback that it was given to. */
typedef struct sn_instruction {
    uint64_t address;     /**< in the client */
    uint8_t length;       /**< bytes */
    uint8_t kind;         /**< sn_instruction_kind */
    bool repeated;        /**< string instruction with a repeat prefix */
    uint64_t target;      /**< direct branches and calls: where to; else 0 */
} sn_instruction;

/** A block being instrumented: one entry, several exits. Control leaves at its end or at a taken branch. */
typedef struct sn_block sn_block;
/** A thread of the client. */
typedef struct sn_thread sn_thread;

uint64_t sn_block_address(const sn_block *block);
unsigned sn_block_size(const sn_block *block); /**< instructions */
const sn_instruction *sn_block_instruction(const sn_block *block, unsigned index);

/** Whether the block goes on after the (unconditional) branch at `index`, i.e. the branch is inside the block. */
bool sn_block_continues(const sn_block *block, unsigned index);

/**
 * The operands of an instruction, explicit ones first. They live as long as the callback. The count goes to *count;
 * NULL with *count 0 when the instruction is unknown to the decoder (it runs all the same).
 */
const sn_operand *sn_block_operands(sn_block *block, unsigned index, unsigned *count);

/* ------------------------------------------------------------------ counters */

/** A 64-bit counter that each thread has for itself, zero at first. */
typedef uint32_t sn_counter;

/** `count` new consecutive counters; the first one is returned. Fails the run with one line when there is no more room
    (some 100 million). */
sn_counter sn_counter_new(unsigned count);

/** Value of a counter in one thread (of which the caller knows that it is alive). */
uint64_t sn_counter_value(const sn_thread *thread, sn_counter counter);

/* ----------------------------------------------------------- inserting analysis */

/** Add `amount` to a counter each time control enters the block at its top. Placed where it disturbs least before the
    first way out; a fault or signal in between does not lose it. */
void sn_count_entry(sn_block *block, sn_counter counter, uint32_t amount);

/** Add `amount` each time the conditional branch at `index` is taken (and so leaves the block). */
void sn_count_taken(sn_block *block, unsigned index, sn_counter counter, uint32_t amount);

/** Repeated string instruction at `index`: add the iterations done to `iterations`, and 1 to `empty` each time that it
    was started with a zero count. */
void sn_count_iterations(sn_block *block, unsigned index, sn_counter iterations, sn_counter empty);

/** Call `function(thread, data)` before the instruction at `index`, with all of the client's state preserved. Costs
    some 100 ns. */
void sn_call_before(sn_block *block, unsigned index, void (*function)(sn_thread *thread, void *data), void *data);

/** A word of the tool's own, given back by the `interrupted` callback. */
void sn_block_set_data(sn_block *block, void *data);

/* ------------------------------------------------------------------- threads */

int sn_thread_id(const sn_thread *thread);        /**< the kernel's thread number */
void *sn_thread_data(const sn_thread *thread);    /**< the tool's own word, NULL at first */
void sn_thread_set_data(sn_thread *thread, void *data);

/** Visit all live threads. Threads neither start nor end meanwhile. */
void sn_threads_visit(void (*visit)(sn_thread *thread, void *data), void *data);

/* ------------------------------------------------------------------- symbols */

typedef struct sn_location {
    const char *function; /**< demangled, or NULL */
    const char *file;     /**< source file as recorded, or NULL */
    unsigned line;        /**< 0 when unknown */
    const char *module;   /**< path of the mapped file, or NULL */
    uint64_t function_address; /**< start of the function in the client, 0 when unknown */
    uint64_t function_size;
} sn_location;

/** Where a client code address comes from. Strings live until the end of the run. Takes locks; slow the first time a
    module is asked for. Returns false when not even the module is known. */
bool sn_locate(uint64_t address, sn_location *location);

/* -------------------------------------------------------------------- output */

/** The tool's report file: what --output names, else standard error (or --log-file). Closed by Sonde at the end. */
FILE *sn_output(void);

/** One line to the log, preceded by "sonde: ". */
void sn_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print one line to standard error and end the run with `status` before the client starts. For bad options. */
_Noreturn void sn_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The client's command line and, from the end callback, how it ended. */
int sn_client_arguments(const char *const **arguments); /**< returns how many */
int sn_client_process(void);                            /**< process id */

/* ---------------------------------------------------------------- descriptor */

/** What a tool is. Callbacks that are NULL are not called. */
typedef struct sn_tool {
    uint32_t interface;      /**< SN_TOOL_INTERFACE */
    const char *name;
    const char *version;
    const char *description; /**< one line */
    const sn_option *options;

    /** After option parsing, before the client starts. */
    void (*start)(void);
    /** Once a block, before it runs for the first time (again after it was discarded). Serialised by Sonde. */
    void (*instrument)(sn_block *block);
    /** A thread begins or ends; called in that thread. */
    void (*thread_start)(sn_thread *thread);
    void (*thread_end)(sn_thread *thread);
    /** In the child after a fork; only `thread` lives on. What was counted before belongs to the parent. */
    void (*fork_child)(sn_thread *thread);
    /** A signal or fault left a block early: the first `completed` of its instructions were executed on that pass.
        `data` is what sn_block_set_data() left. */
    void (*interrupted)(sn_thread *thread, void *data, unsigned completed);
    /** The process ends, or is about to be replaced by execve: write what was found. Other threads may still be
        alive, but none ends meanwhile. */
    void (*end)(void);
} sn_tool;

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
