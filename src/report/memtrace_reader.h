/**
 * @fileoverview Reading the trace files of `sonde memtrace`: accesses, in the order of each thread.
 *
 * The layout is that of tools/memtrace/format.h. What lies before a cut or damage is told before that is: reading goes
 * once through the file, which may be a pipe. memtrace_code.c reads the tables of a process, memtrace_events.c undoes
 * the coding of events; memtrace_*.c use this.
 */
#ifndef SONDE_REPORT_MEMTRACE_READER_H
#define SONDE_REPORT_MEMTRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sonde/vector.h"
#include "tools/memtrace/format.h"

/** A place in the code that accesses memory. Names are interned or NULL. */
typedef struct sn_memtrace_site {
    uint64_t address;
    uint64_t offset;         /**< of the address in the module as it was mapped */
    const char *module, *function, *file;
    const char *system_call; /**< of a MEMTRACE_SYSTEM site */
    uint64_t system_number;
    uint32_t line;
    uint32_t size;           /**< 0 if it varies */
    uint32_t number;         /**< counted through the whole file */
    uint8_t kind;            /**< MEMTRACE_LOAD, ... */
} sn_memtrace_site;

/** One program that was traced: another one in the same process, behind an execve, is another one here. */
typedef struct sn_memtrace_process {
    uint32_t id;
    uint32_t flags;          /**< MEMTRACE_HAS_... */
    SN_VECTOR(const char *) arguments;
    bool has_ended;
} sn_memtrace_process;

/** One access. */
typedef struct sn_memtrace_event {
    const sn_memtrace_process *process;
    const sn_memtrace_site *site;
    uint64_t address;
    uint32_t size;
    uint32_t thread;
    uint8_t kind;            /**< MEMTRACE_FETCH, _LOAD, _STORE, _MODIFY */
} sn_memtrace_event;

/** Who is told. Sites and processes live as long as the reader; an event as long as the call. */
typedef struct sn_memtrace_listener {
    void (*process)(void *data, const sn_memtrace_process *process); /**< begins */
    void (*event)(void *data, const sn_memtrace_event *event);
    void *data;
} sn_memtrace_listener;

typedef struct sn_memtrace_reader sn_memtrace_reader;

sn_memtrace_reader *sn_memtrace_reader_new(void);

/** Read to the end. NULL if the trace is complete; otherwise what is wrong, as words behind the file's name. */
const char *sn_memtrace_read(sn_memtrace_reader *reader, FILE *stream, const sn_memtrace_listener *listener);

/** How many sites there are: one more than the largest number. */
uint32_t sn_memtrace_site_total(const sn_memtrace_reader *reader);

void sn_memtrace_reader_free(sn_memtrace_reader *reader);

#endif
