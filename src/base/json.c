/**
 * @fileoverview The writer of JSON that tools use for their reports. See sonde/json.h.
 *
 * Owns nothing: the state is the caller's. Indents by two spaces, so that a report can be read and compared by lines.
 */
#include "sonde/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>

enum { MOST_NESTED = 64 };

/** Length of the UTF-8 sequence at `text`, 0 when it is none (truncated, overlong, surrogate, too large). */
static size_t utf8_length(const unsigned char *text) {
    static const struct {
        unsigned char first, last, second_first, second_last, length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last) {
            continue;
        }
        if (forms[i].length > 1 && (text[1] < forms[i].second_first || text[1] > forms[i].second_last)) {
            return 0;
        }
        for (size_t k = 2; k < forms[i].length; k++) {
            if ((text[k] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return forms[i].length;
    }
    return 0;
}

static void write_string(FILE *stream, const char *value) {
    const unsigned char *text = (const unsigned char *)value;
    fputc('"', stream);
    while (*text != 0) {
        size_t length = utf8_length(text);
        if (length == 0) {
            fputs("\\ufffd", stream);
            length = 1;
        } else if (*text == '"' || *text == '\\') {
            fprintf(stream, "\\%c", *text);
        } else if (*text < 0x20 || *text == 0x7f) {
            fprintf(stream, "\\u%04x", *text);
        } else {
            fwrite(text, 1, length, stream);
        }
        text += length;
    }
    fputc('"', stream);
}

static void start_line(const sn_json *json) {
    fputc('\n', json->stream);
    for (unsigned i = 0; i < json->depth; i++) {
        fputs("  ", json->stream);
    }
}

/** Everything that comes before a value: the comma, the line, the name. */
static void start_value(sn_json *json, const char *name) {
    if (json->depth == 0) {
        return;
    }
    if (json->has_values) {
        fputc(',', json->stream);
    }
    start_line(json);
    json->has_values = true;
    bool in_array = json->is_array >> (json->depth - 1) & 1;
    assert(in_array == (name == NULL));
    if (!in_array) {
        write_string(json->stream, name);
        fputs(": ", json->stream);
    }
}

static void open_value(sn_json *json, const char *name, bool is_array) {
    start_value(json, name);
    assert(json->depth < MOST_NESTED);
    uint64_t bit = UINT64_C(1) << json->depth;
    json->is_array = is_array ? json->is_array | bit : json->is_array & ~bit;
    json->depth++;
    json->has_values = false;
    fputc(is_array ? '[' : '{', json->stream);
}

void sn_json_begin(sn_json *json, FILE *stream) {
    *json = (sn_json){.stream = stream};
}

void sn_json_finish(sn_json *json) {
    assert(json->depth == 0);
    fputc('\n', json->stream);
}

void sn_json_object(sn_json *json, const char *name) {
    open_value(json, name, false);
}

void sn_json_array(sn_json *json, const char *name) {
    open_value(json, name, true);
}

void sn_json_close(sn_json *json) {
    assert(json->depth > 0);
    json->depth--;
    if (json->has_values) {
        start_line(json);
    }
    fputc(json->is_array >> json->depth & 1 ? ']' : '}', json->stream);
    json->has_values = true;
}

void sn_json_string(sn_json *json, const char *name, const char *value) {
    start_value(json, name);
    if (value == NULL) {
        fputs("null", json->stream);
    } else {
        write_string(json->stream, value);
    }
}

void sn_json_strings(sn_json *json, const char *name, const char *const *values, size_t count) {
    sn_json_array(json, name);
    for (size_t i = 0; i < count; i++) {
        sn_json_string(json, NULL, values[i]);
    }
    sn_json_close(json);
}

void sn_json_number(sn_json *json, const char *name, uint64_t value) {
    start_value(json, name);
    fprintf(json->stream, "%" PRIu64, value);
}

void sn_json_signed(sn_json *json, const char *name, int64_t value) {
    start_value(json, name);
    fprintf(json->stream, "%" PRId64, value);
}

void sn_json_real(sn_json *json, const char *name, double value) {
    start_value(json, name);
    if (isfinite(value)) {
        fprintf(json->stream, "%.17g", value);
    } else {
        fputs("null", json->stream);
    }
}

void sn_json_boolean(sn_json *json, const char *name, bool value) {
    start_value(json, name);
    fputs(value ? "true" : "false", json->stream);
}
