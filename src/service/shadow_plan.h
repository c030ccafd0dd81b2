/**
 * @fileoverview What is to be done with shadows for instructions, worked out when their block is translated: plans.
 *
 * Where the shadow of a register is not clean, a bit of the thread's word of dirty registers is set; where a bit is clear, the
 * whole register's shadow is zero. Inserted code looks whether any of the registers that an instruction concerns is dirty, or the
 * memory that it reads; if not, there is nothing to do, for the shadows of its results are clean already, and stay so. Else the
 * plan is worked off in C (shadow_run.c), for all instructions of a group at once: one that may access memory, and those after it
 * that do not.
 *
 * Made by shadow_compile.c under sn_jit_lock, never changed, never freed; equal groups are one.
 */
#ifndef SONDE_SERVICE_SHADOW_PLAN_H
#define SONDE_SERVICE_SHADOW_PLAN_H

#include <stdint.h>

#include "jit/thread.h"
#include "service/shadow.h"

/* Where shadows lie in sn_thread.shadow. */
#define SN_SHADOW_GENERAL 0x000 /* 16 of 8 bytes */
#define SN_SHADOW_VECTOR 0x080  /* 32 of 64 */
#define SN_SHADOW_MASK 0x880    /* 8 of 8 */
#define SN_SHADOW_X87 0x8c0     /* 8 of 16 */
#define SN_SHADOW_FLAGS 0x940   /* a byte for each of sn_flow_flag, in order */
#define SN_SHADOW_DIRTY 0x948   /* a word with a bit for each register: below */
#define SN_SHADOW_MARKS 0x950   /* the same, a byte for each bit, 0 or 1: for inserted code that asks about a few registers */
#define SN_SHADOW_ORIGINS 0x990 /* a word of 4 bytes for each bit: where what is not clean came from (shadow_origins.c) */
_Static_assert(SN_SHADOW_ORIGINS + 64 * 4 <= SN_THREAD_SHADOW_BYTES, "room");

/* Bits of the word of dirty registers; general registers come first, by their numbers. */
enum { SN_DIRTY_MASK = 16, SN_DIRTY_FLAGS = 24, SN_DIRTY_X87 = 25, SN_DIRTY_ASKED = 26 /* no register: full variants are to be run */, SN_DIRTY_VECTOR = 32 };

typedef enum sn_plan_place {
    SN_PLAN_NOWHERE,  /**< clean; what is written there is lost */
    SN_PLAN_REGISTER, /**< `offset` in sn_thread.shadow */
    SN_PLAN_MEMORY,   /**< `offset` behind the address of the group's operand `operand` */
    SN_PLAN_FLAGS,
} sn_plan_place;

/** How the value of a source is found, where a rule wants it. */
typedef enum sn_plan_value {
    SN_VALUE_UNKNOWN,
    SN_VALUE_CONSTANT, /**< `constant` */
    SN_VALUE_GENERAL,  /**< general register `reg`, from byte `shift` on */
    SN_VALUE_MEMORY,
    SN_VALUE_MASK,     /**< mask register `reg` */
    SN_VALUE_VECTOR,   /**< vector register `reg`, from byte `shift` on: for least lanes only */
} sn_plan_value;

typedef struct sn_plan_piece {
    uint8_t place;    /**< sn_plan_place */
    uint8_t value;    /**< sn_plan_value */
    uint8_t flags;    /**< SN_PLAN_FLAGS */
    uint8_t every_lane;
    uint8_t reg, shift;
    uint8_t dirty;    /**< bit of the register in the word of dirty ones */
    uint8_t operand;  /**< SN_PLAN_MEMORY: among those of the group */
    uint16_t size;
    uint16_t offset;
    uint32_t unused;
    uint64_t constant;
} sn_plan_piece;

typedef struct sn_plan_flow {
    uint8_t kind, source_count, lane_size, source_lane_size, scale_shift;
    uint8_t special;      /**< sn_special_form */
    uint8_t is_least;     /**< unsigned minima of lanes: where one is zero for certain, the other does not matter */
    uint8_t is_last;      /**< of its instruction: what was computed is written now */
    uint8_t guard;        /**< sn_flow_guard_kind */
    uint8_t bitwise;      /**< SN_FLOW_BITWISE: as sn_flow.truth */
    uint8_t lane_class;   /**< SN_FLOW_LANE_BITS: as in sn_flow */
    uint8_t element_size, zeroes; /**< SN_FLOW_PERMUTE: as in sn_flow */
    int8_t stack_change;  /**< of an instruction's last one: by how many the x87 stack grows */
    uint16_t guard_lane, count_mask, amount, table_size;
    uint64_t truth;       /**< of a guard by flags: as in sn_flow_guard */
    sn_plan_piece destination, condition, otherwise;
    /* source_count pieces, then table_size bytes, in whole words */
    sn_plan_piece sources[];
} sn_plan_flow;

/** A memory operand of the group's first instruction. */
typedef struct sn_plan_operand {
    int64_t displacement;
    uint8_t base, index, scale, segment;
    uint8_t is_short;     /**< the address has 32 bits */
    uint8_t unused[3];
} sn_plan_operand;

enum { SN_PLAN_MOST_OPERANDS = 3 };

typedef struct sn_plan_group {
    uint32_t size;        /**< bytes, of all */
    uint16_t flow_count;
    uint8_t operand_count;
    uint8_t is_cleared;   /**< a system call: nothing but its result registers becoming clean */
    uint64_t dirty;       /**< bits of all registers that it reads or writes */
    sn_plan_operand operands[SN_PLAN_MOST_OPERANDS];
    uint64_t flows[];     /**< sn_plan_flow, one behind the other */
} sn_plan_group;

/** The bit of a general register; 0 for SN_NO_REGISTER. */
static inline uint64_t sn_dirty_general(uint8_t reg) { return reg == SN_NO_REGISTER ? 0 : UINT64_C(1) << reg; }

extern const sn_shadow_rules *sn_shadow_ruling; /**< NULL: registers have no shadows */

static inline size_t sn_plan_flow_size(unsigned source_count, unsigned table_size) {
    return sizeof(sn_plan_flow) + source_count * sizeof(sn_plan_piece) + ((table_size + 7) & ~7u);
}
static inline const uint8_t *sn_plan_table(const sn_plan_flow *flow) { return (const uint8_t *)&flow->sources[flow->source_count]; }
static inline const sn_plan_flow *sn_plan_next(const sn_plan_flow *flow) {
    return (const sn_plan_flow *)((const char *)flow + sn_plan_flow_size(flow->source_count, flow->table_size));
}

/** Where the values of the client's registers are: in the thread's state while the engine runs, else where a rare call left them. */
typedef struct sn_plan_view {
    sn_thread *thread;
    bool in_engine;
    uint64_t addresses[SN_PLAN_MOST_OPERANDS];
} sn_plan_view;

/** x86_64/shadow_values.c: keeps all general registers for sn_shadow_general(), and goes on in sn_shadow_run(). */
void sn_shadow_enter(sn_thread *thread, const sn_plan_group *group, uint64_t found, uint64_t zero, uint64_t stack_pointer);
uint64_t sn_shadow_general(const sn_plan_view *view, unsigned reg);
uint64_t sn_shadow_mask_value(unsigned reg);
/** Its bytes, from the first on; how many they are: all that the processor has. */
unsigned sn_shadow_vector_value(unsigned reg, uint8_t bytes[64]);
/** The flags (SN_FLAG_*), where they are needed behind the place of the code. */
unsigned sn_shadow_flags_value(const sn_plan_view *view);
uint64_t sn_shadow_segment_base(const sn_plan_view *view, unsigned segment);
/** Bits of the registers that a system call sets. */
extern const uint64_t sn_shadow_system_call_results;

/** shadow_run.c: work off a group. */
void sn_shadow_run(sn_thread *thread, const sn_plan_group *group);
void sn_shadow_run_view(sn_plan_view *view, const sn_plan_group *group);
/** Make the shadow of [offset, offset + size) in sn_thread.shadow be known as dirty or clean, for the register of that bit. */
void sn_shadow_note(sn_thread *thread, unsigned dirty);
/** All registers that have this bit become clean. */
void sn_shadow_clean(sn_thread *thread, uint64_t dirty);
/** Bytes of a vector register that the oldest of its instructions write alone. */
enum { SN_SHADOW_LOW_VECTOR = 16 };
/** From inserted code: so do these, but of vector registers only the low bytes. */
void sn_shadow_clean_low(sn_thread *thread, uint64_t registers);

/** shadow_origins.c: of what a flow makes; and note it where its result went: `bytes` are the shadows that were written there. */
uint32_t sn_shadow_plan_origin(const sn_plan_view *view, const sn_plan_flow *flow);
void sn_shadow_put_origin(const sn_plan_view *view, const sn_plan_piece *piece, const uint8_t *bytes, uint32_t origin);
/** The origin of the register of that bit, 0 if it is clean or nothing is kept; and set it. */
uint32_t sn_shadow_dirty_origin(const sn_thread *thread, unsigned dirty);
void sn_shadow_set_origin(sn_thread *thread, unsigned dirty, uint32_t origin);

/** What a check calls: finds the context, and tells the tool. */
void sn_shadow_tell_finding(sn_thread *thread, uint64_t check, uint64_t shadow);
/** A check of general registers: never freed, since code refers to it. */
typedef struct sn_shadow_registers_check {
    const sn_shadow_check *check;
    uint64_t registers; /**< bits */
} sn_shadow_registers_check;
/** The same of dirty general registers. `found` only says that there are some. */
void sn_shadow_tell_dirty(sn_thread *thread, uint64_t check, uint64_t found);

/** shadow_rules.c: the shadow that the step makes, by the kind's rules. `values`: of sources of at most 8 bytes, `known` says of
    which. */
typedef struct sn_shadow_values_known {
    uint64_t values[SN_FLOW_MOST_SOURCES];
    uint32_t known;
} sn_shadow_values_known;
/** The shadow of a sum, or difference, of two numbers whose values are known. */
uint64_t sn_shadow_of_sum(bool is_difference, const uint64_t values[2], const uint64_t shadows[2]);
void sn_shadow_apply(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step, const sn_shadow_values_known *values);
/** The shadows of flags, a byte each, from that of a result and those of the sources. */
uint64_t sn_shadow_flags_of(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step, const sn_shadow_values_known *values);

#endif
