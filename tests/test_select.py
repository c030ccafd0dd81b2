"""--only= and --skip=: what a tool sees of a program whose functions, files and modules are known to the instruction."""

import json
import subprocess

import pytest

from conftest import run_sonde

# One file with _start and functions that execute 10 and 7 instructions, of which the last is a jump into another file.
OUTER = """
    .globl _start
    .type _start, @function
_start:                     # 3 instructions, 5 + 4 times 3 of the loops, 1, and the end: 22
    mov $5, %ebx
    mov $4, %ebp
    xor %edi, %edi
1:  call ten
    dec %ebx
    jnz 1b
2:  call head
    dec %ebp
    jnz 2b
    mov $60, %eax
    syscall
    .size _start, . - _start

    .globl ten
    .type ten, @function
ten:
    .rept 9
    nop
    .endr
    ret
    .size ten, . - ten

    .type head, @function
head:                       # one block with `tail`, were it not that blocks are cut
    .rept 6
    nop
    .endr
    jmp _ZN5space4tailEi
    .size head, . - head
"""
INNER = """
    .globl _ZN5space4tailEi
    .type _ZN5space4tailEi, @function
_ZN5space4tailEi:           # C++: space::tail(int)
    nop
    nop
    ret
    .size _ZN5space4tailEi, . - _ZN5space4tailEi
"""
START, TEN, HEAD, TAIL = 3 + 5 * 3 + 4 * 3 + 2, 5 * 10, 4 * 7, 4 * 3
ALL = START + TEN + HEAD + TAIL


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("select")
    (folder / "outer.s").write_text(OUTER)
    (folder / "inner.s").write_text(INNER)
    subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-o", "program", "outer.s", "inner.s"], cwd=folder, check=True,
                   timeout=60)
    return folder / "program"


def executed(tmp_path, *words, tool="count"):
    report = tmp_path / "report.json"
    ended = run_sonde(tool, "--format=json", f"--output={report}", *words)
    assert ended.returncode == 0, ended.stderr
    return json.loads(report.read_text())


CASES = [
    ([], ALL),
    (["--only=ten"], TEN),
    (["--only=t?n"], TEN),
    (["--only=[a-z]en"], TEN),
    (["--only=te"], 0),
    (["--only=function:ten", "--only=head"], TEN + HEAD),
    (["--skip=ten"], ALL - TEN),
    (["--skip=ten", "--skip=function:head"], START + TAIL),
    (["--only=head"], HEAD),
    (["--skip=head"], ALL - HEAD),
    (["--only=space::tail"], TAIL),
    (["--only=space::tail(int)"], TAIL),
    (["--only=space::*"], TAIL),
    (["--only=function:space::tail(long)"], 0),
    (["--only=file:outer.s"], START + TEN + HEAD),
    (["--only=inner.s"], TAIL),
    (["--only=file:*/inner.s"], TAIL),
    (["--only=file:/elsewhere/inner.s"], 0),
    (["--only=file:ten"], 0),
    (["--only=module:program"], ALL),
    (["--only=module:*/program"], ALL),
    (["--only=module:another"], 0),
    (["--only=outer.s", "--skip=_start"], TEN + HEAD),
    (["--skip=program"], 0),
    (["--skip=*"], 0),
]


@pytest.mark.parametrize("options, expected", CASES, ids=lambda value: "/".join(value) if isinstance(value, list) else "")
@pytest.mark.parametrize("code", [[], ["--debug-block-limit=3"], ["--debug-superblocks=no"]], ids=["", "3", "basic"])
def test_instructions(program, tmp_path, options, expected, code):
    assert executed(tmp_path, *options, *code, program)["total"]["instructions"] == expected


def test_selected_as_a_whole(tmp_path):
    """What was inlined into a function from another file is the function's."""
    (tmp_path / "inlined.h").write_text("static inline __attribute__((always_inline)) void add(volatile int *to) "
                                        "{ for (int i = 0; i < 100; i++) *to += i; }\n")
    (tmp_path / "main.c").write_text('#include "inlined.h"\nint main(void) { volatile int sum = 0; add(&sum); return sum != 4950; }\n')
    subprocess.run(["gcc", "-g", "-O1", "-o", "main", "main.c"], cwd=tmp_path, check=True, timeout=60)
    by_function = executed(tmp_path, "--only=function:main", tmp_path / "main")["total"]["instructions"]
    assert by_function > 300
    assert executed(tmp_path, "--only=file:main.c", tmp_path / "main")["total"]["instructions"] == by_function
    assert executed(tmp_path, "--only=file:inlined.h", tmp_path / "main")["total"]["instructions"] == 0


LIBRARY = """
__asm__(".globl work\\n.type work,@function\\nwork:\\n.rept %d\\nnop\\n.endr\\nret\\n.size work,.-work\\n");
"""
# Maps each library at one place, as the dynamic linker would not, and calls what lies `offset` behind its beginning.
LOADER = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(int count, char **names) {
    char *place = (char *)0x20000000;
    for (int i = 2; i < count; i++) {
        int file = open(names[i], O_RDONLY);
        if (mmap(place, 0x4000, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) != place) return 1;
        ((void (*)(void))(place + strtoul(names[1], 0, 16)))();
    }
    return 0;
}
"""


def test_another_library_at_the_same_place(tmp_path):
    """What was decided about an address is decided anew when something else is mapped there."""
    offsets = set()
    for name, size in (("first", 99), ("second", 49)):
        source = tmp_path / f"{name}.c"
        source.write_text(LIBRARY % size)
        subprocess.run(["gcc", "-shared", "-nostdlib", "-Wl,-z,noseparate-code", "-o", tmp_path / f"{name}.so", source], check=True,
                       timeout=60)
        symbols = subprocess.run(["nm", tmp_path / f"{name}.so"], check=True, capture_output=True, text=True).stdout
        offsets.update(line.split()[0] for line in symbols.splitlines() if line.endswith(" T work"))
    (offset,) = offsets
    (tmp_path / "loader.c").write_text(LOADER)
    subprocess.run(["gcc", "-o", tmp_path / "loader", tmp_path / "loader.c"], check=True, timeout=60)
    libraries = [tmp_path / "first.so", tmp_path / "second.so"]
    report = tmp_path / "report.json"
    for pattern, expected in (("first.so", 100), ("second.so", 50)):
        ended = run_sonde("count", "--format=json", f"--output={report}", f"--only=module:{pattern}", "--only=nothing",
                          tmp_path / "loader", offset, *libraries, *libraries)
        assert ended.returncode == 0
        assert json.loads(report.read_text())["total"]["instructions"] == 2 * expected


def test_bad_patterns():
    for option in ("--only=", "--skip", "--only"):
        ended = run_sonde("count", option, "true")
        assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and option.split("=")[0] in ended.stderr
