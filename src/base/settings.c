/**
 * @fileoverview The one instance of the core options. src/cli fills it in; docs in settings.h.
 */
#include "base/settings.h"

sn_settings sn_settings_current = {
    .bisect_blocks = UINT64_MAX,
    .dump_block = UINT64_MAX,
    .block_limit = 40,
    .exec_filters = -1,
    .exec_program = -1,
};
