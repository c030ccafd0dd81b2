"""@fileoverview memcheck on some random C programs with a planted error each: it is found, and nothing else is. Many more:
tests/long/test_memcheck_random.py."""
import pytest

from conftest import SONDE
from memcheck_programs import run


@pytest.mark.parametrize("seed", (1000, 1003, 1004, 1007, 1020, 1021, 1022, 1035))
def test_planted(tmp_path, seed):
    expected, results, program = run(seed, tmp_path, [[SONDE, "memcheck"]])
    assert results == [expected], program
