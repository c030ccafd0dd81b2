/**
 * @fileoverview A tool for tests that has inserted code calculate with the values of the program's registers, and calculates
 * the same in C: what differs is counted. A row of the table is one operation with one kind of second value.
 */
#include <sonde/tool.h>

enum { BRANCH = 16 };   /* added to a condition, in place of an operator */
enum { GIVEN_BY_BRANCH = 7 };
enum { OPERATIONS_A_PLACE = 2 };

typedef struct row {
    uint8_t how;         /**< sn_operator, or BRANCH + sn_condition */
    bool is_constant;    /**< the second value is `constant`, else a register's */
    bool from_constant;  /**< the first one is `first` */
    uint64_t constant, first;
} row;

#define BY_VALUE(how) {how, false, false, 0, 0}
#define BY(how, constant) {how, true, false, constant, 0}
#define OF(how, first) {how, false, true, 0, first}
#define TWICE(how, constant) {how, true, true, constant, constant}
#define LARGE UINT64_C(0x123456789abcdef0)

static const row rows[] = {
    BY_VALUE(SN_ADD), BY(SN_ADD, 5), BY(SN_ADD, LARGE), BY(SN_ADD, -UINT64_C(9)),
    BY_VALUE(SN_SUBTRACT), BY(SN_SUBTRACT, 5), BY(SN_SUBTRACT, LARGE), BY(SN_SUBTRACT, -UINT64_C(0x80000000)),
    OF(SN_SUBTRACT, 77), OF(SN_SUBTRACT, LARGE),
    BY_VALUE(SN_MULTIPLY), BY(SN_MULTIPLY, 12), BY_VALUE(SN_OR), BY(SN_OR, LARGE), BY_VALUE(SN_XOR), BY(SN_XOR, 3),
    BY_VALUE(SN_AND), BY(SN_AND, 0), BY(SN_AND, 1), BY(SN_AND, 0xff), BY(SN_AND, 0xffff), BY(SN_AND, 0xffffffff),
    BY(SN_AND, 0x7fffffffffffffff), BY(SN_AND, -UINT64_C(64)), BY(SN_AND, UINT64_MAX), BY(SN_AND, 0xfc0), BY(SN_AND, 0xff00),
    BY(SN_AND, 0x5555), BY(SN_AND, LARGE), BY(SN_AND, UINT64_C(1) << 63), OF(SN_AND, 0xf0f0),
    BY_VALUE(SN_SHIFT_LEFT), BY(SN_SHIFT_LEFT, 0), BY(SN_SHIFT_LEFT, 6), BY(SN_SHIFT_LEFT, 63), BY(SN_SHIFT_LEFT, 70),
    BY_VALUE(SN_SHIFT_RIGHT), BY(SN_SHIFT_RIGHT, 1), BY(SN_SHIFT_RIGHT, 12), BY(SN_SHIFT_RIGHT, 64), OF(SN_SHIFT_RIGHT, LARGE),
    BY_VALUE(SN_SHIFT_RIGHT_SIGNED), BY(SN_SHIFT_RIGHT_SIGNED, 3), BY(SN_SHIFT_RIGHT_SIGNED, 63), OF(SN_SHIFT_LEFT, 3),
    BY_VALUE(BRANCH + SN_EQUAL), BY(BRANCH + SN_EQUAL, 0), BY(BRANCH + SN_EQUAL, 64), BY(BRANCH + SN_EQUAL, LARGE),
    BY_VALUE(BRANCH + SN_NOT_EQUAL), BY(BRANCH + SN_NOT_EQUAL, 0), BY(BRANCH + SN_NOT_EQUAL, -UINT64_C(0x80000000)),
    OF(BRANCH + SN_EQUAL, 1), OF(BRANCH + SN_NOT_EQUAL, 1), BY_VALUE(BRANCH + SN_BELOW), BY(BRANCH + SN_AT_LEAST, 100),
    BY_VALUE(BRANCH + SN_LESS), BY(BRANCH + SN_NOT_LESS, 0),
    TWICE(SN_XOR, LARGE), TWICE(SN_SUBTRACT, LARGE), TWICE(SN_SHIFT_RIGHT, 9), TWICE(SN_AND, LARGE), TWICE(BRANCH + SN_EQUAL, LARGE),
};
#define ROWS (sizeof rows / sizeof *rows)

typedef struct record {
    uint64_t a, b, result, row;
} record;

static sn_trace *trace;
static sn_slot before;
static uint64_t calculated, wrong, seen[ROWS], next_row;

static bool is_met(unsigned condition, uint64_t a, uint64_t b) {
    switch (condition) {
    case SN_EQUAL: return a == b;
    case SN_NOT_EQUAL: return a != b;
    case SN_BELOW: return a < b;
    case SN_AT_LEAST: return a >= b;
    case SN_LESS: return (int64_t)a < (int64_t)b;
    default: return (int64_t)a >= (int64_t)b;
    }
}

static uint64_t expected(unsigned how, uint64_t a, uint64_t b) {
    if (how >= BRANCH) return is_met(how - BRANCH, a, b) ? a : GIVEN_BY_BRANCH;
    switch (how) {
    case SN_ADD: return a + b;
    case SN_SUBTRACT: return a - b;
    case SN_MULTIPLY: return a * b;
    case SN_AND: return a & b;
    case SN_OR: return a | b;
    case SN_XOR: return a ^ b;
    case SN_SHIFT_LEFT: return a << (b & 63);
    case SN_SHIFT_RIGHT: return a >> (b & 63);
    default: return (uint64_t)((int64_t)a >> (b & 63));
    }
}

static void batch(const sn_batch *batch) {
    const record *records = batch->records;
    for (size_t i = 0; i < batch->count; i++) {
        bool right = records[i].result == expected(rows[records[i].row].how, records[i].a, records[i].b);
        calculated++;
        seen[records[i].row]++;
        if (!right && wrong++ < 10)
            sn_message("row %u: %#lx, %#lx -> %#lx", (unsigned)records[i].row, (unsigned long)records[i].a,
                       (unsigned long)records[i].b, (unsigned long)records[i].result);
    }
}

static void start(void) {
    trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(record), .batch = batch});
    before = sn_slot_new();
}

/** A branch passes over an assignment. */
static sn_value insert_branch(sn_block *block, unsigned condition, sn_value a, sn_value b) {
    sn_value result = sn_compute(block, SN_ADD, a, sn_constant(block, 0));
    sn_label label = sn_label_new(block);
    sn_branch_if(block, condition, a, b, label);
    sn_assign(block, result, sn_constant(block, GIVEN_BY_BRANCH));
    sn_label_here(block, label);
    return result;
}

static void insert_row(sn_block *block, uint64_t number, sn_value x, sn_value y) {
    const row *row = &rows[number];
    sn_value a = row->from_constant ? sn_constant(block, row->first) : x;
    sn_value b = !row->is_constant ? y : row->from_constant ? a : sn_constant(block, row->constant);
    sn_value result = row->how >= BRANCH ? insert_branch(block, row->how - BRANCH, a, b)
                                         : sn_compute(block, (sn_operator)row->how, a, b);
    sn_trace_append(block, trace, 4, (sn_field[]){{.offset = 0, .size = 8, .value = a}, {.offset = 8, .size = 8, .value = b},
                                                  {.offset = 16, .size = 8, .value = result},
                                                  {.offset = 24, .size = 8, .value = sn_constant(block, number)}});
}

/** A register that the instruction reads, and the one of the place before. */
static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        unsigned count, found = 0;
        const sn_operand *operands = sn_block_operands(block, i, &count);
        while (found < count && !(operands[found].place == SN_PLACE_GENERAL && sn_operand_is_readable(&operands[found]))) found++;
        if (found == count) continue;
        sn_insert_before(block, i);
        sn_value x = sn_operand_value(block, found), y = sn_slot_load(block, before);
        for (unsigned n = 0; n < OPERATIONS_A_PLACE; n++) insert_row(block, next_row++ % ROWS, x, y);
        sn_slot_store(block, before, x);
    }
}

static void end(void) {
    unsigned unseen = 0;
    for (unsigned i = 0; i < ROWS; i++) unseen += !seen[i];
    fprintf(sn_output(), "calculated: %lu, wrong: %lu, rows unseen: %u\n", (unsigned long)calculated, (unsigned long)wrong, unseen);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "arithmetic", .version = "1", .description = "calculates twice",
    .start = start, .instrument = instrument, .end = end,
};
