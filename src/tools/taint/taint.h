/**
 * @fileoverview What the files of the tool `taint` know of each other: taint.c has the options and puts checks into the code,
 * sources.c gives bytes their labels where they arrive, findings.c notes where labelled bytes are used, and reports.
 */
#ifndef SONDE_TOOLS_TAINT_TAINT_H
#define SONDE_TOOLS_TAINT_TAINT_H

#include <sonde/hooks.h>
#include <sonde/shadow.h>

/** The tool's options. */
typedef struct taint_options {
    sn_texts files, sinks;
    bool input, sockets, arguments, environment;
    bool jumps, addresses, formats, calls;
    int format; /**< 0: text, 1: json */
    int64_t callers;
} taint_options;

extern taint_options taint_chosen;
extern const sn_shadow_memory *taint_memory;

/** Labels: bit N is arrival N; the last one is for all arrivals that have no bit of their own. */
enum { TAINT_ARRIVALS = 8 };

typedef struct taint_arrival {
    char source[256];
    uint64_t address;    /**< of the instruction; 0: before the program began */
    sn_context context;
    uint64_t bytes;
    bool is_several;     /**< the last one, which stands for more than one */
} taint_arrival;

extern taint_arrival taint_arrivals[TAINT_ARRIVALS];
extern unsigned taint_arrival_count;

typedef enum taint_use {
    TAINT_JUMP, TAINT_CALL, TAINT_RETURN, TAINT_ADDRESS, TAINT_FORMAT, TAINT_SYSTEM_CALL, TAINT_SINK, TAINT_USES
} taint_use;

/** The first thread is about to begin; a system call has ended; a file was mapped. */
void taint_begin(const sn_thread *thread);
void taint_system_call(sn_thread *thread, const sn_system_call *call);
void taint_mapped(const sn_memory_range *range);

/** Note a use of bytes with these labels. `name`: of the function or system call, or NULL; must stay. SN_FAST. */
void taint_note(taint_use use, uint64_t address, sn_context context, const char *name, unsigned labels);
void taint_report(void);

#endif
