/**
 * @file sonde/hooks.h
 * Hooks of functions, for tools: see what a function of the client is given and what it returns, change both, or do its work.
 *
 * A function is named, by its symbol in any module or in those that a pattern names, or given by its address. It is found in
 * dynamic symbols, in symbol tables, and in the debug file of a module that was stripped; in programs and libraries, also in
 * those that come later. All names of one function are one function: a hook sees a call once, by whatever name it was
 * made. The resolver of an indirect function (IFUNC) is not the function; hook what it chooses (sn_hook.resolvers).
 *
 * Hooks need calling contexts, which sn_hook_add() switches on (sn_contexts_enable()): a call ends when its frame goes, so
 * that tail calls, exceptions and longjmp are followed. After sn_contexts_enable_unwound() a call ends when the program arrives
 * at its return address; that it was left by a jump is told when a hooked function is called next. While instrumentation is off, no call is seen.
 */
#ifndef SONDE_HOOKS_H
#define SONDE_HOOKS_H

#include <sonde/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct sn_hook sn_hook;

/** A call of a hooked function. Lives until `end` has returned, or `begin`, if that does not ask for the end. */
typedef struct sn_hooked_call {
    const sn_hook *hook;
    uint64_t arguments[4]; /**< the first arguments that are integers or pointers */
    uint64_t result;       /**< in `end`: what the function returns, if it is an integer or a pointer */
    uint64_t word;         /**< the tool's: what `begin` leaves there, `end` finds */
    bool has_returned;     /**< in `end`: false if it was left by a jump (exception, longjmp); then there is no result */
    const sn_call_frame *frame; /**< the call's, or NULL if the function is the first one of a stack: that has no end */
} sn_hooked_call;

/** How a hook's functions are called. */
typedef enum sn_hook_way {
    /** Without leaving the code cache: some ten nanoseconds for `begin`, as much for `end`. Both must be SN_FAST. `begin` sees
        the arguments; `end` sees the result, and may give `result` another value. */
    SN_HOOK_FAST,
    /** From the engine, where all of C may be used: some 150 ns for `begin`, as much for `end`, and a comparison at each
        return of the program. `begin` may give `arguments` other values, or have the function not run
        (sn_hook_return(), sn_hook_continue_at()). If the call is left by a jump, `end` is called as if it were SN_FAST. */
    SN_HOOK_SLOW,
} sn_hook_way;

/** What is hooked, and what is called. The tool keeps it, and what it points to, to the end of the run. */
struct sn_hook {
    /** The symbol's name as it is in the file (mangled); `*`, `?` and `[...]` as in a shell. NULL: `address`. */
    const char *function;
    /** Pattern of the module's soname or its file's name, or, with a slash, of its path; NULL: any. */
    const char *module;
    uint64_t address;    /**< in the client, if `function` is NULL */
    bool only_global;    /**< of the names in symbol tables, only those that other modules may use */
    bool resolvers;      /**< not functions of that name, but what is called once, by the dynamic linker, for an indirect function's
                              (IFUNC): it returns the address of the one that it chooses */
    sn_hook_way way;
    /** The call begins: the client is at the function's first instruction. Returns whether `end` is to be called. */
    bool (*begin)(sn_thread *thread, sn_hooked_call *call);
    /** It ends, at the return instruction (of the function that it went on in, if that was a tail call), or by a jump. On a
        stack that another thread goes on with meanwhile, the end is not told. May be NULL. */
    void (*end)(sn_thread *thread, sn_hooked_call *call);
    void *data;          /**< the tool's */
};

/** Hook. From the start callback; from others it takes effect in all threads before they go on to client code, and
    calls that are in progress have no end. A hook by address costs no more than the code there being translated anew. The same function may have several hooks: `begin` is called in the order in which
    they were added, `end` in the opposite one. At most 65536 hooks. */
void sn_hook_add(const sn_hook *hook);

/** From `begin` of a slow hook: the function does not run; the call returns `result`. No `end` follows. */
void sn_hook_return(sn_hooked_call *call, uint64_t result);

/** From `begin` of a slow hook: the client goes on at `function`, with the call's arguments, in place of the hooked one. */
void sn_hook_continue_at(sn_hooked_call *call, uint64_t function);

/**
 * From `begin` of a slow hook: have the client call `function`, the hooked one itself or any other one of its own, with at most
 * 4 arguments; then `begin` is called again for the same call, where sn_hook_answer() tells what it returned. So a replacement
 * that needs the original several times is a `begin` that goes on, call by call, and at last uses sn_hook_return(). While a hook
 * calls its function so, no hook of that function is told. False if there is no memory; nothing is called then.
 */
bool sn_hook_call(sn_thread *thread, sn_hooked_call *call, uint64_t function, const uint64_t *arguments, unsigned count);
/** Whether `begin` is called since a function that it called has returned, and what that returned. `call->word` is what it
    was. */
bool sn_hook_answer(const sn_hooked_call *call, uint64_t *result);

/** The address of the function that is called: the original, for sn_hook_call(). */
uint64_t sn_hook_function(const sn_hooked_call *call);

/** The address of the function `name` that other modules may use: in the module that holds the code at `beside`, or, with 0, in any
    whose code was used; 0 if there is none. From callbacks in the engine, and only once there are hooks; reads all names of the
    modules, so ask once. */
uint64_t sn_find_function(const char *name, uint64_t beside);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
