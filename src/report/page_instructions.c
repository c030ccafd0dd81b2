/**
 * @fileoverview Instructions and jumps in a page. See page_instructions.h.
 */
#include "report/page_instructions.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------- order */

static int compare_instructions(const sn_call_instruction *a, const sn_call_instruction *b) {
    if (a->file != b->file) {
        return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
    }
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    return (a->address > b->address) - (a->address < b->address);
}

static int by_instruction(const void *left, const void *right, void *data) {
    const sn_call_profile *profile = data;
    const sn_call_instruction *items = profile->instructions.items;
    return compare_instructions(&items[*(const uint32_t *)left], &items[*(const uint32_t *)right]);
}

static int by_jump(const void *left, const void *right, void *data) {
    const sn_call_profile *profile = data;
    const sn_call_address_jump *a = &profile->address_jumps.items[*(const uint32_t *)left];
    const sn_call_address_jump *b = &profile->address_jumps.items[*(const uint32_t *)right];
    int order = compare_instructions(&a->from, &b->from);
    return order != 0 ? order : (a->to > b->to) - (a->to < b->to);
}

void sn_page_instructions_collect(sn_page_instructions *all, const sn_call_profile *profile) {
    void *data = (void *)(uintptr_t)profile;
    all->profile = profile;
    for (uint32_t i = 0; i < profile->instructions.count; i++) {
        *sn_vector_add(&all->instructions) = i;
    }
    for (uint32_t i = 0; i < profile->address_jumps.count; i++) {
        *sn_vector_add(&all->jumps) = i;
    }
    if (all->instructions.count > 0) {
        qsort_r(all->instructions.items, all->instructions.count, sizeof *all->instructions.items, by_instruction, data);
    }
    if (all->jumps.count > 0) {
        qsort_r(all->jumps.items, all->jumps.count, sizeof *all->jumps.items, by_jump, data);
    }
    for (size_t i = all->instructions.count; i > 0; i--) {
        const sn_call_instruction *instruction = &profile->instructions.items[all->instructions.items[i - 1]];
        sn_hash_set(&all->first_instruction, (uintptr_t)instruction->file, i - 1);
    }
    for (size_t i = all->jumps.count; i > 0; i--) {
        sn_hash_set(&all->first_jump, (uintptr_t)profile->address_jumps.items[all->jumps.items[i - 1]].from.file, i - 1);
    }
}

void sn_page_instructions_release(sn_page_instructions *all) {
    sn_vector_release(&all->instructions);
    sn_vector_release(&all->jumps);
    sn_hash_release(&all->first_instruction);
    sn_hash_release(&all->first_jump);
}

/* -------------------------------------------------------------------------------- writing */

typedef SN_VECTOR(uint32_t) chosen_list;

static void write_instructions(const sn_page_instructions *all, const chosen_list *chosen, sn_json *json) {
    sn_page_list lines = sn_page_list_begin(), addresses = sn_page_list_begin();
    for (size_t i = 0; i < chosen->count; i++) {
        const sn_call_instruction *instruction = &all->profile->instructions.items[chosen->items[i]];
        sn_page_list_add(&lines, instruction->line);
        sn_page_list_add(&addresses, (int64_t)instruction->address);
    }
    sn_json_object(json, "instructions");
    sn_page_list_write(&lines, json, "lines");
    sn_page_list_write(&addresses, json, "addresses");
    sn_json_array(json, "self");
    for (unsigned event = 0; event < all->profile->lines.event_count; event++) {
        sn_page_list costs = sn_page_list_begin();
        for (size_t i = 0; i < chosen->count; i++) {
            sn_page_list_add(&costs, sn_call_profile_instruction_costs(all->profile, chosen->items[i])[event]);
        }
        sn_page_list_write(&costs, json, NULL);
    }
    sn_json_close(json);
    sn_json_close(json);
}

static int64_t shown(uint64_t count) {
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static void write_jumps(const sn_page_instructions *all, size_t first, const char *file, sn_json *json) {
    sn_page_list from = sn_page_list_begin(), to = sn_page_list_begin(), taken = sn_page_list_begin(),
                 executed = sn_page_list_begin();
    for (size_t i = first; i < all->jumps.count; i++) {
        const sn_call_address_jump *jump = &all->profile->address_jumps.items[all->jumps.items[i]];
        if (jump->from.file != file) {
            break;
        }
        sn_page_list_add(&from, (int64_t)jump->from.address);
        sn_page_list_add(&to, (int64_t)jump->to);
        sn_page_list_add(&taken, shown(jump->taken));
        sn_page_list_add(&executed, shown(jump->executed));
    }
    sn_json_object(json, "jumps");
    sn_page_list_write(&from, json, "from");
    sn_page_list_write(&to, json, "to");
    sn_page_list_write(&taken, json, "taken");
    sn_page_list_write(&executed, json, "executed");
    sn_json_close(json);
}

void sn_page_instructions_write(const sn_page_instructions *all, const sn_page_request *request, const char *file,
                                bool keeps_all, sn_json *json) {
    if (all->profile == NULL || all->instructions.count == 0) {
        return;
    }
    chosen_list chosen = {0};
    size_t first = sn_hash_get(&all->first_instruction, (uintptr_t)file, all->instructions.count);
    for (size_t i = first; i < all->instructions.count; i++) {
        uint32_t number = all->instructions.items[i];
        if (all->profile->instructions.items[number].file != file) {
            break;
        }
        if (keeps_all || sn_page_is_large(request, sn_call_profile_instruction_costs(all->profile, number))) {
            *sn_vector_add(&chosen) = number;
        }
    }
    write_instructions(all, &chosen, json);
    write_jumps(all, sn_hash_get(&all->first_jump, (uintptr_t)file, all->jumps.count), file, json);
    sn_vector_release(&chosen);
}
