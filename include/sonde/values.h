/**
 * @file sonde/values.h
 * Values of operands: the framework for tools that look at what a program loads, stores and computes.
 *
 * A tool says once which operands it wants (sn_values_request) and puts SN_VALUES_CALLBACKS into its descriptor. It then gets
 * records, many at a time, with a state for each thread that the framework makes, hands out, and gives back for merging:
 * no lock and no inserted code is left to the tool. What is not asked for is decided when code is translated and costs
 * nothing when it runs.
 *
 * What is constant for a record (instruction, size, type, role) is a site, and known by its number. Records are of one
 * thread, in the order in which its instructions executed, or sorted by type, as the tool asks.
 */
#ifndef SONDE_VALUES_H
#define SONDE_VALUES_H

#include <sonde/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ------------------------------------------------------------------------ types */

/**
 * What the bytes of a value are. It follows from the instruction's definition: an instruction that only moves bytes (loads and
 * stores of vector registers, say) is taken for what its name says it moves, which is an estimate.
 */
typedef enum sn_value_type {
    SN_VALUE_INT8, SN_VALUE_INT16, SN_VALUE_INT32, SN_VALUE_INT64,
    SN_VALUE_INT128, SN_VALUE_INT256, SN_VALUE_INT512, /**< vectors of integers: the element size is the site's */
    SN_VALUE_HALF, SN_VALUE_HALF_128, SN_VALUE_HALF_256, SN_VALUE_HALF_512,
    SN_VALUE_SINGLE, SN_VALUE_SINGLE_128, SN_VALUE_SINGLE_256, SN_VALUE_SINGLE_512,
    SN_VALUE_DOUBLE, SN_VALUE_DOUBLE_128, SN_VALUE_DOUBLE_256, SN_VALUE_DOUBLE_512,
    SN_VALUE_EXTENDED, /**< 80 bits */
    SN_VALUE_OTHER,    /**< any other size: processor state, far pointers, what system calls access */
    SN_VALUE_TYPES,
} sn_value_type;

/** "int32", "double 256", ... */
const char *sn_value_type_name(sn_value_type type);

/* ---------------------------------------------------------------- what is asked for */

/** Where operands are: any of these, added up. */
enum {
    SN_VALUES_MEMORY = 1 << SN_PLACE_MEMORY,
    SN_VALUES_GENERAL = 1 << SN_PLACE_GENERAL,
    SN_VALUES_VECTOR = 1 << SN_PLACE_VECTOR,
    SN_VALUES_MASK = 1 << SN_PLACE_MASK,
    SN_VALUES_IMMEDIATE = 1 << SN_PLACE_IMMEDIATE,
    /* Those below cost much where an instruction has one: with values, it leaves the code cache before and behind itself. Of
       calls, returns and system calls nothing that they write there is told. */
    SN_VALUES_FLAGS = 1 << SN_PLACE_FLAGS,     /**< the whole register */
    SN_VALUES_X87 = 1 << SN_PLACE_X87,         /**< floating-point stack, numbered from its top before the instruction; what an
                                                    instruction that pushes writes, from the new one; and short vectors */
    SN_VALUES_CONTROL = 1 << SN_PLACE_CONTROL, /**< selectors, control and status words; not tiles and what only a system reads */
    /* And this costs as little as a constant. */
    SN_VALUES_PROGRAM_COUNTER = 1 << SN_PLACE_PROGRAM_COUNTER, /**< of near branches, calls and returns. Written: where they go,
                                                    be it behind a branch that is not taken. Read, by calls and direct branches:
                                                    the address behind them; that is also what is overwritten. Never explicit, and
                                                    its number is that behind the last of sn_block_operands(). */
};

/** When the value is taken. */
enum {
    SN_VALUES_READ = 1,        /**< before the instruction, of what it reads */
    SN_VALUES_WRITTEN = 2,     /**< after it, of what it writes */
    SN_VALUES_OVERWRITTEN = 4, /**< with SN_VALUES_WRITTEN: the value before as well, in the same record; not without SN_VALUES_BYTES */
    SN_VALUES_PREFETCHED = 8,  /**< addresses that are named but not accessed: prefetches and the like; no value */
};

/** What is a number of which kind. */
enum { SN_VALUES_INTEGER = 1, SN_VALUES_FLOAT = 2 };

/** What a record holds besides its site. */
enum {
    SN_VALUES_BYTES = 1,   /**< the value: without it, the address alone, which costs half as much */
    SN_VALUES_CONTEXT = 2, /**< the calling context; sn_values_start() then switches contexts on */
};

/** What is constant for records: all of them that come from one operand of one instruction. */
typedef struct sn_value_site {
    uint64_t instruction;   /**< its address; of system calls: that of the call */
    uint64_t information;   /**< the tool's own, from its filter; 0 */
    uint32_t size;          /**< bytes */
    uint16_t element_size;  /**< bytes */
    uint16_t element_count;
    uint8_t type;           /**< sn_value_type */
    uint8_t moment;         /**< SN_VALUES_READ, SN_VALUES_WRITTEN or SN_VALUES_PREFETCHED */
    uint8_t place;          /**< sn_operand_place */
    uint8_t reg;            /**< number within its place */
    uint8_t operand;        /**< number in sn_block_operands(); of system calls: of the argument */
    uint8_t instruction_length;
    bool is_float;
    bool is_system_call;    /**< the kernel made the access */
    bool is_return;         /**< a return instruction reads where it goes to */
} sn_value_site;

/** One value. Valid while the `take` callback runs that it was given to. */
typedef struct sn_value_record {
    uint64_t address;  /**< memory: where; registers: their number within their place */
    const void *value; /**< `size` bytes, and zeros up to a multiple of 8; NULL when no bytes were asked for or there are none */
    uint32_t site;
    uint32_t spot;     /**< a number for (site, context) in this thread, from 1 on: sn_values_spot() */
    sn_context context;/**< SN_NO_CONTEXT when none was asked for */
    uint16_t size;     /**< bytes */
    uint8_t type : 7;  /**< sn_value_type */
    bool is_return : 1;/**< as in the site */
    uint8_t moment : 4;/**< SN_VALUES_WRITTEN | SN_VALUES_OVERWRITTEN: sn_value_overwritten() may be asked */
    uint8_t place : 4; /**< sn_operand_place */
} sn_value_record;

/** The bytes that a write has overwritten, of a record that says so by its moment. */
static inline const void *sn_value_overwritten(const sn_value_record *record) {
    return (const char *)record->value + ((record->size + 7u) & ~7u);
}

/** Records of one thread. */
typedef struct sn_values_batch {
    void *state;                    /**< the thread's */
    const sn_value_record *records; /**< in order; or all of one type, in order among themselves */
    size_t count;
    int thread;                     /**< its kernel number */
} sn_values_batch;

/**
 * The same in the form that costs least to take: executions of a piece of a block, in the order of the thread. Record N of each
 * has its constants in constants[N]; of its words the first one is the address, the others are the value. A loop is often one
 * run of many executions. What the kernel accesses, and what is known only when an instruction runs, comes in runs of one
 * record.
 */
typedef struct sn_value_run {
    const sn_value_record *constants; /**< all but address, value, context; `spot` counts from the run's first_spot */
    const uint8_t *word_counts;       /**< words of each record */
    const uint64_t *words;            /**< of the first record of the first execution */
    uint32_t count;                   /**< records of an execution: at least 1 */
    uint32_t times;                   /**< executions: at least 1 */
    uint32_t stride;                  /**< words from one execution to the next */
    uint32_t first_spot;
    sn_context context;
} sn_value_run;

/** Runs of one thread. */
typedef struct sn_values_run_batch {
    void *state;
    const sn_value_run *runs;
    size_t count;
    int thread;
} sn_values_run_batch;

typedef struct sn_values_request {
    uint32_t places;   /**< SN_VALUES_MEMORY ... */
    uint32_t moments;  /**< SN_VALUES_READ ... */
    uint32_t kinds;    /**< SN_VALUES_INTEGER, SN_VALUES_FLOAT; 0: both */
    uint32_t parts;    /**< SN_VALUES_BYTES, SN_VALUES_CONTEXT */
    bool in_order;     /**< records of all types as they happened; else a batch has records of one type */
    bool system_calls; /**< also what system calls read and write, with the place SN_PLACE_MEMORY */
    bool explicit_only;/**< only operands that stand in the assembly text */

    /** NULL, or asked when code is translated: whether the operand (of which the masks above say that it is wanted) is;
        `*information` becomes the site's. Serialised by Sonde. */
    bool (*filter)(const sn_instruction *instruction, const sn_operand *operand, uint64_t *information);

    size_t state_size; /**< bytes of a thread's state, which is zeroed memory */
    /** Callbacks get a thread's state. NULL ones are not called; without `take` and `take_runs` batches are dropped. `take` runs in the thread, or, with --analysis-threads=N, in
        a worker beside it, never twice at once for a thread. */
    void (*begin)(void *state, int thread);
    void (*take)(const sn_values_batch *batch);
    void (*take_runs)(const sn_values_run_batch *batch); /**< instead of `take`; always in order */
    /** The thread's memory went (munmap), in order with its records: then they were all handed to `take`. */
    void (*unmapped)(void *state, uint64_t start, uint64_t end);
    /** The thread is about to free a block of the heap (<sonde/heap.h>), in order with its records: its first byte, and behind its
        last one that may be used. Not when realloc moves one, nor with sampling. Wanting it has a price at each call that frees. */
    void (*freed)(void *state, uint64_t start, uint64_t end);
    /** The thread has ended, or the process has: all its records were taken. Called once a thread, one at a time. */
    void (*finish)(void *state, int thread);
} sn_values_request;

/** From the tool's start callback, once. */
void sn_values_start(const sn_values_request *request);

/** From the tool's `end` callback: has `finish` called for threads that still live. */
void sn_values_end(void);

/** What a site is: by its number, as long as the process runs. Any thread. */
const sn_value_site *sn_value_site_at(uint32_t number);

/** Whether the value is, or its elements are, floating-point numbers. */
static inline bool sn_value_is_float(const sn_value_record *record) {
    if (record->type == SN_VALUE_OTHER) return sn_value_site_at(record->site)->is_float;
    return record->type >= SN_VALUE_HALF && record->type <= SN_VALUE_EXTENDED;
}

/** What a spot of a thread's records stands for. From `take` and `finish` of that state. */
void sn_values_spot(const void *state, uint32_t spot, uint32_t *site, sn_context *context);

/** How many spots the thread has: numbers are from 1 up to this. As above. */
uint32_t sn_values_spot_count(const void *state);

/** Each spot of the thread whose code was executed, in order, with how often: as many records as there were of it. What a tool
    would otherwise count record by record. From `finish` of that state, once: then these numbers are gone. */
void sn_values_visit_spots(void *state, void (*visit)(void *state, uint32_t spot, const sn_value_site *site, uint64_t times));

/* The tool's callbacks that are the framework's: SN_VALUES_CALLBACKS names them in the descriptor. */
void sn_values_instrument(sn_block *block);
void sn_values_thread_start(sn_thread *thread);
void sn_values_thread_end(sn_thread *thread);
void sn_values_fork_child(sn_thread *thread);
void sn_values_interrupted(sn_thread *thread, void *data, unsigned completed);
void sn_values_signal(sn_thread *thread, int number, uint64_t address);
void sn_values_memory_mapped(const sn_memory_range *range);
void sn_values_memory_unmapped(uint64_t start, uint64_t end);
void sn_values_system_call_before(sn_thread *thread, const sn_system_call *call);
void sn_values_system_call_after(sn_thread *thread, const sn_system_call *call);

#define SN_VALUES_CALLBACKS                                                                             \
    .instrument = sn_values_instrument, .thread_start = sn_values_thread_start,                         \
    .thread_end = sn_values_thread_end, .fork_child = sn_values_fork_child,                             \
    .interrupted = sn_values_interrupted, .signal = sn_values_signal,                                   \
    .memory_mapped = sn_values_memory_mapped,                                                           \
    .memory_unmapped = sn_values_memory_unmapped,                                                       \
    .system_call_before = sn_values_system_call_before, .system_call_after = sn_values_system_call_after

/* --------------------------------------------------------------------- sampling */

/** Rows for a tool's option table: --sample-on=N, --sample-off=N. Without them everything is recorded. */
#define SN_VALUES_OPTIONS                                                                                          \
    {"sample-on", SN_OPTION_NUMBER, &sn_values_sample_on, "all", NULL,                                             \
     "record bursts of so many instructions of a thread (see sample-off)"},                                        \
    {"sample-off", SN_OPTION_NUMBER, &sn_values_sample_off, "0", NULL, "instructions of a thread between bursts"}

extern int64_t sn_values_sample_on, sn_values_sample_off;

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
