/**
 * @fileoverview See verify_step.h. Layout of the extended state: Intel SDM volume 1, 13.4; what its components hold when
 * they are not in it: 13.6.
 */
#include "guest/x86_64/verify_step.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

#include "guest/verify.h"
#include "guest/x86_64/frame.h"
#include "isa/isa.h"
#include "isa/x86_64/emit.h"
#include "jit/cache.h"
#include "jit/runtime.h"
#include "jit/translate.h"

#define FLAG_TRAP UINT64_C(0x100)
#define FLAG_RESUME UINT64_C(0x10000)

/* ----------------------------------------------------------------- extended state */

enum { HEADER_OFFSET = 512, EXTENDED_OFFSET = 576, COMPONENTS = 19 };

/** A register file in the saved state. */
typedef struct register_file {
    const char *name;
    uint8_t component;
    uint16_t first;   /**< in the component (legacy ones: in the whole area) */
    uint16_t stride;  /**< from register to register */
    uint16_t size;    /**< bytes of a register that count */
    uint8_t count;
    uint16_t initial; /**< value when the component is not there */
} register_file;

/* What the x87 unit says of its last instruction's place is left out: it names the cache. */
static const register_file register_files[] = {
    {"x87 control word", 0, 0, 2, 2, 1, 0x37f},
    {"x87 status word", 0, 2, 2, 2, 1, 0},
    {"x87 tags", 0, 4, 1, 1, 1, 0},
    {"st", 0, 32, 16, 10, 8, 0},
    {"mxcsr", 1, 24, 4, 4, 1, 0x1f80},
    {"xmm", 1, 160, 16, 16, 16, 0},
    {"upper half of ymm", 2, 0, 16, 16, 16, 0},
    {"k", 5, 0, 8, 8, 8, 0},
    {"upper half of zmm", 6, 0, 32, 32, 16, 0},
    {"zmm 16 +", 7, 0, 64, 64, 16, 0},
    {"tile configuration", 17, 0, 64, 64, 1, 0},
    {"tile", 18, 0, 1024, 1024, 8, 0},
};

/** Where each component lies in the compact format, which depends on what is saved and not on what is there. */
typedef struct layout {
    uint32_t offset[COMPONENTS];
    uint32_t size;
} layout;

static const layout *layout_of(uint64_t mask) {
    static layout known;
    static uint64_t known_mask;
    if (known_mask == mask) return &known;
    uint32_t at = EXTENDED_OFFSET;
    for (unsigned i = 2; i < COMPONENTS; i++) {
        if (!(mask >> i & 1)) continue;
        unsigned size, standard, how, unused;
        __cpuid_count(13, i, size, standard, how, unused);
        if (how & 2) at = (at + 63) & ~63u;
        known.offset[i] = at;
        at += size;
    }
    known.size = at;
    known_mask = mask;
    return &known;
}

size_t sn_client_state_size(const sn_thread *thread) { return layout_of(thread->save_mask)->size; }

static uint64_t present_components(const uint8_t *area) {
    uint64_t present;
    memcpy(&present, area + HEADER_OFFSET, 8);
    return present;
}

/** Up to eight bytes of a register. */
static uint64_t piece(const uint8_t *area, const layout *where, const register_file *file, unsigned reg, unsigned from,
                      unsigned size) {
    if (!(present_components(area) >> file->component & 1)) return from ? 0 : file->initial;
    uint64_t value = 0;
    memcpy(&value, area + where->offset[file->component] + file->first + reg * file->stride + from, size);
    return value;
}

typedef void reporter(const char *what, uint64_t expected, uint64_t got);

static unsigned compare_file(const layout *where, const register_file *file, const uint8_t *expected, const uint8_t *got,
                             reporter *differs) {
    unsigned found = 0;
    for (unsigned reg = 0; reg < file->count; reg++) {
        for (unsigned from = 0; from < file->size; from += 8) {
            unsigned size = file->size - from < 8 ? file->size - from : 8;
            uint64_t a = piece(expected, where, file, reg, from, size), b = piece(got, where, file, reg, from, size);
            if (a == b) continue;
            char what[64];
            if (file->count == 1 && file->size <= 8) snprintf(what, sizeof what, "%s", file->name);
            else snprintf(what, sizeof what, "%s%u from byte %u", file->name, reg, from);
            differs(what, a, b);
            found++;
        }
    }
    return found;
}

static unsigned compare_extended(const sn_thread *thread, const uint8_t *expected, const uint8_t *got, reporter *differs) {
    const layout *where = layout_of(thread->save_mask);
    unsigned found = 0;
    for (unsigned i = 0; i < sizeof register_files / sizeof register_files[0]; i++)
        if (thread->save_mask >> register_files[i].component & 1)
            found += compare_file(where, &register_files[i], expected, got, differs);
    return found;
}

/* -------------------------------------------------------------------- whole states */

void sn_client_state_save(sn_client_state *to, const sn_thread *thread) {
    memcpy(to->general, thread->general, sizeof to->general);
    to->pc = thread->pc;
    to->flags = thread->flags & ~(FLAG_TRAP | FLAG_RESUME);
    to->bases[0] = thread->client_base;
    to->bases[1] = thread->client_base2;
    memcpy(to->extended, thread->save_area, sn_client_state_size(thread));
}

void sn_client_state_load(const sn_client_state *from, sn_thread *thread) {
    memcpy(thread->general, from->general, sizeof from->general);
    thread->pc = from->pc;
    thread->flags = from->flags;
    thread->client_base = from->bases[0];
    thread->client_base2 = from->bases[1];
    memcpy(thread->save_area, from->extended, sn_client_state_size(thread));
}

bool sn_client_steps_itself(const sn_thread *thread) { return thread->flags & FLAG_TRAP; }

/** The arithmetic flags of the machine's word as SN_FLAG_* bits. */
static unsigned arithmetic_flags(uint64_t flags) {
    static const struct { uint16_t machine; uint8_t flag; } names[] = {
        {1, SN_FLAG_CARRY}, {4, SN_FLAG_PARITY}, {0x10, SN_FLAG_ADJUST},
        {0x40, SN_FLAG_ZERO}, {0x80, SN_FLAG_SIGN}, {0x800, SN_FLAG_OVERFLOW},
    };
    unsigned found = 0;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (flags & names[i].machine) found |= names[i].flag;
    return found;
}

/** Counting code may leave flags behind that nobody looks at. */
static bool flags_differ(const sn_client_state *expected, const sn_client_state *got) {
    enum { ARITHMETIC = 0x8d5 };
    uint64_t different = expected->flags ^ got->flags;
    if (different & ~(uint64_t)ARITHMETIC) return true;
    return different && sn_flags_live_at(got->pc) & arithmetic_flags(different);
}

unsigned sn_client_state_compare(const sn_thread *thread, const sn_client_state *expected, const sn_client_state *got,
                                 reporter *differs) {
    static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const base_names[2] = {"fs base", "gs base"};
    unsigned found = 0;
    if (expected->pc != got->pc) differs("rip", expected->pc, got->pc), found++;
    for (unsigned i = 0; i < 16; i++)
        if (expected->general[i] != got->general[i]) differs(names[i], expected->general[i], got->general[i]), found++;
    if (flags_differ(expected, got)) differs("flags", expected->flags, got->flags), found++;
    for (unsigned i = 0; i < 2; i++)
        if (expected->bases[i] != got->bases[i]) differs(base_names[i], expected->bases[i], got->bases[i]), found++;
    return found + compare_extended(thread, expected->extended, got->extended, differs);
}

/* ------------------------------------------------------------------------ stepping */

enum { PUSH_FLAGS = 0x9c, POP_FLAGS = 0x9d };

static bool is_plain(const sn_insn *insn, uint8_t opcode) {
    return insn->class == SN_INSN_PLAIN && !insn->encoding && insn->bytes[insn->opcode_offset] == opcode;
}

static sn_verify_place place_of(const ucontext_t *context) {
    sn_verify_place place = {.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP]};
    for (unsigned i = 0; i < 16; i++) place.general[i] = (uint64_t)context->uc_mcontext.gregs[sn_context_index[i]];
    return place;
}

/** The trap flag's byte of the flags on top of the client's stack. */
static uint8_t *pushed_trap_flag(const sn_verify_place *place) { return (uint8_t *)place->general[SN_RSP] + 1; }

/** A pop of flags that makes the client step itself. */
static bool begins_stepping(const sn_insn *insn, const sn_verify_place *place) {
    uint8_t byte;
    return is_plain(insn, POP_FLAGS) && sn_copy_safely(&byte, pushed_trap_flag(place), 1) && byte & FLAG_TRAP >> 8;
}

/** Step on over the next instruction, or leave. */
static void go_on(sn_thread *thread, ucontext_t *context, const sn_verify_place *place, bool more) {
    if (more && begins_stepping(sn_verify_instruction(), place)) {
        sn_verify_abandon(SN_VERIFY_NOT_REPEATABLE);
        more = false;
    }
    if (more) {
        context->uc_mcontext.gregs[REG_EFL] |= FLAG_TRAP;
        return;
    }
    thread->pc = place->pc;
    sn_leave_for_engine(thread, context, SN_EXIT_VERIFIED);
}

/** The client's whole state is in place, and its first instruction is next. */
static bool start(sn_thread *thread, ucontext_t *context) {
    if (sn_verify_phase_of(thread) != SN_VERIFY_ENTERING || thread->pending.present) {
        sn_verify_cancel(thread);
        return false;
    }
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)thread->pc;
    sn_verify_place place = place_of(context);
    go_on(thread, context, &place, sn_verify_start(thread, &place));
    return true;
}

static void stepped(sn_thread *thread, ucontext_t *context) {
    sn_verify_place place = place_of(context);
    const sn_insn *done = sn_verify_instruction();
    /* It shows the trap flag that it runs under. */
    if (is_plain(done, PUSH_FLAGS)) *pushed_trap_flag(&place) &= (uint8_t)~(FLAG_TRAP >> 8);
    go_on(thread, context, &place, sn_verify_advance(thread, &place));
}

bool sn_verify_signal(sn_thread *thread, ucontext_t *context, const siginfo_t *info) {
    sn_verify_phase phase = sn_verify_phase_of(thread);
    if (phase == SN_VERIFY_IDLE || !(SN_FAULT_SIGNALS & SN_SIGNAL_BIT(info->si_signo)) || info->si_code <= 0) return false;
    uint64_t counter = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    if (counter == sn_runtime_address(sn_runtime_deliver)) return start(thread, context);
    if (phase != SN_VERIFY_STEPPING) return false;
    if (counter >= (uint64_t)sn_copy_safely_start && counter < (uint64_t)sn_copy_safely_end) return false;
    if (info->si_signo == SIGTRAP && info->si_code == TRAP_TRACE) {
        stepped(thread, context);
    } else {
        sn_verify_place place = place_of(context);
        sn_verify_abandon(SN_VERIFY_FAULT);
        go_on(thread, context, &place, false);
    }
    return true;
}
