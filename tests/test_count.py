"""The tool `count`: every number that it reports, against numbers known in advance or counted by single-stepping.

Each row of SNIPPETS is a few lines of assembly and what executing them once amounts to; the test puts them into a loop
of a program without a C library, so that the whole of what is executed is known.
"""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT, SONDE

PROGRAMS = ROOT / "tests" / "programs"
TIMEOUT = 120
ROUNDS = 37

# Options that change how code is generated and must not change what is counted.
CODE_OPTIONS = [
    [],
    ["--debug-block-limit=1"],
    ["--debug-block-limit=3"],
    ["--debug-superblocks=no"],
    ["--debug-links=no"],
    ["--debug-fast-decode=no"],
    ["--debug-fsgsbase=no"],
]


def run(command, **options):
    options = {"timeout": TIMEOUT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {}, **options}
    return subprocess.run([str(part) for part in command], check=False, **options)


def count(tmp_path, program, *options, arguments=(), status=0, **run_options):
    """Run `program` under count, and return the report."""
    report = tmp_path / "report.json"
    ended = run([SONDE, "count", "--format=json", f"--output={report}", *options, "--", program, *arguments],
                **run_options)
    assert ended.returncode == status, ended.stderr.decode()
    return json.loads(report.read_text())


def build(source, program, *options):
    built = run(["gcc", *options, "-o", program, source], env=dict(os.environ))
    assert built.returncode == 0, built.stderr.decode()
    return program


def tally(**numbers):
    """What a piece of code amounts to. loads and stores are given by size."""
    result = Counter()
    for name, value in numbers.items():
        if name in ("loads", "stores"):
            result.update({f"{name} {size}": number for size, number in value.items()})
        else:
            result[name] += value
    return result


def times(factor, numbers):
    return Counter({name: factor * value for name, value in numbers.items()})


def as_tally(reported):
    """The same form from a report."""
    branches, calls = reported["conditional_branches"], reported["calls"]
    assert branches["total"] == branches["taken"] + branches["not_taken"]
    assert calls["total"] == calls["direct"] + calls["indirect"]
    result = Counter(
        instructions=reported["instructions"],
        iterations=reported["string_iterations"],
        blocks=reported["basic_blocks"],
        taken=branches["taken"],
        not_taken=branches["not_taken"],
        calls=calls["direct"],
        indirect=calls["indirect"],
    )
    for kind in ("loads", "stores"):
        by_size = reported[kind]["by_size"]
        assert reported[kind]["total"] == sum(by_size.values())
        result.update({f"{kind} {size}": number for size, number in by_size.items()})
    return +result


# Name, assembly, what it amounts to, and the processor's flag that it needs. %r15 is the loop's counter; everything else
# may be used; `data` is 4 KB of zeros. Numbered labels above 10 are the snippets' own.
SNIPPETS = [
    ("registers", "add $1, %rax; imul %rax, %rdx; xor %ecx, %ecx", tally(instructions=3), None),
    ("many in a row", "nop;" * 300, tally(instructions=300), None),
    ("loads", "mov data(%rip), %al; mov data(%rip), %ax; mov data(%rip), %eax; mov data(%rip), %rax; "
     "movzbl data(%rip), %eax; movswq data(%rip), %rax; cmp %rax, data(%rip)",
     tally(instructions=7, loads={1: 2, 2: 2, 4: 1, 8: 2}), None),
    ("stores", "mov %al, data(%rip); movw $1, data(%rip); mov %eax, data(%rip); movq $2, data(%rip)",
     tally(instructions=4, stores={1: 1, 2: 1, 4: 1, 8: 1}), None),
    ("read and write", "addb $1, data(%rip); incw data(%rip); lock xaddl %eax, data(%rip); xchg %rax, data(%rip); "
     "lock cmpxchgl %ecx, data(%rip)",
     tally(instructions=5, loads={1: 1, 2: 1, 4: 2, 8: 1}, stores={1: 1, 2: 1, 4: 2, 8: 1}), None),
    ("address only", "lea data(%rip), %rax; prefetcht0 (%rax); nopl 64(%rax)", tally(instructions=3), None),
    ("stack", "push %rax; pop %rax; pushw %ax; popw %ax; pushq data(%rip); popq data(%rip); pushfq; popfq",
     tally(instructions=8, loads={8: 4, 2: 1}, stores={8: 4, 2: 1}), None),
    ("16 bytes", "movups data(%rip), %xmm0; movups %xmm0, data(%rip); paddd data(%rip), %xmm1",
     tally(instructions=3, loads={16: 2}, stores={16: 1}), None),
    ("scalar floating-point", "movss data(%rip), %xmm0; addsd data(%rip), %xmm1; movsd %xmm1, data(%rip)",
     tally(instructions=3, loads={4: 1, 8: 1}, stores={8: 1}), None),
    ("32 bytes", "vmovups data(%rip), %ymm0; vmovups %ymm0, data(%rip); vzeroupper",
     tally(instructions=3, loads={32: 1}, stores={32: 1}), "avx"),
    ("64 bytes", "vmovups data(%rip), %zmm0; vmovups %zmm0, data(%rip); vzeroupper",
     tally(instructions=3, loads={64: 1}, stores={64: 1}), "avx512f"),
    ("x87", "flds data(%rip); fstpt data(%rip); fldt data(%rip); fstpl data(%rip)",
     tally(instructions=4, loads={4: 1, 10: 1}, stores={10: 1, 8: 1}), None),
    ("512 bytes", "fxsave64 data(%rip); fxrstor64 data(%rip)",
     tally(instructions=2, loads={"other": 1}, stores={"other": 1}), None),
    ("jump", "jmp 11f; ud2; 11: nop", tally(instructions=2, blocks=1), None),
    ("jump back and forth", "jmp 12f; 11: jmp 13f; 12: jmp 11b; 13:", tally(instructions=3, blocks=3), None),
    ("indirect jump", "lea 11f(%rip), %rax; jmp *%rax; ud2; 11: nop", tally(instructions=3, blocks=1), None),
    ("taken", "cmp %eax, %eax; je 11f; ud2; 11: nop", tally(instructions=3, blocks=1, taken=1), None),
    ("not taken", "cmp %eax, %eax; jne 11f; jc 11f; js 11f; 11: nop",
     tally(instructions=5, blocks=3, not_taken=3), None),
    ("inner loop", "mov $9, %ecx; 11: dec %ecx; jnz 11b",
     tally(instructions=19, blocks=9, taken=8, not_taken=1), None),
    ("loop instruction", "mov $9, %ecx; 11: loop 11b", tally(instructions=10, blocks=9, taken=8, not_taken=1), None),
    ("test of the counter", "xor %ecx, %ecx; jrcxz 11f; ud2; 11: inc %ecx; jrcxz 11b",
     tally(instructions=4, blocks=2, taken=1, not_taken=1), None),
    ("alternating", "test $1, %r15d; jz 11f; nop; nop; 11: test $1, %r15d; jnz 12f; nop; 12:", None, None),
    ("call", "call 11f; jmp 12f; 11: ret; 12:",
     tally(instructions=3, blocks=3, calls=1, loads={8: 1}, stores={8: 1}), None),
    ("call and drop", "call 11f; 11: pop %rax", tally(instructions=2, blocks=1, calls=1, loads={8: 1}, stores={8: 1}),
     None),
    ("indirect call", "lea 11f(%rip), %rax; call *%rax; mov %rax, data(%rip); call *data(%rip); jmp 12f; "
     "11: ret $0; 12:",
     tally(instructions=7, blocks=5, indirect=2, loads={8: 3}, stores={8: 3}), None),
    ("string instructions", "lea data(%rip), %rsi; lea data(%rip), %rdi; movsb; lodsw; stosl; scasb; cmpsq",
     tally(instructions=7, loads={1: 2, 2: 1, 8: 2}, stores={1: 1, 4: 1}), None),
    ("repeat 0", "lea data(%rip), %rsi; lea data(%rip), %rdi; xor %ecx, %ecx; rep movsb", tally(instructions=4), None),
    ("repeat 5", "lea data(%rip), %rsi; lea data(%rip), %rdi; mov $5, %ecx; rep movsb",
     tally(instructions=8, iterations=5, loads={1: 5}, stores={1: 5}), None),
    ("repeat 1000", "lea data(%rip), %rsi; lea 8+data(%rip), %rdi; mov $100, %ecx; rep movsq; mov $900, %ecx; "
     "xor %eax, %eax; lea data(%rip), %rdi; rep stosl",
     tally(instructions=1006, iterations=1000, loads={8: 100}, stores={8: 100, 4: 900}), None),
    ("repeat until found", "lea data(%rip), %rdi; movb $3, 20(%rdi); mov $3, %al; mov $50, %ecx; repne scasb; "
     "movb $0, -1(%rdi)",
     tally(instructions=5 + 21, iterations=21, loads={1: 21}, stores={1: 2}), None),
    ("repeat while equal", "lea data(%rip), %rdi; lea 64(%rdi), %rsi; movw $1, 14(%rdi); mov $50, %ecx; repe cmpsw; "
     "movw $0, -2(%rdi)",
     tally(instructions=5 + 8, iterations=8, loads={2: 16}, stores={2: 2}), None),
    ("system call", "mov $39, %eax; syscall; nop", tally(instructions=3, blocks=1), None),
]

# %r15 counts down from ROUNDS, so that odd values come first.
ODD, EVEN = (ROUNDS + 1) // 2, ROUNDS // 2
ALTERNATING = (
    times(ROUNDS, tally(instructions=4, blocks=2))
    + times(ODD, tally(instructions=2, not_taken=1, taken=1))
    + times(EVEN, tally(instructions=1, taken=1, not_taken=1))
)

PROGRAM = """
    .globl _start
    .text
_start:
    mov ${rounds}, %r15d
1:
    {snippet}
    dec %r15d
    jnz 2f
    mov $231, %eax
    xor %edi, %edi
    syscall
2:  jmp 1b
    .bss
    .balign 64
data: .skip 8192
"""

# The frame of PROGRAM: the first instruction, the loop's end, the way out.
FRAME = (
    tally(instructions=1)
    + times(ROUNDS, tally(instructions=2, blocks=1))
    + times(ROUNDS - 1, tally(taken=1, instructions=1, blocks=1))
    + tally(not_taken=1, instructions=3, blocks=1)
)


def assemble(tmp_path, name, text):
    source, program = tmp_path / f"{name}.S", tmp_path / name
    source.write_text(text)
    return build(source, program, "-nostdlib", "-static", "-Wa,--noexecstack")


def snippet_program(tmp_path, snippet):
    return assemble(tmp_path, "snippet", PROGRAM.format(rounds=ROUNDS, snippet=snippet.replace(";", "\n")))


def processor_flags():
    return set(re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M).group(1).split())


@pytest.mark.parametrize("name, snippet, once, needs", SNIPPETS, ids=[row[0] for row in SNIPPETS])
def test_known_code(tmp_path, name, snippet, once, needs):
    if needs is not None and needs not in processor_flags():
        pytest.skip(f"the processor has no {needs}")
    program = snippet_program(tmp_path, snippet)
    expected = +(FRAME + (ALTERNATING if name == "alternating" else times(ROUNDS, once)))
    for options in CODE_OPTIONS:
        assert as_tally(count(tmp_path, program, *options)["total"]) == expected, options


# A fault in the middle of a block: the handler moves the program counter behind the faulting instruction.
FAULTS = """
    .globl _start
    .text
_start:
    mov $13, %eax           # rt_sigaction(SIGSEGV, &action, NULL, 8)
    mov $11, %edi
    lea action(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    syscall
    mov ${rounds}, %r15d
1:  lea data(%rip), %rbx    # 4 instructions that are executed
    mov (%rbx), %eax
    mov %ax, 2(%rbx)
    xor %ecx, %ecx
    mov (%rcx), %al         # 2 bytes: faults
    movups (%rbx), %xmm0    # executed only after the handler
    dec %r15d
    jnz 1b
    mov $231, %eax
    xor %edi, %edi
    syscall
handler:
    addq $2, 168(%rdx)      # the program counter in ucontext_t
    ret
restorer:
    mov $15, %eax
    syscall
    .data
    .balign 8
action: .quad handler, 0x04000004, restorer, 0
    .bss
    .balign 64
data: .skip 64
"""


def test_interrupted_blocks(tmp_path):
    program = assemble(tmp_path, "faults", FAULTS.format(rounds=ROUNDS))
    before = tally(instructions=4, loads={4: 1}, stores={2: 1})
    handler = tally(instructions=4, blocks=2, loads={8: 2}, stores={8: 1})
    after = tally(instructions=3, blocks=1, loads={16: 1})
    expected = +(
        tally(instructions=7, blocks=1)
        + times(ROUNDS, before + handler + after)
        + tally(instructions=3, blocks=1, taken=ROUNDS - 1, not_taken=1)
    )
    for options in CODE_OPTIONS:
        assert as_tally(count(tmp_path, program, *options)["total"]) == expected, options


FORK = """
    .globl _start
    .text
_start:
    mov $57, %eax           # fork
    syscall
    test %eax, %eax
    jz child
    mov $61, %eax           # wait4(-1, NULL, 0, NULL)
    mov $-1, %rdi
    xor %esi, %esi
    xor %edx, %edx
    xor %r10d, %r10d
    syscall
    jmp out
child:
    mov $1000, %ecx
1:  dec %ecx
    jnz 1b
out:
    mov $231, %eax
    xor %edi, %edi
    syscall
"""


def test_fork_starts_from_zero(tmp_path):
    program = assemble(tmp_path, "fork", FORK)
    ended = run([SONDE, "count", "--format=json", f"--output={tmp_path}/report.%p", program])
    assert ended.returncode == 0, ended.stderr.decode()
    reports = [json.loads(path.read_text()) for path in tmp_path.glob("report.*")]
    assert {path.name for path in tmp_path.glob("report.*")} == {f"report.{report['process']}" for report in reports}
    found = sorted((as_tally(report["total"]) for report in reports), key=lambda numbers: numbers["instructions"])
    parent = tally(instructions=2 + 2 + 6 + 1 + 3, blocks=1 + 1 + 1 + 1 + 1, not_taken=1)
    child = tally(instructions=2 + 1 + 2000 + 3, blocks=1 + 1000 + 1, taken=1 + 999, not_taken=1)
    assert found == [parent, child]


@pytest.fixture(scope="module")
def singlestep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("singlestep")
    return build(PROGRAMS / "singlestep.c", folder / "singlestep", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra")


# Restartable sequences are refused under Sonde, so that the C library would take another way at its start.
STEPPED_ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


def steps(singlestep, tmp_path, program):
    result = tmp_path / "steps"
    ended = run([singlestep, result, program], env=STEPPED_ENVIRONMENT)
    assert ended.returncode == 0, ended.stderr.decode()
    return int(result.read_text())


FREESTANDING = ["-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns"]
STEPPED = [
    ("count_sieve.c", "-O2", FREESTANDING),
    ("count_strings.c", "-O0", FREESTANDING),
    ("count_strings.c", "-O2", FREESTANDING),
    ("count_matrix.c", "-O3", FREESTANDING + ["-march=native"]),
    ("count_libc.c", "-O2", ["-static"]),
]


@pytest.mark.parametrize("source, level, options", STEPPED, ids=[row[0] + row[1] for row in STEPPED])
def test_total_equals_single_stepping(tmp_path, singlestep, source, level, options):
    program = build(PROGRAMS / source, tmp_path / "program", "-g", level, *options)
    expected = steps(singlestep, tmp_path, program)
    for code_options in CODE_OPTIONS:
        report = count(tmp_path, program, *code_options, env=STEPPED_ENVIRONMENT)
        assert report["total"]["instructions"] == expected, code_options
        assert len(report["threads"]) == 1


@pytest.fixture(scope="module")
def threads_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("threads")
    build(PROGRAMS / "count_library.c", folder / "library.so", "-g", "-O1", "-fPIC", "-shared")
    return build(PROGRAMS / "count_threads.c", folder / "threads", "-g", "-O2", "-pthread")


def test_threads(tmp_path, threads_program):
    report = count(tmp_path, threads_program)
    threads = report["threads"]
    assert len(threads) == 4
    assert threads[0]["id"] == report["process"]
    assert len({thread["id"] for thread in threads}) == 4
    # Threads are listed as they end; their numbers go by when they began.
    for worker, thread in enumerate(sorted(threads[1:], key=lambda thread: thread["id"]), 1):
        least = 200000 * worker
        assert least <= thread["instructions"] < least + 20000
        assert thread["conditional_branches"]["taken"] >= 100000 * worker - 1
    total = sum((as_tally(thread) for thread in threads), Counter())
    assert as_tally(report["total"]) == total


def test_functions(tmp_path, threads_program):
    library = threads_program.parent / "library.so"
    report = count(tmp_path, threads_program, "--functions=1000", arguments=[library])
    functions = report["functions"]
    by_name = {function["name"]: function for function in functions}
    assert 1200000 <= by_name["work"]["instructions"] < 1200100
    assert by_name["work"]["file"] == str(PROGRAMS / "count_threads.c")
    assert by_name["work"]["module"] == str(threads_program)
    assert by_name["library_work"]["instructions"] > 200000
    assert by_name["library_work"]["file"] == str(PROGRAMS / "count_library.c")
    assert by_name["library_work"]["module"] == str(library)
    source = (PROGRAMS / "count_library.c").read_text().splitlines()
    # gcc gives the function's first address two lines: its own and the first in its body.
    line = by_name["library_work"]["line"]
    assert "library_work(int rounds) {" in "".join(source[line - 2:line])
    numbers = [function["instructions"] for function in functions]
    assert numbers == sorted(numbers, reverse=True)
    assert report["function_count"] == len(functions)
    assert sum(numbers) == report["total"]["instructions"]


PLUG_IN = """
__asm__(".globl {name}\\n.type {name},@function\\n{name}:\\n.rept {size}\\nnop\\n.endr\\nret\\n.size {name},.-{name}\\n");
"""
HOST = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
    for (int i = 1; i + 1 < count; i += 2) {
        void *library = dlopen(words[i], RTLD_NOW), (*work)(void) = 0;
        if (!library) return 1;
        *(void **)&work = dlsym(library, words[i + 1]);
        printf("%p\\n", (void *)work);
        work();
        dlclose(library);
    }
    return 0;
}
"""


def test_libraries_in_turn(tmp_path):
    """What was counted in a library that is gone is not said of the one that was loaded after it."""
    plug_ins = []
    for name, size in (("first", 99), ("second", 49)):
        (tmp_path / f"{name}.c").write_text(PLUG_IN.format(name=name, size=size))
        plug_ins += [build(tmp_path / f"{name}.c", tmp_path / f"{name}.so", "-shared", "-nostdlib"), name]
    (tmp_path / "host.c").write_text(HOST)
    build(tmp_path / "host.c", tmp_path / "host")
    report = tmp_path / "report.json"
    ended = run([SONDE, "count", "--format=json", f"--output={report}", "--functions=100000", tmp_path / "host", *plug_ins, *plug_ins])
    assert ended.returncode == 0, ended.stderr
    first, second, *again = ended.stdout.split()
    assert first != second and again == [first, second], "a library that comes back is where it was"
    by_name = {function["name"]: function for function in json.loads(report.read_text())["functions"]}
    for name, instructions in (("first", 200), ("second", 100)):
        assert (by_name[name]["instructions"], by_name[name]["module"]) == (instructions, str(tmp_path / f"{name}.so"))


def test_function_limit(tmp_path, threads_program):
    assert len(count(tmp_path, threads_program)["functions"]) == 10
    assert [f["name"] for f in count(tmp_path, threads_program, "--functions=1")["functions"]] == ["work"]
    assert count(tmp_path, threads_program, "--functions=0")["functions"] == []


def test_text_report(tmp_path, threads_program):
    report = tmp_path / "report.txt"
    library = threads_program.parent / "library.so"
    ended = run([SONDE, "count", f"--output={report}", threads_program, library])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    lines = report.read_text().splitlines()
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    assert "\x1b" not in report.read_text()
    assert re.match(r"sonde count \S+ \(process \d+\): ", lines[0])
    rows = dict(re.findall(r"^  +(\S.*?)  +([0-9,]+)", report.read_text(), re.M))
    taken, not_taken = (int(rows[name].replace(",", "")) for name in ("taken", "not taken"))
    assert int(rows["conditional branches"].replace(",", "")) == taken + not_taken
    assert re.fullmatch(r"\d{1,3}(,\d{3})+", rows["instructions"])
    assert re.search(r"^ +1,200,\d{3} +\d+\.\d %  work +count_threads\.c:\d+$", report.read_text(), re.M)


def test_report_goes_to_the_log_without_output(tmp_path):
    program = snippet_program(tmp_path, "nop")
    ended = run([SONDE, "count", program])
    assert (ended.returncode, ended.stdout) == (0, b"")
    expected = FRAME["instructions"] + ROUNDS
    assert re.search(rf"^  instructions +{expected}$", ended.stderr.decode(), re.M)
    ended = run([SONDE, "count", f"--log-file={tmp_path}/log", program])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert re.search(rf"^  instructions +{expected}$", (tmp_path / "log").read_text(), re.M)


@pytest.mark.parametrize("option", ["--functions=-1", "--functions=many", "--format=xml"])
def test_bad_options(tmp_path, option):
    ended = run([SONDE, "count", option, "/bin/true"])
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert len(ended.stderr.decode().splitlines()) == 1


def test_none_reports_nothing(tmp_path):
    program = snippet_program(tmp_path, "nop")
    ended = run([SONDE, "none", program])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
