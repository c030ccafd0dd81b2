/**
 * @fileoverview Prints the classes of data flow of every mnemonic that the decoding library knows, a line each, in the order of
 * the alphabet: what tests/flow_classes.txt keeps, so that a change of the tables shows.
 *
 *     MNEMONIC: PLACE<-CLASS[/LANE[/SOURCE LANE]][?GUARD] ...
 *
 * One instruction of every form is looked at, with registers that differ. "nothing" is what writes nothing that has a
 * shadow, "not in this mode" what has no form in 64-bit mode.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"
#include "isa/isa.h"

enum { MOST_NOTES = 64, NOTE_BYTES = 64, MOST_OPERANDS = 16 };

typedef struct mnemonic_notes {
    ZydisMnemonic mnemonic;
    bool known;
    unsigned count;
    char notes[MOST_NOTES][NOTE_BYTES];
} mnemonic_notes;

static mnemonic_notes all[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static void note(mnemonic_notes *notes, const char *text) {
    for (unsigned i = 0; i < notes->count; i++)
        if (strcmp(notes->notes[i], text) == 0)
            return;
    if (notes->count == MOST_NOTES) {
        fprintf(stderr, "flow-classes: more than %d kinds of flows\n", MOST_NOTES);
        exit(1);
    }
    snprintf(notes->notes[notes->count++], NOTE_BYTES, "%s", text);
}

static void describe(const sn_flow *flow, const sn_operand *operands, char text[NOTE_BYTES]) {
    static const char *const places[] = {"memory", "general", "vector", "mask", "flags", "x87", "immediate", "control"};
    static const char *const guards[] = {"", "?mask", "?high-bits", "?condition", "?count", "?not-zero"};
    const char *place = flow->destination.part == SN_PART_VECTOR ? "vector" : places[operands[flow->destination.operand].place];
    int length = snprintf(text, NOTE_BYTES, "%s<-%s", place, sn_flow_class_name(flow->kind));
    if (flow->lane_size)
        length += snprintf(text + length, NOTE_BYTES - (size_t)length, "/%u", flow->lane_size);
    if (flow->source_lane_size && flow->source_lane_size != flow->lane_size)
        length += snprintf(text + length, NOTE_BYTES - (size_t)length, "/%u", flow->source_lane_size);
    snprintf(text + length, NOTE_BYTES - (size_t)length, "%s", guards[flow->guard.kind]);
}

/** Registers that are not the same, and write masks where there can be some. */
static bool encode(const sn_form *form, unsigned attempt, uint8_t code[40]) {
    ZydisDecoderContext context;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    unsigned reg = attempt & 7, rm = attempt >> 3 & 7;
    sn_encoding fields = {.mask = form->maskable && !(attempt & 64), .source = attempt & 128 ? 0 : 6};
    if (!(form->register_values >> reg & 1) || (!form->memory && !(form->operand_values >> rm & 1)))
        return false;
    fields.modrm = (uint8_t)((form->memory ? 0x40 : 0xc0) | reg << 3 | rm);
    if (form->memory) {
        fields.modrm = (uint8_t)(0x40 | reg << 3 | (form->indexed ? 4 : 3));
        fields.has_sib = form->indexed;
        fields.sib = 0x28; /* base 0, index 5 */
    }
    memset(fields.tail, 1, sizeof fields.tail);
    memset(code, 0, 40);
    sn_form_encode(form, &fields, code);
    return sn_form_decode(code, 40, &context, &decoded, operands) && sn_form_of(&context, &decoded) == form;
}

static void look_at(const sn_form *form) {
    enum { FIRST = 0x11, ATTEMPTS = 256 };
    uint8_t code[40];
    sn_insn insn;
    sn_operand operands[MOST_OPERANDS];
    sn_flow flows[SN_FLOW_MOST];
    mnemonic_notes *notes = &all[form->mnemonic];
    char text[NOTE_BYTES];
    unsigned attempt = 0;
    notes->known = true;
    while (attempt < ATTEMPTS && !encode(form, (FIRST + attempt) % ATTEMPTS, code))
        attempt++;
    if (attempt == ATTEMPTS || !sn_decode(code, sizeof code, 0, &insn))
        return;
    int count = sn_operands(&insn, operands, MOST_OPERANDS);
    int flow_count = count < 0 ? -1 : sn_flows(&insn, operands, (unsigned)count, flows, SN_FLOW_MOST);
    if (flow_count < 0)
        note(notes, "unknown");
    if (flow_count == 0)
        note(notes, "nothing");
    for (int i = 0; i < flow_count; i++) {
        describe(&flows[i], operands, text);
        note(notes, text);
    }
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static int by_name(const void *a, const void *b) {
    return strcmp(ZydisMnemonicGetString(((const mnemonic_notes *)a)->mnemonic),
                  ZydisMnemonicGetString(((const mnemonic_notes *)b)->mnemonic));
}

static void print(mnemonic_notes *notes) {
    qsort(notes->notes, notes->count, NOTE_BYTES, by_text);
    printf("%s:", ZydisMnemonicGetString(notes->mnemonic));
    for (unsigned i = 0; i < notes->count; i++)
        printf(" %s", notes->notes[i]);
    puts(!notes->known ? " not in this mode" : notes->count ? "" : " no form");
}

int main(void) {
    if (sn_forms_open() == 0)
        return 1;
    for (unsigned i = 0; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++)
        all[i].mnemonic = (ZydisMnemonic)i;
    for (size_t i = 0; i < sn_forms_count(); i++)
        look_at(&sn_forms()[i]);
    qsort(all + 1, ZYDIS_MNEMONIC_MAX_VALUE, sizeof all[0], by_name);
    for (unsigned i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++)
        print(&all[i]);
    return 0;
}
