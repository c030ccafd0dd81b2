/**
 * @fileoverview The reader of Callgrind's format: what its files share. callgrind_header.c reads lines of the header and derived
 * events, callgrind_costs.c names, costs, calls and jumps, callgrind_reader.c tells lines and parts apart.
 */
#ifndef SONDE_REPORT_CALLGRIND_PARTS_H
#define SONDE_REPORT_CALLGRIND_PARTS_H

#include "report/call_profile.h"
#include "report/line_text.h"
#include "sonde/hash.h"
#include "sonde/vector.h"

/** Names are abbreviated by number, each kind by numbers of its own. */
enum { SN_CALLGRIND_FILES, SN_CALLGRIND_FUNCTIONS, SN_CALLGRIND_OBJECTS, SN_CALLGRIND_NAME_SPACES };

/** What the next line of costs is. */
typedef enum sn_cost_use { SN_COSTS_SELF, SN_COSTS_CALLS, SN_COSTS_JUMPS } sn_cost_use;

enum { SN_CALLGRIND_MOST_POSITIONS = 4, SN_CALLGRIND_NO_FUNCTION = -1 };

/** The lines `event: Name = formula : meaning` may come before `events:`; kept until all is read. */
typedef struct sn_formula_line {
    const char *name, *formula, *meaning; /**< the latter two may be NULL */
    unsigned long line_number;
} sn_formula_line;

typedef SN_VECTOR(sn_formula_line) sn_formula_lines;

typedef struct sn_callgrind_reader {
    sn_call_profile *profile;
    sn_formula_lines formulas;
    sn_line_text line;                        /**< white space at both ends left out */
    sn_hash names[SN_CALLGRIND_NAME_SPACES];  /**< of numbers: interned names, as pointers */
    /* The part: */
    unsigned part_number;                     /**< counted here, from 1 on; 0 before the first */
    bool is_in_costs, has_summary, has_totals;
    unsigned events[SN_PROFILE_MOST_EVENTS], event_count; /**< places in the profile of the part's events */
    unsigned position_count, line_position;   /**< which of the positions is the line; position_count: none */
    unsigned address_position;                /**< the same of the instruction's address */
    int64_t sums[SN_PROFILE_MOST_EVENTS], summary[SN_PROFILE_MOST_EVENTS], totals[SN_PROFILE_MOST_EVENTS];
    /* Where it is in the part: */
    uint64_t positions[SN_CALLGRIND_MOST_POSITIONS];
    const char *object, *file;                /**< interned; "???" before the first */
    const char *called_object, *called_file;  /**< NULL: the present ones */
    int64_t function, called_function;        /**< or SN_CALLGRIND_NO_FUNCTION */
    sn_cost_use use;
    uint64_t calls;
    sn_call_jumps jumps;
    uint64_t target[SN_CALLGRIND_MOST_POSITIONS]; /**< where the jumps lead */
} sn_callgrind_reader;

/** A kind of lines that begin with a word: how, and what is done with the rest of one. */
typedef struct sn_callgrind_line {
    const char *beginning;
    bool (*read)(sn_callgrind_reader *reader);
} sn_callgrind_line;

bool sn_callgrind_begins(const char *at, const char *end, const char *beginning);
/** Of `count` kinds, the one that the line is of, or NULL. */
const sn_callgrind_line *sn_callgrind_find(const sn_callgrind_line *kinds, size_t count, const sn_line_text *line);

/** Lines in front of the costs; those that may be behind them too; lines of names, calls and jumps. NULL: it is none. */
const sn_callgrind_line *sn_callgrind_header_line(const sn_line_text *line);
const sn_callgrind_line *sn_callgrind_end_line(const sn_line_text *line);
const sn_callgrind_line *sn_callgrind_cost_line(const sn_line_text *line);

/** A line `event: ...`, behind that word. */
bool sn_callgrind_read_event_definition(sn_callgrind_reader *reader);
/** At the end: events that are sums of others. */
bool sn_callgrind_derive_events(sn_callgrind_reader *reader);

/** Counts up to the end of the line, put where the events are in the profile; those that are left out are 0. */
bool sn_callgrind_read_costs(sn_callgrind_reader *reader, int64_t *costs);
/** A line that begins with a position. */
bool sn_callgrind_read_cost_line(sn_callgrind_reader *reader);

#endif
