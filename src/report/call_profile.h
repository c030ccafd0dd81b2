/**
 * @fileoverview A call-graph profile in memory: what functions cost themselves, and what the calls between them cost.
 *
 * Made by callgrind_reader.c and by adding several; call_graph.c finds cycles and inclusive costs, the rest of call_*.c
 * prints. Self costs are held twice: by function, and by source line in `lines`, a profile as the cachegrind kind has, which
 * brings events, totals, columns and annotated sources with it. All costs are one number an event of `lines`.
 */
#ifndef SONDE_REPORT_CALL_PROFILE_H
#define SONDE_REPORT_CALL_PROFILE_H

#include "report/profile.h"

/** Functions are the same when name, file and object are. All three are interned. */
typedef struct sn_call_function {
    const char *name, *file, *object;
} sn_call_function;

/** All calls from one function to another. */
typedef struct sn_call_arc {
    uint32_t caller, callee; /**< positions in `functions` */
    uint64_t calls;
} sn_call_arc;

/** The calls of one arc that are made in one source line. */
typedef struct sn_call_site {
    uint32_t arc;
    uint32_t line;           /**< 0: unknown */
    const char *file;
    uint64_t calls;
} sn_call_site;

/** The jumps that are made in one source line of a function, as --collect-jumps=yes records them, by kind. */
typedef struct sn_call_jumps {
    uint32_t function, line;
    const char *file;
    bool is_conditional;
    uint64_t executed, taken; /**< equal where there is no condition */
} sn_call_jumps;

/** An instruction, as --dump-instr=yes records it. */
typedef struct sn_call_instruction {
    uint32_t function, line;
    const char *file;
    uint64_t address;
} sn_call_instruction;

/** The jumps from an instruction to another one. */
typedef struct sn_call_address_jump {
    sn_call_instruction from;
    uint64_t to;
    uint64_t executed, taken;           /**< equal where there is no condition */
} sn_call_address_jump;

/** An event that is a sum of others: `event: L1m = I1mr + 2 D1mr`. */
typedef struct sn_call_formula {
    const char *name;
    SN_VECTOR(struct { unsigned event; uint64_t factor; }) terms; /**< positions among recorded and earlier derived events */
} sn_call_formula;

/** All zero is a valid, empty profile. */
typedef struct sn_call_profile {
    sn_profile lines;                   /**< self costs by file, function's name and line; totals; events; header */
    const char *creator;                /**< "callgrind-3.19.0"; NULL if not told */
    bool is_unproven;                   /**< a part has neither summary nor totals: it may be cut off */
    SN_VECTOR(sn_call_function) functions;
    SN_VECTOR(int64_t) self;            /**< of functions */
    SN_VECTOR(sn_call_arc) arcs;
    SN_VECTOR(int64_t) arc_costs;       /**< inclusive */
    SN_VECTOR(sn_call_site) sites;
    SN_VECTOR(int64_t) site_costs;      /**< inclusive */
    SN_VECTOR(sn_call_jumps) jumps;
    bool keeps_instructions;            /**< set by who has it read: else the next three stay empty */
    SN_VECTOR(sn_call_instruction) instructions;
    SN_VECTOR(int64_t) instruction_costs;
    SN_VECTOR(sn_call_address_jump) address_jumps;
    SN_VECTOR(sn_call_formula) formulas; /**< not yet applied */
    sn_hash name_numbers, place_numbers, function_numbers, arc_numbers, site_place_numbers, site_numbers, jump_numbers;
    sn_hash address_numbers, instruction_numbers, address_jump_numbers;
} sn_call_profile;

/** Position of a function, a new one without costs if there was none. The names must be interned. */
uint32_t sn_call_profile_function(sn_call_profile *profile, const char *name, const char *file, const char *object);

static inline const int64_t *sn_call_profile_self(const sn_call_profile *profile, uint32_t function) {
    return profile->self.items + (size_t)function * profile->lines.event_count;
}

static inline const int64_t *sn_call_profile_arc_costs(const sn_call_profile *profile, size_t arc) {
    return profile->arc_costs.items + arc * profile->lines.event_count;
}

static inline const int64_t *sn_call_profile_site_costs(const sn_call_profile *profile, size_t site) {
    return profile->site_costs.items + site * profile->lines.event_count;
}

/** Add to what a line of a function costs itself. Returns false, and adds nothing, if a number would get too large. */
bool sn_call_profile_add_self(sn_call_profile *profile, uint32_t function, const char *file, uint32_t line,
                              const int64_t *costs);

/** Add calls made in a line. Returns false if a number would get too large. */
bool sn_call_profile_add_calls(sn_call_profile *profile, uint32_t caller, uint32_t callee, const char *file, uint32_t line,
                               uint64_t calls, const int64_t *costs);

/** Add jumps of a kind that are made in a line. Returns false as above. */
bool sn_call_profile_add_jumps(sn_call_profile *profile, const sn_call_jumps *jumps);

static inline const int64_t *sn_call_profile_instruction_costs(const sn_call_profile *profile, size_t instruction) {
    return profile->instruction_costs.items + instruction * profile->lines.event_count;
}

/** Add to what an instruction costs itself, if these are kept; its line's costs are added apart. Returns false as above. */
bool sn_call_profile_add_instruction(sn_call_profile *profile, const sn_call_instruction *instruction, const int64_t *costs);
/** Add jumps from an instruction to another one, if these are kept. Returns false as above. */
bool sn_call_profile_add_address_jump(sn_call_profile *profile, const sn_call_address_jump *jump);

/** Add another profile with the same events in any order. Returns false, with one line in explanation[0..size), if the
    events differ or a number would get too large. */
bool sn_call_profile_add(sn_call_profile *sum, const sn_call_profile *part, char *explanation, size_t size);

/** Turn the formulas into events with costs of their own. Once, when all is read. Returns false as above. */
bool sn_call_profile_derive(sn_call_profile *profile);

void sn_call_profile_release(sn_call_profile *profile);

#endif
