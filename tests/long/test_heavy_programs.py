"""@fileoverview Heavy programs (virtual machines, servers, compilers, emulators), natively and under Sonde: the scripts
in tests/long/real, and once more those in tests/real, so that docs/compatibility.md lists all programs.

Run one by name: pytest tests/long -k java-none. tests/real_programs.py says how a script is written."""
import pathlib

import pytest

import real_programs

HERE = pathlib.Path(__file__).resolve().parent
CASES = real_programs.read_cases(HERE / "real") + real_programs.read_cases(HERE.parent / "real")


@pytest.mark.parametrize("case, tool", real_programs.pairs(CASES))
def test_heavy_program(case, tool, compatibility):
    version = "" if case.missing else real_programs.version_of(case)
    compatibility(case.key("program", case.name), version, case.key("what"), tool, case.key("except"))
    real_programs.verify(case, tool)
