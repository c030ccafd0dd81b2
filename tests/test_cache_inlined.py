"""Functions inlined at an address (src/image/inlined.c): every address of programs, against LLVM's addr2line.

LLVM reads DWARF by code of its own, so that the two agree only where both are right. (That of binutils is no measure:
it names wrong functions for what is inlined twice.)
"""
import re
import shutil
import subprocess

import pytest

from conftest import IMAGE_SOURCES, ROOT


# Inlined once, twice, in a loop, from a header, and out of line as well.
HEADER = """
template <class T> struct sums {
    T total = 0;
    void add(T value) {
        total += value;
        if (value & 1)
            total ^= value << 3;
    }
};
static inline __attribute__((always_inline)) unsigned mixed(unsigned value) {
    value ^= value >> 7;
    return value * 2654435761u;
}
"""
SOURCE = """
#include <stdio.h>
#include "parts/inlined.h"
static inline __attribute__((always_inline)) unsigned twice(unsigned value) {
    unsigned first = mixed(value);
    return first + mixed(value + 1);
}
__attribute__((noinline)) unsigned outer(unsigned count) {
    sums<unsigned> result;
    for (unsigned i = 0; i < count; i++)
        result.add(twice(i));
    return result.total;
}
namespace space {
struct point {
    int x;
    int moved(int by) const { return x + by * 3; }
};
__attribute__((noinline)) int walk(const point *points, int count) {
    int sum = 0;
    while (count-- > 0)
        sum += points++->moved(count);
    return sum;
}
}
int main(int argc, char **) {
    space::point points[3] = {{argc}, {2}, {3}};
    printf("%u %d\\n", outer(argc), space::walk(points, 3));
    return 0;
}
"""


def run(*command, **options):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, check=False,
                           **options)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


@pytest.fixture(scope="module")
def shower(tmp_path_factory):
    program = tmp_path_factory.mktemp("show") / "cache_inlined"
    run("gcc", "-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", "-fsanitize=address,undefined", f"-I{ROOT / 'src'}",
        f"-I{ROOT / 'include'}", ROOT / "tests/programs/cache_inlined.c", *IMAGE_SOURCES, "-lelf", "-ldw", "-liberty",
        "-o", program)
    return program


def instruction_addresses(program):
    """Of the functions of the source: all that objdump names."""
    text = run("objdump", "-d", "--no-show-raw-insn", "-C", program)
    found = []
    for block in re.split(r"\n\n", text):
        head = re.match(r"[0-9a-f]+ <(outer|space::walk|main)", block)
        if head:
            found += re.findall(r"^ +([0-9a-f]+):", block, re.M)
    assert len(found) > 30
    return found


ADDR2LINE = next((path for path in map(shutil.which, ["llvm-addr2line", *(f"llvm-addr2line-{n}" for n in range(14, 22))])
                  if path), None)


def expected_frames(program, addresses):
    text = run(ADDR2LINE, "-e", program, "-a", "-i", "-f", "-C", *addresses)
    frames = []
    for line in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            frames.append([])
        else:
            frames[-1].append(re.sub(r" \(discriminator \d+\)", "", line))
    return frames


def normalised(place):
    return re.sub(r":\?$", ":0", re.sub(r"/\./", "/", place))


@pytest.mark.parametrize("compiler, options", [
    ("g++", ["-O2"]), ("g++", ["-O3", "-gdwarf-4"]), ("g++", ["-O2", "-gsplit-dwarf"]), ("g++", ["-O1", "-gdwarf-3"]),
    ("clang++", ["-O2"]), ("clang++", ["-O1", "-gdwarf-4"]),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_against_addr2line(shower, tmp_path, compiler, options):
    if shutil.which(compiler) is None or ADDR2LINE is None:
        pytest.skip(f"no {compiler}, or no addr2line of LLVM")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "inlined.h").write_text(HEADER)
    source, program = tmp_path / "main.cc", tmp_path / "program"
    source.write_text(SOURCE)
    run(compiler, "-g", *options, source, "-o", program, cwd=tmp_path)
    addresses = instruction_addresses(program)
    shown = [line.split("\t") for line in run(shower, program, *addresses).splitlines()]
    deepest = 0
    for address, row, expected in zip(addresses, shown, expected_frames(program, addresses), strict=True):
        if expected[1].startswith("??"):
            assert row == [""] or row[1] == "?", address
            continue
        frames = [(row[at], f"{normalised(row[at + 1])}:{row[at + 2]}") for at in range(0, len(row), 3)]
        places = [normalised(place) for place in expected[1::2]]
        assert [place for _, place in frames] == places, address
        assert [name.replace("?", "??") for name, _ in frames] == expected[::2], address
        deepest = max(deepest, len(frames))
    assert deepest == 3


def test_without_inlined_functions(shower, tmp_path):
    """Assembly has lines but no functions in its debug information: then the symbol is the function."""
    source, program = tmp_path / "plain.S", tmp_path / "plain"
    source.write_text(".globl _start\n.type _start, @function\n_start:\n nop\n nop\n ret\n.size _start, 3\n")
    run("gcc", "-g", "-nostdlib", "-static", source, "-o", program)
    where = next(
        int(line.split()[0], 16) for line in run("nm", program).splitlines() if line.endswith(" _start"))
    assert run(shower, program, f"{where + 1:x}").strip().split("\t") == ["_start", str(source), "5"]
    run("strip", program)
    assert run(shower, program, f"{where + 1:x}") == "\n"
