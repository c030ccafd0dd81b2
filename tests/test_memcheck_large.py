"""@fileoverview Large blocks that are hardly used, under memcheck: tests/programs/memcheck_large.c says what must be reported. What is kept
of a block that nobody touches must not take memory."""
import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

PROGRAM = ROOT / "tests" / "programs" / "memcheck_large.c"
ERRORS = sorted(number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "/* error: jump */" in line)
MOST = 600   # megabytes: the program has blocks of a gibibyte


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("large") / "program"
    subprocess.run(["gcc", "-g", "-O0", "-w", "-fno-builtin", "-o", made, PROGRAM], check=True, timeout=60)
    return made


@pytest.mark.parametrize("option", ("--track-origins=no", "--freelist-vol=4000000000"))
def test_large_blocks(program, tmp_path, option):
    with open(tmp_path / "log", "w+") as log:
        process = subprocess.Popen([BUILD / "sonde", "memcheck", "-q", "--leak-check=no", option, "--", program], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        log.seek(0)
        text = log.read()
    assert status == 0, text
    heads = re.findall(r"== (\w.*)", text)
    assert all(head == "Conditional jump or move depends on uninitialised value(s)" for head in heads) and len(heads) == len(ERRORS), text
    assert sorted(int(number) for number in re.findall(r"at 0x\w+: .*\(memcheck_large\.c:(\d+)\)", text)) == ERRORS
    assert usage.ru_maxrss < MOST << 10
