/**
 * @fileoverview The client's files in /proc as texts: see procfs_text.h.
 *
 * maps comes from the space alone; smaps, stat and status are the host's texts with what shows the engine replaced.
 */
#include "guest/procfs_text.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "base/text.h"
#include "guest/host_memory.h"
#include "guest/kernel_pages.h"
#include "guest/loader.h"
#include "guest/space.h"
#include "jit/layout.h"

/* ------------------------------------------------------------ growing texts */

enum { FIRST_CAPACITY = 65536 };

/** Room for `size` more bytes. */
static bool make_room(sn_growing_text *text, size_t size) {
    size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
    while (capacity - text->size < size) {
        capacity *= 2;
    }
    if (capacity != text->capacity) {
        char *bytes = sn_host_reallocate(text->bytes, text->capacity, capacity);
        if (!bytes) {
            text->failed = true;
            return false;
        }
        text->bytes = bytes;
        text->capacity = capacity;
    }
    return true;
}

void sn_growing_add(sn_growing_text *text, const void *bytes, size_t size) {
    if (make_room(text, size)) {
        memcpy(text->bytes + text->size, bytes, size);
        text->size += size;
    }
}

void sn_growing_release(sn_growing_text *text) {
    sn_host_free(text->bytes, text->capacity);
    *text = (sn_growing_text){0};
}

bool sn_growing_add_file(sn_growing_text *text, const char *path) {
    long descriptor = sn_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (descriptor < 0) {
        return false;
    }
    long got = -1;
    while (make_room(text, SN_PAGE_SIZE)) {
        got = sn_syscall(SYS_read, descriptor, text->bytes + text->size, text->capacity - text->size);
        if (got <= 0) {
            break;
        }
        text->size += (size_t)got;
    }
    sn_syscall(SYS_close, descriptor);
    return got == 0;
}

/** Append client memory; false if some of it is not there. */
static bool add_client_memory(sn_growing_text *text, uint64_t start, uint64_t end) {
    if (end <= start || !make_room(text, end - start)) {
        return end == start;
    }
    /* Through the kernel, since the client may have unmapped it. */
    struct iovec to = {text->bytes + text->size, end - start}, from = {(void *)start, end - start};
    long got = sn_syscall(SYS_process_vm_readv, sn_syscall(SYS_getpid), &to, 1, &from, 1, 0);
    if (got != (long)(end - start)) {
        return false;
    }
    text->size += (size_t)got;
    return true;
}

/* --------------------------------------------------------------------- maps */

enum { NAME_COLUMN = 73, HEADER_SIZE = 192 };

/** What stands in the last column. */
static const char *label_of(const sn_region *region) {
    switch (region->kind) {
    case SN_REGION_STACK:
        return "[stack]";
    case SN_REGION_BREAK:
        return "[heap]";
    default:
        return region->path;
    }
}

/** Append a path with its newlines as the kernel writes them. */
static void add_escaped(sn_growing_text *text, const char *path) {
    while (*path) {
        size_t length = strcspn(path, "\n");
        sn_growing_add(text, path, length);
        path += length;
        if (*path) {
            sn_growing_add(text, "\\012", 4);
            path++;
        }
    }
}

/** The line of [start, end), a part of `region`, in the kernel's format. */
static void add_map_line(sn_growing_text *text, const sn_region *region, uint64_t start, uint64_t end) {
    char buffer[HEADER_SIZE];
    sn_text line = sn_text_in(buffer, sizeof buffer);
    const char permissions[] = {region->protection & PROT_READ ? 'r' : '-', region->protection & PROT_WRITE ? 'w' : '-',
                                region->protection & PROT_EXEC ? 'x' : '-', region->flags & MAP_SHARED ? 's' : 'p'};
    const char *label = label_of(region);
    uint64_t offset = region->device ? region->offset + (start - region->start) : 0;
    sn_text_add_hexadecimal(&line, start, 8);
    sn_text_add(&line, "-");
    sn_text_add_hexadecimal(&line, end, 8);
    sn_text_add(&line, " ");
    sn_text_add_bytes(&line, permissions, sizeof permissions);
    sn_text_add(&line, " ");
    sn_text_add_hexadecimal(&line, offset, 8);
    sn_text_add(&line, " ");
    sn_text_add_hexadecimal(&line, major(region->device), 2);
    sn_text_add(&line, ":");
    sn_text_add_hexadecimal(&line, minor(region->device), 2);
    sn_text_add(&line, " ");
    sn_text_add_decimal(&line, region->inode, 0);
    sn_text_add(&line, " ");
    while (label && line.length < NAME_COLUMN) {
        sn_text_add(&line, " ");
    }
    sn_growing_add(text, line.buffer, line.length);
    if (label) {
        add_escaped(text, label);
    }
    sn_growing_add(text, "\n", 1);
}

static void visit_map(const sn_region *region, void *data) {
    add_map_line(data, region, region->start, region->end);
}

bool sn_procfs_write_maps(sn_growing_text *text, const sn_procfs_subject *subject) {
    (void)subject;
    sn_space_visit(visit_map, text);
    const char *emulated = sn_kernel_page_emulated_line();
    sn_growing_add(text, emulated, strlen(emulated));
    return true;
}

/* -------------------------------------------------------------------- lines */

/** The next line of `text` from *at on, its newline included; false at the end. */
static bool next_line(const sn_growing_text *text, size_t *at, const char **line, size_t *length) {
    if (*at >= text->size) {
        return false;
    }
    const char *start = text->bytes + *at;
    const char *newline = memchr(start, '\n', text->size - *at);
    *line = start;
    *length = newline ? (size_t)(newline - start) + 1 : text->size - *at;
    *at += *length;
    return true;
}

static bool read_hexadecimal(const char **at, const char *limit, uint64_t *value) {
    const char *start = *at;
    *value = 0;
    for (; *at < limit; ++*at) {
        const char *digits = "0123456789abcdef", *digit = memchr(digits, **at, 16);
        if (!digit) {
            break;
        }
        *value = *value * 16 + (uint64_t)(digit - digits);
    }
    return *at > start;
}

/** Whether a line of smaps begins a mapping: "start-end ...". */
static bool mapping_line(const char *line, size_t length, uint64_t *start, uint64_t *end) {
    const char *limit = line + length;
    if (!read_hexadecimal(&line, limit, start) || line == limit || *line++ != '-') {
        return false;
    }
    return read_hexadecimal(&line, limit, end) && line < limit && *line == ' ';
}

/** "Name:           12345 kB\n", as the kernel aligns it in smaps. */
static void add_smaps_amount(sn_growing_text *text, const char *name, uint64_t bytes) {
    enum { VALUE_END = 24 };
    char buffer[64], digits[32];
    sn_text line = sn_text_in(buffer, sizeof buffer), number = sn_text_in(digits, sizeof digits);
    sn_text_add_decimal(&number, bytes / 1024, 0);
    sn_text_add(&line, name);
    while (line.length + number.length < VALUE_END) {
        sn_text_add(&line, " ");
    }
    sn_text_add(&line, digits);
    sn_text_add(&line, " kB\n");
    sn_growing_add(text, line.buffer, line.length);
}

/** One host mapping of which the text of smaps tells, and how far its client regions are written. */
typedef struct host_mapping {
    uint64_t at, end;
} host_mapping;

/** Begin the part of the client region at mapping->at; false when the client has none there. */
static bool begin_part(sn_growing_text *text, host_mapping *mapping) {
    sn_region region;
    if (mapping->at >= mapping->end || !sn_space_find(mapping->at, &region)) {
        return false;
    }
    uint64_t end = region.end < mapping->end ? region.end : mapping->end;
    add_map_line(text, &region, mapping->at, end);
    add_smaps_amount(text, "Size:", end - mapping->at);
    mapping->at = end;
    return true;
}

/** The host merges what differs in execute permission only: its figures went to the first part, these are the others. */
static void add_other_parts(sn_growing_text *text, host_mapping *mapping) {
    while (begin_part(text, mapping)) {
        add_smaps_amount(text, "Rss:", 0);
        add_smaps_amount(text, "Pss:", 0);
    }
}

bool sn_procfs_write_smaps(sn_growing_text *text, const sn_procfs_subject *subject) {
    static const char size_line[] = "Size:";
    sn_growing_text host = {0};
    host_mapping mapping = {0};
    bool done = sn_growing_add_file(&host, subject->host_path);
    bool shown = false; /* mappings that are no client's are the engine's */
    const char *line;
    size_t length, at = 0;
    while (done && next_line(&host, &at, &line, &length)) {
        uint64_t start, end;
        if (mapping_line(line, length, &start, &end)) {
            if (shown) {
                add_other_parts(text, &mapping);
            }
            mapping = (host_mapping){start, end};
            shown = begin_part(text, &mapping);
        } else if (shown && !(length > sizeof size_line && memcmp(line, size_line, sizeof size_line - 1) == 0)) {
            sn_growing_add(text, line, length);
        }
    }
    if (shown) {
        add_other_parts(text, &mapping);
    }
    sn_growing_release(&host);
    return done;
}

/* ------------------------------------------------- auxv, cmdline, environ */

bool sn_procfs_write_auxv(sn_growing_text *text, const sn_procfs_subject *subject) {
    (void)subject;
    sn_growing_add(text, sn_program_current.auxiliary, sn_program_current.auxiliary_size);
    return true;
}

bool sn_procfs_write_cmdline(sn_growing_text *text, const sn_procfs_subject *subject) {
    (void)subject;
    const sn_program *program = &sn_program_current;
    if (!add_client_memory(text, program->arguments_start, program->arguments_end)) {
        return text->failed ? false : true; /* gone: empty, as the kernel has it */
    }
    if (text->size == 0 || text->bytes[text->size - 1] == '\0') {
        return true;
    }
    /* A title longer than the arguments was written over them: it goes on into the environment, up to its NUL. */
    text->size = 0;
    if (add_client_memory(text, program->arguments_start, program->environment_end)) {
        text->size = strnlen(text->bytes, text->size);
    }
    return true;
}

bool sn_procfs_write_environ(sn_growing_text *text, const sn_procfs_subject *subject) {
    (void)subject;
    add_client_memory(text, sn_program_current.environment_start, sn_program_current.environment_end);
    return true;
}

/* ------------------------------------------------------------- stat, status */

/** What the space as a whole amounts to. */
typedef struct amounts {
    uint64_t all, stack;
} amounts;

static void visit_amounts(const sn_region *region, void *data) {
    amounts *sum = data;
    sum->all += region->end - region->start;
    if (region->kind == SN_REGION_STACK) {
        sum->stack += region->end - region->start;
    }
}

static amounts measure(void) {
    amounts sum = {0};
    sn_space_visit(visit_amounts, &sum);
    return sum;
}

static void add_decimal(sn_growing_text *text, uint64_t value) {
    char digits[32];
    sn_text number = sn_text_in(digits, sizeof digits);
    sn_text_add_decimal(&number, value, 0);
    sn_growing_add(text, number.buffer, number.length);
}

/** Fields of stat as proc(5) numbers them. */
enum {
    STAT_COMMAND = 2,
    STAT_LAST = 52,
};

/** A field of stat and what it becomes. */
typedef struct replacement {
    unsigned field;
    uint64_t value;
} replacement;

static bool replaced(const replacement *list, unsigned count, unsigned field, uint64_t *value) {
    for (unsigned i = 0; i < count; i++) {
        if (list[i].field == field) {
            *value = list[i].value;
            return true;
        }
    }
    return false;
}

/** Copy the fields from the third on, replacing some. */
static void copy_fields(sn_growing_text *text, const char *at, const char *limit, const replacement *list,
                        unsigned count) {
    for (unsigned field = STAT_COMMAND + 1; at < limit; field++) {
        const char *end = at;
        uint64_t value;
        while (end < limit && *end != ' ' && *end != '\n') {
            end++;
        }
        if (replaced(list, count, field, &value)) {
            add_decimal(text, value);
        } else {
            sn_growing_add(text, at, (size_t)(end - at));
        }
        if (end < limit) {
            sn_growing_add(text, end++, 1);
        }
        at = end;
    }
}

bool sn_procfs_write_stat(sn_growing_text *text, const sn_procfs_subject *subject) {
    const sn_program *program = &sn_program_current;
    const sn_procfs_signals *signals = subject->signals;
    const replacement list[] = {
        {23, measure().all},
        {26, program->start_code},
        {27, program->end_code},
        {28, program->stack_pointer},
        {45, program->start_data},
        {46, program->end_data},
        {47, SN_BREAK_START},
        {48, program->arguments_start},
        {49, program->arguments_end},
        {50, program->environment_start},
        {51, program->environment_end},
        /* Last, since they may be unknown. The kernel shows the first 31 signals only. */
        {32, signals ? signals->blocked & INT32_MAX : 0},
        {33, signals ? signals->ignored & INT32_MAX : 0},
        {34, signals ? signals->caught & INT32_MAX : 0},
    };
    unsigned count = sizeof list / sizeof *list - (signals ? 0 : 3);
    sn_growing_text host = {0};
    bool done = sn_growing_add_file(&host, subject->host_path);
    /* The command may hold blanks and brackets: the last closing bracket ends it. */
    const char *bracket = done ? memrchr(host.bytes, ')', host.size) : NULL;
    const char *limit = host.bytes + host.size;
    done = bracket && limit - bracket > 2;
    if (done) {
        sn_growing_add(text, host.bytes, (size_t)(bracket + 2 - host.bytes));
        copy_fields(text, bracket + 2, limit, list, count);
    }
    sn_growing_release(&host);
    return done;
}

/** "VmSize:\t   12345 kB\n", as the kernel aligns it. */
static void add_kilobytes(sn_growing_text *text, const char *name, uint64_t bytes) {
    enum { WIDTH = 8 };
    char buffer[64], digits[32];
    sn_text line = sn_text_in(buffer, sizeof buffer), number = sn_text_in(digits, sizeof digits);
    sn_text_add_decimal(&number, bytes / 1024, 0);
    sn_text_add(&line, name);
    sn_text_add(&line, "\t");
    for (size_t length = number.length; length < WIDTH; length++) {
        sn_text_add(&line, " ");
    }
    sn_text_add(&line, digits);
    sn_text_add(&line, " kB\n");
    sn_growing_add(text, line.buffer, line.length);
}

static void add_signals(sn_growing_text *text, const char *name, uint64_t set) {
    char buffer[64];
    sn_text line = sn_text_in(buffer, sizeof buffer);
    sn_text_add(&line, name);
    sn_text_add(&line, "\t");
    sn_text_add_hexadecimal(&line, set, 16);
    sn_text_add(&line, "\n");
    sn_growing_add(text, line.buffer, line.length);
}

bool sn_procfs_write_status(sn_growing_text *text, const sn_procfs_subject *subject) {
    const sn_procfs_signals *signals = subject->signals;
    const amounts sum = measure();
    const struct {
        const char *name;
        uint64_t value;
        bool known;
        void (*add)(sn_growing_text *text, const char *name, uint64_t value);
    } rows[] = {
        {"VmPeak:", sum.all, true, add_kilobytes},
        {"VmSize:", sum.all, true, add_kilobytes},
        {"VmStk:", sum.stack, true, add_kilobytes},
        {"VmExe:", sn_program_current.end_code - sn_program_current.start_code, true, add_kilobytes},
        {"SigBlk:", signals ? signals->blocked : 0, signals != NULL, add_signals},
        {"SigIgn:", signals ? signals->ignored : 0, signals != NULL, add_signals},
        {"SigCgt:", signals ? signals->caught : 0, signals != NULL, add_signals},
    };
    sn_growing_text host = {0};
    bool done = sn_growing_add_file(&host, subject->host_path);
    const char *line;
    size_t length, at = 0;
    while (done && next_line(&host, &at, &line, &length)) {
        unsigned row = 0;
        const unsigned count = sizeof rows / sizeof *rows;
        while (row < count && !(rows[row].known && length > strlen(rows[row].name) &&
                                memcmp(line, rows[row].name, strlen(rows[row].name)) == 0)) {
            row++;
        }
        if (row < count) {
            rows[row].add(text, rows[row].name, rows[row].value);
        } else {
            sn_growing_add(text, line, length);
        }
    }
    sn_growing_release(&host);
    return done;
}
