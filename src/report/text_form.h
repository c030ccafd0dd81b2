/**
 * @fileoverview Pieces of reports for people: numbers with separators, names cut to a width, colour.
 *
 * Used by all of src/report that prints text. Widths are in columns; UTF-8 is not cut inside a character.
 */
#ifndef SONDE_REPORT_TEXT_FORM_H
#define SONDE_REPORT_TEXT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SN_NUMBER_SIZE = 32, SN_REPORT_WIDTH = 80 };

/** A number with a comma before each three digits, in buffer[SN_NUMBER_SIZE]. Returns it. */
const char *sn_form_number(int64_t number, char *buffer);

typedef enum sn_form_end { SN_FORM_CUT_END, SN_FORM_CUT_BEGINNING } sn_form_end;

/** Print `text` in at most `width` columns, cut with "..." on one side. Control characters are shown as question marks.
    Returns the columns used. */
unsigned sn_form_print(const char *text, unsigned width, sn_form_end end);
/** The same, padded to exactly `width` columns. */
void sn_form_print_padded(const char *text, unsigned width, sn_form_end end);

/** The part of a path behind the last slash. */
const char *sn_form_base_name(const char *path);

/** Per cent with one digit behind the point in 6 columns; blank for none. */
void sn_form_print_share(double share, bool is_zero);

/** Whether to use colour: --color= as yes, no or auto (on a terminal, unless NO_COLOR is set). */
typedef enum sn_color_choice { SN_COLOR_AUTO, SN_COLOR_YES, SN_COLOR_NO } sn_color_choice;
void sn_form_choose_color(int choice);

/** What stands out, by its share in per cent: a mark that is printed first in the line, and the colour on and off. */
char sn_form_begin_line(double share);
void sn_form_end_line(double share);

#endif
