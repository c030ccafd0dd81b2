/**
 * @fileoverview What is printed when a run has ended: references, misses and rates, as Cachegrind prints them.
 */
#ifndef SONDE_TOOLS_CACHE_SUMMARY_H
#define SONDE_TOOLS_CACHE_SUMMARY_H

#include "profile.h"

void cache_print_summary(const sn_tool *tool, const cache_profile *profile);

#endif
