/**
 * @fileoverview Writing blocks. See write.h and format.h.
 */
#include "write.h"

#include <pthread.h>
#include <sonde/table.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "code.h"
#include "format.h"
#include "lines.h"

enum {
    LEVEL = 1,               /* of zstd: what repeats is mostly gone already */
    CODE_PAYLOAD = 1 << 20,  /* bytes after which a code block is closed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t flags_of_process;
static int process; /**< whose memory this is: a process that shares it has another number */
static bool process_is_written;
static uint32_t sites_written, blocks_written;
static memtrace_packer *own_packer; /**< under the lock */

static _Noreturn void fail_for_memory(void) {
    sn_fail(125, "memtrace: out of memory");
}

/* ------------------------------------------------------- payloads of numbers */

typedef struct payload {
    uint8_t *bytes;
    size_t size, room;
} payload;

static void reserve(payload *to, size_t size) {
    if (to->room - to->size >= size)
        return;
    to->room = 2 * to->room + size + 4096;
    if (!(to->bytes = realloc(to->bytes, to->room)))
        fail_for_memory();
}

static void put_number(payload *to, uint64_t number) {
    reserve(to, MEMTRACE_LONGEST_VARINT);
    to->size = (size_t)(memtrace_put(to->bytes + to->size, number) - to->bytes);
}

static void put_bytes(payload *to, const void *bytes, size_t size) {
    reserve(to, size);
    if (size)
        memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_text(payload *to, const char *text) {
    put_number(to, strlen(text));
    put_bytes(to, text, strlen(text));
}

/* ----------------------------------------------------------------- packing */

static bool is_closed;   /**< the output, by the end of the process: so far */
static payload waiting;  /**< what has come since */

struct memtrace_packer {
    ZSTD_CCtx *context;
    uint8_t *bytes; /**< a header and a frame */
    size_t room;
};

memtrace_packer *memtrace_packer_new(void) {
    memtrace_packer *packer = calloc(1, sizeof *packer);
    if (!packer || !(packer->context = ZSTD_createCCtx()))
        fail_for_memory();
    ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packer->context, ZSTD_c_checksumFlag, 1);
    return packer;
}

void memtrace_packer_free(memtrace_packer *packer) {
    if (packer) {
        ZSTD_freeCCtx(packer->context);
        free(packer->bytes);
        free(packer);
    }
}

/** Make the block in packer->bytes; returns its size. */
static size_t pack(memtrace_packer *packer, memtrace_header *header, const void *payload, size_t size) {
    size_t room = sizeof *header + ZSTD_compressBound(size);
    if (packer->room < room) {
        free(packer->bytes);
        packer->room = room;
        if (!(packer->bytes = malloc(room)))
            fail_for_memory();
    }
    size_t packed = ZSTD_compress2(packer->context, packer->bytes + sizeof *header, room - sizeof *header, payload, size);
    if (ZSTD_isError(packed))
        sn_fail(125, "memtrace: cannot compress: %s", ZSTD_getErrorName(packed));
    memcpy(header->magic, MEMTRACE_MAGIC, MEMTRACE_MAGIC_SIZE);
    header->process = (uint32_t)process;
    header->packed_size = (uint32_t)packed;
    header->raw_size = (uint32_t)size;
    memcpy(packer->bytes, header, sizeof *header);
    return sizeof *header + packed;
}

/** Under the lock. Unbuffered, a block is one write. */
static void put_out(const void *bytes, size_t size) {
    if (is_closed) {
        put_bytes(&waiting, bytes, size);
        return;
    }
    FILE *stream = sn_output();
    setvbuf(stream, NULL, _IONBF, 0);
    fwrite(bytes, 1, size, stream);
}

bool memtrace_write_reopen(void) {
    pthread_mutex_lock(&lock);
    bool was_closed = is_closed;
    if (was_closed) {
        is_closed = false;
        put_out(waiting.bytes, waiting.size);
        waiting.size = 0;
    }
    pthread_mutex_unlock(&lock);
    return was_closed;
}

/** Pack with the packer of the lock, under it, and write. */
static void put_block(uint32_t kind, const void *payload, size_t size) {
    if (!own_packer)
        own_packer = memtrace_packer_new();
    memtrace_header header = {.kind = kind};
    put_out(own_packer->bytes, pack(own_packer, &header, payload, size));
}

/** Under the lock, before any other block. */
static void put_process(void) {
    const char *const *arguments;
    payload payload = {0};
    if (process_is_written)
        return;
    process_is_written = true;
    put_number(&payload, flags_of_process);
    int count = sn_client_arguments(&arguments);
    put_number(&payload, (uint64_t)count);
    for (int i = 0; i < count; i++)
        put_text(&payload, arguments[i]);
    put_block(MEMTRACE_PROCESS, payload.bytes, payload.size);
    free(payload.bytes);
}

/* ------------------------------------------------------------------ modules */

typedef struct module {
    struct module *older;
    uint64_t start, end;
} module;

static module *modules;

void memtrace_note_module(const char *path, uint64_t start, uint64_t end) {
    (void)path;
    module *noted = malloc(sizeof *noted);
    if (!noted)
        fail_for_memory();
    pthread_mutex_lock(&lock);
    *noted = (module){modules, start, end};
    modules = noted;
    pthread_mutex_unlock(&lock);
}

static uint64_t offset_in_module(uint64_t address) {
    for (const module *module = modules; module; module = module->older)
        if (address >= module->start && address < module->end)
            return address - module->start;
    return 0;
}

/* -------------------------------------------------------------------- names */

/** Names are written once; sn_locate() gives equal names of one module as equal pointers. A name written twice costs room
    and nothing else. */
typedef struct name_number {
    const char *key;
    uint32_t number; /**< from 1 */
} name_number;

static SN_TABLE(name_number) names;

/** A number that stands for the name: 0 for none, a known one's, or the next one, behind which the text follows. */
static void put_name(payload *to, const char *name) {
    if (!name) {
        put_number(to, 0);
        return;
    }
    bool is_new;
    name_number *known = sn_table_insert(&names, name, &is_new);
    if (is_new)
        known->number = (uint32_t)sn_table_count(&names);
    put_number(to, known->number);
    if (is_new)
        put_text(to, name);
}

/* ------------------------------------------------------------- sites and blocks */

static void put_site(payload *to, const memtrace_site *site, uint64_t previous) {
    sn_location where;
    if (!sn_locate(site->address, &where))
        where = (sn_location){0};
    put_number(to, memtrace_zigzag(site->address - previous));
    put_number(to, site->kind);
    put_number(to, site->size);
    put_name(to, where.module);
    put_number(to, offset_in_module(site->address));
    put_name(to, where.function);
    put_name(to, where.file);
    put_number(to, where.line);
    if (site->kind == MEMTRACE_SYSTEM) {
        put_number(to, site->system_number);
        put_name(to, site->system_call);
    }
}

static void put_steps(payload *to, const memtrace_step *steps, unsigned count) {
    put_number(to, count);
    for (unsigned i = 0; i < count; i++) {
        put_number(to, steps[i].site);
        put_number(to, steps[i].instruction);
    }
}

static void put_block_of_code(payload *to, const memtrace_block *block) {
    put_steps(to, block->positions, block->position_count);
    put_steps(to, block->varying, block->varying_count);
    put_number(to, block->instruction_count);
    for (unsigned i = 0; i < block->instruction_count; i++)
        put_number(to, block->fetches[i]);
}

/** Sites from the first one that is not written to `end`, as far as they fit into a block. */
static void put_sites(payload *to, uint32_t end) {
    payload list = {0};
    uint32_t count = 0;
    for (uint64_t previous = 0; sites_written < end && list.size < CODE_PAYLOAD; count++) {
        const memtrace_site *site = memtrace_site_at(sites_written++);
        put_site(&list, site, previous);
        previous = site->address;
    }
    put_number(to, count);
    put_bytes(to, list.bytes, list.size);
    free(list.bytes);
}

static void put_blocks_of_code(payload *to, uint32_t end) {
    payload list = {0};
    uint32_t count = 0;
    for (; blocks_written < end && list.size < CODE_PAYLOAD; count++)
        put_block_of_code(&list, memtrace_block_at(blocks_written++));
    put_number(to, count);
    put_bytes(to, list.bytes, list.size);
    free(list.bytes);
}

/** Under the lock: write what has been made since last time. A block's sites are made before it. */
static void put_code(void) {
    uint32_t blocks = memtrace_block_count(), sites = memtrace_site_count();
    while (blocks_written < blocks) {
        payload payload = {0};
        put_sites(&payload, sites);
        put_blocks_of_code(&payload, sites_written == sites ? blocks : blocks_written);
        put_block(MEMTRACE_CODE, payload.bytes, payload.size);
        free(payload.bytes);
    }
}

/* -------------------------------------------------------------------- the rest */

void memtrace_write_events(memtrace_packer *packer, uint32_t kind, int thread, uint32_t predictions, const void *payload,
                           size_t size) {
    memtrace_header header = {.kind = kind, .thread = (uint32_t)thread, .predictions = predictions};
    size_t packed = pack(packer, &header, payload, size);
    pthread_mutex_lock(&lock);
    put_process();
    put_code();
    put_out(packer->bytes, packed);
    pthread_mutex_unlock(&lock);
}

void memtrace_write_set_flags(uint32_t flags) {
    flags_of_process = flags;
    process = (int)getpid();
}

void memtrace_write_end(bool is_binary) {
    pthread_mutex_lock(&lock);
    if (is_binary) {
        put_process();
        put_block(MEMTRACE_END, "", 0);
    }
    is_closed = true;
    pthread_mutex_unlock(&lock);
}

void memtrace_write_lines(int thread, const char *lines, size_t size) {
    static int last_thread;
    char mark[MEMTRACE_LONGEST_LINE];
    pthread_mutex_lock(&lock);
    if (last_thread && last_thread != thread)
        put_out(mark, (size_t)(memtrace_put_thread_line(mark, (uint32_t)thread) - mark));
    last_thread = thread;
    put_out(lines, size);
    pthread_mutex_unlock(&lock);
}

void memtrace_write_after_fork(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    process = (int)getpid();
    process_is_written = is_closed = false;
    waiting.size = 0;
    sites_written = blocks_written = 0;
    sn_table_clear(&names);
}
