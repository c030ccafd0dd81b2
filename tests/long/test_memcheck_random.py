"""sonde memcheck on random C programs with at most one planted error each (tests/memcheck_programs.py): it is found at its line and with
its sentence, and nothing else is; Valgrind says the same.
"""
import os
import re
import shutil
import sys

import pytest

from real_programs import ROOT, SONDE

sys.path.insert(0, str(ROOT / "tests"))
from memcheck_programs import run  # noqa: E402  (found by the line above)

PROGRAMS = int(os.environ.get("MEMCHECK_PROGRAMS", "60"))


def without_numbers(errors):
    return [(re.sub(r"\d+", "N", what), where) for what, where in errors]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random(tmp_path, seed):
    compares = shutil.which("valgrind") and seed % 4 == 0
    expected, results, program = run(seed, tmp_path, [[SONDE, "memcheck"], *([["valgrind"]] if compares else [])])
    assert results[0] == expected, program
    assert without_numbers(results[-1]) == without_numbers(expected), program
