/**
 * @fileoverview The heap's contents. See scan.h.
 *
 * Everything is read while the program's threads stand still: blocks and roots in one visit, whose results are written then. A block
 * that lies in another one is left out, so that no address belongs to two.
 */
#define _GNU_SOURCE
#include "scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <sonde/heap.h>
#include <sonde/sorted.h>

#define WORD 8
#define CHUNK (UINT64_C(1) << 16)

/** One of the service's blocks, which do not change while the program stands still. */
typedef struct scanned {
    uint64_t address;
    const sn_heap_block *block;
} scanned;

/** By address. */
typedef SN_VECTOR(scanned) block_list;

/** Text of the roots, made while the heap stands still. */
static char *roots_text;
static size_t roots_size;

static void note_block(sn_heap_block *block, void *data) {
    *sn_vector_add((block_list *)data) = (scanned){.address = block->address, .block = block};
}

/** Of blocks at the same address the largest stays. */
static void drop_contained(block_list *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const scanned *now = &list->items[i];
        scanned *before = kept != 0 ? &list->items[kept - 1] : NULL;
        if (before != NULL && before->address == now->address && now->block->requested > before->block->requested) {
            *before = *now;
        } else if (before == NULL || now->address >= before->address + before->block->requested) {
            list->items[kept++] = *now;
        }
    }
    list->count = kept;
}

/* --------------------------------------------------------------------------------------------------- contents */

/** Memory that cannot be read (a block told by a request may be anywhere) is zero. */
static void read_memory(uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t done = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    size_t read = done > 0 ? (size_t)done : 0;
    memset((char *)to + read, 0, size - read);
}

static char *put_hexadecimal(char *at, uint64_t value) {
    static const char digits[] = "0123456789abcdef";
    unsigned count = value != 0 ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
    for (unsigned i = count; i-- > 0; value >>= 4) {
        at[i] = digits[value & 15];
    }
    return at + count;
}

/** `"...", ` for each word; returns where the text ends. */
static char *put_words(char *at, const uint64_t *words, size_t count, bool *is_first) {
    for (size_t i = 0; i < count; i++) {
        if (!*is_first) {
            *at++ = ',';
        }
        *is_first = false;
        *at++ = '"';
        at = put_hexadecimal(at, words[i]);
        *at++ = '"';
    }
    return at;
}

/** The words from `address` on, zeros at the end left out. */
static void write_words(FILE *file, uint64_t address, uint64_t size) {
    static __thread uint64_t words[CHUNK / WORD];
    static __thread char text[CHUNK / WORD * 20];
    bool is_first = true;
    uint64_t zeros = 0; /* read, and to be written if something comes behind them */
    for (uint64_t done = 0; done < size; done += CHUNK) {
        uint64_t piece = size - done < CHUNK ? size - done : CHUNK;
        size_t count = piece / WORD, last = count;
        read_memory(address + done, words, piece);
        while (last > 0 && words[last - 1] == 0) {
            last--;
        }
        for (; last != 0 && zeros != 0; zeros--) {
            fputs(is_first ? "\"0\"" : ",\"0\"", file);
            is_first = false;
        }
        fwrite(text, 1, (size_t)(put_words(text, words, last, &is_first) - text), file);
        zeros += count - last;
    }
}

static void write_block(heap_rows *rows, const sn_heap_block *block) {
    heap_row_begin(rows, block->requested, block->usable - block->requested, block->context);
    fprintf(rows->file, ", \"addr\": \"%lx\", \"contents\": [", block->address);
    write_words(rows->file, block->address, block->requested / WORD * WORD);
    fputc(']', rows->file);
    heap_row_end(rows);
}

/* ------------------------------------------------------------------------------------------------------ roots */

typedef struct root_search {
    const block_list *blocks;
    FILE *file;
    bool has_some;
    size_t thread_count;
    struct {
        uint64_t stack_pointer;
        int id;
    } threads[256];
} root_search;

/** Whether an address lies in a block, or one begins there. */
static bool is_in_block(const block_list *blocks, uint64_t address) {
    const scanned *before = sn_sorted_before(blocks, address, address);
    return before != NULL && (address - before->address < before->block->requested || address == before->address);
}

static void begin_root(root_search *search, const char *kind) {
    fprintf(search->file, "%s\n  {\"kind\": \"%s\"", search->has_some ? "," : "", kind);
    search->has_some = true;
}

static void look_at_registers(sn_thread *thread, void *data) {
    root_search *search = data;
    uint64_t value;
    const char *name;
    for (unsigned i = 0; (name = sn_thread_register(thread, i, &value)) != NULL; i++) {
        if (is_in_block(search->blocks, value)) {
            begin_root(search, "register");
            fprintf(search->file, ", \"name\": \"%s\", \"thread\": %d, \"contents\": [\"%lx\"]}", name, sn_thread_id(thread), value);
        }
    }
    if (search->thread_count < sizeof search->threads / sizeof search->threads[0]) {
        search->threads[search->thread_count].stack_pointer = sn_thread_stack_pointer(thread);
        search->threads[search->thread_count++].id = sn_thread_id(thread);
    }
}

/** What the words of a stretch of memory are roots of. */
typedef struct stretch {
    const char *kind, *module;
    int thread;
} stretch;

/** Its name; behind the beginning of a larger one, how far. */
static void print_variable(FILE *file, const sn_variable *variable, uint64_t address) {
    char *text;
    int length = address == variable->address ? asprintf(&text, "%s", variable->name)
                                              : asprintf(&text, "%s+%lu", variable->name, address - variable->address);
    if (length < 0) {
        sn_fail(125, "heap: out of memory");
    }
    heap_print_string(file, text);
    free(text);
}

static void write_root(root_search *search, const stretch *from, uint64_t address, uint64_t value) {
    sn_variable variable;
    begin_root(search, from->kind);
    if (from->module != NULL) {
        fputs(", \"module\": ", search->file);
        heap_print_string(search->file, from->module);
        if (sn_locate_variable(address, from->module, &variable)) {
            fputs(", \"name\": ", search->file);
            print_variable(search->file, &variable, address);
        }
    }
    if (from->thread != 0) {
        fprintf(search->file, ", \"thread\": %d", from->thread);
    }
    fprintf(search->file, ", \"addr\": \"%lx\", \"contents\": [\"%lx\"]}", address, value);
}

static void look_at_words(root_search *search, const stretch *from, uint64_t start, uint64_t end) {
    static __thread uint64_t words[CHUNK / WORD];
    for (start = (start + WORD - 1) / WORD * WORD; start + WORD <= end;) {
        uint64_t piece = end - start < CHUNK ? end - start : CHUNK;
        read_memory(start, words, piece);
        for (size_t i = 0; i < piece / WORD; i++) {
            uint64_t address = start + i * WORD;
            if (words[i] != 0 && is_in_block(search->blocks, words[i]) && !is_in_block(search->blocks, address)) {
                write_root(search, from, address, words[i]);
            }
        }
        start += piece / WORD * WORD;
    }
}

/** Whether a block begins in [start, end): then the rest of it belongs to the allocator, and points to what is free. */
static bool holds_blocks(const block_list *blocks, uint64_t start, uint64_t end) {
    size_t first = sn_sorted_position(blocks, address, start);
    return first < blocks->count && blocks->items[first].address < end;
}

/** Memory of the program that it may write. */
typedef struct range {
    uint64_t start, end;
    char *path;
    bool is_break;
} range;

typedef SN_VECTOR(range) range_list;

static void note_range(const sn_memory_range *mapped, void *data) {
    if ((mapped->protection & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE)) {
        return;
    }
    *sn_vector_add((range_list *)data) = (range){.start = mapped->start, .end = mapped->end, .is_break = mapped->is_break,
                                                 .path = mapped->path != NULL ? strdup(mapped->path) : NULL};
}

static void look_at_range(root_search *search, uint64_t start, uint64_t end, const char *path, const char *before) {
    for (size_t i = 0; i < search->thread_count; i++) {
        uint64_t stack_pointer = search->threads[i].stack_pointer;
        if (stack_pointer >= start && stack_pointer < end) {
            /* Above it is what belongs to the thread; also, in threads' stacks, their own variables. */
            look_at_words(search, &(stretch){.kind = "stack", .thread = search->threads[i].id}, stack_pointer, end);
            return;
        }
    }
    const char *module = path != NULL ? path : before;
    if (module != NULL && module[0] != '[') {
        look_at_words(search, &(stretch){.kind = "global", .module = module}, start, end);
    } else if (!holds_blocks(search->blocks, start, end)) {
        look_at_words(search, &(stretch){.kind = "memory"}, start, end);
    }
}

static void look_at_memory(root_search *search) {
    range_list ranges = {0};
    sn_memory_visit(note_range, &ranges);
    for (size_t i = 0; i < ranges.count; i++) {
        /* Zeroes of a module's data are anonymous memory right behind its file's. */
        bool joins = i != 0 && ranges.items[i].path == NULL && ranges.items[i - 1].path != NULL &&
                     ranges.items[i - 1].end == ranges.items[i].start;
        if (!ranges.items[i].is_break || !holds_blocks(search->blocks, ranges.items[i].start, ranges.items[i].end)) {
            look_at_range(search, ranges.items[i].start, ranges.items[i].end, ranges.items[i].path,
                          joins ? ranges.items[i - 1].path : NULL);
        }
    }
    for (size_t i = 0; i < ranges.count; i++) {
        free(ranges.items[i].path);
    }
    sn_vector_release(&ranges);
}

static void find_roots(const block_list *blocks) {
    root_search search = {.blocks = blocks, .file = open_memstream(&roots_text, &roots_size)};
    if (search.file == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    sn_threads_visit(look_at_registers, &search);
    look_at_memory(&search);
    fclose(search.file);
}

/* ---------------------------------------------------------------------------------------------------- writing */

static void write_all(void *data) {
    heap_rows *rows = data;
    block_list blocks = {0};
    sn_heap_visit(note_block, &blocks);
    sn_sorted_sort(&blocks, address);
    drop_contained(&blocks);
    for (size_t i = 0; i < blocks.count; i++) {
        write_block(rows, blocks.items[i].block);
    }
    find_roots(&blocks);
    sn_vector_release(&blocks);
}

void heap_scan_write(heap_rows *rows) {
    sn_while_still(write_all, rows);
}

void heap_scan_write_roots(FILE *file) {
    fprintf(file, " \"roots\": [%s\n ],\n", roots_text != NULL ? roots_text : "");
    free(roots_text);
    roots_text = NULL;
}
