/**
 * @fileoverview What the processor offers to emitted code. Read once, at the first question.
 */
#ifndef SONDE_ISA_X86_64_FEATURES_H
#define SONDE_ISA_X86_64_FEATURES_H

#include <stdbool.h>

/** rdfsbase works, and may be used. */
bool sn_features_read_bases(void);
/** Mask registers have 64 bits (AVX512BW). */
bool sn_features_wide_masks(void);
/** Vector registers have 32 bytes at least (AVX). */
bool sn_features_avx(void);
/** There are shifts and rotations that leave the flags alone (BMI2), and they may be used. */
bool sn_features_flagless_shifts(void);

#endif
