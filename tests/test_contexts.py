"""The context service: programs in tests/contexts, one for each way in which shadow stacks usually break, say in their first
comment what chains of calls the tool tests/tools/contexts.c must find at each mark(), innermost function first.

`expect:` lines are in the program's order; `build:` adds to the compiler's options, `library:` is a shared library that is
built and linked; chains are cut behind `main`, or behind the function that `cut:` names.
"""

import re
import resource
import subprocess

import pytest

from conftest import ROOT

PROGRAMS = sorted(path for path in (ROOT / "tests" / "contexts").iterdir()
                  if path.suffix in (".c", ".cc", ".go") and "// expect:" in path.read_text())


@pytest.fixture(scope="module")
def tool(build_tool):
    return build_tool("contexts")


def notes(source):
    """The notes at the head of a program: name -> its texts."""
    found = {}
    for line in source.read_text().splitlines():
        match = re.match(r"// (\w+): (.*)", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


def compile_program(source, folder, said):
    flags = ["-O2", "-g", "-fno-omit-frame-pointer" if "frame" in said else "-fomit-frame-pointer", "-w"]
    flags += said.get("build", [""])[0].split()
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    program = folder / source.stem
    libraries = []
    for library in said.get("library", []):
        path = folder / f"lib{library}.so"
        subprocess.run(["gcc", "-O2", "-g", "-shared", "-fPIC", "-o", path, source.parent / library], check=True, timeout=60)
        libraries += [path, f"-Wl,-rpath,{folder}"]
    subprocess.run([compiler, *flags, "-o", program, source, *libraries], check=True, timeout=60)
    return program


def shown(line, cut):
    """What a line of the tool's is compared as."""
    depth, *chain = line.split()
    if cut in chain:
        return " ".join(chain[:chain.index(cut) + 1])
    return " ".join(chain)


def relative_depths(lines):
    """Without symbols: how deep each mark is, relative to the least deep one, which is 2: its function and main."""
    depths = [int(line.split()[0]) for line in lines]
    return [f"frames {depth - min(depths) + 2}" for depth in depths]


def unlimited_stack():
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))


# All that they call can be found by unwinding: no tail calls, no stacks of their own, none deeper than is looked.
UNWINDABLE = {"calls", "changed_returns", "long_jumps", "no_symbols", "signals", "threads", "vfork_child"}


@pytest.mark.parametrize("alternate", [5000])
@pytest.mark.parametrize("source", [path for path in PROGRAMS if path.stem in UNWINDABLE], ids=lambda path: path.stem)
def test_chains_of_which_a_part_is_followed(source, alternate, sonde, tool, tmp_path):
    """With two versions of the code, calls are followed in one; those that the thread is in when it comes there are unwound."""
    said = notes(source)
    output = tmp_path / "contexts"
    run = sonde(tool, f"--alternate={alternate}", f"--output={output}", "--", compile_program(source, tmp_path, said))
    assert run.returncode == 0 and not run.stderr, run.stderr
    lines = output.read_text().splitlines()
    cut = said.get("cut", ["main"])[0]
    found = relative_depths(lines) if cut == "none" else [shown(line, cut if cut in line.split() else "main") for line in lines]
    assert found == said["expect"]


@pytest.mark.parametrize("marks", ["no", "yes"])
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_chains(source, marks, sonde, tool, tmp_path):
    said = notes(source)
    program = compile_program(source, tmp_path, said)
    output = tmp_path / "contexts"
    options = {"preexec_fn": unlimited_stack} if "stack" in said else {}
    run = sonde(tool, f"--marks={marks}", f"--output={output}", "--", program, **options)
    assert run.returncode == 0 and not run.stderr, run.stderr
    lines = output.read_text().splitlines()
    if marks == "yes":
        left, wrong = map(int, re.fullmatch(r"left (\d+), wrong (\d+)", lines.pop()).groups())
        assert left > 0 and wrong == 0
    expected = said["expect"]
    if said.get("cut") == ["none"]:
        assert relative_depths(lines) == expected
        return
    cut = said.get("cut", ["main"])[0]
    found = [shown(line, cut if cut in line.split() else "main") for line in lines]
    deep = [line for line in expected if line.startswith("depth ")]
    if deep:
        assert int(lines[0].split()[0]) >= int(deep[0].split()[1])
        found, expected = found[1:], expected[1:]
    assert found == expected
