"""@fileoverview Shadow values, <sonde/shadow.h>: shadow memory by tests/tools/shadow_memory.c on tests/programs/shadow_memory.c."""
import re
import subprocess

import pytest

import differential_driver as driver
from conftest import ROOT


@pytest.fixture(scope="module")
def memory_tool(build_tool):
    return build_tool("shadow_memory")


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


# --------------------------------------------------------------------------- following data


@pytest.fixture(scope="module")
def flows_tool(build_tool):
    return build_tool("shadow_flows", (ROOT / "tests" / "tools" / "shadow_flows.c").read_text())


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Of random blocks, and of blocks with every form of instruction: (path, native outcome)."""
    folder = tmp_path_factory.mktemp("corpora")
    made = []
    for name, seed, blocks, more in (("mixed", 11, 60, ()), ("sweep", 12, 120, ("--pieces=20", "--straight", "--sweep"))):
        driver.generate(folder / name, seed, blocks, *more)
        made.append((folder / name, driver.run_native(folder / name)))
    return made


@pytest.mark.parametrize("kind", ("bits", "labels"))
@pytest.mark.parametrize("signals", ([], ["--interrupt=20000"]), ids=("plain", "signals"))
def test_programs_keep_their_state(corpora, flows_tool, kind, signals, tmp_path):
    for path, native in corpora[:1] if signals else corpora:
        configuration = (flows_tool, f"--kind={kind}", f"--output={tmp_path}/report")
        outcome = driver.run_sonde(path, configuration, *signals)
        if driver.first_difference(native, outcome) is not None:
            pytest.fail(driver.explain(path, native, outcome, configuration, driver.BUILD / "differential-failures", signals))
        assert (tmp_path / "report").read_text() == "some findings 1\n"
