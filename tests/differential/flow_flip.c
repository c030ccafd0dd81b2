/**
 * @fileoverview The proof of the data flow lists: every instruction form is run natively from random states, and again with
 * one bit of its input flipped. Where an output bit changes, its list must say that it may depend on that input.
 *
 *     flow-flip [--seed=N] [--trials=N] [--flips=N] [--mnemonic=NAME] [--deny]
 *
 * Each form is tried `trials` times with `flips` bits each. --deny takes the flows of each class in turn for constants, until
 * that is found out, and prints the classes where it is not: so the test is itself tested. Exit status: 0, 1 when a list was
 * wrong (said on stderr), 2 for bad arguments.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "flow_judge.h"
#include "instruction.h"
#include "layout.h"
#include "state.h"

enum {
    CODE_SIZE = 4096,
    STACK_POINTER = 4,
    COUNTER = 1,
    TRIES = 12, /* encodings that are drawn until one is usable */
    SHOWN_FAILURES = 60,
    FLAGS = 7,
    X87_TOP = 3, /* byte of the image: bits 3 to 5 */
};

/** Where flags are in the flags register, as sn_flow_flag numbers them. */
static const uint8_t flag_bits[FLAGS] = {0, 2, 4, 6, 7, 11, 10};

typedef struct arguments {
    uint64_t seed, trials, flips;
    const char *mnemonic;
    bool deny;
} arguments;

static sn_random random_state;
static uint8_t *writable;
static sn_judged judged;
static bool short_vectors; /* registers of the floating-point unit are numbered by themselves */
static unsigned denied = SN_FLOW_CLASSES; /* a class, or this for none */
static bool is_restoring;  /* of state: vectors and the floating-point stack are not compared */
static bool is_tangent;    /* pushes, but for arguments that are out of range */
static unsigned long runs, changes, failures, forms_run;

/** Everything that the run before the flip left. */
static sn_finish before_flip;
static uint8_t arenas_before[2][SN_ARENA_SIZE], stacks_before[2][SN_STACK_SIZE];

static const struct {
    uint64_t address, size;
    uint8_t *kept;
} memories[] = {
    {SN_LOW_ARENA, SN_ARENA_SIZE, arenas_before[0]}, {SN_HIGH_ARENA, SN_ARENA_SIZE, arenas_before[1]},
    {SN_LOW_STACK, SN_STACK_SIZE, stacks_before[0]}, {SN_HIGH_STACK, SN_STACK_SIZE, stacks_before[1]},
};
enum { MEMORIES = sizeof memories / sizeof memories[0] };

static uint8_t *at(uint64_t address) {
    return (uint8_t *)(uintptr_t)address;
}

static uint32_t below(uint32_t limit) {
    return sn_random_below(&random_state, limit);
}

/* ---------------------------------------------------------------- an instruction */

static void choose_start(sn_builder *builder) {
    sn_start *start = &builder->block.start;
    for (unsigned i = 0; i < 16; i++)
        start->registers[i] = sn_random_percent(&random_state, 25) ? sn_random_next(&random_state)
                                                                   : sn_random_value(&random_state);
    start->registers[STACK_POINTER] = SN_LOW_STACK + SN_STACK_SIZE / 2 + 8 * below(64);
    start->flags = (sn_random_next(&random_state) & 0x8d5) | 0x202 | (below(4) == 0 ? 0x400 : 0);
    start->entry = SN_LOW_CODE;
    start->seed = sn_random_next(&random_state);
}

/** The group of the block that is the instruction: what is around it prepares its operands. */
static bool find_instruction(const sn_builder *builder, const sn_form *form, unsigned *group, ZydisDecodedInstruction *decoded,
                             ZydisDecodedOperand *operands) {
    const sn_test_block *block = &builder->block;
    for (unsigned i = block->group_count; i-- > 0;) {
        ZydisDecoderContext context;
        *group = i;
        if (sn_form_decode(block->code + block->groups[i], block->length - block->groups[i], &context, decoded, operands) &&
            context.definition == form->definition)
            return true;
    }
    return false;
}

/** Run what prepares the instruction, so that its state is the one that runs start from, and put it into its place alone. */
static bool isolate(sn_builder *builder, unsigned group) {
    const sn_test_block *block = &builder->block;
    unsigned start = block->groups[group], end = group + 1 < block->group_count ? block->groups[group + 1] : block->length;
    uint8_t code[16];
    unsigned length = end - start;
    memcpy(code, block->code + start, length);
    builder->block.length = start;
    if (sn_builder_run(builder) != 0)
        return false;
    memcpy(builder->block.code + start, code, length);
    builder->block.length = end;
    sn_executor_continue(builder->block.start.entry + start);
    sn_builder_run(builder);
    return sn_decode(code, length, builder->block.start.entry + start, &judged.insn);
}

/** One repetition is what lists describe. */
static void settle_repetition(void) {
    if (judged.insn.repeated)
        sn_executor_start.registers[COUNTER] = 1;
}

/** Whether there was any. */
static bool deny_class(void) {
    bool found = false;
    for (int i = 0; i < judged.flow_count; i++) {
        if (judged.flows[i].kind != denied)
            continue;
        judged.flows[i].kind = SN_FLOW_CONSTANT;
        found = true;
    }
    return found;
}

/** Without a trap that comes late, a store of the floating-point stack always takes place. */
static void mask_exceptions(void) {
    enum { ALL_MASKS = 0x3f };
    sn_executor_image[0] |= ALL_MASKS;
}

static unsigned stack_top(const uint8_t *image) {
    return image[X87_TOP] >> 3 & 7;
}

static unsigned field_before(const sn_state_bit *bit);

static uint8_t flags_before(void) {
    uint8_t flags = 0;
    for (unsigned i = 0; i < FLAGS; i++)
        flags |= (uint8_t)((sn_executor_start.flags >> flag_bits[i] & 1) << i);
    return flags;
}

/** Constants are read where they are; other memory where the runs find it. */
static uint8_t byte_before(const sn_state_bit *bit) {
    if (bit->place == SN_PLACE_MEMORY)
        return sn_executor_initial(bit->address) ? *sn_executor_initial(bit->address) : *at(bit->address);
    if (bit->place == SN_PLACE_GENERAL)
        return (uint8_t)(sn_executor_start.registers[bit->reg] >> bit->bit / 8 * 8);
    return bit->place == SN_PLACE_FLAGS ? flags_before() : sn_executor_image[sn_state_offset(field_before(bit), bit->bit / 8)];
}

static bool has_short_vectors(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands) {
    for (unsigned i = 0; i < decoded->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_MMX)
            return true;
    return false;
}

/** Instructions that restore registers which no operand names, in places that the image itself says. */
static bool restores_state(const ZydisDecodedInstruction *decoded) {
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64: return true;
    default: return false;
    }
}

static bool make_instruction(sn_builder *builder, const sn_form *form) {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    unsigned group;
    memset(builder, 0, offsetof(sn_builder, block.code));
    builder->block.length = builder->block.group_count = builder->open_count = builder->forbidden = builder->depth = 0;
    builder->random.state = sn_random_next(&random_state);
    builder->writable = writable;
    choose_start(builder);
    memcpy(builder->registers, builder->block.start.registers, sizeof builder->registers);
    sn_executor_prepare(&builder->block.start);
    if (!sn_instruction_add(builder, form, SN_AIM_DATA) || !find_instruction(builder, form, &group, &decoded, operands) ||
        !isolate(builder, group) || !sn_judge_open(&judged, &decoded, operands))
        return false;
    judged.registers = sn_executor_start.registers;
    judged.byte_before = byte_before;
    short_vectors = has_short_vectors(&decoded, operands);
    is_restoring = restores_state(&decoded);
    is_tangent = decoded.mnemonic == ZYDIS_MNEMONIC_FPTAN || decoded.mnemonic == ZYDIS_MNEMONIC_FSINCOS;
    mask_exceptions();
    settle_repetition();
    for (unsigned i = 0; judged.has_indices && i < sizeof judged.indices; i++)
        judged.indices[i] = sn_executor_image[sn_state_offset(SN_FIELD_VECTOR + judged.index_register, i)];
    return true;
}

/* ---------------------------------------------------------------------- flipping */

/** Bits of a register of a place, 0 for none that can be flipped. */
static unsigned register_bits(uint8_t place) {
    switch (place) {
    case SN_PLACE_GENERAL:
    case SN_PLACE_MASK: return 64;
    case SN_PLACE_VECTOR: return 512;
    case SN_PLACE_X87: return 80;
    case SN_PLACE_FLAGS: return FLAGS;
    default: return 0;
    }
}

/** A number that says how far from its operand's address the instruction reaches: only flips that leave it nearby. */
static bool reaches_too_far(const sn_state_bit *bit) {
    enum { NEARBY_BITS = 6 };
    bool varies = false;
    for (unsigned i = 0; i < judged.operand_count; i++)
        varies |= judged.operands[i].place == SN_PLACE_MEMORY && judged.operands[i].size == 0 &&
                  judged.operands[i].role != SN_ROLE_ADDRESS;
    return varies && bit->place == SN_PLACE_GENERAL && bit->bit >= NEARBY_BITS;
}

/** Bits of the operand mostly, sometimes of the rest of its register. */
static bool choose_bit(sn_state_bit *bit) {
    uint8_t number = (uint8_t)below(judged.operand_count);
    const sn_operand *operand = &judged.operands[number];
    *bit = (sn_state_bit){.place = operand->place, .reg = operand->reg};
    unsigned bits = 8 * operand->size;
    if (operand->place == SN_PLACE_MEMORY) {
        unsigned element = judged.has_indices ? below(operand->element_count) : 0;
        if (operand->role == SN_ROLE_ADDRESS || bits == 0)
            return false;
        bit->address = sn_judge_address(&judged, operand, element) + below(judged.has_indices ? operand->element_size : operand->size);
        bit->bit = below(8);
        return sn_executor_initial(bit->address) != NULL;
    }
    if (sn_judge_is_address(&judged, operand->place, operand->reg) ||
        (judged.insn.repeated && operand->place == SN_PLACE_GENERAL && operand->reg == COUNTER))
        return false;
    unsigned most = register_bits(operand->place);
    if (most == 0)
        return false;
    bit->bit = bits == 0 || bits > most || operand->place == SN_PLACE_FLAGS || below(5) == 0 ? below(most) : below(bits);
    if (operand->place == SN_PLACE_FLAGS)
        bit->reg = SN_NO_REGISTER;
    return !reaches_too_far(bit);
}

static unsigned field_of(const sn_state_bit *bit) {
    static const uint8_t first[] = {[SN_PLACE_VECTOR] = SN_FIELD_VECTOR, [SN_PLACE_MASK] = SN_FIELD_MASK,
                                    [SN_PLACE_X87] = SN_FIELD_X87};
    return first[bit->place] + bit->reg;
}

/** The image has the floating-point stack in the order from its top. */
static unsigned field_before(const sn_state_bit *bit) {
    if (bit->place == SN_PLACE_X87 && short_vectors)
        return SN_FIELD_X87 + ((bit->reg - stack_top(sn_executor_image)) & 7);
    return field_of(bit);
}

static void flip(const sn_state_bit *bit) {
    switch (bit->place) {
    case SN_PLACE_MEMORY: *sn_executor_initial(bit->address) ^= (uint8_t)(1 << bit->bit); break;
    case SN_PLACE_GENERAL: sn_executor_start.registers[bit->reg] ^= UINT64_C(1) << bit->bit; break;
    case SN_PLACE_FLAGS: sn_executor_start.flags ^= UINT64_C(1) << flag_bits[bit->bit]; break;
    default: sn_executor_image[sn_state_offset(field_before(bit), bit->bit / 8)] ^= (uint8_t)(1 << bit->bit % 8); break;
    }
}

/* --------------------------------------------------------------------- comparing */

static void complain(const sn_state_bit *before, const sn_state_bit *after) {
    static const char *const places[] = {"memory", "general", "vector", "mask", "flags", "x87", "immediate", "control"};
    if (failures++ >= SHOWN_FAILURES || denied != SN_FLOW_CLASSES)
        return;
    fprintf(stderr, "%s %u %llx bit %u changes %s %u %llx bit %u: ", places[before->place], before->reg,
            (unsigned long long)before->address, before->bit, places[after->place], after->reg,
            (unsigned long long)after->address, after->bit);
    sn_judge_print(&judged, stderr);
}

/** One complaint for a flip is enough. */
static bool judge(const sn_state_bit *before, const sn_state_bit *after) {
    changes++;
    if (sn_judge_may_depend(&judged, before, after))
        return true;
    complain(before, after);
    return false;
}

static bool judge_word(const sn_state_bit *before, sn_state_bit after, unsigned first, uint64_t different) {
    for (; different; different &= different - 1) {
        after.bit = first + (unsigned)__builtin_ctzll(different);
        if (!judge(before, &after))
            return false;
    }
    return true;
}

static bool compare_general(const sn_state_bit *before) {
    for (uint8_t i = 0; i < 16; i++) {
        sn_state_bit after = {.place = SN_PLACE_GENERAL, .reg = i};
        if (!judge_word(before, after, 0, sn_executor_finish.registers[i] ^ before_flip.registers[i]))
            return false;
    }
    uint64_t flags = sn_executor_finish.flags ^ before_flip.flags, different = 0;
    for (unsigned i = 0; i < FLAGS; i++)
        different |= (flags >> flag_bits[i] & 1) << i;
    return judge_word(before, (sn_state_bit){.place = SN_PLACE_FLAGS, .reg = SN_NO_REGISTER}, 0, different);
}

static bool compare_field(const sn_state_bit *before, uint8_t place, uint8_t reg, unsigned size) {
    sn_state_bit after = {.place = place, .reg = reg};
    for (unsigned i = 0; i < size; i++) {
        size_t offset = sn_state_offset(field_of(&after), i);
        uint8_t different = sn_executor_finish.extended[offset] ^ before_flip.extended[offset];
        if (different && !judge_word(before, after, 8 * i, different))
            return false;
    }
    return true;
}

/** Each register by its number as the judge has it. */
static bool compare_stack(const sn_state_bit *before) {
    unsigned top = stack_top(sn_executor_finish.extended), top_before = stack_top(sn_executor_image);
    if (top != stack_top(before_flip.extended) || (is_tangent && top == top_before))
        return true;
    judged.pushes = !short_vectors && top == ((top_before - 1) & 7);
    for (unsigned i = 0; i < 8; i++) {
        unsigned physical = (top + i) & 7, number = short_vectors ? physical : (physical - top_before) & 7;
        sn_state_bit after = {.place = SN_PLACE_X87, .reg = (uint8_t)number};
        for (unsigned k = 0; k < 10; k++) {
            size_t offset = sn_state_offset(SN_FIELD_X87 + i, k);
            uint8_t different = sn_executor_finish.extended[offset] ^ before_flip.extended[offset];
            if (different && !judge_word(before, after, 8 * k, different))
                return false;
        }
    }
    return true;
}

static bool compare_extended(const sn_state_bit *before) {
    if (is_restoring)
        return true;
    if (!compare_stack(before))
        return false;
    for (uint8_t i = 0; i < 32; i++)
        if (!compare_field(before, SN_PLACE_VECTOR, i, 64))
            return false;
    for (uint8_t i = 0; i < 8; i++)
        if (!compare_field(before, SN_PLACE_MASK, i, 8))
            return false;
    return true;
}

static bool compare_memory(const sn_state_bit *before) {
    for (unsigned i = 0; i < MEMORIES; i++) {
        const uint8_t *now = at(memories[i].address);
        if (memcmp(now, memories[i].kept, memories[i].size) == 0)
            continue;
        for (uint64_t k = 0; k < memories[i].size; k++) {
            sn_state_bit after = {.place = SN_PLACE_MEMORY, .reg = SN_NO_REGISTER, .address = memories[i].address + k};
            uint8_t different = now[k] ^ memories[i].kept[k];
            if (different && !judge_word(before, after, 0, different))
                return false;
        }
    }
    return true;
}

static void keep_result(void) {
    before_flip = sn_executor_finish;
    for (unsigned i = 0; i < MEMORIES; i++)
        memcpy(memories[i].kept, at(memories[i].address), memories[i].size);
}

/** False when a list was wrong. */
static bool try_flip(void) {
    sn_state_bit bit;
    if (!choose_bit(&bit))
        return true;
    if (bit.place == SN_PLACE_MEMORY)
        bit.reg = SN_NO_REGISTER;
    flip(&bit);
    sn_executor_run();
    flip(&bit);
    runs++;
    return sn_executor_finish.signal != 0 || (compare_general(&bit) && compare_extended(&bit) && compare_memory(&bit));
}

/* --------------------------------------------------------------------------- all */

/** False when the form does not run here. */
static bool try_form(sn_builder *builder, const sn_form *form, uint64_t flips) {
    for (unsigned i = 0; i < TRIES; i++) {
        if (!make_instruction(builder, form))
            continue;
        if (denied != SN_FLOW_CLASSES && !deny_class())
            return false;
        sn_executor_run();
        if (sn_executor_finish.signal == SIGILL)
            return false;
        if (sn_executor_finish.signal)
            continue;
        keep_result();
        for (uint64_t k = 0; k < flips; k++)
            if (!try_flip())
                break;
        return true;
    }
    return false;
}

static void run_all(const arguments *given, sn_builder *builder) {
    for (size_t i = 0; i < sn_forms_count(); i++) {
        const sn_form *form = &sn_forms()[i];
        if (form->policy != SN_FORM_RANDOM)
            continue;
        if (given->mnemonic && strcmp(ZydisMnemonicGetString(form->mnemonic), given->mnemonic) != 0)
            continue;
        uint64_t trial = 0;
        while (trial < given->trials && try_form(builder, form, given->flips))
            trial++;
        forms_run += trial != 0;
        if (failures && denied != SN_FLOW_CLASSES)
            return;
    }
}

/** Every class whose loss shows nowhere, for which there is a reason only where nothing is lost. */
static void deny_each(const arguments *given, sn_builder *builder) {
    for (denied = 0; denied < SN_FLOW_CLASSES; denied++) {
        failures = 0;
        random_state.state = given->seed;
        if (denied == SN_FLOW_CONSTANT || denied == SN_FLOW_UNDEFINED)
            continue;
        run_all(given, builder);
        if (!failures)
            printf("%s\n", sn_flow_class_name(denied));
    }
    failures = 0;
}

static int fail(const char *what, const char *why) {
    fprintf(stderr, "flow-flip: %s: %s\n", what, why);
    return 2;
}

static bool read_argument(const char *text, arguments *given) {
    if (strncmp(text, "--mnemonic=", 11) == 0) {
        given->mnemonic = text + 11;
        return true;
    }
    if (strcmp(text, "--deny") == 0)
        return given->deny = true;
    return read_number(text, "--seed=", &given->seed) || read_number(text, "--trials=", &given->trials) ||
           read_number(text, "--flips=", &given->flips);
}

static bool map_code(void) {
    int file = memfd_create("instructions", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, CODE_SIZE) != 0)
        return false;
    void *wanted = at(SN_LOW_CODE);
    writable = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return writable != MAP_FAILED &&
           mmap(wanted, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) == wanted;
}

int main(int count, char **texts) {
    arguments given = {.seed = 1, .trials = 3, .flips = 12};
    for (int i = 1; i < count; i++)
        if (!read_argument(texts[i], &given))
            return fail(texts[i], "unknown or unusable argument");
    sn_builder *builder = calloc(1, sizeof *builder);
    if (!builder || sn_forms_open() == 0)
        return fail("start", "out of memory");
    if (!sn_executor_open() || !map_code())
        return fail("start", strerror(errno));
    random_state.state = given.seed;
    if (given.deny)
        deny_each(&given, builder);
    else
        run_all(&given, builder);
    printf("%lu forms, %lu flips, %lu changed bits, %lu failures\n", forms_run, runs, changes, failures);
    free(builder);
    return failures ? 1 : 0;
}
