/**
 * @fileoverview A tool that prints every block that was allocated and freed in functions whose names begin with `step`, for
 * tests/test_heap_service.py: `A requested usable function` or `F requested usable function`, in order; with --live=yes the blocks that live
 * at the end; with --late=yes what happens while there is one thread is told late, and a block of 7001 bytes has the tool
 * attended to, which prints `T 0 0 function`; with --freed=yes what sn_heap_freed_at() knows of the blocks.
 */
#include <sonde/heap.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };
typedef struct event {
    uint64_t requested, usable, address;
    sn_context context;
    uint32_t kind;
} event;
static event *events;
static _Atomic uint32_t count;
static bool live, freed_too, counts, unwinds, late;
static sn_context attended;

static const sn_option options[] = {
    {"live", SN_OPTION_FLAG, &live, "no", NULL, "print the blocks that live at the end"},
    {"freed", SN_OPTION_FLAG, &freed_too, "no", NULL, "print where the last freed block of each address was freed"},
    {"unwinds", SN_OPTION_FLAG, &unwinds, "no", NULL, "find contexts by unwinding stacks"},
    {"late", SN_OPTION_FLAG, &late, "no", NULL, "be told late; blocks that are freed are shown with who allocated them"},
    {"counts", SN_OPTION_FLAG, &counts, "no", NULL, "print sums only"},
    {0},
};

SN_FAST static void note(uint32_t kind, const sn_heap_block *block, sn_context context) {
    uint32_t at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    if (at >= MOST) return;
    events[at].requested = block->requested;
    events[at].usable = block->usable;
    events[at].address = block->address;
    events[at].context = context;
    events[at].kind = kind;
}

SN_FAST static void allocated(sn_thread *thread, sn_heap_block *block) {
    (void)thread;
    block->word = __atomic_load_n(&count, __ATOMIC_RELAXED);
    note('A', block, block->context);
    if (late && block->requested == 7001) {
        attended = block->context;
        sn_heap_attend();
    }
}

SN_FAST static void freed(sn_thread *thread, sn_heap_block *block) {
    (void)thread;
    note('F', block, late ? block->context : block->death);
}

SN_FAST static void measured(sn_thread *thread, sn_heap_block *block, uint64_t before) {
    (void)thread, (void)before;
    if (block->word < MOST) events[block->word].usable = block->usable;
}

static void attend(sn_thread *thread) {
    (void)thread;
    if (attended != SN_NO_CONTEXT) note('T', &(sn_heap_block){0}, attended);
    attended = SN_NO_CONTEXT;
}

static void start(void) {
    events = calloc(MOST, sizeof *events);
    if (unwinds) sn_contexts_enable_unwound();
    sn_heap_enable(&(sn_heap_options){.allocated = allocated, .freed = freed, .measured = measured, .attend = attend,
                                      .death = !late, .kept = 100, .may_be_late = late});
}

/** The innermost function of the context whose name begins with `step`, without its Rust crate; NULL if there is none. */
static const char *step_of(sn_context context) {
    sn_context_info info;
    sn_location location;
    for (; sn_context_describe(context, &info); context = info.caller)
        if (sn_locate(info.function, &location) && location.function) {
            const char *crate = strstr(location.function, "::step"), *name = crate ? crate + 2 : location.function;
            if (!strncmp(name, "step", 4)) return name;
        }
    return NULL;
}

static void show(uint32_t kind, uint64_t requested, uint64_t usable, sn_context context) {
    const char *step = step_of(context);
    if (step) fprintf(sn_output(), "%c %lu %lu %.*s\n", kind, requested, usable, (int)strcspn(step, "("), step);
}

static void show_live(sn_heap_block *block, void *data) {
    (void)data;
    show('L', block->requested, block->usable, block->context);
}

static void end(void) {
    uint64_t sums[2] = {0};
    sn_heap_block none;
    if (freed_too) sn_heap_freed_at(1, &none); /* asks of no block, but all that has happened is told behind it */
    else if (!live) sn_heap_settle();
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        if (step_of(events[i].context)) sums[events[i].kind == 'F'] += events[i].requested;
        if (!live && !freed_too && !counts) show(events[i].kind, events[i].requested, events[i].usable, events[i].context);
    }
    if (counts) fprintf(sn_output(), "allocated %lu freed %lu\n", sums[0], sums[1]);
    if (live) sn_heap_visit(show_live, NULL);
    for (uint32_t i = 0; i < count && freed_too; i++) {
        sn_heap_block block;
        if (events[i].kind == 'F' && sn_heap_freed_at(events[i].address, &block)) show('D', block.requested, block.usable, late ? block.context : block.death);
    }
}

static bool request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    return sn_heap_request(thread, arguments, result);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "heap_events",
    .version = "1",
    .description = "prints blocks",
    .options = options,
    .start = start,
    .request = request,
    .end = end,
};
