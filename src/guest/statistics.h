/**
 * @fileoverview --stats=yes: the engine's own figures at the end of a run.
 */
#ifndef SONDE_GUEST_STATISTICS_H
#define SONDE_GUEST_STATISTICS_H

/** Print them to the log. */
void sn_statistics_print(void);

#endif
