/**
 * @fileoverview See statistics.h.
 */
#include "guest/statistics.h"

#include "base/settings.h"
#include "guest/verify.h"
#include "jit/cache.h"
#include "jit/thread.h"
#include "jit/translate.h"
#include "jit/versions.h"
#include "sonde/tool.h"

void sn_statistics_print(void) {
    const sn_translate_statistics *made = &sn_translate_statistics_current;
    sn_message("translated: %lu blocks, %lu instructions, %lu bytes of client code", (unsigned long)made->blocks,
               (unsigned long)made->instructions, (unsigned long)made->client_bytes);
    sn_message("code cache: %zu bytes in use; counters: %zu", sn_cache_used(), sn_counters_in_use());
    if (sn_versions_are_two()) sn_message("changes between versions of the code: %lu", (unsigned long)sn_versions_changes());
    if (sn_settings_current.verify_blocks) sn_verify_print_statistics();
}
