/**
 * @fileoverview The tool `memcheck`: errors in how a program uses memory; see docs/memcheck.md, and memcheck.h for the parts.
 *
 * This file is the descriptor: options and callbacks, which the engine calls.
 */
#include <stdlib.h>
#include <string.h>

#include <sonde/hooks.h>

#include "address.h"
#include "addressability.h"
#include "blocks.h"
#include "checks.h"
#include "descriptors.h"
#include "definedness.h"
#include "heap_calls.h"
#include "leaks.h"
#include "repeats.h"
#include "report.h"
#include "requests.h"
#include "strings.h"
#include "suppressions.h"
#include "system_calls.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

mc_settings mc_current = {
    .redzone_size = 16, .freelist_volume = 20000000, .freelist_big = 1000000, .num_callers = 12, .malloc_fill = -1, .free_fill = -1,
    .error_limit = true, .runs_freeres = true, .shows_mismatched_frees = true, .leak_check = MC_LEAKS_SUMMARY, .leak_resolution = 2,
    .keep_stacktraces = MC_KEEP_BOTH, .partial_loads_ok = true, .undef_value_errors = true,
};

static const char *shown_leaks = "definite,possible", *counted_leaks = "definite,possible", *heuristics = "all";

static const sn_option options[] = {
    {"leak-check", SN_OPTION_CHOICE, &mc_current.leak_check, "summary", "no|summary|full", "look for blocks that nothing points to"},
    {"show-leak-kinds", SN_OPTION_STRING, &shown_leaks, "definite,possible", "KINDS",
     "--leak-check=full: kinds to show: of definite,indirect,possible,reachable; or all, none"},
    {"errors-for-leak-kinds", SN_OPTION_STRING, &counted_leaks, "definite,possible", "KINDS", "kinds of leaks that count as errors"},
    {"leak-resolution", SN_OPTION_CHOICE, &mc_current.leak_resolution, "high", "low|med|high", "how many callers make leaks differ: 2, 4, all"},
    {"leak-check-heuristics", SN_OPTION_STRING, &heuristics, "all", "NAMES",
     "pointers into a block that count: of stdstring,length64,newarray,multipleinheritance; or all, none"},
    {"partial-loads-ok", SN_OPTION_FLAG, &mc_current.partial_loads_ok, "yes", NULL,
     "aligned loads of 8 bytes or more need only one byte that may be read"},
    {"redzone-size", SN_OPTION_NUMBER, &mc_current.redzone_size, "16", "BYTES", "at least so many before and behind each block"},
    {"freelist-vol", SN_OPTION_NUMBER, &mc_current.freelist_volume, "20000000", "BYTES", "of freed blocks that are not used again yet"},
    {"freelist-big-blocks", SN_OPTION_NUMBER, &mc_current.freelist_big, "1000000", "BYTES", "larger freed blocks are used again first"},
    {"malloc-fill", SN_OPTION_NUMBER, &mc_current.malloc_fill, "none", "BYTE", "fill new blocks with this"},
    {"free-fill", SN_OPTION_NUMBER, &mc_current.free_fill, "none", "BYTE", "fill freed blocks with this"},
    {"show-mismatched-frees", SN_OPTION_FLAG, &mc_current.shows_mismatched_frees, "yes", NULL, "free() of what new made, and the like"},
    {"keep-stacktraces", SN_OPTION_CHOICE, &mc_current.keep_stacktraces, "alloc-and-free",
     "alloc|free|alloc-and-free|alloc-then-free|none", "which calls to tell of blocks"},
    {"track-fds", SN_OPTION_CHOICE, &mc_current.track_descriptors, "no", "no|yes|all",
     "descriptors left open at the end; all: inherited ones too"},
    {"undef-value-errors", SN_OPTION_FLAG, &mc_current.undef_value_errors, "yes", NULL, "uses of values that nobody has set"},
    {"track-origins", SN_OPTION_FLAG, &mc_current.track_origins, "no", NULL, "also tell where undefined values were made"},
    {"num-callers", SN_OPTION_NUMBER, &mc_current.num_callers, "12", "N", "calls in a stack (1 to 500)"},
    {"show-below-main", SN_OPTION_FLAG, &mc_current.shows_below_main, "no", NULL, "also what calls main"},
    {"error-limit", SN_OPTION_FLAG, &mc_current.error_limit, "yes", NULL, "stop reporting after 1000 different errors"},
    {"error-exitcode", SN_OPTION_NUMBER, &mc_current.error_exitcode, "0", "STATUS", "exit status if there were errors; 0: the program's"},
    {"exit-on-first-error", SN_OPTION_FLAG, &mc_current.exit_on_first_error, "no", NULL, "end with --error-exitcode at the first error"},
    {"show-error-list", SN_OPTION_FLAG, &mc_current.lists_errors, "no", NULL, "list errors and used suppressions at the end, as -v does"},
    {"suppressions", SN_OPTION_LIST, &mc_current.suppressions, "none", "FILE", "errors not to tell (several times)"},
    {"gen-suppressions", SN_OPTION_CHOICE, &mc_current.generate, "no", "no|all", "print a suppression with each error"},
    {"run-libc-freeres", SN_OPTION_FLAG, &mc_current.runs_freeres, "yes", NULL, "have the C and C++ libraries free what they keep"},
    {"xml", SN_OPTION_FLAG, &mc_current.is_xml, "no", NULL, "Valgrind's XML, protocol 4, in place of text"},
    {"xml-file", SN_OPTION_STRING, &mc_current.xml_file, "none", "FILE", "where it goes (%p: the process); else where text would"},
    {"xml-user-comment", SN_OPTION_STRING, &mc_current.xml_user_comment, "none", "TEXT", "goes into the XML as it is"},
    {0},
};

/* ----------------------------------------------------------------------------------------------------- options */

static const mc_set_word leak_words[] = {
    {"reachable", 1 << MC_REACHABLE}, {"possible", 1 << MC_POSSIBLE}, {"indirect", 1 << MC_INDIRECT}, {"definite", 1 << MC_DEFINITE},
    {"all", (1 << MC_LEAK_KINDS) - 1}, {"none", 0}, {NULL, 0},
};

static const mc_set_word heuristic_words[] = {
    {"stdstring", MC_STDSTRING}, {"length64", MC_LENGTH64}, {"newarray", MC_NEWARRAY},
    {"multipleinheritance", MC_MULTIPLE_INHERITANCE}, {"all", MC_ALL_HEURISTICS}, {"none", 0}, {NULL, 0},
};

bool mc_parse_leak_kinds(const char *text, unsigned *set) { return mc_parse_set(text, leak_words, set); }

static void parse(const char *option, const char *text, const mc_set_word *words, unsigned *set) {
    if (!mc_parse_set(text, words, set)) {
        sn_fail(2, "--%s=%s: see sonde memcheck --help for what is known", option, text);
    }
}

static void check_range(const char *option, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most) {
        sn_fail(2, "--%s=%lld: a number from %lld to %lld is wanted", option, (long long)value, (long long)least, (long long)most);
    }
}

static void check_options(void) {
    parse("show-leak-kinds", shown_leaks, leak_words, &mc_current.shown_leaks);
    parse("errors-for-leak-kinds", counted_leaks, leak_words, &mc_current.counted_leaks);
    parse("leak-check-heuristics", heuristics, heuristic_words, &mc_current.heuristics);
    check_range("redzone-size", mc_current.redzone_size, 0, 4096);
    check_range("freelist-vol", mc_current.freelist_volume, 0, INT64_C(1) << 40);
    check_range("freelist-big-blocks", mc_current.freelist_big, 0, INT64_C(1) << 40);
    check_range("malloc-fill", mc_current.malloc_fill, -1, 255);
    check_range("free-fill", mc_current.free_fill, -1, 255);
    check_range("num-callers", mc_current.num_callers, 1, MC_MOST_CALLERS);
    check_range("error-exitcode", mc_current.error_exitcode, 0, 255);
    if (mc_current.exit_on_first_error && mc_current.error_exitcode == 0) {
        sn_fail(2, "--exit-on-first-error=yes wants --error-exitcode=, and that not 0");
    }
    if (mc_current.is_xml && mc_current.xml_file != NULL) {
        mc_current.xml_file = sn_file_template("xml-file", mc_current.xml_file);
    }
}

/* ----------------------------------------------------------------------------------------------------- threads */

static sn_slot number_slot;

unsigned mc_thread_number(const sn_thread *thread) { return (unsigned)*sn_slot_of((sn_thread *)thread, number_slot); }

static void thread_start(sn_thread *thread) {
    static unsigned threads;
    static bool has_begun;
    if (!has_begun) { /* only now is it known what runs */
        has_begun = true;
        mc_form->begin();
    }
    mc_checks_thread_start(thread);
    mc_definedness_thread_start(thread);
    *sn_slot_of(thread, number_slot) = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
}

static void thread_end(sn_thread *thread) {
    mc_checks_thread_end(thread);
    mc_definedness_thread_end(thread);
}

/** Accesses are checked before what they load is used. */
static void instrument(sn_block *block) {
    if (mc_current.undef_value_errors) {
        mc_definedness_insert(block); /* with the checks of accesses */
    } else {
        mc_checks_insert(block);
    }
}

/* --------------------------------------------------------------------------------------------------------- end */

/** What the libraries keep to the end is freed by functions of theirs, which they have for this. */
static const char *const freeing_functions[] = {"_ZN9__gnu_cxx9__freeresEv", "__libc_freeres"};

static void count_thread(sn_thread *thread, void *data) {
    (void)thread;
    ++*(unsigned *)data;
}

/** `_exit` begins: it waits until these functions were called, if no other thread may use what they free. */
static bool exit_begins(sn_thread *thread, sn_hooked_call *call) {
    static unsigned next;
    unsigned threads = 0;
    sn_threads_visit(count_thread, &threads);
    while (mc_current.runs_freeres && threads == 1 && next < sizeof freeing_functions / sizeof freeing_functions[0]) {
        uint64_t function = sn_find_function(freeing_functions[next++], 0);
        if (function != 0 && sn_hook_call(thread, call, function, NULL, 0)) {
            return false;
        }
    }
    return false;
}

/** The signal that came last. One that is handled is followed by a system call of the same thread, the handler's end at the latest;
    one that ends the program by none. */
static struct {
    sn_thread *thread; /* NULL: none */
    int number;
    uint64_t address;
} last_signal;

static void signalled(sn_thread *thread, int number, uint64_t address) {
    mc_checks_tell(thread);
    last_signal.thread = thread;
    last_signal.number = number;
    last_signal.address = address;
}

static void before_system_call(sn_thread *thread, const sn_system_call *call) {
    if (last_signal.thread == thread) {
        last_signal.thread = NULL;
    }
    mc_system_call_before(thread, call);
}

static void after_system_call(sn_thread *thread, const sn_system_call *call) {
    mc_definedness_call_after(thread, call);
    mc_descriptors_after(thread, call);
}

static sn_thread *last_thread;
static bool is_replaced; /* by another program: what it has allocated is no affair of anybody's any more */

static void note_thread(sn_thread *thread, void *data) {
    (void)data;
    last_thread = thread;
}

static void executes(sn_thread *thread, const char *path) {
    (void)thread, (void)path;
    is_replaced = true;
}

static void add_size(mc_block *block, void *data) { *(uint64_t *)data += block->size; }

static void print_heap_summary(void) {
    mc_heap_totals totals = mc_heap_totals_now();
    uint64_t bytes = 0;
    mc_blocks_visit(MC_BLOCK_LIVE, add_size, &bytes);
    mc_line(NULL);
    mc_line("HEAP SUMMARY:");
    mc_line("    in use at exit: %s bytes in %s blocks", mc_number(bytes), mc_number(totals.allocations - totals.frees));
    mc_line("  total heap usage: %s allocs, %s frees, %s bytes allocated", mc_number(totals.allocations), mc_number(totals.frees),
            mc_number(totals.bytes));
    mc_line(NULL);
}

static void end(void) {
    bool was_replaced = is_replaced;
    is_replaced = false;
    if (was_replaced) {
        return;
    }
    sn_threads_visit(note_thread, NULL);
    mc_checks_tell(sn_running_thread());
    mc_repeats_tell();
    if (last_signal.thread == sn_running_thread() && last_signal.thread != NULL) {
        mc_form->signal(last_signal.thread, last_signal.number, last_signal.address);
    }
    mc_form->ended();
    if (mc_current.track_descriptors != MC_TRACK_NO) {
        mc_line(NULL);
    }
    mc_descriptors_print();
    print_heap_summary();
    if (mc_current.leak_check != MC_LEAKS_NO) {
        mc_leaks_search(last_thread, (mc_leak_check)mc_current.leak_check, MC_LEAKS_ALL);
    } else if (mc_heap_totals_now().allocations != mc_heap_totals_now().frees) {
        mc_line("For a detailed leak analysis, rerun with: --leak-check=full");
        mc_line(NULL);
    }
    mc_errors_print_summary();
    mc_form->end();
    if (mc_current.error_exitcode != 0 && mc_error_count() != 0) {
        sn_end_with_status((int)mc_current.error_exitcode);
    }
}

/* ------------------------------------------------------------------------------------------------------- start */

static void start(void) {
    static const sn_hook exit_hook = {.function = "_exit", .only_global = true, .way = SN_HOOK_SLOW, .begin = exit_begins};
    check_options();
    mc_form = mc_current.is_xml ? &mc_xml_form : &mc_text_form;
    mc_suppressions_read(&mc_current.suppressions);
    number_slot = sn_slot_new();
    mc_addressability_init();
    mc_checks_init();
    mc_definedness_init();
    mc_blocks_init();
    mc_heap_calls_init();
    mc_strings_init();
    sn_hook_add(&exit_hook);
}

static void fork_child(sn_thread *thread) {
    (void)thread;
    mc_errors_fork_child();
}

static void dump(sn_thread *thread) { mc_leaks_search(thread, MC_LEAKS_FULL, MC_LEAKS_ALL); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "memcheck",
    .version = "1",
    .description = "invalid accesses, wrong frees, leaks",
    .options = options,
    .start = start,
    .instrument = instrument,
    .thread_start = thread_start,
    .thread_end = thread_end,
    .fork_child = fork_child,
    .exec = executes,
    .module_mapped = mc_checks_module_mapped,
    .memory_mapped = mc_memory_mapped,
    .memory_protected = mc_memory_protected,
    .system_call_before = before_system_call,
    .signal = signalled,
    .system_call_after = after_system_call,
    .request = mc_request,
    .dump = dump,
    .end = end,
};
