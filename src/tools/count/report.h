/**
 * @fileoverview The reports of the tool `count`: text for people, JSON for programs. Called by count.c.
 */
#ifndef SONDE_TOOLS_COUNT_REPORT_H
#define SONDE_TOOLS_COUNT_REPORT_H

#include "functions.h"
#include "thread.h"

typedef struct count_report {
    const sn_tool *tool;
    const count_summary *summary;
    const count_functions *functions;
} count_report;

void count_print_text(const count_report *report);
void count_print_json(const count_report *report);

#endif
