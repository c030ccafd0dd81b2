/**
 * @fileoverview Two versions of the client's code: see versions.h. Owns what the tool has asked for.
 */
#include "jit/versions.h"

#include <sys/mman.h>

#include "base/log.h"
#include "base/settings.h"
#include "jit/cache.h"
#include "jit/insert.h"
#include "jit/layout.h"
#include "jit/thread.h"

/** A version is left when fewer instructions are left than this, or this part of all. With so many, every block can run that the
    thread comes to: it would go to and fro without end otherwise. */
enum { LEAST_LEFT = SN_MOST_INSTRUCTIONS * SN_THREAD_LEFT_PARTS, LEAST_SHARE = 1024 };

/** Instructions after which it is tried again to change, when that was not possible. */
enum { LATER = 4000 };

static sn_versions asked;
static bool are_two;
static _Atomic uint64_t changes;
static bool (*listener)(sn_thread *thread, unsigned version);

bool sn_versions_are_two(void) { return are_two; }
uint64_t sn_versions_changes(void) { return changes; }

/* ---------------------------------------------------------------------------------------------------- heads */

/** A bit for each address of the low window, committed as they are touched. */
static uint8_t *heads, *returns;

static uint8_t *reserve_bits(void) {
    void *bits = mmap(NULL, SN_LOW_END / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "no address space for two versions of the code");
    return bits;
}

static bool has_bit(const uint8_t *bits, uint64_t address) {
    return sn_in_low_window(address) && bits[address / 8] >> address % 8 & 1;
}

static void set_bit(uint8_t *bits, uint64_t address) {
    if (are_two && sn_in_low_window(address)) bits[address / 8] |= (uint8_t)(1u << address % 8);
}

void sn_versions_note_return(uint64_t address) { set_bit(returns, address); }
void sn_versions_note_head(uint64_t address) { set_bit(heads, address); }

void sn_versions_note_branch(uint64_t address) {
    if (are_two && !has_bit(returns, address)) set_bit(heads, address);
}

bool sn_versions_is_head(uint64_t address) {
    return are_two && (!sn_in_low_window(address) || has_bit(heads, address));
}

/* --------------------------------------------------------------------------------------------------- counting */

void sn_versions_start(const sn_versions *versions) {
    if (are_two) sn_fail(SN_STATUS_ENGINE, "two services ask for versions of the code");
    for (unsigned version = 0; version < SN_VERSIONS; version++)
        if (versions->instructions[version] < 1) sn_fail(SN_STATUS_ENGINE, "a version of the code is to run for no instruction");
    asked = *versions;
    are_two = true;
    sn_indirect_second_table();
    heads = reserve_bits();
    returns = reserve_bits();
}

unsigned sn_block_version(const sn_block *block) { return block->version; }
SN_FAST unsigned sn_thread_version(const sn_thread *thread) { return thread->version; }

/** Each block counts one part down. */
static void give_out(sn_thread *thread, int64_t instructions) {
    if (instructions < LEAST_LEFT) instructions = LEAST_LEFT;
    for (unsigned part = 0; part < SN_THREAD_LEFT_PARTS; part++) thread->left[part] = instructions / SN_THREAD_LEFT_PARTS;
}

/** How much heads count of so many instructions, as far as the thread has shown. At first a third is a guess. */
static int64_t by_heads(const sn_thread *thread, int64_t instructions) {
    enum { FIRST_SHARE = 3, LEAST_COUNTED = 1000, LEAST_HEADS = 32 };
    int64_t counted = thread->counted, passed = thread->passed;
    if (counted < LEAST_COUNTED) return instructions / FIRST_SHARE;
    if (passed > counted) passed = counted;
    if (passed < counted / LEAST_HEADS) passed = counted / LEAST_HEADS;
    return (int64_t)((double)instructions * (double)passed / (double)counted);
}

static int64_t left_of(const sn_thread *thread) {
    int64_t left = 0;
    for (unsigned part = 0; part < SN_THREAD_LEFT_PARTS; part++) left += thread->left[part];
    return left;
}

/** Blocks that are verified must end where the original code does: then every thread stays where it began. */
static void enter(sn_thread *thread, unsigned version) {
    bool stays = !are_two || thread->borrowed || sn_settings_current.verify_blocks;
    int64_t instructions = stays ? INT64_MAX : asked.instructions[version];
    if (!stays && version != SN_VERSION_COUNTED) instructions = by_heads(thread, instructions);
    thread->version = version;
    give_out(thread, instructions);
    thread->general_table = sn_general_table(version);
}

void sn_versions_thread_begins(sn_thread *thread) { enter(thread, are_two && !thread->borrowed ? asked.first : 0); }

void sn_versions_listen(bool (*changes)(sn_thread *thread, unsigned version)) { listener = changes; }

bool sn_versions_is_due(const sn_thread *thread) {
    int64_t any = 0;
    for (unsigned part = 0; part < SN_THREAD_LEFT_PARTS; part++) any |= thread->left[part];
    return any < 0;
}

/** One part is used up. The others are given out again, unless so little is left that it is not worth while. */
static bool goes_on(sn_thread *thread) {
    int64_t left = left_of(thread), least = asked.instructions[thread->version] / LEAST_SHARE;
    if (left < (least > LEAST_LEFT ? least : LEAST_LEFT)) return false;
    give_out(thread, left);
    return true;
}

void sn_versions_change(sn_thread *thread) {
    if (goes_on(thread)) return;
    if (listener && !listener(thread, !thread->version)) {
        give_out(thread, LATER);
        return;
    }
    changes++;
    if (thread->version == SN_VERSION_COUNTED) thread->counted += asked.instructions[SN_VERSION_COUNTED] - left_of(thread);
    enter(thread, !thread->version);
    if (asked.changed) SN_TELL_TOOL("changed", asked.changed(thread, thread->version));
}
