/**
 * @fileoverview The analysis code of a block, as the tool inserted it: operations on virtual registers, in the order of the
 * places where they stand.
 *
 * Filled by jit/analysis.c (the functions of sonde/tool.h), read by the per-architecture lowering. Part of the one block
 * that is being translated, under sn_jit_lock.
 *
 * The operations of a place are cut into sequences, at calls that leave the code cache and at labels that are branched to
 * from an earlier sequence. Between sequences the client's registers are in place; within one, virtual registers live in
 * registers, and those that are used in another sequence are kept in the thread's memory too.
 *
 * A block may have two variants: the full one, and one that is run as long as all data is clean (service/shadow_compile.c). Each
 * operation says in which it is. The clean one is left for the same place of the full one where a SN_OPERATION_ASK or
 * SN_OPERATION_PROBE says so; the label there is one that was made by sn_label_entered(). Mostly each is a block of its own, and the
 * full one is made when the clean one is left for it first (sn_block.is_split); both in one, the clean one comes first in the cache.
 */
#ifndef SONDE_JIT_ANALYSIS_H
#define SONDE_JIT_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "sonde/tool.h"

#define SN_MOST_OPERATIONS 16384
#define SN_MOST_VALUES 16384
#define SN_MOST_INSERTED_OPERANDS 2048
#define SN_MOST_LABELS 1024
#define SN_MOST_CALL_ARGUMENTS 6

/** Where an operation stands, relative to its instruction. */
typedef enum sn_when {
    SN_WHEN_BEFORE,
    SN_WHEN_AFTER,
    SN_WHEN_TAKEN,
    SN_WHEN_ENTERED, /**< of a block's first instruction: in front of everything else, and passed over by calls of it */
    SN_WHENS
} sn_when;

typedef enum sn_operation_kind {
    SN_OPERATION_THREAD,     /**< result = the thread */
    SN_OPERATION_ADDRESS,    /**< result = address of operand `number` */
    SN_OPERATION_VALUE,      /**< result = value of operand `number` */
    SN_OPERATION_COPY,       /**< bytes of operand `number` to a + offset */
    SN_OPERATION_LOAD,       /**< result = size bytes at a + offset; if `what`, the client's instruction is run bare should it fault */
    SN_OPERATION_STORE,      /**< size bytes of b to a + offset */
    SN_OPERATION_COMPUTE,    /**< result = a `what` b */
    SN_OPERATION_ASSIGN,     /**< result = a; result has a value already */
    SN_OPERATION_BRANCH,     /**< to label `number` if a `what` b */
    SN_OPERATION_LABEL,      /**< label `number` */
    SN_OPERATION_SLOT_LOAD,  /**< result = the thread's slot `number` */
    SN_OPERATION_SLOT_STORE, /**< slot `number` = a */
    SN_OPERATION_OWN_LOAD,   /**< result = size bytes of the thread's state at offset `number` */
    SN_OPERATION_OWN_STORE,  /**< size bytes of a to there */
    SN_OPERATION_COUNTER,    /**< result = the thread's counter `number` */
    SN_OPERATION_COUNT,      /**< counter `number` += a */
    SN_OPERATION_COUNT_INDEXED, /**< counter `number` + b += a */
    SN_OPERATION_ARGUMENT,   /**< argument `number` of the next call = a */
    SN_OPERATION_CALL,       /**< leave the cache for function(arguments) */
    SN_OPERATION_ACCESSES,   /**< leave it for accesses(thread, ..., data) */
    SN_OPERATION_CALL_FAST,  /**< result = function(arguments) */
    SN_OPERATION_CALL_IF,    /**< function(thread, data, a, b, stack pointer) if a `what` b, apart from the block */
    SN_OPERATION_CHECK,      /**< if the 8 bytes at a + offset are not b + `number`: a = function(thread, data, stack pointer), apart
                                  from the block */
    SN_OPERATION_ASK,        /**< to label `number` of the full variant if the 8 bytes of the thread's state at `offset` have one of the
                                  bits of the constant b */
    SN_OPERATION_PROBE,      /**< if one of the `size` bytes at the address of operand `number` + the constant b is not zero: to label
                                  `what` of the full variant, or, if there is a function, function(thread, data, address) apart
                                  from the block; if the bytes can't be read, the client's instruction is run bare */
    SN_OPERATION_FIELD,      /**< size bytes of a to `offset` of trace `number`'s next record */
    SN_OPERATION_FIELD_COPY, /**< bytes of operand `what` to `offset` of the next record of trace `number` */
    SN_OPERATION_APPENDED,   /**< the record of trace `number`, `size` bytes, is complete */
} sn_operation_kind;

typedef void sn_accesses_function(sn_thread *thread, const sn_access *accesses, size_t count, void *data);

typedef struct sn_operation {
    uint8_t kind;     /**< sn_operation_kind */
    uint8_t when;     /**< sn_when */
    uint8_t index;    /**< of the instruction */
    uint8_t size;
    uint8_t variants; /**< SN_VARIANT_*: those that it is in */
    uint16_t what;    /**< sn_operator, sn_condition, number of an operand or of arguments */
    uint16_t next;    /**< operation after this one at the same place; 0: none */
    uint16_t sequence;
    sn_value result, a, b;
    int32_t offset;
    uint32_t number;
    void *function;
    void *data;
} sn_operation;

#define SN_NO_VALUE UINT32_MAX

enum { SN_VARIANT_FULL = 1, SN_VARIANT_CLEAN = 2, SN_VARIANT_BOTH = SN_VARIANT_FULL | SN_VARIANT_CLEAN };

typedef struct sn_register_record {
    bool is_constant;
    bool assigned;        /**< sn_assign() changes it */
    bool crosses;         /**< is used in another sequence than the one where it is set */
    uint16_t sequence;    /**< where it was set first */
    uint16_t home;        /**< number in the thread's memory, if it crosses */
    uint64_t constant;
} sn_register_record;

typedef struct sn_label_record {
    uint16_t sequence;    /**< where it is; 0 while unknown */
    bool from_elsewhere;  /**< branched to from another sequence */
    bool is_entered;      /**< of the full variant, come to from the clean one */
    bool is_used;         /**< of those: whether it is */
} sn_label_record;

typedef struct sn_place_list {
    uint16_t first, last; /**< operations; 0: none */
} sn_place_list;

typedef struct sn_analysis {
    unsigned operation_count, value_count, operand_count, label_count, home_count;
    unsigned sequence_count;
    uint8_t index, when;  /**< the place that the tool has chosen */
    uint8_t variants;     /**< those that what is inserted is in */
    bool has_clean;       /**< there is a clean variant */
    sn_operation operations[SN_MOST_OPERATIONS]; /**< number 0 is not used */
    sn_register_record values[SN_MOST_VALUES];
    sn_operand operands[SN_MOST_INSERTED_OPERANDS];
    sn_label_record labels[SN_MOST_LABELS];
    sn_place_list places[64][SN_WHENS];
} sn_analysis;

/** Forget everything. */
void sn_analysis_reset(sn_analysis *analysis);

/** sn_operand_value() of a part of an operand in memory: `size` bytes (1, 2, 4, 8) from `offset` on. */
sn_value sn_operand_piece(sn_block *block, unsigned operand, unsigned offset, unsigned size);

/** The value of an input of sn_access_shape_of(). */
sn_value sn_input_value(sn_block *block, const sn_operand *operand);

/** sn_load() of what may not be there: then the instruction before which it stands runs without analysis code. */
sn_value sn_load_bravely(sn_block *block, sn_value address, int32_t offset, unsigned size);

/** sn_store() to what may not be there: then nothing is stored. */
void sn_store_bravely(sn_block *block, sn_value address, int32_t offset, sn_value value, unsigned size);

/** Load and store 1, 2, 4 or 8 bytes of the thread's state at an offset of thread_offsets.h. */
sn_value sn_own_load(sn_block *block, uint32_t offset, unsigned size);
void sn_own_store(sn_block *block, uint32_t offset, sn_value value, unsigned size);

/** Let what is inserted from now on be in these variants only. Nothing is at first; then it is in both. */
void sn_insert_in(sn_block *block, unsigned variants);

/** A label of the full variant, to be put at the chosen place, that the clean one is left for: registers are the client's there. */
sn_label sn_label_entered(sn_block *block);
/** SN_OPERATION_ASK: leave the clean variant. If `data` is not 0, a function that gets it and is compiled for general registers only
    is called before, and what it has cleared is no reason to leave; not where the client's flags are needed. */
void sn_leave_if_bits(sn_block *block, uint32_t offset, uint64_t bits, sn_label label, void *function, uint64_t data);
/** Leave the clean variant if a value is not zero. */
void sn_leave_if(sn_block *block, sn_value value, sn_label label);
/** SN_OPERATION_PROBE: leave the clean variant. */
void sn_leave_if_shadow(sn_block *block, unsigned operand, uint64_t base, unsigned size, sn_label label);
/** The same, but for calling a function, which is compiled for general registers only. */
void sn_call_if_shadow(sn_block *block, unsigned operand, uint64_t base, unsigned size, void *function, uint64_t data);

/** The first operation of a chain, from `number` on, that is in a variant; 0: none. */
static inline unsigned sn_operation_in(const sn_analysis *analysis, unsigned number, unsigned variant) {
    while (number && !(analysis->operations[number].variants & variant)) number = analysis->operations[number].next;
    return number;
}

/** Whether an operation at the place leaves the cache: then all of the client's registers must be its own. */
bool sn_analysis_leaves(const sn_analysis *analysis, const sn_place_list *place);

/** Give each operation the number of its sequence, and find the values that cross. After the tool's callback. */
void sn_analysis_cut(sn_analysis *analysis);

/** Uses of values by an operation: at most two, written to `used`; returns how many. */
unsigned sn_operation_uses(const sn_operation *operation, sn_value used[2]);

/** Whether an operation sets its result. */
bool sn_operation_sets(const sn_operation *operation);

/** One line about an operation, for --debug-dump-block. */
const char *sn_operation_text(const sn_analysis *analysis, const sn_operation *operation, char *buffer, size_t size);

#endif
