/* @fileoverview A tool: every load and store of the program, in the order of each thread. docs/writing-a-tool.md explains it.
 *     cc -O2 -shared -fPIC $(pkg-config --cflags sonde) -o memory.so memory.c
 *     sonde ./memory.so --output=accesses PROGRAM
 */
#include <inttypes.h>
#include <sonde/tool.h>
#include <stdint.h>

typedef struct record {
    uint64_t address;
    uint32_t size;
    uint32_t role; /* SN_ROLE_READ, SN_ROLE_WRITTEN, or both */
} record;

static sn_trace *trace;

/* A full buffer of one thread. Each line is one call: lines of several threads do not mix. */
static void print(const sn_batch *batch) {
    static const char letters[] = {'?', 'L', 'S', 'M'};
    const record *records = batch->records;
    for (size_t i = 0; i < batch->count; i++)
        fprintf(sn_output(), "%d %c %#" PRIx64 ",%u\n", batch->thread, letters[records[i].role & 3], records[i].address,
                (unsigned)records[i].size);
}

static void start(void) {
    trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(record), .batch = print});
}

/* Of instructions that decide only when they run: repeated, masked, gathering, saving state. */
static void varying(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    (void)data;
    for (size_t i = 0; i < count; i++) {
        record made = {accesses[i].address, accesses[i].size, accesses[i].role};
        sn_trace_write(thread, trace, &made);
    }
}

static void add_record(sn_block *block, unsigned operand, uint32_t size, uint32_t role) {
    sn_field fields[] = {
        {.offset = offsetof(record, address), .size = 8, .value = sn_operand_address(block, operand)},
        /* both words by one store */
        {.offset = offsetof(record, size), .size = 8, .value = sn_constant(block, size | (uint64_t)role << 32)},
    };
    sn_trace_append(block, trace, 2, fields);
}

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        unsigned count;
        const sn_operand *operands = sn_block_operands(block, i, &count);
        if (sn_block_instruction(block, i)->accesses_vary) {
            sn_insert_accesses(block, i, varying, NULL);
            continue;
        }
        sn_insert_before(block, i);
        for (unsigned role = SN_ROLE_READ; role <= SN_ROLE_BOTH; role++) /* loads before stores */
            for (unsigned n = 0; n < count; n++)
                if (operands[n].place == SN_PLACE_MEMORY && operands[n].role == role && operands[n].size)
                    add_record(block, n, operands[n].size, role);
    }
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "memory", .version = "1", .description = "print every access to memory",
    .start = start, .instrument = instrument,
};
