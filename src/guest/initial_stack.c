/**
 * @fileoverview Building the client's first stack: see initial_stack.h.
 *
 * From the top down, as the kernel's exec does: a zero word, the file's name, the environment strings, the argument
 * strings, the platform's name, 16 random bytes; then, 16-byte aligned, argc, argv, envp, the auxiliary vector.
 */
#include "guest/initial_stack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "guest/host_memory.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

/** Stack sizes: at least what is left for the program beside its arguments, what "unlimited" means, and at most. */
#define LEAST_STACK (UINT64_C(128) << 10)
#define UNLIMITED_STACK (UINT64_C(1) << 30)
#define GREATEST_STACK (UINT64_C(8) << 30)
/** The kernel's bounds on arguments and environment: a string, and all of them whatever the limit says. */
#define STRING_LIMIT (UINT64_C(128) << 10)
#define STRINGS_LEAST (UINT64_C(128) << 10)
#define STRINGS_MOST (UINT64_C(6) << 20)

enum { AUXILIARY_PAIRS = 64, RANDOM_BYTES = 16 };

typedef struct pair {
    uint64_t type, value;
} pair;

/** As given to the client; what sn_program.auxiliary points to. */
static pair auxiliary[AUXILIARY_PAIRS];

/** Sizes of what has to go onto the stack. */
typedef struct sizes {
    uint64_t argument_count, environment_count;
    uint64_t argument_bytes, environment_bytes;
} sizes;

/** Addresses of what lies above the vectors. */
typedef struct strings {
    uint64_t file, environment, arguments, platform, random;
} strings;

static bool measure(const char *const *list, uint64_t *count, uint64_t *bytes) {
    for (; list[*count]; ++*count) {
        uint64_t size = strlen(list[*count]) + 1;
        if (size > STRING_LIMIT) {
            return false;
        }
        *bytes += size;
    }
    return true;
}

/** The size of the stack for so many bytes of arguments; 0 if those are too many for the limit. */
static uint64_t stack_size(const sizes *size) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_STACK, &limit);
    uint64_t soft = limit.rlim_cur;
    uint64_t used = size->argument_bytes + size->environment_bytes +
                    sizeof(uint64_t) * (size->argument_count + size->environment_count);
    uint64_t most = soft / 4 < STRINGS_MOST ? soft / 4 : STRINGS_MOST;
    if (used > (most > STRINGS_LEAST ? most : STRINGS_LEAST)) {
        return 0;
    }
    uint64_t wanted = soft == RLIM_INFINITY ? UNLIMITED_STACK : soft < GREATEST_STACK ? soft : GREATEST_STACK;
    uint64_t least = LEAST_STACK + used;
    return sn_page_up(wanted > least ? wanted : least);
}

static long map_stack(uint64_t size, bool executable) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint64_t start = SN_STACK_END - size;
    long result = sn_host_mmap(start, size, PROT_READ | PROT_WRITE, flags | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (result != (long)start) {
        return -ENOMEM;
    }
    /* A stack is touched page by page: huge pages would only cost memory. Older kernels ignore MAP_STACK. */
    sn_syscall(SYS_madvise, start, size, MADV_NOHUGEPAGE);
    sn_region region = {.start = start,
                        .end = SN_STACK_END,
                        .protection = PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0),
                        .flags = flags,
                        .kind = SN_REGION_STACK};
    return sn_space_record(&region) ? 0 : -ENOMEM;
}

/** Copy below *top; returns where the copy is, which is also the new *top. */
static uint64_t push(uint64_t *top, const void *bytes, uint64_t size) {
    *top -= size;
    memcpy((void *)*top, bytes, size);
    return *top;
}

/** Copy all strings of a list so that the first is lowest; returns where it is. */
static uint64_t push_list(uint64_t *top, const char *const *list, uint64_t bytes) {
    uint64_t at = *top -= bytes;
    for (; *list; list++) {
        size_t size = strlen(*list) + 1;
        memcpy((void *)at, *list, size);
        at += size;
    }
    return *top;
}

static uint64_t push_strings(const sn_stack_request *request, const sizes *size, strings *where) {
    uint64_t top = SN_STACK_END - sizeof(uint64_t);
    unsigned char random[RANDOM_BYTES];
    const char *platform = (const char *)getauxval(AT_PLATFORM);
    if (sn_syscall(SYS_getrandom, random, sizeof random, 0) != sizeof random) {
        memcpy(random, (const void *)getauxval(AT_RANDOM), sizeof random);
    }
    where->file = push(&top, request->file, strlen(request->file) + 1);
    where->environment = push_list(&top, request->environment, size->environment_bytes);
    where->arguments = push_list(&top, request->arguments, size->argument_bytes);
    where->platform = platform ? push(&top, platform, strlen(platform) + 1) : 0;
    where->random = push(&top, random, sizeof random);
    return top;
}

/** The vector that the kernel gave this process. libc's getauxval changes some of its values (AT_HWCAP). */
static unsigned read_host_auxiliary(pair pairs[AUXILIARY_PAIRS]) {
    long file = sn_syscall(SYS_open, "/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    long size = sn_syscall_failed(file) ? 0 : sn_syscall(SYS_read, file, pairs, AUXILIARY_PAIRS * sizeof *pairs);
    if (!sn_syscall_failed(file)) {
        sn_syscall(SYS_close, file);
    }
    return size > 0 ? (unsigned)((uint64_t)size / sizeof *pairs) : 0;
}

/**
 * Fill `auxiliary`; returns how many pairs. All that the kernel gives, in its order; what describes the program is the
 * client's. The entries of restartable sequences stay, although rseq(2) is refused: a program must ask that anyway.
 */
static unsigned fill_auxiliary(const sn_stack_request *request, const sn_program *program, const strings *where) {
    const pair own[] = {
        {AT_PAGESZ, SN_PAGE_SIZE},
        {AT_PHDR, request->table_address},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHNUM, request->entry_count},
        {AT_BASE, request->linker_bias},
        {AT_ENTRY, program->program_entry},
        {AT_RANDOM, where->random},
        {AT_EXECFN, where->file},
        {AT_PLATFORM, where->platform},
    };
    unsigned count = read_host_auxiliary(auxiliary);
    if (!count) {
        sn_fail(SN_STATUS_ENGINE, "cannot read /proc/self/auxv: /proc is not mounted");
    }
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < sizeof own / sizeof *own; k++) {
            if (auxiliary[i].type == own[k].type) {
                auxiliary[i].value = own[k].value;
            }
        }
    }
    return count;
}

/** Store the addresses of `count` consecutive strings and a zero; returns the place behind. */
static uint64_t *store_pointers(uint64_t *at, uint64_t string, uint64_t count) {
    for (; count; count--) {
        *at++ = string;
        string += strlen((const char *)string) + 1;
    }
    *at++ = 0;
    return at;
}

static void store_vectors(const sizes *size, const strings *where, uint64_t top, sn_program *program) {
    uint64_t words = 1 + size->argument_count + 1 + size->environment_count + 1;
    uint64_t pointer = (top & ~UINT64_C(15)) - words * sizeof(uint64_t) - program->auxiliary_size;
    pointer &= ~UINT64_C(15);
    uint64_t *at = (uint64_t *)pointer;
    *at++ = size->argument_count;
    at = store_pointers(at, where->arguments, size->argument_count);
    at = store_pointers(at, where->environment, size->environment_count);
    memcpy(at, auxiliary, program->auxiliary_size);
    program->stack_pointer = pointer;
    program->arguments_start = where->arguments;
    program->arguments_end = program->environment_start = where->environment;
    program->environment_end = where->file;
}

long sn_initial_stack_build(const sn_stack_request *request, sn_program *program) {
    sizes size = {0};
    strings where;
    if (!measure(request->arguments, &size.argument_count, &size.argument_bytes) ||
        !measure(request->environment, &size.environment_count, &size.environment_bytes)) {
        return -E2BIG;
    }
    uint64_t bytes = stack_size(&size);
    if (!bytes) {
        return -E2BIG;
    }
    long result = map_stack(bytes, request->executable);
    if (result < 0) {
        return result;
    }
    uint64_t top = push_strings(request, &size, &where);
    program->auxiliary_size = fill_auxiliary(request, program, &where) * sizeof(pair);
    program->auxiliary = auxiliary;
    store_vectors(&size, &where, top, program);
    return 0;
}
