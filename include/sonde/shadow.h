/**
 * @file sonde/shadow.h
 * Shadow values: what a tool keeps for every byte of the client's memory and registers, and how it follows the client's data.
 *
 * Shadow memory is one range of addresses as long as the client's windows ask for, of which only what was written takes memory.
 * Where the shadow of an address lies follows from the address by shifts and one addition: no table is walked, nothing is checked.
 */
#ifndef SONDE_SHADOW_H
#define SONDE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/flow.h"
#include "sonde/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ------------------------------------------------------------- shadow memory */

/**
 * Shadow of the client's memory: `bits` bits for each byte. For fewer than 8 bits, the shadow of the byte with the lower address
 * lies in the lower bits. All of it is zero at first, and is zero again for memory that is unmapped (before the tool's
 * memory_unmapped callback); where mremap moves memory, its shadow moves too (before memory_moved). A forked child has a copy.
 *
 * Only the client's own memory has a shadow. There is none for the few pages that the kernel maps by itself (vdso).
 *
 * The members are for the functions below, and for a tool that makes the code for an access itself.
 */
typedef struct sn_shadow_memory {
    uint64_t base;     /**< the shadow of address A begins at ((A << left) >> right) + base, for 8 bits and more */
    uint8_t left;      /**< bits to shift left first */
    uint8_t right;     /**< and then right */
    uint8_t bits;      /**< for each byte: 1, 2, 4, 8, 16, 32 or 64 */
    uint8_t bits_log;  /**< 0 to 6 */
} sn_shadow_memory;

/**
 * From the start callback: a new shadow memory. The address space that it takes (memory is taken where it is written):
 * 1, 2, 4 bits: 1, 2, 4 TiB; 8 and 16 bits: 8 and 16 TiB; 32 and 64 bits: 32 TiB, and of the client's 8 TiB those from the
 * 256th GiB to the 4th TiB cannot be mapped with 64 bits. Ends the run with one line if it can't be had, or for another number of
 * bits. At most 4.
 */
const sn_shadow_memory *sn_shadow_memory_new(unsigned bits);

/**
 * In inserted code: the shadow of the `size` bytes (1, 2, 4, 8; any alignment) at `address`, zero-extended: size * bits are at
 * most 64. Before an instruction, when the address has no shadow (it is wild, or belongs to the kernel's pages), the instruction
 * runs without any of the code inserted for it, and faults or not as it would natively. After an instruction, the address must be
 * one that the instruction has accessed.
 */
sn_value sn_shadow_load(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size);

/**
 * In inserted code: set the shadow of `size` bytes. To be used after the instruction, or for an address that is known to be the
 * client's: of a wild address, something else would be overwritten. With fewer than 8 bits a byte it is a function that is called,
 * safe against other threads that write to the same byte of shadow.
 */
void sn_shadow_store(sn_block *block, const sn_shadow_memory *memory, sn_value address, unsigned size, sn_value value);

/** In inserted code: where the shadow of `address` lies; with fewer than 8 bits, the byte that holds it. To load from it before
    the instruction by sn_shadow_load_at(). */
sn_value sn_shadow_address(sn_block *block, const sn_shadow_memory *memory, sn_value address);

/** In inserted code: load `bytes` (1, 2, 4, 8) of shadow from where sn_shadow_address() says, plus `offset`; what is said of wild
    addresses at sn_shadow_load() holds. */
sn_value sn_shadow_load_at(sn_block *block, sn_value place, int32_t offset, unsigned bytes);

/* The functions below may be called from SN_FAST functions, and anywhere else. Addresses are the client's, in its windows
   (sn_shadow_covers()); sizes are in the client's bytes; values are those of one byte's shadow, in the lowest bits. */

/** Where the client's memory can be; most of it is in the first one. */
typedef struct sn_shadow_window {
    uint64_t start, size;
} sn_shadow_window;
extern const sn_shadow_window sn_shadow_windows[2];

/** Whether [address, address + size) lies where the client's memory can be, all in one of its windows. */
static inline SN_FAST bool sn_shadow_covers(uint64_t address, uint64_t size) {
    for (unsigned i = 0; i < 2; i++) {
        uint64_t offset = address - sn_shadow_windows[i].start;
        if (offset < sn_shadow_windows[i].size && size <= sn_shadow_windows[i].size - offset) {
            return true;
        }
    }
    return false;
}

/** Where the shadow of `address` begins; with fewer than 8 bits, the byte that holds it. */
static inline SN_FAST void *sn_shadow_at(const sn_shadow_memory *memory, uint64_t address) {
    return (void *)(((address << memory->left) >> memory->right) + memory->base);
}

/** The labels of a value's shadow of 8 bits a byte, those of all of its bytes together. */
static inline SN_FAST unsigned sn_shadow_labels(uint64_t shadow) {
    shadow |= shadow >> 32;
    shadow |= shadow >> 16;
    return (unsigned)((shadow | shadow >> 8) & 0xff);
}

/** The labels of a text in the client's memory, those of all of its bytes together; none where no text can be. */
unsigned sn_shadow_labels_of_text(const sn_shadow_memory *memory, uint64_t address);

/** The shadow of one byte. */
static inline SN_FAST uint64_t sn_shadow_get(const sn_shadow_memory *memory, uint64_t address) {
    const void *at = sn_shadow_at(memory, address);
    switch (memory->bits_log) {
    case 3: return *(const uint8_t *)at;
    case 4: return *(const uint16_t *)at;
    case 5: return *(const uint32_t *)at;
    case 6: return *(const uint64_t *)at;
    default: {
        unsigned shift = ((unsigned)address << memory->bits_log) & 7;
        return *(const uint8_t *)at >> shift & ((1u << memory->bits) - 1);
    }
    }
}

/** From the start callback: where the shadow of large ranges becomes `value`, it takes memory only as far as it is written to later.
    Worth it for what a tool gives to large blocks that are hardly used. At most 4 values in all; where the system gives no file in
    memory (memfd_create(2)), nothing happens. What a range is has to be 1 MiB of shadow at a multiple of 1 MiB, and 12 GiB can be so
    at most: the rest is written. */
void sn_shadow_share(const sn_shadow_memory *memory, uint64_t value);

/** Give each of `size` bytes the shadow `value`. Large ranges of zero give the memory back, and those of values that are shared
    (sn_shadow_share()) nearly all of it. With fewer than 8 bits, safe against other threads that write the same byte of shadow. */
void sn_shadow_fill(const sn_shadow_memory *memory, uint64_t address, uint64_t size, uint64_t value);

/** Copy the shadow of `size` bytes; the ranges may overlap. */
void sn_shadow_copy(const sn_shadow_memory *memory, uint64_t to, uint64_t from, uint64_t size);

/** The first address in [address, end) whose shadow is not `value`; `end` if all are. */
uint64_t sn_shadow_find_other(const sn_shadow_memory *memory, uint64_t address, uint64_t end, uint64_t value);

/* ------------------------------------------------------------- following data */

/**
 * What the bits of shadow of a byte mean, 8 for each byte; zero is what nothing is to be said of (clean). Shadows are joined by
 * or.
 */
typedef enum sn_shadow_kind {
    SN_SHADOW_LABELS, /**< each of the 8 bits is a label that a byte has or not: where it came from. A byte of a result has the
                           labels of all bytes that it may depend on */
    SN_SHADOW_BITS,   /**< bit N of the shadow is about bit N of the byte: whether it is undefined, say. A bit of a result has
                           it if it depends on bits that have it; what cannot depend on them for the values that the others
                           have (x & 0), has not */
} sn_shadow_kind;

/** What a function for a class is given. Sources and destination are shadows, in the client's order of bytes. */
typedef struct sn_shadow_step {
    uint8_t kind;                /**< sn_flow_class */
    uint8_t source_count;
    uint16_t size;               /**< bytes of the destination; for flags as many as the first source has: the result's */
    uint8_t lane_size, source_lane_size; /**< as in sn_flow, 0: no lanes */
    uint16_t amount;             /**< as in sn_flow */
    uint8_t *destination;        /**< to be filled in */
    const uint8_t *sources[SN_FLOW_MOST_SOURCES];
    uint16_t source_sizes[SN_FLOW_MOST_SOURCES];
} sn_shadow_step;

/** Must be SN_FAST. Called only where a source or the old destination is not clean; and all clean sources must make a clean
    result. */
typedef void sn_shadow_function(sn_thread *thread, const sn_shadow_step *step);

/** Must be SN_FAST. */
typedef struct sn_shadow_write {
    void (*function)(sn_thread *thread, uint64_t data, uint64_t address, uint64_t stack_pointer);
    uint64_t data;
} sn_shadow_write;

typedef struct sn_shadow_rules {
    sn_shadow_kind kind;
    const sn_shadow_memory *memory; /**< of 8 bits a byte */
    /** Of 8 bits a byte, too: where data came from that is not clean. NULL: that is not kept. */
    const sn_shadow_memory *origins;
    /** The shadows of flags are followed as far as conditional branches, since the tool looks at them there; else only as far as
        other instructions need them. */
    bool watches_branches;
    /** Called for each instruction of a block, in order: insert checks before it. The shadows of registers are then those
        before it. Returns whether anything was inserted. May be NULL. */
    bool (*check)(sn_block *block, unsigned index);
    /** If it is not NULL, blocks may have a second variant, which is run as long as all registers that the block uses, and all memory
        that it reads, are clean: there, what `check` has inserted is missing, and this is called for each instruction in its place.
        Returns whether the memory that the instruction reads matters: else it is not looked at. */
    bool (*clean)(sn_block *block, unsigned index);
    /** In that variant, for an operand in memory that the instruction only writes: what is to be called in front of it where the memory
        is not clean, and sees to it that it becomes so. Must stay where it is. NULL, or where it returns that: it becomes clean. */
    const sn_shadow_write *(*written)(sn_block *block, unsigned index, unsigned operand);
    /** SN_FAST. The same for a range that a string instruction is about to write: whether it may become clean without any check. NULL:
        always. */
    bool (*may_write)(sn_thread *thread, uint64_t start, uint64_t size, uint64_t stack_pointer);
    /** SN_FAST. Shadow of memory, not all of it clean, has been loaded for an instruction, which may go on with another: what lies in
        `shadow`. NULL: with that. */
    void (*loaded)(sn_thread *thread, uint64_t address, uint8_t *shadow, unsigned size, uint64_t stack_pointer);
    /** SN_FAST. With origins: that of a byte that is not clean, where none was given (it is 0): so that large ranges need not be filled.
        NULL: there is none. */
    uint32_t (*unknown_origin)(uint64_t address);
    /** What a signal handler's frame has when the handler has returned. */
    uint8_t left_frame;
    /** In the place of the kind's own rule for a class; NULL: that. */
    sn_shadow_function *functions[SN_FLOW_CLASSES];
} sn_shadow_rules;

/* Origins: with sn_shadow_rules.origins, data that is not clean has a number that the tool has given where it came from, 0: none.
   Four bytes of memory at a multiple of four share one, and so do the bytes of a register, and all flags. A result has that of the
   first of its sources that is not clean. All of them do nothing, and say 0, where origins are not kept; SN_FAST. */

/** Give a range an origin, as the tool gives it a shadow; other bytes of the same four get it, too. */
void sn_shadow_fill_origin(uint64_t start, uint64_t size, uint32_t origin);
/** Copy the origins of a range, as sn_shadow_copy() its shadow; the ranges may overlap. Only where origins are kept. */
void sn_shadow_copy_origins(uint64_t to, uint64_t from, uint64_t size);
/** The origin of the first byte of a range that is not clean; 0 if all are. */
uint32_t sn_shadow_memory_origin(uint64_t start, uint64_t size);
/** The origin of a general register, of the flags; 0 if they are clean. */
uint32_t sn_shadow_register_origin(const sn_thread *thread, uint8_t general);
uint32_t sn_shadow_flags_origin(const sn_thread *thread);

/** From the start callback: shadows of registers are kept from now on. The rules must stay where they are. Registers have clean
    shadows at first, and where the kernel gives them values (results of system calls, arguments of signal handlers). */
void sn_shadow_follow(const sn_shadow_rules *rules);

/** From the instrument callback, for each block: insert what follows its data. */
void sn_shadow_instrument(sn_block *block);

/** From the system_call_after callback: what the kernel has written is clean. */
void sn_shadow_system_call(const sn_system_call *call);

/** In inserted code, from `check`: the shadow of an operand in a general or mask register or in memory, of at most 8 bytes. For a
    memory operand what is said at sn_shadow_load() of wild addresses holds. */
sn_value sn_shadow_of_operand(sn_block *block, unsigned operand);
/** The same of a general register as a whole, as an operand's base or index. */
sn_value sn_shadow_of_register(sn_block *block, uint8_t general);
/** Of flags (sn_flow_flag): a byte for each of them, in order; others are zero. */
sn_value sn_shadow_of_flags(sn_block *block, unsigned flags);

/** What is called where a check finds something. Must be SN_FAST; `context` is the calling context if contexts are enabled. */
typedef void sn_shadow_finding(sn_thread *thread, uint64_t data, uint64_t shadow, sn_context context);
/** Where a finding is told: constant, to be kept by the tool as long as the code may run. */
typedef struct sn_shadow_check {
    sn_shadow_finding *found;
    uint64_t data;
    bool cleans;                 /**< found() makes the registers or flags that the check was about clean, whatever else it does:
                                      they are not checked again before something is written to them */
} sn_shadow_check;
/** In inserted code: if `shadow` is not zero, call check->found(). Costs a comparison otherwise. */
void sn_shadow_check_value(sn_block *block, sn_value shadow, const sn_shadow_check *check);

/** The same for all of a set of general registers (bit N: register N) at once: at the cost of one comparison. `shadow` is what they
    have together. */
void sn_shadow_check_registers(sn_block *block, uint32_t general, const sn_shadow_check *check);

/** The same for flags (sn_flow_flag). `shadow` is what they have together, or a part of it. */
void sn_shadow_check_flags(sn_block *block, unsigned flags, const sn_shadow_check *check);

/** From C code that the thread runs, SN_FAST functions as well: all flags become clean. */
void sn_shadow_clean_flags(sn_thread *thread);
/** From C code that the thread runs, SN_FAST functions as well: the shadow of a general register (8 bytes). */
uint64_t sn_shadow_register(const sn_thread *thread, uint8_t general);
void sn_shadow_set_register(sn_thread *thread, uint8_t general, uint64_t shadow);
/** The register that a function's argument (0 to 5: integers and pointers), or a system call's is passed in; and results. */
uint8_t sn_shadow_argument_register(unsigned argument);
uint8_t sn_shadow_system_call_register(unsigned argument);
uint8_t sn_shadow_result_register(void);
/** The stack pointer. */
uint8_t sn_shadow_stack_register(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
