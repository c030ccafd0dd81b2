/**
 * @fileoverview Branch predictors. See predictor.h.
 */
#include "predictor.h"

bool cache_predictor_conditional(cache_predictor *predictor, uint64_t address, bool is_taken) {
    uint64_t history = predictor->history & ((1u << CACHE_PREDICTOR_HISTORY) - 1);
    uint8_t *counter =
        &predictor->counters[(address << CACHE_PREDICTOR_HISTORY ^ history) % CACHE_PREDICTOR_COUNTERS];
    bool is_predicted = *counter >= 2;
    if (is_taken) {
        *counter += *counter < 3;
    } else {
        *counter -= *counter > 0;
    }
    predictor->history = predictor->history << 1 | is_taken;
    return is_predicted != is_taken;
}

bool cache_predictor_indirect(cache_predictor *predictor, uint64_t address, uint64_t target) {
    uint64_t *last = &predictor->targets[address % CACHE_PREDICTOR_TARGETS];
    bool is_wrong = *last != target;
    *last = target;
    return is_wrong;
}
