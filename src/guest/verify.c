/**
 * @fileoverview See verify.h.
 *
 * A check goes through the phases of sn_verify_phase. The memory that the instructions may write is known from their
 * operands: before an instruction is stepped, every page that it names is kept. After the last one the pages are kept
 * once more as what is expected, and put back, word by word where they differ. So a translation that writes elsewhere on
 * the same pages is found too; one that writes to other pages is not.
 *
 * Stepping takes some ten microseconds an instruction, most of it in the kernel. A block is checked each of the first
 * times that it is entered, and then ever more seldom: what goes wrong for other values than the first is still found.
 */
#include "guest/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/settings.h"
#include "guest/dispatch.h"
#include "guest/kernel_pages.h"
#include "guest/space.h"
#include "guest/thread.h"
#include "guest/x86_64/verify_step.h"
#include "jit/cache.h"
#include "jit/insert.h"
#include "jit/layout.h"
#include "jit/runtime.h"

/** All of the first entries into a block are checked, then so many while their number doubles (powers of two). */
#define CHECKED_AT_FIRST 8
#define CHECKED_A_DOUBLING 4

#define MOST_PAGES 128
#define MOST_KEPT_PAGES 64
/** A repeated string instruction is stepped once an iteration. */
#define MOST_STEPS 4096

/* ---------------------------------------------------------- the instructions of a block */

#define MOST_ACCESSES 4

typedef struct original {
    sn_insn insn;
    unsigned access_count;
    sn_operand accesses[MOST_ACCESSES];
} original;

/** A block's instructions, decoded once more from the client's memory. */
typedef struct original_block {
    uint32_t number; /**< 0: none */
    bool comparable;
    unsigned count;
    original insns[SN_MOST_INSTRUCTIONS];
} original_block;

#define KEPT_BLOCKS 1024
static original_block *kept_blocks;

static bool decode(original *to, uint64_t client) {
    uint8_t bytes[16];
    size_t size = sn_space_executable(client);
    if (size > 15) size = 15;
    return sn_copy_safely(bytes, (const void *)client, size) && sn_decode(bytes, size, client, &to->insn);
}

/** Where the instruction reads or writes memory. False if it may write where that is not known. */
static bool find_accesses(original *of) {
    sn_operand operands[SN_MOST_OPERANDS];
    int count = sn_operands(&of->insn, operands, SN_MOST_OPERANDS);
    if (count < 0) return false;
    of->access_count = 0;
    for (int i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        if (operand->place != SN_PLACE_MEMORY || operand->role == SN_ROLE_ADDRESS) continue;
        if (!operand->size && !(operand->role & SN_ROLE_WRITTEN)) continue;
        if (!operand->size || of->access_count == MOST_ACCESSES) return false;
        of->accesses[of->access_count++] = *operand;
    }
    return true;
}

static bool find_originals(original_block *block, const sn_block_record *record) {
    uint64_t at = record->client;
    for (block->count = 0; block->count < record->instructions; block->count++) {
        original *next = &block->insns[block->count];
        if (!decode(next, at) || !sn_is_repeatable(&next->insn) || !find_accesses(next)) return false;
        at = next->insn.class == SN_INSN_JUMP ? next->insn.target : at + next->insn.length;
    }
    return !record->checks_itself;
}

static const original_block *originals_of(uint32_t number) {
    if (!kept_blocks) {
        kept_blocks = mmap(NULL, KEPT_BLOCKS * sizeof *kept_blocks, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (kept_blocks == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "no memory for verifying blocks");
    }
    original_block *block = &kept_blocks[number % KEPT_BLOCKS];
    if (block->number != number) {
        block->comparable = find_originals(block, sn_block_record_at(number));
        block->number = number;
    }
    return block;
}

/* --------------------------------------------------------------------------- the check */

typedef struct touched_page {
    uint64_t address;
    int kept; /**< index of its contents, -1 if the client cannot write to it */
} touched_page;

static struct {
    sn_verify_phase phase;
    const sn_thread *thread;
    uint32_t number;
    const original_block *block;
    unsigned at;    /**< index of the instruction that is being stepped */
    unsigned steps;
    sn_verify_reason reason;
    int fault;      /**< signal that the block raised */
    unsigned page_count, kept_count;
    touched_page pages[MOST_PAGES];
    sn_client_state before, expected, got;
} check;

static uint8_t contents_before[MOST_KEPT_PAGES][SN_PAGE_SIZE], contents_after[MOST_KEPT_PAGES][SN_PAGE_SIZE];

static struct {
    uint64_t blocks;   /**< checked at least once */
    uint64_t entries[SN_VERIFY_REASONS];
} statistics;

/** How often each block was entered (blocks whose numbers have the same low bits share a row), and whether it was ever
    compared. */
#define HISTORY 0x100000
static uint32_t history[HISTORY];
#define EVER_COMPARED UINT32_C(0x80000000)

static void count(sn_verify_reason reason) { statistics.entries[reason]++; }

sn_verify_phase sn_verify_phase_of(const sn_thread *thread) {
    return check.phase != SN_VERIFY_IDLE && check.thread == thread ? check.phase : SN_VERIFY_IDLE;
}

static void end(sn_verify_reason reason) {
    count(reason);
    check.phase = SN_VERIFY_IDLE;
    if (reason != SN_VERIFY_DONE || history[check.number % HISTORY] & EVER_COMPARED) return;
    history[check.number % HISTORY] |= EVER_COMPARED;
    statistics.blocks++;
}

static bool is_chosen(uint32_t number) {
    uint32_t *entered = &history[number % HISTORY];
    uint32_t times = *entered & ~EVER_COMPARED;
    if (times + 1 < EVER_COMPARED) ++*entered;
    if (times < CHECKED_AT_FIRST) return true;
    uint32_t power = UINT32_C(1) << (31 - __builtin_clz(times));
    return times % (power / CHECKED_A_DOUBLING) == 0;
}

static void prepare_states(const sn_thread *thread) {
    if (check.before.extended) return;
    size_t size = (sn_client_state_size(thread) + 63) & ~(size_t)63;
    uint8_t *memory = mmap(NULL, 3 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "no memory for verifying blocks");
    check.before.extended = memory;
    check.expected.extended = memory + size;
    check.got.extended = memory + 2 * size;
}

/** Whether an entry into the block can be checked. */
static sn_verify_reason obstacle(const sn_thread *thread, uint32_t number) {
    if (!sn_thread_is_alone(thread)) return SN_VERIFY_THREADS;
    if (thread->pending.present || thread->stepping) return SN_VERIFY_SIGNAL;
    /* Behind a signal handler, an extended state of any form is loaded. */
    if (thread->load_area != thread->save_area || thread->load_mask != thread->save_mask) return SN_VERIFY_SIGNAL;
    if (sn_client_steps_itself(thread) || !originals_of(number)->comparable) return SN_VERIFY_NOT_REPEATABLE;
    return is_chosen(number) ? SN_VERIFY_DONE : SN_VERIFY_NOT_CHOSEN;
}

void sn_verify_enter(sn_thread *thread, uint32_t number) {
    sn_verify_reason reason = obstacle(thread, number);
    if (reason != SN_VERIFY_DONE) {
        count(reason);
        return;
    }
    sn_verify_cancel(thread);
    prepare_states(thread);
    check.thread = thread;
    check.number = number;
    check.block = originals_of(number);
    check.reason = SN_VERIFY_DONE;
    check.fault = 0;
    sn_client_state_save(&check.before, thread);
    thread->resume = sn_runtime_address(sn_runtime_deliver);
    check.phase = SN_VERIFY_ENTERING;
}

void sn_verify_cancel(sn_thread *thread) {
    if (sn_verify_phase_of(thread) != SN_VERIFY_IDLE) end(SN_VERIFY_SIGNAL);
}

void sn_verify_forget(void) {
    check.phase = SN_VERIFY_IDLE;
    if (kept_blocks) madvise(kept_blocks, KEPT_BLOCKS * sizeof *kept_blocks, MADV_DONTNEED);
    for (unsigned i = 0; i < HISTORY; i++) history[i] = 0;
}

/* ------------------------------------------------------------------ stepping: memory */

const sn_insn *sn_verify_instruction(void) { return &check.block->insns[check.at].insn; }

void sn_verify_abandon(sn_verify_reason reason) { check.reason = reason; }

/** Whether others may change it at the same time. */
static bool is_shared(const sn_region *region) {
    return region->flags & MAP_SHARED || (region->kind != SN_REGION_VDSO && sn_kernel_page_region(region));
}

/** The page may be written to by the next instruction. What cannot be accessed is left for the instruction to find. */
static void keep_page(uint64_t address) {
    for (unsigned i = 0; i < check.page_count; i++)
        if (check.pages[i].address == address) return;
    sn_region region;
    if (!sn_space_find(address, &region)) return;
    if (is_shared(&region)) {
        sn_verify_abandon(SN_VERIFY_SHARED);
        return;
    }
    touched_page page = {address, -1};
    if (region.protection & PROT_WRITE) {
        page.kept = (int)check.kept_count++;
        if (check.kept_count > MOST_KEPT_PAGES) {
            check.kept_count--;
            sn_verify_abandon(SN_VERIFY_LENGTH);
            return;
        }
        if (!sn_copy_safely(contents_before[page.kept], (const void *)address, SN_PAGE_SIZE)) {
            check.kept_count--;
            return;
        }
    }
    if (check.page_count == MOST_PAGES) {
        sn_verify_abandon(SN_VERIFY_LENGTH);
        return;
    }
    check.pages[check.page_count++] = page;
}

/** Before the instruction `at` is stepped; false if it must not be. */
static bool keep_memory(const sn_verify_place *place) {
    const original *next = &check.block->insns[check.at];
    for (unsigned i = 0; i < next->access_count; i++) {
        const sn_operand *access = &next->accesses[i];
        uint64_t start = sn_operand_offset(access, &next->insn, place->general);
        if (access->segment == SN_SEGMENT_FS) start += check.thread->client_base;
        uint64_t last = (start + access->size - 1) & ~(SN_PAGE_SIZE - 1);
        for (uint64_t page = start & ~(SN_PAGE_SIZE - 1); page <= last; page += SN_PAGE_SIZE) keep_page(page);
    }
    return check.reason == SN_VERIFY_DONE;
}

/** The pages as the original code leaves them are what is expected; then they are as before again. */
static void undo_memory(void) {
    for (unsigned i = 0; i < check.page_count; i++) {
        if (check.pages[i].kept < 0) continue;
        volatile uint64_t *page = (volatile uint64_t *)check.pages[i].address;
        const uint64_t *before = (const uint64_t *)contents_before[check.pages[i].kept];
        uint64_t *after = (uint64_t *)contents_after[check.pages[i].kept];
        memcpy(after, (const void *)page, SN_PAGE_SIZE);
        if (!memcmp(before, after, SN_PAGE_SIZE)) continue;
        for (unsigned word = 0; word < SN_PAGE_SIZE / 8; word++)
            if (before[word] != after[word]) page[word] = before[word];
    }
}

/* ----------------------------------------------------------------- stepping: progress */

bool sn_verify_start(sn_thread *thread, const sn_verify_place *place) {
    (void)thread;
    check.phase = SN_VERIFY_STEPPING;
    check.at = check.steps = check.page_count = check.kept_count = 0;
    return keep_memory(place);
}

bool sn_verify_advance(sn_thread *thread, const sn_verify_place *place) {
    if (thread->pending.present) sn_verify_abandon(SN_VERIFY_SIGNAL);
    else if (++check.steps > MOST_STEPS) sn_verify_abandon(SN_VERIFY_LENGTH);
    if (check.reason != SN_VERIFY_DONE) return false;
    const sn_insn *done = sn_verify_instruction();
    /* Repeated instructions and gathers trap in their middle. */
    bool again = done->class == SN_INSN_PLAIN && place->pc == done->pc;
    if (!again) {
        check.at++;
        if (check.at == check.block->count || check.block->insns[check.at].insn.pc != place->pc) {
            check.at--;
            return false;
        }
    }
    return keep_memory(place);
}

void sn_verify_note_fault(int number) { check.fault = number; }

/** The original code is done: back to the state before, then into the block. */
static void enter_after_stepping(sn_thread *thread) {
    sn_client_state_save(&check.expected, thread);
    undo_memory();
    sn_client_state_load(&check.before, thread);
    thread->resume = sn_block_record_at(check.number)->entry;
    if (thread->pending.present && check.reason == SN_VERIFY_DONE) check.reason = SN_VERIFY_SIGNAL;
    if (check.reason == SN_VERIFY_DONE) check.phase = SN_VERIFY_RUNNING;
    else end(check.reason);
}

/* --------------------------------------------------------------------------- comparing */

#define MOST_DIFFERENCES 12

/** The differences, kept until all are known. */
static char differences[MOST_DIFFERENCES][160];
static unsigned difference_count;

static void note_difference(const char *what, uint64_t expected, uint64_t got) {
    if (difference_count < MOST_DIFFERENCES)
        snprintf(differences[difference_count], sizeof differences[0], "  %s: expected %#lx, got %#lx", what,
                 (unsigned long)expected, (unsigned long)got);
    difference_count++;
}

static void compare_memory(void) {
    for (unsigned i = 0; i < check.page_count; i++) {
        if (check.pages[i].kept < 0) continue;
        const uint64_t *page = (const uint64_t *)check.pages[i].address;
        const uint64_t *after = (const uint64_t *)contents_after[check.pages[i].kept];
        if (!memcmp(page, after, SN_PAGE_SIZE)) continue;
        for (unsigned word = 0; word < SN_PAGE_SIZE / 8; word++) {
            if (page[word] == after[word]) continue;
            char what[40];
            snprintf(what, sizeof what, "memory at %#lx", (unsigned long)&page[word]);
            note_difference(what, after[word], page[word]);
        }
    }
}

_Noreturn static void report(sn_thread *thread) {
    char text[128];
    sn_message("block %u at %#lx does not do what its instructions do one by one:", check.number,
               (unsigned long)check.before.pc);
    if (check.fault) sn_message("  it raises signal %d, and they do not", check.fault);
    for (unsigned i = 0; i < difference_count && i < MOST_DIFFERENCES; i++) sn_message("%s", differences[i]);
    if (difference_count > MOST_DIFFERENCES) sn_message("  and %u more", difference_count - MOST_DIFFERENCES);
    sn_message("its instructions:");
    for (unsigned i = 0; i < check.block->count; i++) {
        const sn_insn *insn = &check.block->insns[i].insn;
        sn_message("  %12lx  %s%s", (unsigned long)insn->pc,
                   sn_disassemble(insn->bytes, insn->length, insn->pc, text, sizeof text),
                   i == check.at ? "   (the last that was executed)" : "");
    }
    sn_message("--debug-verify=yes --debug-dump-block=%u shows what was made of them", check.number);
    snprintf(text, sizeof text, "block %u is translated wrongly", check.number);
    sn_engine_failure(thread, check.before.pc, text);
}

static void compare(sn_thread *thread) {
    difference_count = 0;
    sn_client_state_save(&check.got, thread);
    sn_client_state_compare(thread, &check.expected, &check.got, note_difference);
    compare_memory();
    if (difference_count || check.fault) {
        check.phase = SN_VERIFY_IDLE;
        report(thread);
    }
    end(SN_VERIFY_DONE);
}

bool sn_verify_left(sn_thread *thread, uint32_t exit) {
    sn_verify_phase phase = sn_verify_phase_of(thread);
    if (phase == SN_VERIFY_IDLE || sn_exit_is_call(exit)) return false;
    if (exit == SN_EXIT_VERIFIED) {
        enter_after_stepping(thread);
        return true;
    }
    bool whole = exit >= SN_EXIT_FIRST_BLOCK_EXIT || exit == SN_EXIT_INDIRECT || exit == SN_EXIT_FAR;
    if (phase == SN_VERIFY_RUNNING && (whole || check.fault)) compare(thread);
    else sn_verify_cancel(thread);
    return false;
}

/* -------------------------------------------------------------------------- statistics */

void sn_verify_print_statistics(void) {
    static const char *const names[SN_VERIFY_REASONS] = {
        [SN_VERIFY_NOT_CHOSEN] = "seen often",        [SN_VERIFY_NOT_REPEATABLE] = "not repeatable",
        [SN_VERIFY_THREADS] = "several threads",      [SN_VERIFY_SIGNAL] = "signals",
        [SN_VERIFY_FAULT] = "faults",                 [SN_VERIFY_SHARED] = "shared memory",
        [SN_VERIFY_LENGTH] = "too long",
    };
    char text[256] = "";
    size_t used = 0;
    for (unsigned i = SN_VERIFY_DONE + 1; i < SN_VERIFY_REASONS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lu %s", used ? ", " : "",
                                 (unsigned long)statistics.entries[i], names[i]);
    sn_message("verified: %lu blocks in %lu entries; skipped: %s", (unsigned long)statistics.blocks,
               (unsigned long)statistics.entries[SN_VERIFY_DONE], text);
}
