/**
 * @fileoverview Call frame information, made into rules. See unwind.h.
 */
#include "image/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

struct sn_unwind_table {
    const sn_elf_file *file, *debug_file;
    Dwarf_CFI *exceptions; /**< of .eh_frame; NULL if there is none */
    Dwarf *debug;          /**< for .debug_frame, which is looked at when the other one does not say */
    Dwarf_CFI *frames;
    bool is_debug_read;
};

sn_unwind_table *sn_unwind_table_open(const sn_elf_file *file, const sn_elf_file *debug) {
    sn_unwind_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    *table = (sn_unwind_table){.file = file, .debug_file = debug, .exceptions = dwarf_getcfi_elf(file->elf)};
    return table;
}

static Dwarf_CFI *debug_frames(sn_unwind_table *table) {
    if (!table->is_debug_read) {
        const sn_elf_file *file = table->debug_file != NULL ? table->debug_file : table->file;
        table->is_debug_read = true;
        table->debug = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
        table->frames = table->debug != NULL ? dwarf_getcfi(table->debug) : NULL;
    }
    return table->frames;
}

void sn_unwind_table_close(sn_unwind_table *table) {
    if (table == NULL) {
        return;
    }
    if (table->exceptions != NULL) {
        dwarf_cfi_end(table->exceptions);
    }
    if (table->debug != NULL) {
        dwarf_end(table->debug);
    }
    free(table);
}

static bool fits(Dwarf_Word word) {
    return (int64_t)word == (int32_t)word;
}

/** A register and an offset. */
static bool is_based(const Dwarf_Op *operation, int *reg, int32_t *offset) {
    bool is_short = operation->atom >= DW_OP_breg0 && operation->atom <= DW_OP_breg31;
    if (!is_short && operation->atom != DW_OP_bregx) {
        return false;
    }
    *reg = is_short ? operation->atom - DW_OP_breg0 : (int)operation->number;
    Dwarf_Word distance = is_short ? operation->number : operation->number2;
    *offset = (int32_t)distance;
    return fits(distance);
}

/** Put an operation's result on the stack of an expression that calculates with constants, of which the address is one. */
static bool calculate(const Dwarf_Op *operation, const sn_unwind_registers *registers, uint64_t address, uint64_t *stack, unsigned *depth) {
    int base;
    int32_t offset;
    if (operation->atom >= DW_OP_lit0 && operation->atom <= DW_OP_lit31) {
        stack[(*depth)++] = (uint64_t)(operation->atom - DW_OP_lit0);
        return true;
    }
    if (is_based(operation, &base, &offset)) {
        stack[(*depth)++] = address + (uint64_t)(int64_t)offset;
        return base == registers->return_address;
    }
    if (*depth < 2) {
        return false;
    }
    uint64_t b = stack[--*depth], *a = &stack[*depth - 1];
    switch (operation->atom) {
    case DW_OP_and: *a &= b; return true;
    case DW_OP_ge: *a = (int64_t)*a >= (int64_t)b; return true;
    case DW_OP_shl: *a = b < 64 ? *a << b : 0; return true;
    case DW_OP_plus: *a += b; return true;
    default: return false;
    }
}

/** A register and an offset to which something is added that follows from the address: linkers describe the stubs so by which
    calls go to other modules, whose entries are all alike. */
static bool is_based_by_address(const Dwarf_Op *operations, size_t count, const sn_unwind_registers *registers, uint64_t address,
                                int *base, int32_t *offset) {
    enum { MOST_OPERATIONS = 16 };
    uint64_t stack[MOST_OPERATIONS] = {0};
    unsigned depth = 1; /* what is added to the register */
    if (count < 2 || count > MOST_OPERATIONS || !is_based(&operations[0], base, offset)) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        if (!calculate(&operations[i], registers, address, stack, &depth)) {
            return false;
        }
    }
    *offset += (int32_t)stack[0];
    return depth == 1 && fits(stack[0]);
}

/** The canonical frame address: a register and an offset, or what lies there. */
static bool read_frame_address(Dwarf_Frame *frame, const sn_unwind_registers *registers, uint64_t address, sn_unwind_rule *rule) {
    Dwarf_Op *operations;
    size_t count;
    int base;
    if (dwarf_frame_cfa(frame, &operations, &count) != 0 || count < 1) {
        return false;
    }
    if (is_based_by_address(operations, count, registers, address, &base, &rule->offset)) {
        rule->by_frame_pointer = base == registers->frame;
        return base == registers->frame || base == registers->stack;
    }
    if (count > 2 || !is_based(operations, &base, &rule->offset)) {
        return false;
    }
    rule->is_loaded = count == 2;
    rule->by_frame_pointer = base == registers->frame;
    return (base == registers->frame || base == registers->stack) && (count == 1 || operations[1].atom == DW_OP_deref);
}

/** Where the caller's value of a register is. */
static bool read_register(Dwarf_Frame *frame, int number, const sn_unwind_registers *registers, uint8_t *place, int32_t *offset) {
    Dwarf_Op memory[3], *operations;
    size_t count;
    int base;
    if (dwarf_frame_register(frame, number, memory, &operations, &count) != 0) {
        return false;
    }
    *offset = 0;
    if (count == 0) {
        *place = operations == NULL ? SN_UNWIND_KEPT : SN_UNWIND_UNKNOWN;
        return true;
    }
    if (operations[0].atom != DW_OP_call_frame_cfa || count > 2) {
        return false;
    }
    /* An expression of its own begins with the frame address, too, but need not use it (DWARF 5, 6.4.2.3). */
    *place = count == 2 && is_based(&operations[1], &base, offset) ? SN_UNWIND_AT_STACK : SN_UNWIND_AT_FRAME;
    if (count == 1 || *place == SN_UNWIND_AT_STACK) {
        return count == 1 || base == registers->stack;
    }
    *offset = (int32_t)operations[1].number;
    return operations[1].atom == DW_OP_plus_uconst && fits(operations[1].number);
}

static bool read_rule(Dwarf_Frame *frame, const sn_unwind_registers *registers, uint64_t address, sn_unwind_rule *rule) {
    *rule = (sn_unwind_rule){0};
    dwarf_frame_info(frame, NULL, NULL, &rule->is_signal);
    if (!read_register(frame, registers->return_address, registers, &rule->return_place, &rule->return_offset)) {
        return false;
    }
    rule->is_outermost = rule->return_place == SN_UNWIND_UNKNOWN;
    if (rule->is_outermost) {
        return true;
    }
    if (!read_register(frame, registers->frame, registers, &rule->frame_place, &rule->frame_offset)) {
        rule->frame_place = SN_UNWIND_UNKNOWN;
    }
    return rule->return_place != SN_UNWIND_KEPT && read_frame_address(frame, registers, address, rule);
}

static bool find_in(Dwarf_CFI *information, uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule) {
    Dwarf_Frame *frame;
    if (information == NULL || dwarf_cfi_addrframe(information, address, &frame) != 0) {
        return false;
    }
    bool is_known = read_rule(frame, registers, address, rule);
    free(frame);
    return is_known;
}

bool sn_unwind_table_find(sn_unwind_table *table, uint64_t address, const sn_unwind_registers *registers, sn_unwind_rule *rule) {
    return find_in(table->exceptions, address, registers, rule) || find_in(debug_frames(table), address, registers, rule);
}
