/**
 * @fileoverview The coverage report, see coverage.h.
 */
#include "coverage.h"

#include <stdlib.h>
#include <string.h>

#include "forms.h"

/** How far a mnemonic, a definition or a form came; the furthest of its forms counts. */
typedef enum reach { EXCLUDED, UNTRIED, UNDEFINED, FAULTED, CONTROL, EXECUTED, REACHES } reach;

static const char *const reach_names[REACHES] = {
    [EXCLUDED] = "excluded",       [UNTRIED] = "never tried",
    [UNDEFINED] = "undefined here", [FAULTED] = "only faulted",
    [CONTROL] = "control flow",    [EXECUTED] = "executed",
};

static reach reach_of(const sn_form *form) {
    if (form->policy == SN_FORM_EXCLUDED)
        return EXCLUDED;
    if (form->policy == SN_FORM_CONTROL)
        return CONTROL;
    if (form->executed)
        return EXECUTED;
    if (form->faulted)
        return FAULTED;
    return form->undefined ? UNDEFINED : UNTRIED;
}

bool sn_coverage_knows(const char *mnemonic) {
    for (size_t i = 0; i < sn_forms_count(); i++) {
        if (sn_forms()[i].policy == SN_FORM_RANDOM &&
            strcmp(ZydisMnemonicGetString(sn_forms()[i].mnemonic), mnemonic) == 0)
            return true;
    }
    return false;
}

static void print_totals(FILE *out, const char *what, const unsigned *totals) {
    unsigned all = 0;
    for (unsigned i = 0; i < REACHES; i++)
        all += totals[i];
    fprintf(out, "%s: %u known to the decoder", what, all);
    for (unsigned i = REACHES; i-- > 0;)
        fprintf(out, ", %u %s", totals[i], reach_names[i]);
    fputc('\n', out);
}

static int by_definition(const void *left, const void *right) {
    const sn_form *a = *(const sn_form *const *)left, *b = *(const sn_form *const *)right;
    if (a->definition != b->definition)
        return a->definition < b->definition ? -1 : 1;
    return 0;
}

static void count_definitions(FILE *out) {
    unsigned totals[REACHES] = {0};
    size_t count = sn_forms_count();
    const sn_form **sorted = calloc(count, sizeof *sorted);
    if (!sorted)
        return;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &sn_forms()[i];
    qsort(sorted, count, sizeof *sorted, by_definition);
    for (size_t i = 0; i < count;) {
        reach best = EXCLUDED;
        const void *definition = sorted[i]->definition;
        for (; i < count && sorted[i]->definition == definition; i++)
            best = reach_of(sorted[i]) > best ? reach_of(sorted[i]) : best;
        totals[best]++;
    }
    free(sorted);
    print_totals(out, "definitions", totals);
}

void sn_coverage_print(FILE *out) {
    static reach best[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    static const char *reasons[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    static bool known[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    unsigned forms[REACHES] = {0}, mnemonics[REACHES] = {0};
    for (size_t i = 0; i < sn_forms_count(); i++) {
        const sn_form *form = &sn_forms()[i];
        reach found = reach_of(form);
        forms[found]++;
        known[form->mnemonic] = true;
        best[form->mnemonic] = found > best[form->mnemonic] ? found : best[form->mnemonic];
        reasons[form->mnemonic] = form->reason ? form->reason : reasons[form->mnemonic];
    }
    for (unsigned i = 0; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++)
        mnemonics[best[i]] += known[i];
    print_totals(out, "mnemonics", mnemonics);
    count_definitions(out);
    print_totals(out, "forms", forms);
    for (unsigned group = EXCLUDED; group < CONTROL; group++) {
        for (unsigned i = 0; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++) {
            if (known[i] && best[i] == group)
                fprintf(out, "  %s: %s%s%s\n", ZydisMnemonicGetString((ZydisMnemonic)i), reach_names[group],
                        group == EXCLUDED ? ": " : "", group == EXCLUDED ? reasons[i] : "");
        }
    }
}
