"""@fileoverview memcheck's code for data that is defined, and for data that is not: the second is made where it is needed, and
going over to it in the middle of a block does nothing twice.
"""
import re
import subprocess

import pytest

from conftest import ROOT

SOURCE = ROOT / "tests" / "programs" / "memcheck_variants.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("variants") / "program"
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-fno-pie", "-mno-red-zone", "-fno-builtin", "-o", path, SOURCE], check=True, timeout=60)
    return path


def blocks_made(program, log):
    """Function of the program, or other address -> how often a block that begins with it was made."""
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True, timeout=60).stdout
    functions = {int(line.split()[0], 16): line.split()[2] for line in symbols.splitlines() if len(line.split()) == 3}
    made = {}
    for address in re.findall(r"^block \d+ at ([0-9a-f]+), ", log.read_text(errors="replace"), re.MULTILINE):
        name = functions.get(int(address, 16), address)
        made[name] = made.get(name, 0) + 1
    return made


def test_made_when_needed(sonde, program, tmp_path):
    log = tmp_path / "log"
    done = sonde("memcheck", "--debug-dump-blocks=yes", f"--log-file={log}", "--", program)
    assert done.returncode == 3, done.stderr
    assert done.stdout == "1100 long\n"
    made = blocks_made(program, log)
    assert (made["not_always_defined"], made.get("never_run", 0)) == (2, 0)
    assert sum(count > 1 for count in made.values()) < len(made) / 2


@pytest.mark.parametrize("options", [(), ("--debug-cache-size=200000",), ("--debug-links=no",), ("--debug-block-limit=1",), ("--track-origins=yes",)])
def test_nothing_is_done_twice(sonde, program, options):
    done = sonde("memcheck", *options, "--", program)
    assert (done.returncode, done.stdout) == (3, "1100 long\n"), done.stderr
    lines = SOURCE.read_text().splitlines()
    decides = next(number for number, line in enumerate(lines, 1) if "line: decides" in line)
    assert f"main (memcheck_variants.c:{decides})" in done.stderr
    assert done.stderr.count("Invalid read of size 1") == 1
    assert "ERROR SUMMARY: 11 errors from 2 contexts" in done.stderr  # ten rounds, and strlen once


@pytest.mark.parametrize("options", [(), ("--debug-block-limit=1",), ("--track-origins=yes",)])
def test_dead_registers(sonde, tmp_path, options):
    """What is overwritten has no value that matters; of what is not, the value is still missing."""
    program = tmp_path / "dead"
    subprocess.run(["gcc", "-g", "-O1", "-o", program, ROOT / "tests/programs/memcheck_dead.c"], check=True, timeout=60)
    done = sonde("memcheck", *options, "--", program)
    assert done.returncode == 0, done.stderr
    reported = re.findall(r"^==\d+== Conditional jump .*\n==\d+==    at 0x\w+: (\w+)", done.stderr, re.MULTILINE)
    expected = {"part", "read_first", "one_way_only", "if_moved", "high_half"} | ({"upper_half"} if done.stdout == "avx\n" else set())
    assert (sorted(reported), done.stderr.count("uninitialised")) == (sorted(expected), len(expected)), done.stderr
