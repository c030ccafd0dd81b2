/**
 * @fileoverview The binary trace file of `sonde memtrace`: what its blocks hold, and the predictions that both sides make.
 *
 * Shared by who writes (encode.c, write.c) and who reads (src/report/memtrace_*.c); nothing else knows the layout.
 *
 * A file is a sequence of blocks, each a header and a zstd frame with a checksum. Blocks need only what lies before them,
 * so that a file that was cut can be read up to the cut; several processes may append to one file.
 *
 *   process  begins a process, or the program that it executes: its arguments, and what is in the trace. What was
 *            known of that process number is forgotten.
 *   code     the next strings, sites (static accesses: where, what, how large, with names) and code blocks (which sites
 *            the execution of a block passes, in order)
 *   events   what one thread did: which blocks it entered, at which addresses their sites accessed memory
 *   end      the process has ended: nothing of it is missing
 *
 * Numbers are little-endian; in payloads, numbers are varints (7 bits a byte, least significant first) and signed ones
 * zigzag varints.
 *
 * Events are coded against predictions. Writer and reader walk through the same steps, each a question with a predicted
 * answer: which block comes next; at each position of a block, which address its site accesses or whether the block was
 * left; and, when instructions are traced, how many of its instructions were completed. The payload says in turn how many
 * predictions are right, and then what came instead of the one that is wrong: a loop over an array costs nothing but a
 * number.
 */
#ifndef SONDE_TOOLS_MEMTRACE_FORMAT_H
#define SONDE_TOOLS_MEMTRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The seventh byte is the version of the format. */
#define MEMTRACE_MAGIC "\x89SnMem\x01\n"
enum { MEMTRACE_MAGIC_SIZE = 8, MEMTRACE_VERSION_AT = 6 };

enum {
    MEMTRACE_PROCESS = 1,
    MEMTRACE_CODE = 2,
    MEMTRACE_EVENTS = 3,       /**< goes on where the thread's last one ended */
    MEMTRACE_FIRST_EVENTS = 4, /**< of a thread whose predictions begin anew */
    MEMTRACE_END = 5,
};

typedef struct memtrace_header {
    char magic[MEMTRACE_MAGIC_SIZE];
    uint32_t kind;
    uint32_t process;
    uint32_t thread;      /**< events only */
    uint32_t predictions; /**< events only: steps in this block */
    uint32_t packed_size; /**< of the zstd frame that follows */
    uint32_t raw_size;    /**< of what is in it */
} memtrace_header;

/** Limits that a writer keeps and a reader checks. */
enum {
    MEMTRACE_MOST_RAW = 1 << 24,
    MEMTRACE_MOST_PREDICTIONS = 1 << 24,
    MEMTRACE_MOST_BLOCKS = 1 << 30,
    MEMTRACE_MOST_POSITIONS = 1024,
    MEMTRACE_MOST_INSTRUCTIONS = 255,
    MEMTRACE_MOST_ROWS = 0xffff,
};

/** Flags of a process block. */
enum { MEMTRACE_HAS_INSTRUCTIONS = 1, MEMTRACE_HAS_SYSTEM_CALLS = 2 };

/** What a site does. */
enum {
    MEMTRACE_FETCH,   /**< an instruction itself */
    MEMTRACE_LOAD,
    MEMTRACE_STORE,
    MEMTRACE_MODIFY,  /**< reads, then writes the same bytes */
    MEMTRACE_VARYING, /**< its accesses are known only when it runs: listed row by row */
    MEMTRACE_SYSTEM,  /**< the same, made by the kernel */
    MEMTRACE_KINDS,
};

/** What came instead of the prediction at a position; from FIRST_DELTA on the zigzag difference to the predicted address. */
enum {
    MEMTRACE_INSTEAD_LEFT,     /**< the block was left here */
    MEMTRACE_INSTEAD_ROWS,     /**< accesses of a site that varies: its number in the block, how many, the rows: kind,
                                    size, difference to the address before. The position stays. */
    MEMTRACE_INSTEAD_OMITTED,  /**< an access that a filter left out */
    MEMTRACE_INSTEAD_OTHER,    /**< the other of the two predicted addresses */
    MEMTRACE_INSTEAD_ADDRESS,  /**< the address itself follows: it is too far away for a difference */
    MEMTRACE_INSTEAD_FIRST_DELTA,
};

/* ----------------------------------------------------------------- predictions */

/** How the next address of a site is predicted. */
enum { MEMTRACE_BY_STRIDE, MEMTRACE_BY_NEIGHBOUR, MEMTRACE_BY_OMISSION };

/** What is known of a site in a thread. All zero at first. */
typedef struct memtrace_site_state {
    uint64_t last;     /**< address */
    uint64_t stride;   /**< last - the one before */
    uint64_t distance; /**< last - the address that the thread accessed before it */
    uint32_t by;
} memtrace_site_state;

/** What is known of a code block in a thread. All zero at first, `end` excepted. */
typedef struct memtrace_block_state {
    uint32_t next[2];   /**< block that followed: [0] when it ran to its end, [1] when it was left before */
    uint16_t end;       /**< position at which it ended last time; MEMTRACE_RUNS_THROUGH at first */
    uint16_t completed; /**< instructions completed last time, plus 1; 0 at first */
} memtrace_block_state;

#define MEMTRACE_RUNS_THROUGH 0xffff

static inline uint64_t memtrace_predict(const memtrace_site_state *site, uint64_t previous, uint32_t by) {
    return by == MEMTRACE_BY_NEIGHBOUR ? previous + site->distance : site->last + site->stride;
}

/** The site has accessed `address`; the thread's access before was at `previous`. */
static inline void memtrace_learn(memtrace_site_state *site, uint64_t previous, uint64_t address) {
    site->stride = address - site->last;
    site->last = address;
    site->distance = address - previous;
}

static inline uint64_t memtrace_zigzag(uint64_t difference) {
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t memtrace_unzigzag(uint64_t coded) {
    return coded >> 1 ^ (0 - (coded & 1));
}

enum { MEMTRACE_LONGEST_VARINT = 10 };

static inline uint8_t *memtrace_put(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/** Read a varint from *at, before `end`. False if it is cut off or too long. */
static inline bool memtrace_get(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *value = result;
            return shift < 63 || byte <= 1;
        }
    }
    return false;
}

#endif
