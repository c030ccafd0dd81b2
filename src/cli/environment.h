/**
 * @fileoverview The environment as the client gets it.
 */
#ifndef SONDE_CLI_ENVIRONMENT_H
#define SONDE_CLI_ENVIRONMENT_H

/** Give the variables that the launcher put out of the way (LD_PRELOAD and the like) their own names again, in place. */
void sn_environment_restore(char **environment);

#endif
