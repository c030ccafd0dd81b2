/**
 * @fileoverview File descriptors that are left open: see descriptors.c.
 */
#ifndef MEMCHECK_DESCRIPTORS_H
#define MEMCHECK_DESCRIPTORS_H

#include "memcheck.h"

/** --track-fds= */
typedef enum mc_track { MC_TRACK_NO, MC_TRACK_YES, MC_TRACK_ALL } mc_track;

/** The engine's callback: the call may have made descriptors. */
void mc_descriptors_after(sn_thread *thread, const sn_system_call *call);
/** Of the end: those that are still open. */
void mc_descriptors_print(void);

#endif
