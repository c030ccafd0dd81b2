/**
 * @fileoverview sn_accesses_vary() and sn_accesses_of() against what sn_operands() says, for every definition that the
 * decoding library has; and single instructions whose accesses are written down here.
 *
 * Whether accesses are those that the processor makes is the matter of accesses_native.c.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../differential/forms.h"
#include "isa/isa.h"

enum { PC = 0x400000, MOST_OPERANDS = 16, MOST_ACCESSES = 4096, SHOWN_FAILURES = 30 };
enum { BASE = 0x10000, REPETITIONS = 3, LOOK_UP_TABLE = 256 };
enum { FIRST_BASE = 0x1000000, SECOND_BASE = 0x2000000 };

static unsigned failures, compared, varying;

static void complain(const sn_insn *insn, const char *what) {
    char text[128];
    if (failures++ >= SHOWN_FAILURES) return;
    fprintf(stderr, "%s:", what);
    for (unsigned i = 0; i < insn->length; i++) fprintf(stderr, " %02x", insn->bytes[i]);
    fprintf(stderr, "  %s\n", sn_disassemble(insn->bytes, insn->length, PC, text, sizeof text));
}

/* --------------------------------------------------------------------- one state for all */

typedef struct registers {
    uint64_t general[16], mask[8], short_vector[8];
    uint8_t vector[32][64];
    uint8_t tiles[64];
} registers;

static bool copy(void *to, const void *from, size_t size) {
    (void)from;
    memset(to, 0, size); /* an image in which everything has its initial state */
    return true;
}

/** Every lane is active, indices are 0, general registers hold `value`. */
static void fill(registers *r, uint64_t value) {
    memset(r, 0, sizeof *r);
    for (unsigned i = 0; i < 16; i++) r->general[i] = value;
    memset(r->mask, 0xff, sizeof r->mask);
    memset(r->short_vector, 0xff, sizeof r->short_vector);
    memset(r->vector, 0xff, sizeof r->vector);
    for (unsigned i = 0; i < 8; i++) r->tiles[16 + 2 * i] = 64, r->tiles[48 + i] = 16;
}

static sn_access_state state_of(const registers *r) {
    return (sn_access_state){
        .general = r->general,
        .vector = r->vector,
        .mask = r->mask,
        .short_vector = r->short_vector,
        .tiles = r->tiles,
        .bases = {0, FIRST_BASE, SECOND_BASE},
        .enabled_state = 0xe7,
        .in_use = 0xe7,
        .copy = copy,
    };
}

/* ------------------------------------------------------------------ operands and accesses */

/** Whether the access is near the operand's address in the state, and does what the operand does. */
static bool may_access(const sn_operand *operand, const sn_access *access) {
    static const uint64_t bases[] = {0, FIRST_BASE, SECOND_BASE};
    if (operand->place != SN_PLACE_MEMORY || !operand->is_conditional || !(operand->role & access->role)) return false;
    uint64_t start = bases[operand->segment] + (uint64_t)operand->displacement;
    if (operand->base != SN_NO_REGISTER) start += BASE;
    if (operand->index != SN_NO_REGISTER) start += (uint64_t)BASE * operand->scale;
    /* processor state and tiles go on from there, bits are counted from there, indices of all ones lie before it */
    uint64_t reach = operand->size > 1 ? UINT64_C(1) << 17 : UINT64_C(1) << 22;
    return access->address - start + reach < 2 * reach;
}

/** What accesses memory whatever its registers hold: look-ups and bits (the latter all in one opcode map, with xsave, which
    has its header). */
static bool always_accesses(const sn_insn *insn) {
    enum { LOOK_UP = 0xd7, ESCAPE = 0x0f, MASKED_BYTES = 0xf7 };
    const uint8_t *opcode = insn->bytes + insn->opcode_offset;
    return !insn->encoding && (opcode[0] == LOOK_UP || (opcode[0] == ESCAPE && opcode[1] != MASKED_BYTES));
}

/** Without active lanes or repetitions there is nothing. */
static void check_nothing(const sn_insn *insn) {
    registers r;
    sn_access access;
    memset(&r, 0, sizeof r);
    sn_access_state state = state_of(&r);
    if (!always_accesses(insn) && sn_accesses_of(insn, &state, 0, 0, &access, 1))
        complain(insn, "accesses although nothing is active");
}

static void check_enumeration(const sn_insn *insn, const sn_operand *operands, int count) {
    static sn_access accesses[MOST_ACCESSES];
    registers r;
    fill(&r, BASE);
    sn_access_state state = state_of(&r);
    size_t found = sn_accesses_of(insn, &state, REPETITIONS, 0, accesses, MOST_ACCESSES);
    if (!found) complain(insn, "no accesses although everything is active");
    uint64_t total = 0;
    const sn_operand *of = NULL;
    for (size_t i = 0; i < found; i++) {
        const sn_access *access = &accesses[i];
        of = access->operand < count ? &operands[access->operand] : NULL;
        if (!of || !may_access(of, access)) {
            complain(insn, "an access of no operand");
            return;
        }
        total += access->size;
        if (of->size && access->size != of->element_size) complain(insn, "the size of an element");
    }
    if (of && of->size && of->size != LOOK_UP_TABLE && !insn->repeated && total != of->size)
        complain(insn, "the accesses do not add up to the operand");
}

/** Instructions whose operands are conditional and that are not enumerated all the same. */
static const struct exception {
    ZydisMnemonic first, last;
    const char *reason;
} exceptions[] = {
    {ZYDIS_MNEMONIC_XSAVES, ZYDIS_MNEMONIC_XSAVES64, "for the kernel only: faults before it accesses anything"},
    {ZYDIS_MNEMONIC_XRSTORS, ZYDIS_MNEMONIC_XRSTORS64, "for the kernel only: faults before it accesses anything"},
    {ZYDIS_MNEMONIC_MONTMUL, ZYDIS_MNEMONIC_MONTMUL, "PadLock, of processors without what the engine needs"},
    {ZYDIS_MNEMONIC_XCRYPT_CBC, ZYDIS_MNEMONIC_XCRYPT_OFB, "PadLock"},
    {ZYDIS_MNEMONIC_XSHA1, ZYDIS_MNEMONIC_XSHA256, "PadLock"},
    {ZYDIS_MNEMONIC_XSTORE, ZYDIS_MNEMONIC_XSTORE, "PadLock"},
};

static bool is_excepted(ZydisMnemonic mnemonic) {
    for (unsigned i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (mnemonic >= exceptions[i].first && mnemonic <= exceptions[i].last) return true;
    return false;
}

static bool has_conditional_memory(const sn_operand *operands, int count) {
    for (int i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_MEMORY && operands[i].role != SN_ROLE_ADDRESS && operands[i].is_conditional)
            return true;
    return false;
}

static void compare(const sn_form *form, const sn_insn *insn) {
    sn_operand operands[MOST_OPERANDS];
    int count = sn_operands(insn, operands, MOST_OPERANDS);
    if (count < 0) return;
    bool conditional = has_conditional_memory(operands, count) && !is_excepted(form->mnemonic);
    compared++;
    if (sn_accesses_vary(insn) != conditional) complain(insn, conditional ? "does not vary" : "varies");
    if (!conditional) return;
    varying++;
    check_enumeration(insn, operands, count);
    check_nothing(insn);
}

/** True if the encoding is one of the form. */
static bool try_encoding(const sn_form *form, const sn_encoding *fields, sn_insn *insn) {
    uint8_t code[40];
    ZydisDecoderContext context;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    sn_form_encode(form, fields, code);
    if (!sn_form_decode(code, sizeof code, &context, &z, operands) || sn_form_of(&context, &z) != form) return false;
    sn_insn slowly;
    if (!sn_decode(code, sizeof code, PC, insn)) return true;
    compare(form, insn);
    if (sn_decode_slowly(code, sizeof code, PC, &slowly) && sn_accesses_vary(&slowly) != sn_accesses_vary(insn))
        complain(insn, "decoded slowly, it differs");
    return true;
}

/** With one choice of fields, and, where accesses vary, with prefixes. */
static bool try_fields(const sn_form *form, sn_encoding fields) {
    static const uint8_t prefixes[] = {0x64, 0x65, 0x67};
    sn_insn insn = {0};
    if (!try_encoding(form, &fields, &insn)) return false;
    for (unsigned i = 0; i < sizeof prefixes && sn_accesses_vary(&insn); i++) {
        fields.prefixes[0] = prefixes[i];
        fields.prefix_count = 1;
        fields.register_high = i & 1;
        try_encoding(form, &fields, &insn);
    }
    return true;
}

/** Each value of ModRM, with and without a mask. Memory operands: base rax, and rbp (or vector 5) as the index. */
static bool try_encodings(const sn_form *form) {
    enum { SIB_FOLLOWS = 4, BASE_AND_INDEX = 0x28, REGISTERS = 0xc0 };
    bool found = false;
    for (unsigned modrm = 0; modrm < 64; modrm++) {
        if (!(form->register_values >> (modrm >> 3) & 1)) continue;
        if (form->memory ? (modrm & 7) != SIB_FOLLOWS : !(form->operand_values >> (modrm & 7) & 1)) continue;
        for (unsigned i = 0; i < 4; i++) {
            sn_encoding fields = {.mask = i & 1, .source = i & 2 ? 6 : 0, .has_sib = form->memory, .sib = BASE_AND_INDEX};
            fields.modrm = (uint8_t)(form->memory ? modrm : REGISTERS | modrm);
            found |= try_fields(form, fields);
        }
    }
    return found;
}

static void test_every_definition(void **state) {
    (void)state;
    size_t count = sn_forms_open();
    unsigned missed = 0;
    failures = 0;
    for (size_t i = 0; i < count; i++) missed += !try_encodings(&sn_forms()[i]);
    printf("%zu forms, %u without an encoding here, %u encodings compared, %u vary\n", count, missed, compared, varying);
    assert_true(count > 10000);
    assert_int_equal(missed, 0);
    assert_int_equal(failures, 0);
}

/* -------------------------------------------------------------------- single instructions */

typedef struct row {
    const char *text;
    uint8_t length;
    uint8_t code[15];
    bool backwards;
    uint64_t done;
    const char *accesses; /**< role, operand's number, offset from 1000h (or, with a segment, from its base), size */
} row;

/** rax is 1000h, rcx 20h, rdx and rbx 1080h, rsi 1100h, rdi 1200h; k1 is 5, vector N holds N * 10h in each 4 bytes, with the
    sign of every second one set. */
static const row rows[] = {
    {"rep movsb", 2, {0xf3, 0xa4}, false, 2, "r1 100+1, w0 200+1, r1 101+1, w0 201+1"},
    {"rep movsq, backwards", 3, {0xf3, 0x48, 0xa5}, true, 2, "r1 100+8, w0 200+8, r1 f8+8, w0 1f8+8"},
    {"rep movsw", 3, {0xf3, 0x66, 0xa5}, false, 1, "r1 100+2, w0 200+2"},
    {"rep movsb, nothing left", 2, {0xf3, 0xa4}, false, 0, ""},
    {"rep movsb %gs:(%rsi),(%rdi)", 3, {0x65, 0xf3, 0xa4}, false, 1, "r1 gs:1100+1, w0 200+1"},
    {"repne cmpsl", 2, {0xf2, 0xa7}, false, 2, "r0 100+4, r1 200+4, r0 104+4, r1 204+4"},
    {"repe scasb", 2, {0xf3, 0xae}, true, 3, "r1 200+1, r1 1ff+1, r1 1fe+1"},
    {"rep stosl", 2, {0xf3, 0xab}, false, 2, "w0 200+4, w0 204+4"},
    {"rep lodsb", 2, {0xf3, 0xac}, false, 2, "r1 100+1, r1 101+1"},
    {"rep insl", 2, {0xf3, 0x6d}, false, 2, "w0 200+4, w0 204+4"},
    {"rep outsw %fs:(%rsi)", 4, {0x64, 0x66, 0xf3, 0x6f}, false, 2, "r1 fs:1100+2, r1 fs:1102+2"},
    {"xlat", 1, {0xd7}, false, 0, "r0 80+1"},
    {"bt %ecx,(%rax)", 3, {0x0f, 0xa3, 0x08}, false, 0, "r0 4+4"},
    {"lock bts %cx,(%rax)", 5, {0xf0, 0x66, 0x0f, 0xab, 0x08}, false, 0, "r0 4+2, w0 4+2"},
    {"vgatherdps %xmm4,%fs:4(%rax,%xmm2,2),%xmm0", 8, {0x64, 0xc4, 0xe2, 0x59, 0x92, 0x44, 0x50, 0x04}, false, 0,
     "r1 fs:1044+4, r1 fs:1044+4"},
    {"vgatherdps (%rax,%xmm2,1),%xmm0{%k1}", 7, {0x62, 0xf2, 0x7d, 0x09, 0x92, 0x04, 0x10}, false, 0,
     "r2 20+4, r2 20+4"},
    {"vpscatterdd %xmm0,4(%rax,%xmm2,8){%k1}", 8, {0x62, 0xf2, 0x7d, 0x09, 0xa0, 0x44, 0xd0, 0x01}, false, 0,
     "w0 104+4, w0 104+4"},
    {"vaddps (%rax),%xmm1,%xmm0{%k1}", 6, {0x62, 0xf1, 0x74, 0x09, 0x58, 0x00}, false, 0, "r3 0+4, r3 8+4"},
    {"vaddps 4(%rax){1to4},%xmm1,%xmm0{%k1}", 7, {0x62, 0xf1, 0x74, 0x19, 0x58, 0x40, 0x01}, false, 0, "r3 4+4"},
    {"vsqrtps (%rax),%xmm0{%k1}", 6, {0x62, 0xf1, 0x7c, 0x09, 0x51, 0x00}, false, 0, "r2 0+4, r2 8+4"},
    {"vpcompressd %xmm0,4(%rax){%k1}", 7, {0x62, 0xf2, 0x7d, 0x09, 0x8b, 0x40, 0x01}, false, 0, "w0 4+4, w0 8+4"},
    {"vpmovqb %zmm0,8(%rax){%k1}", 7, {0x62, 0xf2, 0x7e, 0x49, 0x32, 0x40, 0x01}, false, 0, "w0 8+1, w0 a+1"},
    {"vbroadcastf32x2 (%rax),%ymm0{%k1}", 6, {0x62, 0xf2, 0x7d, 0x29, 0x19, 0x00}, false, 0, "r2 0+4"},
    {"vmovsd %xmm0,(%rax){%k1}", 6, {0x62, 0xf1, 0xff, 0x09, 0x11, 0x00}, false, 0, "w0 0+8"},
    {"vpmaskmovd (%rax),%xmm4,%xmm0", 5, {0xc4, 0xe2, 0x59, 0x8c, 0x00}, false, 0, "r2 4+4, r2 c+4"},
    {"vmaskmovpd %xmm0,%xmm4,(%rax)", 5, {0xc4, 0xe2, 0x59, 0x2f, 0x00}, false, 0, "w0 0+8, w0 8+8"},
    {"maskmovdqu %xmm4,%xmm0", 4, {0x66, 0x0f, 0xf7, 0xc4}, false, 0, "w2 207+1, w2 20f+1"},
    {"maskmovq %mm4,%mm0", 3, {0x0f, 0xf7, 0xc4}, false, 0, "w2 204+1"},
    {"tileloadd (%rax,%rcx,2),%tmm2", 6, {0xc4, 0xe2, 0x7b, 0x4b, 0x14, 0x48}, false, 0, "r1 40+c, r1 80+c"},
    {"tilestored %tmm2,%fs:(%rax,%rcx,1)", 7, {0x64, 0xc4, 0xe2, 0x7a, 0x4b, 0x14, 0x08}, false, 0,
     "w0 fs:1020+c, w0 fs:1040+c"},
};

static void set_registers(registers *r) {
    memset(r, 0, sizeof *r);
    static const uint64_t general[8] = {0x1000, 0x20, 0x1080, 0x1080, 0, 0, 0x1100, 0x1200};
    memcpy(r->general, general, sizeof general);
    r->mask[1] = 5;
    r->short_vector[4] = UINT64_C(0x000000ff00000000) | 0x7f;
    for (unsigned i = 0; i < 32; i++)
        for (unsigned k = 0; k < 16; k++) {
            uint32_t lane = i * 0x10 | (i == 4 && k & 1 ? UINT32_C(1) << 31 : 0);
            memcpy(r->vector[i] + 4 * k, &lane, sizeof lane);
        }
    r->tiles[0] = 1, r->tiles[1] = 1;                /* palette, start row */
    r->tiles[16 + 2 * 2] = 12, r->tiles[48 + 2] = 3; /* tile 2: 3 rows of 12 bytes */
}

static void render(char *out, size_t size, const sn_access *accesses, size_t count) {
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = accesses[i].address;
        const char *segment = address >= SECOND_BASE ? "gs:" : address >= FIRST_BASE ? "fs:" : "";
        address -= address >= SECOND_BASE ? SECOND_BASE : address >= FIRST_BASE ? FIRST_BASE : 0x1000;
        n += (size_t)snprintf(out + n, size - n, "%s%s%u %s%llx+%x", n ? ", " : "",
                              accesses[i].role == SN_ROLE_READ ? "r" : "w", accesses[i].operand, segment,
                              (unsigned long long)address, accesses[i].size);
    }
}

static void test_rows(void **test) {
    (void)test;
    registers r;
    unsigned wrong = 0;
    set_registers(&r);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sn_insn insn;
        sn_access accesses[16];
        char text[512];
        sn_access_state state = state_of(&r);
        state.backwards = rows[i].backwards;
        assert_true(sn_decode(rows[i].code, rows[i].length, PC, &insn) && insn.length == rows[i].length);
        assert_true(sn_accesses_vary(&insn));
        render(text, sizeof text, accesses, sn_accesses_of(&insn, &state, rows[i].done, 0, accesses, 16));
        if (strcmp(text, rows[i].accesses) == 0) continue;
        wrong++;
        print_error("%s\n  expected %s\n  found    %s\n", rows[i].text, rows[i].accesses, text);
    }
    assert_int_equal(wrong, 0);
}

static bool same_access(const sn_access *a, const sn_access *b) {
    return a->address == b->address && a->size == b->size && a->role == b->role && a->operand == b->operand;
}

/** Any window on the list is what the whole list has there. */
static void test_windows(void **test) {
    (void)test;
    enum { DONE = 5 };
    registers r;
    set_registers(&r);
    sn_access_state state = state_of(&r);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sn_insn insn;
        sn_access all[32], some[32];
        assert_true(sn_decode(rows[i].code, rows[i].length, PC, &insn));
        size_t count = sn_accesses_of(&insn, &state, DONE, 0, all, 32);
        for (size_t first = 0; first <= count + 1; first++)
            for (size_t capacity = 0; capacity <= count + 1; capacity++) {
                memset(some, 0x5a, sizeof some);
                size_t rest = first < count ? count - first : 0, expected = rest < capacity ? rest : capacity;
                assert_int_equal(sn_accesses_of(&insn, &state, DONE, first, some, capacity), expected);
                for (size_t k = 0; k < expected; k++) assert_true(same_access(&some[k], &all[first + k]));
                assert_int_equal(((uint8_t *)&some[expected])[0], 0x5a);
            }
    }
}

static void test_plain_instructions(void **test) {
    (void)test;
    static const struct {
        const char *text;
        uint8_t length, code[15];
    } plain[] = {
        {"movsb", 1, {0xa4}},
        {"mov (%rax),%eax", 2, {0x8b, 0x00}},
        {"bt %ecx,%eax", 3, {0x0f, 0xa3, 0xc8}},
        {"bt $3,(%rax)", 4, {0x0f, 0xba, 0x20, 0x03}},
        {"fxsave (%rax)", 3, {0x0f, 0xae, 0x00}},
        {"clflush (%rax)", 3, {0x0f, 0xae, 0x38}},
        {"clwb (%rax)", 4, {0x66, 0x0f, 0xae, 0x30}},
        {"ptwritel (%rax)", 4, {0xf3, 0x0f, 0xae, 0x20}},
        {"cmpxchg16b (%rax)", 4, {0x48, 0x0f, 0xc7, 0x08}},
        {"movdir64b (%rdi),%rax", 5, {0x66, 0x0f, 0x38, 0xf8, 0x07}},
        {"ldtilecfg (%rax)", 5, {0xc4, 0xe2, 0x78, 0x49, 0x00}},
        {"vaddps (%rax),%xmm1,%xmm0", 6, {0x62, 0xf1, 0x74, 0x08, 0x58, 0x00}},
        {"vaddps %xmm1,%xmm1,%xmm0{%k1}", 6, {0x62, 0xf1, 0x74, 0x09, 0x58, 0xc1}},
        {"vpermd (%rbx),%zmm1,%zmm0{%k1}", 6, {0x62, 0xf2, 0x75, 0x49, 0x36, 0x03}},
        {"repne jmp", 3, {0xf2, 0xeb, 0x00}},
    };
    registers r;
    set_registers(&r);
    sn_access_state state = state_of(&r);
    for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        sn_insn insn;
        sn_access access;
        assert_true(sn_decode(plain[i].code, plain[i].length, PC, &insn));
        if (sn_accesses_vary(&insn)) fail_msg("%s varies", plain[i].text);
        assert_int_equal(sn_accesses_of(&insn, &state, 1, 0, &access, 1), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_definition),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_plain_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
