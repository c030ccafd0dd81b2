/**
 * @fileoverview Makes the trace of a block. See trace.h.
 */
#include "trace.h"

#include <string.h>

#include "branches.h"
#include "code_cache.h"
#include "memory.h"
#include "runs.h"
#include "segments.h"
#include "settings.h"
#include "sites.h"
#include "words.h"

/* ------------------------------------------------------------------ looking at a block */

static uint8_t shape_of(const sn_instruction *instruction) {
    static const uint8_t shapes[] = {
        [SN_KIND_CONDITIONAL] = CACHE_CONDITIONAL,
        [SN_KIND_JUMP_INDIRECT] = CACHE_INDIRECT,
        [SN_KIND_CALL_INDIRECT] = CACHE_INDIRECT,
        [SN_KIND_TRAP] = 0,
    };
    return shapes[instruction->kind] | (instruction->repeated ? CACHE_REPEATED : 0);
}

uint32_t cache_trace_look(sn_block *block, cache_instruction *instructions) {
    unsigned count = sn_block_size(block);
    uint32_t first_site = cache_sites_new(count);
    for (unsigned index = 0; index < count; index++) {
        const sn_instruction *instruction = sn_block_instruction(block, index);
        instructions[index] = (cache_instruction){
            .address = instruction->address, .length = instruction->length, .shape = shape_of(instruction)};
        instructions[index].shape |= sn_branch_goes_back(block, index) ? CACHE_GOES_BACK : 0;
        cache_site_set_address(first_site + index, instruction->address);
    }
    return first_site;
}

/* ---------------------------------------------------------------- references to data */

static bool is_access(const sn_operand *operand, unsigned role) {
    return operand->place == SN_PLACE_MEMORY && operand->size != 0 && operand->role != SN_ROLE_ADDRESS &&
           (operand->role & role) != 0;
}

/** The data reference before, if it is known that another with the same address expression would have the same address:
    then that one is a hit that changes nothing, as no other is between them. */
typedef struct last_reference {
    bool is_known;
    sn_operand operand;
} last_reference;

/** Whether all lines that a reference of that size may span are in sets of their own, and so none replaces another. */
static bool has_own_sets(uint32_t size) {
    const cache_geometry *geometry = &cache_current.geometries[CACHE_D1];
    return size <= geometry->line && cache_geometry_sets(geometry) >= 2;
}

/** How long runs may be, and their windows. */
static cache_reach reach_of_runs(void) {
    const cache_geometry *geometry = &cache_current.geometries[CACHE_D1];
    int64_t line = (int64_t)geometry->line, all_but_one = ((int64_t)cache_geometry_sets(geometry) - 1) * line;
    return (cache_reach){.window = line, .run = all_but_one};
}

static bool is_same_address(const last_reference *last, const sn_operand *operand) {
    const sn_operand *known = &last->operand;
    return last->is_known && operand->is_explicit && operand->base == known->base && operand->index == known->index &&
           operand->scale == known->scale && operand->segment == known->segment &&
           operand->displacement == known->displacement && operand->size <= known->size;
}

/** An instruction that writes a register of the address ends what is known. */
static void forget_if_changed(last_reference *last, const sn_operand *operands, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        bool is_written = operands[i].place == SN_PLACE_GENERAL && (operands[i].role & SN_ROLE_WRITTEN) != 0;
        if (is_written && (operands[i].reg == last->operand.base || operands[i].reg == last->operand.index)) {
            last->is_known = false;
        }
    }
    last->is_known &= count > 0; /* what the decoder does not know may write anything */
}

/** References in the making. */
typedef struct reference_list {
    cache_segment_reference *items;
    size_t count, room;
} reference_list;

static cache_segment_reference *add_to(reference_list *list, const cache_segment_reference *reference) {
    if (list->count == list->room) {
        list->room = 2 * list->room + 64;
        list->items = cache_memory_resized(list->items, list->room, sizeof *list->items);
    }
    list->items[list->count] = *reference;
    return &list->items[list->count++];
}

/** The reference of a run that is furthest beyond the end of its window, so far. */
typedef struct furthest_reference {
    bool exists;
    cache_run_where where;   /**< CACHE_RUN_BELOW or CACHE_RUN_ABOVE */
    unsigned index, operand; /**< where it is in the block */
    uint32_t other;          /**< and among the others of the segment */
} furthest_reference;

/** A segment in the making, and the block that it is part of. */
typedef struct draft {
    sn_block *block;
    unsigned index;                      /**< of the instruction that is looked at */
    uint32_t first_site;
    cache_instruction *instructions;
    uint32_t number;
    unsigned first_index;                /**< of its first instruction */
    bool may_have_left;                  /**< a conditional branch is in it */
    cache_segment segment;
    uint64_t first_line, last_line;
    reference_list references, others;   /**< of the segment so far, traced and not */
    last_reference last;
    cache_run run;
    unsigned window;                     /**< of the run, that was referred to last */
    uint32_t first_other;                /**< since then, or since a reference of it was traced */
    furthest_reference furthest;
} draft;

/** The word of a reference: the address, and in the highest byte what tells of its size where that is not the usual one. */
static void append_reference(sn_block *block, unsigned operand, uint32_t size) {
    const sn_field fields[] = {
        {.offset = 0, .size = 8, .value = sn_operand_address(block, operand)},
        {.offset = CACHE_WORD_SIZE_SHIFT / 8,
         .size = 1,
         .value = sn_constant(block, cache_word_size_mark(size))},
    };
    sn_trace_append(block, cache_current.trace, size == CACHE_WORD_USUAL_SIZE ? 1 : 2, fields);
}

static void append_tag(sn_block *block, uint32_t segment) {
    sn_value tag = sn_constant(block, cache_word_segment(segment));
    sn_trace_append(block, cache_current.trace, 1, &(sn_field){.offset = 0, .size = 8, .value = tag});
}

/** What follows is not beyond the same end of the window, or may not come to be executed: trace the reference that is furthest.
    That is as far as it goes when a signal or fault ends the pass before it: what was referred to behind the one traced last is then
    left out. */
static void trace_furthest(draft *draft) {
    const furthest_reference *furthest = &draft->furthest;
    if (!furthest->exists) {
        return;
    }
    cache_segment_reference *reference = add_to(&draft->references, &draft->others.items[furthest->other]);
    reference->first_other = (uint16_t)draft->first_other;
    reference->others = (uint8_t)(furthest->other - draft->first_other);
    sn_insert_before(draft->block, furthest->index);
    append_reference(draft->block, furthest->operand, reference->size);
    sn_insert_before(draft->block, draft->index);
    draft->furthest.exists = false;
    draft->first_other = (uint32_t)draft->others.count;
}

static void end_run(draft *draft) {
    trace_furthest(draft);
    draft->run.is_open = false;
}

/** Whether as much of the run is not traced as can be told. */
static bool is_full(const draft *draft) {
    return draft->others.count - draft->first_other >= UINT8_MAX || draft->others.count >= UINT16_MAX;
}

/** A reference that is not within the run, or opens a window. */
static void trace_reference(draft *draft, unsigned number, const cache_segment_reference *reference) {
    trace_furthest(draft);
    add_to(&draft->references, reference);
    append_reference(draft->block, number, reference->size);
    draft->first_other = (uint32_t)draft->others.count;
}

/** A reference of the run, which may go without being traced. */
static void put_off(draft *draft, unsigned number, cache_segment_reference reference, const cache_run_place *place) {
    bool grows = place->where != CACHE_RUN_WITHIN;
    if (grows && (place->window != draft->window || (draft->furthest.exists && place->where != draft->furthest.where))) {
        trace_furthest(draft);
        draft->window = place->window;
        draft->first_other = (uint32_t)draft->others.count;
    }
    if (place->window != draft->window) {
        return;
    }
    reference.distance = (int16_t)place->distance;
    add_to(&draft->others, &reference);
    if (grows) {
        draft->furthest = (furthest_reference){.exists = true, .where = place->where, .index = draft->index, .operand = number,
                                               .other = (uint32_t)draft->others.count - 1};
    }
}

static void add_reference(draft *draft, unsigned number, sn_operand operand, cache_kind kind, const cache_motion *motion) {
    const cache_reach reach = reach_of_runs();
    if (is_same_address(&draft->last, &operand)) {
        return;
    }
    cache_segment_reference reference = {
        .site = draft->first_site + draft->index, .size = (uint16_t)operand.size, .kind = (uint8_t)kind};
    cache_run_place place = {.where = CACHE_RUN_OUTSIDE};
    if (!is_full(draft)) {
        place = cache_run_take(&draft->run, &operand, motion, &reach);
    }
    if (place.where == CACHE_RUN_OUTSIDE) {
        trace_reference(draft, number, &reference);
        cache_run_begin(&draft->run, &operand, motion);
        draft->window = 0;
    } else if (place.where == CACHE_RUN_APART) {
        trace_reference(draft, number, &reference);
        draft->window = place.window;
    } else {
        put_off(draft, number, reference, &place);
    }
    draft->last = (last_reference){.is_known = operand.is_explicit && has_own_sets(operand.size), .operand = operand};
}

/** First what is read, then what is only written: what is read and written is one reference, since its write can't miss. */
static void add_references(draft *draft, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(draft->block, index, &count);
    const cache_motion motion = cache_motion_of(operands, count);
    cache_instruction *instruction = &draft->instructions[index];
    for (unsigned i = 0; i < count; i++) {
        operands = sn_block_operands(draft->block, index, &count); /* ending a run asks for those of another one */
        if (is_access(&operands[i], SN_ROLE_READ)) {
            instruction->reads++;
            add_reference(draft, i, operands[i], CACHE_READ, &motion);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        operands = sn_block_operands(draft->block, index, &count);
        if (is_access(&operands[i], SN_ROLE_WRITTEN) && !is_access(&operands[i], SN_ROLE_READ)) {
            instruction->writes++;
            add_reference(draft, i, operands[i], CACHE_WRITE, &motion);
        }
    }
    operands = sn_block_operands(draft->block, index, &count);
    forget_if_changed(&draft->last, operands, count);
    cache_run_follow(&draft->run, operands, count, &motion);
}

/** Accesses that vary are a segment of their own. */
static void add_varying(draft *draft, unsigned index) {
    static const sn_access_field fields[] = {
        {.offset = 0, .size = 8, .part = SN_ACCESS_ADDRESS},
        {.offset = CACHE_WORD_ROLE_SHIFT / 8, .size = 1, .part = SN_ACCESS_ROLE},
        {.offset = CACHE_WORD_SIZE_SHIFT / 8, .size = 1, .part = SN_ACCESS_SIZE},
    };
    cache_segment_reference *common = cache_memory_new(1, sizeof *common);
    *common = (cache_segment_reference){.site = draft->first_site + index};
    end_run(draft);
    const cache_segment varying = {.references = common, .reference_count = 1, .varies = true};
    uint32_t number = cache_segment_new();
    cache_segment_set(number, &varying, (cache_code_lines){CACHE_NO_CODE_LINE, CACHE_NO_CODE_LINE},
                      (cache_segment_size){0});
    append_tag(draft->block, number);
    sn_trace_append_accesses(draft->block, index, cache_current.trace, 1, sizeof fields / sizeof *fields, fields);
    draft->last.is_known = false;
}

/* --------------------------------------------------------------------------- segments */

static uint64_t line_at(uint64_t address) {
    return address / cache_current.geometries[CACHE_I1].line;
}

/** The instruction's fetch becomes part of the segment, if there is something to do for the cache: it comes to another line
    than the one before it. Returns false if the segment has no room for its line. */
static bool add_fetch(draft *draft, unsigned index) {
    const cache_instruction *instruction = &draft->instructions[index];
    cache_segment *segment = &draft->segment;
    uint64_t first = line_at(instruction->address), last = line_at(instruction->address + instruction->length - 1);
    bool is_start = segment->fetch_count == 0;
    if (!is_start && first == draft->last_line && last == draft->last_line) {
        return true;
    }
    bool is_second = draft->first_line == draft->last_line && (first == draft->last_line || first == last);
    if (!is_start && !is_second) {
        return false;
    }
    trace_furthest(draft); /* the order of what misses stays what it is */
    segment->fetches[segment->fetch_count++] = (cache_segment_fetch){
        .address = instruction->address,
        .site = draft->first_site + index,
        .before = (uint32_t)draft->references.count,
        .length = instruction->length,
    };
    draft->first_line = is_start ? first : draft->first_line;
    draft->last_line = last;
    return true;
}

/** Whether control enters another segment with that instruction, though nothing but branches is the reason. */
static bool begins_behind_branch(const draft *draft, unsigned index) {
    const cache_instruction *instruction = &draft->instructions[index];
    bool stays = line_at(instruction->address) == draft->last_line &&
                 line_at(instruction->address + instruction->length - 1) == draft->last_line;
    return draft->may_have_left && !stays;
}

static void begin_segment(draft *draft, unsigned index) {
    draft->may_have_left = false;
    draft->segment = (cache_segment){0};
    draft->references.count = draft->others.count = draft->first_other = 0;
    draft->number = cache_segment_new();
    draft->first_index = index;
    append_tag(draft->block, draft->number);
}

/** Where control leaves a segment at a branch, it does not come to the rest of its references. */
static void tell_if_left(draft *draft, unsigned index, cache_segment_size rest) {
    if (rest.reads + rest.writes != 0) {
        sn_insert_taken(draft->block, index);
        sn_value tag = sn_constant(draft->block, cache_word_left(rest));
        sn_trace_append(draft->block, cache_current.trace, 1, &(sn_field){.offset = 0, .size = 8, .value = tag});
        sn_insert_before(draft->block, draft->index);
    }
}

static void end_segment(draft *draft, unsigned end) {
    const reference_list *traced = &draft->references, *others = &draft->others;
    trace_furthest(draft);
    draft->segment.reference_count = (uint32_t)traced->count;
    if (traced->count != 0) {
        cache_segment_reference *all = cache_memory_new(traced->count + others->count, sizeof *all);
        memcpy(all, traced->items, traced->count * sizeof *all);
        if (others->count != 0) {
            memcpy(all + traced->count, others->items, others->count * sizeof *all);
        }
        draft->segment.references = all;
    }
    cache_code_lines lines = {cache_code_line(draft->first_line), cache_code_line(draft->last_line)};
    cache_segment_size rest = {0};
    for (unsigned index = end; index-- > draft->first_index;) {
        cache_instruction *instruction = &draft->instructions[index];
        if ((instruction->shape & CACHE_CONDITIONAL) != 0 && !cache_current.counts_branches) {
            tell_if_left(draft, index, rest);
        }
        instruction->segment = draft->number;
        rest.reads += instruction->reads;
        rest.writes += instruction->writes;
        cache_site_set_segment(draft->first_site + index, draft->number, rest);
    }
    cache_segment_set(draft->number, &draft->segment, lines, rest);
}

static void insert_references(sn_block *block, uint32_t first_site, cache_instruction *instructions) {
    static draft draft; /* serialised; its room is used again */
    const unsigned count = sn_block_size(block);
    bool begins = true;
    draft.block = block;
    draft.first_site = first_site;
    draft.instructions = instructions;
    draft.last.is_known = draft.may_have_left = draft.run.is_open = false;
    for (unsigned index = 0; index < count; index++) {
        bool varies = sn_block_instruction(block, index)->accesses_vary;
        draft.index = index;
        begins |= sn_block_begins_function(block, index) || begins_behind_branch(&draft, index);
        sn_insert_before(block, index);
        if (begins || !add_fetch(&draft, index)) {
            if (index > 0) {
                end_segment(&draft, index);
            }
            begin_segment(&draft, index);
            add_fetch(&draft, index);
        } else if ((instructions[index - 1].shape & CACHE_CONDITIONAL) != 0) {
            instructions[index - 1].shape |= CACHE_SEGMENT_GOES_ON;
        }
        if (index > 0 && (instructions[index - 1].shape & CACHE_CONDITIONAL) != 0) {
            trace_furthest(&draft);
        }
        if (varies) {
            add_varying(&draft, index);
        } else {
            add_references(&draft, index);
        }
        draft.may_have_left |= (instructions[index].shape & CACHE_CONDITIONAL) != 0;
        begins = varies;
    }
    end_segment(&draft, count);
}

static void insert_branches(sn_block *block, uint32_t first_site, const cache_instruction *instructions) {
    for (unsigned index = 0; index < sn_block_size(block); index++) {
        if ((instructions[index].shape & CACHE_CONDITIONAL) != 0) {
            cache_branches_trace_conditional(block, index, first_site + index);
        }
        if ((instructions[index].shape & CACHE_INDIRECT) != 0) {
            cache_branches_trace_indirect(block, index, first_site + index);
        }
    }
}

void cache_trace_insert(sn_block *block, uint32_t first_site, cache_instruction *instructions) {
    if (cache_current.simulates_caches) {
        insert_references(block, first_site, instructions);
    }
    if (cache_current.simulates_branches) {
        insert_branches(block, first_site, instructions);
    }
}
