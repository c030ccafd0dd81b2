"""@fileoverview What system calls are given, under memcheck: tests/programs/memcheck_calls.c says what must be reported, and what must not.
The names of parameters are those that Valgrind prints."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

SOURCE = ROOT / "tests" / "programs" / "memcheck_calls.c"
WAYS = {"value": "contains", "memory": "points to"}
EXPECTED = [(number, WAYS[way], name) for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
            for way, name in re.findall(r"\b(value|memory): (\S+)", line) if "fileoverview" not in line and "(" in name]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("calls") / "calls"
    subprocess.run(["gcc", "-g", "-O1", "-w", "-fno-builtin", "-o", made, SOURCE], check=True, timeout=60)
    return made


def reported(text):
    found = []
    for block in re.sub(r"==\d+== ?", "", text).strip().split("\n\n"):
        head = re.match(r"Syscall param (\S+) (contains|points to) uninitialised byte\(s\)", block)
        line = re.search(r"\(memcheck_calls\.c:(\d+)\)", block)
        assert head and line, block
        found.append((int(line[1]), head[2], head[1]))
    return found


def test_reported(sonde, program):
    assert len(EXPECTED) > 40
    done = sonde("memcheck", "-q", "--leak-check=no", "--", program, "errors", timeout=120)
    assert reported(done.stderr) == EXPECTED


def test_origins(sonde, program):
    done = sonde("memcheck", "-q", "--leak-check=no", "--track-origins=yes", "--", program, "errors", timeout=120)
    assert done.stderr.count("Uninitialised value was created by a heap allocation") == len(EXPECTED)


def test_silent(sonde, program):
    done = sonde("memcheck", "-q", "--leak-check=no", "--", program, "sound", timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "sound\n", "")


def test_the_same_as_valgrind(program):
    if not shutil.which("valgrind"):
        pytest.skip("Valgrind is not installed")
    done = subprocess.run(["valgrind", "-q", program, "errors"], stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert reported(done.stderr) == EXPECTED
