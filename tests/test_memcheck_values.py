"""@fileoverview Undefined values under memcheck: tests/programs/memcheck_values.c says what must be reported, and what must not."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

PROGRAM = ROOT / "tests" / "programs" / "memcheck_values.c"
ERRORS = [(number, text) for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) for text in re.findall(r"/\* error: (\w+) \*/", line)]
WORDS = {"Conditional jump or move depends on uninitialised value(s)": "jump", "Use of uninitialised value of size 8": "value",
         "Syscall param write(buf) points to uninitialised byte(s)": "write"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    for level in ("O0", "O1", "O3"):
        more = ["-march=native"] if level == "O3" else []
        subprocess.run(["gcc", "-g", f"-{level}", "-w", "-fno-builtin", "-pthread", *more, "-o", folder / level, PROGRAM], check=True, timeout=60)
    return folder


def reported(sonde, *words):
    """What was reported, and the first line of the program's own on each stack."""
    done = sonde("memcheck", "-q", "--leak-check=no", *words, timeout=120)
    assert done.returncode == 0, done.stderr
    found = []
    for block in re.sub(r"==\d+== ?", "", done.stderr).strip().split("\n\n"):
        head = [line for line in block.splitlines() if line in WORDS]
        lines = re.findall(r"\(memcheck_values\.c:(\d+)\)", block)
        assert head and lines, block
        found.append((int(lines[0]), WORDS[head[0]]))
    return found


@pytest.mark.parametrize("where", ("errors", "thread"))
@pytest.mark.parametrize("level", ("O0", "O1"))
def test_reported(sonde, programs, level, where):
    assert len(ERRORS) > 5
    assert reported(sonde, "--", programs / level, where) == ERRORS


@pytest.mark.parametrize("level", ("O0", "O1", "O3"))
def test_silent(sonde, programs, level):
    done = sonde("memcheck", "-q", "--leak-check=no", "--", programs / level, "sound", timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "sound\n", "")


def test_switched_off(sonde, programs):
    done = sonde("memcheck", "-q", "--leak-check=no", "--undef-value-errors=no", "--", programs / "O0", "errors", timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


COMPILED = {"gcc": ["gcc", "-O3", "-march=native"], "gcc-O2": ["gcc", "-O2"], "clang": ["clang", "-O3", "-march=native"], "clang-O1": ["clang", "-O1"]}


@pytest.mark.parametrize("way", COMPILED)
def test_optimised(sonde, tmp_path, way):
    """Bit fields, padding, masks, carries, chosen elements, as compilers make vectors of them: nothing is reported."""
    if not shutil.which(COMPILED[way][0]):
        pytest.skip(f"{COMPILED[way][0]} is not installed")
    program = tmp_path / "optimised"
    subprocess.run([*COMPILED[way], "-g", "-w", "-o", program, ROOT / "tests" / "programs" / "memcheck_optimised.c"], check=True, timeout=60)
    done = sonde("memcheck", "-q", "--leak-check=no", "--", program, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "sound\n", "")
