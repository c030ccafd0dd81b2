/**
 * @fileoverview The tool `heap`: what a program allocates, over time, at a moment, and altogether; see docs/heap.md.
 *
 * This file is the descriptor: options and callbacks, which the engine calls. totals.c and cells.c count, in the code cache;
 * timeline.c takes snapshots, massif.c writes them; dumps.c says when files are written, dmd.c what is in them, traces.c what
 * contexts are; reports.c is the accounting that dark-matter compares with, scan.c the heap's contents, pages.c --pages-as-heap.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "dumps.h"
#include "pages.h"
#include "reports.h"
#include "settings.h"
#include "stacks.h"
#include "timeline.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

const char *const heap_mode_names[] = {"timeline", "live", "cumulative", "dark-matter", "scan"};
const char *const heap_cause_names[] = {"exit", "peak", "bytes", "seconds", "signal", "request", "asked"};

heap_settings heap_current = {.depth = 30, .max_snapshots = 100, .detailed_freq = 10, .heap_admin = 8,
                              .threshold_text = "1.0", .peak_inaccuracy_text = "0.0"};

static const char *massif_file = "massif.out.%p";

static const sn_option options[] = {
    {"mode", SN_OPTION_CHOICE, &heap_current.mode, "timeline", "timeline|live|cumulative|dark-matter|scan", "what is told"},
    {"massif-out-file", SN_OPTION_STRING, &massif_file, "massif.out.%p", "FILE", "timeline: where it goes"},
    {"time-unit", SN_OPTION_CHOICE, &heap_current.time_unit, "ms", "ms|i|B",
     "timeline: milliseconds, instructions (slower), or bytes allocated and freed"},
    {"depth", SN_OPTION_NUMBER, &heap_current.depth, "30", "N", "timeline: calls in a tree"},
    {"alloc-fn", SN_OPTION_LIST, &heap_current.alloc_functions, "none", "FUNCTION",
     "timeline: a function that allocates: trees begin with its caller (several times)"},
    {"ignore-fn", SN_OPTION_LIST, &heap_current.ignored_functions, "none", "FUNCTION",
     "timeline: what this function allocates itself does not count (several times)"},
    {"threshold", SN_OPTION_STRING, &heap_current.threshold_text, "1.0", "PERCENT", "timeline: smaller branches of a tree are summed up"},
    {"peak-inaccuracy", SN_OPTION_STRING, &heap_current.peak_inaccuracy_text, "0.0", "PERCENT",
     "timeline: accepted; the peak is exact"},
    {"detailed-freq", SN_OPTION_NUMBER, &heap_current.detailed_freq, "10", "N", "timeline: every Nth snapshot has a tree"},
    {"max-snapshots", SN_OPTION_NUMBER, &heap_current.max_snapshots, "100", "N", "timeline: at most so many (10 to 1000)"},
    {"heap-admin", SN_OPTION_NUMBER, &heap_current.heap_admin, "8", "N", "timeline: bytes that the allocator needs for each block"},
    {"stacks", SN_OPTION_FLAG, &heap_current.counts_stacks, "no", NULL, "timeline: the size of stacks too"},
    {"pages-as-heap", SN_OPTION_FLAG, &heap_current.pages_as_heap, "no", NULL, "timeline: mappings instead of blocks"},
    {"stacks-kept", SN_OPTION_CHOICE, &heap_current.stacks_kept, "full", "full|partial",
     "live, cumulative, dark-matter: the calls of each block, or of one in 4096 bytes"},
    {"sample-below", SN_OPTION_NUMBER, &heap_current.sample_below, "0", "BYTES",
     "live, cumulative, dark-matter: of smaller blocks one in so many bytes stands for all"},
    {"contexts", SN_OPTION_CHOICE, &heap_current.contexts, "unwound", "unwound|followed",
     "where blocks come from: found from the stack, or by following every call (slower; also tail calls)"},
    {"accesses", SN_OPTION_FLAG, &heap_current.accesses, "no", NULL,
     "cumulative: bytes read and written, and blocks that never were (slower)"},
    {"dump-every-bytes", SN_OPTION_NUMBER, &heap_current.every_bytes, "0", "BYTES", "write a file whenever so much was allocated"},
    {"dump-every-seconds", SN_OPTION_NUMBER, &heap_current.every_seconds, "0", "SECONDS", "write a file whenever so much time has gone"},
    {"dump-at-peak", SN_OPTION_FLAG, &heap_current.at_peak, "no", NULL, "live: a file of the blocks that lived at the peak"},
    {"dump-signal", SN_OPTION_NUMBER, &heap_current.signal, "0", "N", "write a file when signal N comes, which the program does not see"},
    {0},
};

/** --stacks-kept=partial: one in so many bytes, as DMD has it. */
#define PARTIAL_STACKS 4096

static double percent(const char *option, const char *text) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (*text == 0 || *end != 0 || errno != 0 || !(value >= 0 && value <= 100)) {
        sn_fail(2, "--%s=%s: a number from 0 to 100 is wanted", option, text);
    }
    return value;
}

static void check_range(const char *option, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most) {
        sn_fail(2, "--%s=%lld: a number from %lld to %lld is wanted", option, (long long)value, (long long)least, (long long)most);
    }
}

static void check_options(void) {
    heap_current.threshold = percent("threshold", heap_current.threshold_text);
    heap_current.peak_inaccuracy = percent("peak-inaccuracy", heap_current.peak_inaccuracy_text);
    check_range("depth", heap_current.depth, 1, 200);
    check_range("max-snapshots", heap_current.max_snapshots, 10, 1000);
    check_range("detailed-freq", heap_current.detailed_freq, 1, 1000000);
    check_range("heap-admin", heap_current.heap_admin, 0, 1024);
    check_range("dump-every-bytes", heap_current.every_bytes, 0, INT64_MAX);
    check_range("dump-every-seconds", heap_current.every_seconds, 0, 1000000000);
    check_range("dump-signal", heap_current.signal, 0, 64);
    check_range("sample-below", heap_current.sample_below, 0, INT64_C(1) << 30);
    if ((heap_current.stacks_kept || heap_current.sample_below > 0) && heap_current.mode == HEAP_TIMELINE) {
        sn_fail(2, "--stacks-kept=partial and --sample-below= are not for --mode=timeline, whose peak is exact");
    }
    if (heap_current.ignored_functions.count != 0 && heap_current.mode != HEAP_TIMELINE) {
        sn_fail(2, "--ignore-fn= is for --mode=timeline");
    }
    if (heap_current.accesses && (heap_current.mode != HEAP_CUMULATIVE || heap_current.sample_below > 0)) {
        sn_fail(2, "--accesses=yes is for --mode=cumulative, without --sample-below=");
    }
    if (heap_current.mode == HEAP_SCAN) {
        heap_current.sample_below = 0; /* every block counts */
    }
    if (heap_current.at_peak && heap_current.mode != HEAP_LIVE) {
        sn_fail(2, "--dump-at-peak=yes is for --mode=live");
    }
    if (heap_current.pages_as_heap && heap_current.mode != HEAP_TIMELINE) {
        sn_fail(2, "--pages-as-heap=yes is for --mode=timeline");
    }
}

/** Whether it changes nothing if allocations are told a few calls later: neither what time it is is made of them, nor what lies in
    blocks, or how high the stack is, is looked at then, and no dump is asked for by what is told. */
static bool may_be_late(void) {
    bool has_other_time = heap_current.mode == HEAP_TIMELINE && heap_current.time_unit != HEAP_MILLISECONDS;
    return !has_other_time && !heap_current.accesses && !heap_current.counts_stacks && heap_current.every_bytes == 0 &&
           heap_current.ignored_functions.count == 0;
}

static void start(void) {
    check_options();
    heap_current.is_by_site = heap_current.mode == HEAP_TIMELINE;
    heap_current.file = heap_current.is_by_site ? sn_file_template("massif-out-file", massif_file) : sn_output_template("dmd.%p.json.gz");
    heap_cells_init();
    heap_totals_init();
    heap_stacks_init();
    heap_dumps_init();
    if (heap_current.signal != 0) {
        sn_signal_reserve((int)heap_current.signal);
    }
    heap_accesses_init();
    if (heap_current.is_by_site) {
        heap_timeline_init();
    }
    if (heap_current.pages_as_heap) {
        heap_pages_init();
        return;
    }
    if (heap_current.contexts == HEAP_UNWOUND && !heap_current.counts_stacks) {
        sn_contexts_enable_unwound();
    }
    sn_heap_enable(&(sn_heap_options){.allocated = heap_allocated, .freed = heap_freed, .measured = heap_measured,
                                      .attend = heap_dumps_attend, .may_be_late = may_be_late(),
                                      .sample_below = (uint64_t)heap_current.sample_below,
                                      .context_bytes = heap_current.stacks_kept ? PARTIAL_STACKS : 0});
}

static void instrument(sn_block *block) {
    if (heap_current.mode == HEAP_TIMELINE && heap_current.time_unit == HEAP_INSTRUCTIONS) {
        heap_time_instrument(block);
    }
    heap_accesses_instrument(block);
    heap_stacks_instrument(block);
}

static void thread_start(sn_thread *thread) {
    static bool has_begun;
    heap_is_shared = has_begun;
    has_begun = true;
    heap_totals_thread_start(thread);
    heap_stacks_begin(thread);
    heap_pages_thread_start();
}

static void thread_end(sn_thread *thread) {
    heap_totals_thread_end(thread);
    heap_stacks_end(thread);
}

static void fork_child(sn_thread *thread) {
    heap_stacks_fork_child(thread);
    heap_cells_unlock();
    heap_timeline_fork_child();
    heap_totals_fork_child(thread, heap_timeline_last());
    heap_dumps_fork_child();
}

static bool request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    if (heap_current.mode == HEAP_DARK_MATTER && heap_reports_request(thread, arguments, result)) {
        return true;
    }
    return !heap_current.pages_as_heap && sn_heap_request(thread, arguments, result);
}

static void signalled(sn_thread *thread, int number, uint64_t address) {
    (void)address;
    if (number == heap_current.signal) {
        heap_dump(thread, HEAP_SIGNAL);
    }
}

/** A dump is a file of its own; nothing goes to who asks but its number. */
static sn_control_outcome control(sn_thread *thread, sn_control_command command, FILE *answer) {
    sn_heap_settle();
    heap_totals now = heap_totals_now();
    switch (command) {
    case SN_CONTROL_DUMP:
        return heap_dump(thread, HEAP_ASKED) ? SN_CONTROL_DONE : SN_CONTROL_FAILED;
    case SN_CONTROL_STATUS:
        if (heap_current.mode == HEAP_DARK_MATTER || heap_current.mode == HEAP_SCAN) {
            fprintf(answer, "%u files written\n", heap_dumps_written());
        } else {
            fprintf(answer, "%lu bytes live, %lu more for them; %u files written\n", now.bytes, now.extra, heap_dumps_written());
        }
        return SN_CONTROL_DONE;
    default:
        return SN_CONTROL_USUAL;
    }
}

/** `sonde dump PID`; for `sonde control PID dump` control() comes first. */
static void dump(sn_thread *thread) {
    heap_dump(thread, HEAP_ASKED);
}

static sn_thread *last_thread;

static void note_thread(sn_thread *thread, void *data) {
    (void)data;
    last_thread = thread;
}

static void end(void) {
    sn_threads_visit(note_thread, NULL);
    if (heap_current.at_peak) {
        heap_dump(last_thread, HEAP_PEAK);
    }
    heap_dump(last_thread, HEAP_EXIT);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "heap",
    .version = "1",
    .description = "what is allocated, over time, at a moment, and altogether",
    .options = options,
    .start = start,
    .instrument = instrument,
    .thread_start = thread_start,
    .thread_end = thread_end,
    .fork_child = fork_child,
    .memory_mapped = heap_pages_mapped,
    .memory_unmapped = heap_pages_unmapped,
    .memory_moved = heap_pages_moved,
    .system_call_before = heap_accesses_system_call_begins,
    .system_call_after = heap_accesses_system_call_ends,
    .signal = signalled,
    .request = request,
    .dump = dump,
    .control = control,
    .end = end,
};
