/**
 * @fileoverview Functions on memory and strings. See strings.h.
 *
 * The C library chooses between several bodies of each when it is loaded: the symbol is that of a function that returns the one
 * chosen (IFUNC, ELF gABI extension STT_GNU_IFUNC). So hooks by name have that called, and hook what it returns. Those hooks are fast ones:
 * they go through what the function is going to read and write, up to where it stops, and note the first byte that it must not.
 *
 * memcpy and memmove are one body there: whether its arguments may overlap is not known, and not told.
 */
#include "strings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/hooks.h>

#include "addressability.h"
#include "checks.h"
#include "definedness.h"

typedef enum work {
    COPY,       /**< (to, from, bytes) */
    FILL,       /**< (to, byte, bytes) */
    FIND,       /**< (from, byte, bytes) */
    COMPARE,    /**< (left, right, bytes) */
    LENGTH,     /**< (string) */
    LAST,       /**< (string, byte): all of it, which must have values */
    LAST_WIDE,  /**< the same of wide characters */
    LENGTH_N,   /**< (string, most bytes) */
    FIND_WIDE,     /**< of wide characters, as all that is WIDE: (from, character, number) */
    LENGTH_N_WIDE, /**< (string, most) */
    COMPARE_STRINGS_N_WIDE, /**< (left, right, most) */
    SPAN,       /**< (string, set): up to the first byte that is not of the set */
    SPAN_TO,    /**< (string, set): up to the first one that is */
    CHARACTER,  /**< (string, byte): up to it, or to the end */
    COMPARE_STRINGS,   /**< (left, right) */
    COMPARE_STRINGS_N, /**< (left, right, most bytes) */
    COMPARE_LETTERS_N, /**< the same where large and small letters are one */
    COPY_STRING,       /**< (to, from) */
    COPY_STRING_N,     /**< (to, from, bytes): what is behind the string's end is filled */
    APPEND,            /**< (to, from) */
    APPEND_N,          /**< (to, from, most bytes) */
} work;

typedef struct function {
    const char *name;
    work does;
    bool overlap_is_wrong;
} function;

/** Of names of one resolver only one (index is strchr, rindex strrchr, bcmp memcmp), and of those that go on in another's body only that
    (strncasecmp is strncasecmp_l with the locale that is set). */
static const function functions[] = {
    {"memcpy", COPY, true}, {"__memcpy_chk", COPY, true}, {"mempcpy", COPY, true}, {"__mempcpy_chk", COPY, true},
    {"memmove", COPY, false}, {"__memmove_chk", COPY, false}, {"memset", FILL, false}, {"__memset_chk", FILL, false},
    {"memchr", FIND, false}, {"wmemchr", FIND_WIDE, false},
    {"wcsnlen", LENGTH_N_WIDE, false}, {"wcsncmp", COMPARE_STRINGS_N_WIDE, false}, {"memcmp", COMPARE, false}, {"strlen", LENGTH, false},
    {"strspn", SPAN, false}, {"strcspn", SPAN_TO, false}, {"strpbrk", SPAN_TO, false}, {"strnlen", LENGTH_N, false}, {"strchr", CHARACTER, false}, {"strchrnul", CHARACTER, false},
    {"strrchr", LAST, false}, {"wcsrchr", LAST_WIDE, false}, {"strcmp", COMPARE_STRINGS, false},
    {"strncmp", COMPARE_STRINGS_N, false}, {"strncasecmp_l", COMPARE_LETTERS_N, false}, {"strcpy", COPY_STRING, true}, {"stpcpy", COPY_STRING, true},
    {"strncpy", COPY_STRING_N, true}, {"stpncpy", COPY_STRING_N, true}, {"strcat", APPEND, true}, {"strncat", APPEND_N, true},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0], MOST_BODIES = 256 };

/** A body that was chosen. */
typedef struct body {
    const function *of;
    uint64_t address;
    bool overlap_is_wrong;
    sn_hook hook;
    mc_site *reads, *writes;
    const mc_value_site *values;
} body;

static sn_hook resolvers[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static body *bodies[MOST_BODIES];
static unsigned body_count;

static body *known_body(uint64_t address) {
    for (unsigned i = 0; i < __atomic_load_n(&body_count, __ATOMIC_ACQUIRE); i++) {
        if (bodies[i]->address == address) {
            return bodies[i];
        }
    }
    return NULL;
}

/** Those whose bodies decide by bytes that they need not have read, behind the most that they were told of. */
static SN_FAST bool looks_behind(work does) {
    enum { MOST_GIVEN = 1 << FIND | 1 << FIND_WIDE | 1 << LAST | 1 << LAST_WIDE | 1 << LENGTH_N | 1 << LENGTH_N_WIDE |
                        1 << COMPARE_STRINGS_N_WIDE | 1 << SPAN | 1 << SPAN_TO | 1 << COMPARE_STRINGS_N | 1 << COMPARE_LETTERS_N |
                        1 << COPY_STRING_N | 1 << APPEND_N };
    return MOST_GIVEN >> does & 1;
}

/** Some of these functions leave their work, by a jump, to one that has no name: known by its being reached in the frame of such a call,
    which the thread's slots hold, frame and call site. */
static sn_slot frame_slot, site_slot;
static struct {
    uint64_t items[MOST_BODIES];
    unsigned count;
} successors;

static SN_FAST void note_frame(sn_thread *thread, const sn_call_frame *frame) {
    if (frame != NULL) {
        *sn_slot_of(thread, frame_slot) = (uint64_t)(uintptr_t)frame;
        *sn_slot_of(thread, site_slot) = frame->site;
    }
}

static bool is_successor(uint64_t address) {
    for (unsigned i = 0; i < successors.count; i++) {
        if (successors.items[i] == address) {
            return true;
        }
    }
    sn_thread *thread = sn_running_thread();
    sn_call_frame *frame = thread != NULL ? sn_call_frame_of(thread) : NULL;
    bool is_here = frame != NULL && frame->target == address;
    while (is_here && frame != NULL && frame->site == 0) { /* what was jumped to lies above what jumped there */
        frame = sn_call_frame_below(frame);
    }
    bool goes_on = is_here && frame != NULL && (uint64_t)(uintptr_t)frame == *sn_slot_of(thread, frame_slot) &&
                   frame->site == *sn_slot_of(thread, site_slot);
    if (goes_on && successors.count < MOST_BODIES) {
        successors.items[successors.count++] = address;
    }
    return goes_on;
}

bool mc_strings_know(uint64_t address) { return known_body(address) != NULL || is_successor(address); }

bool mc_strings_look_behind(uint64_t address) {
    const body *known = known_body(address);
    return known != NULL ? looks_behind(known->of->does) : is_successor(address);
}

/* ----------------------------------------------------------------------------------- what a function will access */

#define STEP 256 /* bytes looked at before the next are asked for */

/** Where a range stops to be addressable; `most`: it does not. */
static SN_FAST uint64_t reach_of(uint64_t address, uint64_t most) {
    const sn_shadow_memory *shadow = mc_shadow;
    if (!sn_shadow_covers(address, 1)) {
        return 0;
    }
    if (!sn_shadow_covers(address, most)) {
        return most < STEP ? 0 : reach_of(address, STEP / 2);
    }
    return sn_shadow_find_other(shadow, address, address + most, 1) - address;
}

static SN_FAST void check_range(sn_thread *thread, const mc_site *of, uint64_t address, uint64_t size) {
    uint64_t good = size != 0 ? reach_of(address, size) : 0;
    if (good != size) {
        mc_checks_note(thread, of, address + good);
    }
}

/** Whether a byte ends the search. */
static SN_FAST bool stops(uint8_t byte, int wanted, bool at_end) { return byte == wanted || (at_end && byte == 0); }

/** How many bytes are read up to the one that ends the search; `*is_good` false if an unaddressable one comes first, which is told. */
static SN_FAST uint64_t check_search(sn_thread *thread, const mc_site *of, uint64_t from, uint64_t most, int wanted, bool at_end, bool *is_good) {
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)from;
    uint64_t done = 0;
    *is_good = true;
    while (done < most) {
        uint64_t step = most - done < STEP ? most - done : STEP, good = reach_of(from + done, step);
        for (uint64_t end = done + good; done < end; done++) {
            if (stops(bytes[done], wanted, at_end)) {
                return done + 1;
            }
        }
        if (good < step) {
            mc_checks_note(thread, of, from + done);
            *is_good = false;
            return done;
        }
    }
    return done;
}

/** Of a search for a byte that is of a set, or is not: how many bytes are read, the one that ends it among them. */
static SN_FAST uint64_t check_span(sn_thread *thread, const mc_site *of, uint64_t text, uint64_t set, uint64_t set_size, bool ends_in_set) {
    enum { BITS = 64 };
    volatile uint64_t members[256 / BITS]; /* no call of memset() is made of it */
    for (unsigned i = 0; i < 256 / BITS; i++) {
        members[i] = 0;
    }
    for (uint64_t i = 0; i < set_size; i++) {
        uint8_t byte = ((const uint8_t *)(uintptr_t)set)[i];
        members[byte / BITS] |= UINT64_C(1) << byte % BITS;
    }
    for (uint64_t done = 0;; done++) {
        if (reach_of(text + done, 1) == 0) {
            mc_checks_note(thread, of, text + done);
            return done;
        }
        uint8_t byte = ((const uint8_t *)(uintptr_t)text)[done];
        bool is_member = members[byte / BITS] >> byte % BITS & 1;
        if (byte == 0 || is_member == ends_in_set) {
            return done + 1;
        }
    }
}

#define WIDE 4 /* bytes of a wide character */
#define NO_LIMIT (UINT64_MAX / 2 / WIDE)

static SN_FAST uint32_t wide_at(uint64_t address) { return *(const uint32_t *)(uintptr_t)address; }

/** check_search() of wide characters: `most` counts them, what is returned are bytes. */
static SN_FAST uint64_t check_wide_search(sn_thread *thread, const mc_site *of, uint64_t from, uint64_t most, uint32_t wanted, bool at_end) {
    for (uint64_t done = 0; done / WIDE < most; done += WIDE) {
        uint64_t good = reach_of(from + done, WIDE);
        if (good < WIDE) {
            mc_checks_note(thread, of, from + done + good);
            return done;
        }
        uint32_t found = wide_at(from + done);
        if (found == wanted || (at_end && found == 0)) {
            return done + WIDE;
        }
    }
    return most * WIDE;
}

/** Both sides of a comparison of texts of wide characters: up to the first difference, or their end. */
static SN_FAST uint64_t check_wide_comparison(sn_thread *thread, const mc_site *of, uint64_t left, uint64_t right, uint64_t most) {
    for (uint64_t done = 0; done / WIDE < most; done += WIDE) {
        bool has_left = reach_of(left + done, WIDE) == WIDE, has_right = reach_of(right + done, WIDE) == WIDE;
        if (!has_left || !has_right) {
            mc_checks_note(thread, of, (has_left ? right : left) + done);
            return done;
        }
        if (wide_at(left + done) != wide_at(right + done) || wide_at(left + done) == 0) {
            return done + WIDE;
        }
    }
    return most * WIDE;
}

typedef enum comparison {
    BYTES,
    TEXT,    /**< ends behind a zero byte */
    LETTERS, /**< TEXT, large and small letters being one: those of ASCII, as libc uses no vectors where a locale has others */
} comparison;

static SN_FAST uint8_t small_letter(uint8_t byte) { return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte; }

static SN_FAST bool is_same(uint8_t left, uint8_t right, comparison how) {
    return left == right || (how == LETTERS && small_letter(left) == small_letter(right));
}

/** Both sides are read up to the first difference: how many bytes are. */
static SN_FAST uint64_t check_comparison(sn_thread *thread, const mc_site *of, uint64_t left, uint64_t right, uint64_t most, comparison how) {
    const uint8_t *a = (const uint8_t *)(uintptr_t)left, *b = (const uint8_t *)(uintptr_t)right;
    for (uint64_t done = 0; done < most;) {
        uint64_t step = most - done < STEP ? most - done : STEP;
        uint64_t good_left = reach_of(left + done, step), good_right = reach_of(right + done, step);
        uint64_t end = done + (good_left < good_right ? good_left : good_right);
        for (; done < end; done++) {
            if (!is_same(a[done], b[done], how) || (how != BYTES && a[done] == 0)) {
                return done + 1;
            }
        }
        if (good_left < step || good_right < step) {
            mc_checks_note(thread, of, (good_left <= good_right ? left : right) + done);
            return done;
        }
    }
    return most;
}

static SN_FAST bool overlap(uint64_t to, uint64_t written, uint64_t from, uint64_t read) {
    return written != 0 && read != 0 && to < from + read && from < to + written;
}

static SN_FAST void check_copy(sn_thread *thread, const body *of, const uint64_t *arguments, uint64_t to, uint64_t written, uint64_t read,
                               bool has_size) {
    check_range(thread, of->writes, to, written);
    if (of->overlap_is_wrong && overlap(to, written, arguments[1], read)) {
        mc_checks_note_overlap(thread, of->writes, arguments, has_size);
    }
}

static SN_FAST void check_string_copy(sn_thread *thread, const body *of, const uint64_t *arguments) {
    work does = of->of->does;
    bool has_size = does == COPY_STRING_N || does == APPEND_N, is_good;
    uint64_t most = has_size ? arguments[2] : UINT64_MAX / 2, to = arguments[0];
    if (does == APPEND || does == APPEND_N) {
        uint64_t length = check_search(thread, of->reads, to, UINT64_MAX / 2, 0, true, &is_good);
        if (has_size) {
            mc_definedness_look(thread, of->values, to, length);
        }
        if (!is_good) {
            return;
        }
        to += length - 1;
    }
    uint64_t read = check_search(thread, of->reads, arguments[1], most, 0, true, &is_good), written = read;
    if (has_size) {
        mc_definedness_look(thread, of->values, arguments[1], read);
    }
    if (!is_good) {
        return;
    }
    if (does == COPY_STRING_N) {
        written = arguments[2];
    } else if (does == APPEND_N && (read == 0 || ((const uint8_t *)(uintptr_t)arguments[1])[read - 1] != 0)) {
        written = read + 1;
    }
    check_copy(thread, of, arguments, to, written, read, has_size);
}

/** Of a function that looks behind, and copies nothing: the bytes read of its first argument. */
static SN_FAST uint64_t check_read(sn_thread *thread, const body *of, const uint64_t *arguments) {
    const mc_site *reads = of->reads;
    uint64_t size;
    bool is_good;
    switch (of->of->does) {
    case FIND:
        return check_search(thread, reads, arguments[0], arguments[2], (uint8_t)arguments[1], false, &is_good);
    case LAST:
        return check_search(thread, reads, arguments[0], UINT64_MAX / 2, 0, true, &is_good);
    case LENGTH_N:
        return check_search(thread, reads, arguments[0], arguments[1], 0, true, &is_good);
    case FIND_WIDE:
        return check_wide_search(thread, reads, arguments[0], arguments[2], (uint32_t)arguments[1], false);
    case LAST_WIDE:
        return check_wide_search(thread, reads, arguments[0], NO_LIMIT, 0, true);
    case LENGTH_N_WIDE:
        return check_wide_search(thread, reads, arguments[0], arguments[1], 0, true);
    case COMPARE_STRINGS_N_WIDE:
        return check_wide_comparison(thread, reads, arguments[0], arguments[1], arguments[2]);
    case COMPARE_STRINGS_N:
        return check_comparison(thread, reads, arguments[0], arguments[1], arguments[2], TEXT);
    case COMPARE_LETTERS_N:
        return check_comparison(thread, reads, arguments[0], arguments[1], arguments[2], LETTERS);
    default: /* SPAN, SPAN_TO */
        size = check_search(thread, reads, arguments[1], UINT64_MAX / 2, 0, true, &is_good);
        mc_definedness_look(thread, of->values, arguments[1], size);
        return check_span(thread, reads, arguments[0], arguments[1], size, of->of->does == SPAN_TO);
    }
}

/** What such a function has to read is looked at here, and its result has a value. */
static SN_FAST void look_at_search(sn_thread *thread, const body *of, const uint64_t *arguments) {
    work does = of->of->does;
    uint64_t size = check_read(thread, of, arguments);
    mc_definedness_look(thread, of->values, arguments[0], size);
    if (does == COMPARE_STRINGS_N_WIDE || does == COMPARE_STRINGS_N || does == COMPARE_LETTERS_N) {
        mc_definedness_look(thread, of->values, arguments[1], size);
    }
}

static SN_FAST bool body_begins(sn_thread *thread, sn_hooked_call *call) {
    const body *of = call->hook->data;
    const uint64_t *arguments = call->arguments;
    bool is_good, is_behind = looks_behind(of->of->does);
    if (is_behind) {
        note_frame(thread, call->frame);
    }
    switch (of->of->does) {
    case COPY:
        check_range(thread, of->reads, arguments[1], arguments[2]);
        check_copy(thread, of, arguments, arguments[0], arguments[2], arguments[2], true);
        break;
    case FILL:
        check_range(thread, of->writes, arguments[0], arguments[2]);
        break;
    case COMPARE:
        check_comparison(thread, of->reads, arguments[0], arguments[1], arguments[2], BYTES);
        break;
    case COMPARE_STRINGS:
        check_comparison(thread, of->reads, arguments[0], arguments[1], UINT64_MAX / 2, TEXT);
        break;
    case LENGTH:
        check_search(thread, of->reads, arguments[0], UINT64_MAX / 2, 0, true, &is_good);
        break;
    case CHARACTER:
        check_search(thread, of->reads, arguments[0], UINT64_MAX / 2, (uint8_t)arguments[1], true, &is_good);
        break;
    case COPY_STRING:
    case COPY_STRING_N:
    case APPEND:
    case APPEND_N:
        check_string_copy(thread, of, arguments);
        break;
    default:
        look_at_search(thread, of, arguments);
    }
    return is_behind;
}

/** What a function makes of what it was given has a value: that was looked at when it began. */
static SN_FAST void body_ends(sn_thread *thread, sn_hooked_call *call) {
    (void)call;
    mc_define_result(thread);
}

/* ----------------------------------------------------------------------------------------- finding the bodies */

static void add_body(const function *of, uint64_t address) {
    pthread_mutex_lock(&lock);
    body *made = known_body(address);
    bool is_new = made == NULL && body_count < MOST_BODIES;
    if (made != NULL) {
        made->overlap_is_wrong &= of->overlap_is_wrong; /* it has several names */
    } else if (is_new) {
        made = calloc(1, sizeof *made);
        if (made == NULL) {
            sn_fail(125, "memcheck: out of memory");
        }
        *made = (body){.of = of, .address = address, .overlap_is_wrong = of->overlap_is_wrong};
        made->reads = mc_checks_site(address, 1, false);
        made->writes = mc_checks_site(address, 1, true);
        made->values = mc_definedness_site(address);
        made->hook = (sn_hook){.address = address, .way = SN_HOOK_FAST, .begin = body_begins,
                               .end = looks_behind(of->does) ? body_ends : NULL, .data = made};
        bodies[body_count] = made;
        __atomic_store_n(&body_count, body_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    if (is_new) {
        mc_name_function(address, of->name);
        sn_hook_add(&made->hook);
    }
}

/** Who chooses is called: by its hook first, so that it is known what is chosen. */
static bool resolver_begins(sn_thread *thread, sn_hooked_call *call) {
    uint64_t chosen;
    if (!sn_hook_answer(call, &chosen)) {
        sn_hook_call(thread, call, sn_hook_function(call), call->arguments, 4);
        return false;
    }
    add_body(call->hook->data, chosen);
    sn_hook_return(call, chosen);
    return false;
}

void mc_strings_init(void) {
    frame_slot = sn_slot_new();
    site_slot = sn_slot_new();
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        resolvers[i] = (sn_hook){.function = functions[i].name, .module = "libc.so*", .resolvers = true, .way = SN_HOOK_SLOW,
                                 .begin = resolver_begins, .data = (void *)&functions[i]};
        sn_hook_add(&resolvers[i]);
    }
}
