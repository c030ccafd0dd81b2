"""@fileoverview `sonde control PID WORD`: what it does, with tools that answer themselves and with tools that leave it to Sonde."""
import json
import re
import subprocess
import time

import pytest

from conftest import ROOT, SONDE

PROGRAM = """
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    volatile unsigned long sum = 0;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    int spins = count > 1 && words[1][0] == 's';
    puts("ready");
    fflush(stdout);
    while (!spins && poll(&input, 1, 0) == 0) sum++;
    for (char byte; spins && sum != 1;) { /* without a call: only the engine's own signal leads out of it */
        for (unsigned long i = 0; i < 400000000; i++) __asm__ volatile("");
        sum = 1;
        if (read(0, &byte, 1) != 1) return 2;
    }
    return 0;
}
"""
TOOL = """
#include <sonde/tool.h>
static unsigned long blocks;
static void count(sn_thread *thread, void *data) { (void)thread, (void)data; __atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED); }
static void instrument(sn_block *block) { sn_call_before(block, 0, count, NULL); }
static sn_control_outcome control(sn_thread *thread, sn_control_command command, FILE *answer) {
    (void)thread;
    switch (command) {
    case SN_CONTROL_ZERO: blocks = 0; return SN_CONTROL_DONE;
    case SN_CONTROL_STATUS: fprintf(answer, "blocks: %lu\\n", blocks); return SN_CONTROL_DONE;
    case SN_CONTROL_DUMP: fprintf(answer, "not today\\n"); return SN_CONTROL_FAILED;
    default: return SN_CONTROL_USUAL;
    }
}
static void end(void) { fprintf(sn_output(), "end\\n"); }
SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "counting", .version = "7", .description = "-",
    .instrument = instrument, .control = control, .end = end,
};
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("control") / "program"
    subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", path], input=PROGRAM, text=True, check=True, timeout=60)
    return path


@pytest.fixture
def start(program):
    running = []

    def begin(tool, *options, how="poll"):
        process = subprocess.Popen([SONDE, tool, *options, "--", program, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def control(process, *words):
    return subprocess.run([SONDE, "control", str(process if isinstance(process, int) else process.pid), *words],
                          capture_output=True, text=True, timeout=60)


def blocks(process):
    said = control(process, "status")
    assert (said.returncode, said.stderr) == (0, "")
    return int(re.search(r"^blocks: (\d+)$", said.stdout, re.M)[1]), said.stdout.splitlines()[0]


def test_tool_that_answers(start, build_tool):
    process = start(build_tool("counting", TOOL))
    first, line = blocks(process)
    assert first > 1000 and line == "counting 7: instrumentation on"
    assert control(process, "zero").stdout == "" and blocks(process)[0] < first + 10**9
    done = control(process, "dump")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"sonde: process {process.pid}: not today\n")
    process.communicate("\n", timeout=60)
    assert process.returncode == 0


def test_on_and_off(start, build_tool):
    """Off, nothing more is seen; on again, it is."""
    process = start(build_tool("counting", TOOL))
    assert control(process, "off").returncode == 0
    off, line = blocks(process)
    time.sleep(0.3)
    assert (off, line) == blocks(process) and line == "counting 7: instrumentation off"
    assert control(process, "on").returncode == 0
    time.sleep(0.3)
    on, line = blocks(process)
    assert on > off and line == "counting 7: instrumentation on"
    process.communicate("\n", timeout=60)
    assert process.returncode == 0


def test_switched_in_a_loop_without_calls(start, tmp_path):
    """The loop is left for it at once, not when it ends: the rest is not counted."""
    report = tmp_path / "report"
    process = start("count", f"--output={report}", "--format=json", how="spin")
    assert control(process, "off").returncode == 0
    process.communicate("x", timeout=60)
    assert process.returncode == 0 and json.loads(report.read_text())["total"]["instructions"] < 700_000_000


@pytest.mark.parametrize("tool, word, status, said", [
    ("none", "status", 0, "none 1: instrumentation none\n"),
    ("none", "on", 1, "the tool 'none' does not instrument\n"),
    ("none", "off", 1, "the tool 'none' does not instrument\n"),
    ("none", "zero", 1, "the tool 'none' cannot begin anew\n"),
    ("none", "dump", 1, "the tool 'none' tells nothing before the end\n"),
    ("count", "status", 0, "count 1: instrumentation on\n"),
    ("count", "off", 0, ""),
    ("count", "zero", 1, "the tool 'count' cannot begin anew\n"),
])
def test_what_sonde_does_itself(start, tool, word, status, said):
    process = start(tool)
    done = control(process, word)
    wanted = (0, said, "") if status == 0 else (1, "", f"sonde: process {process.pid}: {said}")
    assert (done.returncode, done.stdout, done.stderr) == wanted
    process.communicate("\n", timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("words, text", [
    ((), "no process is named"),
    (("x", "on"), "'x' is no process number"),
    (("1",), "nothing to do is named"),
    (("1", "jump"), "'jump' cannot be asked for"),
    (("1", "on", "off"), "there is a word too many, 'off'"),
    (("--fast", "1", "on"), "unknown option '--fast'"),
    (("99999999", "on"), "there is no process 99999999"),
])
def test_asked_wrongly(words, text):
    asked = subprocess.run([SONDE, "control", *words], capture_output=True, text=True, timeout=60)
    assert asked.returncode == 2 and asked.stderr.startswith(f"sonde: {text}") and asked.stderr.count("\n") == 1


def test_process_that_is_not_under_sonde():
    other = subprocess.Popen(["sleep", "60"])
    try:
        asked = control(other.pid, "off")
        assert (asked.returncode, asked.stderr) == (2, f"sonde: process {other.pid} does not run under Sonde\n")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_help():
    asked = subprocess.run([SONDE, "control", "--help"], capture_output=True, text=True, timeout=60)
    assert asked.returncode == 0 and "status" in asked.stdout


# ------------------------------------------------------------------------ memtrace

@pytest.mark.parametrize("form", ("binary", "text"))
def test_dump_of_a_trace(start, tmp_path, form):
    """The file can be read while the program runs, and holds what was traced until then: nothing is in it twice at the end."""
    file = tmp_path / "trace"
    process = start("memtrace", f"--output={file}", f"--format={form}")

    def lines():
        if form == "text":
            return file.read_text().splitlines()
        told = subprocess.run([SONDE, "report", "--view=trace", file], capture_output=True, text=True, timeout=60)
        return told.stdout.splitlines()

    assert control(process, "dump").returncode == 0
    first = lines()
    assert subprocess.run([SONDE, "dump", str(process.pid)], timeout=60).returncode == 0
    second = lines()
    assert len(first) > 10000 and len(second) > len(first) and second[:len(first) - 1] == first[:-1]
    process.communicate("\n", timeout=60)
    assert process.returncode == 0
    last = lines()
    assert len(last) > len(second) and last[:len(second) - 1] == second[:-1]


def test_dump_of_a_trace_to_elsewhere(start, tmp_path):
    """A trace is a record that goes on: a part of it must not go to another file."""
    process = start("memtrace", f"--output={tmp_path / 'trace'}")
    asked = subprocess.run([SONDE, "dump", str(process.pid), "--to=-"], capture_output=True, text=True, timeout=60)
    assert asked.returncode == 1 and asked.stdout == "" and "writes no report but a record: leave out --to=" in asked.stderr
