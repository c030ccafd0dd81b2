/**
 * @file sonde/context_file.h
 * A writer of files that say in which calling contexts something happened, how often and how much: any events, counted by
 * context and place. `sonde report` reads them; docs/contexts-file.md is their format.
 *
 * Contexts are those of <sonde/tool.h>, of all threads together. They are written with their functions, files and lines, which
 * are looked up on the way, so that the file can be read anywhere. Contexts that look the same there are one.
 *
 * Writes to a stream as it is called; not for several threads at once. Takes the locks that sn_locate() takes. What could not
 * be written the stream knows (sn_file_close()).
 */
#ifndef SONDE_CONTEXT_FILE_H
#define SONDE_CONTEXT_FILE_H

#include <sonde/tool.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/** At most so many events are counted. */
#define SN_CONTEXT_FILE_MOST_EVENTS 64

/** A file being written. */
typedef struct sn_context_file sn_context_file;

/** Begin: `tool` is the writer's name, `events` are names without white space. Ends the run with one line when there are none
    or too many of them, or no memory. */
sn_context_file *sn_context_file_begin(FILE *stream, const char *tool, size_t event_count, const char *const *events);

/** So much happened in `context`, at the instruction at `address` (0: somewhere in the context's function). Counts of the same
    context and place are added up by who reads. SN_NO_CONTEXT is allowed: nothing is known of the calls. */
void sn_context_file_add(sn_context_file *file, sn_context context, uint64_t address, const uint64_t *counts);

/** Write what has to stand at the end, and give the memory back. The stream stays open. */
void sn_context_file_end(sn_context_file *file);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop
#endif
