/**
 * @fileoverview Threads of the framework for values, and the loop that turns the words of their traces into records. See
 * values.h.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "guest/thread.h"
#include "jit/translate.h"
#include "service/context_tree.h"
#include "service/value_findings.h"
#include "service/value_objects.h"
#include "service/values.h"
#include "sonde/index.h"
#include "sonde/table.h"
#include "sonde/vector.h"

/** Records that are handed over at once: they stay in the processor's first cache. */
enum { MOST_RECORDS = 512, MOST_RUNS = 256 };

typedef struct value_bin {
    sn_value_record records[MOST_RECORDS];
    size_t count;
} value_bin;

/** Spots of a segment, or of a row's site, in a context: those from `first` on, up to the first one of the next range. */
typedef struct spot_range {
    uint32_t what; /**< segment, or ROW + site */
    sn_context context;
    uint32_t first;
} spot_range;
#define ROW UINT32_C(0x80000000)

typedef struct spot_surplus {
    uint64_t key; /**< the spot */
    int64_t ends;
} spot_surplus;

/** The last range that a segment had: mostly it is executed in the same context again. */
typedef struct segment_memo {
    sn_context context;
    uint32_t first; /**< 0: none */
    const sn_value_segment *segment;
} segment_memo;

/** A call that was recorded, for data objects. What lies below the address is of the function that was called, or of those that
    it called. */
typedef struct value_frame {
    uint64_t address;
    sn_context context; /**< of the function; SN_NO_CONTEXT until it has recorded something or called */
} value_frame;

/** What is constant for a record without a segment. */
typedef struct value_row {
    sn_value_record constant;
    uint8_t words;
} value_row;

typedef struct value_thread {
    sn_thread *thread;
    sn_value_waiting *waiting;
    void *scratch;
    bool is_finished;
    int id;

    /* Where the stream is. */
    const sn_value_segment *segment; /**< NULL: before the first one */
    uint32_t next;                   /**< record of it */
    sn_context context;
    uint32_t first_spot;             /**< of the segment */
    uint64_t carry[SN_VALUES_MOST_WORDS]; /**< the beginning of what the last batch did not hold the end of */
    unsigned carry_count;
    uint64_t completed[SN_VALUES_MOST_WORDS]; /**< the same, with its end from the next batch */

    SN_VECTOR(spot_range) ranges;    /**< in the order of their numbers */
    sn_index ranges_by_content;
    SN_VECTOR(segment_memo) memos;   /**< by segment */
    SN_VECTOR(int16_t) ends;         /**< by spot: how many more executions of its range have ended there than have begun behind
                                          it, so that a run mostly changes one number */
    SN_TABLE(spot_surplus) surplus;  /**< what that has no room for */
    uint32_t spot_count;

    sn_value_run runs[MOST_RUNS]; /**< found in the batch and not yet handed over */
    size_t run_count;
    value_row rows[MOST_RUNS];    /**< constants of those of them that have no segment */
    size_t row_count;
    SN_VECTOR(value_frame) frames;
    bool takes;                   /**< the tool wants them */
    value_bin *bins[SN_VALUE_TYPES]; /**< in order: the first one alone */
    uint64_t state[];
} value_thread;

static pthread_mutex_t finishing = PTHREAD_MUTEX_INITIALIZER;

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for values");
    return memory;
}

/* ------------------------------------------------------------------------ spots */

/** Number of the first of the `count` spots of a segment, or of a row's site, in a context. */
static uint32_t spots_of(value_thread *mine, uint32_t what, sn_context context, uint32_t count) {
    uint64_t hash = sn_hash_combine(what, context);
    uint32_t number, first = mine->spot_count + 1;
    sn_index_each(&mine->ranges_by_content, hash, number) {
        const spot_range *range = &mine->ranges.items[number];
        if (range->what == what && range->context == context) return range->first;
    }
    sn_index_add(&mine->ranges_by_content, hash, (uint32_t)mine->ranges.count);
    *sn_vector_add(&mine->ranges) = (spot_range){what, context, first};
    mine->spot_count += count;
    sn_vector_extend(&mine->ends, (size_t)mine->spot_count + 1);
    return first;
}

static uint32_t site_in_range(const spot_range *range, uint32_t spot) {
    return range->what >= ROW ? range->what - ROW : sn_value_segment_at(range->what)->records[spot - range->first].site;
}

static const value_thread *thread_of_state(const void *state) {
    return (const value_thread *)((const char *)state - offsetof(value_thread, state));
}

void sn_values_spot(const void *state, uint32_t number, uint32_t *site, sn_context *context) {
    const value_thread *mine = thread_of_state(state);
    const spot_range *range = mine->ranges.items; /* the last one that does not begin behind the spot */
    for (size_t count = mine->ranges.count; count > 1;) {
        size_t half = count / 2;
        if (range[half].first <= number) range += half, count -= half;
        else count = half;
    }
    *site = site_in_range(range, number);
    *context = range->context;
}

uint32_t sn_values_spot_count(const void *state) { return thread_of_state(state)->spot_count; }

static int64_t ends_at(const value_thread *mine, uint32_t spot) {
    const spot_surplus *surplus = mine->surplus.core.used ? sn_table_find(&mine->surplus, (uint64_t)spot) : NULL;
    return mine->ends.items[spot] + (surplus ? surplus->ends : 0);
}

static void forget_ends(value_thread *mine) {
    sn_vector_release(&mine->ends);
    sn_table_release(&mine->surplus);
}

void sn_values_visit_spots(void *state, void (*visit)(void *state, uint32_t spot, const sn_value_site *site, uint64_t times)) {
    value_thread *mine = (value_thread *)thread_of_state(state);
    for (size_t i = 0; mine->ends.count && i < mine->ranges.count; i++) {
        const spot_range *range = &mine->ranges.items[i];
        uint32_t end = i + 1 < mine->ranges.count ? range[1].first : mine->spot_count + 1;
        int64_t times = 0; /* executions that end at the spot or behind it */
        for (uint32_t spot = range->first; spot < end; spot++) times += ends_at(mine, spot);
        for (uint32_t spot = range->first; spot < end; times -= ends_at(mine, spot++))
            if (times) visit(state, spot, sn_value_site_at(site_in_range(range, spot)), (uint64_t)times);
    }
    forget_ends(mine);
}

static __attribute__((noinline)) void add_surplus(value_thread *mine, uint32_t spot, int64_t ends) {
    sn_table_insert(&mine->surplus, (uint64_t)spot, NULL)->ends += ends;
}

static inline void add_ends(value_thread *mine, uint32_t spot, int32_t times) {
    int16_t *ends = &mine->ends.items[spot];
    int32_t sum = *ends + times;
    *ends = (int16_t)sum;
    if (__builtin_expect(*ends == sum, 1)) return;
    add_surplus(mine, spot, sum);
    *ends = 0;
}

/** So many records of the segment that begins with `first_spot`, from its record `first` on, were executed so often (or, where they
    are taken back, less often). */
static inline void count_executions(value_thread *mine, uint32_t first_spot, uint32_t first, uint32_t count, int32_t times) {
    add_ends(mine, first_spot + first + count - 1, times);
    if (__builtin_expect(first != 0, 0)) add_ends(mine, first_spot + first - 1, -times);
}

/* ------------------------------------------------------------------ handing over: records */

static void hand_over(value_thread *mine, value_bin *bin) {
    if (!bin || !bin->count) return;
    sn_values_batch batch = {.state = mine->state, .records = bin->records, .count = bin->count, .thread = mine->id};
    sn_values.request.take(&batch);
    bin->count = 0;
}

/** The records of an execution, for tools that take records. */
static void expand_execution(value_thread *mine, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        const sn_value_record *constant = &run->constants[i];
        value_bin *bin = mine->bins[sn_values.request.in_order ? 0 : constant->type];
        if (bin->count == MOST_RECORDS) hand_over(mine, bin);
        sn_value_record *record = &bin->records[bin->count++];
        *record = *constant;
        record->address = *word;
        record->value = run->word_counts[i] > 1 ? word + 1 : NULL;
        record->spot += run->first_spot;
        record->context = run->context;
        word += run->word_counts[i];
    }
}

static void expand(value_thread *mine, const sn_value_run *run) {
    for (uint32_t i = 0; i < run->times; i++) expand_execution(mine, run, run->words + i * (size_t)run->stride);
}

/** Hand over the runs that were found. Their words must still be there. */
static void hand_over_runs(value_thread *mine) {
    sn_values_run_batch batch = {.state = mine->state, .runs = mine->runs, .count = mine->run_count, .thread = mine->id};
    if (mine->run_count && sn_values.request.take_runs) sn_values.request.take_runs(&batch);
    for (size_t i = 0; sn_values.request.take && i < mine->run_count; i++) expand(mine, &mine->runs[i]);
    mine->run_count = 0;
    mine->row_count = 0;
}

/** The same to the last record: before words or constants of runs go. */
static void hand_over_all(value_thread *mine) {
    hand_over_runs(mine);
    for (unsigned type = 0; type < SN_VALUE_TYPES; type++) hand_over(mine, mine->bins[type]);
}

static inline sn_value_run *new_run(value_thread *mine) {
    if (__builtin_expect(mine->run_count == MOST_RUNS, 0)) hand_over_runs(mine);
    return &mine->runs[mine->run_count++];
}

/* ------------------------------------------------------------------------ words */

static void name_frame(value_thread *mine, sn_context context) {
    value_frame *last = mine->frames.count ? &mine->frames.items[mine->frames.count - 1] : NULL;
    if (last && last->context == SN_NO_CONTEXT) last->context = context;
}

/** Frames that are not above this one have gone. */
static void take_called(value_thread *mine, const uint64_t *words) {
    hand_over_all(mine);
    while (mine->frames.count && mine->frames.items[mine->frames.count - 1].address <= words[1]) mine->frames.count--;
    name_frame(mine, (sn_context)words[2]);
    *sn_vector_add(&mine->frames) = (value_frame){words[1], SN_NO_CONTEXT};
    mine->segment = NULL;
}

sn_context sn_values_frame_at(const void *state, uint64_t address, uint64_t *outermost) {
    const value_thread *mine = thread_of_state(state);
    const value_frame *frames = mine->frames.items;
    *outermost = mine->frames.count ? frames[0].address : 0;
    size_t above = 0; /* frames that lie above the address, which are the first ones */
    for (size_t end = mine->frames.count; above < end;) {
        size_t middle = above + (end - above) / 2;
        if (frames[middle].address > address) above = middle + 1;
        else end = middle;
    }
    return above ? frames[above - 1].context : SN_NO_CONTEXT;
}

/** The segment in another context than last time, or for the first time. */
static __attribute__((noinline)) void meet_segment(value_thread *mine, uint32_t number, sn_context context) {
    const sn_value_segment *segment = sn_value_segment_at(number);
    mine->segment = segment;
    if (!segment || !segment->count) return;
    if (number >= mine->memos.count) sn_vector_extend(&mine->memos, 2 * (size_t)number + 64);
    mine->first_spot = spots_of(mine, number, context, segment->count);
    mine->memos.items[number] = (segment_memo){context, mine->first_spot, segment};
}

static inline void enter_segment(value_thread *mine, uint32_t number, sn_context context) {
    const segment_memo *memo = &mine->memos.items[number];
    mine->next = 0;
    mine->context = context;
    if (__builtin_expect(sn_values_data_centric, 0)) name_frame(mine, context);
    if (__builtin_expect(number >= mine->memos.count || !memo->first || memo->context != context, 0))
        return meet_segment(mine, number, context);
    mine->segment = memo->segment;
    mine->first_spot = memo->first;
}

/** A run of one record, which has no segment. */
static void take_row(value_thread *mine, const uint64_t *words) {
    uint32_t number = (uint32_t)(words[0] - SN_VALUES_TAGS - SN_VALUES_ROWS);
    const sn_value_site *site = sn_value_site_at(number);
    sn_context context = (sn_context)words[1];
    uint32_t spot = spots_of(mine, ROW + number, context, 1);
    if (mine->row_count == MOST_RUNS) hand_over_runs(mine);
    sn_value_run *run = new_run(mine);
    value_row *row = &mine->rows[mine->row_count++];
    uint64_t shape = words[3], values = shape >> 24 & 1 ? 1 + (shape >> 18 & 1) : 0;
    row->constant = (sn_value_record){.site = number, .size = (uint16_t)shape, .type = site->type & 127,
                                      .moment = shape >> 16 & 15, .place = site->place & 15};
    row->words = (uint8_t)(1 + values * sn_values_words_of((uint16_t)shape));
    /* The word of its shape stands between address and value: where the value is, the address is put in front of it. */
    ((uint64_t *)words)[3] = words[2];
    *run = (sn_value_run){.constants = &row->constant, .word_counts = &row->words, .words = words + 3, .count = 1,
                          .times = 1, .first_spot = spot, .context = context};
    count_executions(mine, spot, 0, 1, 1);
}

static void take_unmapped(value_thread *mine, const uint64_t *words) {
    hand_over_all(mine);
    if (sn_values_data_centric) sn_value_objects_unmapped(words[1], words[2]);
    if (sn_values.request.unmapped) sn_values.request.unmapped(mine->state, words[1], words[2]);
}

static void take_freed(value_thread *mine, const uint64_t *words) {
    hand_over_all(mine);
    sn_values.request.freed(mine->state, words[1], words[2]);
}

static bool has_faulted(const sn_value_record *record, uint64_t instruction) {
    return (record->moment & SN_VALUES_WRITTEN) && sn_value_site_at(record->site)->instruction == instruction;
}

/** Where writes are noted before they happen, those of an instruction that faulted are taken back: they are the last records. */
static void take_faulted(value_thread *mine, const uint64_t *words) {
    sn_value_run *run = mine->run_count ? &mine->runs[mine->run_count - 1] : NULL;
    if (sn_values.has_bytes || !run || !has_faulted(&run->constants[run->count - 1], words[1])) return;
    sn_value_run last = *run;
    last.words += (last.times - 1) * (size_t)last.stride;
    last.times = 1;
    if (--run->times == 0) mine->run_count--;
    uint32_t recorded = last.count;
    while (last.count && has_faulted(&last.constants[last.count - 1], words[1])) last.count--;
    count_executions(mine, last.first_spot, last.constants[last.count].spot, recorded - last.count, -1);
    if (last.count) *new_run(mine) = last;
}

static void take_tag(value_thread *mine, const uint64_t *words) {
    uint64_t tag = words[0] - SN_VALUES_TAGS;
    if (tag < SN_VALUES_ROWS) enter_segment(mine, (uint32_t)tag, sn_values.has_context ? (sn_context)words[1] : SN_NO_CONTEXT);
    else if (tag < SN_VALUES_UNMAPPED) take_row(mine, words);
    else if (tag == SN_VALUES_CALLED) take_called(mine, words);
    else if (tag == SN_VALUES_FAULTED) take_faulted(mine, words);
    else if (tag == SN_VALUES_FREED) take_freed(mine, words);
    else take_unmapped(mine, words);
}

/** How many words belong together from here on, of which `had` are known; at least one more than `had` if it can't be said
    yet. */
static size_t words_together(const value_thread *mine, const uint64_t *words, size_t had) {
    uint64_t tag = words[0] - SN_VALUES_TAGS;
    if (tag >= SN_VALUES_TAG_COUNT)
        return mine->segment && mine->next < mine->segment->count ? mine->segment->words[mine->next] : 1;
    if (tag < SN_VALUES_ROWS) return sn_values.last_words;
    if (tag == SN_VALUES_CALLED) return SN_VALUES_CALLED_WORDS;
    if (tag == SN_VALUES_FAULTED) return SN_VALUES_FAULTED_WORDS;
    if (tag >= SN_VALUES_UNMAPPED) return SN_VALUES_UNMAPPED_WORDS;
    if (had < SN_VALUES_ROW_WORDS || !(words[3] >> 24 & 1)) return SN_VALUES_ROW_WORDS;
    unsigned values = words[3] >> 16 & SN_VALUES_OVERWRITTEN ? 2 : 1;
    return SN_VALUES_ROW_WORDS + values * sn_values_words_of((uint16_t)words[3]);
}

/** A run: the records of the segment up to a tag, its end, or the last one that is there as a whole. */
static inline const uint64_t *take_run(value_thread *mine, const uint64_t *word, const uint64_t *end) {
    const sn_value_segment *segment = mine->segment;
    uint32_t first = mine->next, count = segment->count, next = first;
    const uint64_t *start = word;
    const uint8_t *word_counts = segment->words;
    for (; next < count && word < end; next++) {
        size_t words = word_counts[next];
        if (sn_values_is_tag(*word) || words > (size_t)(end - word)) break;
        word += words;
    }
    mine->next = next;
    if (next == first) return word;
    *new_run(mine) = (sn_value_run){.constants = segment->records + first, .word_counts = word_counts + first, .words = start,
                                    .count = next - first, .times = 1, .first_spot = mine->first_spot,
                                    .context = mine->context};
    count_executions(mine, mine->first_spot, first, next - first, 1);
    return word;
}

/** Whether none of the words where the addresses of the segment's first `count` records are expected can be a tag. */
static inline bool has_addresses(const sn_value_segment *segment, uint32_t count, const uint64_t *word) {
    const uint16_t *offsets = segment->offsets;
    uint64_t any = 0, other = 0;
    uint32_t i = 0;
    for (; i + 1 < count; i += 2) {
        any |= word[offsets[i]];
        other |= word[offsets[i + 1]];
    }
    if (i < count) any |= word[offsets[i]];
    return !((any | other) >> 63);
}

/** How much of the segment was executed, if all of its words may be looked at: up to the first exit behind which a tag is. */
static inline sn_value_exit end_of_execution(const sn_value_segment *segment, const uint64_t *word) {
    for (uint32_t i = 0; i < segment->exit_count; i++)
        if (sn_values_is_tag(word[segment->exits[i].words])) return segment->exits[i];
    return (sn_value_exit){segment->count, segment->total_words};
}

/** At a segment's tag, of which all words are there. Then further executions that are like the first one: a segment is often
    left by the same branch again and again. Mostly nothing needs to be done for each record. */
static const uint64_t *take_segment(value_thread *mine, const uint64_t *word, const uint64_t *end) {
    size_t last_words = sn_values.last_words;
    uint64_t tag = word[0], context = sn_values.has_context ? word[1] : SN_NO_CONTEXT;
    enter_segment(mine, (uint32_t)(tag - SN_VALUES_TAGS), (sn_context)context);
    const sn_value_segment *segment = mine->segment;
    word += last_words;
    if (!segment || !segment->count || word == end) return word;
    if (segment->total_words >= (size_t)(end - word)) return take_run(mine, word, end);
    sn_value_exit exit = end_of_execution(segment, word);
    if (!has_addresses(segment, exit.count, word)) return take_run(mine, word, end); /* a signal came */
    size_t stride = last_words + exit.words;
    const uint64_t *start = word;
    uint32_t times = 1;
    /* What follows each execution must be a tag. */
    for (word += exit.words; stride < (size_t)(end - word) && word[0] == tag && (last_words == 1 || word[1] == context) &&
                             sn_values_is_tag(word[stride]) && has_addresses(segment, exit.count, word + last_words);
         word += stride)
        times++;
    mine->next = exit.count;
    *new_run(mine) = (sn_value_run){.constants = segment->records, .word_counts = segment->words, .words = start,
                                    .count = exit.count, .times = times, .stride = (uint32_t)stride,
                                    .first_spot = mine->first_spot, .context = (sn_context)context};
    count_executions(mine, mine->first_spot, 0, exit.count, (int32_t)times);
    return word;
}

/** Take what is complete; returns the rest, which begins something that is not. */
static const uint64_t *take_words(value_thread *mine, const uint64_t *word, const uint64_t *end) {
    while (word < end) {
        uint64_t tag = *word - SN_VALUES_TAGS;
        if (tag < SN_VALUES_ROWS && sn_values.last_words <= (size_t)(end - word)) { /* by far the most frequent */
            word = take_segment(mine, word, end);
            continue;
        }
        size_t together = words_together(mine, word, (size_t)(end - word));
        if (together > (size_t)(end - word)) break;
        if (tag < SN_VALUES_TAG_COUNT) {
            take_tag(mine, word);
            word += together;
        } else if (mine->segment && mine->next < mine->segment->count) {
            word = take_run(mine, word, end);
        } else {
            word++; /* nothing that we know of */
        }
    }
    return word;
}

/** Complete what the last batch ended with. Returns where to go on. */
static const uint64_t *complete_carry(value_thread *mine, const uint64_t *word, const uint64_t *end) {
    if (!mine->carry_count) return word;
    memcpy(mine->completed, mine->carry, mine->carry_count * sizeof *mine->carry);
    size_t count = mine->carry_count;
    while (words_together(mine, mine->completed, count) > count) {
        if (word == end) {
            memcpy(mine->carry, mine->completed, count * sizeof *mine->carry);
            mine->carry_count = (unsigned)count;
            return word;
        }
        mine->completed[count++] = *word++;
    }
    mine->carry_count = 0;
    take_words(mine, mine->completed, mine->completed + count);
    return word;
}

/** What the tool has of a thread begins, or begins again. */
static void begin(value_thread *mine) {
    mine->is_finished = false;
    memset(mine->state, 0, sn_values.request.state_size);
    if (sn_values.request.begin) sn_values.request.begin(mine->state, mine->id);
}

static void take_trace(const sn_batch *batch) {
    value_thread *mine = batch->thread_data;
    if (!mine || !mine->takes) return; /* a process that shares its parent's memory */
    if (mine->is_finished) begin(mine); /* all was reported, but the process is not gone yet, or could not be replaced */
    const uint64_t *word = batch->records, *end = word + batch->count;
    if (sn_values_data_centric) sn_value_objects_update();
    word = complete_carry(mine, word, end);
    if (word < end) {
        word = take_words(mine, word, end);
        mine->carry_count = (unsigned)(end - word);
        memcpy(mine->carry, word, mine->carry_count * sizeof *word);
    }
    hand_over_all(mine); /* their values lie in the batch */
}

/* ---------------------------------------------------------------------- threads */

sn_value_waiting *sn_values_waiting_of(sn_thread *thread) {
    value_thread *mine = sn_thread_data(thread);
    return mine ? mine->waiting : NULL;
}

void sn_values_thread_start(sn_thread *thread) {
    value_thread *mine = allocate(1, sizeof *mine + sn_values.request.state_size);
    mine->thread = thread;
    mine->id = sn_thread_id(thread);
    mine->waiting = sn_values_waiting_new();
    mine->scratch = allocate(1, SN_VALUES_SCRATCH);
    mine->takes = sn_values.request.take || sn_values.request.take_runs;
    unsigned bins = !sn_values.request.take ? 0 : sn_values.request.in_order ? 1 : SN_VALUE_TYPES;
    for (unsigned type = 0; type < bins; type++)
        mine->bins[type] = allocate(1, sizeof *mine->bins[type]);
    *sn_slot_of(thread, sn_values.scratch) = (uint64_t)mine->scratch;
    begin(mine);
    sn_thread_set_data(thread, mine);
}

/** Of what is known of spots, what only new records need. What is left of a segment that is being executed is not told. */
static void forget_keys(value_thread *mine) {
    mine->segment = NULL;
    sn_index_release(&mine->ranges_by_content);
    sn_vector_release(&mine->memos);
}

static void forget_spots(value_thread *mine) {
    forget_keys(mine);
    sn_vector_release(&mine->ranges);
    forget_ends(mine);
    mine->spot_count = 0;
}

/** The tool's report may take much memory: what is no longer needed for it goes before. */
static void finish(value_thread *mine) {
    pthread_mutex_lock(&finishing);
    forget_keys(mine);
    if (!mine->is_finished && sn_values.request.finish) sn_values.request.finish(mine->state, mine->id);
    forget_spots(mine);
    mine->is_finished = true;
    pthread_mutex_unlock(&finishing);
}

void sn_values_thread_end(sn_thread *thread) {
    value_thread *mine = sn_thread_data(thread);
    if (!mine) return;
    finish(mine);
    sn_thread_set_data(thread, NULL);
    for (unsigned type = 0; type < SN_VALUE_TYPES; type++) free(mine->bins[type]);
    sn_values_waiting_free(mine->waiting);
    free(mine->scratch);
    sn_vector_release(&mine->frames);
    free(mine);
}

/** What the parent had not handed over is the parent's; the memory of its threads is left behind. */
void sn_values_fork_child(sn_thread *thread) {
    sn_report_forget();
    sn_values_thread_start(thread);
}

static void finish_thread(sn_thread *thread, void *data) {
    (void)data;
    value_thread *mine = sn_thread_data(thread);
    if (mine) finish(mine);
}

void sn_values_end(void) { sn_threads_visit(finish_thread, NULL); }

/* ----------------------------------------------------------------------- events */

void sn_values_interrupted(sn_thread *thread, void *data, unsigned completed) {
    (void)data;
    (void)completed;
    sn_values_forget_varying(thread);
}

void sn_values_signal(sn_thread *thread, int number, uint64_t address) {
    if (sn_values.has_bytes || (number != SIGSEGV && number != SIGBUS) || !sn_thread_data(thread)) return;
    if (!sn_values_sampling_is_recording(thread)) return;
    const uint64_t words[SN_VALUES_FAULTED_WORDS] = {SN_VALUES_TAGS + SN_VALUES_FAULTED, address};
    for (unsigned i = 0; i < SN_VALUES_FAULTED_WORDS; i++) sn_trace_write(thread, sn_values.trace, &words[i]);
}

void sn_values_memory_mapped(const sn_memory_range *range) {
    if (sn_values_data_centric) sn_value_objects_mapped(range);
}

void sn_values_memory_unmapped(uint64_t start, uint64_t end) {
    sn_thread *thread = sn_thread_current();
    bool is_wanted = sn_values.request.unmapped || sn_values_data_centric;
    if (!is_wanted || !thread || !sn_thread_data(thread)) return;
    uint64_t words[SN_VALUES_UNMAPPED_WORDS] = {SN_VALUES_TAGS + SN_VALUES_UNMAPPED, start, end};
    for (unsigned i = 0; i < SN_VALUES_UNMAPPED_WORDS; i++) sn_trace_write(thread, sn_values.trace, &words[i]);
}

/** The ranges of a system call that have the role. */
static void note_system_call(sn_thread *thread, const sn_system_call *call, uint8_t role, uint8_t moment) {
    const sn_values_request *request = &sn_values.request;
    bool wanted = request->system_calls && (request->moments & moment) && (request->places & SN_VALUES_MEMORY);
    if (!wanted || !sn_thread_data(thread) || !sn_selected(call->address) || !sn_instrumentation_is_enabled() ||
        !sn_values_sampling_is_recording(thread))
        return;
    for (size_t i = 0; i < call->range_count; i++) {
        const sn_system_range *range = &call->ranges[i];
        if (!(range->role & role)) continue;
        sn_instruction instruction = {.address = call->address};
        sn_operand operand = {.place = SN_PLACE_MEMORY, .reg = SN_NO_REGISTER};
        sn_value_site site = sn_value_site_of(&instruction, &operand, range->argument, moment, 0, 0);
        site.is_system_call = true;
        uint32_t number = sn_value_site_number(&site);
        for (uint64_t done = 0, part; done < range->size; done += part) {
            part = range->size - done < UINT32_C(1) << 30 ? range->size - done : UINT32_C(1) << 30;
            sn_values_write_row(thread, number, range->start + done, (uint32_t)part, moment, NULL);
        }
    }
}

void sn_values_system_call_before(sn_thread *thread, const sn_system_call *call) {
    note_system_call(thread, call, SN_ROLE_READ, SN_VALUES_READ);
}

void sn_values_system_call_after(sn_thread *thread, const sn_system_call *call) {
    note_system_call(thread, call, SN_ROLE_WRITTEN, SN_VALUES_WRITTEN);
}

/* ------------------------------------------------------------------------ start */

/** In the engine. */
static void note_free(sn_thread *thread, const sn_heap_block *block) {
    const uint64_t words[] = {SN_VALUES_TAGS + SN_VALUES_FREED, block->address, block->address + block->usable};
    for (unsigned i = 0; sn_thread_data(thread) && i < sizeof words / sizeof *words; i++)
        sn_trace_write(thread, sn_values.trace, &words[i]);
}

static void flush(sn_thread *thread) { sn_trace_flush(thread, sn_values.trace); }

void sn_values_start(const sn_values_request *request) {
    sn_values.request = *request;
    sn_values.has_bytes = request->parts & SN_VALUES_BYTES;
    if (!sn_values.has_bytes) sn_values.request.moments &= ~(uint32_t)SN_VALUES_OVERWRITTEN; /* there is nothing to show */
    sn_values.has_context = request->parts & SN_VALUES_CONTEXT;
    sn_values.last_words = sn_values.has_context ? 2 : 1;
    sn_values.scratch = sn_slot_new();
    sn_values.trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(uint64_t), .batch = take_trace});
    if (sn_values.has_context) {
        sn_contexts_enable();
        sn_contexts_fold();
    }
    if (sn_values_data_centric) sn_value_objects_start(flush);
    /* Between bursts code is to be bare: then blocks are not followed for this alone. */
    bool tells_frees = request->freed && !(sn_values_sample_on && sn_values_sample_off);
    if (sn_values_data_centric || tells_frees) sn_value_heap_start(tells_frees ? note_free : NULL);
    if (sn_values.has_bytes && request->places & SN_VALUES_FLAGS) sn_flags_keep_all();
    sn_values_sampling_start();
}
