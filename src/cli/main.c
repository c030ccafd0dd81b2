/**
 * @fileoverview The engine's entry: reads the command line, opens the tool, hands over to the guest layer.
 */
#include "guest/run.h"

#include "base/log.h"

__attribute__((weak)) _Noreturn void sn_run(const sn_tool *tool, const char *program, const char *const *arguments,
                                            const char *const *environment) {
    (void)tool, (void)arguments, (void)environment;
    sn_fail(SN_STATUS_ENGINE, "this build has no engine: '%s' was not run", program);
}

int main(void) {
    sn_run(NULL, "", NULL, NULL);
}
