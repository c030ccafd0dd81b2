/**
 * @fileoverview The functions of sonde/tool.h that look at contexts and frames, and printing.
 */
#include "base/log.h"
#include "service/contexts.h"
#include "service/unwind.h"

sn_context sn_context_of(sn_thread *thread) {
    bool is_followed = !sn_contexts_are_unwound() && sn_contexts_follow_version(thread->version);
    return is_followed ? sn_context_resolve(thread) : sn_unwind_here(thread);
}

sn_context sn_context_count(void) { return __atomic_load_n(&sn_contexts.count, __ATOMIC_ACQUIRE) - 1; }

bool sn_context_describe(sn_context context, sn_context_info *info) {
    *info = (sn_context_info){0};
    if (!sn_contexts_are_on() || context == SN_NO_CONTEXT || context > sn_context_count()) return false;
    const sn_context_node *node = &sn_contexts.nodes[context];
    *info = (sn_context_info){
        .caller = node->caller,
        .function = node->function,
        .call_site = node->site < SN_SITE_FIRST ? 0 : sn_shadow.sites[node->site].address,
        .is_handler = node->site == SN_SITE_SIGNAL,
    };
    return true;
}

uint64_t sn_call_site_address(uint32_t site) {
    return site < SN_SITE_FIRST || site >= SN_MOST_SITES ? 0 : sn_shadow.sites[site].address;
}

_Static_assert(SN_SITE_SIGNAL == 1 && SN_SITE_FIRST == 2, "sn_call_site_is_call(), sn_call_site_is_signal()");

/* ------------------------------------------------------------------------------------------------- printing */

typedef struct printing {
    FILE *file;
    const char *indent;
    unsigned left; /**< lines that may still be written */
} printing;

static void print_line(printing *to, const char *function, const char *file, unsigned line, const char *module) {
    if (!to->left) return;
    to->left--;
    fprintf(to->file, "%s%s", to->indent, function ? function : "???");
    if (file) fprintf(to->file, " (%s:%u)", file, line);
    else if (module) fprintf(to->file, " (in %s)", module);
    fputc('\n', to->file);
}

/** The functions around an address, inlined ones first. */
static void print_place(printing *to, uint64_t address) {
    enum { MOST_INLINED = 32 };
    sn_inlined frames[MOST_INLINED];
    sn_location location;
    unsigned count = sn_locate_inlined(address, frames, MOST_INLINED);
    sn_locate(address, &location);
    for (unsigned i = 0; i < count; i++)
        print_line(to, frames[i].function, frames[i].file, frames[i].line, location.module);
    if (!count) print_line(to, location.function, location.file, location.line, location.module);
}

void sn_context_print(FILE *file, sn_context context, uint64_t address, unsigned most, const char *indent) {
    printing to = {file, indent, most ? most : UINT32_MAX};
    sn_context_info info;
    if (address) print_place(&to, address);
    while (to.left && sn_context_describe(context, &info)) {
        if (!address) print_place(&to, info.function);
        if (info.is_handler) print_line(&to, "<signal handler called>", NULL, 0, NULL);
        bool is_tail = !info.call_site && !info.is_handler && info.caller;
        if (info.call_site) print_place(&to, info.call_site);
        sn_context_info caller;
        bool goes_on = sn_context_describe(info.caller, &caller);
        /* The function that made a tail call has nothing that says where; of an interrupted one only the function is known. */
        if (goes_on && (is_tail || info.is_handler)) print_place(&to, caller.function);
        address = 1;
        context = info.caller;
    }
}
