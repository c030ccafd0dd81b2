/**
 * @fileoverview The table of cache models. See model.h.
 */
#include "model.h"

/** In the order of CACHE_MODEL_NAMES. */
const cache_model *const cache_models[] = {
    &cache_model_cachegrind,
    &cache_model_hierarchy,
};
