/**
 * @fileoverview Makes the record of a block while it is instrumented, and evaluates its counters. See record.h.
 */
#include "record.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "settings.h"
#include "sites.h"
#include "word.h"

enum { MOST_INSTRUCTIONS = CACHE_WORD_MOST_INSTRUCTIONS, MOST_SLOTS = 1024, MOST_LINES = 2 * MOST_INSTRUCTIONS };
enum { UNIT = 16, STEP = 1 << 20 };

/** A record under construction. Only one at a time is made. */
typedef struct draft {
    cache_record record;
    cache_instruction instructions[MOST_INSTRUCTIONS];
    cache_slot slots[MOST_SLOTS];
    cache_exit exits[MOST_INSTRUCTIONS + 1];
    bool goes_back[MOST_INSTRUCTIONS + 1]; /**< exits to where a loop may begin */
    uint16_t slots_before[MOST_INSTRUCTIONS + 1]; /**< each exit */
    uint8_t fetches[MOST_INSTRUCTIONS];
    uint64_t lines[MOST_LINES];
    uint8_t implied[MOST_SLOTS + 1];
    bool is_marked[MOST_INSTRUCTIONS + 1]; /**< exits that write a mark */
} draft;

/* --------------------------------------------------------------- where records are */

/** One area, of which pages are made usable as it fills: then a record's number leads to it without a table. */
static struct {
    char *start;
    size_t usable;
    _Atomic size_t used;
    _Atomic uint32_t most_counters;
} area;

static const size_t area_size = (size_t)UNIT << 28;

/** Room for `size` more bytes, at the end of what is in use. */
static void *room_for(size_t size) {
    if (area.start == NULL) {
        area.start = mmap(NULL, area_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (area.start == MAP_FAILED) {
            sn_fail(125, "cache: no room in the address space");
        }
        area.used = UNIT; /* no record has number 0 */
    }
    size_t used = atomic_load(&area.used);
    while (used + size > area.usable) {
        if (area.usable + STEP > area_size ||
            mprotect(area.start + area.usable, STEP, PROT_READ | PROT_WRITE) != 0) {
            sn_fail(125, "cache: out of memory");
        }
        area.usable += STEP;
    }
    return area.start + used;
}

const cache_record *cache_record_at(uint32_t number) {
    size_t place = (size_t)number * UNIT;
    return number == 0 || place >= atomic_load_explicit(&area.used, memory_order_acquire)
               ? NULL
               : (const cache_record *)(area.start + place);
}

const cache_record *cache_record_next(const cache_record *record) {
    return cache_record_at(record == NULL ? 1 : record->number + record->size / UNIT);
}

uint32_t cache_record_most_counters(void) {
    return atomic_load(&area.most_counters);
}

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

static void draft_slot(draft *draft, unsigned kind, unsigned index, uint32_t size) {
    cache_record *record = &draft->record;
    if (record->slot_count == MOST_SLOTS) {
        sn_fail(125, "cache: a block with more than %d references", MOST_SLOTS);
    }
    int64_t line = (int64_t)cache_current.geometries[CACHE_D1].line;
    bool may_fit = kind != CACHE_SLOT_TARGET && size <= line;
    draft->slots[record->slot_count++] = (cache_slot){
        .most_offset = (int16_t)(may_fit ? line - size : -1),
        .size = (uint16_t)size,
        .kind = (uint8_t)kind,
        .instruction = (uint8_t)index,
        .fetches = record->fetch_count,
    };
}

/** Append the address of a memory operand, or the value of the operand that an indirect branch goes to. */
static void append(sn_block *block, sn_value value) {
    sn_field field = {.size = 8, .value = value};
    sn_trace_append(block, cache_current.trace, 1, &field);
}

static void append_mark(sn_block *block, uint64_t mark) {
    append(block, sn_constant(block, mark));
}

static bool is_access(const sn_operand *operand, unsigned role) {
    return operand->place == SN_PLACE_MEMORY && operand->size != 0 && (operand->role & role) != 0;
}

static void trace_reference(draft *draft, sn_block *block, unsigned index, unsigned operand, uint32_t size,
                            cache_kind kind) {
    cache_instruction *instruction = &draft->instructions[index];
    *(kind == CACHE_READ ? &instruction->reads : &instruction->writes) += 1;
    draft_slot(draft, kind, index, size);
    append(block, sn_operand_address(block, operand));
}

/** First what is read, then what is only written: what is read and written is one reference, since its write can't miss. */
static void trace_references(draft *draft, sn_block *block, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (is_access(&operands[i], SN_ROLE_READ)) {
            trace_reference(draft, block, index, i, operands[i].size, CACHE_READ);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (is_access(&operands[i], SN_ROLE_WRITTEN) && !is_access(&operands[i], SN_ROLE_READ)) {
            trace_reference(draft, block, index, i, operands[i].size, CACHE_WRITE);
        }
    }
}

/** The operand that an indirect branch reads its target from is the first explicit one. */
static void trace_target(draft *draft, sn_block *block, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].is_explicit && operands[i].size == 8 && sn_operand_is_readable(&operands[i])) {
            draft_slot(draft, CACHE_SLOT_TARGET, index, 8);
            append(block, sn_operand_value(block, i));
            return;
        }
    }
}

/** Accesses that vary, as they happen: called in the thread that makes them. */
static void note_accesses(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    unsigned index = (unsigned)(uintptr_t)data;
    for (size_t i = 0; i < count; i++) {
        bool is_write = accesses[i].role == SN_ROLE_WRITTEN;
        for (uint32_t done = 0; done < accesses[i].size; done += CACHE_WORD_MOST_SIZE) {
            uint32_t left = accesses[i].size - done;
            uint64_t word = cache_word_access(index, is_write, accesses[i].address + done,
                                              left < CACHE_WORD_MOST_SIZE ? left : CACHE_WORD_MOST_SIZE);
            sn_trace_write(thread, cache_current.trace, &word);
        }
    }
}

/* ------------------------------------------------------------------------ fetches */

static void draft_line(draft *draft, uint64_t line) {
    for (unsigned i = 0; i < draft->record.line_count; i++) {
        if (draft->lines[i] == line) {
            return;
        }
    }
    draft->lines[draft->record.line_count++] = line;
}

/** A fetch from the line where the one before it ended changes nothing in a cache, unless it reaches into another. */
static void draft_fetch(draft *draft, unsigned index, uint64_t *last_line) {
    uint64_t line_size = cache_current.geometries[CACHE_I1].line;
    const cache_instruction *instruction = &draft->instructions[index];
    uint64_t first = instruction->address / line_size;
    uint64_t last = (instruction->address + instruction->length - 1) / line_size;
    if (first == *last_line && last == *last_line) {
        return;
    }
    draft->fetches[draft->record.fetch_count++] = (uint8_t)index;
    for (uint64_t line = first; line <= last; line++) {
        draft_line(draft, line);
    }
    *last_line = last;
}

/* --------------------------------------------------------------------- ways out */

static void draft_exit(draft *draft, unsigned index, bool goes_back) {
    cache_record *record = &draft->record;
    draft->exits[record->exit_count] = (cache_exit){.instruction = (uint8_t)index, .fetches = record->fetch_count};
    draft->goes_back[record->exit_count] = goes_back;
    draft->slots_before[record->exit_count] = record->slot_count;
    record->exit_count++;
}

/** Of the ways out behind the same slot one needs no mark: a loop's, which is the one taken most, or else the last. */
static void choose_marks(draft *draft) {
    const cache_record *record = &draft->record;
    memset(draft->implied, CACHE_NO_EXIT, sizeof draft->implied);
    for (unsigned exit = 0; exit < record->exit_count; exit++) {
        uint8_t *implied = &draft->implied[draft->slots_before[exit]];
        if (*implied == CACHE_NO_EXIT || draft->goes_back[exit] || !draft->goes_back[*implied]) {
            *implied = (uint8_t)exit;
        }
    }
    for (unsigned exit = 0; exit < record->exit_count; exit++) {
        unsigned implied = draft->implied[draft->slots_before[exit]];
        bool is_same = !cache_current.simulates_branches && draft->exits[exit].fetches == draft->exits[implied].fetches;
        draft->is_marked[exit] = exit != implied && !is_same;
    }
}

/** At the end, control is marked before an instruction that has no next one, and behind all others. */
static void mark_exits(draft *draft, sn_block *block) {
    static const bool goes_elsewhere[] = {
        [SN_KIND_JUMP] = true,   [SN_KIND_JUMP_INDIRECT] = true, [SN_KIND_CALL] = true, [SN_KIND_CALL_INDIRECT] = true,
        [SN_KIND_RETURN] = true, [SN_KIND_SYSCALL] = true,       [SN_KIND_TRAP] = true,
    };
    unsigned end = draft->record.exit_count - 1u, last = draft->record.instruction_count - 1u;
    for (unsigned exit = 0; exit < end; exit++) {
        if (draft->is_marked[exit]) {
            sn_insert_taken(block, draft->exits[exit].instruction);
            append_mark(block, cache_word_exit(exit));
        }
    }
    if (draft->is_marked[end]) {
        if (goes_elsewhere[sn_block_instruction(block, last)->kind]) {
            sn_insert_before(block, last);
        } else {
            sn_insert_after(block, last);
        }
        append_mark(block, cache_word_exit(end));
    }
}

/* ------------------------------------------------------------------ putting it together */

static void trace_instruction(draft *draft, sn_block *block, unsigned index, uint64_t *last_line) {
    const sn_instruction *instruction = sn_block_instruction(block, index);
    if (cache_current.simulates_caches) {
        draft_fetch(draft, index, last_line);
        sn_insert_before(block, index);
        if (instruction->accesses_vary) {
            sn_insert_accesses(block, index, note_accesses, (void *)(uintptr_t)index);
        } else {
            trace_references(draft, block, index);
        }
    }
    if (cache_current.simulates_branches && (draft->instructions[index].shape & CACHE_INDIRECT) != 0) {
        sn_insert_before(block, index);
        trace_target(draft, block, index);
    }
    if ((draft->instructions[index].shape & CACHE_CONDITIONAL) != 0) {
        draft_exit(draft, index, instruction->target != 0 && instruction->target <= instruction->address);
    }
}

static void look_at(draft *draft, sn_block *block) {
    draft->record.instruction_count = (uint8_t)sn_block_size(block);
    draft->record.counter_count = 1;
    for (unsigned index = 0; index < draft->record.instruction_count; index++) {
        const sn_instruction *instruction = sn_block_instruction(block, index);
        uint8_t shape = shape_of(instruction);
        draft->instructions[index] =
            (cache_instruction){.address = instruction->address, .length = instruction->length, .shape = shape};
        draft->record.counter_count += (shape & CACHE_CONDITIONAL ? 1 : 0) + (shape & CACHE_REPEATED ? 2 : 0);
    }
}

static void insert_trace(draft *draft, sn_block *block, uint32_t number) {
    uint64_t last_line = UINT64_MAX;
    sn_insert_before(block, 0);
    append_mark(block, cache_word_entry(number));
    for (unsigned index = 0; index < draft->record.instruction_count; index++) {
        trace_instruction(draft, block, index, &last_line);
    }
    draft_exit(draft, draft->record.instruction_count - 1u, false);
    choose_marks(draft);
    mark_exits(draft, block);
}

static void insert_counters(sn_block *block, const cache_record *record) {
    sn_counter counter = record->counters;
    sn_count_entry(block, counter++, 1);
    for (unsigned index = 0; index < record->instruction_count; index++) {
        if (record->instructions[index].shape & CACHE_CONDITIONAL) {
            sn_count_taken(block, index, counter++, 1);
        }
        if (record->instructions[index].shape & CACHE_REPEATED) {
            sn_count_iterations(block, index, counter, counter + 1);
            counter += 2;
        }
    }
}

static void *moved(char **to, const void *from, size_t size) {
    void *copy = *to;
    if (size != 0) {
        memcpy(copy, from, size);
    }
    *to += size;
    return copy;
}

/** The record with its lists behind it, those that the simulation needs most nearest. */
static cache_record *keep(const draft *draft) {
    const cache_record *made = &draft->record;
    size_t size = sizeof *made + made->line_count * sizeof *made->lines + made->slot_count * sizeof *made->slots +
                  made->instruction_count * sizeof *made->instructions + made->fetch_count +
                  made->exit_count * sizeof *made->exits + made->slot_count + 1u;
    size = (size + UNIT - 1) / UNIT * UNIT;
    cache_record *record = room_for(size);
    *record = *made;
    record->size = (uint32_t)size;
    record->number = (uint32_t)(((char *)record - area.start) / UNIT);
    char *to = (char *)(record + 1);
    record->lines = moved(&to, draft->lines, made->line_count * sizeof *made->lines);
    record->instructions = moved(&to, draft->instructions, made->instruction_count * sizeof *made->instructions);
    record->slots = moved(&to, draft->slots, made->slot_count * sizeof *made->slots);
    record->exits = moved(&to, draft->exits, made->exit_count * sizeof *made->exits);
    record->fetches = moved(&to, draft->fetches, made->fetch_count);
    record->implied = moved(&to, draft->implied, made->slot_count + 1u);
    return record;
}

cache_record *cache_record_new(sn_block *block) {
    static draft draft;
    memset(&draft.record, 0, sizeof draft.record);
    look_at(&draft, block);
    if (cache_current.trace != NULL) {
        room_for(UNIT);
        insert_trace(&draft, block, (uint32_t)(atomic_load(&area.used) / UNIT));
    }
    draft.record.counters = sn_counter_new(draft.record.counter_count);
    draft.record.first_site = cache_sites_new(draft.record.instruction_count);
    cache_record *record = keep(&draft);
    insert_counters(block, record);
    if (record->counter_count > atomic_load(&area.most_counters)) {
        atomic_store(&area.most_counters, record->counter_count);
    }
    atomic_store_explicit(&area.used, atomic_load(&area.used) + record->size, memory_order_release);
    return record;
}

/* ---------------------------------------------------------------------- evaluating */

void cache_record_walk(const cache_record *record, const uint64_t *values,
                       uint64_t (*cuts)(uint32_t site, void *data),
                       void (*visit)(const cache_executed *executed, void *data), void *data) {
    uint64_t passes = *values++;
    for (unsigned index = 0; index < record->instruction_count; index++) {
        uint8_t shape = record->instructions[index].shape;
        passes -= cuts(record->first_site + index, data);
        cache_executed executed = {.record = record, .index = index, .executions = passes, .steps = passes};
        if (shape & CACHE_REPEATED) {
            executed.steps = values[0] + values[1];
            values += 2;
        }
        visit(&executed, data);
        if (shape & CACHE_CONDITIONAL) {
            passes -= *values++;
        }
    }
}
