/**
 * @fileoverview The quick decoder against the decoding library: system binaries, random encodings, truncated buffers.
 *
 * Layout fields must be equal. Effects must be conservative: what the library says is read, the quick decoder says is
 * read; what the quick decoder says is surely written, the library says is written. Where the library refuses an
 * encoding (it knows fewer than processors do), only a sane answer is asked for. Coverage and speed are printed, never
 * judged.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "isa/x86_64/zydis.h"

enum { RANDOM_ROUNDS = 3000000, SWEEP_LIMIT = 6 << 20, SHOWN_FAILURES = 40, EVERYTHING = 0xffff };

static unsigned long failures;
static unsigned long compared, refused, exact_effects;

/* ----------------------------------------------------------- what the library says */

typedef struct effects {
    uint32_t read, written, touched;
    uint8_t flags_read, flags_written;
} effects;

static uint8_t own_flags(uint32_t mask) {
    uint8_t flags = 0;
    flags |= mask & ZYDIS_CPUFLAG_CF ? SN_FLAG_CARRY : 0;
    flags |= mask & ZYDIS_CPUFLAG_PF ? SN_FLAG_PARITY : 0;
    flags |= mask & ZYDIS_CPUFLAG_AF ? SN_FLAG_ADJUST : 0;
    flags |= mask & ZYDIS_CPUFLAG_ZF ? SN_FLAG_ZERO : 0;
    flags |= mask & ZYDIS_CPUFLAG_SF ? SN_FLAG_SIGN : 0;
    flags |= mask & ZYDIS_CPUFLAG_OF ? SN_FLAG_OVERFLOW : 0;
    return flags;
}

static uint32_t register_bit(ZydisRegister reg) {
    ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15)
        return 0;
    return UINT32_C(1) << (full - ZYDIS_REGISTER_RAX);
}

static bool clears_register(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands) {
    return (z->mnemonic == ZYDIS_MNEMONIC_XOR || z->mnemonic == ZYDIS_MNEMONIC_SUB) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[0].reg.value == operands[1].reg.value;
}

static void add_operand(effects *e, const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        e->read |= register_bit(operand->mem.base);
        e->read |= register_bit(operand->mem.index);
        e->touched |= e->read;
        return;
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    uint32_t bit = register_bit(operand->reg.value);
    e->touched |= bit;
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        e->read |= bit;
    if ((operand->actions & ZYDIS_OPERAND_ACTION_WRITE) && operand->size >= 32)
        e->written |= bit;
    else if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        e->read |= bit; /* the rest stays: as good as read */
}

/** No-operations name registers and read none; only those of the address are asked for. */
static bool is_no_operation(const ZydisDecodedInstruction *z) {
    return z->meta.category == ZYDIS_CATEGORY_NOP || z->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static effects library_effects(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands) {
    effects e = {0};
    for (unsigned i = 0; i < z->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY || !is_no_operation(z))
            add_operand(&e, &operands[i]);
    if (clears_register(z, operands))
        e.read = operands[0].size >= 32 ? 0 : e.read;
    if (z->cpu_flags) {
        e.flags_read = own_flags(z->cpu_flags->tested);
        e.flags_written = own_flags(z->cpu_flags->modified | z->cpu_flags->set_0 | z->cpu_flags->set_1 |
                                    z->cpu_flags->undefined);
    }
    if (z->mnemonic == ZYDIS_MNEMONIC_VPTEST || z->mnemonic == ZYDIS_MNEMONIC_VTESTPS ||
        z->mnemonic == ZYDIS_MNEMONIC_VTESTPD) /* the library forgets the flags that are set to zero */
        e.flags_written = SN_FLAGS_ARITHMETIC;
    return e;
}

/** Shifts that may shift by nothing and repetitions that may not happen keep flags. */
static bool may_keep_flags(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands) {
    if (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        return true;
    bool shift = (z->mnemonic == ZYDIS_MNEMONIC_SHLD || z->mnemonic == ZYDIS_MNEMONIC_SHRD ||
                  z->meta.category == ZYDIS_CATEGORY_SHIFT || z->meta.category == ZYDIS_CATEGORY_ROTATE) &&
                 z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && z->cpu_flags;
    if (!shift)
        return false;
    const ZydisDecodedOperand *count = &operands[z->operand_count_visible - 1];
    if (count->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return true;
    return (count->imm.value.u & (z->operand_width == 64 ? 63 : 31)) == 0;
}

/* ---------------------------------------------------------------------- comparison */

static void complain(const uint8_t *code, unsigned length, const char *decoder_name, const char *what,
                     uint64_t expected, uint64_t found) {
    if (failures++ >= SHOWN_FAILURES)
        return;
    char text[128];
    fprintf(stderr, "%s: %s: library %#llx, found %#llx:", decoder_name, what, (unsigned long long)expected,
            (unsigned long long)found);
    for (unsigned i = 0; i < length; i++)
        fprintf(stderr, " %02x", code[i]);
    fprintf(stderr, "  %s\n", sn_disassemble(code, length, 0x10000000, text, sizeof text));
}

typedef struct comparison {
    const uint8_t *code;
    const char *name;
    const ZydisDecodedInstruction *z;
    const ZydisDecodedOperand *operands;
    const sn_insn *found;
} comparison;

static void expect(const comparison *c, const char *what, uint64_t expected, uint64_t found) {
    if (expected != found)
        complain(c->code, c->z->length, c->name, what, expected, found);
}

static void compare_effects(const comparison *c) {
    effects e = library_effects(c->z, c->operands);
    const sn_insn *f = c->found;
    if (e.read & ~f->registers_read)
        complain(c->code, c->z->length, c->name, "registers read", e.read, f->registers_read);
    if (f->registers_written & ~e.written)
        complain(c->code, c->z->length, c->name, "registers written", e.written, f->registers_written);
    if ((e.touched | f->registers_read | f->registers_written) & ~f->registers_touched)
        complain(c->code, c->z->length, c->name, "registers touched", e.touched, f->registers_touched);
    if (e.flags_read & ~f->flags_read)
        complain(c->code, c->z->length, c->name, "flags read", e.flags_read, f->flags_read);
    if (f->flags_written & ~e.flags_written)
        complain(c->code, c->z->length, c->name, "flags written", e.flags_written, f->flags_written);
    if (may_keep_flags(c->z, c->operands) && (f->flags_written & ~f->flags_read))
        complain(c->code, c->z->length, c->name, "flags written though they may stay", 0, f->flags_written);
    exact_effects += f->registers_read != EVERYTHING;
}

static void compare_layout(const comparison *c, const sn_insn *expected) {
    const sn_insn *found = c->found;
#define SAME(field) expect(c, #field, (uint64_t)expected->field, (uint64_t)found->field)
    SAME(class);
    SAME(target);
    SAME(condition);
    SAME(prefix_length);
    SAME(encoding);
    SAME(rex_offset);
    SAME(opcode_offset);
    SAME(modrm_offset);
    SAME(displacement_offset);
    SAME(displacement_size);
    if (c->z->encoding != ZYDIS_INSTRUCTION_ENCODING_3DNOW) /* its last byte is an opcode to the library */
        SAME(immediate_size);
    SAME(memory);
    SAME(rip_relative);
    SAME(repeated);
    SAME(return_pop);
    SAME(return_pop_size);
    SAME(interrupt_number);
    if (found->memory && c->z->meta.category != ZYDIS_CATEGORY_MPX)
        SAME(segment);
#undef SAME
    if (memcmp(expected->bytes, found->bytes, sizeof found->bytes) != 0)
        complain(c->code, c->z->length, c->name, "bytes", 0, 0);
}

/** Returns the length to go on by. */
static unsigned compare(const uint8_t *code, size_t available) {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    sn_insn quick, slow;
    uint64_t pc = 0x10000000;
    bool decoded = sn_decode(code, available, pc, &quick);
    if (!sn_zydis_decode(code, available, &z, operands)) {
        refused++;
        if (decoded && (quick.length == 0 || quick.length > 15 || quick.length > available))
            complain(code, 15, "quick", "length", 0, quick.length);
        return 1;
    }
    compared++;
    if (!decoded) {
        complain(code, z.length, "quick", "refused", z.length, 0);
        return z.length;
    }
    comparison of_quick = {code, "quick", &z, operands, &quick};
    expect(&of_quick, "length", z.length, quick.length);
    if (quick.length != z.length)
        return z.length;
    assert_true(sn_decode_slowly(code, available, pc, &slow));
    compare_layout(&of_quick, &slow);
    compare_effects(&of_quick);
    comparison of_slow = {code, "slow", &z, operands, &slow};
    unsigned long exact = exact_effects;
    compare_effects(&of_slow);
    exact_effects = exact;
    return z.length;
}

static void report(const char *what) {
    print_message("%s: %lu instructions compared, %lu encodings refused by the library, effects known for %.2f %%\n",
                  what, compared, refused, compared ? 100.0 * (double)exact_effects / (double)compared : 0.0);
    compared = refused = exact_effects = 0;
}

/* ------------------------------------------------------------------ system binaries */

typedef struct image {
    const uint8_t *bytes;
    size_t size;
    const uint8_t *text;
    size_t text_size;
} image;

static bool find_text(image *image) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image->bytes;
    if (image->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || !header->e_shnum ||
        header->e_machine != EM_X86_64)
        return false;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image->bytes + header->e_shoff);
    const char *names = (const char *)image->bytes + sections[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".text") == 0) {
            image->text = image->bytes + sections[i].sh_offset;
            image->text_size = sections[i].sh_size;
            return true;
        }
    }
    return false;
}

static bool open_image(const char *path, image *image) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        return false;
    image->size = (size_t)status.st_size;
    void *bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (bytes == MAP_FAILED)
        return false;
    image->bytes = bytes;
    return find_text(image);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const char *path, const image *image) {
    size_t limit = image->text_size < SWEEP_LIMIT ? image->text_size : SWEEP_LIMIT;
    unsigned long count = 0;
    double start = seconds();
    for (size_t at = 0; at < limit; count++) {
        sn_insn insn;
        at += sn_decode(image->text + at, limit - at, at, &insn) ? insn.length : 1;
    }
    print_message("%s: %.1f ns an instruction\n", path, 1e9 * (seconds() - start) / (double)count);
}

static bool sweep(const char *path) {
    image image;
    if (!open_image(path, &image))
        return false;
    size_t limit = image.text_size < SWEEP_LIMIT ? image.text_size : SWEEP_LIMIT;
    for (size_t at = 0; at < limit;)
        at += compare(image.text + at, limit - at);
    report(path);
    measure(path, &image);
    munmap((void *)image.bytes, image.size);
    return true;
}

static void test_system_binaries(void **state) {
    (void)state;
    static const char *const paths[] = {
        "/proc/self/exe",
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/bin/bash",
        "/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/usr/lib/libc.so.6",
        "/usr/lib64/libc.so.6",
    };
    unsigned found = 0;
    failures = 0;
    for (unsigned i = 0; i < sizeof paths / sizeof paths[0]; i++)
        found += sweep(paths[i]);
    assert_true(found >= 2);
    assert_int_equal(failures, 0);
}

/* ---------------------------------------------------------------- random encodings */

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 24);
}

static unsigned random_prefixes(uint8_t *code) {
    static const uint8_t prefixes[] = {0x66, 0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65, 0x40};
    static const uint8_t counts[] = {0, 0, 0, 1, 1, 1, 2, 3};
    unsigned count = counts[random_number() % sizeof counts];
    for (unsigned i = 0; i < count; i++) {
        uint8_t prefix = prefixes[random_number() % sizeof prefixes];
        code[i] = prefix == 0x40 ? 0x40 | (random_number() & 15) : prefix;
    }
    return count;
}

static unsigned random_legacy(uint8_t *code) {
    unsigned at = 0;
    if (random_number() & 1)
        code[at++] = 0x40 | (random_number() & 15);
    switch (random_number() & 7) {
    case 0: code[at++] = 0x0f; code[at++] = 0x38; break;
    case 1: code[at++] = 0x0f; code[at++] = 0x3a; break;
    case 2:
    case 3:
    case 4: code[at++] = 0x0f; break;
    default: break;
    }
    return at;
}

static unsigned random_vector(uint8_t *code) {
    uint32_t bits = random_number();
    switch (random_number() & 7) {
    case 0:
        code[0] = 0xc5;
        code[1] = (uint8_t)bits;
        return 2;
    case 1:
        code[0] = 0x8f;
        code[1] = (uint8_t)((bits & 0xe0) | (8 + bits % 3));
        code[2] = (uint8_t)(bits >> 8);
        return 3;
    case 2:
    case 3:
    case 4:
        code[0] = 0xc4;
        code[1] = (uint8_t)((bits & 0xe0) | (1 + bits % 3));
        code[2] = (uint8_t)(bits >> 8 | (bits & 0x1000 ? 0x78 : 0)); /* vvvv often unused */
        return 3;
    default:
        code[0] = 0x62;
        code[1] = (uint8_t)((bits & 0xf0) | (1 + bits % 6));
        code[2] = (uint8_t)(bits >> 8 | 4 | (bits & 0x4000000 ? 0x78 : 0));
        code[3] = (uint8_t)(bits >> 16 | 8);
        return 4;
    }
}

static void test_random_encodings(void **state) {
    (void)state;
    failures = 0;
    for (unsigned long i = 0; i < RANDOM_ROUNDS; i++) {
        uint8_t code[32];
        for (unsigned k = 0; k < sizeof code; k += 4) {
            uint32_t number = random_number();
            memcpy(code + k, &number, 4);
        }
        unsigned at = 0;
        if (random_number() & 1) {
            at = random_prefixes(code);
            random_legacy(code + at);
        } else {
            if ((random_number() & 7) == 0)
                at = random_prefixes(code);
            random_vector(code + at);
        }
        compare(code, sizeof code);
    }
    report("random encodings");
    assert_int_equal(failures, 0);
}

/* --------------------------------------------------------------- truncated buffers */

/** Every proper beginning of an instruction is refused, from a buffer that ends where a forbidden page begins. */
static void test_truncated_buffers(void **state) {
    (void)state;
    static const char *const instructions[] = {
        "\x90",
        "\x48\x8b\x84\x88\x44\x33\x22\x11",
        "\x0f\x38\xf0\x04\x24",
        "\xc4\xe2\x71\xf7\xc2",
        "\xe9\x01\x02\x03\x04",
        "\x62\xf1\x7c\x48\x58\x44\x24\x01",
        "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08",
        "\xf7\x05\x01\x01\x01\x01\x02\x02\x02\x02",
        "\x66\x66\x66\x66\x2e\x0f\x1f\x84\x80\x01\x02\x03\x04",
        "\xf3\x0f\xae\xc0",
        "\x0f\x3a\x0f\xc1\x07",
        "\xc8\x10\x20\x01",
        "\x8f\xe9\x78\xe1\xc1",
        "\x66\xa1\x01\x02\x03\x04\x05\x06\x07\x08",
    };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (unsigned i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
        size_t length = strlen(instructions[i]);
        for (size_t available = 0; available <= length; available++) {
            sn_insn insn;
            uint8_t *code = pages + page - available;
            memcpy(code, instructions[i], available);
            assert_int_equal(sn_decode(code, available, 0, &insn), available == length);
            assert_int_equal(insn.length, available == length ? length : 0);
            assert_int_equal(sn_decode_slowly(code, available, 0, &insn), available == length);
        }
    }
    munmap(pages, 2 * page);
}

static void test_too_long(void **state) {
    (void)state;
    uint8_t code[32];
    sn_insn insn;
    memset(code, 0x66, sizeof code);
    code[14] = 0x90;
    assert_true(sn_decode(code, sizeof code, 0, &insn));
    assert_int_equal(insn.length, 15);
    code[14] = 0x66;
    code[15] = 0x90;
    assert_false(sn_decode(code, sizeof code, 0, &insn));
    assert_int_equal(insn.length, 0);
    code[10] = 0xe8; /* a call whose displacement ends with byte 15, and one that goes on */
    assert_true(sn_decode(code, sizeof code, 0, &insn));
    code[10] = 0x66;
    code[11] = 0xe8;
    assert_false(sn_decode(code, sizeof code, 0, &insn));
}

/* ------------------------------------------------------------------- single facts */

typedef struct fact {
    const char *text;
    uint8_t length;
    uint8_t code[15];
    uint32_t read, written;
    uint8_t flags_read, flags_written;
} fact;

enum { RAX = 1, RCX = 2, RDX = 4, RBX = 8, RSP = 16, RBP = 32, RSI = 64, RDI = 128, R8 = 256, R9 = 512 };
enum { CF = SN_FLAG_CARRY, ZF = SN_FLAG_ZERO, OF = SN_FLAG_OVERFLOW, ALL = SN_FLAGS_ARITHMETIC };

/** Exact effects of frequent instructions: being conservative is not enough here. */
static const fact facts[] = {
    {"mov %rax, %rcx", 3, {0x48, 0x89, 0xc1}, RAX, RCX, 0, 0},
    {"mov %al, %ch", 2, {0x88, 0xc5}, RAX | RCX, 0, 0, 0},
    {"mov %al, %bpl", 3, {0x40, 0x88, 0xc5}, RAX | RBP, 0, 0, 0},
    {"mov %ax, %cx", 3, {0x66, 0x89, 0xc1}, RAX | RCX, 0, 0, 0},
    {"mov 8(%rsp,%rdx,4), %r8d", 5, {0x44, 0x8b, 0x44, 0x94, 0x08}, RSP | RDX, R8, 0, 0},
    {"xor %eax, %eax", 2, {0x31, 0xc0}, 0, RAX, 0, ALL},
    {"xor %r8d, %eax", 3, {0x44, 0x31, 0xc0}, RAX | R8, RAX, 0, ALL},
    {"sbb %eax, %eax", 2, {0x19, 0xc0}, RAX, RAX, CF, ALL},
    {"inc %ecx", 2, {0xff, 0xc1}, RCX, RCX, 0, ALL & ~CF},
    {"shl $3, %eax", 3, {0xc1, 0xe0, 0x03}, RAX, RAX, 0, ALL},
    {"shl $32, %eax", 3, {0xc1, 0xe0, 0x20}, RAX, RAX, 0, 0},
    {"shl %cl, %eax", 2, {0xd3, 0xe0}, RAX | RCX, 0, 0, 0},
    {"rol $1, %eax", 2, {0xd1, 0xc0}, RAX, RAX, 0, CF | OF},
    {"push %rbx", 1, {0x53}, RSP | RBX, RSP, 0, 0},
    {"pop %rbx", 1, {0x5b}, RSP, RSP | RBX, 0, 0},
    {"cmovb %ecx, %eax", 3, {0x0f, 0x42, 0xc1}, RAX | RCX, 0, CF, 0},
    {"setbe %al", 3, {0x0f, 0x96, 0xc0}, RAX, 0, CF | ZF, 0},
    {"cmp %rax, (%rdi)", 3, {0x48, 0x39, 0x07}, RAX | RDI, 0, 0, ALL},
    {"lea 4(%rsi), %rdi", 4, {0x48, 0x8d, 0x7e, 0x04}, RSI, RDI, 0, 0},
    {"cqo", 2, {0x48, 0x99}, RAX, RDX, 0, 0},
    {"rep movsb", 2, {0xf3, 0xa4}, RCX | RSI | RDI, 0, 0, 0},
    {"repe cmpsb", 2, {0xf3, 0xa6}, RCX | RSI | RDI, 0, ZF, 0},
    {"cmpsb", 1, {0xa6}, RSI | RDI, 0, 0, ALL},
    {"movzx %al, %edx", 3, {0x0f, 0xb6, 0xd0}, RAX, RDX, 0, 0},
    {"cpuid", 2, {0x0f, 0xa2}, RAX | RCX, RAX | RBX | RCX | RDX, 0, 0},
    {"mulx %rcx, %rax, %rbx", 5, {0xc4, 0xe2, 0xfb, 0xf6, 0xd9}, RCX | RDX, RAX | RBX, 0, 0},
    {"andn %rcx, %rax, %rbx", 5, {0xc4, 0xe2, 0xf8, 0xf2, 0xd9}, RAX | RCX, RBX, 0, ALL},
    {"addsd 8(%rax), %xmm3", 5, {0xf2, 0x0f, 0x58, 0x58, 0x08}, RAX, 0, 0, 0},
    {"movq %rax, %xmm0", 5, {0x66, 0x48, 0x0f, 0x6e, 0xc0}, RAX, 0, 0, 0},
    {"movq %xmm0, %r9", 5, {0x66, 0x49, 0x0f, 0x7e, 0xc1}, 0, R9, 0, 0},
    {"pmovmskb %xmm0, %eax", 4, {0x66, 0x0f, 0xd7, 0xc0}, 0, RAX, 0, 0},
    {"ucomisd %xmm1, %xmm0", 4, {0x66, 0x0f, 0x2e, 0xc1}, 0, 0, 0, ALL},
    {"vpmovmskb %ymm0, %ecx", 4, {0xc5, 0xfd, 0xd7, 0xc8}, 0, RCX, 0, 0},
    {"vaddps (%rdi){1to16}, %zmm1, %zmm0", 6, {0x62, 0xf1, 0x74, 0x58, 0x58, 0x07}, RDI, 0, 0, 0},
    {"nop", 1, {0x90}, 0, 0, 0, 0},
    {"xchg %r8, %rax", 2, {0x49, 0x90}, RAX | R8, RAX | R8, 0, 0},
    {"jbe", 2, {0x76, 0x10}, 0, 0, CF | ZF, 0},
};

static void test_exact_effects(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const fact *f = &facts[i];
        sn_insn insn;
        assert_true(sn_decode(f->code, f->length, 0x1000, &insn));
        bool same = insn.length == f->length && insn.registers_read == f->read &&
                    insn.registers_written == f->written && insn.registers_touched == (f->read | f->written) &&
                    insn.flags_read == f->flags_read && insn.flags_written == f->flags_written;
        if (!same)
            fail_msg("%s: read %#x written %#x touched %#x flags read %#x written %#x", f->text, insn.registers_read,
                     insn.registers_written, insn.registers_touched, insn.flags_read, insn.flags_written);
    }
}

/* ------------------------------------------------------- flags as this processor has them */

typedef uint64_t native_code(uint64_t flags);

typedef struct specimen {
    const char *text;
    uint8_t length;
    uint8_t code[15];
} specimen;

/** Instructions on rax (1234567h), rcx (3), rdx (0), rbx and r8 (some value), and vector registers. */
static const specimen executed[] = {
    {"add %rcx, %rax", 3, {0x48, 0x01, 0xc8}},
    {"sbb %rcx, %rax", 3, {0x48, 0x19, 0xc8}},
    {"and %rcx, %rax", 3, {0x48, 0x21, 0xc8}},
    {"or %ecx, %eax", 2, {0x09, 0xc8}},
    {"xor %eax, %eax", 2, {0x31, 0xc0}},
    {"test %rcx, %rax", 3, {0x48, 0x85, 0xc8}},
    {"cmp $3, %cl", 3, {0x80, 0xf9, 0x03}},
    {"inc %ecx", 2, {0xff, 0xc1}},
    {"neg %rax", 3, {0x48, 0xf7, 0xd8}},
    {"not %rax", 3, {0x48, 0xf7, 0xd0}},
    {"imul %rcx, %rax", 4, {0x48, 0x0f, 0xaf, 0xc1}},
    {"imul $5, %rcx, %rax", 4, {0x48, 0x6b, 0xc1, 0x05}},
    {"mul %rcx", 3, {0x48, 0xf7, 0xe1}},
    {"imul %cl", 2, {0xf6, 0xe9}},
    {"div %rcx", 3, {0x48, 0xf7, 0xf1}},
    {"idiv %ecx", 2, {0xf7, 0xf9}},
    {"shl $1, %rax", 3, {0x48, 0xd1, 0xe0}},
    {"shl $5, %rax", 4, {0x48, 0xc1, 0xe0, 0x05}},
    {"shl $17, %ax", 4, {0x66, 0xc1, 0xe0, 0x11}},
    {"shl $32, %eax", 3, {0xc1, 0xe0, 0x20}},
    {"rex.W shl $0x60, %al", 4, {0x48, 0xc0, 0xe0, 0x60}},
    {"shr $5, %al", 3, {0xc0, 0xe8, 0x05}},
    {"sar $5, %eax", 3, {0xc1, 0xf8, 0x05}},
    {"shl %cl, %rax", 3, {0x48, 0xd3, 0xe0}},
    {"rol $1, %rax", 3, {0x48, 0xd1, 0xc0}},
    {"rol $5, %rax", 4, {0x48, 0xc1, 0xc0, 0x05}},
    {"ror $8, %al", 3, {0xc0, 0xc8, 0x08}},
    {"rcl $1, %rax", 3, {0x48, 0xd1, 0xd0}},
    {"rcl $9, %al", 3, {0xc0, 0xd0, 0x09}},
    {"rcr $5, %eax", 3, {0xc1, 0xd8, 0x05}},
    {"shld $5, %rcx, %rax", 5, {0x48, 0x0f, 0xa4, 0xc8, 0x05}},
    {"shrd $1, %ecx, %eax", 4, {0x0f, 0xac, 0xc8, 0x01}},
    {"shld $9, %cx, %ax", 5, {0x66, 0x0f, 0xa4, 0xc8, 0x09}},
    {"shld $20, %cx, %ax", 5, {0x66, 0x0f, 0xa4, 0xc8, 0x14}},
    {"bt %rcx, %rax", 4, {0x48, 0x0f, 0xa3, 0xc8}},
    {"bts $3, %eax", 4, {0x0f, 0xba, 0xe8, 0x03}},
    {"bsf %rax, %r8", 4, {0x4c, 0x0f, 0xbc, 0xc0}},
    {"bsf %rdx, %r8", 4, {0x4c, 0x0f, 0xbc, 0xc2}},
    {"bsr %eax, %ecx", 3, {0x0f, 0xbd, 0xc8}},
    {"tzcnt %eax, %ecx", 4, {0xf3, 0x0f, 0xbc, 0xc8}},
    {"lzcnt %eax, %ecx", 4, {0xf3, 0x0f, 0xbd, 0xc8}},
    {"xadd %rax, %rcx", 4, {0x48, 0x0f, 0xc1, 0xc1}},
    {"cmpxchg %ecx, %ebx", 3, {0x0f, 0xb1, 0xcb}},
    {"sahf", 1, {0x9e}},
    {"lahf", 1, {0x9f}},
    {"stc", 1, {0xf9}},
    {"cmc", 1, {0xf5}},
    {"ucomisd %xmm0, %xmm0", 4, {0x66, 0x0f, 0x2e, 0xc0}},
    {"comiss %xmm0, %xmm0", 3, {0x0f, 0x2f, 0xc0}},
};

static uint8_t *append(uint8_t *at, const void *bytes, size_t size) {
    memcpy(at, bytes, size);
    return at + size;
}

static void assemble(uint8_t *at, const specimen *f) {
    static const uint8_t before[] = {
        0x53,                               /* push %rbx */
        0xb8, 0x67, 0x45, 0x23, 0x01,       /* mov $0x1234567, %eax */
        0xb9, 0x03, 0x00, 0x00, 0x00,       /* mov $3, %ecx */
        0x31, 0xd2, 0x89, 0xfb, 0x49, 0x89, 0xf8, /* xor %edx, %edx; mov %edi, %ebx; mov %rdi, %r8 */
        0x57, 0x9d,                         /* push %rdi; popfq */
    };
    static const uint8_t after[] = {0x9c, 0x58, 0x5b, 0xc3}; /* pushfq; pop %rax; pop %rbx; ret */
    at = append(at, before, sizeof before);
    at = append(at, f->code, f->length);
    append(at, after, sizeof after);
}

static uint64_t hardware_flags(uint8_t own) {
    uint64_t flags = 0;
    for (unsigned bit = 0; bit < 16; bit++)
        if (own & own_flags(UINT32_C(1) << bit))
            flags |= UINT64_C(1) << bit;
    return flags;
}

/** Flags that keep their value, of those that the instruction does not read. */
static uint8_t kept_flags(uint8_t *page, const specimen *f, uint8_t read) {
    native_code *code;
    uint64_t varied = hardware_flags(SN_FLAGS_ARITHMETIC & ~read);
    assemble(page, f);
    memcpy(&code, &page, sizeof code);
    return own_flags((uint32_t)((code(2) ^ code(2 | varied)) & varied));
}

/** A flag whose value before shows after an instruction was not overwritten: nobody may say that it was. */
static void test_flags_are_written(void **state) {
    (void)state;
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    for (unsigned i = 0; i < sizeof executed / sizeof executed[0]; i++) {
        const specimen *f = &executed[i];
        sn_insn quick, slow;
        assert_true(sn_decode(f->code, f->length, 0, &quick) && sn_decode_slowly(f->code, f->length, 0, &slow));
        uint8_t kept = kept_flags(page, f, quick.flags_read);
        if ((quick.flags_written | slow.flags_written) & kept)
            fail_msg("%s: flags %#x are kept, said to be written: %#x, slowly %#x", f->text, kept,
                     quick.flags_written, slow.flags_written);
    }
    munmap(page, 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_buffers), cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_exact_effects),     cmocka_unit_test(test_system_binaries),
        cmocka_unit_test(test_random_encodings),  cmocka_unit_test(test_flags_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
