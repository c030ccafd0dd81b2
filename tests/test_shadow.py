"""@fileoverview Shadow values, <sonde/shadow.h>: shadow memory by tests/tools/shadow_memory.c on tests/programs/shadow_memory.c."""
import re
import subprocess

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def memory_tool(build_tool):
    return build_tool("shadow_memory", (ROOT / "tests" / "tools" / "shadow_memory.c").read_text())


@pytest.fixture(scope="module")
def memory_program(tmp_path_factory):
    made = tmp_path_factory.mktemp("shadow") / "program"
    subprocess.run(["gcc", "-g", "-O1", "-o", made, ROOT / "tests" / "programs" / "shadow_memory.c"], check=True, timeout=60)
    return made


@pytest.mark.parametrize("bits", (1, 2, 4, 8, 16, 32, 64))
def test_memory(sonde, memory_tool, memory_program, bits, tmp_path):
    native = subprocess.run([memory_program], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert native.stdout == "faults 9 child 0\n"
    report = tmp_path / "report.%p"
    done = sonde(memory_tool, f"--bits={bits}", f"--output={report}", "--", memory_program)
    assert (done.returncode, done.stdout, done.stderr) == (0, native.stdout, "")
    reports = [path.read_text() for path in tmp_path.glob("report.*")]
    assert len(reports) == 2
    for text in reports:
        assert re.fullmatch(r"wrong 0 some 1 unmapped 0 moved 16384 left 0\n", text), text


@pytest.mark.parametrize("bits", (0, 3, 128))
def test_widths_that_there_are_not(sonde, memory_tool, bits):
    done = sonde(memory_tool, f"--bits={bits}", "--", "/bin/true")
    assert done.returncode == 125 and done.stderr == f"sonde: the tool asks for shadows of {bits} bits\n"
