/**
 * @fileoverview sn_accesses_of() against the processor: every instruction form with accesses that vary, and every form that
 * a mask register covers, is executed from random states.
 *
 * Stores show in memory: executed over two different fillings, exactly the bytes change that were enumerated as written.
 * Loads show at a page that cannot be accessed: an instruction faults if, and only if, an enumerated access touches it. A
 * repeated instruction that faults shows by its counter how far it came: what was enumerated up to there does not touch
 * the page, and the next repetition does. Processor state and tiles have a test of their own (access_state.c).
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../differential/forms.h"
#include "isa/isa.h"
#include "isa/x86_64/zydis.h"
#include "native.h"

enum {
    PAGE = 4096,
    BUFFER = 0x20000000, /**< below 4 GiB, for short addresses, and in reach of the code's displacements */
    SOURCE_PAGES = 4,    /**< read by string instructions */
    TARGET_PAGES = 4,    /**< everything else; refilled for each run */
    PAGES = SOURCE_PAGES + TARGET_PAGES,
    SIZE = PAGES * PAGE,
    TARGET = BUFFER + SOURCE_PAGES * PAGE,
    MOST_OPERANDS = 16,
    MOST_ACCESSES = 2048,
    MOST_REPETITIONS = 200,
    TRIALS = 24,
    ATTEMPTS = 200, /**< encodings that are drawn until one is of the form and usable */
    SHOWN_FAILURES = 20,
    NO_PAGE = -1,
};
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { FLAG_ALWAYS = 2, FLAG_DIRECTION = 0x400 };

typedef struct trial {
    uint8_t code[40];
    sn_insn insn;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    sn_operand memory;   /**< the (last) memory operand as sn_operands() lists it */
    native_state state;
    uint64_t target;     /**< where the memory operand shall be */
    int hidden_page;     /**< number of the page that cannot be accessed, or NO_PAGE */
    uint64_t done;       /**< repetitions */
    sn_access accesses[MOST_ACCESSES];
    size_t count;
} trial;

static uint8_t *const buffer = (uint8_t *)(uintptr_t)BUFFER;
static uint64_t random_word = UINT64_C(0x2545f4914f6cdd1d);
static unsigned failures, runs, faults, undefined;

static uint64_t draw(void) {
    random_word ^= random_word << 13;
    random_word ^= random_word >> 7;
    random_word ^= random_word << 17;
    return random_word * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t draw_below(uint64_t limit) { return (draw() >> 20) % limit; }

/* -------------------------------------------------------------------------- encodings */

static bool is_string(const trial *t) { return t->z.meta.category == ZYDIS_CATEGORY_STRINGOP; }

static void draw_prefixes(sn_encoding *fields) {
    static const uint8_t segments[] = {0x64, 0x65};
    if (draw_below(4) == 0) fields->prefixes[fields->prefix_count++] = 0x67;
    if (draw_below(3) == 0) fields->prefixes[fields->prefix_count++] = segments[draw_below(2)];
}

/** A memory operand of any shape, or, for forms on registers, two registers. */
static void draw_modrm(const sn_form *form, sn_encoding *fields) {
    uint8_t reg;
    do reg = (uint8_t)draw_below(8);
    while (!(form->register_values >> reg & 1));
    uint8_t mode = form->memory ? (uint8_t)draw_below(3) : 3, rm = (uint8_t)draw_below(8);
    if (form->indexed) rm = 4;
    fields->modrm = (uint8_t)(mode << 6 | reg << 3 | rm);
    fields->has_sib = form->memory && rm == 4;
    fields->sib = (uint8_t)draw();
}

static void draw_encoding(const sn_form *form, sn_encoding *fields) {
    memset(fields, 0, sizeof *fields);
    draw_prefixes(fields);
    if (form->has_modrm) draw_modrm(form, fields);
    fields->register_high = draw() & 1;
    fields->index_high = draw() & 1;
    fields->base_high = draw() & 1;
    fields->register_top = draw() & 1;
    fields->source_top = draw() & 1;
    fields->source = draw_below(3) ? (uint8_t)draw_below(16) : 0;
    if (form->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        fields->mask = (uint8_t)(1 + draw_below(7));
        fields->zeroing = draw_below(4) == 0;
    }
    for (unsigned i = 0; i < sizeof fields->tail; i++) fields->tail[i] = (uint8_t)draw();
}

static const ZydisDecodedOperand *library_memory(const trial *t) {
    for (unsigned i = 0; i < t->z.operand_count; i++)
        if (t->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY) return &t->operands[i];
    return NULL;
}

static bool uses_general(const ZydisDecodedOperand *operand, ZydisRegister reg) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) == reg;
}

/** Registers that can be chosen independently: no stack pointer, no register with two parts to play. */
static bool is_usable(const trial *t) {
    const ZydisDecodedOperandMem *memory = &library_memory(t)->mem;
    ZydisRegister base = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, memory->base);
    ZydisRegister index = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, memory->index);
    if (base == ZYDIS_REGISTER_RSP || (base != ZYDIS_REGISTER_NONE && base == index)) return false;
    bool vector_index = memory->type == ZYDIS_MEMOP_TYPE_VSIB;
    for (unsigned i = 0; i < t->z.operand_count; i++) {
        if (t->operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT) continue;
        if (uses_general(&t->operands[i], ZYDIS_REGISTER_RSP)) return false;
        if (uses_general(&t->operands[i], base) && base != ZYDIS_REGISTER_NONE) return false;
        if (uses_general(&t->operands[i], index) && index != ZYDIS_REGISTER_NONE) return false;
        if (vector_index && t->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetId(t->operands[i].reg.value) == ZydisRegisterGetId(memory->index) &&
            ZydisRegisterGetClass(t->operands[i].reg.value) != ZYDIS_REGCLASS_MASK)
            return false;
    }
    /* the destination of an AVX2 gather is not its mask either */
    return !(vector_index && t->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
             ZydisRegisterGetId(t->operands[0].reg.value) == ZydisRegisterGetId(t->operands[2].reg.value));
}

static bool find_memory(trial *t) {
    sn_operand operands[MOST_OPERANDS];
    bool found = false;
    int count = sn_operands(&t->insn, operands, MOST_OPERANDS);
    for (int i = 0; i < count; i++) {
        if (operands[i].place != SN_PLACE_MEMORY || operands[i].role == SN_ROLE_ADDRESS) continue;
        t->memory = operands[i];
        found = true;
    }
    return found;
}

static bool decode_again(trial *t) {
    return sn_decode(t->code, sizeof t->code, native_address(), &t->insn) &&
           sn_zydis_decode(t->code, t->insn.length, &t->z, t->operands);
}

/** False when no encoding of the form was found that the test can use. */
static bool draw_instruction(const sn_form *form, trial *t) {
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        sn_encoding fields;
        ZydisDecoderContext context;
        draw_encoding(form, &fields);
        memset(t->code, 0, sizeof t->code);
        sn_form_encode(form, &fields, t->code);
        if (!sn_form_decode(t->code, sizeof t->code, &context, &t->z, t->operands) || sn_form_of(&context, &t->z) != form)
            continue;
        if (decode_again(t) && library_memory(t) && find_memory(t) && is_usable(t)) return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------ states */

static unsigned number_of(ZydisRegister reg) { return (unsigned)sn_zydis_general_register(reg); }

static void draw_registers(native_state *state) {
    uint64_t *words = (uint64_t *)(void *)state->vector;
    for (unsigned i = 0; i < 16; i++) state->general[i] = draw();
    for (unsigned i = 0; i < 8; i++) state->mask[i] = draw_below(8) ? draw() & draw() : draw();
    for (unsigned i = 0; i < 8; i++) state->short_vector[i] = draw();
    for (unsigned i = 0; i < sizeof state->vector / 8; i++) words[i] = draw();
    for (unsigned i = 0; i < 2; i++) state->bases[i] = draw_below(1 << 21) - (1 << 20);
    state->flags = FLAG_ALWAYS | (draw_below(2) ? FLAG_DIRECTION : 0);
}

static uint64_t segment_base(const trial *t) {
    return t->memory.segment ? t->state.bases[t->memory.segment - 1] : 0;
}

/** Under short addresses the upper halves of registers count for nothing: keep what is there. */
static void set_address_register(trial *t, unsigned number, uint64_t value) {
    uint64_t *reg = &t->state.general[number];
    *reg = t->z.address_width == 32 ? (*reg & ~UINT64_C(0xffffffff)) | (uint32_t)value : value;
}

/** Elements of a vector of indices reach some pages to both sides of the target. */
static void set_indices(trial *t, const ZydisDecodedOperandMem *memory) {
    uint8_t *vector = t->state.vector[ZydisRegisterGetId(memory->index)];
    unsigned size = t->z.opcode & 1 ? 8 : 4;
    for (unsigned i = 0; i < 64 / size; i++) {
        int64_t reach = PAGE / 2 / memory->scale;
        int64_t index = (int64_t)draw_below((uint64_t)(2 * reach)) - reach;
        memcpy(vector + i * size, &index, size);
    }
}

static void set_displacement(trial *t, uint64_t value) {
    int32_t displacement = (int32_t)value;
    memcpy(t->code + t->z.raw.disp.offset, &displacement, sizeof displacement);
    assert_true(decode_again(t) && find_memory(t));
}

/** Registers, or without any the displacement, such that the operand lies at the target. */
static void set_address(trial *t) {
    const ZydisDecodedOperandMem *memory = &library_memory(t)->mem;
    uint64_t rest = t->target - segment_base(t);
    if (memory->type == ZYDIS_MEMOP_TYPE_VSIB) {
        set_indices(t, memory);
    } else if (memory->index != ZYDIS_REGISTER_NONE) {
        uint64_t index = draw_below(64);
        set_address_register(t, number_of(memory->index), index);
        rest -= index * memory->scale;
    }
    if (t->insn.rip_relative)
        set_displacement(t, rest - native_address() - t->insn.length);
    else if (memory->base == ZYDIS_REGISTER_NONE)
        set_displacement(t, rest);
    else
        set_address_register(t, number_of(memory->base), rest - (uint64_t)memory->disp.value);
}

static void set_string(trial *t) {
    uint64_t source = BUFFER + (SOURCE_PAGES / 2) * PAGE + draw_below(64) - 32;
    uint64_t base = t->insn.segment ? t->state.bases[t->insn.segment - 1] : 0;
    set_address_register(t, RSI, source - base);
    set_address_register(t, RDI, t->target);
    set_address_register(t, RCX, draw_below(MOST_REPETITIONS));
}

/** Bit numbers reach to both sides; a register that is no part of the address holds them. */
static void set_bit_number(trial *t) {
    enum { REACH = 8 * PAGE / 2 };
    int64_t number = (int64_t)draw_below(2 * REACH) - REACH;
    unsigned reg = number_of(t->operands[1].reg.value);
    memcpy(&t->state.general[reg], &number, t->z.operand_width / 8u);
}

static bool is_bit_test(const trial *t) { return t->z.meta.category == ZYDIS_CATEGORY_BITBYTE; }

static void draw_state(trial *t) {
    enum { LONGEST = 64 };
    draw_registers(&t->state);
    uint64_t boundary = TARGET + PAGE * (1 + draw_below(TARGET_PAGES - 1));
    bool aligned = t->z.meta.exception_class == ZYDIS_EXCEPTION_CLASS_E1;
    t->target = aligned ? boundary - LONGEST * draw_below(2) : boundary - draw_below(t->memory.size ? t->memory.size + 1 : 8);
    if (t->memory.size > LONGEST) t->target = boundary - draw_below(t->memory.size); /* look-up */
    t->hidden_page = draw_below(4) ? (int)((boundary - BUFFER) / PAGE - draw_below(2)) : NO_PAGE;
    if (is_string(t)) {
        set_string(t);
        if (draw_below(2)) t->hidden_page = (int)draw_below(PAGES);
    } else if (t->z.mnemonic == ZYDIS_MNEMONIC_XLAT) {
        set_address_register(t, RBX, t->target - segment_base(t));
    } else if (!t->insn.memory) {
        set_address_register(t, RDI, t->target - segment_base(t));
    } else {
        set_address(t);
        if (is_bit_test(t)) set_bit_number(t);
    }
}

/* ------------------------------------------------------------------------- expectations */

static sn_access_state access_state_of(const trial *t) {
    return (sn_access_state){
        .general = t->state.general,
        .vector = (const uint8_t(*)[64])t->state.vector,
        .mask = t->state.mask,
        .short_vector = t->state.short_vector,
        .bases = {0, t->state.bases[0], t->state.bases[1]},
        .backwards = t->state.flags & FLAG_DIRECTION,
    };
}

/** In pieces of odd sizes, so that continuing is tried too. An operand that does not vary is one access. */
static void enumerate(trial *t, uint64_t done) {
    sn_access_state state = access_state_of(t);
    t->done = done;
    t->count = 0;
    if (!sn_accesses_vary(&t->insn)) {
        t->accesses[t->count++] = (sn_access){t->target, t->memory.size, t->memory.role, 0};
        return;
    }
    for (size_t more = 1; more && t->count < MOST_ACCESSES; t->count += more) {
        size_t room = 1 + draw_below(40);
        if (room > MOST_ACCESSES - t->count) room = MOST_ACCESSES - t->count;
        more = sn_accesses_of(&t->insn, &state, done, t->count, t->accesses + t->count, room);
    }
}

static bool touches_page(const sn_access *access, int page) {
    uint64_t start = (uint64_t)BUFFER + (uint64_t)page * PAGE;
    return access->address < start + PAGE && access->address + access->size > start;
}

static bool any_touches(const trial *t, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (touches_page(&t->accesses[i], t->hidden_page)) return true;
    return false;
}

/** Stores that the mask covers, but faults of the whole operand (Intel SDM volume 2, exception type E6NF). */
static bool faults_as_whole(const trial *t) { return t->z.meta.exception_class == ZYDIS_EXCEPTION_CLASS_E6NF; }

/** Whether masked-off bytes may fault is left to the processor. */
static bool may_fault_more(const trial *t) {
    return t->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVQ || t->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
           t->z.mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU;
}

static bool expects_fault(const trial *t) {
    sn_access whole = {t->target, t->memory.size, 0, 0};
    if (faults_as_whole(t)) return touches_page(&whole, t->hidden_page);
    return any_touches(t, 0, t->count);
}

static void complain(const trial *t, const char *what) {
    char text[128];
    if (failures++ >= SHOWN_FAILURES) return;
    fprintf(stderr, "%s:", what);
    for (unsigned i = 0; i < t->insn.length; i++) fprintf(stderr, " %02x", t->code[i]);
    fprintf(stderr, "  %s\n  at %#llx, page %d, k%u %#llx, done %llu, accesses:",
            sn_disassemble(t->code, t->insn.length, native_address(), text, sizeof text), (unsigned long long)t->target,
            t->hidden_page, t->code[0] == 0x62 ? t->code[3] & 7u : 0,
            (unsigned long long)t->state.mask[t->code[0] == 0x62 ? t->code[3] & 7 : 0], (unsigned long long)t->done);
    for (size_t i = 0; i < t->count && i < 24; i++)
        fprintf(stderr, " %llx+%u%s", (unsigned long long)t->accesses[i].address, t->accesses[i].size,
                t->accesses[i].role == SN_ROLE_READ ? "" : "w");
    fputc('\n', stderr);
}

/* ------------------------------------------------------------------------------- runs */

static uint8_t changed[SIZE];

/** The source half is mostly one byte, so that comparisons go on for a while. */
static void fill(uint8_t filling) {
    enum { USUAL = 0xa5, NOISE = 97 };
    memset(buffer, USUAL, SOURCE_PAGES * PAGE);
    for (unsigned i = 0; i < SOURCE_PAGES * PAGE; i += NOISE) buffer[i] = (uint8_t)(i * 7);
    memset(buffer + SOURCE_PAGES * PAGE, filling, TARGET_PAGES * PAGE);
}

static void note_changes(uint8_t filling) {
    static uint8_t original[SIZE];
    static uint8_t filled_with;
    static bool filled;
    if (!filled || filled_with != filling) {
        uint8_t kept[SIZE];
        memcpy(kept, buffer, SIZE);
        fill(filling);
        memcpy(original, buffer, SIZE);
        memcpy(buffer, kept, SIZE);
        filled = true;
        filled_with = filling;
    }
    for (unsigned i = 0; i < SIZE; i++) changed[i] |= buffer[i] != original[i];
}

static native_result execute(const trial *t) {
    runs++;
    return native_run(&t->state, t->code, t->insn.length);
}

static uint64_t repetitions(const trial *t, const native_result *result) {
    uint64_t difference = t->state.general[RCX] - result->counter;
    return t->z.address_width == 32 ? (uint32_t)difference : difference;
}

static void check_changes(const trial *t, bool exactly) {
    static uint8_t written[SIZE];
    memset(written, 0, sizeof written);
    for (size_t i = 0; i < t->count; i++)
        if (t->accesses[i].role & SN_ROLE_WRITTEN)
            for (unsigned k = 0; k < t->accesses[i].size; k++) {
                uint64_t place = t->accesses[i].address + k - BUFFER;
                if (place < SIZE) written[place] = 1;
            }
    for (unsigned i = 0; i < SIZE; i++) {
        if (changed[i] && !written[i]) {
            complain(t, "a byte changed that was not enumerated");
            return;
        }
        if (exactly && written[i] && !changed[i]) {
            complain(t, "an enumerated byte did not change");
            return;
        }
    }
}

/** Those that happened do not touch the hidden page, and the one that faulted does. */
static void check_repetitions(trial *t, const native_result *result) {
    uint64_t done = repetitions(t, result), begun = done + (result->signal != 0);
    enumerate(t, begun);
    size_t complete = begun ? t->count / begun * done : 0;
    if (any_touches(t, 0, complete)) complain(t, "a repetition that happened touches the hidden page");
    if (result->signal && !any_touches(t, complete, t->count)) complain(t, "the repetition that faulted does not");
    t->count = complete;
    check_changes(t, false);
}

/** With a page hidden: the fault, or that there is none, shows the loads too. False when the processor has no such
    instruction. */
static bool run_hidden(trial *t) {
    enum { FILLING = 0x5a };
    uint8_t *page = buffer + t->hidden_page * PAGE;
    fill(FILLING);
    memset(changed, 0, sizeof changed);
    assert_int_equal(mprotect(page, PAGE, PROT_NONE), 0);
    native_result result = execute(t);
    assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
    if (result.signal == SIGILL) return false;
    note_changes(FILLING);
    faults += result.signal != 0;
    if (t->insn.repeated) {
        check_repetitions(t, &result);
        return true;
    }
    enumerate(t, 0);
    bool expected = expects_fault(t);
    if (expected && !result.signal) complain(t, "an enumerated access did not fault");
    if (!expected && result.signal && !may_fault_more(t)) complain(t, "a fault that no enumerated access explains");
    check_changes(t, false);
    return true;
}

static bool run_open(trial *t) {
    static const uint8_t fillings[] = {0x5a, 0xa5};
    memset(changed, 0, sizeof changed);
    uint64_t done = 0;
    for (unsigned i = 0; i < sizeof fillings; i++) {
        fill(fillings[i]);
        native_result result = execute(t);
        if (result.signal == SIGILL) return false;
        if (result.signal) {
            t->count = 0;
            complain(t, "a fault with all pages there");
            return true;
        }
        note_changes(fillings[i]);
        done = repetitions(t, &result);
    }
    enumerate(t, done);
    check_changes(t, !is_bit_test(t) && t->count < MOST_ACCESSES);
    return true;
}

/* ------------------------------------------------------------------------------- test */

/** Vary, or might be thought to; what needs more privilege, and processor state, is left out. */
static bool is_wanted(const sn_form *form, const trial *t) {
    switch (t->z.meta.category) {
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_AMX_TILE: return false;
    default: return sn_accesses_vary(&t->insn) || (form->maskable && form->memory);
    }
}

/** Quickly: most forms are out. */
static bool may_be_wanted(const sn_form *form) {
    enum { MASKED_BYTES = 0xf7 };
    if (form->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) return form->memory && (form->maskable || form->indexed);
    return !form->has_modrm || form->memory || form->opcode == MASKED_BYTES;
}

static bool try_form(const sn_form *form) {
    static trial t;
    if (!may_be_wanted(form)) return false;
    for (unsigned i = 0; i < TRIALS; i++) {
        if (!draw_instruction(form, &t) || !is_wanted(form, &t)) return false;
        draw_state(&t);
        bool known = t.hidden_page == NO_PAGE ? run_open(&t) : run_hidden(&t);
        if (known) continue;
        undefined++;
        return true;
    }
    return true;
}

static void test_every_form(void **state) {
    (void)state;
    if (!native_is_possible()) skip();
    void *mapping = mmap(buffer - PAGE, SIZE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(mapping, buffer - PAGE);
    assert_int_equal(mprotect(buffer, SIZE, PROT_READ | PROT_WRITE), 0);
    size_t count = sn_forms_open();
    unsigned tried = 0;
    assert_true(count > 0);
    native_open();
    for (size_t i = 0; i < count; i++) tried += try_form(&sn_forms()[i]);
    native_close();
    printf("%u forms tried, %u not in this processor, %u runs, %u faults\n", tried, undefined, runs, faults);
    assert_true(tried > 2500);
    assert_true(undefined < tried / 2);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
