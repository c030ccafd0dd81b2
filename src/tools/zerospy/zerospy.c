/**
 * @fileoverview The tool `zerospy`: loads of zeros. Which instruction, in which calling context, loads values that are zero,
 * or integers that are wider than what is in them; what narrower type, or sparse structure, would do.
 *
 * On <sonde/values.h>: loads are added up by spot, without looking anything up. Of scalars, which are most of them, only what
 * can't be worked out at the end.
 */
#include <sonde/value_report.h>
#include <sonde/vector.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

#define INLINE static inline __attribute__((always_inline))

/* -------------------------------------------------------------------- what is counted */

/** Of one spot. */
typedef struct zero_tally {
    uint64_t zeros;  /**< loads of which all of the value is zero */
    uint64_t within; /**< of scalar integers: high-order zero bytes of the word that the value was extended to; of vectors and the
                          like: zero elements; not of scalar floating-point numbers */
    uint64_t seen;   /**< scalars: bits that were set once; else bit N: byte N of the value was not zero once */
} zero_tally;

/** What follows from it. */
typedef struct zero_sums {
    uint64_t zeros, zero_bytes, zero_elements;
    uint64_t seen; /**< bit N: byte N of the value was not zero once */
} zero_sums;

enum {
    TOTAL_BYTES, TOTAL_ZERO_BYTES, TOTAL_INTEGER_BYTES, TOTAL_INTEGER_ZERO_BYTES, TOTAL_FLOAT_BYTES, TOTAL_FLOAT_ZERO_BYTES,
    TOTAL_VALUES, TOTAL_ZEROS,
};
enum { CLASS_INTEGER, CLASS_FLOAT };
enum { MOST_WORDS = 4 }; /* of vectors that have code of their own */

typedef struct zero_state {
    SN_VECTOR(zero_tally) tallies; /**< by spot */
    uint64_t totals[SN_REPORT_TOTALS];
} zero_state;

/* -------------------------------------------------------------------------- values */

static uint64_t word_at(const void *value, unsigned offset) {
    uint64_t word;
    memcpy(&word, (const char *)value + offset, sizeof word);
    return word;
}

/** Bit N: byte N of a word is not zero. */
static uint64_t bytes_seen(uint64_t word) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t high_bits = (((word & low) + low) | word) & ~low; /* of each byte: whether it is not zero */
    return (high_bits >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/** Integers of one element: 8 bytes at most. Zero-extended words. */
INLINE void take_integers(zero_tally *tally, const uint64_t *value, uint32_t stride, uint32_t times) {
    uint64_t zeros = 0, zero_bytes = 0, seen = 0;
    for (; times; times--, value += stride) {
        unsigned is_zero = *value == 0;
        zeros += is_zero;
        zero_bytes += (unsigned)__builtin_clzll(*value | 1) / 8 + is_zero;
        seen |= *value;
    }
    tally->zeros += zeros;
    tally->within += zero_bytes;
    if (seen & ~tally->seen) tally->seen |= seen;
}

/** Floating-point numbers, of which both zeros are zero: `shift` takes away the sign. */
INLINE void take_numbers(zero_tally *tally, const uint64_t *value, uint32_t stride, uint32_t times, unsigned shift) {
    uint64_t zeros = 0, seen = 0;
    for (; times; times--, value += stride) {
        zeros += *value << shift == 0;
        seen |= *value;
    }
    if (zeros) tally->zeros += zeros;
    if (seen & ~tally->seen) tally->seen |= seen;
}

/** Bytes of a word of which the highest bit, which alone may be set, is. */
INLINE unsigned count_bytes(uint64_t highest) { return (unsigned)((highest >> 7) * UINT64_C(0x0101010101010101) >> 56); }

/** Elements of a word that are zero. Floating point: `sign` is 1, and both zeros are zero. `element`, too, is a constant. */
INLINE unsigned zero_elements(uint64_t word, unsigned element, unsigned sign) {
    if (element == 8) return word << sign == 0;
    if (element == 4) return ((uint32_t)word << sign == 0) + ((uint32_t)(word >> 32) << sign == 0);
    const uint64_t highest = element == 2 ? UINT64_C(0x8000800080008000) : UINT64_C(0x8080808080808080);
    if (sign) word &= ~highest;
    return count_bytes(~(((word & ~highest) + ~highest) | word) & highest);
}

/** Vectors of so many words. All but the first two are constants. */
INLINE void take_vectors(zero_tally *tally, const uint64_t *value, const sn_value_run *run, unsigned words, unsigned element,
                         unsigned sign) {
    uint64_t seen[MOST_WORDS] = {0}, zeros = 0, whole = 0;
    for (uint32_t times = run->times; times; times--, value += run->stride) {
        unsigned these = 0;
        for (unsigned i = 0; i < words; i++) {
            seen[i] |= value[i];
            these += zero_elements(value[i], element, sign);
        }
        zeros += these;
        whole += these * element == words * 8;
    }
    tally->within += zeros;
    tally->zeros += whole;
    for (unsigned i = 0; i < words; i++)
        if ((tally->seen >> 8 * i & 0xff) != 0xff) tally->seen |= bytes_seen(seen[i]) << 8 * i;
}

INLINE void take_vectors_of(zero_tally *tally, const uint64_t *value, const sn_value_run *run, unsigned words,
                            unsigned element) {
    switch (element) {
    case 1: return take_vectors(tally, value, run, words, 1, 0);
    case 2: return take_vectors(tally, value, run, words, 2, 0);
    case 4: return take_vectors(tally, value, run, words, 4, 0);
    default: return take_vectors(tally, value, run, words, 8, 0);
    }
}

static bool is_zero_element(const unsigned char *element, unsigned size, bool is_float) {
    unsigned char any = 0;
    for (unsigned i = 0; i + 1 < size; i++) any |= element[i];
    return !any && !(element[size - 1] & (is_float ? 0x7f : 0xff));
}

/** Bytes of an element. */
static unsigned element_of(const sn_value_site *site) {
    return site->element_size && site->size % site->element_size == 0 ? site->element_size : site->size;
}

static void take_elements(zero_tally *tally, const void *value, const sn_value_site *site, unsigned size) {
    unsigned element = element_of(site), zeros = 0;
    for (unsigned at = 0; at + element <= size; at += element)
        zeros += is_zero_element((const unsigned char *)value + at, element, site->is_float);
    tally->within += zeros;
    tally->zeros += zeros * element == size;
    for (unsigned at = 0; at < size; at += 8)
        if ((tally->seen >> at & 0xff) != 0xff) tally->seen |= bytes_seen(word_at(value, at)) << at;
}

/** Values of any size and type. */
static __attribute__((noinline)) void take_others(zero_tally *tally, const uint64_t *value, const sn_value_site *site,
                                                  const sn_value_run *run, unsigned size) {
    unsigned element = site->element_size;
    bool is_usual = !site->is_float && size == 16 && element && element <= 8 && !(element & (element - 1));
    if (is_usual) return take_vectors_of(tally, value, run, 2, element);
    for (uint32_t i = 0; i < run->times; i++, value += run->stride) take_elements(tally, value, site, size);
}

/** All executions of one record. */
static void take_column(zero_tally *tally, const sn_value_record *record, const uint64_t *value, const sn_value_run *run) {
    switch (record->type) {
    case SN_VALUE_INT8: case SN_VALUE_INT16: case SN_VALUE_INT32: case SN_VALUE_INT64:
        return take_integers(tally, value, run->stride, run->times);
    case SN_VALUE_SINGLE: return take_numbers(tally, value, run->stride, run->times, 33);
    case SN_VALUE_DOUBLE: return take_numbers(tally, value, run->stride, run->times, 1);
    case SN_VALUE_SINGLE_128: return take_vectors(tally, value, run, 2, 4, 1);
    case SN_VALUE_DOUBLE_128: return take_vectors(tally, value, run, 2, 8, 1);
    case SN_VALUE_SINGLE_256: return take_vectors(tally, value, run, 4, 4, 1);
    case SN_VALUE_DOUBLE_256: return take_vectors(tally, value, run, 4, 8, 1);
    default: return take_others(tally, value, sn_value_site_at(record->site), run, record->size);
    }
}

static bool is_scalar(const sn_value_site *site) {
    return site->type <= SN_VALUE_INT64 || site->type == SN_VALUE_SINGLE || site->type == SN_VALUE_DOUBLE;
}

static zero_sums sums_of(const zero_tally *tally, const sn_value_site *site, uint64_t values) {
    zero_sums sums = {.zeros = tally->zeros, .zero_elements = tally->within, .seen = tally->seen};
    if (is_scalar(site)) {
        sums.zero_elements = tally->zeros;
        sums.zero_bytes = site->is_float ? tally->zeros * site->size : tally->within - values * (8 - site->size);
        sums.seen = bytes_seen(tally->seen);
    } else {
        sums.zero_bytes = tally->within * element_of(site);
    }
    return sums;
}

/** For data objects: execution by execution, each with what it adds. */
static void note_objects(const zero_state *state, const sn_value_run *run, const sn_value_record *record, const uint64_t *word) {
    const sn_value_site *site = sn_value_site_at(record->site);
    for (uint32_t i = 0; i < run->times; i++, word += run->stride) {
        zero_tally tally = {0};
        sn_value_run once = *run;
        once.times = 1;
        take_column(&tally, record, word + 1, &once);
        uint64_t zero_bytes = sums_of(&tally, site, 1).zero_bytes;
        if (zero_bytes) sn_value_objects_note(state, *word, zero_bytes);
    }
}

static void note_run(const zero_state *state, const sn_value_run *run) {
    const uint64_t *word = run->words;
    for (uint32_t k = 0; k < run->count; word += run->word_counts[k++])
        note_objects(state, run, &run->constants[k], word);
}

/** One execution. Scalars, which are most, are looked at without a loop: of what rarely changes nothing is written. */
static void take_once(zero_tally *tally, const sn_value_run *run) {
    const uint64_t *word = run->words;
    const uint8_t *words = run->word_counts;
    for (const sn_value_record *record = run->constants, *end = record + run->count; record < end; record++, tally++) {
        uint64_t value = word[1];
        unsigned is_zero = value == 0;
        if (record->type <= SN_VALUE_INT64) {
            tally->zeros += is_zero;
            tally->within += (unsigned)__builtin_clzll(value | 1) / 8 + is_zero;
            if (value & ~tally->seen) tally->seen |= value;
        } else if (record->type == SN_VALUE_DOUBLE) {
            if (value << 1 == 0) tally->zeros++;
            if (value & ~tally->seen) tally->seen |= value;
        } else {
            take_column(tally, record, word + 1, run);
        }
        word += *words++;
    }
}

static void take_columns(zero_tally *tally, const sn_value_run *run) {
    const uint64_t *word = run->words;
    for (uint32_t k = 0; k < run->count; word += run->word_counts[k++]) take_column(tally++, &run->constants[k], word + 1, run);
}

static void take_runs(const sn_values_run_batch *batch) {
    zero_state *state = batch->state;
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        uint32_t first = run->first_spot + run->constants->spot; /* the others follow it */
        sn_vector_extend(&state->tallies, (size_t)first + run->count);
        if (run->times == 1) take_once(&state->tallies.items[first], run);
        else take_columns(&state->tallies.items[first], run);
        if (sn_values_data_centric) note_run(state, run);
    }
}

/* -------------------------------------------------------------------------- report */

static void add_spot(void *its, uint32_t spot, const sn_value_site *site, uint64_t values) {
    zero_state *state = its;
    if (spot >= state->tallies.count) return;
    const zero_sums sums = sums_of(&state->tallies.items[spot], site, values);
    unsigned kind = site->is_float ? TOTAL_FLOAT_BYTES : TOTAL_INTEGER_BYTES;
    uint64_t bytes = values * site->size, *totals = state->totals;
    totals[TOTAL_BYTES] += bytes;
    totals[kind] += bytes;
    totals[TOTAL_ZERO_BYTES] += sums.zero_bytes;
    totals[kind + 1] += sums.zero_bytes;
    totals[TOTAL_VALUES] += values;
    totals[TOTAL_ZEROS] += sums.zeros;
    if (!sums.zero_bytes) return; /* there are many of these */
    const sn_finding finding = {.key = {spot, 0, site->is_float ? CLASS_FLOAT : CLASS_INTEGER},
                                .amounts = {sums.zero_bytes, sums.zeros, values, sums.zero_elements}, .bits = sums.seen};
    sn_report_finding(state, &finding);
}

static void finish(void *its, int thread) {
    zero_state *state = its;
    sn_values_visit_spots(state, add_spot);
    sn_report_add(state, thread, state->totals, NULL);
    sn_vector_release(&state->tallies);
    *state = (zero_state){0};
}

/** The byte map, highest byte first, and what would do. */
static void remark(const sn_finding *finding, const sn_value_site *site, char *text, size_t size) {
    char map[SN_REPORT_TOTALS * 8];
    unsigned bytes = site->size < 64 ? site->size : 64, used = 0;
    for (unsigned i = 0; i < bytes; i++) {
        bool seen = finding->bits >> i & 1;
        map[bytes - 1 - i] = seen ? 'x' : '0';
        if (seen) used = i + 1;
    }
    map[bytes] = '\0';
    uint64_t elements = finding->amounts[2] * (site->element_count ? site->element_count : 1);
    unsigned narrower = used <= 1 ? 1 : used <= 2 ? 2 : used <= 4 ? 4 : 8;
    bool is_scalar_integer = !site->is_float && site->size <= 8;
    const char *sparse = finding->amounts[3] * 10 >= elements * 9 ? ": mostly zero, a sparse structure would do" : "";
    if (is_scalar_integer && used && narrower < site->size)
        snprintf(text, size, "bytes (high to low) %s: %u bits would do%s", map, 8 * narrower, sparse);
    else
        snprintf(text, size, "bytes (high to low) %s%s", map, sparse);
}

static const sn_report_form form = {
    .tool = "zerospy",
    .title = "loads of zeros",
    .totals = {"bytes loaded", "zero bytes", "integer bytes loaded", "integer zero bytes", "floating-point bytes loaded",
               "floating-point zero bytes", "values loaded", "values that are zero"},
    .base = {0, TOTAL_BYTES + 1, 0, TOTAL_INTEGER_BYTES + 1, 0, TOTAL_FLOAT_BYTES + 1, 0, TOTAL_VALUES + 1},
    .amounts = {"zero bytes", "zeros", "values", "zero elements"},
    .classes = {{"integer", "Integers, by zero bytes", "loaded", NULL, TOTAL_INTEGER_ZERO_BYTES},
                {"float", "Floating point, by zero bytes", "loaded", NULL, TOTAL_FLOAT_ZERO_BYTES}},
    .remark = remark,
};

static const sn_option options[] = {SN_REPORT_OPTIONS, SN_VALUES_OPTIONS, {0}};

static void start(void) {
    sn_values_start(&(sn_values_request){.places = SN_VALUES_MEMORY, .moments = SN_VALUES_READ,
                                         .parts = SN_VALUES_BYTES | SN_VALUES_CONTEXT, .state_size = sizeof(zero_state),
                                         .take_runs = take_runs, .finish = finish});
}

static void end(void) {
    sn_values_end();
    sn_report_print(&form);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "zerospy",
    .version = "1",
    .description = "loads of zeros, and of integers wider than their values",
    .options = options,
    .start = start,
    SN_VALUES_CALLBACKS,
    .end = end,
};
