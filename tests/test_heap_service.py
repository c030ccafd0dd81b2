"""@fileoverview The heap service (<sonde/heap.h>), by tests/tools/heap_events.c: which blocks there are, how large, whose.

The programs print what is to be seen, the usable sizes as their allocator tells them.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

PROGRAMS = ROOT / "tests" / "programs"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
ALLOCATORS = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc.so.4", "mimalloc": "libmimalloc.so.2"}
RUST = """use std::hint::black_box;
#[inline(never)] fn step_vec() { let v: Vec<u8> = Vec::with_capacity(black_box(1234)); black_box(&v); }
#[inline(never)] fn step_grow() { let mut v: Vec<u64> = Vec::with_capacity(black_box(4)); for i in 0..9 { v.push(i); } black_box(&v); }
#[inline(never)] fn step_zero() { let v = vec![0u8; black_box(5000)]; black_box(&v); }
#[repr(align(128))] struct Wide([u8; 256]);
#[inline(never)] fn step_wide() { let b = Box::new(Wide([1; 256])); black_box(&b.0); }
fn main() { step_vec(); step_grow(); step_zero(); step_wide(); }
"""
RUST_BLOCKS = [(1234, "vec"), (32, "grow"), (64, "grow"), (128, "grow"), (5000, "zero"), (256, "wide")]


@pytest.fixture(scope="module")
def tool(build_tool):
    return build_tool("heap_events")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heap")

    def compile_program(source, *flags):
        target = folder / (source.replace(".", "_") + "".join(flags).replace("/", "_"))
        if not target.exists():
            compiler = ["g++", "-std=c++17"] if source.endswith(".cpp") else ["gcc"]
            # Some calls have sizes that compilers warn of; they are to fail.
            subprocess.run([*compiler, "-O1", "-g", "-w", "-pthread", "-o", target, PROGRAMS / source, *flags], check=True,
                           timeout=120)
        return target

    return compile_program


def blocks(sonde, tool, program, *arguments, options=(), preload=None):
    """(lines that the program prints, lines of the tool)."""
    environment = {**os.environ, **({"LD_PRELOAD": str(preload)} if preload else {})}
    done = sonde(tool, *options, "--", program, *arguments, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.parametrize("source", ("heap_calls.c", "heap_calls.cpp"))
@pytest.mark.parametrize("flags", ((), ("-static",)), ids=("dynamic", "static"))
@pytest.mark.parametrize("unwinds", ("no", "yes"))
def test_every_function(sonde, tool, build, source, flags, unwinds):
    wanted, seen = blocks(sonde, tool, build(source, *flags), options=[f"--unwinds={unwinds}"])
    assert len(wanted) > 20 and seen == wanted


@pytest.mark.parametrize("switch", ("--debug-block-limit=1", "--debug-links=no", "--debug-superblocks=no", "--debug-bmi2=no"))
def test_under_any_switch(sonde, tool, build, switch):
    wanted, seen = blocks(sonde, tool, build("heap_calls.c"), options=[switch])
    assert seen == wanted


@pytest.mark.parametrize("source", ("heap_calls.c", "heap_calls.cpp"))
@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("unwinds", ("no", "yes"))
def test_other_allocators(sonde, tool, build, source, allocator, unwinds):
    library = LIBRARIES / ALLOCATORS[allocator]
    if not library.exists():
        pytest.skip(f"{library} is not installed")
    wanted, seen = blocks(sonde, tool, build(source), "foreign", options=[f"--unwinds={unwinds}"], preload=library)
    assert len(wanted) > 20 and seen == wanted


def test_allocator_linked_into_the_program(sonde, tool, build):
    archive = LIBRARIES / "libjemalloc.a"
    if not archive.exists():
        pytest.skip(f"{archive} is not installed")
    wanted, seen = blocks(sonde, tool, build("heap_calls.c", str(archive), "-lm", "-lstdc++"), "foreign")
    assert len(wanted) > 20 and seen == wanted


def test_rust(sonde, tool, tmp_path):
    compiler = shutil.which("rustc")
    if not compiler:
        pytest.skip("rustc is not installed")
    (tmp_path / "blocks.rs").write_text(RUST)
    subprocess.run([compiler, "-g", "-o", tmp_path / "blocks", tmp_path / "blocks.rs"], check=True, timeout=120)
    _, seen = blocks(sonde, tool, tmp_path / "blocks")
    assert [(int(line.split()[1]), line.split()[3]) for line in seen if line[0] == "A"] == [
        (size, f"step_{name}") for size, name in RUST_BLOCKS]
    assert [line[0] for line in seen] == ["A", "F"] * len(RUST_BLOCKS)


def test_told_late(sonde, tool, build):
    """Who looks, or comes in between, finds all that has happened."""
    late = ["--late=yes", "--unwinds=yes"]
    include = f"-I{ROOT / 'include'}"
    for source, flags in (("heap_calls.c", ()), ("heap_calls.cpp", ()), ("heap_late.c", (include,))):
        wanted, seen = blocks(sonde, tool, build(source, *flags), options=late)
        wanted, seen = ([line.split()[:3] for line in lines] for lines in (wanted, seen))
        assert len(wanted) >= 20 and seen == wanted, source
    program = build("heap_late.c", include)
    for what in ("thread", "alone"):
        wanted, seen = blocks(sonde, tool, program, what, options=late)
        seen = [line.rsplit(" ", 1)[0] for line in seen if int(line.split()[1]) > 1000]  # not what a thread needs
        assert wanted and seen == wanted, what
    if (LIBRARIES / ALLOCATORS["jemalloc"]).exists():
        wanted, seen = blocks(sonde, tool, program, "resize", options=late, preload=LIBRARIES / ALLOCATORS["jemalloc"])
        assert [line.rsplit(" ", 1)[0] for line in seen] == wanted
    _, seen = blocks(sonde, tool, program, "end", options=[*late, "--live=yes"])
    assert seen == ["L 1501 1512 step_left"]
    _, seen = blocks(sonde, tool, program, "end", options=[*late, "--freed=yes"])
    assert seen == ["D 1601 1608 step_given_back"]


def test_the_tool_heap_is_told_late(sonde, build, tmp_path):
    program = build("heap_late.c", f"-I{ROOT / 'include'}")
    for what in ("end", "alone", "dump"):
        done = sonde("heap", "--mode=live", f"--output={tmp_path / what}.json", program, what, timeout=60)
        assert done.returncode == 0, done.stderr
        for path in tmp_path.glob(f"{what}.json*"):
            sizes = [block["req"] for block in json.loads(path.read_text())["blockList"] if block["req"] in (1501, 1601)]
            assert sizes == [1501], path
    assert len(list(tmp_path.iterdir())) == 4
    sums = [re.search(r"(\d+) bytes live", sonde("heap", *late, "--mode=live", "--output=/dev/null", program, "status",
                                                 timeout=60).stderr).group(1) for late in ((), ("--dump-every-bytes=1000000",))]
    assert sums[0] == sums[1] and int(sums[0]) >= 1501


def test_requests(sonde, tool, build):
    wanted, seen = blocks(sonde, tool, build("heap_requests.c"))
    assert "exists" in wanted
    assert seen == [line for line in wanted if line != "exists"]


def test_live_blocks(sonde, tool, build):
    _, seen = blocks(sonde, tool, build("heap_calls.c"), options=["--live=yes"])
    assert seen == ["L 77 88 step_leaked"]


def test_freed_blocks_are_known_for_a_while(sonde, tool, build):
    _, seen = blocks(sonde, tool, build("heap_calls.c"), options=["--freed=yes"])
    assert "D 231 232 step_free" in seen and all(line.startswith("D") for line in seen)


@pytest.mark.parametrize("threads", (1, 4))
@pytest.mark.parametrize("unwinds", ("no", "yes"))
def test_threads(sonde, tool, build, threads, unwinds):
    wanted, seen = blocks(sonde, tool, build("heap_threads.c"), str(threads), "30000", options=["--counts=yes", f"--unwinds={unwinds}"])
    assert seen == wanted


def test_fork(sonde, tool, build):
    wanted, seen = blocks(sonde, tool, build("heap_threads.c"), "3", "8000", "fork", options=["--counts=yes"])
    parent = [line for line in seen if line == wanted[0]]
    assert len(seen) == 2 and parent, seen
    child = next(line for line in seen if line != wanted[0])
    assert int(re.search(r"freed (\d+)", child).group(1)) > 8000 * 200
