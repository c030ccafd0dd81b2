/**
 * @fileoverview Instructions and jumps in a page, of call-graph profiles that have them: below the lines of each source file.
 *
 * Used by page_source.c.
 */
#ifndef SONDE_REPORT_PAGE_INSTRUCTIONS_H
#define SONDE_REPORT_PAGE_INSTRUCTIONS_H

#include "report/page_source.h"

/** Those of a profile by file, line and address. All zero: there are none. */
typedef struct sn_page_instructions {
    const sn_call_profile *profile;
    SN_VECTOR(uint32_t) instructions, jumps; /**< positions in the profile */
    sn_hash first_instruction, first_jump;   /**< of files: where theirs begin above */
} sn_page_instructions;

void sn_page_instructions_collect(sn_page_instructions *all, const sn_call_profile *profile);
void sn_page_instructions_release(sn_page_instructions *all);

/** Write the members "instructions" and "jumps" of a file, if the profile has any: all of them, or those that cost something
    worth telling. */
void sn_page_instructions_write(const sn_page_instructions *all, const sn_page_request *request, const char *file,
                                bool keeps_all, sn_json *json);

#endif
