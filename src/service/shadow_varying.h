/**
 * @fileoverview Shadows for instructions whose accesses are known only when they run: masked and gathered vectors, repeated strings,
 * bits by number, saved processor state. Called by shadow_compile.c.
 */
#ifndef SONDE_SERVICE_SHADOW_VARYING_H
#define SONDE_SERVICE_SHADOW_VARYING_H

#include "sonde/tool.h"

/** Have the shadows of the memory that the instruction at `index` accesses be followed. What it does to registers has been done,
    with its memory taken for clean. Under sn_jit_lock. */
void sn_shadow_varying_insert(sn_block *block, unsigned index);

/** Whether it stores or loads the state of the processor: registers keep their shadows then, as what is loaded is what was saved. */
bool sn_shadow_saves_state(sn_block *block, unsigned index);

#endif
