/**
 * @fileoverview Unit test of reading ELF headers and #! lines, of finding a program, and of loading one:
 * src/image/elf_header.c, src/guest/script_line.c, program_file.c, loader.c, initial_stack.c.
 *
 * Loading is done in forked children, since a process loads once.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/loader.h"
#include "guest/program_file.h"
#include "guest/space.h"
#include "jit/layout.h"
#include "unit.h"

void sn_code_discard(uint64_t start, uint64_t end) {
    assert_true(start < end);
}

/* ------------------------------------------------------------- ELF headers */

/** A small program in memory: file header, two segments, a stack entry. */
typedef struct sample {
    Elf64_Ehdr header;
    Elf64_Phdr entries[4];
} sample;

enum { SAMPLE_FILE_SIZE = 0x3000 };

static sample make_sample(void) {
    sample s = {
        .header = {.e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_entry = 0x1010,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 4},
        .entries = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x1100, .p_memsz = 0x1100, .p_align = 0x1000},
                    {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 0x2e00, .p_vaddr = 0x403e00, .p_filesz = 0x100,
                     .p_memsz = 0x2300, .p_align = 0x200000},
                    {.p_type = PT_INTERP, .p_offset = 0x200, .p_filesz = 10},
                    {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W | PF_X}},
    };
    memcpy(s.header.e_ident, ELFMAG, SELFMAG);
    s.header.e_ident[EI_CLASS] = ELFCLASS64;
    s.header.e_ident[EI_DATA] = ELFDATA2LSB;
    return s;
}

static sn_elf_error read_sample(const sample *s, sn_elf *elf) {
    sn_elf_error error = sn_elf_read_header(elf, &s->header, sizeof s->header);
    return error ? error : sn_elf_read_segments(elf, s->entries, sizeof s->entries, SAMPLE_FILE_SIZE);
}

static void a_good_file(void **state) {
    (void)state;
    static sn_elf elf;
    sample s = make_sample();
    assert_int_equal(read_sample(&s, &elf), SN_ELF_OK);
    assert_true(elf.movable && elf.executable_stack);
    assert_int_equal(elf.entry, 0x1010);
    assert_int_equal(elf.low, 0);
    assert_int_equal(elf.high, 0x407000);
    assert_int_equal(elf.alignment, 0x200000);
    assert_int_equal(elf.table_address, sizeof(Elf64_Ehdr));
    assert_int_equal(elf.segment_count, 2);
    assert_int_equal(elf.segments[1].protection, PROT_READ | PROT_WRITE);
    assert_int_equal(elf.interpreter_offset, 0x200);
    assert_true(sn_elf_interpreter_name_valid(&elf, "/lib/ld.s"));
    assert_false(sn_elf_interpreter_name_valid(&elf, "/lib/ld.so"));
    assert_false(sn_elf_interpreter_name_valid(&elf, "\0lib/ld.s"));
}

/** Each of these makes the good file a bad one. */
static void no_magic(sample *s) { s->header.e_ident[0] = 'X'; }
static void class_32(sample *s) { s->header.e_ident[EI_CLASS] = ELFCLASS32; }
static void machine_386(sample *s) { s->header.e_machine = EM_386; }
static void machine_arm(sample *s) { s->header.e_machine = EM_AARCH64; }
static void big_endian(sample *s) { s->header.e_ident[EI_DATA] = ELFDATA2MSB; }
static void object_file(sample *s) { s->header.e_type = ET_REL; }
static void core_file(sample *s) { s->header.e_type = ET_CORE; }
static void entry_size(sample *s) { s->header.e_phentsize = 32; }
static void no_entries(sample *s) { s->header.e_phnum = 0; }
static void many_entries(sample *s) { s->header.e_phnum = 0xffff; }
static void table_far_away(sample *s) { s->header.e_phoff = UINT64_MAX - 10; }
static void file_over_memory(sample *s) { s->entries[1].p_memsz = 0x80; }
static void beyond_the_user_half(sample *s) { s->entries[1].p_vaddr = UINT64_C(0xffff800000000e00); }
static void sizes_overflow(sample *s) { s->entries[1].p_memsz = UINT64_MAX - 100; }
static void offset_overflows(sample *s) { s->entries[1].p_offset = UINT64_C(0x7ffffffffffffe00); }
static void crooked(sample *s) { s->entries[1].p_vaddr += 16; }
static void beyond_the_file(sample *s) { s->entries[1].p_offset += 0x1000; }
static void nothing_to_load(sample *s) { s->entries[0].p_type = s->entries[1].p_type = PT_NOTE; }
static void interpreter_too_long(sample *s) { s->entries[2].p_filesz = 5000; }
static void interpreter_too_short(sample *s) { s->entries[2].p_filesz = 1; }
static void interpreter_beyond_the_file(sample *s) { s->entries[2].p_offset = SAMPLE_FILE_SIZE - 5; }

static const struct {
    void (*spoil)(sample *s);
    sn_elf_error error;
} spoilt[] = {
    {no_magic, SN_ELF_NOT_ELF},
    {class_32, SN_ELF_32_BIT},
    {machine_386, SN_ELF_32_BIT},
    {machine_arm, SN_ELF_OTHER_MACHINE},
    {big_endian, SN_ELF_OTHER_MACHINE},
    {object_file, SN_ELF_NOT_A_PROGRAM},
    {core_file, SN_ELF_NOT_A_PROGRAM},
    {entry_size, SN_ELF_BAD_HEADER},
    {no_entries, SN_ELF_BAD_HEADER},
    {many_entries, SN_ELF_BAD_HEADER},
    {table_far_away, SN_ELF_BAD_HEADER},
    {file_over_memory, SN_ELF_BAD_SEGMENT},
    {beyond_the_user_half, SN_ELF_BAD_SEGMENT},
    {sizes_overflow, SN_ELF_BAD_SEGMENT},
    {offset_overflows, SN_ELF_BAD_SEGMENT},
    {crooked, SN_ELF_BAD_SEGMENT},
    {beyond_the_file, SN_ELF_TRUNCATED},
    {nothing_to_load, SN_ELF_BAD_SEGMENT},
    {interpreter_too_long, SN_ELF_BAD_SEGMENT},
    {interpreter_too_short, SN_ELF_BAD_SEGMENT},
    {interpreter_beyond_the_file, SN_ELF_TRUNCATED},
};

static void bad_files(void **state) {
    (void)state;
    static sn_elf elf;
    for (unsigned i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        sample s = make_sample();
        spoilt[i].spoil(&s);
        sn_elf_error error = read_sample(&s, &elf);
        if (error != spoilt[i].error) {
            fail_msg("row %u: %s instead of %s", i, sn_elf_error_text(error), sn_elf_error_text(spoilt[i].error));
        }
    }
    sample s = make_sample();
    assert_int_equal(sn_elf_read_header(&elf, &s, 3), SN_ELF_NOT_ELF);
    assert_int_equal(sn_elf_read_header(&elf, &s, 63), SN_ELF_TRUNCATED);
    assert_int_equal(sn_elf_read_header(&elf, &s, 64), SN_ELF_OK);
    assert_int_equal(sn_elf_read_segments(&elf, s.entries, sizeof s.entries - 1, SAMPLE_FILE_SIZE), SN_ELF_TRUNCATED);
}

/* ---------------------------------------------------------------- #! lines */

static void script_lines(void **state) {
    (void)state;
    static const struct {
        const char *text, *interpreter, *argument; /* NULL: malformed */
    } rows[] = {
        {"#!/bin/sh\n", "/bin/sh", ""},
        {"#!/bin/sh", "/bin/sh", ""},
        {"#! \t/usr/bin/env  python3 -u \t\nrest", "/usr/bin/env", "python3 -u"},
        {"#!/bin/sh -e\n#!/bin/false\n", "/bin/sh", "-e"},
        {"#!\n/bin/sh\n", NULL, NULL},
        {"#!  \t \n", NULL, NULL},
        {"#!", NULL, NULL},
        {"#/bin/sh\n", NULL, NULL},
    };
    static sn_script script;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool good = sn_script_parse(&script, rows[i].text, strlen(rows[i].text));
        assert_int_equal(good, rows[i].interpreter != NULL);
        if (good) {
            assert_string_equal(script.interpreter, rows[i].interpreter);
            assert_string_equal(script.argument, rows[i].argument);
        }
    }
    char text[SN_SCRIPT_LINE];
    memset(text, 'x', sizeof text);
    memcpy(text, "#!/bin/", 7);
    assert_false(sn_script_parse(&script, text, sizeof text)); /* the name may go on */
    text[100] = ' ';
    assert_true(sn_script_parse(&script, text, sizeof text));
    assert_int_equal(strlen(script.interpreter), 98);
    assert_int_equal(strlen(script.argument), SN_SCRIPT_LINE - 1 - 101);
}

/* ------------------------------------------------------- finding a program */

static char folder[] = "/tmp/sonde-loader-XXXXXX";

static const char *path_in_folder(const char *name) {
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode) {
    const char *path = path_in_folder(name);
    unlink(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    assert_int_equal(fchmod(descriptor, mode), 0);
    close(descriptor);
}

static void write_text(const char *name, const char *text, mode_t mode) {
    write_file(name, text, strlen(text), mode);
}

static int make_folder(void **state) {
    (void)state;
    sample missing_linker = make_sample();
    static char program[SAMPLE_FILE_SIZE];
    if (!mkdtemp(folder)) {
        return -1;
    }
    memcpy(program, &missing_linker, sizeof missing_linker);
    memcpy(program + 0x200, "/no/where", 10);
    write_file("missing-linker", program, sizeof program, 0755);
    write_file("truncated", program, 0x1000, 0755);
    missing_linker.header.e_machine = EM_AARCH64;
    memcpy(program, &missing_linker, sizeof missing_linker);
    write_file("other-machine", program, sizeof program, 0755);
    write_file("junk", "\1\2\0\3junk\n", 9, 0755);
    write_text("text", "exit 3\n", 0755);
    write_text("empty", "", 0755);
    write_text("plain", "exit 3\n", 0644);
    write_text("script", "#!/bin/sh\nexit 4\n", 0755);
    write_text("no-interpreter", "#!/no/where\n", 0755);
    write_text("no-name", "#!\n", 0755);
    char line[300];
    for (unsigned level = 1; level <= 6; level++) { /* loopN runs through N scripts */
        char name[8];
        snprintf(name, sizeof name, "loop%u", level);
        snprintf(line, sizeof line, level == 1 ? "#!/bin/true\n" : "#!%s/loop%u\n", folder, level - 1);
        write_text(name, line, 0755);
    }
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void checks(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int status, exec_error;
        const char *reason;
    } rows[] = {
        {"missing-linker", 127, -ENOENT, "cannot execute: required file not found"},
        {"truncated", 126, -ENOEXEC, "cannot execute binary file: Exec format error: the file is truncated"},
        {"other-machine", 126, -ENOEXEC, "cannot execute binary file: Exec format error: a program for another processor"},
        {"junk", 126, -ENOEXEC, "cannot execute binary file: Exec format error"},
        {"text", 0, -ENOEXEC, ""},
        {"empty", 0, -ENOEXEC, ""},
        {"plain", 126, -EACCES, "Permission denied"},
        {"script", 0, 0, ""},
        {"no-interpreter", 127, -ENOENT, "cannot execute: required file not found"},
        {"no-name", 126, -ENOEXEC, "cannot execute binary file: Exec format error"},
        {"loop5", 0, 0, ""},
        {"loop6", 126, -ELOOP, "Too many levels of symbolic links"},
        {"absent", 127, -ENOENT, "No such file or directory"},
        {"plain/below", 126, -ENOTDIR, "Not a directory"},
        {".", 126, -EACCES, "Is a directory"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char explanation[512], expected[512];
        const char *path = path_in_folder(rows[i].name);
        snprintf(expected, sizeof expected, "%s: %s", path, rows[i].reason);
        assert_int_equal(sn_program_check(path, true, explanation, sizeof explanation), rows[i].status);
        assert_string_equal(explanation, rows[i].status ? expected : "");
        assert_int_equal(sn_program_exec_error(path, (sn_opened_program){.descriptor = -1}), rows[i].exec_error);
    }
    char explanation[16];
    assert_int_equal(sn_program_check("/absent", false, explanation, sizeof explanation), 127);
    assert_string_equal(explanation, "/absent: No suc");
}

static void searching(void **state) {
    (void)state;
    char explanation[512], path[512];
    char *old = strdup(getenv("PATH"));
    snprintf(path, sizeof path, "/no/where:%s:/bin", folder);
    setenv("PATH", path, 1);
    assert_int_equal(sn_program_check("script", true, explanation, sizeof explanation), 0);
    assert_int_equal(sn_program_check("script", false, explanation, sizeof explanation), 127);
    assert_int_equal(sn_program_check("plain", true, explanation, sizeof explanation), 126);
    assert_string_equal(explanation, "plain: Permission denied");
    assert_int_equal(sn_program_check("absent", true, explanation, sizeof explanation), 127);
    assert_string_equal(explanation, "absent: command not found");
    assert_int_equal(sn_program_check("", true, explanation, sizeof explanation), 127);
    unsetenv("PATH");
    assert_int_equal(sn_program_check("true", true, explanation, sizeof explanation), 0);
    setenv("PATH", old, 1);
    free(old);
}

/* ----------------------------------------------------------------- loading */

/** Run `body` in a child; its failed assertions end it with another status. */
static int in_child(void (*body)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void require(bool condition, const char *text) {
    if (!condition) {
        fprintf(stderr, "not so: %s\n", text);
        _exit(99);
    }
}
/** A value of the kernel's own vector: libc's getauxval changes some. */
static uint64_t host_value(uint64_t type) {
    uint64_t pairs[128] = {0}, value = 0;
    FILE *file = fopen("/proc/self/auxv", "r");
    assert_non_null(file);
    size_t count = fread(pairs, 16, 64, file);
    fclose(file);
    for (size_t i = 0; i < count; i++)
        if (pairs[2 * i] == type) value = pairs[2 * i + 1];
    return value;
}

#define REQUIRE(condition) require(condition, #condition)

static uint64_t auxiliary_value(const sn_program *program, uint64_t type) {
    const uint64_t *pair = program->auxiliary;
    for (; *pair != AT_NULL; pair += 2) {
        if (*pair == type) {
            return pair[1];
        }
    }
    return 0;
}

/** The mapped segments hold what the file holds, and zeros behind. */
static void compare_with_file(const char *path, uint64_t bias) {
    sn_program_file *file = sn_program_file_open(path, -1, NULL, SN_TEXT_REFUSED);
    REQUIRE(file && file->status == 0);
    for (unsigned i = 0; i < file->elf.segment_count; i++) {
        const sn_elf_segment *segment = &file->elf.segments[i];
        const char *memory = (const char *)(segment->address + bias);
        char *bytes = malloc(segment->file_size + 1);
        REQUIRE(pread(file->descriptor, bytes, segment->file_size, (off_t)segment->offset) ==
                (ssize_t)segment->file_size);
        REQUIRE(memcmp(bytes, memory, segment->file_size) == 0);
        free(bytes);
        sn_region region;
        REQUIRE(sn_space_find((uint64_t)memory, &region));
        REQUIRE(region.protection == segment->protection);
        REQUIRE(strcmp(region.path, file->path) == 0);
        REQUIRE(region.offset + ((uint64_t)memory - region.start) == segment->offset);
        if (segment->memory_size > segment->file_size) {
            const char *end = (const char *)(((uint64_t)memory + segment->memory_size + 4095) & ~UINT64_C(4095));
            for (const char *at = memory + segment->file_size; at < end; at++) {
                REQUIRE(*at == 0);
            }
            REQUIRE(sn_space_find((uint64_t)memory + segment->memory_size - 1, &region));
        }
    }
    sn_program_file_close(file);
}

static void compare_stack(const sn_program *program, const char *const *arguments, const char *const *environment) {
    const uint64_t *word = (const uint64_t *)program->stack_pointer;
    REQUIRE(program->stack_pointer % 16 == 0);
    uint64_t count = *word++;
    for (uint64_t i = 0; i < count; i++) {
        REQUIRE(arguments[i] && strcmp((const char *)*word++, arguments[i]) == 0);
        REQUIRE(strcmp(program->arguments[i], arguments[i]) == 0);
    }
    REQUIRE(!arguments[count] && !program->arguments[count] && *word++ == 0);
    for (; *environment; environment++) {
        REQUIRE(strcmp((const char *)*word++, *environment) == 0);
    }
    REQUIRE(*word++ == 0);
    REQUIRE(memcmp(word, program->auxiliary, program->auxiliary_size) == 0);
    REQUIRE(((const uint64_t *)program->stack_pointer)[1] == program->arguments_start);
    sn_region region;
    REQUIRE(sn_space_find(program->stack_pointer, &region));
    REQUIRE(region.kind == SN_REGION_STACK && region.end == SN_STACK_END);
    REQUIRE(!sn_space_find(region.start - 1, &region));
    REQUIRE(auxiliary_value(program, AT_HWCAP) == host_value(AT_HWCAP));
    REQUIRE(auxiliary_value(program, AT_PAGESZ) == 4096);
    REQUIRE(auxiliary_value(program, AT_ENTRY) == program->program_entry);
    REQUIRE(auxiliary_value(program, AT_SYSINFO_EHDR) == getauxval(AT_SYSINFO_EHDR));
    REQUIRE(strcmp((const char *)auxiliary_value(program, AT_PLATFORM), (const char *)getauxval(AT_PLATFORM)) == 0);
    REQUIRE(memcmp((const void *)auxiliary_value(program, AT_RANDOM), (const void *)getauxval(AT_RANDOM), 16) != 0);
    REQUIRE(auxiliary_value(program, 27) == host_value(27) && auxiliary_value(program, 28) == host_value(28)); /* rseq */
}

static const char *const given_arguments[] = {"zero", "one", "", "a b", NULL};
static const char *const given_environment[] = {"PATH=/bin", "X=", NULL};

static void load_dynamic(void) {
    sn_program program;
    sn_space_init();
    sn_program_load("sh", true, given_arguments, given_environment, &program);
    compare_stack(&program, given_arguments, given_environment);
    char *real = realpath("/bin/sh", NULL);
    REQUIRE(strcmp(program.path, real) == 0);
    REQUIRE(strcmp((const char *)auxiliary_value(&program, AT_EXECFN), "/bin/sh") == 0);
    REQUIRE(program.load_bias == SN_CODE_START);
    compare_with_file(real, program.load_bias);
    uint64_t linker = auxiliary_value(&program, AT_BASE);
    REQUIRE(linker > SN_CODE_START && linker < SN_CODE_END && program.entry > linker);
    compare_with_file("/lib64/ld-linux-x86-64.so.2", linker);
    const Elf64_Phdr *table = (const Elf64_Phdr *)auxiliary_value(&program, AT_PHDR);
    REQUIRE(table[0].p_type == PT_PHDR && table[0].p_vaddr + program.load_bias == (uint64_t)table);
    REQUIRE(program.start_code < program.program_entry && program.program_entry < program.end_code);
}

static void load_script(void) {
    sn_program program;
    const char *script = path_in_folder("loop2");
    const char *first = path_in_folder("loop1");
    const char *const arguments[] = {"/bin/true", first, script, "one", "", "a b", NULL};
    sn_space_init();
    sn_program_load(script, false, given_arguments, given_environment, &program);
    compare_stack(&program, arguments, given_environment);
    REQUIRE(strcmp((const char *)auxiliary_value(&program, AT_EXECFN), script) == 0);
}

static void load_text(void) {
    sn_program program;
    const char *text = path_in_folder("text");
    const char *const arguments[] = {"/bin/sh", text, "one", "", "a b", NULL};
    sn_space_init();
    sn_program_load(text, false, given_arguments, given_environment, &program);
    compare_stack(&program, arguments, given_environment);
}

static void load_too_many_arguments(void) {
    static const char *arguments[3000];
    static char long_argument[1000];
    struct rlimit limit = {1 << 20, 1 << 20};
    memset(long_argument, 'x', sizeof long_argument - 1);
    for (unsigned i = 0; i + 1 < sizeof arguments / sizeof *arguments; i++) {
        arguments[i] = long_argument;
    }
    sn_program program;
    setrlimit(RLIMIT_STACK, &limit);
    REQUIRE(freopen("/dev/null", "w", stderr) != NULL);
    sn_space_init();
    sn_program_load("/bin/true", false, arguments, given_environment, &program);
}

static void loading(void **state) {
    (void)state;
    assert_int_equal(in_child(load_dynamic), 0);
    assert_int_equal(in_child(load_script), 0);
    assert_int_equal(in_child(load_text), 0);
    int status = in_child(load_too_many_arguments);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 126);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file), cmocka_unit_test(bad_files), cmocka_unit_test(script_lines),
        cmocka_unit_test(checks),      cmocka_unit_test(searching), cmocka_unit_test(loading),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
