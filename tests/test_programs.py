"""@fileoverview Real programs of a plain Debian, natively and under Sonde: the scripts in tests/real, one test each
and tool. Run one by name: pytest tests/test_programs.py -k xz-none. real_programs.py says how a script is written."""
import pathlib
import shutil

import pytest

import real_programs

CASES = real_programs.read_cases(pathlib.Path(__file__).resolve().parent / "real")


@pytest.fixture(scope="module", autouse=True)
def remove_scratch_folder():
    yield
    shutil.rmtree(real_programs.scratch_folder(), ignore_errors=True)
    real_programs.scratch_folder.cache_clear()


@pytest.mark.parametrize("case, tool", real_programs.pairs(CASES))
def test_program(case, tool):
    real_programs.verify(case, tool)
