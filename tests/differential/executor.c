/**
 * @fileoverview The executor of the differential test, see executor.h: memory, initial state, faults.
 *
 * The handler runs while fs may belong to the block: neither it nor what it calls may use thread-local storage or a
 * stack protector.
 */
#include "executor.h"

#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "layout.h"
#include "random.h"
#include "state.h"

/** Known to trampoline.S by offset. */
_Static_assert(offsetof(sn_start, flags) == 128 && offsetof(sn_start, segments) == 160, "trampoline.S");
_Static_assert(offsetof(sn_finish, fs_base) == 136 && offsetof(sn_finish, extended) == 192, "trampoline.S");

sn_start sn_executor_start;
sn_finish sn_executor_finish;
uint8_t sn_executor_image[SN_STATE_AREA] __attribute__((aligned(64)));
uint8_t sn_executor_clean_image[SN_STATE_AREA] __attribute__((aligned(64)));
uint32_t sn_executor_components;

void sn_executor_enter(void);
void sn_executor_leave(void);
void sn_executor_recover(void);

/** One data place: its address, its size, and what each run of the prepared block finds there. */
typedef struct place {
    const char *name;
    uint64_t address, size;
    uint8_t *initial;
} place;

static place places[] = {
    {"low arena", SN_LOW_ARENA, SN_ARENA_SIZE, NULL},    {"high arena", SN_HIGH_ARENA, SN_ARENA_SIZE, NULL},
    {"low stack", SN_LOW_STACK, SN_STACK_SIZE, NULL},    {"high stack", SN_HIGH_STACK, SN_STACK_SIZE, NULL},
    {"counters", SN_COUNTERS, SN_COUNTERS_SIZE, NULL},
};
enum { PLACES = sizeof places / sizeof *places };

static uint8_t *at(uint64_t address) {
    return (uint8_t *)(uintptr_t)address;
}

static bool map_at(uint64_t address, uint64_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void *got = mmap(at(address), size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (got == at(address))
        return true;
    fprintf(stderr, "differential: can't map %#llx: %s\n", (unsigned long long)address, strerror(errno));
    return false;
}

/** General registers of a signal frame by hardware number. */
static const int frame_registers[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/** The frame's extended state, as xsave in the block's place would have written it. */
static void capture_extended(const struct _libc_fpstate *frame) {
    const uint8_t *bytes = (const uint8_t *)frame;
    uint32_t magic, size;
    uint64_t present;
    memset(sn_executor_finish.extended, 0, sizeof sn_executor_finish.extended);
    memcpy(&magic, bytes + 464, sizeof magic);
    memcpy(&size, bytes + 480, sizeof size);
    if (magic != 0x46505853) { /* FP_XSTATE_MAGIC1: without it the frame holds the legacy area only */
        memcpy(sn_executor_finish.extended, bytes, 464);
        return;
    }
    memcpy(&present, bytes + 512, sizeof present);
    memcpy(sn_executor_finish.extended, bytes, size < SN_STATE_AREA ? size : SN_STATE_AREA);
    memset(sn_executor_finish.extended + 464, 0, 48);
    sn_state_fill_absent(sn_executor_finish.extended, sn_executor_components & ~present);
}

static void on_fault(int signal, siginfo_t *information, void *data) {
    ucontext_t *context = data;
    greg_t *registers = context->uc_mcontext.gregs;
    sn_finish *finish = &sn_executor_finish;
    for (unsigned i = 0; i < 16; i++)
        finish->registers[i] = (uint64_t)registers[frame_registers[i]];
    finish->flags = (uint64_t)registers[REG_EFL];
    finish->instruction_pointer = (uint64_t)registers[REG_RIP];
    finish->signal = signal;
    finish->code = information->si_code;
    finish->fault_address = (uint64_t)(uintptr_t)information->si_addr;
    finish->trap = (uint64_t)registers[REG_TRAPNO];
    finish->trap_error = (uint64_t)registers[REG_ERR];
    capture_extended(context->uc_mcontext.fpregs);
    registers[REG_RIP] = (greg_t)(uintptr_t)sn_executor_recover;
    registers[REG_EFL] = 0x202;
}

static bool install_handlers(void) {
    static const int signals[] = {SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGBUS, SIGALRM};
    stack_t stack = {.ss_size = 65536, .ss_sp = malloc(65536)};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0)
        return false;
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], &action, NULL) != 0)
            return false;
    }
    return true;
}

/** Small 64-bit indices, so that gathers and scatters stay near their base; taken as 32-bit ones they are small too. */
static void fill_constants(void) {
    sn_random random = {.state = 2};
    for (uint64_t offset = 0; offset < SN_CONSTANTS_SIZE; offset += 8) {
        int64_t index = (int64_t)sn_random_below(&random, 64) - 32;
        memcpy(at(SN_CONSTANTS + offset), &index, 8);
    }
}

/** jmp *0(%rip) and the address. */
static void fill_gate(void) {
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    uint64_t target = (uint64_t)(uintptr_t)sn_executor_leave;
    memcpy(at(SN_GATE), jump, sizeof jump);
    memcpy(at(SN_GATE) + sizeof jump, &target, sizeof target);
}

bool sn_executor_open(void) {
    sn_executor_components = sn_state_components();
    sn_state_clean(sn_executor_clean_image, sn_executor_components);
    for (unsigned i = 0; i < PLACES; i++) {
        places[i].initial = malloc(places[i].size);
        if (!places[i].initial || !map_at(places[i].address, places[i].size))
            return false;
    }
    if (!map_at(SN_CONSTANTS, SN_CONSTANTS_SIZE) || !map_at(SN_GATE, 4096) || !install_handlers())
        return false;
    fill_constants();
    fill_gate();
    return mprotect(at(SN_CONSTANTS), SN_CONSTANTS_SIZE, PROT_READ) == 0 &&
           mprotect(at(SN_GATE), 4096, PROT_READ | PROT_EXEC) == 0;
}

void sn_executor_prepare(const sn_start *start) {
    sn_random random = {.state = start->seed};
    sn_executor_start = *start;
    sn_state_random(sn_executor_image, sn_executor_components, &random);
    for (unsigned i = 0; i < PLACES; i++)
        sn_random_fill(&random, places[i].initial, places[i].size);
}

void sn_executor_run(void) {
    for (unsigned i = 0; i < PLACES; i++)
        memcpy(at(places[i].address), places[i].initial, places[i].size);
    memset(&sn_executor_finish, 0, offsetof(sn_finish, extended) + 1024);
    sn_executor_enter();
    sn_state_normalise(sn_executor_finish.extended);
    if (sn_executor_finish.trap != 14 && sn_executor_finish.signal == SIGSEGV)
        sn_executor_finish.fault_address = 0;
}

uint8_t *sn_executor_initial(uint64_t address) {
    for (unsigned i = 0; i < PLACES; i++)
        if (address - places[i].address < places[i].size)
            return places[i].initial + (address - places[i].address);
    return NULL;
}

/** The header says which components the image holds: all, as in the image before. */
void sn_executor_continue(uint64_t entry) {
    enum { HEADER = 512, HEADER_SIZE = 64, VALID_BITS = 28 };
    memcpy(sn_executor_start.registers, sn_executor_finish.registers, sizeof sn_executor_start.registers);
    sn_executor_start.flags = sn_executor_finish.flags;
    sn_executor_start.entry = entry;
    memcpy(sn_executor_finish.extended + HEADER, sn_executor_image + HEADER, HEADER_SIZE);
    memcpy(sn_executor_finish.extended + VALID_BITS, sn_executor_image + VALID_BITS, 4);
    memcpy(sn_executor_image, sn_executor_finish.extended, SN_STATE_AREA);
    for (unsigned i = 0; i < PLACES; i++)
        memcpy(places[i].initial, at(places[i].address), places[i].size);
}

/** One round of a lane: every bit of the word reaches the upper half, and the shift brings it down. */
static uint64_t mix(uint64_t lane, const uint8_t *from) {
    uint64_t word;
    memcpy(&word, from, 8);
    lane = (lane ^ word) * UINT64_C(0x9fb21c651e98df25);
    return lane ^ lane >> 29;
}

/** Four independent lanes and long rounds, so that hashing costs little next to running, also without linked blocks. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    uint64_t lanes[4] = {hash, hash + 1, hash + 2, hash + 3};
    const uint8_t *from = bytes, *end = from + size;
    for (; end - from >= 512; from += 512) {
#pragma GCC unroll 64
        for (unsigned offset = 0; offset < 512; offset += 8)
            lanes[offset / 8 % 4] = mix(lanes[offset / 8 % 4], from + offset);
    }
    for (unsigned i = 0; end - from >= 8; from += 8, i++)
        lanes[i % 4] = mix(lanes[i % 4], from);
    for (unsigned i = 1; i < 4; i++)
        lanes[0] = (lanes[0] ^ lanes[i]) * UINT64_C(0xd6e8feb86659fd93) ^ lanes[0] >> 31;
    return lanes[0];
}

static uint64_t hash_memory(void) {
    uint64_t hash = 3;
    for (unsigned i = 0; i < PLACES; i++)
        hash = hash_bytes(hash, at(places[i].address), places[i].size);
    return hash;
}

static uint64_t hash_general(void) {
    return hash_bytes(1, sn_executor_finish.registers, sizeof sn_executor_finish.registers);
}

static uint64_t hash_end(void) {
    uint64_t fields[] = {(uint64_t)sn_executor_finish.signal, (uint64_t)(uint32_t)sn_executor_finish.code,
                         sn_executor_finish.instruction_pointer, sn_executor_finish.fault_address,
                         sn_executor_finish.trap, sn_executor_finish.trap_error, sn_executor_finish.flags,
                         sn_executor_finish.fs_base, sn_executor_finish.gs_base};
    return hash_bytes(4, fields, sizeof fields);
}

static uint64_t hash_extended(unsigned group) {
    uint64_t hash = 5 + group;
    size_t offset, size;
    for (unsigned part = 0; sn_state_part(group, part, sn_executor_components, &offset, &size); part++)
        hash = hash_bytes(hash, sn_executor_finish.extended + offset, size);
    return hash;
}

uint64_t sn_executor_hash(void) {
    uint64_t all[] = {hash_end(), hash_general(), hash_extended(SN_STATE_X87), hash_extended(SN_STATE_VECTOR),
                      hash_memory()};
    return hash_bytes(9, all, sizeof all);
}

static void print_end(FILE *out) {
    const sn_finish *finish = &sn_executor_finish;
    if (!finish->signal) {
        fprintf(out, "end");
        return;
    }
    fprintf(out, "signal=%d code=%d at=%llx address=%llx trap=%llu error=%llx", finish->signal, finish->code,
            (unsigned long long)finish->instruction_pointer, (unsigned long long)finish->fault_address,
            (unsigned long long)finish->trap, (unsigned long long)finish->trap_error);
}

void sn_executor_print(uint64_t number, FILE *out) {
    fprintf(out, "%llu ", (unsigned long long)number);
    print_end(out);
    fprintf(out, " flags=%llx bases=%llx,%llx general=%016llx x87=%016llx vector=%016llx memory=%016llx\n",
            (unsigned long long)sn_executor_finish.flags, (unsigned long long)sn_executor_finish.fs_base,
            (unsigned long long)sn_executor_finish.gs_base, (unsigned long long)hash_general(),
            (unsigned long long)hash_extended(SN_STATE_X87), (unsigned long long)hash_extended(SN_STATE_VECTOR),
            (unsigned long long)hash_memory());
}

static void print_bytes(const uint8_t *bytes, size_t size, FILE *out) {
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", bytes[i]);
    fputc('\n', out);
}

static void print_changed_memory(const place *where, FILE *out) {
    for (uint64_t offset = 0; offset < where->size; offset += 16) {
        if (memcmp(where->initial + offset, at(where->address + offset), 16) == 0)
            continue;
        fprintf(out, "%s %llx = ", where->name, (unsigned long long)(where->address + offset));
        print_bytes(at(where->address + offset), 16, out);
    }
}

void sn_executor_print_full(FILE *out) {
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    fprintf(out, "ended = ");
    print_end(out);
    fputc('\n', out);
    for (unsigned i = 0; i < 16; i++)
        fprintf(out, "%s = %016llx\n", names[i], (unsigned long long)sn_executor_finish.registers[i]);
    fprintf(out, "flags = %llx\nfs base = %llx\ngs base = %llx\n", (unsigned long long)sn_executor_finish.flags,
            (unsigned long long)sn_executor_finish.fs_base, (unsigned long long)sn_executor_finish.gs_base);
    for (unsigned i = 0; sn_state_field(i, sn_executor_components); i++) {
        uint8_t value[64];
        size_t size = sn_state_field_value(i, sn_executor_finish.extended, value);
        fprintf(out, "%s = ", sn_state_field(i, sn_executor_components));
        print_bytes(value, size, out);
    }
    for (unsigned i = 0; i < PLACES; i++)
        print_changed_memory(&places[i], out);
}
