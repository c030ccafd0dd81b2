/**
 * @fileoverview Clamping. See heap_clamp.h.
 */
#include "report/heap_clamp.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/log.h"
#include "report/heap.h"

enum { OUTPUT = 1 << 18, LONGEST_WORD = 20 };

typedef struct clamping {
    sn_heapfile_index *index;
    sn_heapfile_clamp_stats *stats;
    const char *path;
    gzFile output;
    char *buffer; /**< OUTPUT bytes */
    size_t used;
    uint64_t zeros;     /**< words of the array that are zero and not yet written: at its end they are dropped */
    bool has_words;     /**< something of the array was written */
    char name[4096];    /**< of the file until it is whole */
} clamping;

/* ---------------------------------------------------------------------------- output */

static _Noreturn void cannot_write(const clamping *clamping) {
    int error = errno;
    unlink(clamping->name);
    sn_fail(SN_STATUS_FAILURE, "cannot write '%s': %s", clamping->path, strerror(error));
}

static void flush(clamping *clamping) {
    if (clamping->used > 0 && gzwrite(clamping->output, clamping->buffer, (unsigned)clamping->used) != (int)clamping->used)
        cannot_write(clamping);
    clamping->used = 0;
}

static inline char *room_for(clamping *clamping, size_t size) {
    if (clamping->used + size > OUTPUT)
        flush(clamping);
    return clamping->buffer + clamping->used;
}

static void take_text(void *data, const void *bytes, size_t size) {
    clamping *clamping = data;
    for (size_t some; size > 0; size -= some, bytes = (const char *)bytes + some) {
        some = size < OUTPUT / 2 ? size : OUTPUT / 2;
        memcpy(room_for(clamping, some), bytes, some);
        clamping->used += some;
    }
}

/** A word in quotes, with a comma before it unless it is the array's first. */
static inline void put_word(clamping *clamping, uint64_t word) {
    static const char digits[] = "0123456789abcdef";
    char *to = room_for(clamping, LONGEST_WORD), *from = to;
    if (clamping->has_words)
        *to++ = ',';
    clamping->has_words = true;
    *to++ = '"';
    unsigned count = word == 0 ? 1 : (unsigned)(67 - __builtin_clzll(word)) / 4;
    for (unsigned i = count; i > 0; i--, word >>= 4)
        to[i - 1] = digits[word & 15];
    to += count;
    *to++ = '"';
    clamping->used += (size_t)(to - from);
}

/* ----------------------------------------------------------------------------- words */

static void put_clamped(clamping *clamping, uint64_t start) {
    for (; clamping->zeros > 0; clamping->zeros--)
        put_word(clamping, 0);
    put_word(clamping, start);
}

static void take_batch(clamping *clamping, const uint64_t *words, size_t count) {
    sn_heapfile_clamp_stats seen = {0};
    uint32_t numbers[SN_HEAPFILE_BATCH];
    uint64_t starts[SN_HEAPFILE_BATCH];
    bool has_blocks = sn_heapfile_index_find_all(clamping->index, words, count, numbers, starts);
    for (size_t i = 0; i < count; i++) {
        bool is_in_block = has_blocks && numbers[i] != SN_HEAPFILE_NONE;
        seen.zeros += words[i] == 0;
        seen.others += words[i] != 0 && !is_in_block;
        if (!is_in_block) {
            clamping->zeros++;
            continue;
        }
        seen.starts += starts[i] == words[i];
        seen.insides += starts[i] != words[i];
        put_clamped(clamping, starts[i]);
    }
    clamping->stats->zeros += seen.zeros;
    clamping->stats->others += seen.others;
    clamping->stats->starts += seen.starts;
    clamping->stats->insides += seen.insides;
}

static void take_words(void *data, uint32_t owner, uint64_t first, const uint64_t *words, size_t count) {
    (void)owner, (void)first;
    for (size_t i = 0; i < count; i += SN_HEAPFILE_BATCH)
        take_batch(data, words + i, count - i < SN_HEAPFILE_BATCH ? count - i : SN_HEAPFILE_BATCH);
}

static void take_end(void *data, uint32_t owner) {
    clamping *clamping = data;
    (void)owner;
    clamping->zeros = 0;
    clamping->has_words = false;
}

/* ------------------------------------------------------------------------------ file */

/** A new file beside `path`, whose name is put into `name`, with the rights that the old one has. */
static int create_beside(const char *path, char *name, size_t size) {
    struct stat status;
    if ((size_t)snprintf(name, size, "%s.XXXXXX", path) >= size)
        sn_fail(SN_STATUS_USAGE, "cannot write '%s': %s", path, strerror(ENAMETOOLONG));
    int descriptor = mkstemp(name);
    if (descriptor < 0)
        sn_fail(SN_STATUS_USAGE, "cannot write '%s': %s", path, strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, stat(path, &status) == 0 ? status.st_mode & 07777 : 0666 & ~mask);
    return descriptor;
}

static gzFile open_output(const char *path, int descriptor) {
    size_t length = strlen(path);
    bool is_compressed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    gzFile output = gzdopen(descriptor, is_compressed ? "wb" : "wbT");
    if (output == NULL)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    return output;
}

bool sn_heapfile_clamp(const sn_heapfile *file, sn_heapfile_index *index, const char *from, const char *to,
                       sn_heapfile_clamp_stats *stats, char *explanation) {
    clamping clamping = {.index = index, .stats = stats, .path = to, .buffer = sn_pages_allocate(OUTPUT)};
    clamping.output = open_output(to, create_beside(to, clamping.name, sizeof clamping.name));
    sn_heapfile_listener listener = {.data = &clamping, .words = take_words, .end = take_end, .text = take_text};
    bool is_good = sn_heapfile_contents(file, sn_heapfile_open(from), &listener, explanation);
    if (is_good)
        flush(&clamping);
    if (gzclose(clamping.output) != Z_OK && is_good)
        cannot_write(&clamping);
    if (!is_good)
        unlink(clamping.name);
    else if (rename(clamping.name, to) != 0)
        cannot_write(&clamping);
    sn_pages_release(clamping.buffer, OUTPUT);
    return is_good;
}

/* ------------------------------------------------------------------------------ text */

/** Whether the word is an address: its value. */
static bool is_address(const char *word, size_t length, uint64_t *value) {
    bool has_mark = length > 2 && word[0] == '0' && (word[1] | 0x20) == 'x';
    size_t from = has_mark ? 2 : 0;
    if (length - from > 16 || (!has_mark && length < 8))
        return false;
    *value = 0;
    for (size_t i = from; i < length; i++) {
        if (!isxdigit((unsigned char)word[i]))
            return false;
        *value = *value << 4 | (uint64_t)(isdigit((unsigned char)word[i]) ? word[i] - '0' : (word[i] | 0x20) - 'a' + 10);
    }
    return true;
}

/** A word as it is, or the address of the block that it lies in, in the same form. */
static void print_word(sn_heapfile_index *index, const char *word, size_t length) {
    uint64_t value, start;
    if (!is_address(word, length, &value) || sn_heapfile_index_find(index, value, &start) == SN_HEAPFILE_NONE) {
        fwrite(word, 1, length, stdout);
    } else if (length > 1 && (word[1] | 0x20) == 'x') {
        printf("%.2s%0*lx", word, (int)length - 2, (unsigned long)start);
    } else {
        printf("%0*lx", (int)length, (unsigned long)start);
    }
}

void sn_heapfile_clamp_text(sn_heapfile_index *index, const char *path) {
    FILE *stream = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    if (stream == NULL)
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    for (ssize_t length; (length = getline(&line, &room, stream)) >= 0;) {
        for (ssize_t at = 0, end; at < length; at = end) {
            bool is_word = isalnum((unsigned char)line[at]) || line[at] == '_';
            for (end = at + 1; end < length && (isalnum((unsigned char)line[end]) || line[end] == '_') == is_word; end++) {
            }
            if (is_word)
                print_word(index, line + at, (size_t)(end - at));
            else
                fwrite(line + at, 1, (size_t)(end - at), stdout);
        }
    }
    if (ferror(stream))
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    free(line);
    fclose(stream);
}
