/**
 * @fileoverview What is constant for records of values, by number: types, sites and segments. See values.h.
 *
 * Tables lie in pieces that never move: an entry is complete before its number is known to anybody, so that readers need no
 * lock.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "service/values.h"
#include "sonde/index.h"

enum { PIECE = SN_VALUES_PIECE, PIECES = SN_VALUES_PIECES };

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for what is known of values");
    return memory;
}

/* ------------------------------------------------------------------------ types */

const char *sn_value_type_name(sn_value_type type) {
    static const char *const names[] = {
        [SN_VALUE_INT8] = "int8", [SN_VALUE_INT16] = "int16", [SN_VALUE_INT32] = "int32", [SN_VALUE_INT64] = "int64",
        [SN_VALUE_INT128] = "int 128", [SN_VALUE_INT256] = "int 256", [SN_VALUE_INT512] = "int 512",
        [SN_VALUE_HALF] = "half", [SN_VALUE_HALF_128] = "half 128", [SN_VALUE_HALF_256] = "half 256",
        [SN_VALUE_HALF_512] = "half 512",
        [SN_VALUE_SINGLE] = "single", [SN_VALUE_SINGLE_128] = "single 128", [SN_VALUE_SINGLE_256] = "single 256",
        [SN_VALUE_SINGLE_512] = "single 512",
        [SN_VALUE_DOUBLE] = "double", [SN_VALUE_DOUBLE_128] = "double 128", [SN_VALUE_DOUBLE_256] = "double 256",
        [SN_VALUE_DOUBLE_512] = "double 512",
        [SN_VALUE_EXTENDED] = "extended", [SN_VALUE_OTHER] = "other",
    };
    return type < SN_VALUE_TYPES ? names[type] : "unknown";
}

/** Position of a power of two among 1, 2, 4 ... 64; -1: another number. */
static int power_of(uint32_t size) {
    return size && size <= 64 && !(size & (size - 1)) ? __builtin_ctz(size) : -1;
}

sn_value_type sn_value_type_of(uint32_t size, uint32_t element_size, bool is_float) {
    static const uint8_t scalars[] = {[1] = SN_VALUE_HALF, [2] = SN_VALUE_SINGLE, [3] = SN_VALUE_DOUBLE};
    int power = power_of(size), element = power_of(element_size);
    if (is_float && size == 10) return SN_VALUE_EXTENDED;
    if (power < 0) return SN_VALUE_OTHER;
    if (!is_float) return (sn_value_type)(SN_VALUE_INT8 + power);
    if (element < 1 || element > 3) return SN_VALUE_OTHER;
    if (size == element_size) return scalars[element];
    return power >= 4 ? (sn_value_type)(scalars[element] + power - 3) : SN_VALUE_OTHER;
}

/* ------------------------------------------------------------------------ sites */

static sn_value_site *site_pieces[PIECES];
static uint32_t site_count;
static sn_lock lock;

static sn_index sites_by_content;

const sn_value_site *sn_value_site_at(uint32_t number) { return &site_pieces[number / PIECE][number % PIECE]; }

static uint64_t hash_of(const sn_value_site *site) {
    return sn_hash_combine(site->instruction, site->operand ^ (uint64_t)site->moment << 8 ^ (uint64_t)site->size << 16);
}

static uint32_t add_site(const sn_value_site *like) {
    uint32_t number = site_count;
    if (number == SN_VALUES_NUMBERS || number / PIECE == PIECES)
        sn_fail(SN_STATUS_ENGINE, "values of more than %u operands are wanted", number);
    if (number % PIECE == 0) site_pieces[number / PIECE] = allocate(PIECE, sizeof(sn_value_site));
    memcpy(&site_pieces[number / PIECE][number % PIECE], like, sizeof *like);
    site_count = number + 1;
    return number;
}

static uint32_t number_of(const sn_value_site *like) {
    uint64_t hash = hash_of(like);
    uint32_t number;
    sn_index_each(&sites_by_content, hash, number)
        if (!memcmp(sn_value_site_at(number), like, sizeof *like)) return number;
    number = add_site(like);
    sn_index_add(&sites_by_content, hash, number);
    return number;
}

uint32_t sn_value_site_number(const sn_value_site *like) {
    sn_lock_acquire(&lock);
    uint32_t number = number_of(like);
    sn_lock_release(&lock);
    return number;
}

sn_value_site sn_value_site_of(const sn_instruction *instruction, const sn_operand *operand, unsigned number, uint8_t moment,
                               uint32_t size, uint64_t information) {
    sn_value_site site;
    memset(&site, 0, sizeof site); /* with the bytes between its members: they are compared */
    uint32_t element = operand->element_size && operand->element_size <= size ? operand->element_size : size;
    site.instruction = instruction->address;
    site.instruction_length = instruction->length;
    site.information = information;
    site.size = size;
    site.element_size = (uint16_t)element;
    site.element_count = (uint16_t)(element ? size / element : 0);
    site.type = (uint8_t)sn_value_type_of(size, element, operand->is_float);
    site.moment = moment;
    site.place = operand->place;
    site.reg = operand->reg;
    site.operand = (uint8_t)number;
    site.is_float = operand->is_float;
    site.is_return = instruction->kind == SN_KIND_RETURN && operand->place == SN_PLACE_MEMORY;
    return site;
}

/* --------------------------------------------------------------------- segments */

sn_value_segment *sn_value_segment_pieces[PIECES];
_Atomic uint32_t sn_value_segment_count;

sn_value_segment *sn_value_segment_new(void) {
    uint32_t number = sn_value_segment_count;
    if (number / PIECE == PIECES) sn_fail(SN_STATUS_ENGINE, "values are recorded in more than %u pieces of code", number);
    if (number % PIECE == 0) sn_value_segment_pieces[number / PIECE] = allocate(PIECE, sizeof(sn_value_segment));
    sn_value_segment *segment = &sn_value_segment_pieces[number / PIECE][number % PIECE];
    segment->number = number;
    sn_value_segment_count = number + 1;
    return segment;
}

void sn_value_segment_add(sn_value_segment *segment, uint32_t site, uint8_t moment, unsigned words) {
    uint32_t count = segment->count;
    if (!(count & (count - 1))) { /* room doubles */
        size_t room = count ? 2 * (size_t)count : 1;
        segment->records = realloc(segment->records, room * sizeof *segment->records);
        segment->words = realloc(segment->words, room);
        segment->offsets = realloc(segment->offsets, room * sizeof *segment->offsets);
        if (!segment->records || !segment->words || !segment->offsets)
            sn_fail(SN_STATUS_ENGINE, "no memory for what is known of values");
    }
    const sn_value_site *known = sn_value_site_at(site);
    segment->records[count] = (sn_value_record){.site = site, .spot = count, .size = (uint16_t)known->size,
                                                .type = known->type & 127, .moment = moment & 15, .place = known->place & 15,
                                                .is_return = known->is_return};
    segment->words[count] = (uint8_t)words;
    segment->offsets[count] = (uint16_t)segment->total_words;
    segment->total_words += words;
    segment->count = count + 1;
}

static void *trimmed(void *memory, size_t size) {
    void *smaller = size ? realloc(memory, size) : memory;
    return smaller ? smaller : memory;
}

void sn_value_segments_trim(uint32_t first) {
    for (uint32_t number = first; number < sn_value_segment_count; number++) {
        sn_value_segment *segment = &sn_value_segment_pieces[number / PIECE][number % PIECE];
        segment->records = trimmed(segment->records, segment->count * sizeof *segment->records);
        segment->words = trimmed(segment->words, segment->count);
        segment->offsets = trimmed(segment->offsets, segment->count * sizeof *segment->offsets);
        segment->exits = trimmed(segment->exits, segment->exit_count * sizeof *segment->exits);
    }
}

void sn_value_segment_may_end(sn_value_segment *segment) {
    uint32_t count = segment->exit_count;
    if (!segment->count || (count && segment->exits[count - 1].count == segment->count)) return;
    if (!(count & (count - 1))) { /* room doubles */
        segment->exits = realloc(segment->exits, (count ? 2 * (size_t)count : 1) * sizeof *segment->exits);
        if (!segment->exits) sn_fail(SN_STATUS_ENGINE, "no memory for what is known of values");
    }
    segment->exits[count] = (sn_value_exit){segment->count, segment->total_words};
    segment->exit_count = count + 1;
}
