/**
 * @fileoverview sn_operands(), sn_kind_of() and sn_disassemble() on a table of instructions of every special kind.
 *
 * An operand is written as: role (r, w, rw, a for address only), `?` when conditional, place, size (element size x
 * element count, f for floating-point), and where it is; implicit operands stand in parentheses. Flags are left out of
 * the lists, and checked by a table of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

enum { PC = 0x400000, MOST_OPERANDS = 16 };

typedef struct row {
    const char *text; /**< AT&T, for who reads the table */
    uint8_t length;
    uint8_t code[15];
    const char *operands;
} row;

static const row rows[] = {
#include "operands_table.h"
};

/* ----------------------------------------------------------------------- rendering */

static const char *register_name(unsigned number) {
    static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    return number < 16 ? names[number] : "?";
}

static int render_address(char *out, size_t size, const sn_operand *o) {
    static const char *const segments[] = {"", "fs:", "gs:"};
    int n = snprintf(out, size, "%s[", segments[o->segment]);
    if (o->base != SN_NO_REGISTER)
        n += snprintf(out + n, size - (size_t)n, "%s", register_name(o->base));
    if (o->index != SN_NO_REGISTER)
        n += snprintf(out + n, size - (size_t)n, "+%s*%u", register_name(o->index), o->scale);
    if (o->displacement || o->base == SN_NO_REGISTER)
        n += snprintf(out + n, size - (size_t)n, "%s%#llx", o->displacement < 0 ? "-" : "+",
                      (unsigned long long)(o->displacement < 0 ? -o->displacement : o->displacement));
    return n + snprintf(out + n, size - (size_t)n, "]");
}

static int render_place(char *out, size_t size, const sn_operand *o) {
    switch (o->place) {
    case SN_PLACE_MEMORY: return render_address(out, size, o);
    case SN_PLACE_GENERAL: return snprintf(out, size, "%s%s", register_name(o->reg), o->displacement ? ".1" : "");
    case SN_PLACE_VECTOR: return snprintf(out, size, "v%u", o->reg);
    case SN_PLACE_MASK: return snprintf(out, size, "k%u", o->reg);
    case SN_PLACE_X87: return snprintf(out, size, "x%u", o->reg);
    case SN_PLACE_IMMEDIATE: return snprintf(out, size, "$%#llx", (unsigned long long)o->immediate);
    case SN_PLACE_CONTROL: return snprintf(out, size, "c%u", o->reg);
    default: return snprintf(out, size, "?");
    }
}

static int render(char *out, size_t size, const sn_operand *o) {
    static const char *const roles[] = {"-", "r", "w", "rw", "a"};
    int n = snprintf(out, size, "%s%s%s ", o->is_explicit ? "" : "(", roles[o->role], o->is_conditional ? "?" : "");
    n += render_place(out + n, size - (size_t)n, o);
    n += snprintf(out + n, size - (size_t)n, " %u", o->size);
    if (o->element_count != 1 || o->element_size != o->size)
        n += snprintf(out + n, size - (size_t)n, "=%ux%u", o->element_size, o->element_count);
    return n + snprintf(out + n, size - (size_t)n, "%s%s", o->is_float ? "f" : "", o->is_explicit ? "" : ")");
}

static void render_all(char *out, size_t size, const sn_operand *operands, int count) {
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < count; i++) {
        if (operands[i].place == SN_PLACE_FLAGS)
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s", n ? ", " : "");
        n += (size_t)render(out + n, size - n, &operands[i]);
    }
}

/* --------------------------------------------------------------------------- tests */

static void test_table(void **state) {
    (void)state;
    unsigned failures = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *row = &rows[i];
        sn_insn insn;
        sn_operand operands[MOST_OPERANDS];
        char text[1024];
        assert_true(sn_decode(row->code, row->length, PC, &insn));
        assert_int_equal(insn.length, row->length);
        int count = sn_operands(&insn, operands, MOST_OPERANDS);
        assert_true(count >= 0);
        render_all(text, sizeof text, operands, count);
        if (strcmp(text, row->operands) != 0) {
            failures++;
            print_error("%s\n  expected %s\n  found    %s\n", row->text, row->operands, text);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_explicit_come_first(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sn_insn insn;
        sn_operand operands[MOST_OPERANDS];
        bool implicit = false;
        assert_true(sn_decode(rows[i].code, rows[i].length, PC, &insn));
        int count = sn_operands(&insn, operands, MOST_OPERANDS);
        for (int k = 0; k < count; k++) {
            assert_false(implicit && operands[k].is_explicit);
            implicit = !operands[k].is_explicit;
        }
    }
}

static void test_capacity_is_kept(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sn_insn insn;
        sn_operand all[MOST_OPERANDS], some[MOST_OPERANDS];
        assert_true(sn_decode(rows[i].code, rows[i].length, PC, &insn));
        int count = sn_operands(&insn, all, MOST_OPERANDS);
        for (int capacity = 0; capacity < count; capacity++) {
            memset(some, 0x5a, sizeof some);
            assert_int_equal(sn_operands(&insn, some, (unsigned)capacity), capacity);
            assert_int_equal(((uint8_t *)&some[capacity])[0], 0x5a);
        }
    }
}

static unsigned role_of_flags(const uint8_t *code, size_t length) {
    sn_insn insn;
    sn_operand operands[MOST_OPERANDS];
    assert_true(sn_decode(code, length, PC, &insn));
    int count = sn_operands(&insn, operands, MOST_OPERANDS);
    for (int i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_FLAGS)
            return operands[i].role;
    return 0;
}

static void test_flags(void **state) {
    (void)state;
    assert_int_equal(role_of_flags((const uint8_t[]){0x01, 0xc8}, 2), SN_ROLE_WRITTEN); /* add */
    assert_int_equal(role_of_flags((const uint8_t[]){0x11, 0xc8}, 2), SN_ROLE_BOTH);    /* adc */
    assert_int_equal(role_of_flags((const uint8_t[]){0x74, 0x10}, 2), SN_ROLE_READ);    /* je */
    assert_int_equal(role_of_flags((const uint8_t[]){0x89, 0xc8}, 2), 0);               /* mov */
}

static void test_unknown_instruction(void **state) {
    (void)state;
    static const uint8_t code[] = {0x0f, 0x38, 0xe0, 0xc0}; /* nobody's opcode, though its length is known */
    sn_insn insn;
    sn_operand operands[MOST_OPERANDS];
    char text[64];
    assert_true(sn_decode(code, sizeof code, PC, &insn));
    assert_int_equal(insn.length, 4);
    assert_int_equal(sn_operands(&insn, operands, MOST_OPERANDS), -1);
    assert_string_equal(sn_disassemble(code, sizeof code, PC, text, sizeof text), "(unknown)");
}

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        uint8_t code[8];
        sn_instruction_kind kind;
    } kinds[] = {
        {{0x90}, SN_KIND_OTHER},
        {{0xeb, 0x10}, SN_KIND_JUMP},
        {{0xff, 0xe0}, SN_KIND_JUMP_INDIRECT},
        {{0x3e, 0xff, 0x20}, SN_KIND_JUMP_INDIRECT},
        {{0x75, 0x10}, SN_KIND_CONDITIONAL},
        {{0xe2, 0x10}, SN_KIND_CONDITIONAL},
        {{0xe8, 1, 2, 3, 4}, SN_KIND_CALL},
        {{0xff, 0x14, 0x24}, SN_KIND_CALL_INDIRECT},
        {{0xc3}, SN_KIND_RETURN},
        {{0xf2, 0xc3}, SN_KIND_RETURN},
        {{0xc2, 8, 0}, SN_KIND_RETURN},
        {{0x0f, 0x05}, SN_KIND_SYSCALL},
        {{0xcc}, SN_KIND_TRAP},
        {{0x0f, 0x0b}, SN_KIND_TRAP},
        {{0xcd, 0x80}, SN_KIND_TRAP},
    };
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sn_insn insn;
        assert_true(sn_decode(kinds[i].code, sizeof kinds[i].code, PC, &insn));
        assert_int_equal(sn_kind_of(&insn), kinds[i].kind);
    }
}

static void test_disassembly(void **state) {
    (void)state;
    char text[64];
    assert_string_equal(sn_disassemble((const uint8_t[]){0x48, 0x8b, 0x44, 0x24, 0x08}, 5, PC, text, sizeof text),
                        "mov 0x08(%rsp), %rax");
    assert_string_equal(sn_disassemble((const uint8_t[]){0xeb, 0x0e}, 2, PC, text, sizeof text),
                        "jmp 0x0000000000400010");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),        cmocka_unit_test(test_explicit_come_first),
        cmocka_unit_test(test_capacity_is_kept), cmocka_unit_test(test_flags),
        cmocka_unit_test(test_unknown_instruction), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_disassembly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
