"""@fileoverview A tool that crashes is named, with the callback; what it had is written, and the status is 125."""
import subprocess

import pytest

from conftest import SONDE

TOOL = """
#include <sonde/tool.h>
static void crash(void) { *(volatile int *)16 = 1; }
static sn_trace *trace;
static void called(void) { crash(); }
SN_FAST static uint64_t fast(void) { *(volatile int *)16 = 1; return 0; }
static void batch(const sn_batch *batch) { (void)batch; crash(); }
static void start(void) { trace = sn_trace_new(&(sn_trace_options){.record_size = 8, .buffer_size = 1 << 24, .batch = batch}); (void)called; }
static void instrument(sn_block *block) {
    (void)block, (void)fast;
    INSTRUMENT;
}
static void thread_start(sn_thread *thread) { (void)thread; THREAD_START; }
static void end(void) { fprintf(sn_output(), "the end\\n"); END; }
SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "crashing", .version = "1", .description = "crashes", .start = start,
    .instrument = instrument, .thread_start = thread_start, .end = end,
};
"""
APPEND = "sn_insert_before(block, 0); sn_trace_append(block, trace, 1, &(sn_field){.offset = 0, .size = 8, .value = sn_constant(block, 1)})"
# (what to put where, the callback that is named, whether the end comes)
CASES = {
    "instrument": ({"INSTRUMENT": "crash()"}, "instrument", True),
    "thread_start": ({"THREAD_START": "crash()"}, "thread_start", True),
    "end": ({"END": "crash()"}, "end", True),
    "call": ({"INSTRUMENT": "sn_insert_before(block, 0); sn_call(block, (void *)called, 0, NULL)"}, "(called function)", True),
    "fast call": ({"INSTRUMENT": "sn_insert_before(block, 0); sn_call_fast(block, (void *)fast, 0, NULL)"},
                  "(called function)", True),
    "inserted code": ({"INSTRUMENT": "sn_insert_before(block, 0); sn_store(block, sn_constant(block, 16), 0, "
                                     "sn_constant(block, 1), 8)"}, "(inserted code)", True),
    "batch": ({"INSTRUMENT": APPEND}, "batch", False),
}


@pytest.mark.parametrize("case", CASES)
def test_crash_is_named(build_tool, case):
    places, callback, ends = CASES[case]
    source = TOOL
    for place in ("INSTRUMENT", "THREAD_START", "END"):
        source = source.replace(f"{place};", places.get(place, "(void)0") + ";")
    tool = build_tool("crashing", source)
    done = subprocess.run([SONDE, tool, "--", "/bin/echo", "hello"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 125, done.stderr
    assert f"the tool crashing crashed in its callback {callback}: signal 11 at " in done.stderr
    assert done.stderr.count("crashed in its callback") == 1
    assert ("the end" in done.stderr) == ends, done.stderr
