"""@fileoverview The programs of tests/features with every event told: nothing changes for the program.

With system call events every call goes through the engine instead of straight to the kernel, and each is described from what
the program's own words lead to. The tool's lines are checked against what holds for every program: a call that has ended was
begun, and what was written is part of what could be; memory events fit what was there before them.
"""
import pathlib
import re

import pytest

import feature_programs as features
from test_events import replay
from test_features import cases, environment, native, prepare

TOOL = pathlib.Path(__file__).resolve().parent / "tools" / "show_events.c"


@pytest.fixture(scope="session")
def show_events(build_tool):
    return build_tool("show_events", TOOL.read_text())


def ranges_of(words):
    for word in words:
        match = re.fullmatch(r"([rw])(\d):([0-9a-f]+)\+([0-9a-f]+)", word)
        yield match[1], int(match[2]), int(match[3], 16), int(match[4], 16)


def check_calls(text):
    """Each thread's lines: `after` follows its own `before`; written ranges lie within those that were announced."""
    begun = {}
    ended = 0
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "before":
            begun[words[1]] = (words[2], list(ranges_of(words[6:])))
        elif words[0] == "after":
            name, announced = begun.pop(words[1], (words[2], None))
            assert name == words[2], line
            ended += 1
            if announced is None or name in ("io_getevents", "io_pgetevents"):
                continue  # the child's side of fork; buffers of requests that another call announced
            for role, _, start, size in ranges_of(words[6:]):
                assert role == "w", line
                assert any(r == "w" and s <= start and start + size <= s + z for r, _, s, z in announced), line
    return ended


@pytest.mark.parametrize("program, variant, arguments, status", cases(under_sonde=True))
def test_same_with_events(program, variant, arguments, status, show_events, tmp_path):
    path = prepare(program, variant)
    wanted = native(program, variant, arguments)
    report = tmp_path / "report"
    got = features.run([features.SONDE, show_events, "--calls=yes", f"--log-file={tmp_path / 'log'}", f"--output={report}",
                        path, *arguments], environment(program))
    told = (tmp_path / "log").read_text(errors="replace") if (tmp_path / "log").exists() else ""
    assert got.output.decode(errors="replace") == wanted.output.decode(errors="replace"), told
    assert got.error.decode(errors="replace") == wanted.error.decode(errors="replace"), told
    assert got.status == wanted.status, told
    text = report.read_text(errors="replace")
    assert check_calls(text) > 0
    if "\nfork-child " not in text:  # else the lines of two processes are mixed
        replay(line for line in text.splitlines() if line.startswith("memory-"))
