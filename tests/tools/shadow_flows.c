/**
 * @fileoverview A tool under which nothing is clean: all memory has a shadow that is not zero when it comes, so that the shadows of
 * all instructions are worked out in C, and checks find something at each branch and address. Programs must not notice.
 */
#include <inttypes.h>
#include <sonde/shadow.h>

static sn_shadow_rules rules = {.watches_branches = true};
static int kind;
static uint64_t findings;

static SN_FAST void found(sn_thread *thread, uint64_t data, uint64_t shadow, sn_context context) {
    (void)thread, (void)data, (void)context;
    if (shadow) __atomic_fetch_add(&findings, 1, __ATOMIC_RELAXED);
}

static const sn_shadow_check a_check = {.found = found};

static bool check(sn_block *block, unsigned index) {
    unsigned count;
    bool any = false;
    sn_insert_before(block, index);
    if (sn_block_instruction(block, index)->kind == SN_KIND_CONDITIONAL) {
        sn_shadow_check_value(block, sn_shadow_of_flags(block, sn_block_flags_read(block, index)), &a_check);
        return true;
    }
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].place != SN_PLACE_MEMORY || operands[i].base == SN_NO_REGISTER) continue;
        sn_shadow_check_value(block, sn_shadow_of_register(block, operands[i].base), &a_check);
        any = true;
    }
    return any;
}

static void start(void) {
    rules.kind = kind ? SN_SHADOW_LABELS : SN_SHADOW_BITS;
    rules.memory = sn_shadow_memory_new(8);
    rules.check = check;
    sn_shadow_follow(&rules);
}

static void memory_mapped(const sn_memory_range *range) {
    uint64_t size = range->end - range->start, most = UINT64_C(1) << 24;
    if (!sn_shadow_covers(range->start, size)) return;
    sn_shadow_fill(rules.memory, range->end - (size < most ? size : most), size < most ? size : most, 0x55);
}

static void end(void) { fprintf(sn_output(), "some findings %d\n", findings > 0); }

static const sn_option options[] = {
    {"kind", SN_OPTION_CHOICE, &kind, "bits", "bits|labels", "what the shadows are"},
    {0},
};

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "shadow_flows", .version = "1", .description = "tests shadows where nothing is clean",
    .options = options, .start = start, .instrument = sn_shadow_instrument, .memory_mapped = memory_mapped, .end = end,
};
