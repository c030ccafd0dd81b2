/**
 * @fileoverview A heap file in memory, without its contents: DMD's JSON, version 5, as docs/heap-file.md describes it.
 *
 * The contents of blocks and roots, which are nearly all of a large file, are read again when something asks about them
 * (sn_heapfile_contents). Called by heap.c; read by all that prints.
 */
#ifndef SONDE_REPORT_HEAP_FILE_H
#define SONDE_REPORT_HEAP_FILE_H

#include "sonde/hash.h"
#include "sonde/vector.h"
#include "report/heap_input.h"

enum { SN_HEAPFILE_VERSION = 5, SN_HEAPFILE_EXPLANATION_SIZE = 256 };

/** No file that exists has more blocks, or more roots, than 2^31 - 1: a number of 32 bits tells both. */
#define SN_HEAPFILE_FIRST_ROOT (UINT32_C(1) << 31)
#define SN_HEAPFILE_NONE UINT32_MAX

typedef enum sn_heapfile_mode {
    SN_HEAPFILE_LIVE, SN_HEAPFILE_CUMULATIVE, SN_HEAPFILE_DARK_MATTER, SN_HEAPFILE_SCAN, SN_HEAPFILE_MODES
} sn_heapfile_mode;

extern const char *const sn_heapfile_mode_names[SN_HEAPFILE_MODES];

/** What was done to blocks; there if their accesses were counted. */
typedef enum sn_heapfile_use {
    SN_HEAPFILE_READ, SN_HEAPFILE_WRITTEN,           /**< bytes */
    SN_HEAPFILE_NEVER_READ, SN_HEAPFILE_NEVER_USED,  /**< blocks */
    SN_HEAPFILE_USES
} sn_heapfile_use;

/** Blocks like each other; in mode scan one block. */
typedef struct sn_heapfile_block {
    uint64_t address;    /**< 0: not in the file */
    uint64_t requested, slop;
    uint64_t count;
    uint64_t freed;      /**< mode cumulative: how many of them were freed */
    uint64_t lived;      /**< sum over these: bytes that the program allocated while they lived */
    uint64_t uses[SN_HEAPFILE_USES]; /**< sums over all of them */
    uint32_t trace;      /**< of its allocation; SN_HEAPFILE_NONE: not kept */
    uint32_t reports[2]; /**< traces of the reports, or SN_HEAPFILE_NONE */
} sn_heapfile_block;

static inline uint64_t sn_heapfile_usable(const sn_heapfile_block *block) { return block->requested + block->slop; }

/** Frames of a trace: places in `trace_frames`, innermost first. */
typedef struct sn_heapfile_trace {
    uint64_t first;
    uint32_t count;
    bool is_defined;
} sn_heapfile_trace;

/** What points into the heap from outside. Texts are interned, NULL where the file has none. */
typedef struct sn_heapfile_root {
    const char *kind, *name, *module;
    uint64_t thread, address;
    bool has_thread;
} sn_heapfile_root;

/** A file that was mapped into the process. */
typedef struct sn_heapfile_module {
    const char *path; /**< interned */
    uint64_t address; /**< of its beginning */
} sn_heapfile_module;

/** Identifiers of the file -> numbers from 0. */
typedef struct sn_heapfile_names {
    sn_hash numbers;
    uint32_t count;
} sn_heapfile_names;

typedef struct sn_heapfile {
    const char *path;
    sn_heapfile_mode mode;
    const char *command, *cause; /**< of Sonde's dumps: the program's command line, and why it was written; NULL: not told */
    const char *options; /**< DMD's environment variable; NULL: null */
    SN_VECTOR(sn_heapfile_block) blocks;
    SN_VECTOR(sn_heapfile_trace) traces;
    SN_VECTOR(uint32_t) trace_frames;  /**< numbers of frames */
    SN_VECTOR(const char *) frames;    /**< interned, without the number at the front; NULL: not defined */
    SN_VECTOR(sn_heapfile_root) roots;
    SN_VECTOR(sn_heapfile_module) modules;
    bool has_roots;      /**< the member is there */
    uint64_t count, usable, lived; /**< sums over all blocks */
    uint64_t uses[SN_HEAPFILE_USES];
    bool has_uses;       /**< accesses were counted */
    sn_heapfile_names trace_names, frame_names;
} sn_heapfile;

/** Whether a file with this beginning is to be read here; gzip files are. */
bool sn_heapfile_recognises(const char *head, size_t size);

/** Who takes the words of blocks and roots. An owner is the number of a block, or SN_HEAPFILE_FIRST_ROOT + that of a root. */
typedef struct sn_heapfile_listener {
    void *data;
    /** Words of an owner, from its word `first` on; in order, several calls each if there are many. NULL with `range`. */
    void (*words)(void *data, uint32_t owner, uint64_t first, const uint64_t *words, size_t count);
    /** The owner's words are over. May be NULL. */
    void (*end)(void *data, uint32_t owner);
    /** A block was read; its contents begin `contents` bytes into the (uncompressed) file, or it has none (0). At the first
        reading only. May be NULL. */
    void (*block)(void *data, uint32_t number, const sn_heapfile_block *block, uint64_t contents);
    /** NULL, or takes the text of the file but for the words. Not at the first reading, nor with `range`. */
    sn_heapfile_taker text;
    /** NULL, or only the words in this range are told, by `found`: the number of the word, and the owner's first word. */
    const struct sn_scan_range *range;
    void (*found)(void *data, uint32_t owner, uint64_t number, uint64_t word, uint64_t head);
} sn_heapfile_listener;

/** Read all but the contents; those too if there is a listener (NULL: none). The descriptor is closed. False: `explanation` says
    why, for behind the file's name. */
bool sn_heapfile_read(sn_heapfile *file, int descriptor, const sn_heapfile_listener *listener, char *explanation);
void sn_heapfile_release(sn_heapfile *file);

/** Read the contents of a file that was read before. The descriptor is closed. */
bool sn_heapfile_contents(const sn_heapfile *file, int descriptor, const sn_heapfile_listener *listener, char *explanation);

/** An owner's place in arrays of blocks with the roots behind. Valid when all blocks are known. */
static inline uint32_t sn_heapfile_owner_place(const sn_heapfile *file, uint32_t owner) {
    return owner < SN_HEAPFILE_FIRST_ROOT ? owner : (uint32_t)file->blocks.count + (owner - SN_HEAPFILE_FIRST_ROOT);
}

#endif
