/**
 * @fileoverview What the files of the context service know of each other: setup, insertion, and names of sites.
 *
 * context_setup.c owns the memory and listens to threads, signals and forks; context_insert.c puts the code into blocks;
 * shadow_stack.c and context_tree.c are what that code calls; context_walk.c and contexts_file.c look at what there is;
 * context_resume.c finds what was called while nothing was followed.
 */
#ifndef SONDE_SERVICE_CONTEXTS_H
#define SONDE_SERVICE_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/context_tree.h"
#include "service/shadow_stack.h"

/** Room for call sites; more are taken for one. */
#define SN_MOST_SITES (UINT32_C(1) << 26)

/** Whether sn_contexts_enable() was called. */
bool sn_contexts_are_on(void);

/** Whether contexts are found by unwinding the client's stacks. */
bool sn_contexts_are_unwound(void);
/** Address space that is committed as it is touched. Ends the run with one line when there is none. */
void *sn_contexts_reserve(size_t size);

/** The number of a call site. Under sn_jit_lock. */
uint32_t sn_context_site(uint64_t address, uint64_t return_address);

/** The code in front of and behind what the tool inserts. Under sn_jit_lock. */
void sn_contexts_insert_before(sn_block *block);
void sn_contexts_insert_after(sn_block *block);

/** Tell the tool's traces of the frame at that address. In the thread itself, from C code. */
void sn_contexts_tell(sn_thread *thread, sn_frame_word kind, uint64_t frame);

/** Memory for what context_insert.c keeps. Once. */
void sn_contexts_insert_init(void);

/** The shadow stack that the thread began on. */
sn_shadow_stack *sn_contexts_own_stack(const sn_thread *thread);

/* ------------------------------------------- where they are followed in one version of the code only (context_resume.c) */

/** Whether they are: sn_contexts_only_in(), and no hooks. */
bool sn_contexts_are_only_in_one(void);
/** Whether calls are followed in code of a version. Async-signal-safe. */
bool sn_contexts_follow_version(unsigned version);
/** The block makes calls: for who will unwind the stack while they go on. Under sn_jit_lock. */
void sn_contexts_note_calls(const sn_block *block);
/** The thread, which is at an instruction, comes to code of a version; false: its calls are not known here, but may be soon. In the
    engine. */
bool sn_contexts_version_changes(sn_thread *thread, unsigned version);
/** Code was mapped there: sn_locate_follow(). */
void sn_contexts_code_is_used(const char *path, uint64_t start, uint64_t end, uint64_t offset);

/** The stack pointer has become `stack_pointer`, which no stack is known for. */
void sn_shadow_new_stack(sn_thread *thread, uint64_t old, uint64_t stack_pointer);

#endif
