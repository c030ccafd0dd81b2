/**
 * @fileoverview Mappings in place of blocks: --pages-as-heap=yes. Events of memory, which come one at a time.
 */
#ifndef HEAP_PAGES_H
#define HEAP_PAGES_H

#include <sonde/tool.h>

void heap_pages_init(void);
/** The program begins. */
void heap_pages_thread_start(void);

/** Callbacks of sn_tool; they do nothing without the option. */
void heap_pages_mapped(const sn_memory_range *range);
void heap_pages_unmapped(uint64_t start, uint64_t end);
void heap_pages_moved(uint64_t from, uint64_t to, uint64_t size);

#endif
