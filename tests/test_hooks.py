"""@fileoverview Hooks of functions: <sonde/hooks.h>, by tests/tools/hooks.c on tests/programs/hooked.c.

What a program prints says what its functions returned; what the tool prints, what it saw.
"""
import re
import subprocess

import pytest

from conftest import ROOT

PROGRAM = ROOT / "tests" / "programs" / "hooked.c"
USUAL = {"other": "other 7", "plain": "plain 31 pointer 61", "tail": "tail 12", "recursive": "recursive 5",
         "hidden": "hidden 42", "left": "left 9, 0"}


@pytest.fixture(scope="module", params=("followed", "unwound"))
def tool(build_tool, request):
    """The tool, and how it finds contexts."""
    path = build_tool("hooks")
    return path, f"--unwound={'yes' if request.param == 'unwound' else 'no'}"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Kind -> path: dynamic, static, and stripped with a debug file beside it; and a library."""
    folder = tmp_path_factory.mktemp("hooked")
    made = {kind: folder / kind for kind in ("dynamic", "static", "stripped", "library")}
    for kind, flags in (("dynamic", []), ("static", ["-static"]), ("stripped", [])):
        subprocess.run(["gcc", "-g", "-O2", "-pthread", *flags, "-o", made[kind], PROGRAM], check=True, timeout=60,
                       stderr=subprocess.DEVNULL)
    for command in (["--only-keep-debug", made["stripped"], folder / "stripped.debug"], ["--strip-all", made["stripped"]],
                    [f"--add-gnu-debuglink={folder / 'stripped.debug'}", made["stripped"]]):
        subprocess.run(["objcopy", *command], check=True, timeout=60)
    source = folder / "library.c"
    source.write_text("long in_library(long x) { return x + 40; }")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libcome.so.1", "-o", made["library"], source], check=True, timeout=60)
    return made


def run(sonde, tool, *words, program, arguments=()):
    """(what the program printed, what the tool saw)."""
    done = sonde(*tool, *words, "--", program, *arguments, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = re.search(r"begun (\d+) returned (\d+) jumped (\d+) lost (\d+) arguments (\d+) results (\d+)", done.stderr)
    assert seen, done.stderr
    return done.stdout.splitlines(), dict(zip(("begun", "returned", "jumped", "lost", "arguments", "results"),
                                              map(int, seen.groups())))


def usual(**changed):
    return list({**USUAL, **changed}.values())


@pytest.mark.parametrize("watch", ("--watch", "--watch-slowly"))
@pytest.mark.parametrize("kind", ("dynamic", "static", "stripped"))
def test_watched(sonde, tool, programs, kind, watch):
    printed, seen = run(sonde, tool, f"{watch}=plain", program=programs[kind])
    assert printed == usual()
    assert seen == {"begun": 2, "returned": 2, "jumped": 0, "lost": 0, "arguments": 30, "results": 92}


@pytest.mark.parametrize("watch", ("--watch", "--watch-slowly"))
@pytest.mark.parametrize("name, expected", (
    ("tail", {"begun": 1, "returned": 1, "jumped": 0, "arguments": 8, "results": 12}),
    ("tail_target", {"begun": 1, "returned": 1, "jumped": 0, "arguments": 13, "results": 12}),
    ("tail*", {"begun": 2, "returned": 2, "jumped": 0, "arguments": 21, "results": 24}),
    ("recursive", {"begun": 6, "returned": 6, "jumped": 0, "arguments": 15, "results": 15}),
    ("leaves", {"begun": 2, "returned": 1, "jumped": 1, "arguments": 9, "results": 0}),
    ("hidden", {"begun": 1, "returned": 1, "jumped": 0, "arguments": 44, "results": 42}),
    ("no_such_function", {"begun": 0, "returned": 0, "jumped": 0, "arguments": 0, "results": 0}),
))
def test_ends(sonde, tool, programs, watch, name, expected):
    printed, seen = run(sonde, tool, f"{watch}={name}", program=programs["dynamic"])
    assert printed == usual()
    assert seen == {**expected, "lost": 0}


@pytest.mark.parametrize("watch", ("--watch", "--watch-slowly"))
def test_threads(sonde, tool, programs, watch):
    printed, seen = run(sonde, tool, f"{watch}=plain", program=programs["dynamic"], arguments=["threads"])
    total = sum(3 * i + 1 for i in range(20000))
    assert printed == usual() + [f"sum {total}"] * 4
    assert seen == {"begun": 80002, "returned": 80002, "jumped": 0, "lost": 0, "arguments": 30 + 4 * sum(range(20000)),
                    "results": 92 + 4 * total}


@pytest.mark.parametrize("module, count", (("libcome.so.?", 3), ("library", 3), ("*/library", 3), ("libc.so.6", 0)))
def test_modules_that_come_and_go(sonde, tool, programs, module, count):
    printed, seen = run(sonde, tool, "--watch=in_library", f"--module={module}", program=programs["dynamic"],
                        arguments=[programs["library"]])
    assert printed == usual() + ["library 40", "library 41", "library 42"]
    assert seen["begun"] == seen["returned"] == count


def test_result_changed_fast(sonde, tool, programs):
    printed, _ = run(sonde, tool, "--double=plain", program=programs["dynamic"])
    assert printed == usual(plain="plain 62 pointer 122")
    printed, _ = run(sonde, tool, "--double=tail*", program=programs["dynamic"])
    assert printed == usual(tail="tail 48")


def test_argument_changed(sonde, tool, programs):
    printed, seen = run(sonde, tool, "--argument=plain", "--watch=plain", program=programs["dynamic"])
    assert printed == usual(plain="plain 331 pointer 361")
    assert seen["results"] == 331 + 361


def test_replaced(sonde, tool, programs):
    printed, _ = run(sonde, tool, "--replace=plain", "--watch=main", program=programs["static"])
    assert printed == usual(plain="plain 1010 pointer 1020")
    printed, _ = run(sonde, tool, "--replace=recursive", program=programs["dynamic"])
    assert printed == usual(recursive="recursive 1005")
    printed, _ = run(sonde, tool, "--replace=tail_target", program=programs["dynamic"])
    assert printed == usual(tail="tail 1013")


def test_original_called(sonde, tool, programs):
    printed, _ = run(sonde, tool, "--twice=plain", program=programs["dynamic"])
    assert printed == usual(plain=f"plain {31 + 34} pointer {61 + 64}")
    printed, _ = run(sonde, tool, "--twice=tail", program=programs["dynamic"])
    assert printed == usual(tail=f"tail {12 + 15}")


@pytest.mark.parametrize("watch, begun", (("--watch", 2), ("--watch-slowly", 2), ("--watch-last", 0)))
def test_hooks_that_call_the_same_function(sonde, tool, programs, watch, begun):
    """The first one does all; hooks before it are told of the program's calls, once each."""
    printed, seen = run(sonde, tool, f"{watch}=plain", "--twice=plain", "--twice-again=plain", program=programs["dynamic"])
    assert printed == usual(plain=f"plain {31 + 34} pointer {61 + 64}")
    assert (seen["begun"], seen["lost"]) == (begun, 0)


@pytest.mark.parametrize("watch, arguments", (("--watch", 30), ("--watch-slowly", 30), ("--watch-last", 230)))
def test_hooks_are_told_in_the_order_in_which_they_were_added(sonde, tool, programs, watch, arguments):
    _, seen = run(sonde, tool, f"{watch}=plain", "--argument=plain", program=programs["dynamic"])
    assert (seen["begun"], seen["arguments"], seen["returned"]) == (2, arguments, 2)


def test_another_function_instead(sonde, tool, programs):
    printed, _ = run(sonde, tool, "--instead=plain:other", program=programs["dynamic"])
    assert printed == usual(plain="plain 70 pointer 140")


def test_by_address(sonde, tool, programs):
    names = subprocess.run(["nm", programs["static"]], capture_output=True, text=True, check=True, timeout=60).stdout
    address = int(re.search(r"^(\w+) . plain$", names, re.M).group(1), 16)
    printed, seen = run(sonde, tool, f"--address={address}", program=programs["static"])
    assert printed == usual()
    assert (seen["begun"], seen["arguments"]) == (2, 30)


@pytest.mark.parametrize("switch", ("--debug-block-limit=1", "--debug-block-limit=3", "--debug-links=no",
                                    "--debug-superblocks=no", "--debug-bmi2=no", "--debug-fsgsbase=no"))
def test_under_any_switch(sonde, tool, programs, switch):
    printed, seen = run(sonde, tool, switch, "--watch=plain", "--double=tail*", "--replace=recursive", "--argument=hidden",
                        program=programs["dynamic"])
    assert printed == usual(tail="tail 48", recursive="recursive 1005", hidden="hidden 142")
    assert seen["results"] == 92
