/**
 * @fileoverview The passes with vectors of 512 bits. See passes.h. Per-architecture file.
 */
#include <immintrin.h>
#include <string.h>

#include "../passes.h"
#include "../words.h"

#define VECTORS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt")))

enum { WIDTH = CACHE_LEVEL_VECTOR };

/** What is the same for all words of a piece. */
typedef struct splitting {
    __m512i address, in_line, usual, telling;
    __m128i shift;
    uint64_t line;
} splitting;

/** How far splitting has come. */
typedef struct split_counts {
    uint32_t references, tags;
} split_counts;

/** What is made of words that are split together, as bits. */
typedef struct split_marks {
    uint32_t references, spanning;
} split_marks;

/** Some of these words, the first of whose references has that number, may span lines. Of those that vary, nothing was asked yet. */
static VECTORS void note_spanning(cache_piece *piece, const uint64_t *words, split_marks marks, uint32_t first, uint64_t line) {
    for (; marks.spanning != 0; marks.spanning &= marks.spanning - 1) {
        uint64_t word = words[__builtin_ctz(marks.spanning)];
        uint32_t before = marks.references & ((marks.spanning & -marks.spanning) - 1);
        piece->spanning[piece->spanning_count] = first + (uint32_t)__builtin_popcount(before);
        piece->spanning_count += (word & (line - 1)) + cache_word_size(word) > line;
    }
}

/** Those of the words from `at` on that are valid. Returns what tells which references may span lines: of each, the bytes of its place
    in the line and of its size added up, and its role. If there are other bits in the sum than there may be in a place, it may; and
    so may all that have a role. */
static inline __attribute__((always_inline)) VECTORS __m512i split_vector(cache_piece *piece, const splitting *splitting,
                                                                          __m512i word, __mmask8 valid, uint32_t at,
                                                                          split_counts *counts, uint32_t *references) {
    enum { AND_THEN_XOR = 0x6a };
    const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __mmask8 is_tag = _mm512_movepi64_mask(word); /* CACHE_WORD_IS_TAG */
    __mmask8 is_reference = _kandn_mask8(is_tag, valid);
    __m512i lines = _mm512_srl_epi64(_mm512_and_si512(word, splitting->address), splitting->shift);
    __m512i parts = _mm512_ternarylogic_epi64(word, splitting->in_line, splitting->usual, AND_THEN_XOR);
    __m512i end = _mm512_sad_epu8(parts, _mm512_setzero_si512());
    _mm512_storeu_si512(piece->lines + counts->references, _mm512_maskz_compress_epi64(is_reference, lines));
    _mm256_storeu_si256((__m256i *)(piece->places + counts->tags),
                        _mm256_maskz_compress_epi32(is_tag, _mm256_add_epi32(steps, _mm256_set1_epi32((int)at))));
    *references = (uint32_t)_cvtmask8_u32(is_reference);
    counts->references += (uint32_t)__builtin_popcount(*references);
    counts->tags += WIDTH - (uint32_t)__builtin_popcount(*references);
    return _mm512_maskz_or_epi64(is_reference, end, parts);
}

/** Four vectors of words. Whether any of them may span a line is asked once for all: it takes few of the processor's steps for
    vectors, of which it does but two at a time. Before, each vector was asked: that took 1.1 times as long where lines are seldom
    spanned. */
static inline __attribute__((always_inline)) VECTORS void split_four(cache_piece *piece, const splitting *splitting,
                                                                     const uint64_t *words, uint32_t at, split_counts *counts) {
    enum { FOUR = 4 };
    const uint32_t first = counts->references;
    split_marks marks = {0};
    __m512i told[FOUR], all = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (uint32_t i = 0; i < FOUR; i++) {
        uint32_t references, begin = at + i * WIDTH;
        told[i] = split_vector(piece, splitting, _mm512_loadu_si512(words + begin), 0xff, begin, counts, &references);
        all = _mm512_or_si512(all, told[i]);
        marks.references |= references << i * WIDTH;
    }
    ((uint32_t *)piece->tag_marks)[at / (FOUR * WIDTH)] = ~marks.references;
    if (_mm512_test_epi64_mask(all, splitting->telling) != 0) {
#pragma GCC unroll 4
        for (uint32_t i = 0; i < FOUR; i++) {
            marks.spanning |= (uint32_t)_mm512_test_epi64_mask(told[i], splitting->telling) << i * WIDTH;
        }
        note_spanning(piece, words + at, marks, first, splitting->line);
    }
}

/** The last words, as many as are in a vector, or less. */
static VECTORS void split_last(cache_piece *piece, const splitting *splitting, const uint64_t *words, uint32_t at, uint32_t left,
                               split_counts *counts) {
    const uint32_t first = counts->references;
    const __mmask8 valid = (__mmask8)((1u << left) - 1);
    split_marks marks;
    __m512i word = _mm512_maskz_loadu_epi64(valid, words + at);
    __m512i told = split_vector(piece, splitting, word, valid, at, counts, &marks.references);
    counts->tags -= WIDTH - left;
    ((uint8_t *)piece->tag_marks)[at / WIDTH] = (uint8_t)~marks.references;
    marks.spanning = _mm512_test_epi64_mask(told, splitting->telling);
    note_spanning(piece, words + at, marks, first, splitting->line);
}

static VECTORS void split(cache_piece *piece, const uint64_t *words, uint32_t count, uint32_t line_shift) {
    enum { SUM_BITS = 16 };
    const uint64_t line = UINT64_C(1) << line_shift, role = (uint64_t)CACHE_WORD_ROLE_MASK << CACHE_WORD_ROLE_SHIFT;
    const splitting splitting = {
        .address = _mm512_set1_epi64((int64_t)cache_word_address(UINT64_MAX)),
        .in_line = _mm512_set1_epi64((int64_t)((uint64_t)CACHE_WORD_SIZE_MASK << CACHE_WORD_SIZE_SHIFT | role | (line - 1))),
        .usual = _mm512_set1_epi64((int64_t)CACHE_WORD_USUAL_MARK << CACHE_WORD_SIZE_SHIFT),
        .telling = _mm512_set1_epi64((int64_t)(role | ((UINT64_C(1) << SUM_BITS) - line))),
        .shift = _mm_cvtsi32_si128((int)line_shift),
        .line = line,
    };
    split_counts counts = {.tags = piece->tag_count};
    uint32_t at = 0;
    piece->spanning_count = 0;
    for (; at + 4 * WIDTH <= count; at += 4 * WIDTH) {
        split_four(piece, &splitting, words, at, &counts);
    }
    for (; at < count; at += WIDTH) {
        split_last(piece, &splitting, words, at, count - at < WIDTH ? count - at : WIDTH, &counts);
    }
    memset((uint8_t *)piece->tag_marks + at / WIDTH, 0xff, sizeof *piece->tag_marks); /* nothing is there */
    piece->places[counts.tags] = (int32_t)count;
    piece->tag_count = counts.tags;
    piece->reference_count = counts.references;
}

/** A word's place is its number and the tags before it: so the place gives the tag. It is looked for among 64 words at once; to
    walk from one number to the next would be a branch that nobody could predict for each of them. */
static VECTORS void locate(const cache_piece *piece, const uint32_t *numbers, uint32_t count, uint32_t *tags) {
    enum { GROUP = 64, GROUPS = CACHE_PIECE_WORDS / GROUP };
    _Static_assert(GROUPS == 16, "one vector has the numbers of all groups");
    uint32_t first[GROUPS], references = 0, words = (uint32_t)piece->places[piece->tag_count];
    for (uint32_t group = 0; group < GROUPS; group++) {
        bool is_there = group * GROUP < words;
        first[group] = is_there ? references : UINT32_MAX;
        references += is_there ? (uint32_t)__builtin_popcountll(~piece->tag_marks[group]) : 0;
    }
    const __m512i firsts = _mm512_loadu_si512(first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = _mm512_cmple_epu32_mask(firsts, _mm512_set1_epi32((int)numbers[i]));
        uint32_t group = (uint32_t)__builtin_popcount(before) - 1;
        uint64_t nth = _pdep_u64(UINT64_C(1) << (numbers[i] - first[group]), ~piece->tag_marks[group]);
        tags[i] = group * GROUP + (uint32_t)__builtin_ctzll(nth) - numbers[i];
    }
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

/** The same for lines that have names. Which ways move is found out where the comparison's result is: to move it to another register and
    back would take longer than all else, and often the next line is of the same set. */
static inline __attribute__((always_inline)) VECTORS bool use_name(cache_level *level, uint64_t line, __mmask16 ways) {
    uint32_t *set = cache_level_names(level, line);
    __m512i tag = _mm512_set1_epi32((int)(cache_level_name(level, line) + 1)), old = _mm512_load_si512(set);
    __mmask16 found = _mm512_cmpeq_epi32_mask(old, tag);
    __mmask16 moving = _kand_mask16(_kxor_mask16(found, _kadd_mask16(found, 0xffff)), ways);
    __m512i moved = _mm512_alignr_epi32(old, tag, 2 * WIDTH - 1);
    _mm512_store_si512(set, _mm512_mask_mov_epi32(old, moving, moved));
    return found != 0;
}

static VECTORS uint32_t use_names(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count,
                                  uint32_t *missed) {
    const __mmask16 ways = (__mmask16)((1u << level->ways) - 1);
    uint32_t misses = 0;
    for (uint32_t i = 0; i < count; i++) {
        missed[misses] = numbers[i];
        misses += !use_name(level, lines[numbers[i]], ways);
    }
    return misses;
}

static VECTORS bool use_line_by_name(cache_level *level, uint64_t line) {
    return use_name(level, line, (__mmask16)((1u << level->ways) - 1));
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

/** Longer lines have places that take more than a byte (split_vector()). */
enum { LONGEST_LINE_SHIFT = 8 };

const cache_passes *cache_passes_best(cache_level *level) {
    static const cache_passes few = {
        .split = split, .collect = collect, .locate = locate, .use = cache_passes_plain_use,
        .use_line = cache_passes_plain_use_line};
    static const cache_passes one = {.split = split, .collect = collect, .locate = locate, .use = use_one, .use_line = use_line};
    static const cache_passes two = {.split = split, .collect = collect, .locate = locate, .use = use_two, .use_line = use_line};
    static const cache_passes names = {
        .split = split, .collect = collect, .locate = locate, .use = use_names, .use_line = use_line_by_name};
    static const cache_passes many = {.split = split, .collect = collect, .locate = locate, .use = use_many, .use_line = use_line};
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        level->line_shift > LONGEST_LINE_SHIFT) {
        return &cache_passes_plain;
    }
    cache_level_name_lines(level);
    if (level->names != NULL) {
        return &names;
    }
    if (level->ways < CACHE_LEVEL_FEW) {
        return &few;
    }
    return level->ways <= WIDTH ? &one : level->ways <= 2 * WIDTH ? &two : &many;
}
