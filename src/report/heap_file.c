/**
 * @fileoverview Reading heap files. See heap_file.h.
 */
#include "report/heap_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sonde/intern.h"
#include "report/heap_search.h"

const char *const sn_heapfile_mode_names[] = {
    [SN_HEAPFILE_LIVE] = "live", [SN_HEAPFILE_CUMULATIVE] = "cumulative",
    [SN_HEAPFILE_DARK_MATTER] = "dark-matter", [SN_HEAPFILE_SCAN] = "scan"};

enum { WORDS_AT_ONCE = 4096 };

/** Which members of a file were seen. */
enum { HAS_VERSION = 1, HAS_MODE = 2, HAS_BLOCKS = 4, HAS_TRACES = 8, HAS_FRAMES = 16, HAS_ALL = 31 };

/** Members of a block. */
typedef enum block_member {
    MEMBER_SIZE, MEMBER_SLOP, MEMBER_COUNT, MEMBER_FREED, MEMBER_LIVED, MEMBER_ADDRESS, MEMBER_TRACE, MEMBER_REPORTS,
    MEMBER_CONTENTS, MEMBER_FIRST_USE, MEMBER_OTHER = MEMBER_FIRST_USE + SN_HEAPFILE_USES
} block_member;

typedef struct reader {
    sn_scan scan;
    sn_heapfile *file;
    const sn_heapfile_listener *listener; /**< NULL: the contents are not read */
    bool is_first;                    /**< the first reading */
    uint32_t block, root;             /**< read so far */
    uint64_t contents;                /**< where those of the block are; 0: none */
    unsigned seen;
    uint64_t codes[MEMBER_OTHER]; /**< of the names of a block's members */
} reader;

/* -------------------------------------------------------------------- recognition */

bool sn_heapfile_recognises(const char *head, size_t size) {
    static const char *const members[] = {"version", "invocation", "blockList", "traceTable", "frameTable", "roots"};
    const char *end = head + size;
    if (size >= 2 && memcmp(head, "\x1f\x8b", 2) == 0)
        return true;
    while (head < end && isspace((unsigned char)*head))
        head++;
    if (head == end || *head++ != '{')
        return false;
    while (head < end && isspace((unsigned char)*head))
        head++;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t length = strlen(members[i]);
        if ((size_t)(end - head) > length + 1 && *head == '"' && memcmp(head + 1, members[i], length) == 0 &&
            head[length + 1] == '"')
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------------- identifiers */

/** The number of the identifier that follows; a new one if there was none. */
static uint32_t number_of(sn_heapfile_names *names, sn_scan *scan) {
    bool is_new;
    uint64_t *number = sn_hash_insert(&names->numbers, sn_scan_identifier(scan), &is_new);
    if (is_new)
        *number = names->count++;
    return (uint32_t)*number;
}

/* --------------------------------------------------------------------------- tables */

/** "#00: f (a.c:1)" -> "f (a.c:1)". */
static const char *frame_text(const char *text) {
    const char *at = text;
    if (*at == '#') {
        at += 1 + strspn(at + 1, "0123456789");
        if (at > text + 1 && at[0] == ':' && at[1] == ' ')
            return at + 2;
    }
    return text;
}

static void read_frames(reader *reader) {
    sn_heapfile *file = reader->file;
    sn_scan *scan = &reader->scan;
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        uint32_t number = number_of(&file->frame_names, scan);
        sn_scan_colon(scan);
        while (file->frames.count <= number)
            sn_vector_add(&file->frames);
        file->frames.items[number] = sn_intern(frame_text(sn_scan_string(scan)));
    }
}

static sn_heapfile_trace *trace_numbered(sn_heapfile *file, uint32_t number) {
    while (file->traces.count <= number)
        sn_vector_add(&file->traces);
    return &file->traces.items[number];
}

static void read_traces(reader *reader) {
    sn_heapfile *file = reader->file;
    sn_scan *scan = &reader->scan;
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        sn_heapfile_trace trace = {.first = file->trace_frames.count, .is_defined = true};
        uint32_t number = number_of(&file->trace_names, scan);
        sn_scan_colon(scan);
        sn_scan_open(scan, '[');
        while (sn_scan_more(scan, ']'))
            *sn_vector_add(&file->trace_frames) = number_of(&file->frame_names, scan);
        trace.count = (uint32_t)(file->trace_frames.count - trace.first);
        *trace_numbered(file, number) = trace;
    }
}

static void read_mode(reader *reader) {
    const char *mode = sn_scan_string(&reader->scan);
    for (unsigned i = 0; i < SN_HEAPFILE_MODES; i++) {
        if (strcmp(mode, sn_heapfile_mode_names[i]) == 0) {
            reader->file->mode = (sn_heapfile_mode)i;
            reader->seen |= HAS_MODE;
            return;
        }
    }
    sn_scan_fail(&reader->scan, "the mode is none of live, cumulative, dark-matter, scan");
}

static void read_invocation(reader *reader) {
    sn_scan *scan = &reader->scan;
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        const char *key = sn_scan_key(scan);
        if (strcmp(key, "mode") == 0)
            read_mode(reader);
        else if (strcmp(key, "dmdEnvVar") == 0)
            reader->file->options = sn_scan_null(scan) ? NULL : sn_intern(sn_scan_string(scan));
        else
            sn_scan_skip(scan);
    }
}

/** The arguments, in one text. */
static const char *read_command(sn_scan *scan) {
    char text[4096] = "";
    size_t used = 0;
    sn_scan_open(scan, '[');
    while (sn_scan_more(scan, ']')) {
        int more = snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", sn_scan_string(scan));
        used += more < 0 ? 0 : (size_t)more < sizeof text - used ? (size_t)more : sizeof text - used - 1;
    }
    return sn_intern(text);
}

static void read_origin(reader *reader) {
    sn_scan *scan = &reader->scan;
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}')) {
        const char *key = sn_scan_key(scan);
        if (strcmp(key, "command") == 0)
            reader->file->command = read_command(scan);
        else if (strcmp(key, "cause") == 0)
            reader->file->cause = sn_intern(sn_scan_string(scan));
        else
            sn_scan_skip(scan);
    }
}

static void read_version(reader *reader) {
    uint64_t version = sn_scan_count(&reader->scan);
    if (version != SN_HEAPFILE_VERSION) {
        char text[80];
        snprintf(text, sizeof text, "the version is %" PRIu64 ", and only version %d is read", version, SN_HEAPFILE_VERSION);
        sn_scan_fail(&reader->scan, text);
    }
    reader->seen |= HAS_VERSION;
}

/* ------------------------------------------------------------------------- contents */

static void read_words(reader *reader, uint32_t owner) {
    static uint64_t words[WORDS_AT_ONCE];
    sn_heapfile_input *input = &reader->scan.input;
    uint64_t first = 0;
    sn_scan_open(&reader->scan, '[');
    sn_heapfile_input_pause(input);
    for (size_t count; (count = sn_scan_words(&reader->scan, words, WORDS_AT_ONCE)) > 0; first += count)
        reader->listener->words(reader->listener->data, owner, first, words, count);
    if (sn_scan_has_failed(&reader->scan))
        return;
    if (reader->listener->end != NULL)
        reader->listener->end(reader->listener->data, owner);
    sn_heapfile_input_resume(input, input->at - 1); /* the bracket */
}

typedef struct finding {
    const sn_heapfile_listener *listener;
    uint32_t owner;
} finding;

static void tell_found(void *data, uint64_t number, uint64_t word, uint64_t head) {
    const finding *finding = data;
    finding->listener->found(finding->listener->data, finding->owner, number, word, head);
}

static void read_contents(reader *reader, uint32_t owner) {
    const sn_heapfile_listener *listener = reader->listener;
    sn_scan_peek(&reader->scan);
    reader->contents = sn_heapfile_input_place(&reader->scan.input);
    if (listener == NULL)
        sn_scan_skip_words(&reader->scan);
    else if (listener->range != NULL)
        sn_scan_search_words(&reader->scan, listener->range, tell_found, &(finding){listener, owner});
    else
        read_words(reader, owner);
}

/* --------------------------------------------------------------------------- blocks */

static void read_reports(reader *reader, sn_heapfile_block *block) {
    unsigned count = 0;
    sn_scan_open(&reader->scan, '[');
    while (sn_scan_more(&reader->scan, ']')) {
        uint32_t number = number_of(&reader->file->trace_names, &reader->scan);
        if (count == 2)
            sn_scan_fail(&reader->scan, "a block has more than two reports");
        else
            block->reports[count++] = number;
    }
}

/** Told apart by the numbers of sn_scan_key_code(): there are millions. */
static const char *const member_names[] = {
    [MEMBER_SIZE] = "req",    [MEMBER_SLOP] = "slop",     [MEMBER_COUNT] = "num",
    [MEMBER_FREED] = "freed", [MEMBER_LIVED] = "lived",   [MEMBER_ADDRESS] = "addr",
    [MEMBER_TRACE] = "alloc", [MEMBER_REPORTS] = "reps",  [MEMBER_CONTENTS] = "contents",
    [MEMBER_FIRST_USE + SN_HEAPFILE_READ] = "read", [MEMBER_FIRST_USE + SN_HEAPFILE_WRITTEN] = "written",
    [MEMBER_FIRST_USE + SN_HEAPFILE_NEVER_READ] = "unread", [MEMBER_FIRST_USE + SN_HEAPFILE_NEVER_USED] = "unused"};

static block_member member_of(const reader *reader, uint64_t code) {
    unsigned member = 0;
    while (member < MEMBER_OTHER && reader->codes[member] != code)
        member++;
    return (block_member)member;
}

static void read_block_member(reader *reader, sn_heapfile_block *block, bool *has_size) {
    sn_scan *scan = &reader->scan;
    block_member member = member_of(reader, sn_scan_key_code(scan));
    if (member >= MEMBER_FIRST_USE && member < MEMBER_OTHER) {
        block->uses[member - MEMBER_FIRST_USE] = sn_scan_count(scan);
        reader->file->has_uses = true;
        return;
    }
    switch (member) {
    case MEMBER_SIZE:
        block->requested = sn_scan_count(scan);
        *has_size = true;
        break;
    case MEMBER_SLOP:
        block->slop = sn_scan_count(scan);
        break;
    case MEMBER_COUNT:
        block->count = sn_scan_count(scan);
        break;
    case MEMBER_FREED:
        block->freed = sn_scan_count(scan);
        break;
    case MEMBER_LIVED:
        block->lived = sn_scan_count(scan);
        break;
    case MEMBER_ADDRESS:
        block->address = sn_scan_hexadecimal(scan);
        break;
    case MEMBER_TRACE:
        block->trace = number_of(&reader->file->trace_names, scan);
        break;
    case MEMBER_REPORTS:
        read_reports(reader, block);
        break;
    case MEMBER_CONTENTS:
        read_contents(reader, reader->block);
        break;
    default:
        sn_scan_skip(scan);
    }
}

/** Sums must not overflow, nor a block's end. */
static void add_up(reader *reader, const sn_heapfile_block *block) {
    sn_heapfile *file = reader->file;
    uint64_t size = sn_heapfile_usable(block), sum;
    if (__builtin_mul_overflow(size, block->count, &sum) || __builtin_add_overflow(file->usable, sum, &file->usable) ||
        file->usable > INT64_MAX || __builtin_add_overflow(file->count, block->count, &file->count) ||
        file->count > INT64_MAX || __builtin_add_overflow(file->lived, block->lived, &file->lived) || file->lived > INT64_MAX ||
        __builtin_add_overflow(block->address, size, &sum))
        sn_scan_fail(&reader->scan, "the sizes of the blocks are too large");
    for (unsigned i = 0; i < SN_HEAPFILE_USES; i++)
        if (__builtin_add_overflow(file->uses[i], block->uses[i], &file->uses[i]) || file->uses[i] > INT64_MAX)
            sn_scan_fail(&reader->scan, "more was read or written than can be");
    if (block->freed > block->count)
        sn_scan_fail(&reader->scan, "more blocks were freed than there were");
    if (block->uses[SN_HEAPFILE_NEVER_READ] > block->count ||
        block->uses[SN_HEAPFILE_NEVER_USED] > block->uses[SN_HEAPFILE_NEVER_READ])
        sn_scan_fail(&reader->scan, "more blocks were never read or used than there were, or never used than never read");
}

static void read_block(reader *reader) {
    sn_heapfile_block block = {.count = 1, .trace = SN_HEAPFILE_NONE, .reports = {SN_HEAPFILE_NONE, SN_HEAPFILE_NONE}};
    bool has_size = false;
    reader->contents = 0;
    sn_scan_open(&reader->scan, '{');
    while (sn_scan_more(&reader->scan, '}'))
        read_block_member(reader, &block, &has_size);
    reader->block++;
    if (!has_size)
        sn_scan_fail(&reader->scan, "a block has no size (the member req)");
    if (!reader->is_first || sn_scan_has_failed(&reader->scan))
        return;
    add_up(reader, &block);
    if (reader->listener != NULL && reader->listener->block != NULL)
        reader->listener->block(reader->listener->data, reader->block - 1, &block, reader->contents);
    *sn_vector_add(&reader->file->blocks) = block;
}

static void read_blocks(reader *reader) {
    sn_scan_open(&reader->scan, '[');
    while (sn_scan_more(&reader->scan, ']')) {
        if (reader->block == SN_HEAPFILE_FIRST_ROOT - 1)
            sn_scan_fail(&reader->scan, "there are too many blocks");
        read_block(reader);
    }
}

/* ---------------------------------------------------------------------------- roots */

static void read_root_member(reader *reader, const char *key, sn_heapfile_root *root) {
    sn_scan *scan = &reader->scan;
    if (strcmp(key, "kind") == 0) {
        root->kind = sn_intern(sn_scan_string(scan));
    } else if (strcmp(key, "name") == 0) {
        root->name = sn_scan_null(scan) ? NULL : sn_intern(sn_scan_string(scan));
    } else if (strcmp(key, "module") == 0) {
        root->module = sn_scan_null(scan) ? NULL : sn_intern(sn_scan_string(scan));
    } else if (strcmp(key, "thread") == 0) {
        root->thread = sn_scan_count(scan);
        root->has_thread = true;
    } else if (strcmp(key, "addr") == 0) {
        root->address = sn_scan_hexadecimal(scan);
    } else if (strcmp(key, "contents") == 0) {
        read_contents(reader, SN_HEAPFILE_FIRST_ROOT + reader->root);
    } else {
        sn_scan_skip(scan);
    }
}

static void read_roots(reader *reader) {
    sn_scan_open(&reader->scan, '[');
    while (sn_scan_more(&reader->scan, ']')) {
        sn_heapfile_root root = {0};
        if (reader->root == SN_HEAPFILE_FIRST_ROOT - 1)
            sn_scan_fail(&reader->scan, "there are too many roots");
        sn_scan_open(&reader->scan, '{');
        while (sn_scan_more(&reader->scan, '}'))
            read_root_member(reader, sn_scan_key(&reader->scan), &root);
        reader->root++;
        if (root.kind == NULL)
            sn_scan_fail(&reader->scan, "a root has no kind");
        if (reader->is_first)
            *sn_vector_add(&reader->file->roots) = root;
    }
    if (reader->is_first)
        reader->file->has_roots = true;
}

static void read_modules(reader *reader) {
    sn_scan *scan = &reader->scan;
    sn_scan_open(scan, '[');
    while (sn_scan_more(scan, ']')) {
        sn_heapfile_module module = {0};
        sn_scan_open(scan, '{');
        while (sn_scan_more(scan, '}')) {
            const char *key = sn_scan_key(scan);
            if (strcmp(key, "path") == 0)
                module.path = sn_intern(sn_scan_string(scan));
            else if (strcmp(key, "addr") == 0)
                module.address = sn_scan_hexadecimal(scan);
            else
                sn_scan_skip(scan);
        }
        if (module.path == NULL)
            sn_scan_fail(scan, "a module has no path");
        *sn_vector_add(&reader->file->modules) = module;
    }
}

/* --------------------------------------------------------------------- the whole file */

/** The members of the file; bit 0: none that must be there. A second reading needs but those with contents. */
static const struct {
    const char *name;
    void (*read)(reader *reader);
    unsigned seen;
    bool has_contents;
} members[] = {
    {"version", read_version, HAS_VERSION, false},   {"invocation", read_invocation, 0, false},
    {"blockList", read_blocks, HAS_BLOCKS, true},    {"traceTable", read_traces, HAS_TRACES, false},
    {"frameTable", read_frames, HAS_FRAMES, false},  {"roots", read_roots, 0, true},
    {"sonde", read_origin, 0, false},                {"modules", read_modules, 0, false},
};

static void read_member(reader *reader, const char *key) {
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(key, members[i].name) == 0 && (reader->is_first || members[i].has_contents)) {
            members[i].read(reader);
            reader->seen |= members[i].seen;
            return;
        }
    }
    sn_scan_skip(&reader->scan);
}

static void read_all(reader *reader) {
    sn_scan *scan = &reader->scan;
    for (unsigned i = 0; i < MEMBER_OTHER; i++)
        reader->codes[i] = sn_scan_code_of(member_names[i], strlen(member_names[i]));
    sn_scan_open(scan, '{');
    while (sn_scan_more(scan, '}'))
        read_member(reader, sn_scan_key(scan));
    sn_scan_finish(scan);
}

/** Everything that is referred to must be there. */
static void check(reader *reader) {
    sn_heapfile *file = reader->file;
    static const struct {
        unsigned bit;
        const char *wrong;
    } needed[] = {{HAS_VERSION, "it has no version: it is no heap profile"}, {HAS_MODE, "it has no mode"},
                  {HAS_BLOCKS, "it has no blockList"}, {HAS_TRACES, "it has no traceTable"},
                  {HAS_FRAMES, "it has no frameTable"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!(reader->seen & needed[i].bit))
            sn_scan_fail(&reader->scan, needed[i].wrong);
    for (uint32_t i = 0; i < file->trace_names.count; i++)
        if (!trace_numbered(file, i)->is_defined)
            sn_scan_fail(&reader->scan, "a block names a trace that is not in the traceTable");
    while (file->frames.count < file->frame_names.count)
        sn_vector_add(&file->frames);
    for (uint32_t i = 0; i < file->frame_names.count; i++)
        if (file->frames.items[i] == NULL)
            sn_scan_fail(&reader->scan, "a trace names a frame that is not in the frameTable");
}

static bool finish(reader *reader, char *explanation) {
    snprintf(explanation, SN_HEAPFILE_EXPLANATION_SIZE, "%s", reader->scan.wrong);
    bool is_good = !sn_scan_has_failed(&reader->scan);
    sn_scan_end(&reader->scan);
    return is_good;
}

bool sn_heapfile_read(sn_heapfile *file, int descriptor, const sn_heapfile_listener *listener, char *explanation) {
    reader reader = {.file = file, .listener = listener, .is_first = true};
    sn_scan_begin(&reader.scan, descriptor);
    read_all(&reader);
    check(&reader);
    return finish(&reader, explanation);
}

bool sn_heapfile_contents(const sn_heapfile *file, int descriptor, const sn_heapfile_listener *listener, char *explanation) {
    reader reader = {.file = (sn_heapfile *)(uintptr_t)file, .listener = listener}; /* only read at the second reading */
    sn_scan_begin(&reader.scan, descriptor);
    reader.scan.input.taker = listener->text;
    reader.scan.input.taker_data = listener->data;
    sn_heapfile_input_resume(&reader.scan.input, reader.scan.input.at);
    read_all(&reader);
    if (reader.block != file->blocks.count || reader.root != file->roots.count)
        sn_scan_fail(&reader.scan, "the file has changed while it was read");
    sn_heapfile_input_pause(&reader.scan.input);
    return finish(&reader, explanation);
}

void sn_heapfile_release(sn_heapfile *file) {
    sn_vector_release(&file->blocks);
    sn_vector_release(&file->traces);
    sn_vector_release(&file->trace_frames);
    sn_vector_release(&file->frames);
    sn_vector_release(&file->roots);
    sn_vector_release(&file->modules);
    sn_hash_release(&file->trace_names.numbers);
    sn_hash_release(&file->frame_names.numbers);
}
