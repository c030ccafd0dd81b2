/**
 * @fileoverview Puts references through a cache model of src/tools/cache: `cache_replay MODEL I1 D1 L2 LL < TRACE`.
 *
 * Geometries are SIZE,WAYS,LINE. A line of the trace is KIND ADDRESS SIZE INSTRUCTION, the kind 0, 1 or 2 (cache_kind), the
 * others hexadecimal; INSTRUCTION is below 2^32. For each a line tells how many levels were missed. `cache_replay predict`
 * does the same for the branch predictors: lines `c ADDRESS TAKEN` and `i ADDRESS TARGET`, answers 0 or 1.
 * Compiled with the tool's files and run by tests/test_cache_model.py.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

#include "model.h"
#include "predictor.h"
#include "sites.h"

void sn_fail(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(status);
}

static int predict(void) {
    static cache_predictor predictor;
    uint64_t address, what;
    char kind;
    while (scanf(" %c %" SCNx64 " %" SCNx64, &kind, &address, &what) == 3) {
        bool is_wrong = kind == 'c' ? cache_predictor_conditional(&predictor, address, what != 0)
                                    : cache_predictor_indirect(&predictor, address, what);
        printf("%d\n", is_wrong);
    }
    return 0;
}

static const cache_model *model_named(const char *name) {
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(cache_models[i]->name, name) == 0) {
            return cache_models[i];
        }
    }
    sn_fail(2, "no model %s", name);
}

int main(int count, char **arguments) {
    static cache_geometry geometries[CACHE_COUNT];
    if (count == 2 && strcmp(arguments[1], "predict") == 0) {
        return predict();
    }
    if (count != 2 + CACHE_COUNT) {
        sn_fail(2, "usage: cache_replay MODEL I1 D1 L2 LL");
    }
    const cache_model *model = model_named(arguments[1]);
    for (unsigned i = 0; i < CACHE_COUNT; i++) {
        const char *wrong = cache_geometry_parse(&geometries[i], arguments[2 + i]);
        if (wrong != NULL) {
            sn_fail(2, "%s: %s", arguments[2 + i], wrong);
        }
    }
    model->start(geometries);
    void *core = model->core_new();
    uint32_t site = cache_sites_new(1);
    cache_reference reference = {.site = site};
    uint64_t instruction;
    while (scanf("%" SCNu32 " %" SCNx64 " %" SCNx32 " %" SCNx64, &reference.kind, &reference.address, &reference.size,
                 &instruction) == 4) {
        cache_site_set_address(site, instruction);
        printf("%u\n", model->refer(core, &reference));
    }
    model->core_free(core);
    return 0;
}
