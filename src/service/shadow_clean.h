/**
 * @fileoverview The clean variant of blocks with shadows: see shadow_clean.c. Called by shadow_compile.c.
 */
#ifndef SONDE_SERVICE_SHADOW_CLEAN_H
#define SONDE_SERVICE_SHADOW_CLEAN_H

#include "sonde/tool.h"

/** Before all else that follows data is inserted: put labels where the clean variant may be left; from then on what is inserted is in
    the full one only. Returns whether the block gets a clean one. */
bool sn_shadow_clean_begin(sn_block *block);

/** Behind it: insert the clean variant. `live`: of each instruction, the flags that somebody looks at behind it. What is inserted
    afterwards is in both again. */
void sn_shadow_clean_insert(sn_block *block, const uint8_t *live);

#endif
