/**
 * @fileoverview The passes with vectors of 512 bits. See passes.h. Per-architecture file.
 */
#include <immintrin.h>

#include "../passes.h"
#include "../words.h"

#define VECTORS __attribute__((target("avx512f,avx512dq,avx512vl,bmi,popcnt")))

enum { WIDTH = CACHE_LEVEL_VECTOR };

/** What is the same for all words of a piece. */
typedef struct splitting {
    __m512i line, in_line, size, usual, address;
    __m128i shift;
} splitting;

/** How far splitting has come. */
typedef struct split_counts {
    uint32_t references, tags, spanning;
} split_counts;

/** Seldom: of the references in a vector of words, some may span lines. */
static __attribute__((noinline)) VECTORS uint32_t note_spanning(cache_piece *piece, uint32_t may_span, uint32_t is_reference,
                                                                uint32_t references, uint32_t spanning) {
    for (; may_span != 0; may_span &= may_span - 1) {
        uint32_t before = is_reference & ((may_span & -may_span) - 1);
        piece->spanning[spanning++] = references + (uint32_t)__builtin_popcount(before);
    }
    return spanning;
}

/** Those of the words from `at` on that are valid. */
static inline __attribute__((always_inline)) VECTORS void split_vector(cache_piece *piece, const splitting *splitting,
                                                                       __m512i word, uint32_t valid, uint32_t at,
                                                                       split_counts *counts) {
    const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __mmask8 tag_mask = _mm512_movepi64_mask(word); /* CACHE_WORD_IS_TAG */
    uint32_t is_tag = tag_mask & valid, is_reference = ~(uint32_t)tag_mask & valid;
    __m512i size = _mm512_mask_mov_epi64(_mm512_srli_epi64(word, CACHE_WORD_SIZE_SHIFT),
                                         _mm512_testn_epi64_mask(word, splitting->size), splitting->usual);
    __m512i end = _mm512_add_epi64(_mm512_and_si512(word, splitting->in_line), size);
    __mmask8 may_span = _mm512_mask_cmpgt_epu64_mask((__mmask8)is_reference, end, splitting->line);
    __m512i lines = _mm512_srl_epi64(_mm512_and_si512(word, splitting->address), splitting->shift);
    __m256i places = _mm256_add_epi32(steps, _mm256_set1_epi32((int)at));
    _mm512_storeu_si512(piece->lines + counts->references, _mm512_maskz_compress_epi64((__mmask8)is_reference, lines));
    _mm256_storeu_si256((__m256i *)(piece->places + counts->tags), _mm256_maskz_compress_epi32((__mmask8)is_tag, places));
    if (__builtin_expect(may_span != 0, 0)) {
        counts->spanning = note_spanning(piece, may_span, is_reference, counts->references, counts->spanning);
    }
    counts->references += (uint32_t)__builtin_popcount(is_reference);
    counts->tags += (uint32_t)__builtin_popcount(is_tag);
}

static VECTORS void split(cache_piece *piece, const uint64_t *words, uint32_t count, uint32_t line_shift) {
    const splitting splitting = {
        .line = _mm512_set1_epi64(1 << line_shift),
        .in_line = _mm512_set1_epi64((1 << line_shift) - 1),
        .size = _mm512_set1_epi64((int64_t)CACHE_WORD_SIZE_MASK << CACHE_WORD_SIZE_SHIFT),
        .usual = _mm512_set1_epi64(CACHE_WORD_USUAL_SIZE),
        .address = _mm512_set1_epi64((int64_t)cache_word_address(UINT64_MAX)),
        .shift = _mm_cvtsi32_si128((int)line_shift),
    };
    split_counts counts = {.tags = piece->tag_count};
    uint32_t at = 0;
    for (; at + WIDTH <= count; at += WIDTH) {
        split_vector(piece, &splitting, _mm512_loadu_si512(words + at), 0xff, at, &counts);
    }
    if (at < count) {
        __mmask8 valid = (__mmask8)((1u << (count - at)) - 1);
        split_vector(piece, &splitting, _mm512_maskz_loadu_epi64(valid, words + at), valid, at, &counts);
    }
    piece->places[counts.tags] = (int32_t)count;
    piece->tag_count = counts.tags;
    piece->reference_count = counts.references;
    piece->spanning_count = counts.spanning;
}

static VECTORS uint32_t collect(const uint8_t *marks, uint32_t from, uint32_t to, uint32_t *numbers) {
    const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(marks + i));
        uint32_t marked = (uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_setzero_si128()));
        marked &= to - i >= 16 ? 0xffff : (1u << (to - i)) - 1;
        __m512i all = _mm512_add_epi32(steps, _mm512_set1_epi32((int)i));
        _mm512_storeu_si512(numbers + count, _mm512_maskz_compress_epi32((__mmask16)marked, all));
        count += (uint32_t)__builtin_popcount(marked);
    }
    return count;
}

/** Use of sets of up to 8 ways. In a set all places up to that of the line, or all if it is not there, get what was in the
    place before, the first one the line itself. */
static VECTORS uint32_t use_one(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count,
                                uint32_t *missed) {
    const uint32_t ways = (1u << level->ways) - 1;
    uint32_t misses = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = lines[numbers[i]], *set = cache_level_set(level, line);
        __m512i tag = _mm512_set1_epi64((int64_t)line + 1), old = _mm512_load_si512(set);
        uint32_t found = _mm512_cmpeq_epi64_mask(old, tag);
        uint32_t moving = (found ^ (found - 1)) & ways;
        __m512i moved = _mm512_alignr_epi64(old, tag, WIDTH - 1);
        _mm512_store_si512(set, _mm512_mask_mov_epi64(old, (__mmask8)moving, moved));
        missed[misses] = numbers[i];
        misses += found == 0;
    }
    return misses;
}

/** The same for sets of up to 16 ways. */
static VECTORS uint32_t use_two(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count,
                                uint32_t *missed) {
    const uint32_t ways = (1u << level->ways) - 1;
    uint32_t misses = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = lines[numbers[i]], *set = cache_level_set(level, line);
        __m512i tag = _mm512_set1_epi64((int64_t)line + 1);
        __m512i old = _mm512_load_si512(set), behind = _mm512_load_si512(set + level->next_vector);
        uint32_t found = _mm512_cmpeq_epi64_mask(old, tag) | (uint32_t)_mm512_cmpeq_epi64_mask(behind, tag) << WIDTH;
        uint32_t moving = (found ^ (found - 1)) & ways;
        __m512i moved = _mm512_alignr_epi64(old, tag, WIDTH - 1), moved_behind = _mm512_alignr_epi64(behind, old, WIDTH - 1);
        _mm512_store_si512(set, _mm512_mask_mov_epi64(old, (__mmask8)moving, moved));
        _mm512_store_si512(set + level->next_vector, _mm512_mask_mov_epi64(behind, (__mmask8)(moving >> WIDTH), moved_behind));
        missed[misses] = numbers[i];
        misses += found == 0;
    }
    return misses;
}

/** The same for any number of ways, vector by vector: from each, the last tag moves to the next one. Behind an empty place,
    all are. */
static VECTORS bool use_line(cache_level *level, uint64_t line) {
    uint64_t *set = cache_level_set(level, line);
    if (*set == line + 1) {
        return true;
    }
    const __m512i tag = _mm512_set1_epi64((int64_t)line + 1);
    __m512i before = tag;
    for (uint32_t way = 0; way < level->ways; way += WIDTH) {
        uint32_t left = level->ways - way, ways = left >= WIDTH ? 0xff : (1u << left) - 1;
        __m512i old = _mm512_load_si512(set);
        uint32_t found = _mm512_cmpeq_epi64_mask(old, tag);
        uint32_t moving = (found ^ (found - 1)) & ways;
        __m512i moved = _mm512_alignr_epi64(old, before, WIDTH - 1);
        _mm512_store_si512(set, _mm512_mask_mov_epi64(old, (__mmask8)moving, moved));
        if (found != 0 || _mm512_cmpeq_epi64_mask(old, _mm512_setzero_si512()) != 0) {
            return found != 0;
        }
        before = old;
        set += level->next_vector;
    }
    return false;
}

static VECTORS uint32_t use_many(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count,
                                 uint32_t *missed) {
    uint32_t misses = 0;
    for (uint32_t i = 0; i < count; i++) {
        missed[misses] = numbers[i];
        misses += !use_line(level, lines[numbers[i]]);
    }
    return misses;
}

const cache_passes *cache_passes_best(uint32_t ways) {
    static const cache_passes few = {
        .split = split, .collect = collect, .use = cache_passes_plain_use, .use_line = cache_passes_plain_use_line};
    static const cache_passes one = {.split = split, .collect = collect, .use = use_one, .use_line = use_line};
    static const cache_passes two = {.split = split, .collect = collect, .use = use_two, .use_line = use_line};
    static const cache_passes many = {.split = split, .collect = collect, .use = use_many, .use_line = use_line};
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("bmi")) {
        return &cache_passes_plain;
    }
    if (ways < CACHE_LEVEL_FEW) {
        return &few;
    }
    return ways <= WIDTH ? &one : ways <= 2 * WIDTH ? &two : &many;
}
