/**
 * @file sonde/json.h
 * A writer of JSON for tools' reports.
 *
 * Writes to a stream as it is called; nothing is kept but the nesting. Each value inside an object is given its name,
 * inside an array NULL. Strings may be any bytes: what is not UTF-8 is written as U+FFFD.
 */
#ifndef SONDE_JSON_H
#define SONDE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/** A document being written. Set up by sn_json_begin(); the members are the writer's own. */
typedef struct sn_json {
    FILE *stream;
    unsigned depth;
    bool has_values;   /**< in the object or array that is open */
    uint64_t is_array; /**< bit N: what is open at depth N is an array */
} sn_json;

/** Start a document: one value follows, usually an object. At most 64 may be open within each other. */
void sn_json_begin(sn_json *json, FILE *stream);
/** Finish it with a line end. All objects and arrays must be closed. */
void sn_json_finish(sn_json *json);

void sn_json_object(sn_json *json, const char *name); /**< open an object */
void sn_json_array(sn_json *json, const char *name);  /**< open an array */
void sn_json_close(sn_json *json);                    /**< close what was opened last */

void sn_json_string(sn_json *json, const char *name, const char *value); /**< NULL gives null */
void sn_json_strings(sn_json *json, const char *name, const char *const *values, size_t count); /**< an array of them */
void sn_json_number(sn_json *json, const char *name, uint64_t value);
void sn_json_signed(sn_json *json, const char *name, int64_t value);
void sn_json_real(sn_json *json, const char *name, double value);        /**< null unless finite */
void sn_json_boolean(sn_json *json, const char *name, bool value);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop
#endif
