/**
 * @fileoverview The filter in front of the trace: for each set of a first-level cache, the line that was used last.
 *
 * A reference to that very line is a hit that changes nothing, and is not even traced. Each thread has a filter for
 * instructions and one for data, which inserted code keeps; nearly all references end there.
 */
#ifndef SONDE_TOOLS_CACHE_FILTER_H
#define SONDE_TOOLS_CACHE_FILTER_H

#include <sonde/tool.h>

#include "geometry.h"

/** A thread's filter, a line number for each set. No line is used last at first. */
uint64_t *cache_filter_new(const cache_geometry *geometry);

/** Note a reference to `size` bytes from `address` on, from C code. */
void cache_filter_use(uint64_t *filter, const cache_geometry *geometry, uint64_t address, uint32_t size);

/** Where in the filter a line is, in bytes. */
int32_t cache_filter_place(const cache_geometry *geometry, uint64_t line);

/**
 * Insert code, at the place that is chosen, which notes a reference to `size` bytes from `address` on, and goes to the
 * label that is returned when there is nothing to trace. The code that traces it follows; then the label must be placed.
 */
sn_label cache_filter_insert(sn_block *block, sn_slot filter, const cache_geometry *geometry, sn_value address,
                             uint32_t size);

/** The same for a fetch from known lines: `last` is `first`, or the one behind it. When the code before it has fetched
    from `first` in any case, it is known to be used last. */
sn_label cache_filter_insert_lines(sn_block *block, sn_slot filter, const cache_geometry *geometry, uint64_t first,
                                   uint64_t last, bool is_first_known);

#endif
