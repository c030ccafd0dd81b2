/**
 * @fileoverview A tool for tests that answers one client request: the sum of its arguments. --instrument=no: and does
 * nothing else.
 */
#include <sonde/client.h>
#include <sonde/tool.h>

static uint64_t made;

static bool request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    (void)thread;
    if (arguments[0] != SN_REQUEST_NUMBER('T', 'E', 7)) return false;
    *result = arguments[1] + arguments[2] + arguments[3] + arguments[4] + arguments[5];
    made++;
    return true;
}

static void end(void) { fprintf(sn_output(), "requests: %lu\n", (unsigned long)made); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "requests", .version = "1", .description = "answers a request",
    .request = request, .end = end,
};
