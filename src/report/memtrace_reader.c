/**
 * @fileoverview The blocks of a trace file, one after the other. See memtrace_reader.h.
 */
#include "report/memtrace_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "sonde/hash.h"
#include "base/log.h"
#include "report/memtrace_code.h"
#include "report/memtrace_events.h"

struct sn_memtrace_reader {
    sn_arena arena;                            /**< sites */
    SN_VECTOR(sn_memtrace_program *) programs; /**< all, also those that an execve replaced */
    sn_hash current;                           /**< process number -> program */
    sn_hash threads;                           /**< process and thread number -> sn_memtrace_thread */
    uint32_t site_total;
    ZSTD_DCtx *unpacker;
    uint8_t *packed, *payload;
    size_t packed_room, payload_room;
    uint64_t offset;                           /**< of the block being read, in the file */
    char explanation[128];
};

sn_memtrace_reader *sn_memtrace_reader_new(void) {
    sn_memtrace_reader *reader = calloc(1, sizeof *reader);
    if (!reader || !(reader->unpacker = ZSTD_createDCtx()))
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    return reader;
}

uint32_t sn_memtrace_site_total(const sn_memtrace_reader *reader) {
    return reader->site_total;
}

void sn_memtrace_reader_free(sn_memtrace_reader *reader) {
    for (size_t i = 0; i < reader->programs.count; i++) {
        sn_memtrace_program_release(reader->programs.items[i]);
        free(reader->programs.items[i]);
    }
    sn_vector_release(&reader->programs);
    sn_hash_entry entry;
    for (size_t position = 0; sn_hash_next(&reader->threads, &position, &entry);)
        sn_memtrace_thread_free((sn_memtrace_thread *)(uintptr_t)entry.value);
    sn_hash_release(&reader->threads);
    sn_hash_release(&reader->current);
    sn_arena_release(&reader->arena);
    ZSTD_freeDCtx(reader->unpacker);
    free(reader->packed);
    free(reader->payload);
    free(reader);
}

/* ---------------------------------------------------------------- explanations */

static const char *explain(sn_memtrace_reader *reader, const char *what) {
    snprintf(reader->explanation, sizeof reader->explanation, "%s at byte %llu: what lies before is whole", what,
             (unsigned long long)reader->offset);
    return reader->explanation;
}

static const char *explain_damage(sn_memtrace_reader *reader) {
    return explain(reader, "is damaged");
}

/** What is wrong with a header, or NULL. */
static const char *judge_header(sn_memtrace_reader *reader, const memtrace_header *header) {
    char magic[MEMTRACE_MAGIC_SIZE];
    memcpy(magic, header->magic, sizeof magic);
    magic[MEMTRACE_VERSION_AT] = MEMTRACE_MAGIC[MEMTRACE_VERSION_AT];
    if (memcmp(magic, MEMTRACE_MAGIC, sizeof magic) == 0 && memcmp(header->magic, magic, sizeof magic) != 0) {
        snprintf(reader->explanation, sizeof reader->explanation, "is a trace of version %u, this is version %u",
                 (unsigned char)header->magic[MEMTRACE_VERSION_AT], MEMTRACE_MAGIC[MEMTRACE_VERSION_AT]);
        return reader->explanation;
    }
    bool is_good = memcmp(header->magic, MEMTRACE_MAGIC, sizeof magic) == 0 && header->raw_size <= MEMTRACE_MOST_RAW &&
                   header->packed_size <= ZSTD_compressBound(MEMTRACE_MOST_RAW);
    return is_good ? NULL : explain_damage(reader);
}

/* --------------------------------------------------------------------- payloads */

static void reserve(uint8_t **bytes, size_t *room, size_t wanted) {
    if (*room >= wanted && *bytes)
        return;
    free(*bytes);
    *room = wanted + 1;
    if (!(*bytes = malloc(*room)))
        sn_fail(SN_STATUS_ENGINE, "out of memory");
}

/** Read and unpack what follows a header. Returns what is wrong, or NULL. */
static const char *read_payload(sn_memtrace_reader *reader, FILE *stream, const memtrace_header *header) {
    reserve(&reader->packed, &reader->packed_room, header->packed_size);
    reserve(&reader->payload, &reader->payload_room, header->raw_size);
    if (fread(reader->packed, 1, header->packed_size, stream) != header->packed_size)
        return explain(reader, "is cut off in the block that begins");
    size_t size = ZSTD_decompressDCtx(reader->unpacker, reader->payload, header->raw_size, reader->packed,
                                      header->packed_size);
    return ZSTD_isError(size) || size != header->raw_size ? explain_damage(reader) : NULL;
}

static sn_memtrace_program *program_of(const sn_memtrace_reader *reader, uint32_t process) {
    return (sn_memtrace_program *)(uintptr_t)sn_hash_get(&reader->current, process, 0);
}

static void forget_threads(sn_memtrace_reader *reader, uint32_t process) {
    SN_VECTOR(uint64_t) old = {0};
    sn_hash_entry entry;
    for (size_t position = 0; sn_hash_next(&reader->threads, &position, &entry);)
        if (entry.key >> 32 == process) {
            sn_memtrace_thread_free((sn_memtrace_thread *)(uintptr_t)entry.value);
            *sn_vector_add(&old) = entry.key;
        }
    for (size_t i = 0; i < old.count; i++)
        sn_hash_remove(&reader->threads, old.items[i]);
    sn_vector_release(&old);
}

static bool take_process(sn_memtrace_reader *reader, const memtrace_header *header,
                         const sn_memtrace_listener *listener) {
    sn_memtrace_program *program = calloc(1, sizeof *program), *replaced = program_of(reader, header->process);
    if (!program)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    *sn_vector_add(&reader->programs) = program;
    if (replaced) /* by an execve, or a later process with its number */
        forget_threads(reader, header->process);
    sn_hash_set(&reader->current, header->process, (uintptr_t)program);
    program->process.id = header->process;
    if (!sn_memtrace_take_process(program, reader->payload, header->raw_size))
        return false;
    if (listener->process)
        listener->process(listener->data, &program->process);
    return true;
}

static bool take_events(sn_memtrace_reader *reader, const sn_memtrace_program *program, const memtrace_header *header,
                        const sn_memtrace_listener *listener) {
    bool is_new;
    uint64_t *place = sn_hash_insert(&reader->threads, (uint64_t)header->process << 32 | header->thread, &is_new);
    if (header->kind == MEMTRACE_FIRST_EVENTS && !is_new)
        sn_memtrace_thread_free((sn_memtrace_thread *)(uintptr_t)*place);
    if (is_new || header->kind == MEMTRACE_FIRST_EVENTS)
        *place = (uintptr_t)sn_memtrace_thread_new(header->thread);
    if (is_new && header->kind != MEMTRACE_FIRST_EVENTS)
        return false;
    return sn_memtrace_take_events((sn_memtrace_thread *)(uintptr_t)*place, program, reader->payload, header->raw_size,
                                   header->predictions, listener);
}

static bool take_block(sn_memtrace_reader *reader, const memtrace_header *header, const sn_memtrace_listener *listener) {
    sn_memtrace_program *program = program_of(reader, header->process);
    if (header->kind == MEMTRACE_PROCESS)
        return take_process(reader, header, listener);
    if (!program)
        return false;
    switch (header->kind) {
    case MEMTRACE_CODE:
        return sn_memtrace_take_code(program, reader->payload, header->raw_size, &reader->arena, &reader->site_total);
    case MEMTRACE_EVENTS:
    case MEMTRACE_FIRST_EVENTS: return take_events(reader, program, header, listener);
    case MEMTRACE_END: return program->process.has_ended = true;
    default: return false;
    }
}

/** Whether a process was killed, or is still running. */
static const char *find_unended(sn_memtrace_reader *reader) {
    for (size_t i = 0; i < reader->programs.count; i++) {
        const sn_memtrace_process *process = &reader->programs.items[i]->process;
        if (!process->has_ended) {
            snprintf(reader->explanation, sizeof reader->explanation,
                     "lacks the end of process %u: it is whole up to its last byte", process->id);
            return reader->explanation;
        }
    }
    return NULL;
}

/** What is in a file as reading begins: a program that goes on writing to it would be followed for ever. */
static uint64_t end_of(FILE *stream) {
    struct stat status;
    return fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : UINT64_MAX;
}

const char *sn_memtrace_read(sn_memtrace_reader *reader, FILE *stream, const sn_memtrace_listener *listener) {
    memtrace_header header;
    uint64_t end = end_of(stream);
    for (reader->offset = 0; reader->offset < end; reader->offset += sizeof header + header.packed_size) {
        size_t size = fread(&header, 1, sizeof header, stream);
        if (size == 0 && !ferror(stream))
            break;
        if (size != sizeof header)
            return explain(reader, ferror(stream) ? "can't be read" : "is cut off in the block that begins");
        const char *wrong = judge_header(reader, &header);
        if (!wrong)
            wrong = read_payload(reader, stream, &header);
        if (!wrong && !take_block(reader, &header, listener))
            wrong = explain_damage(reader);
        if (wrong)
            return wrong;
    }
    return find_unended(reader);
}
