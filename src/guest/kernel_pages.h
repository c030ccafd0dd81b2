/**
 * @fileoverview The pages that the kernel maps into every process: the vdso and its data.
 *
 * The client is given the engine's own ones, so that they are found here and recorded by the space.
 */
#ifndef SONDE_GUEST_KERNEL_PAGES_H
#define SONDE_GUEST_KERNEL_PAGES_H

#include "guest/space.h"

/** Call `visit` with each of them ([vdso], [vvar], ...), read from /proc/self/maps. */
void sn_kernel_pages_visit(bool (*visit)(const sn_region *region));

/** The line of /proc/self/maps for the page at the top of the address space that the kernel emulates ([vsyscall]), empty
    if there is none. Known after sn_kernel_pages_visit. */
const char *sn_kernel_page_emulated_line(void);

/** Whether a region is one of them. */
bool sn_kernel_page_region(const sn_region *region);

#endif
