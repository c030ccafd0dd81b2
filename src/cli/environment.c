/**
 * @fileoverview The environment as the client gets it; the counterpart of src/launcher/launcher.c.
 */
#include "cli/environment.h"

#include <string.h>

void sn_environment_restore(char **environment) {
    static const char prefix[] = "SONDE_CLIENT_";
    for (char **variable = environment; *variable; variable++)
        if (strncmp(*variable, prefix, sizeof prefix - 1) == 0)
            *variable += sizeof prefix - 1;
}
