/**
 * @fileoverview What was found: each once, with how often it was. See memcheck.h.
 *
 * Two findings are the same error if they say the same and their four innermost addresses agree, or two after a hundred
 * errors; limits and the texts about them are Valgrind's (coregrind/m_errormgr.c describes them).
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "address.h"
#include "ignored_ranges.h"
#include "origins.h"
#include "report.h"
#include "suppressions.h"

#define FINE_ADDRESSES 4
#define COARSE_ADDRESSES 2
#define COARSE_AFTER 100        /* errors */
#define MOST_SHOWN 1000         /* errors */
#define MOST_FOUND 10000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    mc_error **items;
    size_t count, room;
    uint64_t found;             /**< unsuppressed ones, each time */
    uint64_t shown;             /**< unsuppressed ones, once */
    uint64_t numbers;
    uint64_t leaks_suppressed, leak_contexts_suppressed;
    bool has_told_coarse;
} errors;

bool mc_errors_are_over;

bool mc_wants_errors(void) { return !__atomic_load_n(&mc_errors_are_over, __ATOMIC_RELAXED); }

uint64_t mc_error_count(void) { return __atomic_load_n(&errors.found, __ATOMIC_RELAXED); }

void mc_errors_fork_child(void) { pthread_mutex_init(&lock, NULL); }

/* ---------------------------------------------------------------------------------------------------- counting */

static bool same_text(const char *left, const char *right) {
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static mc_error *find_error(const mc_finding *finding) {
    unsigned addresses = errors.shown >= COARSE_AFTER ? COARSE_ADDRESSES : FINE_ADDRESSES;
    for (size_t i = errors.count; i-- > 0;) {
        const mc_finding *known = &errors.items[i]->finding;
        if (known->kind == finding->kind && known->size == finding->size && same_text(known->detail, finding->detail) &&
            mc_stacks_agree(known->stack, finding->stack, addresses)) {
            return errors.items[i];
        }
    }
    return NULL;
}

static void tell_too_many(void) {
    mc_errors_are_over = true;
    mc_line(NULL);
    if (errors.shown >= MOST_SHOWN) {
        mc_line("More than %d different errors detected.  I'm not reporting any more.", MOST_SHOWN);
    } else {
        mc_line("More than %d total errors detected.  I'm not reporting any more.", MOST_FOUND);
    }
    mc_line("Final error counts will be inaccurate.  Go fix your program!");
    mc_line("Rerun with --error-limit=no to disable this cutoff.  Note");
    mc_line("that errors may occur in your program without prior warning from");
    mc_line("Sonde, because some errors are no longer being displayed.");
    mc_line(NULL);
}

/** Whether one more error may be recorded; tells of limits when they are reached. */
static bool is_within_limits(void) {
    if (mc_errors_are_over) {
        return false;
    }
    if (mc_current.error_limit && (errors.shown >= MOST_SHOWN || errors.found >= MOST_FOUND)) {
        tell_too_many();
        return false;
    }
    if (errors.shown >= COARSE_AFTER && !errors.has_told_coarse) {
        errors.has_told_coarse = true;
        mc_line(NULL);
        mc_line("More than %d errors detected.  Subsequent errors", COARSE_AFTER);
        mc_line("will still be recorded, but in less detail than before.");
    }
    return true;
}

static void count_again(mc_error *error, uint64_t times) {
    error->count += times;
    if (error->suppressed == NULL) {
        errors.found += times;
    } else {
        mc_suppression_used(error->suppressed, times, 0, 0);
    }
}

void mc_report_again(mc_error *error, uint64_t times) {
    pthread_mutex_lock(&lock);
    count_again(error, times);
    pthread_mutex_unlock(&lock);
}

static void release_texts(const mc_finding *finding) {
    free(finding->what);
    for (unsigned i = 0; i < finding->note_count; i++) {
        free(finding->notes[i].text);
    }
}

static mc_error *new_error(sn_thread *thread, const mc_finding *finding) {
    mc_error *error = malloc(sizeof *error);
    if (error == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    *error = (mc_error){.finding = *finding, .number = errors.numbers++, .count = 1, .thread = mc_thread_number(thread),
                        .suppressed = mc_suppression_of(finding)};
    return error;
}

/* --------------------------------------------------------------------------------------------------- reporting */

/** Leaks are found once each, at a time: they are told, and counted, one by one. Under the lock. */
static void report_leak(const mc_error *error) {
    const mc_finding *leak = &error->finding;
    if (error->suppressed != NULL) {
        errors.leaks_suppressed++;
        errors.leak_contexts_suppressed++;
        mc_suppression_used(error->suppressed, 1, leak->size, leak->blocks);
        return;
    }
    if (leak->is_counted) {
        errors.found++;
        errors.shown++;
    }
    if (leak->is_shown) {
        mc_form->error(error);
    }
}

/** Under the lock. */
static void report_new(mc_error *error) {
    mc_grow(&errors.items, &errors.room, errors.count + 1, sizeof *errors.items);
    errors.items[errors.count++] = error;
    if (error->suppressed != NULL) {
        mc_suppression_used(error->suppressed, 1, 0, 0);
        return;
    }
    errors.found++;
    errors.shown++;
    mc_form->error(error);
}

static bool is_leak(mc_kind kind) { return kind >= MC_LEAK_REACHABLE; }

static void end_if_first(void) {
    if (mc_current.exit_on_first_error) {
        mc_line(NULL);
        mc_line("Exit program on first error (--exit-on-first-error=yes)");
        sn_exit_now((int)mc_current.error_exitcode);
    }
}

mc_error *mc_report(sn_thread *thread, const mc_finding *finding) {
    pthread_mutex_lock(&lock);
    mc_error *known = is_leak(finding->kind) ? NULL : find_error(finding);
    bool is_first = false;
    if (known != NULL) {
        count_again(known, 1);
    } else if (is_leak(finding->kind) || is_within_limits()) {
        mc_error *error = new_error(thread, finding);
        if (is_leak(finding->kind)) {
            report_leak(error);
            free(error);
        } else {
            report_new(error);
            is_first = error->suppressed == NULL;
            known = error;
        }
    }
    pthread_mutex_unlock(&lock);
    if (is_first) {
        end_if_first();
    } else if (known != NULL && known->finding.what != finding->what) {
        release_texts(finding);
    }
    return known;
}

/** Whether this error is known and was counted again; `finding` has no texts yet. */
static bool was_known(const mc_finding *finding, mc_error **known) {
    pthread_mutex_lock(&lock);
    *known = find_error(finding);
    if (*known != NULL) {
        count_again(*known, 1);
    }
    bool is_wanted = !mc_errors_are_over;
    pthread_mutex_unlock(&lock);
    return *known != NULL || !is_wanted;
}

void mc_report_access(sn_thread *thread, uint64_t instruction, uint64_t address, uint64_t size, bool is_write) {
    if (mc_is_ignored(address)) {
        return;
    }
    mc_report_access_in(thread, sn_context_of(thread), instruction, address, size, is_write);
}

mc_error *mc_report_access_in(sn_thread *thread, sn_context context, uint64_t instruction, uint64_t address, uint64_t size, bool is_write) {
    mc_finding finding = {.kind = is_write ? MC_INVALID_WRITE : MC_INVALID_READ, .size = size,
                          .stack = mc_stack_of(context, instruction)};
    mc_error *known;
    if (was_known(&finding, &known)) {
        return known;
    }
    finding.what = mc_text("Invalid %s of size %lu", is_write ? "write" : "read", size);
    finding.note_count = mc_describe_address(thread, address, finding.notes);
    return mc_report(thread, &finding);
}

void mc_report_overlap(sn_thread *thread, sn_context context, uint64_t function, const uint64_t arguments[3], bool has_size) {
    mc_finding finding = {.kind = MC_OVERLAP, .stack = mc_stack_of(context, function)};
    mc_frame frame;
    mc_error *known;
    if (was_known(&finding, &known)) {
        return;
    }
    const char *name = mc_stack_frames(finding.stack, &frame, 1) != 0 && frame.function != NULL ? frame.function : "???";
    char *size = has_size ? mc_text(", %lu", arguments[2]) : mc_text("%s", "");
    finding.what = mc_text("Source and destination overlap in %s(0x%lx, 0x%lx%s)", name, arguments[0], arguments[1], size);
    free(size);
    mc_report(thread, &finding);
}

mc_error *mc_report_undefined(sn_thread *thread, uint64_t instruction, uint64_t size, bool is_condition, mc_origin origin) {
    mc_finding finding = {.kind = is_condition ? MC_UNDEFINED_CONDITION : MC_UNDEFINED_VALUE, .size = size,
                          .stack = mc_stack_of(sn_context_of(thread), instruction)};
    mc_error *known;
    if (was_known(&finding, &known)) {
        return known;
    }
    finding.what = is_condition ? mc_text("Conditional jump or move depends on uninitialised value(s)")
                                : mc_text("Use of uninitialised value of size %lu", size);
    mc_origin_tell(origin, &finding);
    return mc_report(thread, &finding);
}

void mc_report_parameter(sn_thread *thread, const char *parameter, uint64_t address, bool is_undefined, mc_origin origin) {
    mc_finding finding = {.kind = MC_SYSTEM_CALL, .detail = parameter, .size = is_undefined,
                          .stack = mc_stack_here(thread)};
    mc_error *known;
    if (was_known(&finding, &known)) {
        return;
    }
    finding.detail = mc_text("%s", parameter);
    finding.what = mc_text("Syscall param %s %s %s byte(s)", parameter, address != 0 ? "points to" : "contains",
                           is_undefined ? "uninitialised" : "unaddressable");
    if (address != 0) {
        finding.note_count = mc_describe_address(thread, address, finding.notes);
    }
    mc_origin_tell(origin, &finding);
    mc_report(thread, &finding);
}

bool mc_report_is_suppressed(const mc_finding *finding) { return mc_suppression_of(finding) != NULL; }

/* --------------------------------------------------------------------------------------------------- at the end */

static mc_summary summary_now(void) {
    mc_summary summary = {.errors = errors.found, .contexts = errors.shown, .suppressed = errors.leaks_suppressed,
                          .suppressed_contexts = errors.leak_contexts_suppressed};
    for (size_t i = 0; i < errors.count; i++) {
        if (errors.items[i]->suppressed != NULL) {
            summary.suppressed += errors.items[i]->count;
            summary.suppressed_contexts++;
        }
    }
    return summary;
}

static int by_count(const void *left, const void *right) {
    const mc_error *a = *(const mc_error *const *)left, *b = *(const mc_error *const *)right;
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    return a->number > b->number ? -1 : a->number < b->number;
}

void mc_errors_print_summary(void) {
    pthread_mutex_lock(&lock);
    mc_summary summary = summary_now();
    if (errors.count != 0) {
        qsort(errors.items, errors.count, sizeof *errors.items, by_count);
    }
    bool is_listed = mc_form->listed != NULL && (mc_current.lists_errors || sn_verbosity() > 0);
    if (!is_listed) {
        mc_line("For lists of detected and suppressed errors, rerun with: --show-error-list=yes");
    }
    mc_form->counts((const mc_error *const *)errors.items, errors.count);
    mc_form->summary(&summary);
    if (is_listed) {
        uint64_t count = 0, index = 0;
        for (size_t i = 0; i < errors.count; i++) {
            count += errors.items[i]->suppressed == NULL;
        }
        for (size_t i = 0; i < errors.count; i++) {
            if (errors.items[i]->suppressed == NULL) {
                mc_form->listed(errors.items[i], ++index, count);
            }
        }
        mc_suppressions_list();
        if (count != 0) {
            mc_line(NULL);
            mc_form->summary(&summary);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------------------------------------------- names */

static const struct {
    const char *name, *suppression;
} kinds[] = {
    [MC_INVALID_READ] = {"InvalidRead", "Addr"},
    [MC_INVALID_WRITE] = {"InvalidWrite", "Addr"},
    [MC_INVALID_JUMP] = {"InvalidJump", "Jump"},
    [MC_UNDEFINED_CONDITION] = {"UninitCondition", "Cond"},
    [MC_UNDEFINED_VALUE] = {"UninitValue", "Value"},
    [MC_SYSTEM_CALL] = {"SyscallParam", "Param"},
    [MC_CHECKED] = {"ClientCheck", "User"},
    [MC_INVALID_FREE] = {"InvalidFree", "Free"},
    [MC_MISMATCHED_FREE] = {"MismatchedFree", "Free"},
    [MC_OVERLAP] = {"Overlap", "Overlap"},
    [MC_FISHY_SIZE] = {"FishyValue", "FishyValue"},
    [MC_INVALID_POOL] = {"InvalidMemPool", "Mempool"},
    [MC_LEAK_REACHABLE] = {"Leak_StillReachable", "Leak"},
    [MC_LEAK_POSSIBLE] = {"Leak_PossiblyLost", "Leak"},
    [MC_LEAK_INDIRECT] = {"Leak_IndirectlyLost", "Leak"},
    [MC_LEAK_DEFINITE] = {"Leak_DefinitelyLost", "Leak"},
};

const char *mc_kind_name(mc_kind kind) { return kinds[kind].name; }

char *mc_suppression_kind(const mc_finding *finding, char **extra) {
    static const char *const leaks[] = {"reachable", "possible", "indirect", "definite"};
    const char *name = kinds[finding->kind].suppression;
    *extra = NULL;
    if (is_leak(finding->kind)) {
        *extra = mc_text("match-leak-kinds: %s", leaks[finding->kind - MC_LEAK_REACHABLE]);
    } else if (finding->detail != NULL) {
        *extra = mc_text("%s", finding->detail);
    }
    bool has_size = finding->kind == MC_INVALID_READ || finding->kind == MC_INVALID_WRITE || finding->kind == MC_UNDEFINED_VALUE;
    return has_size ? mc_text("%s%lu", name, finding->size) : mc_text("%s", name);
}
