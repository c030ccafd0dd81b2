/**
 * @fileoverview Programs and libraries that were mapped whole, and those that are gone, told to the tool.
 *
 * A library comes as several mappings, made by whatever loads it: it is there when every segment that its headers name is
 * mapped at its place with its protection, and gone when its code is. Called by memory_events.c, under its lock.
 */
#ifndef SONDE_GUEST_MODULE_EVENTS_H
#define SONDE_GUEST_MODULE_EVENTS_H

#include "guest/space.h"

/** A region was mapped: it may be the beginning of a module. */
void sn_module_events_mapped(const sn_region *region);

/** A change is complete: look which modules are there now, and which no more. */
void sn_module_events_changed(void);

/** The program itself is told in any case, even if its headers are not in memory. */
void sn_module_events_program(void);

#endif
