/**
 * @fileoverview Forming superblocks: which instructions make a block, from one entry through the fall-through of
 * conditional branches and through direct jumps, up to a limit.
 *
 * Superblocks were the largest single gain of the engine (python3 from 2.07 to 1.4 times native); a longer limit than
 * about 40 instructions translates more code than it saves.
 */
#include "jit/translate.h"

#include <string.h>

#include "sonde/hash.h"
#include "base/log.h"
#include "base/settings.h"
#include "jit/cache.h"
#include "jit/client_code.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/versions.h"

sn_translate_statistics sn_translate_statistics_current;

static const sn_tool *tool;
static sn_block building;
static bool keeps_flags;

/** A copy of the client code around the place being decoded. Copied in pieces: one call a piece, not an instruction. */
typedef struct fetch_window {
    uint64_t start;
    size_t size;
    uint8_t bytes[128];
} fetch_window;

/** The file behind a mapping may have been cut short, so that even a mapped page can fault: take what can be had. */
static void refill(fetch_window *window, uint64_t client) {
    size_t size = sn_space_executable(client);
    if (size > sizeof window->bytes) size = sizeof window->bytes;
    window->start = client;
    window->size = size;
    if (size && !sn_copy_safely(window->bytes, (const void *)client, size)) {
        size_t in_page = SN_PAGE_SIZE - (client & (SN_PAGE_SIZE - 1));
        window->size = in_page < size && sn_copy_safely(window->bytes, (const void *)client, in_page) ? in_page : 0;
    }
}

/** Bytes at `client` that can be fetched, at most 15 of interest. */
static size_t fetchable(fetch_window *window, uint64_t client) {
    if (client - window->start >= window->size || window->start + window->size - client < 15) refill(window, client);
    return window->start + window->size - client;
}

static bool decode_at(fetch_window *window, uint64_t client, sn_insn *insn, uint64_t *fault) {
    fetchable(window, client);
    const uint8_t *bytes = window->bytes + (client - window->start);
    size_t size = window->size - (client - window->start);
    bool ok = sn_settings_current.no_fast_decode ? sn_decode_slowly(bytes, size, client, insn)
                                                 : sn_decode(bytes, size, client, insn);
    if (ok) return true;
    if (size >= 15) {
        /* Nothing that the processor would accept begins so: let it say so itself. The longest possible prefix of it is
           copied and faults there as it would have. */
        memset(insn, 0, sizeof *insn);
        insn->pc = client;
        insn->length = 15;
        insn->class = SN_INSN_UNDEFINED;
        insn->flags_read = SN_FLAGS_ARITHMETIC;
        insn->registers_read = insn->registers_touched = 0xffff;
        memcpy(insn->bytes, bytes, 15);
        return true;
    }
    *fault = client + size;
    return false;
}

static bool ends_block(const sn_insn *insn) {
    switch (insn->class) {
    case SN_INSN_PLAIN:
    case SN_INSN_CONDITIONAL:
    case SN_INSN_LOOP:
    case SN_INSN_TRANSACTION_BEGIN:
    case SN_INSN_READ_SEGMENT_BASE:
    case SN_INSN_WRITE_SEGMENT_BASE:
        return false;
    default:
        return true;
    }
}

/** While blocks are verified, what cannot be compared is kept apart from what can. */
static bool stands_alone(const sn_insn *insn) { return sn_settings_current.verify_blocks && !sn_is_repeatable(insn); }

/**
 * A predicted return costs four more instructions and two more jumps than an indirect one, so that small programs, whose
 * indirect jumps the processor predicts as well, are slower by it: recursive calls took 1.74 instead of 1.24 times native,
 * perl 1.43 instead of 1.21. Where the code is large, mispredicted returns take a quarter of all time: gcc's cc1 went from
 * 2.29 to 1.93.
 */
#define LARGE_PROGRAM_BLOCKS 35000

static bool returns_are_predicted;

static bool (*is_selected)(uint64_t address); /**< NULL: all code is */

static void (*insert_own)(sn_block *block); /**< the engine's own code, after the tool's; NULL: none */

static sn_call_follower follower; /**< all NULL: none */

void sn_translate_follow(const sn_call_follower *given) { follower = *given; }

void sn_translate_insert(void (*insert)(sn_block *block)) { insert_own = insert; }

void sn_translate_select(bool (*selected)(uint64_t address)) { is_selected = selected; }

/** Whether code at `next` may not join the block, because one is for the tool and the other is not. */
static bool selection_changes(const sn_block *block, uint64_t next) {
    return is_selected && block->count && is_selected(next) != is_selected(block->address);
}

bool sn_returns_are_predicted(void) { return returns_are_predicted; }

void sn_translate_init(const sn_tool *chosen) {
    tool = chosen;
    returns_are_predicted = sn_settings_current.return_prediction == SN_RETURNS_PREDICTED;
}

/** What sn_instrumentation_enable() asked for, and what the code in the cache was made by. */
static _Atomic bool wants_bare;
static bool bare;

void sn_instrumentation_enable(bool on) { wants_bare = !on; }
bool sn_instrumentation_is_enabled(void) { return !wants_bare; }

/** How often sn_instrumentation_renew() was called, and how often it had been when the cache was emptied last. */
static _Atomic unsigned wanted_renewals;
static unsigned renewals;

void sn_instrumentation_renew(void) { wanted_renewals++; }

/** Nothing of the program's code is analysed, so that calls and returns are emitted plainly. */
static bool may_predict(void) { return !tool->instrument && !follower.after; }

bool sn_translate_wants_afresh(void) {
    bool large = sn_settings_current.return_prediction == SN_RETURNS_AUTO && !returns_are_predicted &&
                 may_predict() && sn_block_count() > LARGE_PROGRAM_BLOCKS;
    return large || wants_bare != bare || wanted_renewals != renewals || sn_cache_full();
}

void sn_translate_afresh(void) {
    if (sn_settings_current.return_prediction == SN_RETURNS_AUTO && wants_bare == bare)
        returns_are_predicted = may_predict() && sn_block_count() > LARGE_PROGRAM_BLOCKS;
    bool again = bare && !wants_bare;
    renewals = wanted_renewals;
    bare = wants_bare;
    if (again && follower.again) follower.again();
    sn_blocks_clear();
    sn_cache_clear();
}

bool sn_translates_alone(const sn_insn *insn) {
    bool call = insn->class == SN_INSN_CALL || insn->class == SN_INSN_CALL_INDIRECT;
    return call && returns_are_predicted && sn_in_low_window(insn->pc);
}

static bool in_block(const sn_block *block, uint64_t client) {
    for (unsigned i = 0; i < block->count; i++)
        if (block->insns[i].pc == client) return true;
    return false;
}

static void append(sn_block *block, const sn_insn *insn) {
    unsigned at = block->count++;
    block->insns[at] = *insn;
    block->views[at] = (sn_instruction){.address = insn->pc, .length = insn->length, .kind = (uint8_t)sn_kind_of(insn),
                                        .repeated = insn->repeated, .target = insn->target,
                                        .accesses_vary = tool->instrument && sn_accesses_vary(insn)};
    block->followed[at] = false;
    block->taken[at].amount = 0;
    block->iterations[at].present = false;
}

static unsigned most_instructions(uint64_t client, uint32_t number) {
    unsigned limit = sn_settings_current.block_limit ? sn_settings_current.block_limit : 40;
    if (number >= sn_settings_current.bisect_blocks) limit = 1;
    if (sn_client_code_is_hot(client) && sn_client_code_rewrites_itself(client)) limit = 1;
    return limit > SN_MOST_INSTRUCTIONS ? SN_MOST_INSTRUCTIONS : limit;
}

/** Collect the instructions of the block at `client`. */
static bool form(sn_block *block, uint64_t client, uint32_t number, unsigned limit, uint64_t *fault) {
    bool follow = !sn_settings_current.no_superblocks && number < sn_settings_current.bisect_blocks;
    fetch_window window;
    window.start = window.size = 0;
    uint64_t at = client;
    sn_block_reset(block, client);
    block->far = !sn_in_low_window(client);
    while (block->count < limit || sn_delays_trap(&block->insns[block->count - 1])) {
        if (block->count == SN_MOST_INSTRUCTIONS) break;
        sn_insn insn;
        if (!decode_at(&window, at, &insn, fault)) return block->count > 0;
        if (block->count && stands_alone(&insn) && !sn_delays_trap(&block->insns[block->count - 1])) break;
        if (block->count && (sn_translates_alone(&insn) || selection_changes(block, at)) &&
            !sn_delays_trap(&block->insns[block->count - 1])) {
            block->followed[block->count - 1] = false;
            break;
        }
        append(block, &insn);
        at += insn.length;
        if (insn.class == SN_INSN_JUMP && follow && block->count < limit && !in_block(block, insn.target) &&
            sn_in_low_window(insn.target) == !block->far && fetchable(&window, insn.target)) {
            block->followed[block->count - 1] = true;
            at = insn.target;
        } else if (ends_block(&insn) || stands_alone(&insn) || (!follow && insn.class != SN_INSN_PLAIN)) {
            break;
        } else if (in_block(block, at)) {
            break;
        }
    }
    return true;
}

/** One stretch of client code that a block was made from. */
typedef struct code_stretch {
    uint64_t start, end;
    unsigned first, count; /**< instructions */
} code_stretch;

/** The stretch that begins with instruction `first`. */
static code_stretch stretch_at(const sn_block *block, unsigned first) {
    code_stretch stretch = {block->insns[first].pc, block->insns[first].pc, first, 0};
    while (first < block->count && block->insns[first].pc == stretch.end) {
        stretch.end += block->insns[first++].length;
        stretch.count++;
    }
    return stretch;
}

static bool unchanged(const sn_block *block, const code_stretch *stretch) {
    uint8_t now[SN_MOST_INSTRUCTIONS * 15];
    if (!sn_copy_safely(now, (const void *)stretch->start, stretch->end - stretch->start)) return false;
    for (unsigned i = stretch->first; i < stretch->first + stretch->count; i++) {
        const sn_insn *insn = &block->insns[i];
        if (memcmp(now + (insn->pc - stretch->start), insn->bytes, insn->length)) return false;
    }
    return true;
}

/**
 * Have writes to the block's code fault from now on, and make sure that it is still what was decoded: another thread
 * may have written in between. Notes the code's pages for the block. Returns false if it has changed.
 */
static bool watch_code(sn_block *block, uint32_t number) {
    bool same = true;
    for (unsigned i = 0; i < block->count;) {
        code_stretch stretch = stretch_at(block, i);
        if (sn_client_code_is_hot(stretch.start) || !sn_space_watch_code(stretch.start, stretch.end))
            block->checks_itself = true;
        if (sn_block_note_code(number, stretch.start, stretch.end)) sn_client_code_used(stretch.start);
        same &= unchanged(block, &stretch);
        i += stretch.count;
    }
    return same;
}

static bool is_instrumented(uint64_t client, uint32_t number) {
    return tool->instrument && !bare && (!is_selected || is_selected(client)) &&
           number < sn_settings_current.bisect_blocks;
}

/** What the tool and the engine's services insert. */
static void insert(uint32_t number) {
    bool followed = follower.after && !bare;
    if (followed) follower.before(&building);
    if (is_instrumented(building.address, number)) SN_TELL_TOOL("instrument", tool->instrument(&building));
    if (followed) follower.after(&building);
    if (insert_own) insert_own(&building);
}

static void count_block(uint32_t number) {
    sn_translate_statistics_current.blocks++;
    sn_translate_statistics_current.instructions += building.count;
    for (unsigned i = 0; i < building.count; i++)
        sn_translate_statistics_current.client_bytes += building.insns[i].length;
    if (sn_settings_current.dump_blocks || sn_settings_current.dump_block == number) sn_dump_block(&building, number);
}

/** Addresses of blocks whose full variants could not be made by themselves: these must be made together with the clean ones. The full one
    is too large, so that the block must be shorter; or the code does not give the same block again. */
static sn_hash together;

static bool is_together(uint64_t client) { return sn_hash_get(&together, client, false); }

void sn_translate_together(uint32_t clean) {
    sn_hash_set(&together, sn_block_record_at(clean)->client, true);
    sn_block_discard(clean);
}

/** A record for the block that is being made. */
static uint32_t record_block(void) {
    uint32_t number = sn_block_new();
    sn_block_record *record = sn_block_record_at(number);
    record->client = building.address;
    record->version = building.version;
    record->is_head = building.is_head;
    record->is_full = building.is_full;
    record->instructions = (uint16_t)building.count;
    record->checks_itself = building.checks_itself;
    return number;
}

uint32_t sn_translate(unsigned version, uint64_t client, uint64_t *fault) {
    uint32_t number = sn_block_find(version, client);
    if (number && sn_block_record_at(number)->is_head == sn_versions_is_head(client)) return number;
    if (number) sn_block_discard(number);
    unsigned limit = most_instructions(client, sn_block_count());
    bool may_split = !sn_settings_current.verify_blocks && !is_together(client); /* verified blocks are compared as a whole */
    bool is_made;
    do {
        number = sn_block_count();
        do {
            if (!form(&building, client, number, limit, fault)) return 0;
        } while (!watch_code(&building, number));
        building.version = (uint8_t)version;
        building.is_head = sn_versions_is_head(client);
        building.counts_down = building.is_head || version == SN_VERSION_COUNTED;
        building.is_split = may_split;
        insert(number);
        if (record_block() != number) sn_fail(SN_STATUS_ENGINE, "the tool's instrument callback translated a block");
        is_made = sn_emit_block(&building, number);
        /* With much analysis code a block can be too large: half of it then. */
        limit = building.must_be_whole ? building.count : building.count / 2;
        may_split = may_split && !building.must_be_whole;
    } while (!is_made && limit);
    if (!sn_block_record_at(number)->size) sn_fail(SN_STATUS_ENGINE, "no room for a block in the code cache");
    sn_block_publish(number);
    count_block(number);
    return number;
}

/** The same instructions as before: their pages are watched, and a block whose code has changed is not valid any more. */
static bool form_again(const sn_block_record *clean, uint32_t number) {
    uint64_t fault;
    do {
        if (!form(&building, clean->client, number, clean->instructions, &fault)) return false;
    } while (!watch_code(&building, number));
    return building.count == clean->instructions;
}

uint32_t sn_translate_full(uint32_t clean) {
    sn_block_record *of = sn_block_record_at(clean);
    if (!of->valid) return 0;
    if (of->full && sn_block_record_at(of->full)->valid) return of->full;
    uint32_t number = sn_block_count();
    if (!form_again(of, number)) {
        sn_translate_together(clean);
        return 0;
    }
    building.version = of->version;
    building.is_full = true;
    insert(number);
    if (record_block() != number) sn_fail(SN_STATUS_ENGINE, "the tool's instrument callback translated a block");
    if (!sn_emit_block(&building, number)) {
        sn_translate_together(clean);
        return 0;
    }
    of->full = number;
    sn_block_publish(number);
    count_block(number);
    return number;
}

uint32_t sn_translate_bare(unsigned version, uint64_t client, uint64_t *fault) {
    uint32_t number = sn_block_count();
    do {
        if (!form(&building, client, number, 1, fault)) return 0;
    } while (!watch_code(&building, number));
    building.version = (uint8_t)version;
    record_block();
    if (!sn_emit_block(&building, number)) sn_fail(SN_STATUS_ENGINE, "no room for a block in the code cache");
    return number;
}

void sn_flags_keep_all(void) { keeps_flags = true; }

bool sn_flags_are_kept(void) { return keeps_flags; }

unsigned sn_flags_live_at(uint64_t client) {
    enum { LOOKED_AT = 6 };
    if (keeps_flags) return SN_FLAGS_ARITHMETIC;
    fetch_window window;
    window.start = window.size = 0;
    uint64_t fault;
    unsigned live = 0, open = SN_FLAGS_ARITHMETIC; /* nothing is known of these yet */
    for (unsigned i = 0; i < LOOKED_AT && open; i++) {
        sn_insn insn;
        if (!decode_at(&window, client, &insn, &fault)) break;
        live |= insn.flags_read & open;
        if (sn_fault_kind_of(&insn) == SN_FAULT_ANY) break;
        open &= ~(unsigned)insn.flags_written;
        if (insn.class == SN_INSN_JUMP || insn.class == SN_INSN_CALL) client = insn.target;
        else if (insn.class == SN_INSN_PLAIN) client += insn.length;
        else break;
    }
    return live | open;
}
