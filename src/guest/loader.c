/**
 * @fileoverview Mapping the program and its linker: see loader.h.
 *
 * Segments are mapped through the space like any mapping of the client, so that its list is complete from the start.
 */
#include "guest/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/initial_stack.h"
#include "guest/program_file.h"
#include "guest/space_internal.h"
#include "jit/layout.h"
#include "sonde/tool.h"

enum { STATUS_REFUSED = 126 };

/** Greater alignments of segments are not worth the room in the code range. */
#define GREATEST_ALIGNMENT (UINT64_C(2) << 20)
/** What execvp uses without PATH. */
#define DEFAULT_SEARCH_PATH "/bin:/usr/bin"

sn_program sn_program_current;

/** An ELF file on its way into the client. */
typedef struct mapping {
    const char *name; /**< for messages */
    const sn_elf *elf;
    int descriptor;
    uint64_t bias;
} mapping;

static _Noreturn void refuse(const char *name, const char *reason) {
    sn_fail(STATUS_REFUSED, "%s: %s", name, reason);
}

/* --------------------------------------------------------------- finding it */

/** The list of folders to search: NULL for none. */
static const char *search_path_of(bool search, const char *const *environment) {
    for (; search && environment && *environment; environment++) {
        if (strncmp(*environment, "PATH=", 5) == 0) {
            return *environment + 5;
        }
    }
    return search ? DEFAULT_SEARCH_PATH : NULL;
}

int sn_program_check(const char *name, bool search, char *explanation, size_t size) {
    const char *search_path = search_path_of(search, (const char *const *)environ);
    sn_program_file *file =
        sn_program_file_open(name, sn_settings_current.exec_program, search_path, SN_TEXT_BY_SHELL);
    const char *text = file ? file->explanation : "no memory";
    int status = file ? file->status : STATUS_REFUSED;
    if (size) {
        size_t length = strnlen(text, size - 1);
        memcpy(explanation, text, length);
        explanation[length] = '\0';
    }
    if (file) {
        sn_program_file_close(file);
    }
    return status;
}

int sn_program_exec_error(const char *name, sn_opened_program opened) {
    sn_program_file *file = sn_program_file_open(name, opened.descriptor, NULL, SN_TEXT_REFUSED);
    if (!file) {
        return -ENOMEM;
    }
    int error = file->error;
    if (!error && file->script_count && opened.name_ends) {
        error = ENOENT; /* the interpreter could not open it */
    }
    sn_program_file_close(file);
    return -error;
}

/* ------------------------------------------------------------------ mapping */

/** Choose where the file goes; bias is what is added to its addresses. */
static void place(mapping *map) {
    const sn_elf *elf = map->elf;
    if (!elf->movable) {
        if (!sn_placement_in_window(elf->low, elf->high) || !sn_in_low_window(elf->low)) {
            refuse(map->name, "linked to fixed addresses that Sonde needs for itself");
        }
        map->bias = 0;
        return;
    }
    uint64_t alignment = elf->alignment < GREATEST_ALIGNMENT ? elf->alignment : GREATEST_ALIGNMENT;
    uint64_t low = elf->low & ~(alignment - 1);
    sn_place_request request = {
        .placement = SN_PLACE_CODE_RANGE, .length = elf->high - low, .alignment = alignment};
    sn_space_lock();
    uint64_t start = sn_placement_next(&sn_space_current.regions, &request);
    sn_space_unlock();
    if (!start) {
        refuse(map->name, "no room for it in the address space");
    }
    map->bias = start - low;
}

static void map_or_refuse(const mapping *map, uint64_t start, uint64_t end, int protection, int descriptor,
                          uint64_t offset) {
    int flags = MAP_PRIVATE | MAP_FIXED | (descriptor < 0 ? MAP_ANONYMOUS : 0);
    long result = sn_space_mmap(start, end - start, protection, flags, descriptor, offset);
    if (sn_syscall_failed(result)) {
        sn_fail(STATUS_REFUSED, "%s: cannot be mapped: %s", map->name, strerror((int)-result));
    }
}

/** One segment: the file's pages, then zeroed memory. */
static void map_segment(const mapping *map, const sn_elf_segment *segment) {
    uint64_t address = segment->address + map->bias;
    uint64_t start = sn_page_down(address), file_end = address + segment->file_size;
    uint64_t memory_end = sn_page_up(address + segment->memory_size), zero_start = start;
    if (segment->file_size) {
        map_or_refuse(map, start, sn_page_up(file_end), segment->protection, map->descriptor,
                      segment->offset - (address - start));
        zero_start = sn_page_up(file_end);
        if (segment->memory_size > segment->file_size && (segment->protection & PROT_WRITE)) {
            /* To the end of the page, not of the segment: the dynamic linker allocates from there. */
            memset((void *)file_end, 0, zero_start - file_end);
        }
    }
    if (memory_end > zero_start) {
        /* Like the kernel: writable whatever the segment says. */
        int protection = PROT_READ | PROT_WRITE | (segment->protection & PROT_EXEC);
        map_or_refuse(map, zero_start, memory_end, protection, -1, 0);
    }
}

static void map_file(mapping *map) {
    place(map);
    for (unsigned i = 0; i < map->elf->segment_count; i++) {
        map_segment(map, &map->elf->segments[i]);
    }
    sn_placement_keep_out(map->elf->low + map->bias, map->elf->high + map->bias);
}

/** The limits of code and data as the kernel reports them. */
static void measure(const mapping *map, sn_program *program) {
    program->start_code = program->start_data = UINT64_MAX;
    program->end_code = program->end_data = 0;
    for (unsigned i = 0; i < map->elf->segment_count; i++) {
        const sn_elf_segment *segment = &map->elf->segments[i];
        uint64_t start = segment->address + map->bias, end = start + segment->file_size;
        bool code = segment->protection & PROT_EXEC;
        if (code && start < program->start_code) {
            program->start_code = start;
        }
        if (code && end > program->end_code) {
            program->end_code = end;
        }
        /* The kernel takes the last segment's start, which in ascending order is the greatest. */
        if (program->start_data == UINT64_MAX || start > program->start_data) {
            program->start_data = start;
        }
        if (end > program->end_data) {
            program->end_data = end;
        }
    }
}

/* ---------------------------------------------------------------- arguments */

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) {
        sn_fail(STATUS_REFUSED, "no memory");
    }
    return memory;
}

static const char *copy(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(allocate(size), text, size);
}

/** The arguments as the client sees them: those of #! lines before the file, then what was given. */
static const char *const *client_arguments(const sn_program_file *file, const char *const *given) {
    size_t count = 0, used = 0;
    while (given[count]) {
        count++;
    }
    const char **arguments = allocate((count + 2 * file->script_count + 2) * sizeof *arguments);
    for (unsigned i = file->script_count; i > 0; i--) {
        const sn_script *script = &file->scripts[i - 1];
        arguments[used++] = copy(script->interpreter);
        if (script->argument[0]) {
            arguments[used++] = copy(script->argument);
        }
    }
    if (file->script_count) {
        arguments[used++] = copy(file->given);
    } else if (count == 0) {
        arguments[used++] = ""; /* as kernels since 5.18 */
    }
    for (size_t i = file->script_count ? 1 : 0; i < count; i++) {
        arguments[used++] = copy(given[i]);
    }
    arguments[used] = NULL;
    return arguments;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** The last part of what was executed; of the ELF file's own path when a descriptor was all that was given (since Linux
    6.14; before it was the descriptor's number). */
static const char *process_name(const char *executed, const char *path) {
    bool nothing_more = sn_settings_current.exec_program >= 0 && !strchr(executed + strlen(SN_DESCRIPTORS), '/');
    return copy(last_part(nothing_more ? path : executed));
}

void sn_program_load(const char *name, bool search, const char *const *arguments, const char *const *environment,
                     sn_program *program) {
    int descriptor = sn_settings_current.exec_program;
    sn_program_file *file =
        sn_program_file_open(name, descriptor, search_path_of(search, environment), SN_TEXT_BY_SHELL);
    if (!file) {
        refuse(name, "no memory");
    }
    if (file->status) {
        sn_fail(file->status, "%s", file->explanation);
    }
    mapping main = {.name = name, .elf = &file->elf, .descriptor = file->descriptor};
    mapping linker = {.name = file->linker_name, .elf = &file->linker_elf, .descriptor = file->linker_descriptor};
    bool linked = file->linker_descriptor >= 0;
    map_file(&main);
    if (linked) {
        map_file(&linker);
    }
    measure(&main, program);
    sn_space_current.data_size = program->end_data - program->start_data;
    program->path = copy(file->path);
    program->arguments = client_arguments(file, arguments);
    const char *executed = copy(file->by_shell ? file->scripts[0].interpreter : file->given);
    program->name = process_name(executed, program->path);
    program->load_bias = main.bias;
    program->program_entry = file->elf.entry + main.bias;
    program->entry = linked ? file->linker_elf.entry + linker.bias : program->program_entry;
    sn_stack_request request = {
        .arguments = program->arguments,
        .environment = environment,
        .file = executed,
        .table_address = file->elf.table_address ? file->elf.table_address + main.bias : 0,
        .entry_count = file->elf.entry_count,
        .linker_bias = linked ? linker.bias : 0,
        .executable = file->elf.executable_stack,
    };
    long result = sn_initial_stack_build(&request, program);
    if (result < 0) {
        refuse(name, result == -E2BIG ? "Argument list too long" : "no room for its stack");
    }
    sn_program_file_close(file);
    if (descriptor >= 0) {
        sn_syscall(SYS_close, descriptor);
    }
    sn_program_current = *program;
}
