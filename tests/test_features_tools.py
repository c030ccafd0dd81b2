"""@fileoverview The programs of tests/features under tools that insert analysis code everywhere: they behave as natively.

test_features.py has all of them under the light tools and the options that change code. Here each runs once (its first
variant, its last run) under `memtrace`, `cache`, `calls` (and with it shadow stacks), `heap` (hooks, with dumps in the middle, for which
threads stop), and tests/tools/analysis.c, which inserts every operation everywhere.
"""
import pytest

import feature_programs as features
from test_features import environment, native, prepare

# Slow by their nature, with what is slow in them: hundreds of millions of instructions, hundreds of processes that each
# write a profile.
SLOW = {
    "process/children": ("memtrace", "cache", "calls"),
    "threads/fork_threaded": ("cache", "calls", "analysis"),
    "threads/fork_storm": ("cache",),
    "threads/fork_while_ending": ("cache",),
    "program/exceptions": ("analysis",),
}


def cases(tool):
    for program in features.programs():
        if program.get("native") == "yes" or tool in SLOW.get(program.name, ()):
            continue
        arguments, _ = program.runs[-1]
        yield pytest.param(program, program.variants[0], arguments, id=program.name)


def compare(program, variant, arguments, tool, directory):
    path = prepare(program, variant)
    wanted = native(program, variant, arguments)
    log = directory / "log"
    got = features.run([features.SONDE, *tool, f"--log-file={log}", path, *arguments], environment(program))
    told = log.read_text(errors="replace") if log.exists() else ""
    assert got.output.decode(errors="replace") == wanted.output.decode(errors="replace"), told
    assert got.error.decode(errors="replace") == wanted.error.decode(errors="replace"), told
    assert got.status == wanted.status, told


@pytest.mark.parametrize("program, variant, arguments", cases("memtrace"))
def test_memtrace(program, variant, arguments, tmp_path):
    compare(program, variant, arguments, ("memtrace", "--output=/dev/null"), tmp_path)


@pytest.mark.parametrize("program, variant, arguments", cases("cache"))
def test_cache(program, variant, arguments, tmp_path):
    compare(program, variant, arguments, ("cache", "--cachegrind-out-file=/dev/null"), tmp_path)


@pytest.mark.parametrize("program, variant, arguments", cases("calls"))
def test_calls(program, variant, arguments, tmp_path):
    compare(program, variant, arguments, ("calls", "--callgrind-out-file=/dev/null"), tmp_path)


@pytest.mark.parametrize("program, variant, arguments", cases("heap"))
def test_heap(program, variant, arguments, tmp_path):
    compare(program, variant, arguments, ("heap", "--output=/dev/null", "--mode=cumulative", "--dump-every-bytes=1000000"), tmp_path)


@pytest.mark.parametrize("program, variant, arguments", cases("analysis"))
def test_everything_everywhere(program, variant, arguments, build_tool, tmp_path):
    tool = build_tool("analysis")
    compare(program, variant, arguments, (tool,), tmp_path)


# What shadows make difficult: the rings of io_uring lie where the kernel wants them; stepping leaves blocks of other lengths behind.
@pytest.mark.parametrize("name", ["process/io_uring", "faults/traps"])
@pytest.mark.parametrize("tool", ["memcheck", "taint"])
def test_shadows(tool, name, tmp_path):
    """All other programs: tests/long/test_features_values.py."""
    (program,) = (one for one in features.programs() if one.name == name)
    compare(program, program.variants[0], program.runs[-1][0], (tool,), tmp_path)
