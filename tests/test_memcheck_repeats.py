"""@fileoverview Errors that are found again at the same place, under memcheck: only counted, but exactly.
tests/programs/memcheck_repeats.c says how many there are."""
import re
import subprocess

import pytest

from conftest import ROOT

PROGRAM = ROOT / "tests" / "programs" / "memcheck_repeats.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("repeats") / "program"
    subprocess.run(["gcc", "-g", "-O0", "-w", "-fno-builtin", "-o", made, PROGRAM], check=True, timeout=60)
    return made


# Errors whose four innermost addresses agree are one: depths of one, two, and more are three.
@pytest.mark.parametrize("options, different", (([], 2 * 3), (["--num-callers=1"], 2 * 1), (["--track-origins=yes"], 2 * 3)))
def test_counts(sonde, program, options, different):
    done = sonde("memcheck", "--show-error-list=yes", "--leak-check=no", *options, "--", program)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert re.search(rf"ERROR SUMMARY: 60000 errors from {different} contexts", done.stderr), done.stderr
    counts = [int(number) for number in re.findall(r"(\d+) errors in context", done.stderr)]
    assert sum(counts) == 60000 and len(counts) == different
