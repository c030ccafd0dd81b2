/**
 * @fileoverview What the options of the tool `calls` say, once they are checked, and the numbers of the counters that all of
 * its code uses. Written by calls.c before the client starts, read by all of the tool.
 */
#ifndef SONDE_TOOLS_CALLS_SETTINGS_H
#define SONDE_TOOLS_CALLS_SETTINGS_H

#include <sonde/tool.h>

/** --collect-systime= */
typedef enum calls_system_time { CALLS_TIME_NONE, CALLS_TIME_MSEC, CALLS_TIME_USEC, CALLS_TIME_NSEC } calls_system_time;

typedef struct calls_settings {
    const char *file;            /**< name of the profile, as sn_file_create() wants it, without a part's number */
    bool dumps_instructions;     /**< --dump-instr */
    bool dumps_lines;            /**< --dump-line */
    bool compresses_names;       /**< --compress-strings */
    bool compresses_positions;   /**< --compress-pos */
    bool collects_jumps;
    bool separates_threads;
    bool skips_stubs;            /**< --skip-plt */
    int64_t callers, levels;     /**< --separate-callers, --separate-recs; and of single functions: */
    sn_numbered_texts callers_of, levels_of;
    int system_time;             /**< calls_system_time */
    int64_t blocks_to_dump;      /**< --dump-every-bb; 0: none */
    sn_texts dump_before, dump_after, zero_before, toggle_collect; /**< globs of functions */
    bool collects_at_start;

    bool is_switchable;          /**< collecting may be switched on and off: counts are multiplied by `collecting` */
    sn_counter total;            /**< instructions executed, while collecting */
    sn_counter iterations;       /**< two, of repeated instructions: scratch, read before and after each */
    sn_slot collecting;          /**< all ones while on, else 0 */
    sn_slot thread;              /**< the calls_thread */
    sn_slot separated;           /**< the calls_separated, if functions are separated */
    sn_slot blocks;              /**< counts down to the next dump */
} calls_settings;

extern calls_settings calls_current;

#endif
