/**
 * @fileoverview See native.h.
 */
#include "native.h"

#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

/** Defined in x86_64/native.S. */
void native_enter(const native_state *state);
extern const char native_back[];
extern uint64_t native_target;
extern volatile uint64_t native_counter;

_Static_assert(offsetof(native_state, flags) == 128 && offsetof(native_state, bases) == 136 &&
               offsetof(native_state, mask) == 152 && offsetof(native_state, short_vector) == 216 &&
               offsetof(native_state, vector) == 320, "offsets in native.S");

enum { CODE_ADDRESS = 0x1ff00000, CODE_SIZE = 4096, INSTRUCTION_OFFSET = 64, SIGNAL_STACK = 1 << 16 };
/** HWCAP2: the kernel lets programs use rdfsbase and wrfsbase. */
enum { HWCAP2_SEGMENT_INSTRUCTIONS = 2 };

static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
static struct sigaction before[sizeof caught / sizeof caught[0]];
static uint8_t *page;
static void *signal_stack;
static volatile int raised;

bool native_is_possible(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           getauxval(AT_HWCAP2) & HWCAP2_SEGMENT_INSTRUCTIONS;
}

/** Runs on the state's own thread pointer: touches nothing but what is written here. */
static void handle(int number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t at = (uint64_t)registers[REG_RIP];
    if (at - (uint64_t)page >= CODE_SIZE) {
        signal(number, SIG_DFL); /* a fault of the test itself: again, and deadly */
        return;
    }
    raised = number;
    registers[REG_RIP] = (greg_t)native_back;
}

void native_open(void) {
    void *wanted = (void *)(uintptr_t)CODE_ADDRESS; /* NOLINT */
    page = mmap(wanted, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                -1, 0);
    signal_stack = malloc(SIGNAL_STACK);
    if (page != wanted || !signal_stack) abort();
    stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (unsigned i = 0; i < sizeof caught / sizeof caught[0]; i++) sigaction(caught[i], &action, &before[i]);
}

void native_close(void) {
    for (unsigned i = 0; i < sizeof caught / sizeof caught[0]; i++) sigaction(caught[i], &before[i], NULL);
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(signal_stack);
    munmap(page, CODE_SIZE);
}

uint64_t native_address(void) { return CODE_ADDRESS + INSTRUCTION_OFFSET; }

native_result native_run(const native_state *state, const uint8_t *code, size_t length) {
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* to the address behind it */
    const char *back = native_back;
    uint8_t *at = page + INSTRUCTION_OFFSET;
    memcpy(at, code, length);
    memcpy(at + length, jump, sizeof jump);
    memcpy(at + length + sizeof jump, &back, sizeof back);
    native_target = native_address();
    raised = 0;
    native_enter(state);
    return (native_result){.signal = raised, .counter = native_counter};
}
