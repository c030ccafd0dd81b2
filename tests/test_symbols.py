"""Symbols and source lines of ELF files (src/image): every form of debug information, and hostile files.

The sources of src/image are compiled here with sanitizers, into a program that answers for addresses, and into the fuzz
target, which runs for a fixed number of seeds.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import IMAGE_SOURCES, ROOT

SEEDS = int(os.environ.get("FUZZ_SEEDS", "2000"))
FIRST_SEED = int(os.environ.get("FUZZ_FIRST_SEED", "1"))
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]

SOURCE = """
namespace outer {
struct point {
    int x, y;
    int sum() const;
    template <class T> T scaled(T by) const { return x * by; }
};
int point::sum() const {
    return x + y;  // line 9
}
}
extern "C" int puts(const char *);
extern "C" __attribute__((noinline)) int plain(int value) {
    return value * 3;  // line 14
}
int main(int argc, char **) {
    outer::point p{argc, 2};
    puts("x");
    return plain(p.sum()) + (int)p.scaled(2.5);
}
"""


def run(*command, timeout=300, **options):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout, check=False,
                           **options)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


def compile_with_engine(source, program):
    run("gcc", "-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", *SANITIZERS, f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}",
        source, *IMAGE_SOURCES, "-lelf", "-ldw", "-liberty", "-o", program)
    return program


@pytest.fixture(scope="module")
def shower(tmp_path_factory):
    return compile_with_engine(ROOT / "tests" / "programs" / "show_symbols.c",
                               tmp_path_factory.mktemp("show") / "show_symbols")


def build(folder, *options, compiler="g++"):
    source, program = folder / "small.cc", folder / "small"
    source.write_text(SOURCE)
    run(compiler, *options, source, "-o", program, cwd=folder)
    return program


def addresses(program):
    """Of the functions, by raw name, as nm says."""
    rows = (line.split() for line in run("nm", program).splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def show(shower, program, *where):
    lines = run(shower, program, *(f"{address:x}" for address in where)).splitlines()
    return [line.split("\t") for line in lines]


def check(shower, program, where, source):
    """Both functions, in the middle, with names, lines and files."""
    method, plain = where["_ZNK5outer5point3sumEv"], where["plain"]
    method_row, plain_row = show(shower, program, method + 1, plain + 1)
    assert method_row[:3] == ["outer::point::sum() const", "_ZNK5outer5point3sumEv", f"{method:x}"]
    assert plain_row[:3] == ["plain", "plain", f"{plain:x}"]
    assert [method_row[4], plain_row[4]] == [str(source), str(source)]
    assert method_row[5] in ("8", "9") and plain_row[5] in ("13", "14")
    assert [method_row[6], plain_row[6]] == [str(source), str(source)]


@pytest.mark.parametrize("options", [
    ["-gdwarf-2", "-gstrict-dwarf"], ["-gdwarf-3"], ["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-4", "-fdebug-types-section"],
    ["-g", "-gz=zlib"], ["-g", "-O2"], ["-g", "-static"], ["-g", "-no-pie"], ["-g", "-gsplit-dwarf"],
], ids=" ".join)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_debug_information(shower, tmp_path, options, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    if compiler == "clang++" and "-gz=zlib" in options:
        options = ["-g", "-Wl,--compress-debug-sections=zlib"]
    program = build(tmp_path, *options, compiler=compiler)
    check(shower, program, addresses(program), tmp_path / "small.cc")


@pytest.mark.parametrize("place", ["small.debug", ".debug/small.debug"])
def test_debug_link(shower, tmp_path, place):
    program = build(tmp_path, "-g", "-Wl,--build-id=none")
    where = addresses(program)
    debug = tmp_path / place
    debug.parent.mkdir(exist_ok=True)
    run("objcopy", "--only-keep-debug", program, debug)
    run("strip", program)
    run("objcopy", f"--add-gnu-debuglink={debug}", program)
    check(shower, program, where, tmp_path / "small.cc")
    with open(debug, "ab") as changed:
        changed.write(b"another file")
    assert show(shower, program, where["plain"])[0][:2] == ["-", "-"], "a file of another checksum must not be used"


def test_build_id(shower, tmp_path):
    """Looks under /usr/lib/debug, which takes root to try."""
    program = build(tmp_path, "-g", "-Wl,--build-id=0x736f6e6465207465737420656c662069")
    where = addresses(program)
    folder = Path("/usr/lib/debug/.build-id/73")
    existed = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except PermissionError:
        pytest.skip("needs to write to /usr/lib/debug")
    debug = folder / "6f6e6465207465737420656c662069.debug"
    try:
        run("objcopy", "--only-keep-debug", program, debug)
        run("strip", program)
        check(shower, program, where, tmp_path / "small.cc")
    finally:
        debug.unlink(missing_ok=True)
        if not existed:
            folder.rmdir()


def test_shared_debug_file(shower, tmp_path):
    if shutil.which("dwz") is None:
        pytest.skip("no dwz")
    program = build(tmp_path, "-g", "-gdwarf-4")
    twin = tmp_path / "twin"
    shutil.copy(program, twin)
    where = addresses(program)
    run("dwz", "-m", tmp_path / "common.debug", "-r", program, twin)
    assert (tmp_path / "common.debug").exists()
    check(shower, program, where, tmp_path / "small.cc")


def test_without_debug_information(shower, tmp_path):
    program = build(tmp_path, "-rdynamic", "-fno-inline")
    plain = addresses(program)["plain"]
    assert show(shower, program, plain)[0][:2] == ["plain", "plain"]
    run("strip", program)
    assert show(shower, program, plain)[0][:2] == ["plain", "plain"], "the dynamic symbols remain"
    assert show(shower, program, plain)[0][4:] == ["-", "0", "-"]
    assert show(shower, program, 0)[0][:2] == ["-", "-"]


def test_stubs_are_named(shower, tmp_path):
    program = build(tmp_path, "-Wl,-z,lazy")
    stubs = next(line.split() for line in run("objdump", "-d", "-j", ".plt", program).splitlines() if "<puts@plt>:" in line)
    row = show(shower, program, int(stubs[0], 16))[0]
    assert row[0] == "puts@plt"


ALIASES = """
    .text
    .globl wanted, wanted_longer
    .type wanted, @function
    .type wanted_longer, @function
    .type local_name, @function
local_name:
wanted:
wanted_longer:
untyped:
    nop
inner_label:
    nop
    nop
    .size wanted, 3
    .size wanted_longer, 3
    .size local_name, 3
unsized:
    nop
    nop
    nop
    .globl last
    .type last, @function
last:
    nop
    .globl _start
_start:
    nop
"""


def test_aliases_and_sizes(shower, tmp_path):
    source, program = tmp_path / "aliases.S", tmp_path / "aliases"
    source.write_text(ALIASES)
    run("gcc", "-nostdlib", "-static", source, "-o", program)
    start = addresses(program)["wanted"]
    rows = show(shower, program, *(start + offset for offset in range(8)))
    assert [row[0] for row in rows] == ["wanted"] * 3 + ["unsized"] * 3 + ["last", "_start"]
    assert [int(row[3], 16) for row in rows] == [3, 3, 3, 3, 3, 3, 1, 1]


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 20, b"\x7fELF\x02\x01\x01" + bytes(100)])
def test_no_elf_file(shower, tmp_path, content):
    file = tmp_path / "file"
    file.write_bytes(content)
    ended = subprocess.run([shower, file, "0"], capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode in (0, 1) and "Sanitizer" not in ended.stderr


def test_hostile_files(tmp_path):
    """On failure the input is kept as fuzz_symbols.crash in the folder that the message names."""
    fuzzer = compile_with_engine(ROOT / "tests" / "fuzz" / "fuzz_symbols.c", tmp_path / "fuzz_symbols")
    programs = []
    for name, options in [("two", ["-gdwarf-2", "-gstrict-dwarf", "-O1"]), ("four", ["-gdwarf-4"]),
                          ("five", ["-gdwarf-5", "-O2"]), ("compressed", ["-g", "-gz=zlib"])]:
        folder = tmp_path / name
        folder.mkdir()
        programs.append(build(folder, *options))
    print(tmp_path)
    assert run(fuzzer, FIRST_SEED, SEEDS, *programs, cwd=tmp_path) == f"{4 * SEEDS} inputs read\n"
