/**
 * @file sonde/value_near.h
 * Whether floating-point values are nearly the same: for detectors that have a tolerance. Compiled into the tool.
 */
#ifndef SONDE_VALUE_NEAR_H
#define SONDE_VALUE_NEAR_H

#include <sonde/values.h>
#include <string.h>

/** Whether two numbers differ by at most a part (0.01: a percent) of the greater one. Not if one is no number. */
static inline bool sn_value_near_numbers(double a, double b, double tolerance) {
    double size_a = __builtin_fabs(a), size_b = __builtin_fabs(b);
    return __builtin_fabs(a - b) <= (size_a > size_b ? size_a : size_b) * tolerance;
}

/** Size of the numbers that a record's value is made of: 4, 8 or 10; 0: they are not compared. */
static inline unsigned sn_value_near_element(const sn_value_record *record) {
    switch (record->type) {
    case SN_VALUE_SINGLE: case SN_VALUE_SINGLE_128: case SN_VALUE_SINGLE_256: case SN_VALUE_SINGLE_512: return 4;
    case SN_VALUE_DOUBLE: case SN_VALUE_DOUBLE_128: case SN_VALUE_DOUBLE_256: case SN_VALUE_DOUBLE_512: return 8;
    case SN_VALUE_EXTENDED: return 10;
    case SN_VALUE_OTHER: break;
    default: return 0;
    }
    const sn_value_site *site = sn_value_site_at(record->site);
    unsigned element = site->element_size;
    return site->is_float && (element == 4 || element == 8 || element == 10) && record->size % element == 0 ? element : 0;
}

static inline double sn_value_near_number(const void *at, unsigned element) {
    float single;
    double number;
    long double extended = 0;
    switch (element) {
    case 4: return memcpy(&single, at, sizeof single), single;
    case 8: return memcpy(&number, at, sizeof number), number;
    default: return memcpy(&extended, at, 10), (double)extended;
    }
}

/** Whether each number of a value is near its counterpart. `element` as above; never if that is 0. */
static inline bool sn_value_near(const void *a, const void *b, unsigned size, unsigned element, double tolerance) {
    if (!element) return false;
    for (unsigned at = 0; at < size; at += element)
        if (!sn_value_near_numbers(sn_value_near_number((const char *)a + at, element),
                                   sn_value_near_number((const char *)b + at, element), tolerance))
            return false;
    return true;
}

#endif
