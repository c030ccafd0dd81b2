/**
 * @fileoverview Which function code without symbols belongs to, where the address alone does not tell: a compiler puts a
 * function's cold parts far away, between those of others.
 *
 * Called when a profile is made, after the functions' entries were learned (functions.h); what is found goes there.
 */
#ifndef SONDE_TOOLS_CALLS_PIECES_H
#define SONDE_TOOLS_CALLS_PIECES_H

/** Find, of all code that was executed and has no symbol, the function, and let functions.h know. */
void calls_pieces_find(void);

#endif
