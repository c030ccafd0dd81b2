"""@fileoverview The tool taint, and with it how shadows follow data: each way in tests/programs/tainted.c leads bytes of standard
input to a function, or does not (those that begin with "no_"), natively compiled without and with optimisation.
"""
import json
import re
import subprocess

import pytest

from conftest import ROOT

INPUT = "1234567890" * 6 + "1234"
PROGRAM = ROOT / "tests" / "programs" / "tainted.c"
WAYS = re.findall(r"WAY\((\w+)\)", PROGRAM.read_text().split("ways[] = {")[1])

USES = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char buffer[64];
static void target(void) { }
static void (*volatile table[2])(void) = {target, target};
static void fill(void) {                                                     // 8
    if (read(0, buffer, sizeof buffer) < 40) _exit(2);                       // 9
}
static void use(const char *which) {
    char path[8] = "/";
    unsigned long address = (unsigned long)target ^ (unsigned long)buffer[0] ^ '1';
    if (!strcmp(which, "call")) ((void (*)(void))address)();                 // 14
    if (!strcmp(which, "index")) table[buffer[0] & 1]();                     // 15
    if (!strcmp(which, "format")) printf(buffer);                            // 16
    if (!strcmp(which, "argument")) close(buffer[0] + 1000);                 // 17
    if (!strcmp(which, "path")) memcpy(path + 1, buffer, 4), open(path, O_RDONLY); // 18
    if (!strcmp(which, "nothing")) printf("%s %d\n", buffer, buffer[0]);
}
int main(int count, char **arguments) {
    fill();                                                                  // 22
    for (int i = 1; i < count; i++) use(arguments[i]);                       // 23
    return 0;
}
""".lstrip()


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tainted")
    for level in ("O0", "O2"):
        subprocess.run(["gcc", "-g", f"-{level}", "-pthread", "-fno-optimize-sibling-calls", "-o", folder / level, PROGRAM], check=True, timeout=60)
    return folder


@pytest.fixture(scope="module")
def uses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uses")
    (folder / "uses.c").write_text(USES)
    subprocess.run(["gcc", "-g", "-O0", "-w", "-fcf-protection=none", "-o", "uses", "uses.c"], cwd=folder, check=True, timeout=60)
    (folder / "input").write_text(INPUT)
    return folder


def findings(sonde, folder, options, command, given):
    with open(given) as stdin:
        done = sonde("taint", "--format=json", f"--output={folder}/report.%p", *options, "--", *command, stdin=stdin)
    assert done.stderr == "" and done.returncode == 0, done.stderr
    reports = sorted(folder.glob("report.*"))
    found = [finding for path in reports for finding in json.loads(path.read_text())["findings"]]
    for path in reports:
        path.unlink()
    return found


@pytest.mark.parametrize("level", ("O0", "O2"))
def test_ways(sonde, ways, level, tmp_path):
    (tmp_path / "input").write_text(INPUT)
    found = findings(sonde, tmp_path, ("--taint-stdin=yes", "--sink=sink", "--check-system-calls=no"), [ways / level], tmp_path / "input")
    callers = {finding["at"][0]["function"] for finding in found if finding["name"] == "sink"}
    assert callers == {{"in_thread": "thread", "seen_by_handler": "in_handler"}.get(way, way) for way in WAYS if not way.startswith("no_")}
    assert all([arrival["source"] for arrival in finding["from"]] == ["standard input"] for finding in found)


def lines(context):
    """The program's own frames: (function, line)."""
    return [(frame["function"], frame["line"]) for frame in context if (frame["file"] or "").endswith("uses.c")]


@pytest.mark.parametrize("which, use, name, line", (
    ("call", "call", None, 14), ("format", "format", "printf", 16), ("argument", "system-call", "close", 17),
    ("path", "system-call", "openat", 18)))
def test_uses(sonde, uses, which, use, name, line):
    found = findings(sonde, uses, ("--taint-stdin=yes",), (uses / "uses", which), uses / "input")
    assert [(finding["use"], finding["name"], finding["count"]) for finding in found if finding["name"] != "write"] == [(use, name, 1)]
    found = [finding for finding in found if finding["name"] != "write"]
    assert lines(found[0]["at"]) == [("use", line), ("main", 23)]
    assert [(arrival["source"], lines(arrival["at"])) for arrival in found[0]["from"]] == [("standard input", [("fill", 9), ("main", 22)])]


def test_addresses_are_looked_at_on_request(sonde, uses):
    for options, expected in (((), []), (("--check-addresses=yes",), [("address", [("use", 15), ("main", 23)])])):
        found = findings(sonde, uses, ("--taint-stdin=yes", *options), (uses / "uses", "index"), uses / "input")
        assert [(finding["use"], lines(finding["at"])) for finding in found if lines(finding["at"])[:1] == [("use", 15)]] == expected


def test_sources(sonde, uses):
    """The same bytes from a file by its name; nothing where other sources are chosen; and arguments."""
    program, given = uses / "uses", uses / "input"
    found = findings(sonde, uses, (f"--taint-file={uses}/in*",), (program, "call"), given)
    assert [finding["from"][0]["source"] for finding in found] == [str(given)]
    assert findings(sonde, uses, ("--taint-file=/no/such", "--taint-sockets=yes"), (program, "call", "format"), given) == []
    found = findings(sonde, uses, ("--taint-arguments=yes", "--sink=strcmp"), (program, "nothing"), given)
    assert {(finding["name"], finding["from"][0]["source"]) for finding in found} <= {("strcmp", "an argument")}


def test_text(sonde, uses):
    with open(uses / "input") as stdin:
        done = sonde("taint", "--taint-stdin=yes", "--num-callers=2", "--", uses / "uses", "call", stdin=stdin)
    source = uses / "uses.c"
    assert done.stderr == (
        "bytes from outside are used in 1 place\n\nthe target of a call, 1 time\n"
        f"    use ({source}:14)\n    main ({source}:23)\n  from standard input, which was read by\n"
        + re.search(r"    \S*read.*\n", done.stderr)[0] + f"    fill ({source}:9)\n")


def test_bad_options(sonde):
    done = sonde("taint", "--sink=f:9", "--", "/bin/true")
    assert (done.returncode, done.stderr) == (2, "sonde: --sink=f:9: behind the colon is no number from 1 to 4\n")
