/**
 * @fileoverview Finding the file to run: see program_file.h.
 */
#include "guest/program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "guest/descriptor_path.h"
#include "guest/host_memory.h"

enum { STATUS_REFUSED = 126, STATUS_NOT_FOUND = 127 };

#define SHELL "/bin/sh"

/** What a shell says, by error. */
static const struct {
    int error, status;
    const char *reason;
} reasons[] = {
    {ENOENT, STATUS_NOT_FOUND, "No such file or directory"},
    {EACCES, STATUS_REFUSED, "Permission denied"},
    {EISDIR, STATUS_REFUSED, "Is a directory"},
    {ENOTDIR, STATUS_REFUSED, "Not a directory"},
    {ELOOP, STATUS_REFUSED, "Too many levels of symbolic links"},
    {ENAMETOOLONG, STATUS_REFUSED, "File name too long"},
    {ENOEXEC, STATUS_REFUSED, "cannot execute binary file: Exec format error"},
    {EMFILE, STATUS_REFUSED, "Too many open files"},
    {ENFILE, STATUS_REFUSED, "Too many open files in system"},
    {ENOMEM, STATUS_REFUSED, "Cannot allocate memory"},
    {EIO, STATUS_REFUSED, "Input/output error"},
    {0, STATUS_REFUSED, "cannot be opened"},
};

/** Store why `name` can't be run; `reason` NULL for the usual one. Always returns false. */
static bool refuse(sn_program_file *file, const char *name, int error, const char *reason, const char *detail) {
    unsigned row = 0;
    while (reasons[row].error && reasons[row].error != error) {
        row++;
    }
    file->error = error == EISDIR ? EACCES : error; /* the kernel does not tell a directory apart */
    file->status = reasons[row].status;
    sn_text text = sn_text_in(file->explanation, sizeof file->explanation);
    sn_text_add(&text, name);
    sn_text_add(&text, ": ");
    sn_text_add(&text, reason ? reason : reasons[row].reason);
    if (detail) {
        sn_text_add(&text, detail);
    }
    return false;
}

/** 0 or the errno of executing `path`, as far as its inode tells. */
static int execution_error(const char *path) {
    struct stat status;
    long result = sn_syscall(SYS_newfstatat, AT_FDCWD, path, &status, 0);
    if (result < 0) {
        return (int)-result;
    }
    if (S_ISDIR(status.st_mode)) {
        return EISDIR;
    }
    if (!S_ISREG(status.st_mode)) {
        return EACCES;
    }
    result = sn_syscall(SYS_faccessat2, AT_FDCWD, path, X_OK, AT_EACCESS);
    if (result == -ENOSYS || result == -EPERM) { /* an old kernel, or a sandbox that does not know the call */
        result = sn_syscall(SYS_access, path, X_OK);
    }
    return (int)-result;
}

/** Look for `name` in the folders of `search_path`; the place goes to file->given. */
static bool search_folders(sn_program_file *file, const char *name, const char *search_path) {
    int first_error = ENOENT;
    for (const char *folder = search_path;; folder++) {
        size_t length = strcspn(folder, ":");
        sn_text candidate = sn_text_in(file->given, sizeof file->given);
        if (length) {
            sn_text_add_bytes(&candidate, folder, length);
            sn_text_add(&candidate, "/");
        }
        sn_text_add(&candidate, name);
        int error = candidate.cut ? ENAMETOOLONG : execution_error(file->given);
        if (error == 0) {
            return true;
        }
        if (error == EACCES && first_error == ENOENT) {
            first_error = error;
        }
        folder += length;
        if (*folder == '\0') {
            break;
        }
    }
    return refuse(file, name, first_error, first_error == ENOENT ? "command not found" : NULL, NULL);
}

static bool find(sn_program_file *file, const char *name, const char *search_path) {
    if (search_path && name[0] && !strchr(name, '/')) {
        return search_folders(file, name, search_path);
    }
    if (strlen(name) >= sizeof file->given) {
        return refuse(file, "program", ENAMETOOLONG, NULL, NULL);
    }
    memcpy(file->given, name, strlen(name) + 1);
    return true;
}

/** Read exactly `size` bytes at `offset`, or up to the end of the file; how many, or -errno. */
static long read_at(int descriptor, void *bytes, size_t size, uint64_t offset) {
    size_t done = 0;
    while (done < size) {
        long got = sn_syscall(SYS_pread64, descriptor, (char *)bytes + done, size - done, offset + done);
        if (got == -EINTR) {
            continue;
        }
        if (got < 0) {
            return got;
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    return (long)done;
}

/** Open `path` for execution: a descriptor or -errno. */
static long open_executable(const char *path) {
    int error = execution_error(path);
    if (error) {
        return -error;
    }
    return sn_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/** Read and check the headers of an ELF file whose first bytes are given. */
static sn_elf_error read_elf(sn_elf *elf, int descriptor, const void *first, size_t size) {
    struct stat status;
    sn_elf_error error = sn_elf_read_header(elf, first, size);
    if (error) {
        return error;
    }
    size_t table_size = (size_t)elf->entry_count * SN_ELF_ENTRY_SIZE;
    void *table = sn_host_allocate(table_size);
    if (!table || sn_syscall(SYS_fstat, descriptor, &status) < 0) {
        sn_host_free(table, table_size);
        return SN_ELF_BAD_HEADER;
    }
    long got = read_at(descriptor, table, table_size, elf->table_offset);
    error = got < 0 ? SN_ELF_TRUNCATED
                    : sn_elf_read_segments(elf, table, (size_t)got, (uint64_t)status.st_size);
    sn_host_free(table, table_size);
    return error;
}

static bool refuse_format(sn_program_file *file, const char *name, sn_elf_error error) {
    return refuse(file, name, ENOEXEC, "cannot execute binary file: Exec format error: ", sn_elf_error_text(error));
}

/** Open and check the program's PT_INTERP. */
static bool open_linker(sn_program_file *file, const char *name) {
    char first[SN_ELF_HEADER_SIZE];
    if (file->elf.interpreter_size == 0) {
        return true;
    }
    long got = read_at(file->descriptor, file->linker_name, file->elf.interpreter_size, file->elf.interpreter_offset);
    if (got != (long)file->elf.interpreter_size || !sn_elf_interpreter_name_valid(&file->elf, file->linker_name)) {
        return refuse_format(file, name, SN_ELF_BAD_SEGMENT);
    }
    long descriptor = open_executable(file->linker_name);
    if (descriptor == -ENOENT) {
        return refuse(file, name, ENOENT, "cannot execute: required file not found", NULL);
    }
    if (descriptor < 0) {
        return refuse(file, name, (int)-descriptor, NULL, NULL);
    }
    file->linker_descriptor = (int)descriptor;
    got = read_at(file->linker_descriptor, first, sizeof first, 0);
    sn_elf_error error = got < 0 ? SN_ELF_TRUNCATED
                                 : read_elf(&file->linker_elf, file->linker_descriptor, first, (size_t)got);
    if (error) {
        refuse(file, name, ENOEXEC, "cannot execute: its interpreter is unusable: ", sn_elf_error_text(error));
        file->error = ELIBBAD;
        return false;
    }
    return true;
}

/** As shells judge: a NUL in the first line makes a binary file. */
static bool is_text(const char *bytes, size_t size) {
    for (size_t i = 0; i < size && bytes[i] != '\n'; i++) {
        if (bytes[i] == '\0') {
            return false;
        }
    }
    return true;
}

/** Where the next step of the chain leads. */
typedef enum step { STEP_REFUSED, STEP_PROGRAM, STEP_SCRIPT } step;

/** The script's interpreter becomes the next file to look at. */
static step add_script(sn_program_file *file, const char *name, const char *bytes, size_t size) {
    if (!sn_script_parse(&file->scripts[file->script_count], bytes, size)) {
        refuse(file, name, ENOEXEC, NULL, NULL);
        return STEP_REFUSED;
    }
    if (++file->script_count > SN_SCRIPT_DEPTH) {
        refuse(file, name, ELOOP, NULL, NULL);
        return STEP_REFUSED;
    }
    return STEP_SCRIPT;
}

/** A text without #!: /bin/sh takes the place of an interpreter. */
static step add_shell(sn_program_file *file) {
    sn_script *script = &file->scripts[file->script_count++];
    memset(script, 0, sizeof *script);
    memcpy(script->interpreter, SHELL, sizeof SHELL);
    file->by_shell = true;
    return STEP_SCRIPT;
}

/** Look at one file of the chain. */
static step examine(sn_program_file *file, const char *name, const char *path, sn_text_policy policy) {
    char first[SN_SCRIPT_LINE];
    long descriptor = open_executable(path);
    if (descriptor < 0) {
        bool missing = descriptor == -ENOENT && file->script_count;
        refuse(file, name, (int)-descriptor, missing ? "cannot execute: required file not found" : NULL, NULL);
        return STEP_REFUSED;
    }
    file->descriptor = (int)descriptor;
    long size = read_at(file->descriptor, first, sizeof first, 0);
    if (size < 0) {
        refuse(file, name, (int)-size, NULL, NULL);
        return STEP_REFUSED;
    }
    if (size >= 2 && first[0] == '#' && first[1] == '!') {
        return add_script(file, name, first, (size_t)size);
    }
    sn_elf_error error = read_elf(&file->elf, file->descriptor, first, (size_t)size);
    if (error == SN_ELF_NOT_ELF) {
        if (policy == SN_TEXT_BY_SHELL && file->script_count == 0 && is_text(first, (size_t)size)) {
            return add_shell(file);
        }
        refuse(file, name, ENOEXEC, NULL, NULL);
        return STEP_REFUSED;
    }
    if (error) {
        refuse_format(file, name, error);
        return STEP_REFUSED;
    }
    return open_linker(file, name) ? STEP_PROGRAM : STEP_REFUSED;
}

static void close_descriptor(int *descriptor) {
    if (*descriptor >= 0) {
        sn_syscall(SYS_close, *descriptor);
        *descriptor = -1;
    }
}

/** The absolute path of the program found. */
static void store_path(sn_program_file *file, const char *path) {
    if (sn_descriptor_path(file->descriptor, file->path, sizeof file->path) == 0) {
        memcpy(file->path, path, strlen(path) + 1); /* without /proc: the name that was given is the best there is */
    }
}

sn_program_file *sn_program_file_open(const char *name, int descriptor, const char *search_path, sn_text_policy policy) {
    char link[64];
    sn_program_file *file = sn_host_allocate(sizeof *file);
    if (!file) {
        return NULL;
    }
    file->descriptor = file->linker_descriptor = -1;
    if (!find(file, name, search_path)) {
        return file;
    }
    const char *path = file->given;
    if (descriptor >= 0) {
        sn_descriptor_link(descriptor, link, sizeof link);
        path = link;
    }
    for (;;) {
        step next = examine(file, name, path, policy);
        if (next == STEP_PROGRAM) {
            store_path(file, path);
            return file;
        }
        close_descriptor(&file->descriptor);
        close_descriptor(&file->linker_descriptor);
        if (next == STEP_REFUSED) {
            return file;
        }
        path = file->scripts[file->script_count - 1].interpreter;
    }
}

void sn_program_file_close(sn_program_file *file) {
    close_descriptor(&file->descriptor);
    close_descriptor(&file->linker_descriptor);
    sn_host_free(file, sizeof *file);
}
