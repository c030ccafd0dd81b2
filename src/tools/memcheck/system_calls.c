/**
 * @fileoverview What system calls are given: values, and memory. See system_calls.h.
 *
 * Which memory a call reads and writes the engine knows (sn_system_call.ranges); what parameters are called, and which parts of
 * structures count, parameters.c. What is reported once is defined from then on, as in the program's code.
 */
#include "system_calls.h"

#include <stdlib.h>

#include "addressability.h"
#include "definedness.h"
#include "parameters.h"

enum { ARGUMENTS = 6 };

static void check_value(sn_thread *thread, const char *call, unsigned argument) {
    mc_origin origin;
    uint64_t undefined = mc_undefined_argument(thread, argument, &origin);
    if (undefined == 0) {
        return;
    }
    mc_parameter parameter = mc_parameter_of(call, argument);
    if (parameter.is_value && (parameter.is_short ? (uint32_t)undefined : undefined) != 0) {
        mc_report_parameter(thread, parameter.name, 0, true, origin);
        mc_define_argument(thread, argument);
    }
    free(parameter.name);
}

static void report(sn_thread *thread, const mc_given *given, unsigned piece, uint64_t where, bool is_undefined) {
    char *name = mc_given_name(given, piece);
    mc_report_parameter(thread, name, where, is_undefined, is_undefined ? mc_origin_at(where, 1) : 0);
    free(name);
}

/** Each part that has a name of its own is told. */
static void check_content(sn_thread *thread, const mc_given *given) {
    uint64_t first = given->range->start, start, end, where;
    if (!mc_find_undefined(first, given->range->size, &where)) {
        return;
    }
    for (unsigned piece = 0; mc_given_part(given, piece, &start, &end); piece++) {
        if (mc_find_undefined(first + start, end - start, &where)) {
            report(thread, given, piece, where, true);
        }
    }
}

static void check_memory(sn_thread *thread, const mc_given *given) {
    uint64_t where;
    if (given->range->start == 0) {
        return;
    }
    if (mc_find_unaddressable(given->range->start, given->range->size, &where)) {
        report(thread, given, UINT32_MAX, where, false);
    } else if (given->range->role == SN_ROLE_READ) {
        check_content(thread, given);
    }
}

void mc_system_call_before(sn_thread *thread, const sn_system_call *call) {
    unsigned numbers[ARGUMENTS] = {0};
    for (unsigned i = 0; i < ARGUMENTS && call->name != NULL; i++) {
        check_value(thread, call->name, i);
    }
    for (size_t i = 0; i < call->range_count && call->name != NULL; i++) {
        const sn_system_range *range = &call->ranges[i];
        check_memory(thread, &(mc_given){call, range, range->argument < ARGUMENTS ? numbers[range->argument]++ : 0});
    }
}
