/**
 * @fileoverview Adding up blocks to records. See heap_records.h.
 */
#include "report/heap_records.h"

#include <stdlib.h>
#include <string.h>

const char *const sn_heapfile_section_names[] = {
    [SN_HEAPFILE_ALL] = "all", [SN_HEAPFILE_TWICE_REPORTED] = "twice-reported", [SN_HEAPFILE_UNREPORTED] = "unreported",
    [SN_HEAPFILE_ONCE_REPORTED] = "once-reported"};

/* ------------------------------------------------------------------------- adding up */

static sn_heapfile_section section_of(sn_heapfile_mode mode, const sn_heapfile_block *block) {
    if (mode != SN_HEAPFILE_DARK_MATTER)
        return SN_HEAPFILE_ALL;
    if (block->reports[0] == SN_HEAPFILE_NONE)
        return SN_HEAPFILE_UNREPORTED;
    return block->reports[1] == SN_HEAPFILE_NONE ? SN_HEAPFILE_ONCE_REPORTED : SN_HEAPFILE_TWICE_REPORTED;
}

static uint64_t hash_of(const sn_heapfile_record *record) {
    return sn_hash_mix(sn_hash_mix((uint64_t)record->section << 32 | record->stack) ^
                       ((uint64_t)record->reports[0] << 32 | record->reports[1]));
}

static bool are_same(const sn_heapfile_record *one, const sn_heapfile_record *other) {
    return one->section == other->section && one->stack == other->stack && one->reports[0] == other->reports[0] &&
           one->reports[1] == other->reports[1];
}

/** The number of the record with this section and these stacks. */
static uint32_t find_or_add(sn_heapfile_records *records, sn_heapfile_record *wanted) {
    bool is_new;
    uint64_t *chain = sn_hash_insert(&records->by_hash, hash_of(wanted), &is_new);
    wanted->next = is_new ? (uint32_t)SN_HEAPFILE_NONE : (uint32_t)*chain;
    for (uint32_t i = wanted->next; i != SN_HEAPFILE_NONE; i = records->items.items[i].next)
        if (are_same(&records->items.items[i], wanted))
            return i;
    *chain = records->items.count;
    *sn_vector_add(&records->items) = *wanted;
    return (uint32_t)*chain;
}

static sn_heapfile_size *find_size(sn_heapfile_records *records, uint32_t record, uint64_t usable) {
    bool is_new;
    uint64_t *chain = sn_hash_insert(&records->size_by_hash, sn_hash_mix(usable) ^ record, &is_new);
    uint32_t head = is_new ? (uint32_t)SN_HEAPFILE_NONE : (uint32_t)*chain;
    for (uint32_t i = head; i != SN_HEAPFILE_NONE; i = records->sizes.items[i].same_hash)
        if (records->sizes.items[i].record == record && records->sizes.items[i].usable == usable)
            return &records->sizes.items[i];
    *chain = records->sizes.count;
    sn_heapfile_size *size = sn_vector_add(&records->sizes);
    sn_heapfile_record *owner = &records->items.items[record];
    *size = (sn_heapfile_size){.usable = usable, .record = record, .next = owner->size, .same_hash = head};
    owner->size = (uint32_t)*chain;
    return size;
}

static void add_sums(sn_heapfile_sums *sums, const sn_heapfile_block *block, int sign) {
    int64_t count = sign * (int64_t)block->count;
    sums->blocks += count;
    sums->requested += count * (int64_t)block->requested;
    sums->slop += count * (int64_t)block->slop;
    sums->usable += count * (int64_t)sn_heapfile_usable(block);
    sums->freed += sign * (int64_t)block->freed;
    sums->lived += sign * (int64_t)block->lived;
    for (unsigned i = 0; i < SN_HEAPFILE_USES; i++)
        sums->uses[i] += sign * (int64_t)block->uses[i];
}

void sn_heapfile_records_add(sn_heapfile_records *records, const sn_heapfile *file, int sign) {
    uint32_t *stack_of = sn_pages_allocate((file->traces.count + 1) * sizeof *stack_of);
    uint32_t not_kept = sn_heapfile_stack_of(&records->stacks, file, SN_HEAPFILE_NONE);
    for (uint32_t i = 0; i < file->traces.count; i++)
        stack_of[i] = sn_heapfile_stack_of(&records->stacks, file, i);
    records->mode = file->mode;
    records->has_uses |= file->has_uses;
    sn_vector_clear(&records->record_of);
    sn_vector_reserve(&records->record_of, file->blocks.count);
    for (size_t i = 0; i < file->blocks.count; i++) {
        const sn_heapfile_block *block = &file->blocks.items[i];
        sn_heapfile_record wanted = {.section = section_of(file->mode, block), .size = SN_HEAPFILE_NONE,
                                 .stack = block->trace == SN_HEAPFILE_NONE ? not_kept : stack_of[block->trace]};
        for (unsigned k = 0; k < 2; k++)
            wanted.reports[k] = wanted.section == SN_HEAPFILE_ALL || block->reports[k] == SN_HEAPFILE_NONE
                                    ? (uint32_t)SN_HEAPFILE_NONE : stack_of[block->reports[k]];
        uint32_t number = find_or_add(records, &wanted);
        *sn_vector_add(&records->record_of) = number;
        add_sums(&records->items.items[number].sums, block, sign);
        add_sums(&records->total, block, sign);
        find_size(records, number, sn_heapfile_usable(block))->count += sign * (int64_t)block->count;
    }
    sn_pages_release(stack_of, (file->traces.count + 1) * sizeof *stack_of);
}

/* -------------------------------------------------------------------------- choosing */

static bool holds(const sn_heapfile_records *records, const sn_heapfile_record *record, const char *text) {
    const sn_heapfile_stack *stack = &records->stacks.items.items[record->stack];
    for (uint32_t i = 0; i < stack->count; i++)
        if (strstr(records->stacks.frames.items[stack->first + i], text) != NULL)
            return true;
    return false;
}

static bool passes(const sn_heapfile_records *records, const sn_heapfile_record *record, const sn_texts *filters,
                   const sn_texts *filters_out) {
    for (size_t i = 0; i < filters->count; i++) {
        const char *filter = filters->items[i];
        bool is_negated = filter[0] == '!';
        if (holds(records, record, filter + (is_negated || filter[0] == '\\')) == is_negated)
            return false;
    }
    for (size_t i = 0; i < filters_out->count; i++)
        if (holds(records, record, filters_out->items[i]))
            return false;
    return true;
}

static bool is_nothing(const sn_heapfile_records *records, const sn_heapfile_record *record) {
    const sn_heapfile_sums *sums = &record->sums;
    for (uint32_t i = record->size; i != SN_HEAPFILE_NONE; i = records->sizes.items[i].next)
        if (records->sizes.items[i].count != 0)
            return false;
    for (unsigned i = 0; i < SN_HEAPFILE_USES; i++)
        if (sums->uses[i] != 0)
            return false;
    return sums->blocks == 0 && sums->requested == 0 && sums->slop == 0 && sums->usable == 0 &&
           sums->freed == 0 && sums->lived == 0;
}

static uint64_t magnitude(int64_t number) {
    return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

/** What an order compares by, the first difference decides; the magnitude of what a difference is counts. */
static void keys_of(const sn_heapfile_sums *sums, sn_heapfile_order order, uint64_t keys[3]) {
    uint64_t usable = magnitude(sums->usable), requested = magnitude(sums->requested), blocks = magnitude(sums->blocks);
    const uint64_t all[][3] = {
        [SN_HEAPFILE_BY_USABLE] = {usable, requested, blocks},
        [SN_HEAPFILE_BY_REQUESTED] = {requested, usable, blocks},
        [SN_HEAPFILE_BY_SLOP] = {magnitude(sums->slop), usable, blocks},
        [SN_HEAPFILE_BY_BLOCKS] = {blocks, usable, requested},
        [SN_HEAPFILE_BY_READ] = {magnitude(sums->uses[SN_HEAPFILE_READ]), usable, blocks},
        [SN_HEAPFILE_BY_WRITTEN] = {magnitude(sums->uses[SN_HEAPFILE_WRITTEN]), usable, blocks},
        [SN_HEAPFILE_BY_NEVER_USED] = {magnitude(sums->uses[SN_HEAPFILE_NEVER_USED]), usable, blocks},
    };
    memcpy(keys, all[order], sizeof all[order]);
}

typedef struct sorting {
    const sn_heapfile_records *records;
    sn_heapfile_order order;
} sorting;

/** By the texts of the frames, where nothing else tells two records apart: the same at every run. */
static int by_frames(const sn_heapfile_records *records, uint32_t left, uint32_t right) {
    if (left == SN_HEAPFILE_NONE || right == SN_HEAPFILE_NONE || left == right)
        return (left > right) - (left < right);
    const sn_heapfile_stack *a = &records->stacks.items.items[left], *b = &records->stacks.items.items[right];
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = strcmp(records->stacks.frames.items[a->first + i], records->stacks.frames.items[b->first + i]);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

static int compare(const void *left, const void *right, void *data) {
    const sorting *sorting = data;
    const sn_heapfile_record *a = &sorting->records->items.items[*(const uint32_t *)left];
    const sn_heapfile_record *b = &sorting->records->items.items[*(const uint32_t *)right];
    uint64_t keys[2][3];
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    keys_of(&a->sums, sorting->order, keys[0]);
    keys_of(&b->sums, sorting->order, keys[1]);
    for (unsigned i = 0; i < 3; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] > keys[1][i] ? -1 : 1;
    int order = by_frames(sorting->records, a->stack, b->stack);
    for (unsigned i = 0; i < 2 && order == 0; i++)
        order = by_frames(sorting->records, a->reports[i], b->reports[i]);
    return order;
}

void sn_heapfile_records_choose(sn_heapfile_records *records, sn_heapfile_order order, const sn_texts *filters,
                                const sn_texts *filters_out) {
    sn_vector_clear(&records->shown);
    for (uint32_t i = 0; i < records->items.count; i++)
        if (!is_nothing(records, &records->items.items[i]) && passes(records, &records->items.items[i], filters, filters_out))
            *sn_vector_add(&records->shown) = i;
    if (records->shown.count > 0)
        qsort_r(records->shown.items, records->shown.count, sizeof *records->shown.items, compare,
                &(sorting){records, order});
}

/** A counting sort. */
void sn_heapfile_records_list_blocks(sn_heapfile_records *records) {
    sn_vector_clear(&records->first_block);
    sn_vector_clear(&records->blocks);
    for (size_t i = 0; i < records->items.count + 2; i++)
        *sn_vector_add(&records->first_block) = 0;
    uint32_t *first = records->first_block.items;
    for (size_t i = 0; i < records->record_of.count; i++)
        first[records->record_of.items[i] + 2]++;
    for (size_t i = 2; i < records->items.count + 2; i++)
        first[i] += first[i - 1];
    sn_vector_reserve(&records->blocks, records->record_of.count);
    records->blocks.count = records->record_of.count;
    for (size_t i = 0; i < records->record_of.count; i++)
        records->blocks.items[first[records->record_of.items[i] + 1]++] = (uint32_t)i;
}

void sn_heapfile_records_release(sn_heapfile_records *records) {
    sn_heapfile_stacks_release(&records->stacks);
    sn_vector_release(&records->items);
    sn_vector_release(&records->sizes);
    sn_vector_release(&records->shown);
    sn_hash_release(&records->by_hash);
    sn_hash_release(&records->size_by_hash);
    sn_vector_release(&records->record_of);
    sn_vector_release(&records->blocks);
    sn_vector_release(&records->first_block);
}
