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
#define SN_TOOL_INTERFACE 3

#define SN_EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(default)

/* ---------------------------------------------------------------- options */

typedef enum sn_option_type {
    SN_OPTION_FLAG,   /**< --name=yes|no into bool */
    SN_OPTION_NUMBER, /**< --name=N (decimal, 0x, or with suffix k, M, G: powers of 1024) into int64_t */
    SN_OPTION_STRING, /**< --name=TEXT into const char * */
    SN_OPTION_CHOICE, /**< --name=one of `choices` (separated by |) into int: its position */
    SN_OPTION_LIST,   /**< --name=TEXT, any number of times, into sn_texts */
    SN_OPTION_NUMBERED, /**< --nameN=TEXT with a decimal number N, any number of times, into sn_numbered_texts */
} sn_option_type;

/** Values of an option that may be given several times, in their order. */
typedef struct sn_texts {
    const char **items;
    size_t count;
} sn_texts;

/** The same, each with the number that its option's name ended in. */
typedef struct sn_numbered_texts {
    struct sn_numbered_text {
        const char *text;
        uint32_t number;
    } *items;
    size_t count;
} sn_numbered_texts;

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
    SN_PLACE_PROGRAM_COUNTER, /**< of values only (<sonde/values.h>): sn_block_operands() leaves it out */
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
    bool accesses_vary;   /**< how much memory it accesses, or where, is known only when it runs: repeated string
                               instructions, gathers, scatters, masked vectors, processor state: see
                               sn_insert_accesses() */
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

/** Add to a counter from C code that the thread itself runs, or of a thread that the caller knows to stand still. */
void sn_counter_add(sn_thread *thread, sn_counter counter, int64_t amount);

/* ----------------------------------------------------------- inserting analysis */

/** Add `amount` to a counter each time control enters the block at its top. Placed where it disturbs least before the
    first way out; a fault or signal in between does not lose it. */
void sn_count_entry(sn_block *block, sn_counter counter, uint32_t amount);

/** Add `amount` each time the conditional branch at `index` is taken (and so leaves the block). */
void sn_count_taken(sn_block *block, unsigned index, sn_counter counter, uint32_t amount);

/** Whether a branch is expected to be taken more often than not: it goes back, as the last one of a loop does. */
bool sn_branch_goes_back(const sn_block *block, unsigned index);

/** Count a conditional branch on the side where less is to be expected, which in a loop is worth half of what counting costs:
    each time that it is not taken if sn_branch_goes_back(), else each time that it is. The rest of its executions follows. */
void sn_count_rarer(sn_block *block, unsigned index, sn_counter counter);

/** Repeated string instruction at `index`: add the iterations done to `iterations`, and 1 to `empty` each time that it
    was started with a zero count. */
void sn_count_iterations(sn_block *block, unsigned index, sn_counter iterations, sn_counter empty);

/** Call `function(thread, data)` before the instruction at `index`, with all of the client's state preserved. Costs
    some 100 ns. Short for sn_insert_before() and sn_call(). */
void sn_call_before(sn_block *block, unsigned index, void (*function)(sn_thread *thread, void *data), void *data);

/*
 * Analysis code is a list of operations on virtual registers, inserted at a place: before or after an instruction, or on
 * the taken way of a conditional branch. First choose the place, then add operations; operations at one place run in the
 * order in which they were added. A virtual register belongs to the block. It may be used at later places than the one
 * where it got its value (it is kept in memory meanwhile). Analysis code is invisible to the client: registers, flags and
 * memory stay its own, also when it faults or gets a signal.
 *
 * An instruction that faults has run the code before it, and not the code after it. One that is started again after
 * the client's handler runs the code before it again.
 */

/** A virtual register: 64 bits. */
typedef uint32_t sn_value;

/** The place where operations are added from now on. The one before the first instruction is the block's entry. */
void sn_insert_before(sn_block *block, unsigned index);
/** After the instruction at `index`, when it goes on to the next one: not for unconditional branches. */
void sn_insert_after(sn_block *block, unsigned index);
/** Where the conditional branch at `index` is taken. */
void sn_insert_taken(sn_block *block, unsigned index);

/** A constant: costs nothing until it is used. */
sn_value sn_constant(sn_block *block, uint64_t constant);
/** The thread that runs. */
sn_value sn_current_thread(sn_block *block);

/** Address that a memory operand of the instruction at the place has now; `operand` is its number in
    sn_block_operands(). Before the instruction it is what the instruction will access; not defined for operands of an
    instruction whose accesses vary. Of push and call: where they will store; of pop and return: where they load. */
sn_value sn_operand_address(sn_block *block, unsigned operand);

/** Value that an operand of at most 8 bytes has now, zero-extended: general and mask registers, memory, immediates.
    Reading a memory operand before the instruction may fault in the client's name, as the instruction would. */
sn_value sn_operand_value(sn_block *block, unsigned operand);

/** Whether sn_operand_value() and sn_operand_copy() can be asked for this operand. */
bool sn_operand_is_readable(const sn_operand *operand);

/** Copy the operand's bytes (at most 64) to tool memory at address + offset: vector registers and wide memory too. */
void sn_operand_copy(sn_block *block, unsigned operand, sn_value address, int32_t offset);

/** The client's stack pointer as it is now. */
sn_value sn_stack_pointer(sn_block *block);

/** Load 1, 2, 4 or 8 bytes of tool memory, zero-extended. */
sn_value sn_load(sn_block *block, sn_value address, int32_t offset, unsigned size);
/** Store the low 1, 2, 4 or 8 bytes. */
void sn_store(sn_block *block, sn_value address, int32_t offset, sn_value value, unsigned size);

typedef enum sn_operator {
    SN_ADD, SN_SUBTRACT, SN_MULTIPLY,
    SN_AND, SN_OR, SN_XOR,
    SN_SHIFT_LEFT, SN_SHIFT_RIGHT, SN_SHIFT_RIGHT_SIGNED, /**< by b modulo 64 */
} sn_operator;

/** The result of `how` on a and b. Additions of constants and copies leave the flags alone and are cheapest. */
sn_value sn_compute(sn_block *block, sn_operator how, sn_value a, sn_value b);
/** Give `to` (the result of an earlier operation, no constant) the value of `from`. */
void sn_assign(sn_block *block, sn_value to, sn_value from);

typedef enum sn_condition {
    SN_EQUAL, SN_NOT_EQUAL, SN_BELOW, SN_AT_LEAST, /**< unsigned */
    SN_LESS, SN_NOT_LESS,                          /**< signed */
} sn_condition;

/** A place further on in the analysis code at the same place of the block. */
typedef uint32_t sn_label;
sn_label sn_label_new(sn_block *block);
/** Go to the label if `a condition b`. */
void sn_branch_if(sn_block *block, sn_condition condition, sn_value a, sn_value b, sn_label label);
/** The label is here. */
void sn_label_here(sn_block *block, sn_label label);

/** A 64-bit slot that each thread has for itself, zero at first (one of some hundred). A vfork child, of which the tool is
    not told, begins with its parent's: what they point to must do for it too. */
typedef uint32_t sn_slot;
sn_slot sn_slot_new(void);
sn_value sn_slot_load(sn_block *block, sn_slot slot);
void sn_slot_store(sn_block *block, sn_slot slot, sn_value value);
uint64_t *sn_slot_of(sn_thread *thread, sn_slot slot); /**< from C code */

/** The running thread's value of a counter. What sn_count_entry() adds for this block may already be in it or not. */
sn_value sn_counter_load(sn_block *block, sn_counter counter);

/** Add to a counter at this place. */
void sn_count(sn_block *block, sn_counter counter, sn_value amount);

/** Add to the counter `index` (a value of 32 bits) behind `first`. */
void sn_count_indexed(sn_block *block, sn_counter first, sn_value index, sn_value amount);

/** Call any C function with up to 6 arguments, the client's whole state being preserved: some 100 ns. The function may do
    all that callbacks may; its arguments are integers of 64 bits or pointers, its result is ignored. */
void sn_call(sn_block *block, void *function, unsigned count, const sn_value *arguments);

/** Call a leaf function compiled with SN_FAST: some nanoseconds. It may use no vector registers, no thread-local
    variables, no string instructions (the direction flag is the client's) and no function that is not SN_FAST itself, nor
    one that the compiler calls of its own accord: copy and clear large objects piece by piece, as gcc makes calls of
    memcpy() and memset(), or string instructions, of assignments to them, and with -O3 or
    -ftree-loop-distribute-patterns of loops. Up to 6 arguments; returns a 64-bit value. */
sn_value sn_call_fast(sn_block *block, void *function, unsigned count, const sn_value *arguments);

/** If `a condition b`, which should be rare, call `function(thread, data, a, b, stack pointer of the client)`, a leaf function
    as above, whose result is ignored. Where it is not called, this costs the comparison. */
void sn_call_fast_if(sn_block *block, sn_condition condition, sn_value a, sn_value b, void *function, uint64_t data);

#define SN_FAST __attribute__((target("general-regs-only"), no_stack_protector, no_instrument_function, aligned(16)))

/** One access to memory as it happened. */
typedef struct sn_access {
    uint64_t address;
    uint32_t size;
    uint8_t role;    /**< SN_ROLE_READ or SN_ROLE_WRITTEN */
    uint8_t operand; /**< number in sn_block_operands() */
} sn_access;

/**
 * For an instruction whose accesses vary: `function(thread, accesses, count, data)` is called with those that it makes, in
 * order: an element a row, masked-off lanes and repetitions that do not happen left out; processor state in pieces of 8
 * bytes. Called before the instruction, for repeated ones after it (and when a signal or fault ends it early, with
 * what was done). Maybe several times, if there are many. Not called when there are none. Costs some 200 ns.
 */
void sn_insert_accesses(sn_block *block, unsigned index,
                        void (*function)(sn_thread *thread, const sn_access *accesses, size_t count, void *data),
                        void *data);

/** How sn_on_unreadable()'s function is called: bits. */
enum {
    SN_UNREADABLE_REPEATED = 1, /**< a repeated instruction has faulted; what it did before was told */
    SN_UNREADABLE_HANDLED = 2,  /**< and the program handles that: the thread's context is the handler's, whose caller it was */
};

/**
 * Have `function(thread, instruction, how)` called in the engine when code in front of an instruction could not read what it
 * looks at, which is memory of the client or its shadow (shadow.h): the instruction is about to fault, or it accesses what the
 * kernel placed where there are no shadows, as io_uring's rings. It then runs without analysis code. Also when a repeated
 * instruction has faulted whose accesses are told (sn_insert_accesses()). sn_thread_accesses() tells what it accesses. Before
 * the first instruction; one function a tool.
 */
void sn_on_unreadable(void (*function)(sn_thread *thread, uint64_t instruction, unsigned how));

/** The accesses that the instruction at which the thread stands is about to make, in order; a repeated one's next iteration.
    Only for the function of sn_on_unreadable(). Writes at most `capacity`, returns how many there are of these. */
size_t sn_thread_accesses(sn_thread *thread, uint64_t instruction, sn_access *accesses, size_t capacity);

/* -------------------------------------------------------------------- traces */

/**
 * A trace is a stream of records that instrumented code appends to, into a buffer of each thread's own; full buffers are
 * handed to a callback. Records have one size; appending has no check: the buffer ends at a page that faults.
 */
typedef struct sn_trace sn_trace;

/** A full buffer, or what is left when a thread ends, before fork, exec, and the end. */
typedef struct sn_batch {
    const void *records;
    size_t count;
    int thread;               /**< kernel number of the thread that produced it */
    void *thread_data;        /**< its sn_thread_data() */
    sn_trace *trace;
} sn_batch;

typedef struct sn_trace_options {
    unsigned record_size;     /**< bytes: 1, 2, 4, 8, 16, 32, 64 or 128 */
    size_t buffer_size;       /**< bytes a thread; 0: 512 KiB */
    /** Called in the thread that produced the batch, with the client stopped at an instruction, or, with
        --analysis-threads=N, in a worker beside it: batches of one thread in order and never two at once. */
    void (*batch)(const sn_batch *batch);
} sn_trace_options;

/** From the start callback only. At most 8 traces. */
sn_trace *sn_trace_new(const sn_trace_options *options);

/** One field of a record: `value` is stored at `offset` in `size` bytes (1, 2, 4 or 8); or, if `copies_operand`, the
    bytes of the operand with the number `value` are. */
typedef struct sn_field {
    uint16_t offset;
    uint8_t size;
    bool copies_operand;
    sn_value value;
} sn_field;

/** Append a record. Bytes that no field covers keep what an older record left. */
void sn_trace_append(sn_block *block, sn_trace *trace, unsigned count, const sn_field *fields);

/** What a field of a record holds that stands for an access. */
typedef enum sn_access_part {
    SN_ACCESS_CONSTANT, /**< `constant` of the field */
    SN_ACCESS_ADDRESS,
    SN_ACCESS_SIZE,     /**< bytes */
    SN_ACCESS_ROLE,     /**< SN_ROLE_READ or SN_ROLE_WRITTEN */
    SN_ACCESS_OPERAND,  /**< number in sn_block_operands() */
} sn_access_part;

/** The low `size` bytes (1, 2, 4 or 8) of a part of the access go to `offset`. A field may lie in one before it. */
typedef struct sn_access_field {
    uint16_t offset;
    uint8_t size;
    uint8_t part;      /**< sn_access_part */
    uint64_t constant; /**< SN_ACCESS_CONSTANT */
} sn_access_field;

/**
 * For an instruction whose accesses vary: append each access that it makes, in the order and at the time that
 * sn_insert_accesses() says, as `records` records one behind the other, to which the offsets of the at most 8 fields
 * refer. Accesses that follow from the general and the mask registers (repeated string instructions, elements under a
 * mask, bits addressed by number) cost some nanoseconds and as much again for each access; for all others, and when the
 * buffer's end is near, it is as if a function given to sn_insert_accesses() called sn_trace_write().
 * Ends the run with one line if the fields do not fit into the records, or these into 128 bytes.
 */
void sn_trace_append_accesses(sn_block *block, unsigned index, sn_trace *trace, unsigned records, unsigned count,
                              const sn_access_field *fields);

/** Append a record from C code that the thread itself runs (called functions, events). */
void sn_trace_write(sn_thread *thread, sn_trace *trace, const void *record);

/** Hand what the thread's buffer holds to the callback now (from C code that the thread itself runs). */
void sn_trace_flush(sn_thread *thread, sn_trace *trace);

/* -------------------------------------------------------- switching at run time */

/** Stop calling `instrument`, and run bare code; or begin again. From any callback but `instrument`; takes effect in all
    threads before it returns to client code. */
void sn_instrumentation_enable(bool on);
/** What was asked for last; true at first. */
bool sn_instrumentation_is_enabled(void);

/** Have all blocks instrumented anew, since the tool would now insert something else. As above. */
void sn_instrumentation_renew(void);

/**
 * From the start callback, once: keep the client's code in two versions, 0 and 1, side by side, between which each thread changes by
 * itself: after so many instructions in one it goes on in the other, and back. `instrument` is asked for the blocks of each
 * (sn_block_version()): a tool may record in one of them, and insert nothing into the other, which then runs at almost the
 * program's own speed. Changing costs a microsecond or so, and stops no other thread.
 *
 * The numbers are estimates: in version 1, blocks are counted where they begin, up to the first branch that is expected to be
 * taken; in version 0, which is to be the fast one, only where loops go round and at calls, for as many instructions as
 * these have stood for in version 1. A vfork child stays in version 0. With --verify-blocks threads stay in the version that they begin in.
 */
typedef struct sn_versions {
    int64_t instructions[2]; /**< that a thread stays in each; at least 1, and some 100 are the least that it does */
    unsigned first;          /**< in which threads begin */
    /** The thread goes on in `version`. In the engine, in the thread itself, at an instruction; NULL: nobody wants to know. */
    void (*changed)(sn_thread *thread, unsigned version);
} sn_versions;
void sn_versions_start(const sn_versions *versions);
/** The version that a block belongs to: 0 where there is one. */
unsigned sn_block_version(const sn_block *block);
/** The version that a thread is in, in the thread itself; from SN_FAST functions too. */
unsigned sn_thread_version(const sn_thread *thread);

/** Whether the code at `address` is what the user selected by --only= and --skip=. `instrument` gets only blocks of which
    every instruction is; this is for what tools learn of code in other ways. */
bool sn_selected(uint64_t address);

/** A word of the tool's own, given back by the `interrupted` callback. */
void sn_block_set_data(sn_block *block, void *data);

/* ------------------------------------------------------------------- threads */

int sn_thread_id(const sn_thread *thread);        /**< the kernel's thread number */
void *sn_thread_data(const sn_thread *thread);    /**< the tool's own word, NULL at first */
void sn_thread_set_data(sn_thread *thread, void *data);

/** Visit all live threads. Threads neither start nor end meanwhile. */
void sn_threads_visit(void (*visit)(sn_thread *thread, void *data), void *data);

/** The thread that runs the callback. */
sn_thread *sn_running_thread(void);

/** Have `function(thread)` called in the engine, where all of C may be used, by this thread itself: before it goes on behind the
    instruction that it is at, or at the end of the callback it is in. For C code that the thread runs, SN_FAST functions included,
    which find something that they cannot deal with there. Costs some microseconds. A call that was not made yet is replaced. */
void sn_attend(sn_thread *thread, void (*function)(sn_thread *thread));

/** Call `work` while all other threads stand still, each at an instruction or in a system call, and none starts or ends. From
    callbacks in the engine, when the caller holds no lock that a callback may wait for. */
void sn_while_still(void (*work)(void *data), void *data);

/** The value of general register `number` (as in sn_operand.reg), and its name; NULL if there is no such. Of the thread that
    runs, from C code; of others, while they stand still. */
const char *sn_thread_register(const sn_thread *thread, unsigned number, uint64_t *value);
/** The instruction that the thread is at, or behind, in the callback that it is in: a system call's, a request's. As above. */
uint64_t sn_thread_program_counter(const sn_thread *thread);
/** The stack pointer among them. */
uint64_t sn_thread_stack_pointer(const sn_thread *thread);

/* ---------------------------------------------------------- calling contexts */

/**
 * A calling context is a chain of calls: from the first function of a thread (or of a stack that the client made itself)
 * through call sites to a function. Sonde keeps a shadow stack of each of the client's stacks, with a few instructions at
 * calls, returns and function entries, once a tool asks for it; a context gets its number when somebody wants to know it.
 * Numbers are those of one tree for all threads, from 1 on, and stay what they are to the end of the run.
 *
 * The shadow stack follows tail calls (at most 8 in a row), longjmp, exceptions, switches of stacks, stacks that are moved,
 * handlers, and calls through stubs of the linker, which end in the real function. A function is known by its symbol, or by
 * being called. While instrumentation is off (sn_instrumentation_enable()) nothing is followed; when it is switched on again
 * all threads begin anew.
 */
typedef uint32_t sn_context;
#define SN_NO_CONTEXT 0

/** A call that has not returned. */
typedef struct sn_call_frame {
    uint64_t slot;    /**< for Sonde: where the return address ends, and marks */
    uint32_t site;    /**< for Sonde: the call site */
    uint32_t context; /**< its sn_context, SN_NO_CONTEXT while nobody has asked; or what sn_contexts_watch_all() says */
    uint64_t target;  /**< the function: where control entered it. A call through a stub: the stub, until the function
                           begins */
    uint64_t data;    /**< what sn_contexts_watch() is for; else 0 */
} sn_call_frame;

/** From the start callback: keep shadow stacks. */
void sn_contexts_enable(void);

/** From the start callback, after sn_contexts_enable(), where the code has two versions (sn_versions_start()): follow calls in this
    one only, so that the other has no code for it. A thread that comes to the version has the calls that it is in found by
    unwinding its stack, which knows no functions that went on in others by tail calls. In the other one, C code that asks for
    the thread's context is answered by unwinding; inserted code can't ask. Not for tools that have calls watched or traced;
    with hooks, all calls are followed all the same. */
void sn_contexts_only_in(unsigned version);

/** From the start callback, instead, and before hooks are added: contexts are found by unwinding the client's stack when C code
    asks, instead of following all calls: calls cost nothing, and asking costs some 50 ns where the stack is mostly what it was
    when it was asked last. There are no shadow stacks then: inserted code can't ask, nor can calls be watched or traced.
    Functions that went on in others (tail calls) are not there; callers of code that has neither call frame information nor
    frame pointers are not found. */
void sn_contexts_enable_unwound(void);

/** Called by the thread itself, on its engine stack, in the code cache: must be SN_FAST. */
typedef void sn_call_watcher(sn_thread *thread, sn_call_frame *frame);

/** From the start callback, after sn_contexts_enable(): the `data` of each new frame is the value of `counter` then, and
    `left` is called before a frame goes, also by a jump out of it. Frames of threads that end, and those of stacks that are
    given up, are not told as left. */
void sn_contexts_watch(sn_counter counter, sn_call_watcher *left);

/** From the start callback, after sn_contexts_watch(): `left` is called for direct calls as well, which costs some
    nanoseconds more a call. The tool does not ask for contexts (sn_current_context() and the like), and may keep a number
    of its own in each frame's `context`: it is 0 in new frames, and again when a frame's `target` changes. The `data` of
    the first frame of a stack that a signal handler runs on is that number of the frame that was interrupted, else 0. */
void sn_contexts_watch_all(void);

/** With sn_contexts_watch(): for the call instruction at `index`, if it is a direct one, a counter of what `counter` has gone
    up by during its calls, those that have ended. `left` is not called for these, for they end in a few instructions. What a
    stub leads to, if one is called, is found in the memory that it reads (sn_block_stub_size()). */
bool sn_call_counter(const sn_block *block, unsigned index, sn_counter *inclusive);
/** The same of a frame: whether its call is such a one. May be called from SN_FAST functions. */
bool sn_call_frame_counter(const sn_call_frame *frame, sn_counter *inclusive);

/** The address of the call instruction of a frame: 0 for tail calls and signal handlers. May be called from SN_FAST
    functions. */
uint64_t sn_call_frame_site(const sn_call_frame *frame);
/** Whether it is a signal handler's. May be called from SN_FAST functions. */
bool sn_call_frame_is_handler(const sn_call_frame *frame);
/** Where on the client's stack its return address lies; 0 of the first one of a stack. May be called from SN_FAST functions. */
uint64_t sn_call_frame_slot(const sn_call_frame *frame);

/** The frame that the thread is in; may be called from SN_FAST functions. Its `target` may be 0 when it is the first one of
    a stack; what is below it is found by sn_call_frame_below(). */
sn_call_frame *sn_call_frame_of(sn_thread *thread);
/** The frame below, NULL below the first one of a stack; may be called from SN_FAST functions. */
sn_call_frame *sn_call_frame_below(sn_call_frame *frame);
/** Where the first return address lies of the stack that the thread is on; 0: there is none yet. May be called from SN_FAST
    functions, and for threads that stand still. */
uint64_t sn_call_stack_start(sn_thread *thread);

/**
 * What tells of frames in a trace, at the time that they come and go, among the tool's own records. A word's kind is in its
 * highest 16 bits, which no address has.
 *
 * When a function begins, there are three words: the frame that it begins in, where it was called from, and the function. Again
 * for the same frame and site if what began before was not yet the function that was called, but a linker that looked for it.
 * A frame that goes is told together with those above it, unless it goes with all of its stack.
 */
typedef enum sn_frame_word {
    SN_FRAME_BEGAN = 0xfff0, /**< the address of the sn_call_frame, which is not to be read: it may be another call's by now */
    SN_FRAME_SITE,           /**< a number: sn_call_site_address() */
    SN_FRAME_FUNCTION,       /**< where it begins */
    SN_FRAME_GONE,           /**< the address of a frame: it and those above it on its stack are gone */
    SN_FRAME_NEW_STACK,      /**< the address of the first frame of a stack that begins, where another one may have been */
} sn_frame_word;

static inline unsigned sn_frame_word_kind(uint64_t word) { return (unsigned)(word >> 48); }
static inline uint64_t sn_frame_word_value(uint64_t word) { return word & ((UINT64_C(1) << 48) - 1); }

/** From the start callback, after sn_contexts_enable(): append such words to a trace of records of 8 bytes. At most 2 traces. */
void sn_contexts_trace(sn_trace *trace);

/** Of a SN_FRAME_SITE: the address of the call instruction; 0 for tail calls and signal handlers, and for the first frame of a
    stack. Any thread may ask. */
uint64_t sn_call_site_address(uint32_t site);
/** Whether it is a call instruction; or where signal handlers are called from. */
static inline bool sn_call_site_is_call(uint32_t site) { return site > 1; }
static inline bool sn_call_site_is_signal(uint32_t site) { return site == 1; }
/** The address of the first frame of the stack that has a frame at that address: it tells stacks apart. */
uint64_t sn_call_frame_first(uint64_t frame);

/** Whether a function begins at the instruction at `index`. Code that the tool inserts before it runs when the function's
    frame is there. */
bool sn_block_begins_function(const sn_block *block, unsigned index);

/** Of such an instruction: whether the function, which calls no other then, keeps data below the stack pointer, in the 128 bytes that
    the System V ABI gives it there (AMD64 supplement, 3.2.2). Looks through the function's code. */
bool sn_block_uses_below_stack(const sn_block *block, unsigned index);

/** Where the function begins that the thread is in for which the block is made, as far as known, else 0: the block belongs to
    it, or to what it jumps to. Code without symbols has no other sign of that. */
uint64_t sn_block_reached_in(const sn_block *block);

/** How many instructions a block has that is a stub of the linker: all that it does is to jump to where a constant place in
    memory says. 0 for other blocks, and where contexts are followed for functions with names that do so. */
unsigned sn_block_stub_size(const sn_block *block);

/** The current context, in inserted code: a load once it is known. At a call it is still the caller's, at a return the
    function's that returns. */
sn_value sn_current_context(sn_block *block);

/** The thread's current context, from C code that the thread itself runs (called functions, events). */
sn_context sn_context_of(sn_thread *thread);

typedef struct sn_context_info {
    sn_context caller;  /**< SN_NO_CONTEXT: the first function of a stack */
    uint64_t function;  /**< where control entered the function */
    uint64_t call_site; /**< address of the call instruction in the caller; 0: none, it was a tail call or is the first */
    bool is_handler;    /**< a signal handler; `caller` was interrupted */
} sn_context_info;

/** What a context is. False if there is no such. */
bool sn_context_describe(sn_context context, sn_context_info *info);

/** How many contexts there are: they have the numbers from 1 up to this. */
sn_context sn_context_count(void);

/** Print where `address`, an instruction executed in `context`, was: a line a function, functions inlined at each place
    included, innermost first, at most `most` lines (0: all), each led in by `indent`. */
void sn_context_print(FILE *file, sn_context context, uint64_t address, unsigned most, const char *indent);

/* ------------------------------------------------------------------- symbols */

typedef struct sn_location {
    const char *function; /**< demangled, or NULL */
    const char *file;     /**< source file as recorded, or NULL */
    unsigned line;        /**< 0 when unknown */
    const char *module;   /**< path of the mapped file, or NULL */
    uint64_t function_address; /**< start of the function in the client, 0 when unknown */
    uint64_t function_size;
    uint64_t file_address; /**< the address as the module's own file counts: the same in each run; 0 when unknown */
    uint64_t same_until;   /**< addresses from this one to there have the same function, file, line and module; at least the
                                address itself */
} sn_location;

/** Where a client code address comes from. Strings live until the end of the run. Takes locks; slow the first time a
    module is asked for. Returns false when not even the module is known. */
bool sn_locate(uint64_t address, sn_location *location);

/** A variable of a module, with a place of its own: global, or static. */
typedef struct sn_variable {
    const char *name;     /**< demangled; lives until the end of the run */
    uint64_t address, size;
} sn_variable;

/** The variable that holds `address`, which lies in the data of the module with this path; of modules whose code was used. Takes
    locks. */
bool sn_locate_variable(uint64_t address, const char *module, sn_variable *variable);

/** The symbol of the function around a client address as it is in the file: mangled. Lives until the end of the run; NULL if
    there is none. Takes locks, as sn_locate() does. */
const char *sn_locate_symbol(uint64_t address);

/** A function that was inlined at an address, innermost first. */
typedef struct sn_inlined {
    const char *function;
    const char *file;     /**< where the code was written; NULL if unknown */
    unsigned line;
} sn_inlined;

/** The chain of source positions of an address: innermost inlined function first, the function that holds the code last.
    Writes at most `capacity`, returns how many. */
unsigned sn_locate_inlined(uint64_t address, sn_inlined *frames, unsigned capacity);

/* ----------------------------------------------------------- the client's memory */

/** What the events below tell of a range of addresses. */
typedef struct sn_memory_range {
    uint64_t start, end;
    int protection;       /**< PROT_* */
    const char *path;     /**< of the mapped file, or NULL; lives as long as the callback */
    uint64_t offset;      /**< in that file */
    bool is_stack;        /**< the main thread's stack: one mapping, told at the start with all the room that it may grow
                               into; its growth is no event */
    bool is_break;        /**< the heap that brk moves */
} sn_memory_range;

/** Visit the client's mappings, by address. The paths live as long as the callback, which may not call back. */
void sn_memory_visit(void (*visit)(const sn_memory_range *range, void *data), void *data);
/** Only those of which a part lies in [start, end), each as a whole: they are looked for, not gone through. */
void sn_memory_visit_within(uint64_t start, uint64_t end, void (*visit)(const sn_memory_range *range, void *data), void *data);

/** Memory that a system call reads or writes in the client's address space. */
typedef struct sn_system_range {
    uint64_t start;
    uint64_t size;
    uint8_t role;         /**< SN_ROLE_READ: the kernel reads it; SN_ROLE_WRITTEN: it writes */
    uint8_t argument;     /**< number of the argument that led there, from 0 */
} sn_system_range;

typedef struct sn_system_call {
    uint64_t address;     /**< of the instruction */
    uint64_t number;
    const char *name;     /**< "read"; NULL if unknown */
    uint64_t arguments[6];
    int64_t result;       /**< after it: as the kernel returned it, -errno for errors */
    /** Before: all that it reads, and all that it may write. After: what it wrote, as far as the result tells. */
    const sn_system_range *ranges;
    size_t range_count;
} sn_system_call;

/* -------------------------------------------------------------------- output */

/** The tool's report file: what --output names, else standard error (or --log-file). Closed by Sonde at the end. */
FILE *sn_output(void);

/** From the start callback: what this tool writes to its output is no report but a record of what happens. It goes to the
    file `default_name` (with %p for the process, as in --output=) when --output is not given; NULL: to the log. An output
    that is needed again after `end`, since the program goes on behind an execve that failed, is not emptied. */
void sn_output_is_record(const char *default_name);

/** From the start callback, for a tool that writes files of its own in place of a report: what --output says, made absolute,
    else `default_name`, checked as by sn_file_template(). For sn_file_create(), with something behind it for further files;
    what is printed to sn_output() goes to the log then. */
const char *sn_output_template(const char *default_name);

/** A file that the tool writes beside its output. From the start callback: checks the name that an option gave (%p, %n,
    %q{VARIABLE} and %% as in --output=), failing the run with one line that names `option`, and makes it absolute: the
    client may change its folder. */
const char *sn_file_template(const char *option, const char *name);
/** Create and empty the file of that name, for the process that asks. Behind an execve that is followed, a file of the
    program before is kept, and this one's name gets a number behind it. NULL, after one message, if it can't be written. */
FILE *sn_file_create(const char *name);
/** Close it; one message, and a status of the run that tells, if not all was written. Returns whether it was. */
bool sn_file_close(FILE *file);

/**
 * From the start callback: signal `number` is the tool's. The program never gets it, whatever it asked the kernel to do with it: the
 * tool's `signal` callback is called instead, in the thread that it came to, at an instruction; system calls that it interrupted
 * go on. Several that come at once may be told as one; while the program blocks the signal it waits. Not for SIGKILL, SIGSTOP, and
 * those that instructions raise: these end the run with status 2.
 */
void sn_signal_reserve(int number);

/** One line to the log, preceded by "sonde: ". */
void sn_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print one line to standard error and end the run with `status` before the client starts. For bad options. */
void sn_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/** How much the user wants to be told: -1 for -q, else how many -v there are. */
int sn_verbosity(void);

/** The process ends with this status (0 to 255) in place of the program's own, if it ends by exiting. From the `end` callback at
    the latest. */
void sn_end_with_status(int status);

/** End the process now, `end` being called first, as if the program had asked for it with that status. From callbacks in the
    engine, in a thread of the client, which must hold no lock. */
void sn_exit_now(int status) __attribute__((noreturn));

/** The client's command line and, from the end callback, how it ended. */
int sn_client_arguments(const char *const **arguments); /**< returns how many */
int sn_client_process(void);                            /**< process id */

/* ------------------------------------------------------------------- control */

/** What `sonde control PID WORD` asks for, and the program itself by Valgrind's VALGRIND_MONITOR_COMMAND("WORD"). */
typedef enum sn_control_command {
    SN_CONTROL_DUMP,   /**< write what is known so far */
    SN_CONTROL_ZERO,   /**< begin to count anew */
    SN_CONTROL_ON,     /**< begin to collect, or go on with it */
    SN_CONTROL_OFF,    /**< stop collecting */
    SN_CONTROL_STATUS, /**< say how it stands */
} sn_control_command;

typedef enum sn_control_outcome {
    SN_CONTROL_DONE,
    SN_CONTROL_FAILED, /**< the answer says why */
    SN_CONTROL_USUAL,  /**< not the tool's affair: Sonde does what it does for a tool without the callback */
} sn_control_outcome;

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
    /** The client is about to execute another program, followed or not; `end` comes next. */
    void (*exec)(sn_thread *thread, const char *path);
    /** A module (program or library) was mapped, with all its segments, or unmapped. */
    void (*module_mapped)(const char *path, uint64_t start, uint64_t end);
    void (*module_unmapped)(const char *path, uint64_t start, uint64_t end);
    /** Memory came, went, or changed its protection; the brk heap grew or shrank. In the thread that did it (for the
        initial memory: before the first thread_start), in the order in which it happened, never two at once. */
    void (*memory_mapped)(const sn_memory_range *range);
    void (*memory_unmapped)(uint64_t start, uint64_t end);
    void (*memory_protected)(uint64_t start, uint64_t end, int protection);
    /** mremap moved it: shadow state moves with it. memory_mapped and memory_unmapped are not called. */
    void (*memory_moved)(uint64_t from, uint64_t to, uint64_t size);
    /** Around each system call that the client makes, those of the vdso excepted. */
    void (*system_call_before)(sn_thread *thread, const sn_system_call *call);
    void (*system_call_after)(sn_thread *thread, const sn_system_call *call);
    /** A signal is about to be delivered to a handler of the client, or to kill it, or it is one of the tool's own
        (sn_signal_reserve()); `address`: the client's next instruction, or the one that faulted. */
    void (*signal)(sn_thread *thread, int number, uint64_t address);
    /** The client asks (<sonde/client.h>): returns true and sets *result if the request is the tool's. */
    bool (*request)(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);
    /** Somebody asked from outside (`sonde dump PID`) for what is known so far. */
    void (*dump)(sn_thread *thread);
    /** Somebody asked from outside (`sonde control PID WORD`), or the program itself did. Called in a thread of the client
        at an instruction; neither the end of the process nor that of a thread comes in between, but other threads run.
        What is printed to `answer`, whole lines, goes to who asked. Sonde itself has `dump` called for SN_CONTROL_DUMP,
        switches instrumentation for SN_CONTROL_ON and _OFF (of tools with an `instrument` callback), precedes the answer
        to SN_CONTROL_STATUS by a line with the tool's name and whether instrumentation is on, and cannot zero. */
    sn_control_outcome (*control)(sn_thread *thread, sn_control_command command, FILE *answer);
    /** The process ends, or is about to be replaced by execve: write what was found. Other threads may still be
        alive, but none ends meanwhile. */
    void (*end)(void);
} sn_tool;

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
