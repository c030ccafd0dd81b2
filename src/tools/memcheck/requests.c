/**
 * @fileoverview Client requests. See requests.h. Numbers and meaning: valgrind.h and memcheck.h 3.19, Valgrind's manual 4.7 and 4.8.
 */
#include "definedness.h"
#include "requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <sonde/client.h>

#include "address.h"
#include "addressability.h"
#include "blocks.h"
#include "checks.h"
#include "leaks.h"
#include "pools.h"

enum {
    MAKE_NOACCESS = SN_REQUEST_NUMBER('M', 'C', 0), /**< (address, size) */
    MAKE_UNDEFINED,
    MAKE_DEFINED,
    DISCARD,                       /**< (number of a block's description) */
    CHECK_ADDRESSABLE,             /**< (address, size): the first bad address, or 0 */
    CHECK_DEFINED,
    DO_LEAK_CHECK,                 /**< (summary only, which) */
    COUNT_LEAKS,                   /**< (where lost, dubious, reachable, suppressed bytes go) */
    GET_VBITS,
    SET_VBITS,
    CREATE_BLOCK,                  /**< (address, size, description): its number */
    MAKE_DEFINED_IF_ADDRESSABLE,
    COUNT_LEAK_BLOCKS,
    ENABLE_REPORTING, DISABLE_REPORTING, /**< (address, size) */

    COUNT_ERRORS = 0x1201,
};

/** Check what the program says should be so; the answer is the first address that is not. */
static uint64_t check(sn_thread *thread, uint64_t address, uint64_t size) {
    uint64_t where;
    if (!mc_find_unaddressable(address, size, &where)) {
        return 0;
    }
    mc_finding finding = {.kind = MC_CHECKED, .what = mc_text("Unaddressable byte(s) found during client check request"),
                          .stack = mc_stack_here(thread)};
    finding.note_count = mc_describe_address(thread, where, finding.notes);
    mc_report(thread, &finding);
    return where;
}

static void write_word(uint64_t to, uint64_t value) {
    struct iovec here = {&value, sizeof value}, there = {(void *)(uintptr_t)to, sizeof value};
    if (to != 0) {
        process_vm_writev(getpid(), &here, 1, &there, 1, 0);
        mc_make_defined(to, sizeof value);
    }
}

static void count_leaks(const uint64_t arguments[6], const uint64_t counts[MC_LEAK_KINDS], uint64_t suppressed) {
    write_word(arguments[1], counts[MC_DEFINITE] + counts[MC_INDIRECT]);
    write_word(arguments[2], counts[MC_POSSIBLE]);
    write_word(arguments[3], counts[MC_REACHABLE]);
    write_word(arguments[4], suppressed);
}

static bool memcheck_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    uint64_t address = arguments[1], size = arguments[2];
    switch (arguments[0]) {
    case MAKE_NOACCESS:
        if (!mc_is_heap(address)) {
            mc_checks_mind_constants();
        }
        mc_make_unaddressable(address, size);
        *result = (uint64_t)-1;
        return true;
    case MAKE_UNDEFINED:
        mc_make_addressable(address, size);
        mc_make_undefined(address, size);
        *result = (uint64_t)-1;
        return true;
    case MAKE_DEFINED:
        mc_make_addressable(address, size);
        mc_make_defined(address, size);
        *result = (uint64_t)-1;
        return true;
    case MAKE_DEFINED_IF_ADDRESSABLE:
        *result = (uint64_t)-1;
        return true;
    case CHECK_ADDRESSABLE:
    case CHECK_DEFINED:
        *result = check(thread, address, size);
        return true;
    case DO_LEAK_CHECK:
        mc_leaks_search(thread, address != 0 ? MC_LEAKS_SUMMARY : MC_LEAKS_FULL,
                        size == 1 ? MC_LEAKS_INCREASED : size == 2 ? MC_LEAKS_CHANGED : MC_LEAKS_ALL);
        *result = 0;
        return true;
    case COUNT_LEAKS:
        count_leaks(arguments, mc_leaks_found()->bytes, mc_leaks_found()->suppressed_bytes);
        *result = 0;
        return true;
    case COUNT_LEAK_BLOCKS:
        count_leaks(arguments, mc_leaks_found()->blocks, mc_leaks_found()->suppressed_blocks);
        *result = 0;
        return true;
    default:
        return false;
    }
}

bool mc_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    if (arguments[0] == COUNT_ERRORS) {
        mc_checks_tell_repeats();
        *result = mc_error_count();
        return true;
    }
    return mc_pool_request(thread, arguments, result) || memcheck_request(thread, arguments, result);
}
