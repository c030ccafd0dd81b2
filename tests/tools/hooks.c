/**
 * @fileoverview A tool that hooks functions of tests/programs/hooked.c, for tests/test_hooks.py.
 *
 * --watch=NAME (fast) and --watch-slowly=NAME print what calls get and return, --module=PATTERN says in which modules;
 * --double=NAME lets a fast hook double the result; --argument=NAME has 100 added to the first argument; --replace=NAME has
 * the call return 1000 + its argument; --twice=NAME has the function called with its argument, and with that plus 1, and
 * returns the sum; --instead=NAME:OTHER has OTHER run. --address=N watches the function there. Counts are printed at the end.
 */
#include <sonde/hooks.h>
#include <stdlib.h>
#include <string.h>

static const char *watch, *watch_slowly, *module, *doubled, *argument, *replace, *twice, *again, *watch_last, *instead;
static int64_t address;
static bool unwound;
static _Atomic uint64_t begun, returned, jumped, lost, sum_of_arguments, sum_of_results;

static const sn_option options[] = {
    {"watch", SN_OPTION_STRING, &watch, "", "NAME", "count its calls, fast"},
    {"watch-slowly", SN_OPTION_STRING, &watch_slowly, "", "NAME", "count its calls, slowly"},
    {"module", SN_OPTION_STRING, &module, "", "PATTERN", "only in these modules"},
    {"double", SN_OPTION_STRING, &doubled, "", "NAME", "double what it returns"},
    {"argument", SN_OPTION_STRING, &argument, "", "NAME", "add 100 to its first argument"},
    {"replace", SN_OPTION_STRING, &replace, "", "NAME", "return 1000 more than its argument"},
    {"twice", SN_OPTION_STRING, &twice, "", "NAME", "call it twice"},
    {"twice-again", SN_OPTION_STRING, &again, "", "NAME", "the same, by a hook behind that"},
    {"watch-last", SN_OPTION_STRING, &watch_last, "", "NAME", "count its calls, slowly, by a hook behind these"},
    {"instead", SN_OPTION_STRING, &instead, "", "NAME:OTHER", "run OTHER"},
    {"unwound", SN_OPTION_FLAG, &unwound, "no", NULL, "contexts by unwinding"},
    {"address", SN_OPTION_NUMBER, &address, "0", "N", "count calls of the function there, fast"},
    {0},
};

SN_FAST static bool begin_watch(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum_of_arguments, call->arguments[0], __ATOMIC_RELAXED);
    call->word = call->arguments[0] ^ 0x5555;
    return true;
}

SN_FAST static void end_watch(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    if (call->word != (call->arguments[0] ^ 0x5555)) __atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
    if (call->has_returned) {
        __atomic_fetch_add(&returned, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sum_of_results, call->result, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_add(&jumped, 1, __ATOMIC_RELAXED);
    }
}

SN_FAST static bool begin_always(sn_thread *thread, sn_hooked_call *call) {
    (void)thread, (void)call;
    return true;
}

SN_FAST static void end_double(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    call->result *= 2;
}

static bool begin_argument(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    call->arguments[0] += 100;
    return false;
}

static bool begin_replace(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    sn_hook_return(call, call->arguments[0] + 1000);
    return false;
}

static bool begin_twice(sn_thread *thread, sn_hooked_call *call) {
    uint64_t answer, next = call->arguments[0] + 1;
    if (!sn_hook_answer(call, &answer)) {
        sn_hook_call(thread, call, sn_hook_function(call), call->arguments, 1);
    } else if (!call->word) {
        call->word = answer + 1;
        sn_hook_call(thread, call, sn_hook_function(call), &next, 1);
    } else {
        sn_hook_return(call, call->word - 1 + answer);
    }
    return false;
}

static uint64_t other_function;

SN_FAST static bool begin_other(sn_thread *thread, sn_hooked_call *call) {
    (void)thread, (void)call;
    return false;
}

static bool begin_instead(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    if (other_function) sn_hook_continue_at(call, other_function);
    return false;
}

/** A slow hook that learns where OTHER is when it is called for the first time. */
static bool begin_learn(sn_thread *thread, sn_hooked_call *call) {
    (void)thread;
    other_function = sn_hook_function(call);
    return false;
}

static void hook(const char *name, sn_hook_way way, bool (*begin)(sn_thread *, sn_hooked_call *),
                 void (*end)(sn_thread *, sn_hooked_call *)) {
    if (!name) return;
    sn_hook *made = calloc(1, sizeof *made);
    *made = (sn_hook){.function = name, .module = module, .way = way, .begin = begin, .end = end};
    sn_hook_add(made);
}

static void start(void) {
    if (unwound) sn_contexts_enable_unwound();
    hook(watch, SN_HOOK_FAST, begin_watch, end_watch);
    hook(watch_slowly, SN_HOOK_SLOW, begin_watch, end_watch);
    hook(doubled, SN_HOOK_FAST, begin_always, end_double);
    hook(argument, SN_HOOK_SLOW, begin_argument, NULL);
    hook(replace, SN_HOOK_SLOW, begin_replace, NULL);
    hook(twice, SN_HOOK_SLOW, begin_twice, NULL);
    hook(again, SN_HOOK_SLOW, begin_twice, NULL);
    hook(watch_last, SN_HOOK_SLOW, begin_watch, end_watch);
    if (instead) {
        char *first = strdup(instead), *second = strchr(first, ':');
        *second++ = '\0';
        hook(second, SN_HOOK_SLOW, begin_learn, NULL);
        hook(first, SN_HOOK_SLOW, begin_instead, NULL);
        hook(first, SN_HOOK_FAST, begin_other, NULL);
    }
    if (address) {
        static sn_hook at = {.begin = begin_watch, .end = end_watch};
        at.address = (uint64_t)address;
        sn_hook_add(&at);
    }
}

static void end(void) {
    fprintf(sn_output(), "begun %lu returned %lu jumped %lu lost %lu arguments %lu results %lu\n", begun, returned, jumped, lost,
            sum_of_arguments, sum_of_results);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "hooks",
    .version = "1",
    .description = "hooks functions",
    .options = options,
    .start = start,
    .end = end,
};
