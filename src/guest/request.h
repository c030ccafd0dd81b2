/**
 * @fileoverview Client requests (include/sonde/client.h). Called by jit/translate.c, by way of a hook, for every block when
 * the tool answers requests, also where it does not instrument.
 */
#ifndef SONDE_GUEST_REQUEST_H
#define SONDE_GUEST_REQUEST_H

#include "jit/insert.h"

/** Insert a call of the tool where the block ends a request. */
void sn_requests_insert(sn_block *block);

#endif
