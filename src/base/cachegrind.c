/**
 * @fileoverview The writer of profiles in Cachegrind's format. See sonde/cachegrind.h.
 *
 * Owns nothing: the state is the caller's. Used by tools, and by `sonde report` for sums and differences.
 */
#include "sonde/cachegrind.h"

#include <inttypes.h>
#include <string.h>

static const char unknown[] = "???";

/** A name in one line. */
static void write_name(FILE *stream, const char *name) {
    for (; *name != '\0'; name++) {
        fputc(*name == '\n' || *name == '\r' ? ' ' : *name, stream);
    }
}

void sn_cachegrind_begin(sn_cachegrind *profile, FILE *stream) {
    *profile = (sn_cachegrind){.stream = stream};
}

void sn_cachegrind_description(sn_cachegrind *profile, const char *text) {
    fputs("desc: ", profile->stream);
    write_name(profile->stream, text);
    fputc('\n', profile->stream);
}

void sn_cachegrind_command(sn_cachegrind *profile, size_t count, const char *const *words) {
    fputs("cmd:", profile->stream);
    for (size_t i = 0; i < count; i++) {
        fputc(' ', profile->stream);
        write_name(profile->stream, words[i]);
    }
    fputc('\n', profile->stream);
}

void sn_cachegrind_events(sn_cachegrind *profile, size_t count, const char *const *names) {
    profile->event_count = count;
    fputs("events:", profile->stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(profile->stream, " %s", names[i]);
    }
    fputc('\n', profile->stream);
}

static void write_counts(sn_cachegrind *profile, const int64_t *counts) {
    for (size_t i = 0; i < profile->event_count; i++) {
        fprintf(profile->stream, " %" PRId64, counts[i]);
    }
    fputc('\n', profile->stream);
}

/** "fl=" or "fn=", if it is another name than before. Returns whether it was. */
static int write_change(FILE *stream, const char *key, const char **before, const char *name) {
    if (*before != NULL && strcmp(*before, name) == 0) {
        *before = name;
        return 0;
    }
    *before = name;
    fputs(key, stream);
    write_name(stream, name);
    fputc('\n', stream);
    return 1;
}

void sn_cachegrind_line(sn_cachegrind *profile, const char *file, const char *function, unsigned line,
                        const int64_t *counts) {
    if (write_change(profile->stream, "fl=", &profile->file, file != NULL ? file : unknown)) {
        profile->function = NULL; /* readers expect a function behind each file */
    }
    write_change(profile->stream, "fn=", &profile->function, function != NULL ? function : unknown);
    fprintf(profile->stream, "%u", line);
    write_counts(profile, counts);
}

void sn_cachegrind_summary(sn_cachegrind *profile, const int64_t *counts) {
    fputs("summary:", profile->stream);
    write_counts(profile, counts);
}
