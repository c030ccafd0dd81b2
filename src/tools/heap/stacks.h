/**
 * @fileoverview How large the threads' stacks are: --stacks=yes.
 *
 * A stack reaches from its first return address to the stack pointer. Inserted code compares the stack pointer, wherever an
 * instruction may have lowered it, with how low it may be before heap and stacks together are more than they ever were: so the peak
 * is seen wherever it is, and what it costs in between is that comparison. What other threads' stacks take is what it was when they
 * last allocated, or last grew to a peak.
 */
#ifndef HEAP_STACKS_H
#define HEAP_STACKS_H

#include <sonde/tool.h>

/** Once; nothing happens unless --stacks=yes. */
void heap_stacks_init(void);
void heap_stacks_instrument(sn_block *block);

/** The thread begins, and ends. */
void heap_stacks_begin(sn_thread *thread);
void heap_stacks_end(sn_thread *thread);
/** In a forked child, which has one thread. */
void heap_stacks_fork_child(sn_thread *thread);

/** Bytes of all stacks now. Other threads stand still for it: no lock may be held. */
uint64_t heap_stacks_size(void);

/* ---------------------------------------------------------------------------------------- in the code cache */

/** The thread's stack pointer is there now. Returns the bytes of all stacks as far as they are known. 0 unless --stacks=yes. */
uint64_t heap_stacks_note(sn_thread *thread, uint64_t stack_pointer);
/** The thread's stack may grow by so many bytes from there on before heap_stack_grew() is called. */
void heap_stacks_allow(sn_thread *thread, uint64_t stack_pointer, uint64_t bytes);

#endif
