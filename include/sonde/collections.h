/**
 * @file sonde/collections.h
 * Where tools keep what they know: the tables, vectors and arenas that Sonde itself is made of.
 *
 * | header    | what                                                             | in SN_FAST functions       |
 * |-----------|------------------------------------------------------------------|----------------------------|
 * | table.h   | hash tables: entries of any type, by keys of fixed size           | all but growing; growing too when reserved |
 * | hash.h    | the same for 64-bit keys and values, as functions                 | no                         |
 * | index.h   | hash tables of numbers, for keys of any kind that lie elsewhere   | finding                    |
 * | vector.h  | growing arrays                                                    | what adds nothing          |
 * | sorted.h  | vectors in the order of a key: search, ranges, merging            | finding                    |
 * | arena.h   | memory given back all at once; pages                              | no                         |
 * | intern.h  | strings kept once                                                 | no                         |
 *
 * All of them lie on pages of their own and need no malloc; they may be used in every callback. None but intern.h has a lock. All
 * zero bytes are an empty one of each. Where the system has no more memory, the run ends at once, with one line and status 125.
 */
#ifndef SONDE_COLLECTIONS_H
#define SONDE_COLLECTIONS_H

#include <sonde/arena.h>
#include <sonde/hash.h>
#include <sonde/index.h>
#include <sonde/intern.h>
#include <sonde/sorted.h>
#include <sonde/table.h>
#include <sonde/vector.h>

#endif
