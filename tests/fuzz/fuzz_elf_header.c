/**
 * @fileoverview Fuzz target: hostile ELF headers and #! lines must be refused or read, never believed.
 *
 * What is accepted has to keep the promises that the loader relies on; they are checked here and abort when broken. With
 * clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise a program: `fuzz_elf_header FIRST_SEED COUNT`
 * builds and spoils COUNT headers. tests/test_elf_header.py builds and runs it under sanitizers.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/program_file.h"
#include "image/elf_header.h"

#define PAGE UINT64_C(4096)
#define USER_END UINT64_C(0x7ffffffff000)
#define ANY_PROTECTION (PROT_READ | PROT_WRITE | PROT_EXEC)

static unsigned long accepted, refused;

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

static void check_segment(const sn_elf *elf, const sn_elf_segment *segment, uint64_t file_size) {
    require(segment->file_size <= segment->memory_size);
    require(segment->address <= USER_END && segment->memory_size <= USER_END - segment->address);
    require(elf->low <= segment->address && segment->address + segment->memory_size <= elf->high);
    require((segment->protection & ~ANY_PROTECTION) == 0);
    if (segment->file_size) {
        require((segment->address - segment->offset) % PAGE == 0);
        require(segment->offset % PAGE + (segment->offset & ~(PAGE - 1)) == segment->offset);
        require(((segment->offset + segment->file_size - 1) & ~(PAGE - 1)) < file_size);
    }
}

static void check_accepted(const sn_elf *elf, uint64_t file_size) {
    require(elf->segment_count >= 1 && elf->segment_count <= elf->entry_count);
    require(elf->entry_count <= SN_ELF_ENTRIES_LIMIT);
    require(elf->low < elf->high && elf->low % PAGE == 0 && elf->high % PAGE == 0 && elf->high <= USER_END);
    require(elf->alignment >= PAGE && (elf->alignment & (elf->alignment - 1)) == 0);
    for (unsigned i = 0; i < elf->segment_count; i++) {
        check_segment(elf, &elf->segments[i], file_size);
    }
    require(elf->table_address == 0 || (elf->table_address >= elf->low && elf->table_address < elf->high));
    if (elf->interpreter_size) {
        require(elf->interpreter_size >= 2 && elf->interpreter_size <= PATH_MAX);
        require(elf->interpreter_offset + elf->interpreter_size <= file_size);
    }
}

/** The file as bytes: read as the loader reads it. */
static sn_elf_error read_as_elf(sn_elf *elf, const uint8_t *bytes, size_t size) {
    sn_elf_error error = sn_elf_read_header(elf, bytes, size);
    if (error) {
        return error;
    }
    size_t there = elf->table_offset < size ? size - elf->table_offset : 0;
    size_t wanted = (size_t)elf->entry_count * SN_ELF_ENTRY_SIZE;
    there = there < wanted ? there : wanted;
    /* A copy of exact size, so that a sanitizer sees a read behind it. */
    uint8_t *table = malloc(there + 1);
    require(table != NULL);
    if (there) {
        memcpy(table, bytes + elf->table_offset, there);
    }
    uint8_t *exact = realloc(table, there ? there : 1);
    error = sn_elf_read_segments(elf, exact, there, size);
    free(exact);
    return error;
}

static void read_as_script(const uint8_t *bytes, size_t size) {
    static sn_script script;
    if (sn_script_parse(&script, (const char *)bytes, size)) {
        require(strnlen(script.interpreter, sizeof script.interpreter) < sizeof script.interpreter);
        require(strnlen(script.argument, sizeof script.argument) < sizeof script.argument);
        require(script.interpreter[0] != '\0' && strpbrk(script.interpreter, " \t\n") == NULL);
        require(strchr(script.argument, '\n') == NULL && script.argument[0] != ' ');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static sn_elf elf;
    sn_elf_error error = read_as_elf(&elf, bytes, size);
    require(strlen(sn_elf_error_text(error)) > 0);
    if (error) {
        refused++;
    } else {
        accepted++;
        check_accepted(&elf, size);
        if (elf.interpreter_size) {
            require(sn_elf_interpreter_name_valid(&elf, (const char *)bytes + elf.interpreter_offset) ||
                    bytes[elf.interpreter_offset] == 0 ||
                    bytes[elf.interpreter_offset + elf.interpreter_size - 1] != 0);
        }
    }
    read_as_script(bytes, size);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "random.h"

enum { FILE_SIZE = 4 * 4096, ENTRIES = 6, CHANGES_LIMIT = 6, SCRIPT_SIZE = 300 };

static const uint64_t interesting[] = {
    0, 1, 2, 4, 8, 0x38, 0x40, 0xfff, 0x1000, 0x1001, 0x2000, FILE_SIZE - 1, FILE_SIZE, FILE_SIZE + 1, 0x7fffffff,
    0x80000000, 0xffffffff, USER_END - 1, USER_END, USER_END + 1, INT64_MAX, UINT64_C(1) << 63,
    (UINT64_C(1) << 63) - PAGE, UINT64_MAX - PAGE, UINT64_MAX - 1, UINT64_MAX,
};

/** A file that is in order, of a shape that the seed decides. */
static void make_good(uint8_t *bytes) {
    Elf64_Ehdr header = {.e_type = below(2) ? ET_DYN : ET_EXEC,
                         .e_machine = EM_X86_64,
                         .e_entry = 0x1000,
                         .e_phoff = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = (Elf64_Half)(1 + below(ENTRIES))};
    Elf64_Phdr entries[ENTRIES] = {{0}};
    memset(bytes, 0, FILE_SIZE);
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        uint64_t offset = below(FILE_SIZE / 2), size = 2 + below(FILE_SIZE / 2 - 2);
        static const uint32_t types[] = {PT_LOAD, PT_LOAD, PT_INTERP, PT_GNU_STACK, PT_NOTE};
        entries[i] = (Elf64_Phdr){.p_type = i == 0 ? PT_LOAD : types[below(5)],
                                  .p_flags = (uint32_t)below(8),
                                  .p_offset = offset,
                                  .p_vaddr = (i + 1) * UINT64_C(0x100000) + offset,
                                  .p_filesz = size,
                                  .p_memsz = size + below(0x4000),
                                  .p_align = UINT64_C(1) << below(24)};
        if (entries[i].p_type == PT_INTERP) {
            entries[i].p_filesz = 2 + below(PATH_MAX - 2);
        }
    }
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, entries, sizeof entries);
}

/** Change one field, or a byte, of the headers. */
static void spoil(uint8_t *bytes) {
    size_t span = sizeof(Elf64_Ehdr) + ENTRIES * sizeof(Elf64_Phdr), width = (size_t)1 << below(4);
    size_t at = below(span / width) * width;
    uint64_t value = interesting[below(sizeof interesting / sizeof *interesting)];
    if (below(3) == 0) {
        bytes[at] ^= (uint8_t)(1u << below(8));
    } else if (below(3) == 0) {
        value = next_random();
        memcpy(bytes + at, &value, width);
    } else {
        memcpy(bytes + at, &value, width);
    }
}

static void run_seed(uint64_t seed) {
    static uint8_t file[FILE_SIZE];
    char script[SCRIPT_SIZE];
    random_state = seed;
    make_good(file);
    for (uint64_t left = below(CHANGES_LIMIT); left > 0; left--) {
        spoil(file);
    }
    size_t size = below(8) ? FILE_SIZE : below(FILE_SIZE);
    uint8_t *exact = malloc(size + 1);
    memcpy(exact, file, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    size = below(SCRIPT_SIZE);
    for (size_t i = 0; i < size; i++) {
        script[i] = i < 2 ? "#!"[i] : "ab/ \t\n\0-"[below(below(4) ? 3 : 8)];
    }
    exact = malloc(size + 1);
    memcpy(exact, script, size);
    read_as_script(exact, size);
    free(exact);
}

int main(int argument_count, char **arguments) {
    if (argument_count != 3) {
        fprintf(stderr, "usage: fuzz_elf_header FIRST_SEED COUNT\n");
        return 2;
    }
    uint64_t first = strtoull(arguments[1], NULL, 0), count = strtoull(arguments[2], NULL, 0);
    for (uint64_t seed = first; seed < first + count; seed++) {
        run_seed(seed);
    }
    /* Both have to be frequent, or the test tests nothing. */
    if (accepted < count / 10 || refused < count / 10) {
        fprintf(stderr, "fuzz_elf_header: %lu accepted, %lu refused\n", accepted, refused);
        return 1;
    }
    printf("%lu inputs read\n", accepted + refused);
    return 0;
}

#endif
