/**
 * @fileoverview The dispatcher: what happens between leaving one block and entering the next when they are not linked.
 */
#ifndef SONDE_GUEST_DISPATCH_H
#define SONDE_GUEST_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/block.h"
#include "jit/thread.h"

/** Called by switch.S with thread->exit saying why; sets thread->resume. */
void sn_dispatch(sn_thread *thread);
/** Called by switch.S when a signal came on the way in. */
void sn_reenter(sn_thread *thread);

/** A block is left in its middle (at an instruction boundary of the client, `client`, cache offset `offset`): put the
    tool's counts right, and have the dispatcher tell the tool. `repeat_count`: what a repeated string instruction has left
    to do; `begun_here`: the instruction there was begun: it faulted, or
    the code before it has run. Called by the signal handler. */
void sn_block_interrupted(sn_thread *thread, uint32_t block, uint32_t offset, uint64_t client, uint64_t repeat_count,
                          bool begun_here);

/** A client write to watched code at `address`: true if it was that and can be tried again. *inside is set when the block
    at `cache` was discarded by it. (code.c) */
bool sn_code_written(uint64_t address, uint64_t cache, bool *inside);

/** Who keeps names of modules for later is told what file is mapped where code runs. One listener. (code.c) */
typedef void sn_module_listener(const char *path, uint64_t start, uint64_t end, uint64_t offset);
void sn_set_module_listener(sn_module_listener *listener);

/** One line naming the engine, then the tool's report, then the end with status 125. */
_Noreturn void sn_engine_failure(sn_thread *thread, uint64_t client, const char *what);

/** The tool crashed in a callback: say so, have it write what it has unless it is its end that crashed, and end. */
_Noreturn void sn_tool_failure(sn_thread *thread, const char *callback, const char *what);

#endif
