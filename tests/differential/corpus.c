/**
 * @fileoverview Reading and writing the file of blocks, see corpus.h.
 */
#include "corpus.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sn_corpus_write_batch(FILE *out, uint64_t address, uint64_t size) {
    fprintf(out, "batch %" PRIx64 " %" PRIx64 "\n", address, size);
}

static void write_code(FILE *out, const sn_test_block *block) {
    for (unsigned i = 0; i < block->group_count; i++) {
        unsigned end = i + 1 < block->group_count ? block->groups[i + 1] : block->length;
        fputs(i ? " " : "", out);
        fputs(block->data[i] ? "." : "", out);
        for (unsigned offset = block->groups[i]; offset < end; offset++)
            fprintf(out, "%02x", block->code[offset]);
    }
}

void sn_corpus_write(FILE *out, const sn_test_block *block) {
    const sn_start *start = &block->start;
    fprintf(out, "block %" PRIu64 " at=%" PRIx64 " seed=%" PRIx64 " flags=%" PRIx64 " segments=%" PRIu64 " fs=%" PRIx64,
            block->number, start->entry, start->seed, start->flags, start->segments, start->fs_base);
    fprintf(out, " gs=%" PRIx64 " registers=", start->gs_base);
    for (unsigned i = 0; i < 16; i++)
        fprintf(out, "%s%" PRIx64, i ? "," : "", start->registers[i]);
    fputs(" code=", out);
    write_code(out, block);
    fputc('\n', out);
}

/** Value of each hexadecimal digit; for other characters so far below zero that no second digit makes up for it. */
static const int *digits(void) {
    static int values[256];
    if (!values['\0']) {
        for (unsigned i = 0; i < 256; i++)
            values[i] = -256;
        for (unsigned i = 0; i < 16; i++)
            values[(unsigned char)"0123456789abcdef"[i]] = (int)i;
    }
    return values;
}

/** The byte that two digits make, negative when they are none. One test a byte: this loop is most of a run without links. */
static int pair(const int *values, const char *text) {
    return values[(unsigned char)text[0]] * 16 + values[(unsigned char)text[1]];
}

static bool read_group(const char **text, sn_test_block *block) {
    const int *values = digits();
    if (block->group_count == SN_BLOCK_GROUPS)
        return false;
    block->data[block->group_count] = **text == '.';
    block->groups[block->group_count++] = (uint16_t)block->length;
    *text += **text == '.';
    for (int value; block->length < SN_BLOCK_BYTES && (value = pair(values, *text)) >= 0; *text += 2)
        block->code[block->length++] = (uint8_t)value;
    return block->length < SN_BLOCK_BYTES;
}

static bool read_registers(const char **text, sn_start *start) {
    for (unsigned i = 0; i < 16; i++) {
        char *end;
        start->registers[i] = strtoull(*text, &end, 16);
        if (end == *text || (i < 15 && *end != ','))
            return false;
        *text = end + (i < 15);
    }
    return true;
}

static bool read_block(const char *line, sn_test_block *block) {
    sn_start *start = &block->start;
    int used = 0;
    int fields = sscanf(line,
                        "block %" SCNu64 " at=%" SCNx64 " seed=%" SCNx64 " flags=%" SCNx64 " segments=%" SCNu64
                        " fs=%" SCNx64 " gs=%" SCNx64 " registers=%n",
                        &block->number, &start->entry, &start->seed, &start->flags, &start->segments, &start->fs_base,
                        &start->gs_base, &used);
    const char *text = line + used;
    block->length = block->group_count = 0;
    if (fields != 7 || !used || !read_registers(&text, start) || strncmp(text, " code=", 6) != 0)
        return false;
    text += 6;
    while (*text != '\n' && *text != '\0') {
        unsigned before = block->length;
        if (!read_group(&text, block) || block->length == before)
            return false;
        text += *text == ' ';
    }
    return *text == '\n' && block->length > 0;
}

sn_corpus_line sn_corpus_read(FILE *in, uint64_t *address, uint64_t *size, sn_test_block *block) {
    static char line[3 * SN_BLOCK_BYTES + 1024];
    if (!fgets(line, sizeof line, in))
        return SN_CORPUS_END;
    if (sscanf(line, "batch %" SCNx64 " %" SCNx64, address, size) == 2)
        return SN_CORPUS_BATCH;
    return read_block(line, block) ? SN_CORPUS_BLOCK : SN_CORPUS_BAD;
}
