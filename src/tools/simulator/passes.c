/**
 * @fileoverview The passes in plain C. See passes.h.
 *
 * What is in the data decides over nothing but numbers: a branch that the processor predicts wrongly costs more than all
 * that is done for a word.
 */
#include "passes.h"

#include "words.h"

static void split(cache_piece *piece, const uint64_t *words, uint32_t count, uint32_t line_shift) {
    const uint64_t line = UINT64_C(1) << line_shift;
    uint32_t references = 0, tags = piece->tag_count, spanning = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = words[i];
        bool is_tag = CACHE_WORD_IS_TAG(word);
        bool may_span = (word & (line - 1)) + cache_word_size(word) > line;
        piece->places[tags] = (int32_t)i;
        piece->lines[references] = cache_word_address(word) >> line_shift;
        piece->spanning[spanning] = references;
        tags += is_tag;
        references += !is_tag;
        spanning += may_span & !is_tag;
    }
    piece->places[tags] = (int32_t)count;
    piece->tag_count = tags;
    piece->reference_count = references;
    piece->spanning_count = spanning;
}

static uint32_t collect(const uint8_t *marks, uint32_t from, uint32_t to, uint32_t *numbers) {
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        numbers[count] = i;
        count += marks[i];
    }
    return count;
}

static void locate(const cache_piece *piece, const uint32_t *numbers, uint32_t count, uint32_t *tags) {
    uint32_t tag = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (tag + 1 < piece->tag_count && cache_piece_first_reference(piece, tag + 1) <= (int32_t)numbers[i]) {
            tag++;
        }
        tags[i] = tag;
    }
}

uint32_t cache_passes_plain_use(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count,
                                uint32_t *missed) {
    uint32_t misses = 0;
    for (uint32_t i = 0; i < count; i++) {
        missed[misses] = numbers[i];
        misses += !cache_level_use(level, lines[numbers[i]]);
    }
    return misses;
}

bool cache_passes_plain_use_line(cache_level *level, uint64_t line) {
    return cache_level_use(level, line);
}

const cache_passes cache_passes_plain = {
    .split = split, .collect = collect, .locate = locate, .use = cache_passes_plain_use, .use_line = cache_passes_plain_use_line};
