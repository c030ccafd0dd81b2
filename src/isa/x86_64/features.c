/**
 * @fileoverview What the processor offers to emitted code: see features.h.
 */
#include "isa/x86_64/features.h"

#include <sys/auxv.h>

#include "base/settings.h"

/** HWCAP2 bit 1: the kernel lets programs use rdfsbase and wrfsbase (Documentation/arch/x86/x86_64/fsgs.rst). */
#define HWCAP2_SEGMENT_INSTRUCTIONS 2

bool sn_features_read_bases(void) {
    return !sn_settings_current.no_fsgsbase && getauxval(AT_HWCAP2) & HWCAP2_SEGMENT_INSTRUCTIONS;
}

bool sn_features_wide_masks(void) { return __builtin_cpu_supports("avx512bw"); }

bool sn_features_avx(void) { return __builtin_cpu_supports("avx"); }

bool sn_features_flagless_shifts(void) { return !sn_settings_current.no_bmi2 && __builtin_cpu_supports("bmi2"); }
