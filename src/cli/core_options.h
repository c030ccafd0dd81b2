/**
 * @fileoverview The options that Sonde knows for every tool, as tables, and how they become sn_settings.
 */
#ifndef SONDE_CLI_CORE_OPTIONS_H
#define SONDE_CLI_CORE_OPTIONS_H

#include "sonde/tool.h"

extern const sn_option sn_core_options[];  /**< shown by --help */
extern const sn_option sn_debug_options[]; /**< shown by --help-debug */
extern const sn_option sn_exec_options[];  /**< shown nowhere: between one Sonde and the next one that it executes */

/** What sn_exec_options set; NULL when not given. */
extern const char *sn_exec_path, *sn_exec_argument_zero, *sn_exec_limits;

/** Check the ranges of what was parsed, and write sn_settings_current from it. Ends the run on a bad value. */
void sn_core_options_apply(void);

#endif
