/**
 * @fileoverview The tree of calling contexts: a node for each chain of calls that somebody asked for, shared by all threads.
 *
 * A node is its caller's node, the call site, and the function's entry. Nodes are never removed. sn_context_resolve() runs in
 * the code cache (see shadow_stack.h); the functions of tool.h that look at nodes are in context_walk.c.
 */
#ifndef SONDE_SERVICE_CONTEXT_TREE_H
#define SONDE_SERVICE_CONTEXT_TREE_H

#include <stdint.h>

#include "jit/thread.h"

/** At most this many; callers of more are given for them. */
#define SN_MOST_CONTEXTS (UINT32_C(1) << 28)

typedef struct sn_context_node {
    uint64_t function; /**< where control entered it; 0: unknown */
    uint32_t caller;
    uint32_t site;     /**< number of a call site (shadow_stack.h) */
} sn_context_node;

typedef struct sn_context_nodes {
    sn_context_node *nodes;  /**< room for SN_MOST_CONTEXTS, committed as they are touched; 0 is none */
    uint32_t count;          /**< with number 0 */
    uint32_t lock;           /**< spins */
    uint32_t *table;         /**< open addressing: numbers of nodes */
    uint64_t table_mask;
    uint32_t *next_table;    /**< room for the tables to come, each twice as large as the one before */
    uint32_t *folded;        /**< sn_contexts_fold(): which node a node is given for; else NULL */
} sn_context_nodes;

extern sn_context_nodes sn_contexts;

/** From the start callback, after sn_contexts_enable(): a function that is called while it runs already has the context of its
    first call, so that there are no more contexts than the program has chains without recursion. */
void sn_contexts_fold(void);

/** The thread's current context. */
uint32_t sn_context_resolve(sn_thread *thread);

/** The node of a function that is called from a node's; made if there is none. In the code cache too. */
uint32_t sn_context_node_of(uint32_t caller, uint32_t site, uint64_t function);

/** The same, for one site, which keeps the last nodes in `memos`, by their callers: one place in memory is looked at instead of two.
    Threads may share them. */
enum { SN_CONTEXT_MEMOS = 16 };
uint32_t sn_context_node_known(uint32_t memos[SN_CONTEXT_MEMOS], uint32_t caller, uint32_t site, uint64_t function);

/** The same for inserted code. */
uint64_t sn_context_resolve_inserted(sn_thread *thread);

#endif
