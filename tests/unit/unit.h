/**
 * @fileoverview What every unit test includes: cmocka and the headers that it wants before it.
 */
#ifndef SONDE_TESTS_UNIT_UNIT_H
#define SONDE_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
