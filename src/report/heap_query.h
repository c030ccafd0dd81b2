/**
 * @fileoverview Questions about one block of a scan, and their answers: who points to it, why it is alive, what it keeps alive.
 *
 * heap.c asks; heap_query_text.c and heap_query_json.c print answers.
 */
#ifndef SONDE_REPORT_HEAP_QUERY_H
#define SONDE_REPORT_HEAP_QUERY_H

#include "report/heap.h"
#include "report/heap_search.h"
#include "report/heap_types.h"

/** Who points to a block: pointers by owner. */
typedef struct sn_heapfile_referrers {
    uint32_t block;
    sn_heapfile_path pointers;
    size_t owners; /**< how many different ones */
} sn_heapfile_referrers;

/** Why a chain of single referrers ends. */
typedef enum sn_heapfile_chain_end {
    SN_HEAPFILE_CHAIN_NONE, SN_HEAPFILE_CHAIN_SEVERAL, SN_HEAPFILE_CHAIN_ROOT, SN_HEAPFILE_CHAIN_LOOP
} sn_heapfile_chain_end;

typedef struct sn_heapfile_question {
    uint64_t address;
    bool follows_chain, asks_why, asks_retained;
} sn_heapfile_question;

typedef struct sn_heapfile_answer {
    const sn_heapfile *file;
    sn_heapfile_index *index;
    sn_heapfile_stacks *stacks;
    sn_heapfile_types *types;
    sn_heapfile_question question;
    uint32_t block;
    SN_VECTOR(uint64_t) words;                /**< of the block */
    SN_VECTOR(sn_heapfile_referrers) referrers;   /**< of the block, and with follows_chain of each that follows */
    sn_heapfile_chain_end end;
    sn_heapfile_path path;                        /**< with asks_why: from a root to the block; empty: none leads there */
    sn_heapfile_verdict verdict;                  /**< with asks_why or asks_retained */
    sn_heapfile_count retained;                   /**< with asks_retained */
} sn_heapfile_answer;

/** A word near the address that is asked about, seen before it is known which block that lies in. */
typedef struct sn_heapfile_sighting {
    uint32_t owner;
    uint32_t word; /**< its number */
    uint64_t value;
    uint64_t head; /**< first word of the owner */
} sn_heapfile_sighting;

/** Who may point to an address: watched at the first reading of a file, which spares the second one. */
typedef struct sn_heapfile_watch {
    uint64_t address;
    sn_scan_range range;  /**< words in it are kept */
    SN_VECTOR(sn_heapfile_sighting) sightings;
    uint32_t block;       /**< that holds the address, or SN_HEAPFILE_NONE */
    uint64_t contents;    /**< where its contents are in the file; 0: it has none */
} sn_heapfile_watch;

sn_heapfile_watch sn_heapfile_watch_for(uint64_t address);
/** The listener that watches. Valid as long as the watch stays where it is. */
sn_heapfile_listener sn_heapfile_watch_listener(sn_heapfile_watch *watch);

/** Answer. A file that cannot be read, or an address in no block, ends the run with one line. */
sn_heapfile_answer sn_heapfile_ask(const sn_heapfile *file, sn_heapfile_index *index, sn_heapfile_stacks *stacks,
                                   sn_heapfile_types *types, const sn_heapfile_watch *watch,
                                   const sn_heapfile_question *question);
void sn_heapfile_answer_release(sn_heapfile_answer *answer);

void sn_heapfile_answer_print_text(const sn_heapfile_answer *answer);
void sn_heapfile_answer_print_json(const sn_heapfile_answer *answer);

/** The blocks that keep the most alive. */
void sn_heapfile_retained_print(const sn_heapfile *file, sn_heapfile_index *index, sn_heapfile_stacks *stacks,
                                size_t limit, bool is_json);

/** What a root is, for people: "global table (program)", "stack of thread 1", "register rax of thread 1". */
void sn_heapfile_root_name(const sn_heapfile_root *root, char *text, size_t size);

/** The graph of a file; what is wrong ends the run with one line. */
sn_heapfile_graph sn_heapfile_graph_read(const sn_heapfile *file, sn_heapfile_index *index);

#endif
