/**
 * @fileoverview Contexts of functions: found or made when a call's first block is executed. See separate.h.
 *
 * Functions get their numbers while code is instrumented, under Sonde's lock; contexts in the code cache, under a lock that
 * spins. All lie in address space that is reserved once, so that nothing moves that another thread reads.
 */
#include "separate.h"

#include <fnmatch.h>
#include <sonde/hash.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "settings.h"

/** A function, by where it begins. */
typedef struct function {
    uint64_t entry;
    uint32_t callers; /**< how many belong to its contexts */
    uint32_t levels;  /**< of recursion that are told apart: 1, none */
} function;

#define MOST_FUNCTIONS (UINT32_C(1) << 22)

static function *functions;
static uint32_t function_count;
static sn_hash function_numbers; /**< by entry */

/** Contexts are words in a row, from a number on: a hash, the level, how many functions, and their numbers. */
enum { HASH, LEVEL, COUNT, CHAIN };
#define MOST_WORDS (UINT32_C(1) << 29)
#define FIRST_PLACES (UINT32_C(1) << 12)
#define MOST_CONTEXTS (UINT32_C(1) << 26)

static struct contexts {
    uint32_t *words;
    uint32_t word_count;  /**< the first word is no context's */
    uint32_t count;
    uint32_t *table;      /**< open addressing: numbers; grows in reserved space. Keys are chains of any length, and the threads'
                               own code adds to it under the lock: so it is none of <sonde/collections.h> */
    uint32_t mask;
    uint32_t lock;        /**< spins */
} contexts;

static bool is_on;
static uint32_t most_callers; /**< of any function */
static sn_slot slot;          /**< the thread's calls_separated */
static sn_slot told;          /**< the context that the thread's traces were told of last */

/* ------------------------------------------------------------------------------ options */

static void check_number(const char *option, int64_t number, int64_t least, int64_t most) {
    if (number < least || number > most) {
        sn_fail(2, "%s: a number from %lld to %lld is wanted", option, (long long)least, (long long)most);
    }
}

static void check_numbered(const char *option, const sn_numbered_texts *texts, int64_t least, int64_t most) {
    for (size_t i = 0; i < texts->count; i++) {
        check_number(option, texts->items[i].number, least, most);
        is_on = true;
    }
}

static void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        sn_fail(125, "calls: no address space for separated functions");
    }
    return memory;
}

void calls_separate_init(void) {
    check_number("--separate-callers", calls_current.callers, 0, CALLS_MOST_CALLERS);
    check_number("--separate-recs", calls_current.levels, 1, CALLS_MOST_LEVELS);
    check_numbered("--separate-callers", &calls_current.callers_of, 0, CALLS_MOST_CALLERS);
    check_numbered("--separate-recs", &calls_current.levels_of, 1, CALLS_MOST_LEVELS);
    is_on |= calls_current.callers > 0 || calls_current.levels > 1;
    if (!is_on) {
        return;
    }
    most_callers = (uint32_t)calls_current.callers;
    for (size_t i = 0; i < calls_current.callers_of.count; i++) {
        uint32_t number = calls_current.callers_of.items[i].number;
        most_callers = number > most_callers ? number : most_callers;
    }
    functions = reserve(MOST_FUNCTIONS * sizeof *functions);
    contexts.words = reserve(MOST_WORDS * sizeof *contexts.words);
    contexts.table = reserve(UINT64_C(4) * MOST_CONTEXTS * sizeof *contexts.table);
    contexts.mask = FIRST_PLACES - 1;
    contexts.word_count = 1;
    slot = sn_slot_new();
    told = sn_slot_new();
    calls_current.separated = slot;
    sn_contexts_watch_all();
}

SN_FAST bool calls_separates(void) {
    return is_on;
}

/* ---------------------------------------------------------------------------- functions */

/** The number of the last option that names the function. */
static uint32_t number_for(const sn_numbered_texts *texts, const char *name, int64_t otherwise) {
    uint32_t number = (uint32_t)otherwise;
    for (size_t i = 0; name != NULL && i < texts->count; i++) {
        if (fnmatch(texts->items[i].text, name, 0) == 0) {
            number = texts->items[i].number;
        }
    }
    return number;
}

uint32_t calls_separate_function(uint64_t address) {
    sn_location location;
    sn_locate(address, &location);
    uint64_t entry = location.function != NULL ? location.function_address : address;
    uint64_t *number = sn_hash_find(&function_numbers, entry);
    if (number == NULL && function_count < MOST_FUNCTIONS) {
        functions[function_count] =
            (function){.entry = entry,
                       .callers = number_for(&calls_current.callers_of, location.function, calls_current.callers),
                       .levels = number_for(&calls_current.levels_of, location.function, calls_current.levels)};
        number = sn_hash_insert(&function_numbers, entry, NULL);
        *number = function_count++;
    }
    return number == NULL ? 0 : (uint32_t)*number;
}

/* ----------------------------------------------------------------------------- contexts */

SN_FAST static uint32_t own_function(uint32_t context) {
    return contexts.words[context + CHAIN];
}

/** The chain of functions that a context is to have: a new one above another context's. */
typedef struct chain {
    uint32_t function;
    const uint32_t *callers; /**< functions */
    uint32_t count;          /**< with the first */
    uint32_t level;
} chain;

SN_FAST static uint32_t chain_at(const chain *chain, uint32_t at) {
    return at == 0 ? chain->function : chain->callers[at - 1];
}

/** Calls to itself are no callers of a function. */
SN_FAST static chain chain_above(uint32_t below, uint32_t function, uint32_t level) {
    chain chain = {.function = function, .count = 1, .level = level};
    if (below == 0) {
        return chain;
    }
    const uint32_t *words = contexts.words + below;
    bool is_same = words[CHAIN] == function;
    chain.callers = words + CHAIN + is_same;
    chain.count += words[COUNT] - is_same;
    if (chain.count > most_callers + 1) {
        chain.count = most_callers + 1;
    }
    return chain;
}

SN_FAST static uint32_t hash_of(const chain *chain) {
    uint64_t hash = chain->level;
    for (uint32_t i = 0; i < chain->count; i++) {
        hash = (hash ^ chain_at(chain, i)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

SN_FAST static bool is_it(const uint32_t *words, const chain *chain, uint32_t hash) {
    if (words[HASH] != hash || words[LEVEL] != chain->level || words[COUNT] != chain->count) {
        return false;
    }
    uint32_t same = 0;
    while (same < chain->count && words[CHAIN + same] == chain_at(chain, same)) {
        same++;
    }
    return same == chain->count;
}

SN_FAST static void grow(void) {
    const uint32_t *old = contexts.table;
    uint32_t old_mask = contexts.mask;
    contexts.table += old_mask + 1;
    contexts.mask = 2 * old_mask + 1;
    for (uint32_t i = 0; i <= old_mask; i++) {
        uint32_t at = old[i] == 0 ? 0 : contexts.words[old[i] + HASH];
        while (old[i] != 0 && contexts.table[at & contexts.mask] != 0) {
            at++;
        }
        if (old[i] != 0) {
            contexts.table[at & contexts.mask] = old[i];
        }
    }
}

/** Write a new one, 0 if there is no more room. */
SN_FAST static uint32_t make(const chain *chain, uint32_t hash) {
    if (contexts.count == MOST_CONTEXTS || contexts.word_count > MOST_WORDS - CHAIN - chain->count) {
        return 0;
    }
    uint32_t number = contexts.word_count;
    volatile uint32_t *words = contexts.words + number; /* volatile: the compiler makes no call of memcpy() of the loop */
    words[HASH] = hash;
    words[LEVEL] = chain->level;
    words[COUNT] = chain->count;
    for (uint32_t i = 0; i < chain->count; i++) {
        words[CHAIN + i] = chain_at(chain, i);
    }
    contexts.word_count += CHAIN + chain->count;
    contexts.count++;
    return number;
}

SN_FAST static uint32_t number_of(const chain *chain) {
    uint32_t hash = hash_of(chain), at = hash, number;
    while (__atomic_exchange_n(&contexts.lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
    while ((number = contexts.table[at & contexts.mask]) != 0 && !is_it(contexts.words + number, chain, hash)) {
        at++;
    }
    if (number == 0 && (number = make(chain, hash)) != 0) {
        contexts.table[at & contexts.mask] = number;
        if (contexts.count > contexts.mask / 2) {
            grow();
        }
    }
    __atomic_store_n(&contexts.lock, 0, __ATOMIC_RELEASE);
    return number;
}

/* ------------------------------------------------------------------------------- frames */

/** The context below a frame: where nothing was executed there is none. */
SN_FAST static uint32_t context_below(sn_call_frame *frame) {
    for (sn_call_frame *below; (below = sn_call_frame_below(frame)) != NULL; frame = below) {
        if (below->context != 0) {
            return below->context;
        }
    }
    return (uint32_t)frame->data; /* the first of a stack: the interrupted one, of a handler */
}

/** Which call of the function this is, of those that have not returned. The number of these is only an estimate, for calls may
    end untold; but where it is 0 there are none, and where it is not, one is mostly near. */
SN_FAST static uint32_t level_of(calls_separated *separated, sn_call_frame *frame, uint32_t function) {
    enum { MOST_LOOKED_AT = 4096 };
    uint32_t levels = functions[function].levels, *active = &separated->active[function];
    if (levels <= 1) {
        return 1;
    }
    uint32_t level = *active + 1, looked_at = 0;
    while (level > 1 && looked_at < MOST_LOOKED_AT) {
        frame = sn_call_frame_below(frame);
        looked_at++;
        if (frame == NULL) {
            level = 1;
        } else if (frame->context != 0 && own_function(frame->context) == function) {
            level = contexts.words[frame->context + LEVEL] + 1;
            break;
        }
    }
    ++*active;
    return level < levels ? level : levels;
}

/** Words that tell of contexts: the number, and above it the caller's. */
enum { WORD_BITS = 30 };
#define WORD_MARK (UINT64_C(9) << 60)
_Static_assert(MOST_WORDS <= UINT64_C(1) << WORD_BITS, "a number has its place in a word");

/** The word that is to be told, 0 if the traces know. A frame's first one tells of its caller too. */
SN_FAST static uint64_t word_of(sn_thread *thread, const sn_call_frame *frame, uint32_t context, bool is_new) {
    uint64_t *last = sn_slot_of(thread, told);
    if (*last == context && !is_new) {
        return 0;
    }
    const sn_call_frame *below = is_new ? sn_call_frame_below((sn_call_frame *)frame) : NULL;
    *last = context;
    return WORD_MARK | (uint64_t)(below == NULL ? 0 : below->context) << WORD_BITS | context;
}

/** What the thread counts in; NULL: it is not counted. */
SN_FAST static calls_separated *separated_of(sn_thread *thread) {
    calls_separated *separated = (calls_separated *)*sn_slot_of(thread, slot);
    return separated != NULL && separated->owner == thread ? separated : NULL;
}

/** Returns word_of(). */
SN_FAST static uint64_t count_in_context(sn_thread *thread, uint64_t function, uint64_t counter, uint64_t amount) {
    calls_separated *separated = separated_of(thread);
    sn_call_frame *frame = sn_call_frame_of(thread);
    if (separated == NULL) {
        return 0;
    }
    bool is_new = frame->context == 0;
    if (is_new) {
        uint32_t level = level_of(separated, frame, (uint32_t)function);
        chain chain = chain_above(context_below(frame), (uint32_t)function, level);
        frame->context = number_of(&chain);
    }
    if (*sn_slot_of(thread, calls_current.collecting) != 0) {
        calls_cells_count(&separated->cells, frame->context, (sn_counter)counter, amount);
    }
    return word_of(thread, frame, frame->context, is_new);
}

SN_FAST static uint64_t count_apart(sn_thread *thread, uint64_t counter, uint64_t amount) {
    calls_separated *separated = separated_of(thread);
    if (separated != NULL && *sn_slot_of(thread, calls_current.collecting) != 0) {
        calls_cells_count(&separated->cells, 0, (sn_counter)counter, amount);
    }
    return word_of(thread, NULL, 0, false);
}

static sn_value insert_count(sn_block *block, uint32_t function, sn_counter counter, sn_value amount) {
    sn_value arguments[] = {sn_current_thread(block), sn_constant(block, function), sn_constant(block, counter), amount};
    return sn_call_fast(block, (void *)count_in_context, 4, arguments);
}

static sn_value insert_count_apart(sn_block *block, sn_counter counter, sn_value amount) {
    sn_value arguments[] = {sn_current_thread(block), sn_constant(block, counter), amount};
    return sn_call_fast(block, (void *)count_apart, 3, arguments);
}

/** Behind where the segment began: there is nothing to tell. */
void calls_separate_count(sn_block *block, uint32_t function, sn_counter counter, sn_value amount) {
    insert_count(block, function, counter, amount);
}

void calls_separate_count_apart(sn_block *block, sn_counter counter, sn_value amount) {
    insert_count_apart(block, counter, amount);
}

sn_value calls_separate_enter(sn_block *block, uint32_t function, sn_counter counter) {
    return insert_count(block, function, counter, sn_constant(block, 1));
}

sn_value calls_separate_enter_apart(sn_block *block, sn_counter counter) {
    return insert_count_apart(block, counter, sn_constant(block, 1));
}

void calls_separate_add(sn_thread *thread, sn_counter counter, uint64_t amount) {
    calls_separated *separated = separated_of(thread);
    if (separated != NULL) {
        calls_cells_count(&separated->cells, sn_call_frame_of(thread)->context, counter, amount);
    }
}

SN_FAST void calls_separate_left(calls_separated *separated, const sn_call_frame *frame) {
    if (!is_on || frame->context == 0) {
        return; /* otherwise, it is a context of Sonde's */
    }
    uint32_t function = own_function(frame->context);
    if (functions[function].levels > 1 && separated->active[function] > 0) {
        separated->active[function]--;
    }
}

/* ------------------------------------------------------------------------------ threads */

bool calls_separated_init(calls_separated *separated, const sn_thread *owner) {
    *separated = (calls_separated){.owner = owner};
    if (!is_on) {
        return true;
    }
    void *active = mmap(NULL, MOST_FUNCTIONS * sizeof *separated->active, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (active == MAP_FAILED) {
        return false;
    }
    separated->active = active;
    return calls_cells_init(&separated->cells);
}

void calls_separated_release(calls_separated *separated) {
    if (separated->active != NULL) {
        munmap(separated->active, MOST_FUNCTIONS * sizeof *separated->active);
        calls_cells_release(&separated->cells);
    }
    *separated = (calls_separated){0};
}

/* --------------------------------------------------------------------------- evaluation */

/** Whether it is the number of a context, any number being possible: contexts never change, and know their hash. */
static bool exists(uint32_t number) {
    uint32_t end = __atomic_load_n(&contexts.word_count, __ATOMIC_ACQUIRE);
    if (number == 0 || number >= end || end - number <= CHAIN) {
        return number == 0;
    }
    const uint32_t *words = contexts.words + number;
    if (words[COUNT] == 0 || words[COUNT] > most_callers + 1 || words[COUNT] > end - number - CHAIN) {
        return false;
    }
    const chain chain = {.function = words[CHAIN], .callers = words + CHAIN + 1, .count = words[COUNT], .level = words[LEVEL]};
    bool are_functions = true;
    for (uint32_t i = 0; i < chain.count; i++) {
        are_functions &= words[CHAIN + i] < function_count;
    }
    return are_functions && hash_of(&chain) == words[HASH];
}

bool calls_word_contexts(uint64_t word, uint32_t *context, uint32_t *caller) {
    const uint64_t mask = (UINT64_C(1) << WORD_BITS) - 1;
    *context = (uint32_t)(word & mask);
    *caller = (uint32_t)(word >> WORD_BITS & mask);
    return exists(*context) && exists(*caller);
}

calls_context calls_context_of(uint32_t number) {
    const uint32_t *words = contexts.words + number;
    const function *own = &functions[words[CHAIN]];
    uint32_t most = own->callers + 1;
    calls_context context = {.level = words[LEVEL], .count = words[COUNT] < most ? words[COUNT] : most};
    for (unsigned i = 0; i < context.count; i++) {
        context.entries[i] = functions[words[CHAIN + i]].entry;
    }
    return context;
}
