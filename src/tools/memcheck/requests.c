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
#include "ignored_ranges.h"
#include "leaks.h"
#include "named_blocks.h"
#include "pools.h"
#include "repeats.h"

enum {
    MAKE_NOACCESS = SN_REQUEST_NUMBER('M', 'C', 0), /**< (address, size) */
    MAKE_UNDEFINED,
    MAKE_DEFINED,
    DISCARD,                       /**< (number of a block's description) */
    CHECK_ADDRESSABLE,             /**< (address, size): the first bad address, or 0 */
    CHECK_DEFINED,
    DO_LEAK_CHECK,                 /**< (summary only, which) */
    COUNT_LEAKS,                   /**< (where lost, dubious, reachable, suppressed bytes go) */
    GET_VBITS,                     /**< (address, where bits are, size): 1, or 3 if one of them is not addressable */
    SET_VBITS,
    CREATE_BLOCK,                  /**< (address, size, description): its number */
    MAKE_DEFINED_IF_ADDRESSABLE,
    COUNT_LEAK_BLOCKS,
    ENABLE_REPORTING, DISABLE_REPORTING, /**< (address, size) */

    COUNT_ERRORS = 0x1201,
};

static void report_checked(sn_thread *thread, uint64_t where, bool is_undefined, mc_origin origin) {
    mc_finding finding = {.kind = MC_CHECKED, .what = mc_text("%s byte(s) found during client check request", is_undefined ? "Uninitialised" : "Unaddressable"), .size = is_undefined,
                          .stack = mc_stack_here(thread)};
    finding.note_count = mc_describe_address(thread, where, finding.notes);
    mc_origin_tell(origin, &finding);
    mc_report(thread, &finding);
}

/** Check what the program says should be so; the answer is the first address that is not. */
static uint64_t check_addressable(sn_thread *thread, uint64_t address, uint64_t size) {
    uint64_t where;
    if (!mc_find_unaddressable(address, size, &where)) {
        return 0;
    }
    report_checked(thread, where, false, 0);
    return where;
}

/** The first byte of a range that may be accessed and has no value; its end if there is none. */
static uint64_t find_undefined(uint64_t address, uint64_t size) {
    uint64_t end = address + size, where, bad;
    while (address < end && mc_find_undefined(address, end - address, &where)) {
        if (!mc_find_unaddressable(where, 1, &bad)) {
            return where;
        }
        address = where + 1;
    }
    return end;
}

static uint64_t check_defined(sn_thread *thread, uint64_t address, uint64_t size) {
    uint64_t end = address + size, undefined = find_undefined(address, size), unaddressable;
    if (undefined != end) {
        report_checked(thread, undefined, true, mc_origin_at(undefined, 1));
    }
    unaddressable = check_addressable(thread, address, size);
    if (unaddressable == 0) {
        return undefined != end ? undefined : 0;
    }
    return undefined < unaddressable ? undefined : unaddressable;
}

/** What may be accessed becomes defined. */
static void define_addressable(uint64_t address, uint64_t size) {
    for (uint64_t end = address + size, bad; address < end; address = bad + 1) {
        if (!mc_find_unaddressable(address, end - address, &bad)) {
            bad = end;
        }
        mc_make_defined(address, bad - address);
        if (bad == end) {
            return;
        }
    }
}

enum { BITS_ARE_COPIED = 1, BITS_ARE_UNADDRESSABLE = 3 };

/** Bits of values, as the program sees them: a byte for each byte, in which those are set that have no value. */
static uint64_t copy_bits(sn_thread *thread, uint64_t address, uint64_t bits, uint64_t size, bool is_set) {
    uint64_t where;
    if (mc_find_unaddressable(address, size, &where) || mc_find_unaddressable(bits, size, &where)) {
        return BITS_ARE_UNADDRESSABLE;
    }
    uint8_t *room = calloc(1, size + 1);
    struct iovec here = {room, size}, there = {(void *)(uintptr_t)bits, size};
    if (room != NULL && is_set && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size) {
        mc_set_definedness(address, size, room, mc_origin_of_request(thread));
    } else if (room != NULL && !is_set) {
        mc_get_definedness(address, size, room);
        process_vm_writev(getpid(), &here, 1, &there, 1, 0);
        mc_make_defined(bits, size);
    }
    free(room);
    return BITS_ARE_COPIED;
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
        mc_make_undefined(address, size, mc_origin_of_request(thread));
        *result = (uint64_t)-1;
        return true;
    case MAKE_DEFINED:
        mc_make_addressable(address, size);
        mc_make_defined(address, size);
        *result = (uint64_t)-1;
        return true;
    case MAKE_DEFINED_IF_ADDRESSABLE:
        define_addressable(address, size);
        *result = (uint64_t)-1;
        return true;
    case CHECK_ADDRESSABLE:
        *result = check_addressable(thread, address, size);
        return true;
    case CHECK_DEFINED:
        *result = check_defined(thread, address, size);
        return true;
    case CREATE_BLOCK:
        *result = mc_named_create(thread, address, size, arguments[3]);
        return true;
    case DISCARD: /* the number is the second argument */
        *result = mc_named_discard(arguments[2]);
        return true;
    case GET_VBITS:
    case SET_VBITS:
        *result = copy_bits(thread, address, size, arguments[3], arguments[0] == SET_VBITS) /* the bits are second */;
        return true;
    case ENABLE_REPORTING:
    case DISABLE_REPORTING:
        *result = mc_ignore_range(address, size, arguments[0] == DISABLE_REPORTING);
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
        mc_repeats_tell();
        *result = mc_error_count();
        return true;
    }
    return mc_pool_request(thread, arguments, result) || memcheck_request(thread, arguments, result);
}
