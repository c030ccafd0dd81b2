/**
 * @fileoverview Functions of code without symbols, found by the flow of control. See pieces.h.
 *
 * From each entry, what is reached by falling through, by direct jumps, and behind calls is the function's, up to the entries of
 * others; so is what a function with a symbol jumps to, if it is no entry. What only an indirect jump leads to, the cases of a
 * switch for example, goes with what lies around it; if that is of two functions, to the one in which the block was first reached.
 */
#include "pieces.h"

#include <stdint.h>

#include <sonde/collections.h>
#include <sonde/sorted.h>
#include <sonde/tool.h>

#include "functions.h"
#include "record.h"

/** An executed instruction in code without symbols. */
typedef struct node {
    uint64_t address;
    uint64_t target;                /**< of a direct jump; else 0 */
    uint64_t reached_in;            /**< of a block's first one: the function in which it was made; 0: unknown */
    const calls_function *function; /**< NULL: not known yet */
    bool falls_through, is_entry;
} node;
static SN_VECTOR(node) nodes;

/** Nodes whose successors were not visited yet, by number. */
static SN_VECTOR(size_t) open;

/** An instruction that lies further behind another one is no continuation: no instruction is longer. */
enum { LONGEST_INSTRUCTION = 15 };

static void add_nodes(const calls_record *record) {
    for (uint32_t i = 0; i < record->instruction_count; i++) {
        const calls_instruction *instruction = &record->instructions[i];
        if (calls_place_of(instruction->address).function->has_symbol) {
            continue;
        }
        bool jumps = (instruction->shape & CALLS_JUMP) != 0;
        bool goes_on = !jumps || (instruction->shape & CALLS_CONDITIONAL) != 0;
        *sn_vector_add(&nodes) = (node){
            .address = instruction->address,
            .target = jumps ? instruction->target : 0,
            .reached_in = i == 0 && record->stub_size == 0 ? record->reached_in : 0,
            .falls_through = goes_on && (instruction->shape & CALLS_LEAVES) == 0,
        };
    }
}

/** One node an address: of several that which knows where it was reached. */
static void merge_nodes(void) {
    size_t count = 0;
    sn_sorted_sort(&nodes, address);
    for (size_t i = 0; i < nodes.count; i++) {
        if (count == 0 || nodes.items[count - 1].address != nodes.items[i].address) {
            nodes.items[count++] = nodes.items[i];
        } else if (nodes.items[count - 1].reached_in == 0) {
            nodes.items[count - 1].reached_in = nodes.items[i].reached_in;
        }
    }
    nodes.count = count;
}

static void give(node *node, const calls_function *function) {
    if (node != NULL && node->function == NULL) {
        node->function = function;
        *sn_vector_add(&open) = (size_t)(node - nodes.items);
    }
}

static bool is_continued(size_t index) {
    return index + 1 < nodes.count && nodes.items[index + 1].address - nodes.items[index].address <= LONGEST_INSTRUCTION;
}

/** From the open nodes as far as it goes. */
static void follow(void) {
    while (open.count > 0) {
        size_t index = open.items[--open.count];
        const node *from = &nodes.items[index];
        if (from->falls_through && is_continued(index)) {
            give(&nodes.items[index + 1], from->function);
        }
        if (from->target != 0) {
            give(sn_sorted_find(&nodes, address, from->target), from->function);
        }
    }
}

/** Entries belong to themselves, whatever jumps to them. */
static void follow_entries(void) {
    for (size_t i = 0; i < nodes.count; i++) {
        nodes.items[i].is_entry = calls_functions_is_entry(nodes.items[i].address);
        if (nodes.items[i].is_entry) {
            give(&nodes.items[i], calls_place_of(nodes.items[i].address).function);
        }
    }
    follow();
}

static void follow_symbols(void) {
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        for (uint32_t i = 0; i < record->instruction_count; i++) {
            const calls_instruction *instruction = &record->instructions[i];
            const calls_function *function =
                instruction->shape & CALLS_JUMP ? calls_place_of(instruction->address).function : NULL;
            if (function != NULL && function->has_symbol) {
                give(sn_sorted_find(&nodes, address, instruction->target), function);
            }
        }
    }
    follow();
}

/** The function of a node between others: `next` is the one behind it whose function is known, or NULL. */
static const calls_function *guess(const node *node, const calls_function *before, const calls_function *next) {
    const calls_function *reached = node->reached_in != 0 ? calls_place_of(node->reached_in).function : NULL;
    return (before != NULL && before == next) || reached == NULL ? before : reached;
}

/** Those first of which it is known where they were reached: the others may follow from them. */
static void follow_rest(bool only_reached) {
    for (size_t i = 0, next = 0; i < nodes.count; i++) {
        if (nodes.items[i].function != NULL || (only_reached && nodes.items[i].reached_in == 0)) {
            continue;
        }
        while (next < nodes.count && (next <= i || nodes.items[next].function == NULL)) {
            next++;
        }
        give(&nodes.items[i], guess(&nodes.items[i], i > 0 ? nodes.items[i - 1].function : NULL,
                                    next < nodes.count ? nodes.items[next].function : NULL));
        follow();
    }
}

void calls_pieces_find(void) {
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        add_nodes(record);
    }
    merge_nodes();
    follow_entries();
    follow_symbols();
    follow_rest(true);
    follow_rest(false);
    const calls_function *last = NULL;
    for (size_t i = 0; i < nodes.count; i++) {
        const node *node = &nodes.items[i];
        bool begins = i == 0 || node->function != last || !is_continued(i - 1);
        if (begins && !node->is_entry && node->function != NULL) {
            calls_functions_add_piece(node->address, node->function);
        }
        last = node->function;
    }
    calls_functions_learned();
    sn_vector_release(&nodes);
    sn_vector_release(&open);
}
