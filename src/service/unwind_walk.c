/**
 * @fileoverview Walking from frame to frame, by steps that are known: see unwind.h. Runs in the code cache: calls nothing
 * outside, compiled for general registers only.
 */
#include "guest/space.h"
#include "service/context_tree.h"
#include "service/shadow_stack.h"
#include "service/unwind.h"

sn_slot sn_unwind_slot;
const uint64_t *sn_unwind_steps;
uint64_t sn_unwind_forgotten;

sn_unwind_step *sn_unwind_find(uint64_t key) {
    const uint64_t *table = __atomic_load_n(&sn_unwind_steps, __ATOMIC_ACQUIRE);
    for (uint64_t at = sn_unwind_place_of(key);; at++) {
        sn_unwind_step *step = (sn_unwind_step *)__atomic_load_n(&table[1 + (at & table[0])], __ATOMIC_ACQUIRE);
        if (!step || step->key == key) return step;
    }
}

/** The step of a frame whose callee has the step `inner` (NULL: it is the innermost one): mostly the same as the last time. */
static sn_unwind_step *step_of(sn_unwind_step *inner, uint64_t key) {
    sn_unwind_step *last = inner ? __atomic_load_n(&inner->outer, __ATOMIC_ACQUIRE) : 0;
    if (last && last->key == key) return last;
    sn_unwind_step *found = sn_unwind_find(key);
    if (inner) __atomic_store_n(&inner->outer, found, __ATOMIC_RELEASE);
    return found;
}

static bool can_read(const sn_unwind_chain *chain, uint64_t address) {
    if (address & 7) return false;
    return (address >= chain->parts[0].low && address < chain->parts[0].high) ||
           (address >= chain->parts[1].low && address < chain->parts[1].high);
}

bool sn_unwind_can_read(sn_thread *thread, uint64_t address) {
    const sn_unwind_chain *chain = sn_unwind_chain_of(thread);
    return chain->losses == __atomic_load_n(sn_space_losses, __ATOMIC_ACQUIRE) && can_read(chain, address);
}

/** Where a value of the caller lies; 0 if it is in no memory. */
static uint64_t place_of(uint8_t place, int32_t offset, uint64_t frame_address, uint64_t stack) {
    return place == SN_UNWIND_AT_FRAME ? frame_address + (uint64_t)(int64_t)offset
         : place == SN_UNWIND_AT_STACK ? stack + (uint64_t)(int64_t)offset : 0;
}

static uint64_t word_at(uint64_t address) { return *(const uint64_t *)address; }

/** The same where the step is plain: without a return address that is no such thing, or memory that is not known, it is left to
    go_out(). */
static bool go_out_plainly(const sn_unwind_chain *chain, const sn_unwind_frame *inner, sn_unwind_frame *outer) {
    const sn_unwind_step *step = inner->step;
    uint64_t key_at = inner->stack + (uint64_t)(int64_t)step->return_offset;
    uint64_t frame_at = inner->stack + (uint64_t)(int64_t)step->frame_offset;
    if (!step->is_plain || inner->stack < chain->parts[0].low || key_at >= chain->parts[0].high || inner->stack & 7) return false;
    uint64_t return_address = word_at(key_at);
    outer->key_at = key_at;
    outer->frame_at = step->frame_offset >= 0 ? frame_at : 0;
    outer->key = sn_unwind_key(return_address, false);
    outer->stack = inner->stack + (uint64_t)(int64_t)step->rule.offset;
    outer->frame = step->frame_offset >= 0 ? word_at(frame_at) : inner->frame;
    return return_address != 0;
}

/** The next outer frame. False at the outermost one, and where nothing sensible lies there. *must_ask if its memory is not known
    to be readable. */
static bool go_out(const sn_unwind_chain *chain, const sn_unwind_frame *inner, sn_unwind_frame *outer, bool *must_ask) {
    const sn_unwind_rule *rule = &inner->step->rule;
    *must_ask = false;
    if (rule->is_outermost) return false;
    uint64_t frame_address = (rule->by_frame_pointer ? inner->frame : inner->stack) + (uint64_t)(int64_t)rule->offset;
    if (rule->is_loaded) {
        *must_ask = !can_read(chain, frame_address);
        if (*must_ask) return false;
        frame_address = word_at(frame_address);
    }
    outer->key_at = place_of(rule->return_place, rule->return_offset, frame_address, inner->stack);
    outer->frame_at = place_of(rule->frame_place, rule->frame_offset, frame_address, inner->stack);
    bool is_readable = can_read(chain, outer->key_at) && (!outer->frame_at || can_read(chain, outer->frame_at));
    /* Callers lie higher on the same stack; an interrupted function may be on another one. */
    if (frame_address <= inner->stack && !rule->is_signal) return false;
    *must_ask = !is_readable;
    if (!is_readable) return false;
    outer->key = sn_unwind_key(word_at(outer->key_at), rule->is_signal);
    outer->stack = frame_address;
    outer->frame = outer->frame_at ? word_at(outer->frame_at) : inner->frame;
    return outer->key > 1;
}

/** Whether what made the frames further out than number `inner` still lies on the stack. If not, *position is how many of them may
    be right. All checks are of memory that can be read, since nothing has been lost. */
static bool outer_part_is_same(const sn_unwind_chain *chain, uint32_t inner, uint32_t *position) {
    for (uint32_t check = chain->frames[inner].checks; check-- > 0;) {
        if (word_at(chain->checks[check].at) == chain->checks[check].expected) continue;
        *position = inner;
        while (chain->frames[*position].checks > check) --*position;
        return false;
    }
    return true;
}

/** The last chain's frames that are kept, if `frame` is one of them: up to and with it. 0: none. *position is where to look
    next. */
static uint32_t known_part(sn_unwind_chain *chain, const sn_unwind_frame *frame, uint32_t *position) {
    while (*position && chain->frames[*position - 1].stack < frame->stack) --*position;
    if (!*position) return 0;
    sn_unwind_frame *found = chain->frames + *position - 1;
    if (found->stack != frame->stack || found->key != frame->key) return 0;
    if (found->needs_frame && found->frame != frame->frame) return 0;
    if (!outer_part_is_same(chain, *position - 1, position)) return 0;
    found->key_at = frame->key_at; /* it may have been the innermost one */
    found->frame_at = frame->frame_at;
    return *position;
}

/** The context of a frame, the one that it is called from being known. What a handler returns to, which makes the kernel restore
    all registers, is no function of its own: the handler is called from the interrupted one. */
static uint32_t context_of(const sn_unwind_frame *frame, const sn_unwind_frame *caller) {
    if (!caller) return sn_context_node_of(0, SN_SITE_NONE, frame->step->function);
    if (frame->step->rule.is_signal) return caller->context;
    uint32_t site = caller->step->rule.is_signal ? SN_SITE_SIGNAL : caller->step->site;
    return sn_context_node_known(caller->step->memos, caller->context, site, frame->step->function);
}

/** The words that a frame was found by, now that it has a callee in the chain, are checks of all those further in. */
static uint16_t add_checks(sn_unwind_chain *chain, const sn_unwind_frame *frame) {
    uint16_t count = frame->checks;
    chain->checks[count++] = (sn_unwind_check){frame->key_at, frame->key >> 1};
    if (frame->needs_frame && frame->frame_at) chain->checks[count++] = (sn_unwind_check){frame->frame_at, frame->frame};
    return count;
}

/** From the outer part that is known to the innermost frame: contexts, and what is to be checked the next time. */
static uint32_t put_together(sn_unwind_chain *chain, uint32_t kept, uint32_t fresh) {
    for (sn_unwind_frame *frame = chain->frames + kept; fresh--; frame++) {
        sn_unwind_frame *caller = kept ? frame - 1 : 0;
        *frame = chain->fresh[fresh];
        frame->needs_frame = frame->step->rule.by_frame_pointer || (caller && caller->needs_frame && !caller->frame_at);
        frame->checks = caller ? add_checks(chain, caller) : 0;
        frame->context = context_of(frame, caller);
        kept++;
    }
    chain->count = kept;
    return kept ? chain->frames[kept - 1].context : 0;
}

bool sn_unwind(sn_thread *thread, const sn_unwind_start *start, uint32_t *context) {
    sn_unwind_chain *chain = sn_unwind_chain_of(thread);
    sn_unwind_frame *frame = chain->fresh;
    uint32_t position = chain->count, fresh = 0, kept = 0;
    bool must_ask;
    chain->missing = 0;
    chain->missing_stack = start->stack;
    if (chain->losses != __atomic_load_n(sn_space_losses, __ATOMIC_ACQUIRE)) return false;
    uint64_t forgotten = __atomic_load_n(&sn_unwind_forgotten, __ATOMIC_ACQUIRE);
    if (chain->forgotten != forgotten) chain->count = position = 0;
    chain->forgotten = forgotten;
    frame->key = sn_unwind_key(start->address, start->is_exact);
    frame->stack = start->stack;
    frame->frame = start->frame;
    frame->key_at = frame->frame_at = 0;
    do {
        frame = &chain->fresh[fresh];
        kept = known_part(chain, frame, &position);
        if (kept) break;
        frame->step = step_of(fresh ? frame[-1].step : 0, frame->key);
        chain->missing = frame->key;
        if (!frame->step) return false;
        fresh++;
        if (fresh == SN_UNWIND_MOST_FRAMES) break;
        if (go_out_plainly(chain, frame, frame + 1)) continue;
        bool has_caller = go_out(chain, frame, frame + 1, &must_ask);
        chain->missing = 0;
        chain->missing_stack = frame->stack;
        if (must_ask && frame->stack != chain->stack_end) return false;
        if (!has_caller) break;
    } while (true);
    if (kept + fresh > SN_UNWIND_MOST_FRAMES) kept = 0; /* the outer ones are left out */
    *context = put_together(chain, kept, fresh);
    return true;
}
