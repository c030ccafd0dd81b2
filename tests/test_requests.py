"""@fileoverview Client requests: by sonde/client.h and by Valgrind's own header, answered by a tool, or by nobody."""
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
    tool = build_tool("requests", (ROOT / "tests" / "tools" / "requests.c").read_text())
    done = run(SONDE, tool, *options, "--", program)
    assert (done.stdout, done.returncode) == ("20000 5\n", 0)
    assert "requests: 1000\n" in done.stderr
