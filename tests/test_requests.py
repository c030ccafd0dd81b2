"""@fileoverview Client requests: by sonde/client.h and by Valgrind's own header, answered by a tool, or by nobody."""
import json
import subprocess

import pytest

from conftest import ROOT, SONDE

BY_SONDE = """
#include <sonde/client.h>
#define ASK(number) sn_client_request(5, number, 1, 2, 3, 4, 10)
#define NUMBER SN_REQUEST_NUMBER('T', 'E', 7)
"""
BY_VALGRIND = """
#include <valgrind/valgrind.h>
#define ASK(number) VALGRIND_DO_CLIENT_REQUEST_EXPR(5, number, 1, 2, 3, 4, 10)
#define NUMBER (VG_USERREQ_TOOL_BASE('T', 'E') + 7)
"""
PROGRAM = """
#include <stdio.h>
int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 1000; i++) sum += ASK(NUMBER);
    printf("%lu %lu\\n", sum, (unsigned long)ASK(NUMBER + 1));
    return 0;
}
"""


@pytest.fixture(scope="module", params=(BY_SONDE, BY_VALGRIND), ids=("sonde", "valgrind"))
def program(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("requests") / "program"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", f"-I{ROOT / 'include'}", "-x", "c", "-", "-o", path],
                   input=request.param + PROGRAM, text=True, check=True, timeout=60)
    return path


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_nobody_answers(program):
    assert run(program).stdout == "5000 5\n"
    assert run(SONDE, "none", "--", program).stdout == "5000 5\n"


@pytest.mark.parametrize("options", ((), ("--debug-block-limit=1",), ("--debug-block-limit=3",)), ids=" ".join)
def test_tool_answers(program, build_tool, options):
    tool = build_tool("requests")
    done = run(SONDE, tool, *options, "--", program)
    assert (done.stdout, done.returncode) == ("20000 5\n", 0)
    assert "requests: 1000\n" in done.stderr


# ------------------------------------------------------------- what Sonde itself answers

NATIVE = """\
running 0
call0 0
call3 0 501.25
nested 0
jumped 1
printed 0
backtrace 0
errors 0
command 0 0
"""
ANSWERED = """\
running 1
call0 42
call3 756000 501.25
nested 21
jumped 5001
printed 63
backtrace 10
errors 0
command 0 1
"""
LOGGED = """\
**PID** hello -3 text  2.50|abcdef|x% 3.5    42 7 44 0x10 (unreadable)
**PID** no newline goes on
**PID** two
"""
CONFIGURATIONS = (("none",), ("none", "--debug-block-limit=1"), ("none", "--debug-links=no"), ("count", "--output=/dev/null"),
                  ("memtrace", "--output=/dev/null"), ("everything", "--output=/dev/null"))


@pytest.fixture(scope="module")
def macros(tmp_path_factory):
    path = tmp_path_factory.mktemp("macros") / "macros"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", ROOT / "tests" / "programs" / "valgrind_requests.c", "-o", path],
                   check=True, timeout=60)
    return path


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=" ".join)
def test_valgrinds_macros(macros, build_tool, configuration, tmp_path):
    """Each macro of valgrind.h gets its answer, whatever is inserted; natively they have their defaults."""
    assert run(macros).stdout == NATIVE
    tool, *options = configuration
    if tool == "everything":
        tool = build_tool("analysis")
    log = tmp_path / "log.%p"
    done = run(SONDE, tool, *options, f"--log-file={log}", "--", macros)
    assert (done.stdout, done.stderr, done.returncode) == (ANSWERED, "", 0)
    [file] = tmp_path.glob("log.*")
    text = file.read_text()
    assert text.startswith(LOGGED.replace("PID", file.suffix[1:]))
    assert "the program asks for the option '--trace-children=yes': options cannot be changed while it runs\n" in text


def test_program_may_be_told_that_it_runs_natively(macros):
    done = run(SONDE, "none", "--running-on-valgrind=no", "--log-file=/dev/null", "--", macros)
    assert (done.stdout, done.returncode) == (ANSWERED.replace("running 1", "running 0"), 0)


def test_calls_are_counted_once(tmp_path):
    """A request that calls a function is left and made again: nothing of it is counted twice. A round has the called
    function's three instructions more than one with a request that nobody answers."""
    text = """
#include <valgrind/valgrind.h>
#include <stdlib.h>
long three(long);
__asm__("three: lea 1(%rdi), %rax; nop; ret");
int main(int count, char **words) {
    (void)count;
    unsigned long request = words[2][0] == 'c' ? VG_USERREQ__CLIENT_CALL0 : 77;
    for (int i = atoi(words[1]); i; i--) VALGRIND_DO_CLIENT_REQUEST_STMT(request, three, 0, 0, 0, 0);
    return 0;
}
"""
    path = tmp_path / "counted"
    subprocess.run(["gcc", "-O1", "-static", "-x", "c", "-", "-o", path], input=text, text=True, check=True, timeout=60)

    def instructions(rounds, what):
        run(SONDE, "count", f"--output={tmp_path / 'report'}", "--format=json", "--", path, str(rounds), what)
        return json.loads((tmp_path / "report").read_text())["total"]["instructions"]

    assert instructions(1100, "c") - instructions(100, "c") == instructions(1100, "n") - instructions(100, "n") + 1000 * 3


BY_SONDES_NAMES = """
#include <sonde/client.h>
#include <stdio.h>
int main(void) {
    printf("%d\\n", sn_client_is_watched());
    printf("%d\\n", sn_client_print("one %s\\n", "line"));
    sn_client_discard_code(main, 16);
    printf("%d\\n", sn_client_control("status"));
    sn_client_profile(SN_REQUEST_TOGGLE_COLLECT);
    return 0;
}
"""


def test_sondes_own_names(tmp_path):
    path = tmp_path / "own"
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", "-x", "c", "-", "-o", path],
                   input=BY_SONDES_NAMES, text=True, check=True, timeout=60)
    assert run(path).stdout == "0\n0\n0\n"
    done = run(SONDE, "none", "--", path)
    assert done.stdout == "1\n9\n0\n"
    assert done.stderr.splitlines()[0].endswith("** one line") and done.stderr.splitlines()[1] == "none 1: instrumentation none"


PROFILED = """
#include <valgrind/callgrind.h>
int main(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS;
    CALLGRIND_DUMP_STATS_AT("the middle");
    CALLGRIND_STOP_INSTRUMENTATION;
    return 0;
}
"""
PROFILER = """
#include <sonde/client.h>
#include <sonde/tool.h>
static bool request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    (void)thread;
    if (arguments[0] < SN_REQUEST_DUMP_STATS || arguments[0] > SN_REQUEST_STOP_INSTRUMENTATION) return false;
    bool at = arguments[0] == SN_REQUEST_DUMP_STATS_AT;
    fprintf(sn_output(), "%d %s\\n", (int)(arguments[0] - SN_REQUEST_DUMP_STATS), at ? (const char *)arguments[1] : "-");
    *result = 0;
    return true;
}
SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "profiler", .version = "1", .description = "-", .request = request,
};
"""


def test_profilers_requests_reach_the_tool(tmp_path, build_tool):
    path = tmp_path / "profiled"
    subprocess.run(["gcc", "-Wall", "-Werror", "-x", "c", "-", "-o", path], input=PROFILED, text=True, check=True, timeout=60)
    done = run(SONDE, build_tool("profiler", PROFILER), "--", path)
    assert (done.stderr, done.returncode) == ("4 -\n1 -\n2 -\n0 -\n3 the middle\n5 -\n", 0)
