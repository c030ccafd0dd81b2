/**
 * @fileoverview The tool `taint`: bytes that come from outside are followed to where they decide what the program does: jump
 * targets, addresses, format strings, arguments of system calls and of functions that the user names.
 */
#include "taint.h"

#include <stdlib.h>
#include <string.h>

taint_options taint_chosen = {.jumps = true, .formats = true, .calls = true, .callers = 12};
const sn_shadow_memory *taint_memory;

/* -------------------------------------------------------------------------------------------- code */

/** A check in a block: never freed. */
typedef struct place {
    sn_shadow_check check;
    uint64_t address;
    taint_use use;
} place;

static SN_FAST void found(sn_thread *thread, uint64_t data, uint64_t shadow, sn_context context) {
    const place *at = (const place *)data;
    (void)thread;
    taint_note(at->use, at->address, context, NULL, sn_shadow_labels(shadow));
}

static void check_value(sn_block *block, unsigned index, taint_use use, sn_value shadow) {
    place *made = malloc(sizeof *made);
    if (!made) sn_fail(125, "no memory for checks");
    *made = (place){{found, (uint64_t)(uintptr_t)made}, sn_block_instruction(block, index)->address, use};
    sn_shadow_check_value(block, shadow, &made->check);
}

/** Where control goes: in a register or in memory. */
static bool check_target(sn_block *block, unsigned index, taint_use use) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        bool is_target = operands[i].role & SN_ROLE_READ && operands[i].size == 8 &&
                         (operands[i].is_explicit || use == TAINT_RETURN) &&
                         (operands[i].place == SN_PLACE_MEMORY || (operands[i].place == SN_PLACE_GENERAL && use != TAINT_RETURN));
        if (!is_target) continue;
        sn_insert_before(block, index);
        check_value(block, index, use, sn_shadow_of_operand(block, i));
        return true;
    }
    return false;
}

static bool check_register(sn_block *block, unsigned index, uint8_t reg) {
    if (reg == SN_NO_REGISTER) return false;
    sn_insert_before(block, index);
    check_value(block, index, TAINT_ADDRESS, sn_shadow_of_register(block, reg));
    return true;
}

static bool check_addresses(sn_block *block, unsigned index) {
    unsigned count;
    bool any = false;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        const sn_operand operand = operands[i];
        if (operand.place != SN_PLACE_MEMORY || operand.role == SN_ROLE_ADDRESS || !operand.is_explicit) continue;
        any |= check_register(block, index, operand.base);
        any |= check_register(block, index, operand.index);
    }
    return any;
}

static bool check(sn_block *block, unsigned index) {
    bool any = false;
    if (taint_chosen.addresses) any |= check_addresses(block, index);
    if (!taint_chosen.jumps) return any;
    switch (sn_block_instruction(block, index)->kind) {
    case SN_KIND_JUMP_INDIRECT: return check_target(block, index, TAINT_JUMP) || any;
    case SN_KIND_CALL_INDIRECT: return check_target(block, index, TAINT_CALL) || any;
    case SN_KIND_RETURN: return check_target(block, index, TAINT_RETURN) || any;
    default: return any;
    }
}

/* --------------------------------------------------------------------------------------- functions */

/** printf and its kin: which argument is the format. */
static const struct format {
    const char *name;
    unsigned argument;
} formats[] = {
    {"printf", 0}, {"fprintf", 1}, {"sprintf", 1}, {"snprintf", 2}, {"dprintf", 1}, {"asprintf", 1}, {"syslog", 1},
    {"vprintf", 0}, {"vfprintf", 1}, {"vsprintf", 1}, {"vsnprintf", 2}, {"vdprintf", 1}, {"vasprintf", 1}, {"vsyslog", 1},
    {"__printf_chk", 1}, {"__fprintf_chk", 2}, {"__sprintf_chk", 3}, {"__dprintf_chk", 2}, {"__asprintf_chk", 2},
    {"__vprintf_chk", 1}, {"__vfprintf_chk", 2}, {"__vsprintf_chk", 3}, {"__syslog_chk", 2},
};

/** Who called the function that begins. */
static void note_call(sn_thread *thread, const sn_hooked_call *call, taint_use use, const char *name, unsigned labels) {
    sn_context_info info = {0};
    sn_context context = sn_context_of(thread);
    bool has_caller = sn_context_describe(context, &info) && info.call_site;
    if (labels) taint_note(use, has_caller ? info.call_site : sn_hook_function(call), has_caller ? info.caller : context, name, labels);
}

static bool format_begins(sn_thread *thread, sn_hooked_call *call) {
    const struct format *format = call->hook->data;
    uint64_t text = call->arguments[format->argument];
    unsigned labels = sn_shadow_labels(sn_shadow_register(thread, sn_shadow_argument_register(format->argument)));
    note_call(thread, call, TAINT_FORMAT, format->name, labels | sn_shadow_labels_of_text(taint_memory, text));
    return false;
}

static bool sink_begins(sn_thread *thread, sn_hooked_call *call) {
    unsigned labels = 0, count = (unsigned)(uintptr_t)call->hook->data;
    for (unsigned i = 0; i < count; i++) {
        labels |= sn_shadow_labels(sn_shadow_register(thread, sn_shadow_argument_register(i)));
        if (sn_shadow_covers(call->arguments[i], 1)) labels |= (unsigned)sn_shadow_get(taint_memory, call->arguments[i]);
    }
    note_call(thread, call, TAINT_SINK, call->hook->function, labels);
    return false;
}

static void hook(const char *function, bool (*begin)(sn_thread *, sn_hooked_call *), const void *data) {
    sn_hook *made = calloc(1, sizeof *made);
    if (!made) sn_fail(125, "no memory for hooks");
    *made = (sn_hook){.function = function, .way = SN_HOOK_SLOW, .begin = begin, .data = (void *)data};
    sn_hook_add(made);
}

/** "FUNCTION" or "FUNCTION:COUNT", of arguments to be looked at: 1 to 4, as no symbol says how many there are. */
static void add_sink(const char *text) {
    char *name = strdup(text), *colon = name ? strrchr(name, ':') : NULL;
    bool has_count = colon && colon > name && colon[-1] != ':' && colon[1] >= '1' && colon[1] <= '4' && !colon[2];
    if (colon && !has_count && colon[-1] != ':' && colon[1] != ':') sn_fail(2, "--sink=%s: behind the colon is no number from 1 to 4", text);
    uintptr_t count = has_count ? (uintptr_t)(colon[1] - '0') : 1;
    if (has_count) *colon = 0;
    hook(name, sink_begins, (void *)count);
}

/* ------------------------------------------------------------------------------------ system calls */

/** How many arguments the calls have whose arguments matter, and which of these are texts (by bits). */
static const struct watched {
    const char *name;
    unsigned arguments, texts;
} watched[] = {
    {"open", 3, 1}, {"openat", 4, 2}, {"creat", 2, 1}, {"execve", 3, 1}, {"execveat", 5, 2}, {"unlink", 1, 1}, {"unlinkat", 3, 2},
    {"rename", 2, 3}, {"renameat2", 5, 10}, {"mkdir", 2, 1}, {"rmdir", 1, 1}, {"chmod", 2, 1}, {"chown", 3, 1}, {"symlink", 2, 3},
    {"link", 2, 3}, {"chdir", 1, 1}, {"truncate", 2, 1}, {"stat", 2, 1}, {"access", 2, 1}, {"kill", 2, 0}, {"mmap", 6, 0},
    {"mprotect", 3, 0}, {"read", 3, 0}, {"write", 3, 0}, {"close", 1, 0}, {"ioctl", 3, 0}, {"lseek", 3, 0}, {"ftruncate", 2, 0},
    {"setuid", 1, 0}, {"connect", 3, 0}, {"exit_group", 1, 0},
};

static void system_call_before(sn_thread *thread, const sn_system_call *call) {
    if (!taint_chosen.calls || !call->name) return;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        if (strcmp(watched[i].name, call->name)) continue;
        unsigned labels = 0;
        for (unsigned a = 0; a < watched[i].arguments; a++) {
            labels |= sn_shadow_labels(sn_shadow_register(thread, sn_shadow_system_call_register(a)));
            if (watched[i].texts >> a & 1 && sn_shadow_covers(call->arguments[a], 1))
                for (size_t r = 0; r < call->range_count; r++)
                    if (call->ranges[r].argument == a && call->ranges[r].role == SN_ROLE_READ && call->ranges[r].size)
                        labels |= sn_shadow_labels_of_text(taint_memory, call->ranges[r].start);
        }
        if (labels) taint_note(TAINT_SYSTEM_CALL, call->address, sn_context_of(thread), watched[i].name, labels);
        return;
    }
}

/* ------------------------------------------------------------------------------------------- tool */

/** Where nothing is tainted there is nothing to check. */
static bool pass_clean(sn_block *block, unsigned index) {
    (void)block, (void)index;
    return true;
}

static sn_shadow_rules rules = {.kind = SN_SHADOW_LABELS, .check = check, .clean = pass_clean};

static void start(void) {
    taint_memory = rules.memory = sn_shadow_memory_new(8);
    sn_shadow_follow(&rules);
    sn_contexts_enable();
    for (size_t i = 0; taint_chosen.formats && i < sizeof formats / sizeof *formats; i++) hook(formats[i].name, format_begins, &formats[i]);
    for (size_t i = 0; i < taint_chosen.sinks.count; i++) add_sink(taint_chosen.sinks.items[i]);
}

static bool has_begun;

static void thread_start(sn_thread *thread) {
    if (!has_begun) taint_begin(thread);
    has_begun = true;
}

static const sn_option options[] = {
    {"taint-file", SN_OPTION_LIST, &taint_chosen.files, "none", NULL, "follow what is read from files that the pattern names"},
    {"taint-stdin", SN_OPTION_FLAG, &taint_chosen.input, "no", NULL, "follow standard input"},
    {"taint-sockets", SN_OPTION_FLAG, &taint_chosen.sockets, "no", NULL, "follow what comes from sockets"},
    {"taint-arguments", SN_OPTION_FLAG, &taint_chosen.arguments, "no", NULL, "follow the command line's arguments"},
    {"taint-environment", SN_OPTION_FLAG, &taint_chosen.environment, "no", NULL, "follow the values of environment variables"},
    {"check-jumps", SN_OPTION_FLAG, &taint_chosen.jumps, "yes", NULL, "report targets of indirect jumps, calls and returns"},
    {"check-addresses", SN_OPTION_FLAG, &taint_chosen.addresses, "no", NULL, "report addresses of loads and stores"},
    {"check-formats", SN_OPTION_FLAG, &taint_chosen.formats, "yes", NULL, "report formats of printf and its kin"},
    {"check-system-calls", SN_OPTION_FLAG, &taint_chosen.calls, "yes", NULL, "report arguments of system calls, and names of files"},
    {"sink", SN_OPTION_LIST, &taint_chosen.sinks, "none", NULL, "report the first argument of this function, or the first N: FUNCTION:N"},
    {"num-callers", SN_OPTION_NUMBER, &taint_chosen.callers, "12", NULL, "lines of a calling context"},
    {"format", SN_OPTION_CHOICE, &taint_chosen.format, "text", "text|json", "form of the report"},
    {0},
};

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "taint",
    .version = "1",
    .description = "follows bytes from outside to jumps, addresses, formats, system calls and functions",
    .options = options,
    .start = start,
    .instrument = sn_shadow_instrument,
    .thread_start = thread_start,
    .memory_mapped = taint_mapped,
    .system_call_before = system_call_before,
    .system_call_after = taint_system_call,
    .end = taint_report,
};
